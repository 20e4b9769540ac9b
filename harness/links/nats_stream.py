"""NATS as bytes: its operations, of either side, and as a framing of what a recorded client and its server say.

An operation is a line, some with a payload behind it whose size the line names
(https://docs.nats.io/reference/reference-protocols/nats-protocol).
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from harness.errors import Oversized
from harness.links.broker_client import read_envelope
from harness.links.framing import Reader
from wire import envelope

CRLF = b"\r\n"

LONGEST_LINE = 1 << 17
"""Bytes of the longest line: a server takes 4096 by default; what it says of itself may be longer."""

LARGEST_MESSAGE = envelope.LARGEST + LONGEST_LINE
"""Bytes of the largest payload with its headers."""

# Words of a line: spaces and tabs stand between them.
_WORDS = re.compile(rb"[^ \t]+")
# How many words follow each verb, and behind which payloads come. Behind INFO and CONNECT is JSON, behind -ERR a text.
_PLAIN: Final = {b"SUB": (2, 3), b"UNSUB": (1, 2), b"PING": (0, 0), b"PONG": (0, 0), b"+OK": (0, 0)}
_TEXTS: Final = frozenset({b"INFO", b"CONNECT", b"-ERR"})
_WITH_PAYLOAD: Final = {b"PUB": (2, 3), b"HPUB": (3, 4), b"MSG": (3, 4), b"HMSG": (4, 5)}
_WITH_HEADERS: Final = frozenset({b"HPUB", b"HMSG"})
_MESSAGE = re.compile(rb"MSG ([!-~\x80-\xff]+ [!-~\x80-\xff]+(?: [!-~\x80-\xff]+)?) ([0-9]{1,9})\r\n")
_SIZE = re.compile(rb"[0-9]{1,9}")


class Operation(msgspec.Struct, frozen=True, gc=False):
    """One operation: its ``verb`` in capitals, its words, and its payload without headers.

    What is none has an empty verb, and is all there was of the line as ``payload``.
    """

    verb: bytes
    words: tuple[bytes, ...] = ()
    payload: bytes = b""


class OperationReader:
    """Takes operations out of the bytes of one side."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._seen = 0  # searched for the end of a line up to here
        self._announced: Operation | None = None
        self._headers = self._size = 0
        self.excess = ""
        """What is too long, if something is: nothing behind it is read."""

    @property
    def rest(self) -> bytes:
        """What came and is no whole operation yet; of one whose payload is still to come, the payload."""
        return bytes(self._held)

    def feed(self, data: bytes) -> list[Operation]:
        """Take bytes and return the operations that they complete, up to one that is too long (``excess``)."""
        if self.excess:
            return []
        self._held += data
        found: list[Operation] = []
        start = 0
        while (end := self._next(start, found)) is not None:
            start = self._messages(end, found)
        del self._held[:start]
        self._seen = max(self._seen - start, 0)
        return found

    def _messages(self, start: int, found: list[Operation]) -> int:
        """Append the messages at ``start`` that are whole, as long as there is nothing else, and return their end.

        They are most of what comes, and look alike.
        """
        held = self._held
        while self._announced is None and (match := _MESSAGE.match(held, start)) is not None:
            begin = match.end()
            size = int(match[2])
            end = begin + size
            if size > LARGEST_MESSAGE or held[end : end + 2] != CRLF:
                break
            found.append(Operation(b"MSG", (*match[1].split(), match[2]), bytes(held[begin:end])))
            start = self._seen = end + 2
        return start

    def _next(self, start: int, found: list[Operation]) -> int | None:
        """Append what stands at ``start`` if it is whole, and return where it ends."""
        if self._announced is not None:
            return self._payload(start, self._announced, found)
        end = self._held.find(CRLF, max(start, self._seen))
        if end < 0:
            if len(self._held) - start > LONGEST_LINE:
                self.excess = f"a line is longer than {LONGEST_LINE} bytes, which are the most"
            self._seen = max(len(self._held) - 1, 0)  # its last byte may be half of the end
            return None
        line = bytes(self._held[start:end])
        operation = _operation(line)
        if operation.verb in _WITH_PAYLOAD:
            self._size = int(operation.words[-1])
            if self._size > LARGEST_MESSAGE:
                self.excess = f"{self._size} bytes are announced: {LARGEST_MESSAGE} are the most"
                return None
            self._headers = int(operation.words[-2]) if operation.verb in _WITH_HEADERS else 0
            self._announced = operation
        else:
            found.append(operation)
        self._seen = end + len(CRLF)
        return self._seen

    def _payload(self, start: int, announced: Operation, found: list[Operation]) -> int | None:
        end = start + self._size
        if len(self._held) < end + len(CRLF):
            return None
        self._announced = None
        if self._held[end : end + len(CRLF)] != CRLF:
            # It is no payload then: what was announced stands alone, and what came is looked at as lines.
            found.append(Operation(b"", payload=b" ".join((announced.verb, *announced.words))))
            self._seen = start
            return start
        payload = bytes(self._held[start + min(self._headers, self._size) : end])
        found.append(msgspec.structs.replace(announced, payload=payload))
        self._seen = end + len(CRLF)
        return self._seen


def _operation(line: bytes) -> Operation:
    """Read a line; one that is no operation has no verb."""
    verb, *words = _WORDS.findall(line) or [b""]
    verb = verb.upper()
    if verb in _TEXTS:
        return Operation(verb, payload=line[len(verb) :].strip())
    least, most = _PLAIN.get(verb) or _WITH_PAYLOAD.get(verb) or (1, 0)
    sizes = words[-2:] if verb in _WITH_HEADERS else words[-1:] if verb in _WITH_PAYLOAD else ()
    if least <= len(words) <= most and all(_SIZE.fullmatch(each) for each in sizes):
        return Operation(verb, tuple(words))
    return Operation(b"", payload=line)


def spell(verb: bytes, *words: bytes) -> bytes:
    """Return the line of an operation without a payload."""
    return b" ".join((verb, *words)) + CRLF


def spell_with(payload: bytes, verb: bytes, *words: bytes) -> bytes:
    """Return an operation with a payload."""
    return spell(verb, *words, b"%d" % len(payload)) + payload + CRLF


@lru_cache(1 << 10)  # each session has inboxes of its own: many more of them would look as if a process grew
def subject_of(name: str) -> bytes:
    """Return a subject as it stands in a line; ValueError when none can."""
    spelt = name.encode()
    if not spelt or _UNSPEAKABLE.search(spelt):
        raise ValueError(f"{name!r} is no subject for NATS: white space ends a word there, and an empty one is none")
    return spelt


_UNSPEAKABLE = re.compile(rb"[ \t\r\n]")


class NatsStream:
    """The framing of what a client and its server say: messages, and what is listened to; the rest is no frame.

    A line that is no operation becomes a frame of its own, so that who reads it can refuse it. A subject that is no
    UTF-8 cannot be in an envelope, so its messages are none.
    """

    def encode(self, frame: bytes) -> bytes:
        """Return what a client says; the subject is the subscription's id. ValueError when NATS cannot carry it."""
        said = read_envelope(frame)
        subject = subject_of(said.subject)
        if said.operation == envelope.DATA:
            return spell_with(said.payload, b"PUB", subject)
        if said.operation == envelope.LISTEN:
            return spell(b"SUB", subject, subject)
        return spell(b"UNSUB", subject)

    def encode_answer(self, frame: bytes) -> bytes:
        """Return what a server says; ValueError when the frame is no message, or NATS cannot carry it."""
        said = read_envelope(frame)
        if said.operation != envelope.DATA:
            raise ValueError("a server sends messages only")
        subject = subject_of(said.subject)
        return spell_with(said.payload, b"MSG", subject, subject)

    def reader(self) -> Reader:
        """Return a reader for one side of a connection."""
        return _FrameReader()

    @property
    def lua(self) -> str:
        return "nil"


class _FrameReader:
    def __init__(self) -> None:
        self._operations = OperationReader()
        self._subjects: dict[bytes, str] = {}

    @property
    def rest(self) -> bytes:
        return self._operations.rest

    def feed(self, data: bytes) -> list[bytes]:
        frames = [frame for each in self._operations.feed(data) if (frame := self._frame(each)) is not None]
        if self._operations.excess:
            raise Oversized(self._operations.excess, frames)
        return frames

    def _frame(self, said: Operation) -> bytes | None:
        match said.verb, said.words:
            case b"", _:
                return said.payload
            case b"PUB" | b"HPUB" | b"MSG" | b"HMSG", (subject, *_):
                return _envelope(envelope.DATA, subject, said.payload)
            case b"SUB", (subject, *_, sid):
                frame = _envelope(envelope.LISTEN, subject)
                if frame is not None:
                    self._subjects[sid] = subject.decode()
                return frame
            # One that ends by itself, after some messages, is not cancelled by anybody.
            case b"UNSUB", (sid,) if sid in self._subjects:
                return envelope.cancel(self._subjects.pop(sid))
        return None


def _envelope(operation: int, subject: bytes, payload: bytes = b"") -> bytes | None:
    try:
        return envelope.write(operation, subject.decode(), payload)
    except ValueError:  # also when it is no UTF-8
        return None
