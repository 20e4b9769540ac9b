"""The framing of what a recorded client of a gateway and the gateway say: RESP one way, JSON the other, over WebSocket.

RFC 6455, without extensions. A recording may begin behind the handshake.
"""

import json
from collections.abc import Iterator

from harness.errors import Oversized
from harness.links import resp
from harness.links.framing import Reader
from harness.links.resp import RespReader, Value, spell
from harness.links.resp_stream import RespFrames, command_of, pushed_by

LARGEST_MESSAGE = 6 * resp.LARGEST_TEXT + 1024
"""Bytes of the longest message: JSON may take six for one."""

_TEXT, _BINARY = 1, 2
_CONTROL = 8
_OPCODES = frozenset({0, _TEXT, _BINARY, _CONTROL, 9, 10})
_FIN, _RESERVED, _OPCODE = 0x80, 0x70, 0x0F
_MASKED = 0x80
# A size of so much says how many bytes behind it are the size.
_LONGER = {126: 2, 127: 8}
_KEY = 4

# What a handshake begins with, and ends with. No frame begins so: it would have reserved bits.
_REQUEST, _RESPONSE, _END = b"GET ", b"HTTP/", b"\r\n\r\n"
_LONGEST_HANDSHAKE = 1 << 16


class WebSocketStream:
    """Messages, and what is listened to; the rest is no frame.

    What is no message of WebSocket becomes a frame of its own, so that who reads it can refuse it; no border can be
    found after that, and whatever follows is passed on as it comes. A message that is neither RESP nor JSON becomes a
    frame as well, and others follow.
    """

    def encode(self, frame: bytes) -> bytes:
        """Return what a client says, masked with zeros; ValueError when the frame is no envelope."""
        said = spell(command_of(frame))
        return _head(_TEXT if _is_text(said) else _BINARY, len(said), _MASKED) + bytes(_KEY) + said

    def encode_answer(self, frame: bytes) -> bytes:
        """Return what a gateway says; ValueError when the frame is no message."""
        said = json.dumps([each.decode(errors="surrogateescape") for each in pushed_by(frame)]).encode()
        return _head(_TEXT, len(said), 0) + said

    def reader(self) -> Reader:
        """Return a reader for one side of a connection."""
        return _FrameReader()

    @property
    def lua(self) -> str:
        return "nil"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _head(opcode: int, size: int, masked: int) -> bytes:
    if size < min(_LONGER):
        return bytes([_FIN | opcode, masked | size])
    code, width = next((code, width) for code, width in _LONGER.items() if size < 1 << 8 * width)
    return bytes([_FIN | opcode, masked | code]) + size.to_bytes(width, "big")


def _unmasked(data: bytes, key: bytes) -> bytes:
    # As numbers: by the byte it would take a second for the longest.
    keys = (key * (len(data) // _KEY + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(keys, "big")).to_bytes(len(data), "big")


class _FrameReader:
    def __init__(self) -> None:
        self._held = bytearray()
        # Nothing is looked at before so many bytes are there: they may come one by one.
        self._needed = len(_RESPONSE)
        self._seen = 0  # searched for the end of the handshake up to here
        self._is_shaken = self._is_lost = False
        self._message = bytearray()
        self._frames = RespFrames()

    @property
    def rest(self) -> bytes:
        return bytes(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        if self._is_lost:
            return [data]
        self._held += data
        frames: list[bytes] = []
        while len(self._held) >= self._needed and not self._is_lost:
            self._needed = self._take(frames) if self._is_shaken else self._shake(frames)
        return frames

    def _shake(self, frames: list[bytes]) -> int:
        """Pass over the handshake, if there is one, and return how many bytes are needed to look again."""
        held = self._held
        if held.startswith((_REQUEST, _RESPONSE)):
            end = held.find(_END, self._seen)
            if end < 0:
                self._seen = max(len(held) - len(_END), 0)
                return self._lose(frames) if len(held) > _LONGEST_HANDSHAKE else len(held) + 1
            del held[: end + len(_END)]
        self._is_shaken = True
        return 2

    def _take(self, frames: list[bytes]) -> int:
        """Take a frame of WebSocket if it is whole, and return how many bytes are needed to look again."""
        held = self._held
        opcode, size, is_masked = held[0] & _OPCODE, held[1] & ~_MASKED, held[1] & _MASKED
        if held[0] & _RESERVED or opcode not in _OPCODES:
            return self._lose(frames)
        start = 2 + _LONGER.get(size, 0)
        if len(held) < start:
            return start
        if size in _LONGER:
            size = int.from_bytes(held[2:start], "big")
        start += _KEY if is_masked else 0
        if size + len(self._message) > LARGEST_MESSAGE:
            raise Oversized(f"a message of {size} bytes is announced: {LARGEST_MESSAGE} are the most", frames)
        if len(held) < start + size:
            return start + size
        data, key = bytes(held[start : start + size]), bytes(held[start - _KEY : start])
        is_last = held[0] & _FIN
        del held[: start + size]
        if opcode < _CONTROL:
            self._message += _unmasked(data, key) if is_masked else data
            if is_last:
                message = bytes(self._message)
                self._message.clear()
                frames += self._said(message)
        return 2

    def _said(self, message: bytes) -> Iterator[bytes]:
        value = _value(message)
        if value is None:
            yield message
        else:
            yield from self._frames.of(value)

    def _lose(self, frames: list[bytes]) -> int:
        self._is_lost = True
        frames.append(bytes(self._held))
        self._held.clear()
        return 0


def _value(message: bytes) -> Value:
    """Return the command, or the reply, that a message is; None when it is neither."""
    # A command begins as no JSON does.
    if message.startswith(b"*"):
        reader = RespReader()
        found = reader.feed(message)
        return found[0] if len(found) == 1 and reader.is_between else None
    try:
        told = json.loads(message)
        if isinstance(told, list):
            return [each.encode(errors="surrogateescape") if isinstance(each, str) else each for each in told]
    except (ValueError, RecursionError):
        return None
    return [] if told is None else told
