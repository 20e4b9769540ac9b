"""The tester as the servers of one domain, for clients under test: obliging until a play says otherwise.

A ``Domain`` has one or more servers, each at an address that the client was given. The client's connections are
``Visit``s: a visit takes the client's requests and, while the play reads, grants what is asked for as a server would.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import Deadline, HarnessError, LinkClosed
from harness.instances import Instance
from harness.link import Link
from harness.pathfinder.conversation import Conversation, Event
from harness.pathfinder.driver import spelled
from harness.pathfinder.transactions import Transaction
from harness.trace import Direction, Trace
from wire.pathfinder.frames import MULTIPLE, VERSION, Message

PAUSE = 0.005
"""Seconds of the link's clock between two looks at all connections and at what the application was told."""

DIAL_PATIENCE = 10.0
"""Seconds of the protocol's time within which a client is expected to dial."""


class NotCome(HarnessError):
    """The client did not do what a play rests on."""


class Visit:
    """One connection of the client to one server: what it asked for, and what it was told."""

    def __init__(self, domain: "Domain", server: int, link: Link) -> None:
        self.domain = domain
        self.server = server
        self.link = link
        self.conversation = Conversation(link.label)
        self.ended = ""
        self.obliges = True
        """Whether requests are granted as they come; ``False`` leaves them to the play."""
        self.published: dict[int, Message] = {}
        """The services that the client has published here, by their ids: the fields of the latest ``publish``."""
        self.generations: list[tuple[int, int]] = []
        """Service and generation of each ``publish``, in order."""

    @property
    def requests(self) -> list[Transaction]:
        """The client's transactions on this connection, in order."""
        return self.conversation.transactions

    def asked(self, command: str) -> list[Transaction]:
        """Return the transactions of one command, in order."""
        return [transaction for transaction in self.requests if transaction.command == command]

    @property
    def client_id(self) -> int | None:
        """The identifier in the client's first hello."""
        hellos = self.asked("hello")
        return hellos[0].request.fields.get("client-id") if hellos else None

    @property
    def subscriptions(self) -> list[Transaction]:
        """The client's subscriptions that were accepted and have not ended."""
        return [each for each in self.asked("subscribe") if each.accepted and not each.is_over]

    # --- saying -------------------------------------------------------------------------------------------

    def say(self, message: Message | bytes) -> None:
        """Send a message, or a frame as it is; a connection that has ended is noted, not raised."""
        frame = message if isinstance(message, bytes) else spelled(message)
        try:
            self.link.send(frame)
        except LinkClosed as error:
            self._end(Direction.RECEIVED, error.how)
            return
        except Deadline:
            return
        self.conversation.feed(Direction.SENT, frame, self.domain.trace.now(), len(self.domain.trace) - 1)

    def answer(self, transaction: Transaction, type: str, fields: Mapping[str, Any] | None = None) -> None:
        """Answer a request."""
        self.say({"ta-cmd": transaction.command, "ta-id": transaction.ta, "msg-type": type, **(fields or {})})

    def grant(self, transaction: Transaction) -> None:
        """Answer a request as a server does that has nothing to say against it."""
        fields = transaction.request.fields
        match transaction.command:
            case "hello":
                self.answer(transaction, "complete", {"protocol-version": VERSION})
            case "publish":
                self.published[fields["service-id"]] = fields
                self.answer(transaction, "complete")
            case "unpublish":
                self.published.pop(fields["service-id"], None)
                self.answer(transaction, "complete")
            case "subscribe":
                self.answer(transaction, "accept")
            case "unsubscribe":
                self.answer(transaction, "complete")
                for each in self.subscriptions:
                    if each.request.fields.get("subscription-id") == fields["subscription-id"]:
                        self.answer(each, "complete")
            case command if command in MULTIPLE:
                self.answer(transaction, "accept")
                for listed in self.domain.listing(command):
                    self.answer(transaction, "notify", listed)
                self.answer(transaction, "complete")
            case _:
                self.answer(transaction, "complete")

    def tell(self, what: str, service: int, generation: int = 0, **changes: Any) -> None:
        """Tell every live subscription of a service: ``appeared``, ``modified`` or ``disappeared``."""
        fields: dict[str, Any] = {"match-type": what, "service-id": service}
        if what != "disappeared":
            fields |= {
                "generation": generation,
                "service-props": {"name": ["goldwire"]},
                "ttl": 60,
                "client-id": 7,
                **{name.replace("_", "-"): value for name, value in changes.items()},
            }
        for each in self.subscriptions:
            self.answer(each, "notify", fields)

    def drop(self) -> None:
        """End the connection."""
        self.link.close()
        self._end(Direction.SENT, "closed by the tester")

    # --- hearing ------------------------------------------------------------------------------------------

    def take(self, deadline: float) -> bool:
        """Take one frame, granting what it asks for if this visit obliges; ``False`` when none came by then."""
        if self.ended:
            return False
        try:
            frame = self.link.receive(deadline)
        except Deadline:
            return False
        except LinkClosed as error:
            self._end(Direction.RECEIVED, error.how)
            return True
        trace = self.domain.trace
        event = self.conversation.feed(Direction.RECEIVED, frame, trace.now(), len(trace) - 1)
        if event.error is None and event.type == "request":
            self._asked(event)
        return True

    def _asked(self, event: Event) -> None:
        transaction = self.requests[-1]
        if event.command == "publish":
            self.generations.append((event.fields["service-id"], event.fields["generation"]))
        if self.obliges:
            self.grant(transaction)

    def _end(self, by: Direction, how: str) -> None:
        self.ended = self.ended or how
        self.conversation.end(by, self.ended)


class Domain:
    """The servers of one domain, and the client's visits to them in the order in which it came."""

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        label: Callable[[], str],
        servers: int,
        patience: float,
        tempo: float,
    ) -> None:
        self.instance = instance
        self.trace = trace
        self.servers = servers
        self.patience = patience
        self.tempo = tempo
        self.visits: list[Visit] = []
        self.lists: dict[str, list[Message]] = {}
        """What ``services``, ``subscriptions`` and ``clients`` list, by the command."""
        self._label = label

    def listing(self, command: str) -> list[Message]:
        """Return the notifications with which a listing is answered."""
        return self.lists.get(command, [])

    # --- the doors ----------------------------------------------------------------------------------------

    def accept(self, server: int = 0, *, within: float = DIAL_PATIENCE, obliges: bool = True) -> Visit:
        """Return the client's next connection to a server; ``NotCome`` when it has not dialled by then.

        ``within`` is in seconds of the protocol's time.
        """
        try:
            link = self.instance.link(self.trace, self._label(), server=server, patience=self._seconds(within))
        except Deadline as error:
            raise NotCome(f"the client did not dial server {server} within {within:g} s") from error
        visit = Visit(self, server, link)
        visit.obliges = obliges
        self.visits.append(visit)
        return visit

    def comes(self, server: int = 0, *, within: float = DIAL_PATIENCE, obliges: bool = True) -> Visit | None:
        """Return the client's next connection to a server; ``None`` when it has not dialled by then."""
        try:
            return self.accept(server, within=within, obliges=obliges)
        except NotCome:
            return None

    def refuse(self, server: int = 0) -> None:
        """Let nobody in any more: whoever dials is refused."""
        self.instance.refuse(server)

    def admit(self, server: int = 0) -> None:
        """Open the door again, at the same address."""
        self.instance.admit(server)

    # --- time ---------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time in seconds of the links' clock."""
        return self.instance.clock.now()

    def read(self, seconds: float) -> None:
        """Serve all connections for so many seconds of the protocol's time."""
        self.wait_until(lambda: False, seconds=seconds)

    def wait_until(self, done: Callable[[], bool], *, seconds: float | None = None) -> bool:
        """Serve all connections until something holds; ``False`` when patience (or so much protocol time) ends."""
        deadline = self.now() + (self.patience if seconds is None else self._seconds(seconds))
        while not done():
            taken = sum(visit.take(self.now()) for visit in self.visits)
            if not taken and not self._pass(deadline):
                break
        return done()

    def _pass(self, deadline: float) -> bool:
        """Let a moment pass; ``False`` when there is none left."""
        if self.now() >= deadline:
            return False
        open_visits = [visit for visit in self.visits if not visit.ended]
        if not open_visits:
            raise NotCome("the client is connected to no server")
        # What the application was told wakes no link, nor does another connection: look at all of them soon.
        open_visits[0].take(min(deadline, self.now() + PAUSE))
        return True

    def _seconds(self, seconds: float) -> float:
        return seconds / self.tempo

    def needs(self, done: Callable[[], bool], what: str, *, seconds: float | None = None) -> None:
        """Serve until something holds that the play rests on; ``NotCome`` says what did not."""
        if not self.wait_until(done, seconds=seconds):
            raise NotCome(f"the client never {what}")

    # --- what the client's application was told -----------------------------------------------------------

    @property
    def events(self) -> list[str]:
        """What the client has told its application, a text each: ``appeared SERVICE GENERATION`` …"""
        return self.instance.events()

    def told(self, *texts: str, seconds: float | None = None) -> bool:
        """Serve until the application was told all of these."""
        return self.wait_until(lambda: set(texts) <= set(self.events), seconds=seconds)

    def close(self) -> None:
        """End all connections."""
        for visit in self.visits:
            visit.drop()
