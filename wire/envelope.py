"""Envelopes: what a client of a broker says to it, and hears from it, whichever broker that is.

Each is one operation: to publish a message under a subject (or, from the broker, a message that was published), to
listen to a subject or a wildcard, and to cancel that. RV has the same three on its wire, by the same letters.
"""

import struct

import msgspec
from construct import Struct, this

from wire.errors import DecodeError, Reason
from wire.primitives import LimitedTo, Rest, SizedText, Unsigned

DATA, LISTEN, CANCEL = (ord(letter) for letter in "DLC")
"""The operations."""

OPERATIONS = frozenset({DATA, LISTEN, CANCEL})

LARGEST = 1 << 20
"""Bytes of the largest payload: what NATS takes, if nobody has told it otherwise."""

LONGEST = 0xFFFF
"""Bytes of the longest subject that an envelope can name."""

envelope = LimitedTo(
    3 + LONGEST + LARGEST,
    Struct(
        "operation" / Unsigned(1),
        "length" / Unsigned(2, "big"),
        "subject" / SizedText(this.length),
        "payload" / Rest(),
    ),
)

_HEAD = struct.Struct(">BH")


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One operation on a broker; ``payload`` is empty unless it is ``DATA``."""

    operation: int
    subject: str
    payload: bytes = b""


# Not through the layout's engines: these are the same few bytes, and stand between a socket and every message.
def read(frame: bytes) -> Envelope:
    """Read a frame; ``DecodeError`` when it is no envelope, or one with an operation that there is not."""
    if len(frame) < _HEAD.size:
        raise DecodeError(Reason.TRUNCATED, len(frame), "envelope", "an envelope has three bytes before its subject")
    operation, length = _HEAD.unpack_from(frame)
    if operation not in OPERATIONS:
        raise DecodeError(Reason.UNKNOWN_ID, 0, "operation", f"{operation:#04x} is no operation")
    end = _HEAD.size + length
    if end > len(frame):
        raise DecodeError(Reason.TRUNCATED, len(frame), "subject", f"{length} bytes announced")
    try:
        subject = frame[_HEAD.size : end].decode()
    except UnicodeDecodeError as error:
        raise DecodeError(Reason.BAD_TEXT, _HEAD.size + error.start, "subject", error.reason) from None
    return Envelope(operation, subject, frame[end:])


def write(operation: int, subject: str, payload: bytes = b"") -> bytes:
    """Return a frame; ``ValueError`` when a subject does not fit into one."""
    name = subject.encode()
    if len(name) > LONGEST:
        raise ValueError(f"a subject of {len(name)} bytes does not fit: {LONGEST} are the most")
    return _HEAD.pack(operation, len(name)) + name + payload


def data(subject: str, payload: bytes) -> bytes:
    """Return what publishes a message, or what the broker delivers."""
    return write(DATA, subject, payload)


def listen(subject: str) -> bytes:
    """Return what listens to a subject or a wildcard."""
    return write(LISTEN, subject)


def cancel(subject: str) -> bytes:
    """Return what ends a ``listen``."""
    return write(CANCEL, subject)
