"""Framings: how frames stand in a stream of bytes."""

from typing import Literal, Protocol


class Framing(Protocol):
    """How frames stand in a stream of bytes."""

    def encode(self, frame: bytes) -> bytes:
        """Return the bytes that carry one frame; ValueError when it does not fit."""
        ...

    def split(self, buffer: bytearray) -> list[bytes]:
        """Remove the complete frames from the buffer's head and return them."""
        ...


class LengthPrefixed:
    """Frames behind their length: ``size`` bytes in ``order``, which do not count themselves."""

    def __init__(self, size: int = 2, order: Literal["little", "big"] = "little") -> None:
        self.size = size
        self.order: Literal["little", "big"] = order

    def encode(self, frame: bytes) -> bytes:
        """Return the frame behind its length; ValueError when the length does not fit."""
        if len(frame) >> 8 * self.size:
            raise ValueError(f"a frame of {len(frame)} bytes does not fit a length of {self.size} bytes")
        return len(frame).to_bytes(self.size, self.order) + frame

    def split(self, buffer: bytearray) -> list[bytes]:
        """Remove the complete frames from the buffer's head and return them."""
        frames = []
        start = 0
        while len(buffer) - start >= self.size:
            head = buffer[start : start + self.size]
            end = start + self.size + int.from_bytes(head, self.order)
            if end > len(buffer):
                break
            frames.append(bytes(buffer[start + self.size : end]))
            start = end
        del buffer[:start]
        return frames
