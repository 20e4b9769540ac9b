"""The framing of what a recorded client of Redis and its server say."""

from collections.abc import Iterator

from harness.errors import Oversized
from harness.links.broker_client import read_envelope
from harness.links.framing import Reader
from harness.links.globs import glob_of, wildcard_of
from harness.links.resp import RespReader, Value, spell, spell_pushed
from wire import envelope
from wire.subjects import is_wildcard

_NO_MESSAGE = b""


class RespStream:
    """Messages, and what is listened to; the rest is no frame.

    What is no RESP becomes a frame of its own, so that who reads it can refuse it; no border can be found after that,
    and whatever follows is passed on as it comes. A channel that is no UTF-8 cannot be in an envelope, so its messages
    are none.
    """

    def encode(self, frame: bytes) -> bytes:
        """Return what a client says; ValueError when the frame is no envelope."""
        return spell(command_of(frame))

    def encode_answer(self, frame: bytes) -> bytes:
        """Return what a server says; ValueError when the frame is no message."""
        return spell_pushed(pushed_by(frame))

    def reader(self) -> Reader:
        """Return a reader for one side of a connection."""
        return _FrameReader()

    @property
    def lua(self) -> str:
        return "nil"


def command_of(frame: bytes) -> list[bytes]:
    """Return the command that says a frame; ValueError when it is no envelope."""
    said = read_envelope(frame)
    subject = said.subject.encode()
    if said.operation == envelope.DATA:
        return [b"PUBLISH", subject, said.payload]
    word = b"SUBSCRIBE" if said.operation == envelope.LISTEN else b"UNSUBSCRIBE"
    return [b"P" + word, glob_of(said.subject)] if is_wildcard(said.subject) else [word, subject]


def pushed_by(frame: bytes) -> list[bytes]:
    """Return what a server pushes to tell a message; ValueError when the frame is none."""
    said = read_envelope(frame)
    if said.operation != envelope.DATA:
        raise ValueError("a server sends messages only")
    return [b"message", said.subject.encode(), said.payload]


class RespFrames:
    """Finds the frames in the values that one side says."""

    def __init__(self) -> None:
        # Both are dicts for their order.
        self._channels: dict[bytes, None] = {}
        self._globs: dict[bytes, None] = {}

    def of(self, said: Value) -> Iterator[bytes]:
        """Yield the frames in a command, or in what a server says."""
        if not (isinstance(said, list) and said and all(isinstance(each, bytes) for each in said)):
            return
        word, *words = said
        # A server spells what it pushes with small letters; what clients send may be spelt so as well.
        match word.upper(), words:
            case (b"PUBLISH", [channel, payload]) | (b"MESSAGE", [channel, payload]):
                yield from _frame(envelope.DATA, channel, payload)
            case b"PMESSAGE", [_, channel, payload]:
                yield from _frame(envelope.DATA, channel, payload)
            case b"SUBSCRIBE" | b"UNSUBSCRIBE", _:
                yield from _changed(word.upper() == b"SUBSCRIBE", words, self._channels)
            case b"PSUBSCRIBE" | b"PUNSUBSCRIBE", _:
                wildcards = [wildcard_of(each) for each in words]
                yield from _changed(word.upper() == b"PSUBSCRIBE", wildcards, self._globs)


def _changed(begins: bool, subjects: list[bytes], known: dict[bytes, None]) -> Iterator[bytes]:
    # Who names none to be cancelled cancels all.
    for each in subjects if begins or subjects else list(known):
        if begins:
            known[each] = None
        else:
            known.pop(each, None)
        yield from _frame(envelope.LISTEN if begins else envelope.CANCEL, each)


def _frame(operation: int, subject: bytes, payload: bytes = _NO_MESSAGE) -> Iterator[bytes]:
    try:
        yield envelope.write(operation, subject.decode(), payload)
    except ValueError:
        return  # it is no UTF-8, or too long


class _FrameReader:
    def __init__(self) -> None:
        self._values = RespReader(inline=True)
        self._frames = RespFrames()
        self._is_lost = False

    @property
    def rest(self) -> bytes:
        return b"" if self._is_lost else self._values.rest

    def feed(self, data: bytes) -> list[bytes]:
        if self._is_lost:
            return [data]
        frames = [frame for value in self._values.feed(data) for frame in self._frames.of(value)]
        if self._values.is_excess:
            raise Oversized(self._values.fault, frames)
        if self._values.fault:
            self._is_lost = True
            frames.append(self._values.rest)
        return frames
