"""How far a conversation can be judged, and its transactions up to there.

A server is judged by what it answers as long as everybody can tell what that is. Once a client has left the document,
by messages that are no requests or by an identifier that two transactions have at once, or a message has no type or no
transaction, nobody can.
"""

from typing import Literal

from harness.pathfinder.conversation import Conversation, Event
from harness.pathfinder.transactions import Transaction
from harness.trace import Direction
from wire.pathfinder.frames import COMMANDS, MULTIPLE, SINGLE

ENDS = ("complete", "fail")
ANSWERS = ("accept", "notify", "complete", "fail")

Greeting = Literal["never", "pending", "completed"]
"""Whether a client had said hello: not so that it could have come true, without an end yet, or rightly."""


class Exchange:
    """A request and what came under its identifier and its command before the identifier was used again.

    ``began`` and ``ended`` are places in the conversation.
    """

    def __init__(self, request: Event, began: int, greeted: Greeting) -> None:
        self.request = request
        self.began = began
        self.greeted = greeted
        self.said: list[Event] = []
        self.ending: Event | None = None
        self.ended: int | None = None

    def take(self, event: Event, place: int) -> None:
        """Take one answer."""
        self.said.append(event)
        if self.ending is None and event.type in ENDS:
            self.ending, self.ended = event, place

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

    @property
    def completed(self) -> bool:
        """Whether it ended with ``complete``."""
        return self.ending is not None and self.ending.type == "complete"


def undisturbed(conversation: Conversation) -> list[Event]:
    """Return the messages up to the one from which on nobody can tell what is answered."""
    live: set[int] = set()
    for index, event in enumerate(conversation.events):
        if not event.type or event.ta is None:
            return conversation.events[:index]
        if event.direction is not conversation.client:
            if event.type in ENDS:
                live.discard(event.ta)
        elif event.type != "request" or event.ta in live:
            return conversation.events[:index]
        else:
            live.add(event.ta)
    return conversation.events


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Return the transactions of an implementation that is the server, in order, as far as they can be judged."""
    if conversation.server is not Direction.RECEIVED:
        return []
    found: list[Exchange] = []
    hellos: list[Exchange] = []
    latest: dict[int | None, Exchange] = {}
    for place, event in enumerate(undisturbed(conversation)):
        if event.direction is conversation.client:
            latest[event.ta] = Exchange(event, place, greeting(hellos))
            found.append(latest[event.ta])
            hellos += [latest[event.ta]] if event.command == "hello" else []
        elif event.ta in latest and is_of(event, latest[event.ta].request):
            latest[event.ta].take(event, place)
    return found


def is_of(answer: Event, request: Event) -> bool:
    """Tell whether an answer has the command of a request; one without a command is not another's."""
    return answer.command in ("", request.command)


def greeting(hellos: list[Exchange]) -> Greeting:
    """Return what has become of some hellos."""
    if any(hello.completed for hello in hellos):
        return "completed"
    return "pending" if any(hello.ending is None for hello in hellos) else "never"


def own_id(conversation: Conversation) -> int | None:
    """Return under which client-id a client is known here; ``None`` if that is not certain."""
    hellos = [each for each in exchanges(conversation) if each.command == "hello" and each.completed]
    known = {hello.request.fields.get("client-id") for hello in hellos}
    (only,) = known if len(known) == 1 else (None,)
    return only if isinstance(only, int) else None


def requests(conversation: Conversation, *commands: str) -> list[Transaction]:
    """Return the transactions that an implementation began as the client, of some commands or of all."""
    if conversation.client is not Direction.RECEIVED:
        return []
    return [each for each in conversation.transactions if each.command in (commands or COMMANDS)]
