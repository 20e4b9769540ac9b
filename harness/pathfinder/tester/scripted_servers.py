"""The tester as the servers of one domain, for clients under test: they grant all requests until a play changes that.

A ``Domain`` has one or more servers, each at an address that the client was given. Each connection of the client's is
an ``AcceptedConnection``: it takes the client's requests and, while the play reads, grants them as a server would.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from harness.errors import Deadline, HarnessError
from harness.exchange import Exchange
from harness.iuts.instance import Instance
from harness.links.link import Link
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.events import DecodedMessage, Event, decode_message
from harness.pathfinder.tester.transactions import Transaction
from harness.timing import Timing
from harness.trace import Direction, Trace
from wire.pathfinder.values import COMMANDS, MULTIPLE, VERSION, Message

PAUSE = 0.005
"""Seconds of the link's clock between two polls of all connections and of the application's notifications."""

GENERATIONS = "generations"
"""What an application is told of services beside their identifiers, unless its client does not offer that."""

DIAL_TIMEOUT = 10.0
"""Seconds of the protocol's time within which a client is expected to dial."""


class NotCome(HarnessError):
    """The client did not do what a play rests on."""


def service(id: int, generation: int = 0, **changes: Any) -> dict[str, Any]:
    """Return the fields that describe a service of another client."""
    fields: dict[str, Any] = {
        "service-id": id,
        "generation": generation,
        "service-props": {"name": ["goldwire"]},
        "ttl": 60,
        # Nobody who plays: the client's own identifier is random.
        "client-id": 7,
    }
    return fields | {name.replace("_", "-"): value for name, value in changes.items()}


def match(what: str, id: int, generation: int = 0, **changes: Any) -> dict[str, Any]:
    """Return the fields of a notification of a service to a subscription."""
    known = {"service-id": id} if what == "disappeared" else service(id, generation, **changes)
    return {"match-type": what, **known}


class AcceptedConnection:
    """One connection of the client to one server, with its requests and the notifications that it was sent."""

    def __init__(self, domain: "Domain", server: int, link: Link) -> None:
        self.domain = domain
        self.server = server
        self.link = link
        self.conversation = Conversation(link.label, client=Direction.RECEIVED)
        self.exchange = Exchange(link, self.conversation, decode_message, self._on_message)
        self.obliges = True
        """Whether requests are granted as they come; ``False`` leaves them to the play."""
        self.published: dict[int, Message] = {}
        """The services that the client has published here, by their ids: the fields of the latest ``publish``."""
        self.generations: list[tuple[int, int]] = []
        """Service and generation of each ``publish``, in order."""
        self._granted_at: float | None = None

    @property
    def ended(self) -> str:
        """How the connection ended; empty while it has not."""
        return self.exchange.ended

    @property
    def ended_at(self) -> float:
        """When it was seen to have ended, in seconds of the trace."""
        return self.exchange.ended_at - self.domain.trace.began

    @property
    def requests(self) -> list[Transaction]:
        """The client's transactions on this connection, in order."""
        return self.conversation.transactions

    @property
    def messages(self) -> list[Event]:
        """All messages of the client on this connection."""
        return [event for event in self.conversation.events if event.direction is Direction.RECEIVED]

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

    @property
    def waiting(self) -> list[Transaction]:
        """The client's transactions that have no answer yet."""
        return [each for each in self.requests if not each.answers]

    # --- saying -------------------------------------------------------------------------------------------

    def say(self, message: Message | bytes) -> None:
        """Send a message, or a frame as it is; a connection that has ended is noted, not raised."""
        frame = message if isinstance(message, bytes) else encode_message(message, deployed=self.domain.deployed)
        # The client takes nothing: what it has to say is read all the same.
        with suppress(Deadline):
            self.exchange.send(frame)

    def say_raw(self, data: bytes) -> None:
        """Send bytes without framing; monitors do not look at this connection any more."""
        self.conversation.is_clean = False
        with suppress(Deadline):
            self.exchange.send_raw(data)

    def answer(self, transaction: Transaction, type: str, fields: Mapping[str, Any] | None = None) -> None:
        """Answer a request."""
        self.say({"ta-cmd": transaction.command, "ta-id": transaction.ta, "msg-type": type, **(fields or {})})

    def grant(self, transaction: Transaction) -> None:
        """Answer a request as a server does that has nothing to say against it."""
        fields = transaction.request.fields
        match transaction.command:
            case "hello":
                self.answer(transaction, "complete", {"protocol-version": VERSION})
                self._granted_at = self.domain.now()
            case "publish":
                # -1 stands for none: a request without an identifier is granted like any other, and cases judge it.
                self.published[fields.get("service-id", -1)] = fields
                self.answer(transaction, "complete")
            case "unpublish":
                self.published.pop(fields.get("service-id", -1), None)
                self.answer(transaction, "complete")
            case "subscribe":
                self.answer(transaction, "accept")
            case "unsubscribe":
                self.answer(transaction, "complete")
                for each in self.subscriptions:
                    if each.request.fields.get("subscription-id") == fields.get("subscription-id"):
                        self.answer(each, "complete")
            case command if command in MULTIPLE:
                self.answer(transaction, "accept")
                for listed in self._listing(command):
                    self.answer(transaction, "notify", listed)
                self.answer(transaction, "complete")
            case _:
                self.answer(transaction, "complete")

    def _listing(self, command: str) -> list[Message]:
        """Return what a server lists that knows this client only."""
        address = "client-address" if self.domain.deployed else "client-addr"
        known: dict[str, list[Message]] = {
            "services": [{**service(1), "client-id": self.client_id}],
            "subscriptions": [{"subscription-id": 1, "client-id": self.client_id, "filter": "(name=goldwire)"}],
            "clients": [{"client-id": self.client_id, address: self.link.peername, "time": 1}],
        }
        return known.get(command, [])

    def notify(self, what: str, service: int, generation: int = 0, **changes: Any) -> None:
        """Tell every live subscription of a service: ``appeared``, ``modified`` or ``disappeared``."""
        # Of all its subscriptions, since the filters are the client's business: what does not match, it asked for.
        for each in self.subscriptions:
            self.answer(each, "notify", match(what, service, generation, **changes))

    def drop(self) -> None:
        """End the connection."""
        self.exchange.close()

    def abort(self) -> None:
        """Reset the connection, where its link can; else end it."""
        self.exchange.abort()

    # --- receiving ----------------------------------------------------------------------------------------

    def take(self, deadline: float) -> bool:
        """Take one frame, granting what it asks for if this connection obliges; ``False`` when none came by then."""
        if self.ended:
            return False
        # That the connection has ended is something that came, too.
        return self.exchange.receive(deadline) or bool(self.ended)

    def _on_message(self, decoded: DecodedMessage, event: Event) -> None:
        # A request that is not quite right is granted too: it is the case that judges.
        # It is the latest: the conversation has taken it already.
        if event.type == "request" and event.ta is not None and event.command in COMMANDS:
            self._asked(event)

    def _asked(self, event: Event) -> None:
        transaction = self.requests[-1]
        # What it was let in for is the only thing that a client says without delay, so it measures the way to it.
        if self._granted_at is not None and event.command != "hello":
            self.domain.timing.took(self.domain.now() - self._granted_at)
            self._granted_at = None
        if event.command == "publish" and event.error is None:
            self.generations.append((event.fields["service-id"], event.fields["generation"]))
        if self.obliges:
            self.grant(transaction)


class Domain:
    """The servers of one domain, and the client's connections to them in the order in which it came."""

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        label: Callable[[], str],
        servers: int,
        timing: Timing,
        deployed: bool = False,
    ) -> None:
        self.instance = instance
        self.trace = trace
        self.servers = servers
        self.timing = timing
        self.deployed = deployed
        self.connections: list[AcceptedConnection] = []
        self._label = label
        self._heard = 0

    # --- connections --------------------------------------------------------------------------------------

    def accept(self, server: int = 0, *, within: float | None = None, obliges: bool = True) -> AcceptedConnection:
        """Return the client's next connection to a server; ``NotCome`` when it has not dialled by then.

        ``within`` is in seconds of the protocol's time; without it the client has ample time.
        """
        patience = self.timing.ample(DIAL_TIMEOUT) if within is None else self.timing.quiet(within)
        try:
            link = self.instance.link(self.trace, self._label(), server=server, patience=patience)
        except Deadline as error:
            waited = patience * self.timing.tempo
            raise NotCome(f"the client did not dial server {server} within {waited:g} s") from error
        connection = AcceptedConnection(self, server, link)
        connection.obliges = obliges
        self.connections.append(connection)
        return connection

    def comes(self, server: int = 0, *, within: float | None = None, obliges: bool = True) -> AcceptedConnection | None:
        """Return the client's next connection to a server; ``None`` when it has not dialled by then."""
        try:
            return self.accept(server, within=within, obliges=obliges)
        except NotCome:
            return None

    def greeted(self, server: int = 0) -> AcceptedConnection:
        """Return the client's next connection to a server, once its hello was answered."""
        connection = self.accept(server)
        self.asks(connection, "hello")
        return connection

    def subscribed(self, server: int = 0) -> AcceptedConnection:
        """Return the client's next connection to a server, once it has subscribed there."""
        connection = self.accept(server)
        self.needs(lambda: bool(connection.subscriptions), "subscribed")
        return connection

    def refuse(self, server: int = 0) -> None:
        """Stop listening: connections are refused from now on."""
        self.instance.refuse(server)

    def admit(self, server: int = 0) -> None:
        """Let the client in again, at the same address."""
        self.instance.admit(server)

    # --- time ---------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time in seconds of the links' clock."""
        return self.instance.clock.now()

    def after(self, seconds: float) -> float:
        """Return when some seconds of the protocol's time will have passed for the client, by the links' clock."""
        return self.now() + self.timing.quiet(seconds)

    def read(self, seconds: float) -> None:
        """Serve all connections until some seconds of the protocol's time have passed for the client."""
        self.wait_until(lambda: False, self.after(seconds))

    def wait_until(self, done: Callable[[], bool], until: float | None = None) -> bool:
        """Serve all connections until something holds; ``False`` when patience (or the time ``until``) comes first."""
        deadline = self.now() + self.timing.patience if until is None else until
        while not done():
            # Without waiting: the client may speak on any of its connections next.
            taken = sum(connection.take(self.now()) for connection in self.connections)
            # Time is looked at even where there is always more to take.
            if self.now() > deadline or not (taken or self._pass(deadline)):
                break
        return done()

    def _pass(self, deadline: float) -> bool:
        """Let a moment pass; ``False`` when there is none left."""
        if self.now() >= deadline:
            return False
        open_connections = [connection for connection in self.connections if not connection.ended]
        if not open_connections:
            raise NotCome("the client is connected to no server")
        # What the application was told wakes no link, nor does another connection: look at all of them soon.
        open_connections[0].take(min(deadline, self.now() + PAUSE))
        return True

    def needs(self, done: Callable[[], bool], what: str, *, seconds: float = DIAL_TIMEOUT) -> None:
        """Serve until a precondition of the play holds; ``NotCome`` names it when it never does."""
        if not self.does(done, seconds=seconds):
            raise NotCome(f"the client never {what}")

    def does(self, done: Callable[[], bool], *, seconds: float = DIAL_TIMEOUT) -> bool:
        """Serve until something holds that the scenario asks for; ``False`` when it does not in ample time.

        So it is when the client has hung up everywhere.
        """
        try:
            return self.wait_until(done, self.now() + self.timing.ample(seconds))
        except NotCome:
            return done()

    def asks(self, connection: AcceptedConnection, command: str, *, times: int = 1) -> list[Transaction]:
        """Return the client's requests of a kind once there are ``times`` of them; ``NotCome`` otherwise."""
        self.needs(lambda: len(connection.asked(command)) >= times, f"asked for {command}")
        return connection.asked(command)

    # --- what the client's application was told -----------------------------------------------------------

    @property
    def events(self) -> list[str]:
        """The client's notifications to its application, a text each: ``appeared SERVICE GENERATION`` …"""
        events = self.instance.events()
        if len(events) > self._heard:
            # Who tells its application of something has lived to take it.
            self._heard, self.trace.heard = len(events), len(self.trace)
        return events

    def told(self, what: str, service: int, generation: int) -> str:
        """Return the notification of a service that has appeared or was modified, as this client words it."""
        return f"{what} {service} {'-' if GENERATIONS in self.instance.not_offered else generation}"

    def application_receives(self, *texts: str) -> bool:
        """Serve until the application has had all of these notifications."""
        return self.wait_until(lambda: set(texts) <= set(self.events))

    def close(self) -> None:
        """End all connections."""
        for connection in self.connections:
            connection.drop()
