"""What is said to a NATS server: envelopes in its operations, operations at random, and what is none.

https://docs.nats.io/reference/reference-protocols/nats-protocol; beside what clients say there are the operations that
servers say to clients and to one another, which no client has to say.
"""

import json
import re
from collections.abc import Iterator
from random import Random

from fuzz.net.texts import SIZES
from fuzz.rai import messages
from fuzz.rai.broker_side import FEW, NUMBERS, broken_stream, some_payload, some_subject
from fuzz.rai.saying import LONGEST_SUBJECT
from harness.links.nats_stream import CRLF, Operation, OperationReader
from wire import envelope
from wire.envelope import Envelope

OPTIONS: dict[str, dict[str, object]] = {
    "": {"verbose": False, "pedantic": False, "echo": True, "headers": True, "no_responders": True, "protocol": 1},
    "verbose": {"verbose": True, "pedantic": True, "headers": True},
    "plain": {"verbose": False, "headers": False},
}
"""What a session says of itself, by the way in which it is opened; one that is ``silent`` says nothing."""

WAYS = ("usual", "verbose", "plain", "silent")

SIDS = (b"1", b"1", b"2", b"2", b"3", b"a", b"9", b"0", b"-1", b"*", b"18446744073709551616", b"s" * 300)
HEADERS = (
    *(b"NATS/1.0\r\n\r\n", b"NATS/1.0\r\nA: 1\r\n\r\n", b"NATS/1.0 503\r\n\r\n", b"NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n"),
    *(b"NATS/1.0", b"NATS/1.0\r\n", b"", b"\r\n\r\n", b"NATS/1.0\r\n:\r\n\r\n", b"NATS/1.0\r\nA\0: \xff\r\n\r\n"),
    b"NATS/1.0\r\nNats-Service: x\r\nNats-Request-Info: {\r\n\r\n",
    b"NATS/1.0\r\n" + b"A: 1\r\n" * 500 + b"\r\n",
)
_ODD_OPTIONS: tuple[tuple[str, object], ...] = (
    *(("verbose", True), ("pedantic", True), ("echo", False), ("headers", False), ("no_responders", True)),
    *(("protocol", -1), ("protocol", 1 << 70), ("protocol", "1"), ("name", "n" * 3000), ("name", "\0\r\n")),
    *(("user", "tess"), ("pass", "x"), ("auth_token", ""), ("jwt", "a.b.c"), ("nkey", "U" * 56), ("sig", "x")),
    *(("account", "$SYS"), ("new_account", True), ("import", {}), ("export", {}), ("lang", 1), ("tls_required", True)),
)
_OF_SERVERS = (
    *(b"INFO {}", b"INFO {", b"INFO", b'INFO {"server_id":"x","nonce":"y"}', b"+OK", b"-ERR", b"-ERR 'x'", b"PONG"),
    *(b"MSG LAB.a 1 1\r\nx", b"HMSG LAB.a 1 12 12\r\nNATS/1.0\r\n\r\n", b"RMSG $G LAB.a 1\r\nx", b"RS+ $G LAB.a"),
    *(b"RS- $G LAB.a", b"LS+ LAB.a", b"LS- LAB.a", b"LMSG LAB.a 1\r\nx", b"A+ x", b"A- x", b"PING PING", b"PONG x"),
)
_SERVICES = (
    "$SYS.REQ.SERVER.PING",
    "$SYS.REQ.USER.INFO",
    "$JS.API.INFO",
    "$JS.API.STREAM.CREATE.x",
    "$SYS.>",
    "$JS.ACK",
)


def spelt_connect(options: dict[str, object]) -> bytes:
    """Return the operation in which a client says what it is like."""
    return b"CONNECT " + json.dumps(options).encode() + CRLF


def operation(random: Random) -> bytes:
    """Return one operation, mostly one that a client may say."""
    match random.choices(range(9), (6, 3, 5, 4, 2, 2, 1, 1, 1))[0]:
        case 0:
            return _line(
                b"SUB", some_subject(random), *_maybe(_group(random), random), random.choice(SIDS), random=random
            )
        case 1:
            return _line(b"UNSUB", random.choice(SIDS), *_maybe(random.choice(NUMBERS), random), random=random)
        case 2:
            return _published(random)
        case 3:
            return _published_with_headers(random)
        case 4:
            return random.choice((b"PING", b"PONG", b"ping")) + CRLF
        case 5:
            some = dict(random.choices(_ODD_OPTIONS, k=random.choice((1, 2, 5))))
            return spelt_connect(OPTIONS[random.choice(list(OPTIONS))] | some)
        case 6:
            return random.choice(_OF_SERVERS) + CRLF
        case 7:
            size = random.choice((0, 2))
            subject = random.choice(_SERVICES).encode()
            return b"PUB %b _INBOX.tess.1 %d\r\n%b\r\n" % (subject, size, b"{}"[:size])
        case _:
            return b"CONNECT " + random.choice((b"", b"{", b"{}", b"[]", b"null", b'{"verbose":1}', b"{" * 900)) + CRLF


def _line(verb: bytes, *words: bytes, random: Random) -> bytes:
    spaces = random.choice((b" ", b" ", b" ", b" ", b"\t", b"  ", b" \t "))
    said = spaces.join((verb if random.random() < 0.9 else verb.lower(), *words))
    return said + (CRLF if random.random() < 0.95 else random.choice((b"\n", b"\r", b"", b"\r\r\n")))


def _maybe(word: bytes, random: Random) -> tuple[bytes, ...]:
    return (word,) if random.random() < 0.4 else ()


def _group(random: Random) -> bytes:
    return random.choice((b"q", b"q", b"r", b"*", b">", b"q.q", some_subject(random)))


def _size(true: int, random: Random) -> bytes:
    """Return what is said of a size: mostly what is so."""
    if random.random() < 0.85:
        return b"%d" % true
    return random.choice((b"%d" % (true + random.choice((-2, -1, 1, 2, 100))), random.choice(NUMBERS), b"0%d" % true))


def _published(random: Random) -> bytes:
    payload = some_payload(random)
    words = (some_subject(random), *_maybe(some_subject(random), random), _size(len(payload), random))
    return _line(b"PUB", *words, random=random) + payload + CRLF


def _published_with_headers(random: Random) -> bytes:
    headers, payload = random.choice(HEADERS), some_payload(random)[:2000]
    sizes = _size(len(headers), random), _size(len(headers) + len(payload), random)
    words = (some_subject(random), *_maybe(some_subject(random), random), *sizes)
    return _line(b"HPUB", *words, random=random) + headers + payload + CRLF


def stream(random: Random) -> bytes:
    """Return what may be no operations."""
    kind = random.random()
    if kind < 0.1:
        return random.choice((b"SUB ", b"PUB ", b"CONNECT ", b"UNSUB ", b"X")) + b"a" * random.choice(SIZES)
    return broken_stream([operation(random) for _ in range(random.choice((1, 1, 2, 4)))], random)


class NatsSide:
    """A client's side of one connection, as a session of a test has it."""

    def __init__(self, how: str) -> None:
        self.subjects: dict[str, bytes] = {}
        self.asked = self.answered = self.complaints = 0
        self._how = how
        self._operations = OperationReader()

    def opening(self) -> bytes:
        """Return what is said first."""
        return b"" if self._how == "silent" else spelt_connect(OPTIONS.get(self._how, OPTIONS[""]))

    def question(self) -> bytes:
        """Return what is answered once all is done that was said before."""
        self.asked += 1
        return b"PING" + CRLF

    def spelt(self, said: Envelope) -> bytes:
        """Return an envelope as an operation."""
        subject = said.subject.encode()
        if said.operation == envelope.DATA:
            return b"PUB %b %d\r\n%b\r\n" % (subject, len(said.payload), said.payload)
        if said.operation == envelope.LISTEN:
            sid = self.subjects.setdefault(said.subject, b"%d" % (len(self.subjects) + 1))
            return b"SUB %b %b\r\n" % (subject, sid)
        return b"UNSUB %b\r\n" % self.subjects.pop(said.subject, b"77")

    def heard(self, data: bytes) -> Iterator[str]:
        """Yield what kinds of things have come; a ``question``'s answer is counted, and is none."""
        for each in self._operations.feed(data):
            if each.verb == b"PONG" and self.answered < self.asked:
                self.answered += 1
            else:
                yield self._kind(each)

    def _kind(self, said: Operation) -> str:
        if said.verb == b"-ERR":
            self.complaints += 1
            # What it repeats of what was said is no kind of its own.
            return "error " + re.sub(r"[^A-Za-z ].*", "", said.payload.decode(errors="replace").strip("'"))[:40]
        return said.verb.decode() or "no operation"

    @property
    def state(self) -> tuple[int, ...]:
        """Where the two sides stand, in small numbers."""
        return min(len(self.subjects), FEW), min(self.complaints, 1)


def message(random: Random) -> bytes:
    """Return a message of Rai in its envelope, what listens to such, or an operation as it stands in the stream."""
    kind = random.random()
    if kind < 0.35:
        return messages.message(random)
    if kind < 0.5:
        made = envelope.listen if random.random() < 0.7 else envelope.cancel
        return made(some_subject(random)[:LONGEST_SUBJECT].decode(errors="ignore"))
    return operation(random)
