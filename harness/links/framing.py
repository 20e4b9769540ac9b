"""Framings: how frames stand in a stream of bytes, or in packets."""

import re
from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

from harness.errors import Oversized

# What deployed Pathfinder servers take at most; far above a Zenoh batch, whose length has two bytes.
LARGEST = 1 << 18
"""Bytes of the longest object in a stream of them, and of the longest packet."""


class Reader(Protocol):
    """Takes the frames of one connection out of the bytes that come."""

    @property
    def rest(self) -> bytes:
        """What came and is no whole frame yet."""
        ...

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the frames that they complete.

        ``Oversized`` when a frame is too long, with the frames before it: nothing after it can be read.
        """
        ...


class Framing(Protocol):
    """How frames stand in a stream of bytes."""

    def encode(self, frame: bytes) -> bytes:
        """Return the bytes that carry one frame; ValueError when it does not fit."""
        ...

    def reader(self) -> Reader:
        """Return what takes the frames out of one connection's bytes."""
        ...

    @property
    def lua(self) -> str:
        """What takes them out in a dissector for Wireshark (``framing.lua``)."""
        ...


@runtime_checkable
class TwoSided(Framing, Protocol):
    """A framing by which the side that was dialled says frames in other bytes."""

    def encode_answer(self, frame: bytes) -> bytes:
        """Return the bytes that carry one frame of that side; ValueError when it does not fit."""
        ...


Framings = Mapping[str, Framing]
"""A protocol's framings by transport; where there is none, a packet or datagram is a frame."""


class LengthPrefixed:
    """Frames behind their length: ``size`` bytes in ``order``, which do not count themselves.

    ``most`` is the greatest length that is taken, in bytes; by default all that fit the prefix.
    """

    def __init__(self, size: int = 2, order: Literal["little", "big"] = "little", most: int | None = None) -> None:
        self.size = size
        self.order: Literal["little", "big"] = order
        self.most = (1 << 8 * size) - 1 if most is None else most

    def encode(self, frame: bytes) -> bytes:
        """Return the frame behind its length; ValueError when it is too long."""
        if len(frame) > self.most:
            raise ValueError(f"a frame of {len(frame)} bytes does not fit: {self.most} is the most")
        return len(frame).to_bytes(self.size, self.order) + frame

    def reader(self) -> Reader:
        """Return a reader for one connection."""
        return _LengthReader(self)

    @property
    def lua(self) -> str:
        return f"length_prefixed({self.size}, {str(self.order == 'big').lower()}, {self.most})"


class _LengthReader:
    def __init__(self, framing: LengthPrefixed) -> None:
        self._framing = framing
        self._held = bytearray()
        # Nothing is looked at before so many bytes are there: they may come one by one.
        self._needed = framing.size

    @property
    def rest(self) -> bytes:
        return bytes(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        # Joined only when a frame can be whole: one that comes byte by byte would be copied with every byte.
        if self._held:
            self._held += data
            if len(self._held) < self._needed:
                return []
            data = bytes(self._held)
        frames: list[bytes] = []
        try:
            taken = self._split(data, frames)
        except Oversized as error:
            # What is left over begins with the length that was too much: it is what a record of this should show.
            self._held[:] = data[sum(map(len, error.frames)) + self._framing.size * len(error.frames) :]
            raise
        self._held[:] = data[taken:]
        return frames

    def _split(self, data: bytes, frames: list[bytes]) -> int:
        """Append the whole frames and return how many bytes they took."""
        size, order, most = self._framing.size, self._framing.order, self._framing.most
        start = 0
        self._needed = size
        while len(data) - start >= size:
            length = int.from_bytes(data[start : start + size], order)
            if length > most:
                raise Oversized(f"a frame of {length} bytes is announced: {most} is the most", frames)
            end = start + size + length
            if end > len(data):
                self._needed = size + length
                break
            frames.append(data[start + size : end])
            start = end
        return start


class JsonStream:
    """JSON objects back to back, white space between them allowed; ``most`` bounds an object, in bytes.

    What cannot begin an object becomes a frame of its own, so that who reads it can refuse it. No border can be
    found after that: whatever follows is passed on as it comes.
    """

    def __init__(self, most: int = LARGEST) -> None:
        self.most = most

    def encode(self, frame: bytes) -> bytes:
        """Return the frame as it is; ValueError when it is too long."""
        if len(frame) > self.most:
            raise ValueError(f"a frame of {len(frame)} bytes does not fit: {self.most} is the most")
        return frame

    def reader(self) -> Reader:
        """Return a reader for one connection."""
        return _ObjectReader(self.most)

    @property
    def lua(self) -> str:
        return f"json_stream({self.most})"


class NoFraming:
    """No framing: every packet is a frame."""

    def encode(self, frame: bytes) -> bytes:
        """Return the frame."""
        return frame

    def reader(self) -> Reader:
        """Return a reader that takes every piece for a frame."""
        return _WholeReader()

    @property
    def lua(self) -> str:
        return "whole()"


class _WholeReader:
    rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        return [data]


# Only these matter between the ends of an object. `re` finds the next of them much faster than a loop over bytes.
_SPACE = re.compile(rb"[ \t\r\n]*")
_BRACE = re.compile(rb'[{}"]')
_QUOTE = re.compile(rb'["\\]')
_OPEN = ord("{")


class _ObjectReader:
    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()
        self._seen = 0  # searched up to here: no byte is looked at twice
        self._depth = 0
        self._quoted = False
        self._lost = False

    @property
    def rest(self) -> bytes:
        return bytes(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        if self._lost:
            return [data]
        held = self._held
        held += data
        frames: list[bytes] = []
        start = 0
        while (start := self._begin(start, frames)) < len(held):
            end = self._end()
            # One whose end has not come counts with all that has: else an endless object would fill the memory.
            if (end or len(held)) - start > self._most:
                del held[:start]
                raise Oversized(f"an object is longer than {self._most} bytes, which are the most", frames)
            if end is None:
                break
            frames.append(bytes(held[start:end]))
            start = end
        del held[:start]
        self._seen -= start
        return frames

    def _begin(self, start: int, frames: list[bytes]) -> int:
        """Return where the next object begins: behind white space, and behind what is none."""
        if self._depth:
            return start
        space = _SPACE.match(self._held, start)
        assert space is not None
        start = self._seen = space.end()
        if start < len(self._held) and self._held[start] != _OPEN:
            self._lost = True
            frames.append(bytes(self._held[start:]))
            start = self._seen = len(self._held)
        return start

    def _end(self) -> int | None:
        """Return where the object ends; None when its end has not come."""
        held, place = self._held, self._seen
        while found := (_QUOTE if self._quoted else _BRACE).search(held, place):
            place = found.end()
            match found[0]:
                case b"{":
                    self._depth += 1
                case b"}":
                    self._depth -= 1
                    if not self._depth:
                        return place
                case b'"':
                    self._quoted = not self._quoted
                case _:
                    place += 1  # what is escaped, if it has come or not
        # One byte further when the last byte is a backslash: what it escapes is still to come.
        self._seen = max(place, len(held))
        return None
