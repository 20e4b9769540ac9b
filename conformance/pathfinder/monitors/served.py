"""What a server was asked, and all that it answered."""

from typing import Literal, NamedTuple

from harness.pathfinder.tester.events import Event
from harness.trace import Direction
from wire.pathfinder.values import MULTIPLE, SINGLE

ENDS = ("complete", "fail")
ANSWERS = ("accept", "notify", "complete", "fail")

Greeting = Literal["never", "pending", "completed"]
"""Whether a client had said hello: not so that it could have come true, without an end yet, or rightly."""

Presence = Literal["unknown", "there", "gone"]
"""What a subscription has been told of a service: nothing, that it is there, that it is gone."""


class ServiceUpdate(NamedTuple):
    """One notification about a service, and what the subscription had been told of it before."""

    event: Event
    what: str
    service_id: int
    before: Presence
    generation: int | None
    """The generation that was told last, as long as the service has been there."""


class ServedRequest:
    """A request and what came under its identifier and its command before both were used again.

    What has no command is taken to be of the latest request.

    ``said`` is what came up to the end, ``late`` what came after it. It is visited when the session is over: only then
    all its answers are there.
    """

    __slots__ = ("ending", "greeted", "late", "request", "said", "updates")

    direction = Direction.RECEIVED

    def __init__(self, request: Event, greeted: Greeting) -> None:
        self.request = request
        self.greeted = greeted
        self.said: list[Event] = []
        self.late: list[Event] = []
        self.ending: Event | None = None
        self.updates: list[ServiceUpdate] | None = None
        """What a subscription was told, once somebody has asked for it."""

    def take(self, event: Event) -> None:
        """Take one answer."""
        if self.ending is not None:
            self.late.append(event)
            return
        self.said.append(event)
        if event.type in ENDS:
            self.ending = event

    @property
    def form(self) -> tuple[type["ServedRequest"], str, str, bool]:
        """What kind of request it is: its command, by which type of message it was ended, and if that was all.

        Most requests have one answer, and keep by that alone what is said of several.
        """
        if self.ending is None:
            return ServedRequest, self.request.form[0], "", False
        return ServedRequest, self.request.form[0], self.ending.type, len(self.said) == 1 and not self.late

    @property
    def entry(self) -> int:
        """Where the request stands in the trace."""
        return self.request.entry

    @property
    def command(self) -> str:
        """The command that was asked for."""
        return self.request.command

    @property
    def is_single(self) -> bool:
        """Whether the command has one response."""
        return self.command in SINGLE

    @property
    def is_multiple(self) -> bool:
        """Whether the command may have several responses."""
        return self.command in MULTIPLE

    def ended_before(self, other: "ServedRequest") -> bool:
        """Tell whether it had ended when another one came."""
        return self.ending is not None and self.ending.entry < other.entry

    @property
    def completed(self) -> bool:
        """Whether it ended with ``complete``."""
        return self.ending is not None and self.ending.type == "complete"
