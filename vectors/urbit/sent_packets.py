"""Packets as they are sent: what vectors do not look at is as it should be, so that nobody refuses them for it."""

from typing import Any

from wire.errors import DecodeError
from wire.reference import decode, encode
from wire.urbit.type_bits import M1, NOT_AMES
from wire.urbit.values import HEADER_SIZE, LAYOUT, path_is_valid, with_checksum

SENDER_RANK = 0x80
"""What of the first byte is neither the type nor follows from it, nor is the version."""

ONE = (1).to_bytes(4, "little")
"""How many fragments there are."""


def as_sent(frame: bytes) -> bytes:
    """Return a packet in version 0, with the bit 3 of its type, a path that is one, no padding and its checksum.

    Of a packet that is refused only the header is changed, and nothing of less than a header.
    """
    if len(frame) < HEADER_SIZE:
        return frame
    kind = M1.type_in(frame[0])
    first = frame[0] & SENDER_RANK | M1.not_ames(kind) << NOT_AMES | kind
    frame = bytes([first]) + frame[1:]
    try:
        value = decode(LAYOUT, frame)
    except DecodeError:
        return with_checksum(frame)
    return with_checksum(encode(LAYOUT, {**value, "body": {**value["body"], **_plain(value["body"])}}))


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if not path_is_valid(body.get("path", b"/a")):
        # Of the same length, if there is such a path.
        plain["path"] = b"/" + b"a" * max(len(body["path"]) - 1, 1)
        plain["path_length"] = len(plain["path"])
    if body.get("content") == b"":
        plain["content"] = ONE
    if "live" in body:
        plain["live"] = {"live": body["live"]["live"]}
    return plain
