"""How far a conversation can be judged, and its transactions up to there.

A server is judged by what it answers as long as everybody can tell what that is. Once a client has left the document,
by messages that are no requests or by an identifier that two transactions have at once, or a message has no type or no
transaction, nobody can.
"""

from typing import Literal
from weakref import WeakKeyDictionary

from harness.pathfinder.conversation import Conversation, Event
from harness.pathfinder.transactions import Transaction
from harness.trace import Direction
from wire.pathfinder.frames import COMMANDS, MULTIPLE, SINGLE

ENDS = ("complete", "fail")
ANSWERS = ("accept", "notify", "complete", "fail")

Greeting = Literal["never", "pending", "completed"]
"""Whether a client had said hello: not so that it could have come true, without an end yet, or rightly."""


class Exchange:
    """A request and what came under its identifier and its command before both were used again.

    What has no command is taken to be of the latest request.

    ``said`` is what came up to the end, ``late`` what came after it; ``began`` and ``ended`` are places in the
    conversation.
    """

    def __init__(self, request: Event, began: int, greeted: Greeting) -> None:
        self.request = request
        self.began = began
        self.greeted = greeted
        self.said: list[Event] = []
        self.late: list[Event] = []
        self.ending: Event | None = None
        self.ended: int | None = None

    def take(self, event: Event, place: int) -> None:
        """Take one answer."""
        (self.said if self.ending is None else self.late).append(event)
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


# Two dozen monitors ask for the same; a conversation that has grown since is read anew.
_known: WeakKeyDictionary[Conversation, tuple[int, tuple[Exchange, ...]]] = WeakKeyDictionary()


def exchanges(conversation: Conversation) -> tuple[Exchange, ...]:
    """Return the transactions of an implementation that is the server, in order, as far as they can be judged."""
    if conversation.server is not Direction.RECEIVED:
        return ()
    length, known = _known.get(conversation, (-1, ()))
    if length != len(conversation.events):
        known = tuple(_exchanges(conversation))
        _known[conversation] = len(conversation.events), known
    return known


def _exchanges(conversation: Conversation) -> list[Exchange]:
    found: list[Exchange] = []
    hellos: list[Exchange] = []
    latest: dict[tuple[int | None, str], Exchange] = {}
    for place, event in enumerate(undisturbed(conversation)):
        if event.direction is conversation.client:
            begun = Exchange(event, place, greeting(hellos))
            latest[event.ta, event.command] = latest[event.ta, ""] = begun
            found.append(begun)
            hellos += [begun] if event.command == "hello" else []
        elif event.type != "request" and (event.ta, event.command) in latest:
            latest[event.ta, event.command].take(event, place)
    return found


def greeting(hellos: list[Exchange]) -> Greeting:
    """Return what has become of some hellos."""
    if any(hello.completed for hello in hellos):
        return "completed"
    return "pending" if any(hello.ending is None for hello in hellos) else "never"


def own_id(conversation: Conversation) -> int | None:
    """Return under which client-id a client is known here; ``None`` if that is not certain."""
    hellos = [each for each in exchanges(conversation) if each.command == "hello" and each.completed]
    known = [hello.request.fields.get("client-id") for hello in hellos]
    return known[0] if known and isinstance(known[0], int) and known.count(known[0]) == len(known) else None


def requests(conversation: Conversation, *commands: str) -> list[Transaction]:
    """Return the transactions that an implementation began as the client, of some commands or of all."""
    if conversation.client is not Direction.RECEIVED:
        return []
    return [each for each in conversation.transactions if each.command in (commands or COMMANDS)]
