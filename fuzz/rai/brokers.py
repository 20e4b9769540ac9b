"""Targets of Rai that are no role of the document: the brokers, whose own protocols the sessions of a test speak.

A message is an envelope, which its session says as its broker is told such things; whatever is none goes into the
stream as it is. So Rai's messages, and what their mutations make of them, go through all that a broker does with
subjects; and its own operations, and what is none, through its parser. Nobody's document is broken by either side.
"""

import socket
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from random import Random
from types import ModuleType

from fuzz.net.moves import EndVerb, Level
from fuzz.net.targets import FuzzTarget, ServiceProbe
from fuzz.rai import messages, nats_speech, redis_speech
from fuzz.rai.broker_service import BrokerService, addresses
from fuzz.rai.broker_side import BrokerSide
from fuzz.rai.nats_speech import NatsSide
from fuzz.rai.redis_speech import RedisSide
from fuzz.rai.saying import filled
from harness.clock import Clock
from harness.errors import HarnessError, LinkClosed, Unreachable, Unsupported
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.links.tcp import TcpLink
from harness.rai.framings import LAYOUT
from harness.rai.tester.conversation import Conversation
from harness.trace import Direction, EntryKind, Trace
from wire import envelope
from wire.errors import WireError

SENDING = 1.0
"""Seconds in which a broker takes some bytes: who does not has ended, or hangs."""

PIECES = 200
"""Pieces at most in which something is said; what is left of it is the last one."""

_WORDS: dict[str, Callable[[], object]] = {
    "me": lambda: "tess.1",
    "node": lambda: "paul.1",
    "now": lambda: 1_700_000_000_000_000,
    "asked": lambda: 0,
    "seen": lambda: 0,
    "cnonce": lambda: "AAECAwQFBgcICQoLDA0ODw",
}
"""What the words in messages of tests stand for: to a broker it is all one."""


class _Unframed:
    """Bytes of the stream as they come."""

    lua = "nil"
    rest = b""

    def encode(self, frame: bytes) -> bytes:
        return frame

    def reader(self) -> "_Unframed":
        return self

    def feed(self, data: bytes) -> list[bytes]:
        return [data]


class UnframedLink(TcpLink):
    """A connection of which all bytes stand in the trace as bytes of the stream, and are handed on as they come."""

    def __init__(self, host: str, port: int, clock: Clock, label: str, trace: Trace, seconds: float) -> None:
        try:
            connection = socket.create_connection((host, port), seconds)
        except OSError as error:
            raise Unreachable(f"{host}:{port}: {error}") from error
        super().__init__(connection, _Unframed(), clock, label, trace)

    def _arrived(self, frame: bytes) -> None:
        self._frames.append(self._record(EntryKind.RAW, Direction.RECEIVED, frame))


class BrokerInTest:
    """A broker in one test."""

    conversations: Sequence[Conversation] = ()
    """None that any rule is about."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance = instance
        self.trace = trace
        self._labels = Labels()
        self._links: list[UnframedLink] = []

    def link(self) -> UnframedLink:
        """Return another connection."""
        host, _, port = addresses[self.instance].rpartition(":")
        seconds = self.instance.timing.connecting
        link = UnframedLink(host, int(port), self.instance.clock, self._labels.next(), self.trace, seconds)
        link.sending = self.instance.timing.stretched(SENDING)
        self._links.append(link)
        return link

    def command(self, verb: str, *arguments: str) -> str:
        """Refuse to tell it anything: a broker is no node."""
        raise Unsupported("a broker takes no control lines")

    def close(self) -> None:
        """End all connections."""
        for each in self._links:
            each.close()


class BrokerSession:
    """A connection of a test with a broker."""

    def __init__(self, node: BrokerInTest, side: Callable[[str], BrokerSide], how: str) -> None:
        self.node = node
        self.how = how
        self._side = side
        self._answers: list[str] = []
        self._connect()

    def _connect(self) -> None:
        self.link, self.side = self.node.link(), self._side(self.how)
        self.is_over = self._has_ended = False
        self._put(self.side.opening())

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        if self.is_over and not self._has_ended:
            # As clients of brokers do; most of what breaks the broker's protocol ends the connection.
            with suppress(HarnessError):
                self._connect()
        said = b"".join(self._spelt(each) if level == "message" else each for each in data)
        size = max(cut, len(said) // PIECES + 1) if cut else len(said)
        for at in range(0, len(said), size or 1):
            self._put(said[at : at + size])

    def _spelt(self, data: bytes) -> bytes:
        try:
            said = envelope.read(data)
        except WireError:
            return data
        subject = filled(said.subject.encode(), _WORDS).decode()
        return self.side.spelt(envelope.Envelope(said.operation, subject, filled(said.payload, _WORDS)))

    def _put(self, data: bytes) -> None:
        if self.is_over or not data:
            return
        # Who is not there any more is looked at by the service: here it is no matter.
        with suppress(HarnessError):
            self.link.send_raw(data)

    def catch_up(self, seconds: float = 0.0) -> None:
        deadline = self.link.clock.now() + seconds
        while self._read(deadline):
            pass

    def _read(self, deadline: float) -> bool:
        """Read once; False when nothing has come by then."""
        if self.is_over:
            return False
        try:
            data = self.link.receive(deadline).data
        except LinkClosed as error:
            self.is_over = True
            self._answers.append(f"end: {error}")
            return False
        except HarnessError:
            return False
        self._answers += self.side.heard(data)
        return True

    def ask(self) -> None:
        self._put(self.side.question())

    def listen(self, until: float) -> bool:
        while self.side.answered < self.side.asked and self._read(until):
            pass
        return self.is_over or self.side.answered >= self.side.asked

    def end(self, verb: EndVerb) -> None:
        if not self._has_ended:
            self.is_over = self._has_ended = True
            (self.link.abort if verb == "abort" else self.link.close)()

    def answers(self) -> Sequence[str]:
        told, self._answers = self._answers, []
        return told

    def state(self) -> Hashable:
        return self.side.state, self.how, self.is_over


class BrokerTarget:
    """A broker; ``speech`` draws what is said to it, and ``side`` makes the side of a session from its way."""

    layout = LAYOUT
    framings = dict.fromkeys(("nats", "redis"), _Unframed())
    """The tester dials, and what each side says is what it says to the other."""

    def __init__(self, speech: ModuleType, side: Callable[[str], BrokerSide]) -> None:
        self._speech, self._side = speech, side
        self.ways: Sequence[str] = speech.WAYS

    def node(self, instance: Instance, trace: Trace) -> BrokerInTest:
        return BrokerInTest(instance, trace)

    def session(self, node: BrokerInTest, how: str) -> BrokerSession:
        return BrokerSession(node, self._side, how)

    def message(self, random: Random) -> bytes:
        said: bytes = self._speech.message(random)
        return said

    def text(self, random: Random) -> bytes:
        return messages.text(random) if random.random() < 0.5 else self.frame(random)

    def frame(self, random: Random) -> bytes:
        said: bytes = self._speech.stream(random)
        return said

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        return (frame,)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return BrokerService(instance, trace)


BROKERS: dict[str, FuzzTarget] = {
    "nats-broker": BrokerTarget(nats_speech, NatsSide),
    "redis-broker": BrokerTarget(redis_speech, RedisSide),
}
