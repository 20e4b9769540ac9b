"""What sessions with brokers have in common: what they talk of, what a side of theirs is, how a stream is broken."""

from collections.abc import Iterator
from random import Random
from typing import Protocol

from fuzz.net.texts import SIZES
from fuzz.rai import messages
from fuzz.rai.subjects import GLOBS, SUBJECTS, broken_subject, subject, wildcard
from wire import envelope
from wire.envelope import Envelope

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""

NUMBERS = (
    *(b"0", b"1", b"1", b"2", b"-1", b"-2", b"01", b"+1", b"1.5", b"x", b"", b"99999", b"2147483647", b"2147483648"),
    *(
        b"4294967296",
        b"9223372036854775807",
        b"9223372036854775808",
        b"18446744073709551615",
        b"9" * 40,
        b"\xff",
        b"1e9",
    ),
)
"""Numbers, and what is none, where one is to stand."""

PREFIXES = ("_SUB.START.", "_SUB.STOP.", "_PSUB.START.", "_SNAP.", "_INBOX.tess.1.", "_SESSION.")


class BrokerSide(Protocol):
    """A client's side of one connection with a broker: what it says as bytes, and what it hears as kinds of things."""

    asked: int
    answered: int

    def opening(self) -> bytes:
        """Return what is said first."""
        ...

    def question(self) -> bytes:
        """Return what is answered once all is done that was said before."""
        ...

    def spelt(self, said: Envelope) -> bytes:
        """Return an envelope as this broker is told it."""
        ...

    def heard(self, data: bytes) -> Iterator[str]:
        """Yield what kinds of things have come; a ``question``'s answer is counted, and is none."""
        ...

    @property
    def state(self) -> tuple[int, ...]:
        """Where the two sides stand, in small numbers."""
        ...


def some_subject(random: Random) -> bytes:
    """Return a subject of Rai or a wildcard, once in a while one that is none."""
    kind = random.random()
    if kind < 0.4:
        return (random.choice(PREFIXES) if random.random() < 0.4 else "").encode() + subject(random).encode()
    if kind < 0.65:
        return wildcard(random)[0].encode()
    if kind < 0.8:
        return b"LAB." + GLOBS.text(random).encode()
    if kind < 0.95:
        return broken_subject(random)
    return random.choice(SUBJECTS.wildcards).encode()


def some_payload(random: Random) -> bytes:
    """Return what may be published: mostly a message of Rai."""
    kind = random.random()
    if kind < 0.7:
        return envelope.read(messages.message(random)).payload
    if kind < 0.9:
        return random.choice((b"", b"\0", b"\r\n", b"PING\r\n", b"+OK\r\n", b"*1\r\n$4\r\nPING\r\n", b"\xff\xfe", b"{"))
    return random.choice((b"a", b"\0", b"\r\n")) * random.choice(SIZES)


def broken_stream(parts: list[bytes], random: Random) -> bytes:
    """Return what was to be said in order, as bytes of the stream that are broken somewhere."""
    data = b"".join(parts)
    at = random.randrange(len(data) + 1)
    match random.randrange(8):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + random.choice((b"\0", b"\r", b"\n", b"\r\n", b" ", b"\xff")) + data[at:]
        case 2:
            return data[:at] + random.randbytes(1) + data[at + 1 :]
        case 3:
            return data.replace(b"\r\n", random.choice((b"\n", b"\r", b"", b"\r\n\r\n", b"\n\r")))
        case 4:
            return data[:at] + data[at + random.choice((1, 2, 4, 8)) :]
        case 5:
            return data[at:] + data
        case 6:
            return random.randbytes(random.choice((1, 2, 8, 64, 1024)))
        case _:
            return data * random.choice((2, 5, 20))
