"""The state of a session of Pathfinder up to a message: requests, answers, hellos; and how far it can be judged.

A server is judged by what it answers as long as everybody can tell what that is. Once a client has left the document,
by messages that are no requests or by an identifier that two transactions have at once, or a message has no type or no
transaction, nobody can.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from conformance.monitors import SessionEnd
from conformance.pathfinder.monitors.forms import Flaw, flaws
from conformance.pathfinder.monitors.served import ENDS, Greeting, ServedRequest
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.events import Event
from harness.pathfinder.tester.transactions import Transaction
from harness.trace import Direction
from wire.pathfinder.values import COMMANDS


class HelloCounts(NamedTuple):
    """What has become of a client's hellos: how many there were, and how many have ended how."""

    asked: int = 0
    completed: int = 0
    failed: int = 0


NO_HELLOS = HelloCounts()
"""What every session begins with."""


class SessionState:
    """What was asked and answered on a connection, up to a message.

    Of a server that is judged it keeps what is said of servers, of a client what is said of clients: the other half
    would be paid for by every message and read by nobody.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.role = ""
        """Whether the implementation is the ``server`` or the ``client``; empty while nobody can tell."""
        if conversation.server is Direction.RECEIVED:
            self.role = "server"
        elif conversation.client is Direction.RECEIVED:
            self.role = "client"

        self.live: set[int | None] = set()
        """The identifiers of transactions that have not ended."""

        # Of a server.
        self.is_asked = False
        """Whether the client has said anything."""
        self.is_clear = True
        """Whether everybody can tell still what is answered."""
        self.requests: list[ServedRequest] = []
        self._of: dict[str, list[ServedRequest]] = {}
        self.strays: list[tuple[Event, list[str]]] = []
        """What a server said, once it was asked for anything, that answers no request under its identifier and of its
        command; with the commands that were asked for under that identifier."""
        self._latest: dict[tuple[int | None, str], ServedRequest] = {}
        self._greeted: Greeting = "never"

        # Of a client.
        self.hellos = NO_HELLOS
        self.has_commanded = False
        """Whether it has given any command."""
        self.mentioned: set[int | None] = set()
        """The identifiers that anybody has used."""
        self.repeated_hellos: list[Event] = []
        """Its hellos behind a completed one."""
        # By identity: events are values, and a message that is said twice is two events that are equal.
        self._is_hello: set[int] = set()
        self._ends_hello: set[int] = set()
        if self.role == "client":
            for hello in self.made("hello"):
                self._is_hello.add(id(hello.request))
                if hello.ending is not None:
                    self._ends_hello.add(id(hello.ending))

        self._flawed: Event | None = None
        self._flaws: list[Flaw] = []

    # --- what monitors ask ------------------------------------------------------------------------------------

    def flaws(self, event: Event) -> list[Flaw]:
        """Return how a message differs from its form."""
        if event.error is None:
            return []
        # A dozen monitors ask about the same message, one after the other: what was found last is kept. By identity,
        # as comparing two messages takes longer than that saves.
        if self._flawed is not event:
            self._flawed, self._flaws = event, flaws(event)
        return self._flaws

    def served(self, command: str) -> list[ServedRequest]:
        """Return the requests of one command that a server was asked, in order, as far as they can be judged."""
        return self._of.get(command, [])

    def made(self, *commands: str) -> list[Transaction]:
        """Return the transactions that a client began in the whole session, of some commands."""
        return [each for each in self.conversation.transactions if each.command in commands]

    @property
    def own_id(self) -> int | None:
        """Under which client-id a client is known here; ``None`` if that is not certain."""
        known = [hello.request.fields.get("client-id") for hello in self.served("hello") if hello.completed]
        return known[0] if known and isinstance(known[0], int) and known.count(known[0]) == len(known) else None

    # --- what the walk tells ----------------------------------------------------------------------------------

    def ending(self) -> Iterator[ServedRequest | SessionEnd]:
        """Yield each request that a server was asked with its answers, and the end of the session."""
        yield from self.requests
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)

    @property
    def see(self) -> Callable[[Event], None]:
        """What takes note of an event, after it was judged: who plays which role is asked once in a walk."""
        return self._see_as_server if self.role == "server" else self._see_as_client

    def _see_as_server(self, event: Event) -> None:
        ta, type = event.ta, event.type
        if event.direction is Direction.SENT:
            self.is_asked = True
            if type != "request" or ta is None or ta in self.live:
                self.is_clear = False
            elif self.is_clear:
                self._ask(event, ta)
        elif not type or ta is None:
            self.is_clear = False
        elif self.is_clear and type != "request":
            if type in ENDS:
                self.live.discard(ta)
            # Also when it has ended: what comes later is late, and a rule of its own.
            answered = self._latest.get((ta, event.command))
            if answered is not None:
                answered.take(event)
            elif self.requests:
                self.strays.append((event, sorted(name for number, name in self._latest if number == ta and name)))

    def _ask(self, event: Event, ta: int) -> None:
        self.live.add(ta)
        request = ServedRequest(event, self._greeting())
        # An answer without a command is taken to be of the latest request under its identifier, whatever that asked.
        self._latest[ta, event.command] = self._latest[ta, ""] = request
        self.requests.append(request)
        self._of.setdefault(event.command, []).append(request)

    def _greeting(self) -> Greeting:
        if self._greeted != "completed":  # which it remains
            hellos = self._of.get("hello")
            if hellos is None:  # as with every first message
                return "never"
            if any(hello.completed for hello in hellos):
                self._greeted = "completed"
            else:
                self._greeted = "pending" if any(hello.ending is None for hello in hellos) else "never"
        return self._greeted

    def _see_as_client(self, event: Event) -> None:
        ta, type, number = event.ta, event.type, id(event)
        self.mentioned.add(ta)
        asked, completed, failed = self.hellos
        if event.direction is Direction.SENT:
            if type in ENDS and ta is not None:
                self.live.discard(ta)
            if number in self._ends_hello:
                self.hellos = HelloCounts(asked, completed + (type == "complete"), failed + (type == "fail"))
            return
        self.has_commanded = self.has_commanded or event.command in COMMANDS
        if type != "request":
            return
        if ta is not None:
            self.live.add(ta)
        if completed and event.command == "hello":
            self.repeated_hellos.append(event)
        if number in self._is_hello:
            self.hellos = HelloCounts(asked + 1, completed, failed)
