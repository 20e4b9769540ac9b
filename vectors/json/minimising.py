"""Smaller texts of JSON: without members and items, with shorter texts and plainer numbers, spelled canonically."""

from collections.abc import Iterator
from contextlib import suppress

from vectors.json.scanner import ARRAY, OBJECT, REAL, JsonPiece, pieces, scan, unquoted
from wire.json.strict import spell
from wire.kinds import (
    Json,
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
)
from wire.layout import Layout

MOST_PIECES = 400
CONTENT = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ")


def weight(data: bytes) -> tuple[int, int, int, bytes]:
    """Order texts: shorter first, then fewer unusual bytes, then fewer that are not ``0`` or ``a``."""
    odd = sum(byte < 0x20 or byte > 0x7E for byte in data)
    return len(data), odd, sum(byte in CONTENT and byte not in b"0a" for byte in data), data


def smaller(layout: Layout, data: bytes) -> Iterator[bytes]:
    """Give texts that are smaller than one, or plainer, the boldest first."""
    root = scan(data)
    if root is None:
        return
    if isinstance(layout.frame, Json):
        yield from _as_other_messages(data, root, layout.frame.node)
    # The largest first: what can go as a whole is not taken apart. Bounded, as every piece costs several tries.
    every = sorted(pieces(root), key=lambda piece: piece.start - piece.end)[:MOST_PIECES]
    yield data[root.start : root.end]
    for piece in every:
        yield from _without_inside(data, piece)
    for piece in every:
        yield from (data[: piece.start] + plainer + data[piece.end :] for plainer in _plainer(data, piece))
    for start, end in [name for piece in every for name in piece.names]:
        yield from (data[:start] + plainer + data[end:] for plainer in _shorter(data[start:end]))
    yield from _without_white_space(data, every)


def _as_other_messages(data: bytes, root: JsonPiece, part: JsonPart) -> Iterator[bytes]:
    """Make the other messages of a union of an object: with the members that both have, as they are spelled."""
    if root.kind != OBJECT:
        return
    members = [(name, data[start:end], data[item.start : item.end]) for name, start, end, item in root.members(data)]
    # The smallest message first.
    for key, message in sorted(_messages(part, {}), key=lambda each: len(each[1].members)):
        parts = {member.name: member for member in message.members}
        kept = [
            called + b":" + (spell(key[name]).encode() if name in key else value)
            for name, called, value in members
            if name in parts
        ]
        there = {name for name, _, _ in members}
        missing = [
            f"{spell(name)}:{spell(key[name]) if name in key else plainest(member.node)}".encode()
            for name, member in parts.items()
            if name not in there and not member.optional
        ]
        yield b"{" + b",".join(kept + missing) + b"}"


def _messages(part: JsonPart, key: dict[str, str]) -> Iterator[tuple[dict[str, str], JsonObject]]:
    """Give the messages of a union, with what the members are that tell them apart."""
    if isinstance(part, JsonObject):
        yield key, part
    elif isinstance(part, JsonUnion):
        for names, message in part.table():
            yield from _messages(message, key | dict(zip(part.by, names, strict=True)))


def plainest(part: JsonPart) -> str:
    """Return the text of the plainest value that a part has."""
    match part:
        case JsonText(names=names):
            return spell(names[0] if names else "")
        case JsonInteger(least=least, most=most):
            return str(max(least, min(0, most)))
        case JsonNumber(least=least):
            return str(max(least or 0, 0))
        case JsonBool():
            return "false"
        case JsonAnyValue():
            return "0"
        case JsonEither(options=options):
            return plainest(options[0])
        case JsonArray():
            return "[]"
        case JsonMap():
            return "{}"
        case JsonObject():
            required = (member for member in part.members if not member.optional)
            return f"{{{','.join(f'{spell(member.name)}:{plainest(member.node)}' for member in required)}}}"
        case JsonUnion():
            key, message = next(_messages(part, {}))
            inner = {member.name: member.node for member in message.members if not member.optional}
            spelled = (
                f"{spell(name)}:{spell(key[name]) if name in key else plainest(node)}" for name, node in inner.items()
            )
            return f"{{{','.join(spelled)}}}"


def _without_inside(data: bytes, piece: JsonPiece) -> Iterator[bytes]:
    """Leave out members or items, many first; keep only one."""
    starts = [start for start, _ in piece.names] if piece.kind == OBJECT else [item.start for item in piece.items]
    inside = [data[start : item.end] for start, item in zip(starts, piece.items, strict=False)]
    if not inside:
        return
    closed = data[piece.end - 1 : piece.end] in (b"}", b"]")
    opening, closing = data[piece.start : piece.start + 1], data[piece.end - 1 : piece.end] if closed else b""
    # All, then halves, then quarters, as delta debugging does (Zeller and Hildebrandt, 2002).
    size = len(inside)
    while size:
        for at in range(0, len(inside), size):
            kept = b",".join(inside[:at] + inside[at + size :])
            yield data[: piece.start] + opening + kept + closing + data[piece.end :]
        size //= 2


def _plainer(data: bytes, piece: JsonPiece) -> Iterator[bytes]:
    token = data[piece.start : piece.end]
    match piece.kind:
        case "text":
            yield b"0"
            yield from _shorter(token)
        case "integer" | "real":
            yield from (b"0", b"1", b"-1")
            if piece.kind == REAL:
                yield from (b"0.5", b"0.0")
            for size in (16, 8, 4, 2, 1):
                yield from (token[:at] + token[at + size :] for at in range(len(token) - size + 1))
            yield from (token[:at] + b"0" + token[at + 1 :] for at in range(len(token)))
        case "object" | "array":
            yield from (data[item.start : item.end] for item in piece.items)
            yield from (b"0", b"{}" if piece.kind == OBJECT else b"[]")
        case _:
            yield b"0"


def _shorter(token: bytes) -> Iterator[bytes]:
    """Shorten a text, character after character as it is spelled; spell it canonically; put ``a`` for a character."""
    yield b'""'
    text = unquoted(token)
    if text is not None:
        with suppress(UnicodeEncodeError):
            yield spell(text).encode()
            for size in _sizes(len(text)):
                yield from (spell(text[:at] + text[at + size :]).encode() for at in range(0, len(text), size))
            yield from (spell(f"{text[:at]}a{text[at + 1 :]}").encode() for at in range(min(len(text), 100)))
    inner = token[1:-1]
    for size in _sizes(len(inner)):
        yield from (b'"' + inner[:at] + inner[at + size :] + b'"' for at in range(0, len(inner), size))


def _sizes(length: int) -> Iterator[int]:
    while length:
        yield length
        length //= 2


def _without_white_space(data: bytes, every: list[JsonPiece]) -> Iterator[bytes]:
    """Leave out the bytes between tokens that mean nothing."""
    tokens = [(piece.start, piece.end) for piece in every if piece.kind not in (OBJECT, ARRAY)]
    tokens += [name for piece in every for name in piece.names]
    gaps, at = list[tuple[int, int]](), 0
    for start, end in sorted(tokens):
        gaps.append((at, start))
        at = end
    gaps.append((at, len(data)))
    for start, end in reversed(gaps):
        white = [index for index in range(start, end) if data[index] in b" \t\n\r"]
        if white:
            yield bytes(byte for index, byte in enumerate(data) if index not in white)
