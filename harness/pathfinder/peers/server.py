"""The reference server: keeps the document to the letter, without sockets or threads.

Every decision that the document speaks of is a method of its own, so that a fault is one override beside it. The server
is made in layers: ``answering`` (how it speaks), ``subscribing`` (who is told), ``publishing`` (what becomes of
services), and here connections, the handshake, and who may ask what.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

from harness.pathfinder.peers.answering import (
    CLIENT_ID_EXISTS,
    INSUFFICIENT_RESOURCES,
    NO_HELLO,
    PERMISSION_DENIED,
    UNSUPPORTED_PROTOCOL_VERSION,
    RequestRefused,
)
from harness.pathfinder.peers.hello_patience import HelloPatience
from harness.pathfinder.peers.limits import GENEROUS, Limits
from harness.pathfinder.peers.publishing import Publishing
from harness.pathfinder.peers.session import Session
from wire.errors import DecodeError
from wire.pathfinder.values import MULTIPLE, VERSION, Message, read


class Server(Publishing, HelloPatience):
    """A Pathfinder server; ``profile`` picks the reading where the document and the field differ."""

    role = "server"
    versions: tuple[int, ...] = (VERSION,)

    def __init__(
        self, *, profile: str = "document", limits: Limits = GENEROUS, wall: Callable[[], float] = time.time
    ) -> None:
        super().__init__(deployed=profile == "deployed", limits=limits, wall=wall)
        self.sessions: dict[int, Session] = {}
        self.clients: dict[int, Session] = {}
        self.awaiting_hello: OrderedDict[int, float] = OrderedDict()
        self.commands: dict[str, Callable[[Session, Message], None]] = {
            "hello": self.on_hello,
            "subscribe": self.on_subscribe,
            "unsubscribe": self.on_unsubscribe,
            "subscriptions": self.on_subscriptions,
            "services": self.on_services,
            "publish": self.on_publish,
            "unpublish": self.on_unpublish,
            "clients": self.on_clients,
            "ping": self.on_ping,
        }

    # --- the runner's side --------------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of a new link; ``address`` is where it comes from, as ``tcp:127.0.0.1:44854``."""
        self.now = now
        session = self.sessions[link] = Session(link, address, self.wall())
        self.await_hello(session)
        if len(self.awaiting_hello) > self.limits.awaiting_hello:
            self.make_room()
        self.settle()

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one message."""
        self.now = now
        session = self.sessions.get(link)
        if session is not None:
            self.take(session, frame)
            self.settle()

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone."""
        self.now = now
        session = self.sessions.get(link)
        if session is not None:
            session.closing = True
            self.leaving.append(session)
            self.settle()

    def tick(self, now: float) -> None:
        """Let time pass: orphans expire, and connections without a hello are closed."""
        self.now = now
        # All are given the same time, so the first has waited longest.
        while self.awaiting_hello and self.awaiting_hello[link := next(iter(self.awaiting_hello))] <= now:
            self.give_up(self.sessions[link])
        self.expire_due()
        self.settle()

    def next_tick(self) -> float | None:
        """Return when the next orphan expires or the next stranger is sent away."""
        patience = self.awaiting_hello[next(iter(self.awaiting_hello))] if self.awaiting_hello else math.inf
        at = min(patience, self.next_expiry())
        return None if at == math.inf else at

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, by link, in order."""
        while self.outbox:
            outbox, self.outbox = self.outbox, []
            self.backlog.clear()
            yield from outbox

    # --- connections --------------------------------------------------------------------------------------

    def await_hello(self, session: Session) -> None:
        """Give a connection so much time to say hello, from now on."""
        self.awaiting_hello.pop(session.link, None)
        self.awaiting_hello[session.link] = self.now + self.limits.hello_patience

    def make_room(self) -> None:
        """Close the connection that has been without a hello for longest: a new one is more likely to send it."""
        self.give_up(self.sessions[next(iter(self.awaiting_hello))])

    def give_up(self, session: Session) -> None:
        """Close a connection that has sent no hello."""
        del self.awaiting_hello[session.link]
        self.close(session)

    def settle(self) -> None:
        """Draw the consequences of connections that have ended, which may end others."""
        while self.leaving:
            while self.leaving:
                self.leave(self.leaving.pop(0))
            self.expire_due()

    def leave(self, session: Session) -> None:
        """End a connection: its transactions end, and contact to its client is lost."""
        del self.sessions[session.link]
        self.awaiting_hello.pop(session.link, None)
        self.forget_subscriptions(session)
        if session.client_id is not None:
            self.forget_client(session)
            self.lose_contact(session.client_id)

    def forget_subscriptions(self, session: Session) -> None:
        """Forget the subscriptions that were made on a connection."""
        for subscription in list(session.live.values()):
            self.forget(subscription)

    def forget_client(self, session: Session) -> None:
        """Forget that a client is connected; its identifier is free."""
        assert session.client_id is not None
        del self.clients[session.client_id]

    # --- requests -----------------------------------------------------------------------------------------

    def take(self, session: Session, frame: bytes) -> None:
        """Act on one message."""
        request = self.understand(frame)
        # Two transactions of one identifier could not be told apart: an error of the client's, and not one to answer.
        if request is None or self.is_live(session, request):
            self.close(session)
            return
        try:
            self.admit(session, request, len(frame))
            self.execute(session, request)
        except RequestRefused as refused:
            self.fail(session, request, refused.reason)

    def understand(self, frame: bytes) -> Message | None:
        """Read a request; ``None`` for what is none."""
        # Reading: the document says nothing of messages that are none of its own. A client that sends one cannot be
        # understood any more, and there may be no transaction to answer in, so the connection ends without a word.
        try:
            message = read(frame, deployed=self.deployed)
        except DecodeError:
            return None
        return message if message["msg-type"] == "request" else None

    def is_live(self, session: Session, request: Message) -> bool:
        """Tell whether a request has the identifier of a transaction that goes on."""
        return request["ta-id"] in session.live

    def admit(self, session: Session, request: Message, size: int) -> None:
        """Refuse a request before hello, or one that exceeds the server's limits."""
        command = request["ta-cmd"]
        if session.client_id is None and self.needs_hello(command):
            raise RequestRefused(NO_HELLO)
        if size > self.limits.message:
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        # An unsubscribe makes room.
        if len(session.live) >= self.limits.transactions and command != "unsubscribe":
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        if command in MULTIPLE and self.backlog.get(session.link, 0) > self.limits.answers:
            raise RequestRefused(INSUFFICIENT_RESOURCES)

    def needs_hello(self, command: str) -> bool:
        """Tell whether a command needs a completed hello."""
        return command != "hello"

    def execute(self, session: Session, request: Message) -> None:
        """Carry out a request."""
        self.commands[request["ta-cmd"]](session, request)

    # --- hello --------------------------------------------------------------------------------------------

    def on_hello(self, session: Session, request: Message) -> None:
        """Shake hands with a client, or once more."""
        if session.client_id is not None:
            self.greet_again(session, request)
        else:
            self.greet(session, request)

    def greet(self, session: Session, request: Message) -> None:
        """Shake hands with a client; one that is rejected may try again."""
        self.await_hello(session)  # one that is rejected has said hello in time, and gets as much time for another
        version = self.choose_version(request["protocol-minimum-version"], request["protocol-maximum-version"])
        if version is None:
            raise RequestRefused(UNSUPPORTED_PROTOCOL_VERSION)
        if self.is_connected(request["client-id"]):
            raise RequestRefused(CLIENT_ID_EXISTS)
        if not self.has_room_for_client():
            raise RequestRefused(INSUFFICIENT_RESOURCES)
        self.welcome(session, request["client-id"], version)
        self.answer_hello(session, request, version)
        self.regain_contact(request["client-id"])

    def greet_again(self, session: Session, request: Message) -> None:
        """Repeat the handshake: the version stays what was agreed on, whatever the range is now."""
        assert session.version is not None
        if not self.is_same_client(session, request):
            raise RequestRefused(PERMISSION_DENIED)
        self.answer_hello(session, request, session.version)

    def is_same_client(self, session: Session, request: Message) -> bool:
        """Tell whether a repeated hello is that of the same client."""
        return bool(request["client-id"] == session.client_id)

    def choose_version(self, minimum: int, maximum: int) -> int | None:
        """Return the highest version that both sides speak; ``None`` when there is none."""
        return max((version for version in self.versions if minimum <= version <= maximum), default=None)

    def is_connected(self, client_id: int) -> bool:
        """Tell whether a client is connected."""
        return client_id in self.clients

    def has_room_for_client(self) -> bool:
        """Tell whether one more client may be connected."""
        return len(self.clients) < self.limits.clients

    def welcome(self, session: Session, client_id: int, version: int) -> None:
        """Take note of who is on a connection."""
        session.client_id = client_id
        session.version = version
        self.clients[client_id] = session
        self.awaiting_hello.pop(session.link, None)

    def answer_hello(self, session: Session, request: Message, version: int) -> None:
        """Tell a client the version to speak."""
        self.complete(session, request, {"protocol-version": version})

    # --- clients, ping ------------------------------------------------------------------------------------

    def on_clients(self, session: Session, request: Message) -> None:
        """List the clients, the asking one included."""
        self.enumerate(session, request, [self.describe_client(each) for each in self.listed_clients(session)])

    def listed_clients(self, session: Session) -> list[Session]:
        """Return the connections of the clients that a list for one of them has."""
        return list(self.clients.values())

    def describe_client(self, session: Session) -> Message:
        """Return the fields that say who a client is."""
        address = "client-address" if self.deployed else "client-addr"
        return {"client-id": session.client_id, address: session.address, "time": max(0, int(session.since))}

    def on_ping(self, session: Session, request: Message) -> None:
        """Say that all is well."""
        self.complete(session, request)
