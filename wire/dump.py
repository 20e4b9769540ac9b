"""Annotated dumps: what each byte of a frame is, or how far a refused one was understood and why no more.

The bytes of a text are shown as text, one character for each.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec

from wire.catalogue import layout as find
from wire.errors import DecodeError, WireError
from wire.kinds import Json, JsonUnion
from wire.layout import Layout
from wire.primitives import Span
from wire.reference import decode

MOST_FIELDS = 1 << 17
WIDTH = 8
SHOWN = 24
LONGEST = 64
CONTEXT = 16
TEXT_BEFORE, TEXT_CONTEXT = 40, 64
"""Bytes that are shown of a refused frame; of a text those before the one that is refused, and in all."""

Annotate = Callable[[Sequence[Span], bytes, Any], dict[int, tuple[str, ...]]]
"""What a protocol exports as ``ANNOTATE``: of a frame's spans, its bytes and the keys that are known, remarks by the
index of the span that they belong to."""

ReadKeys = Callable[[Sequence[str]], Any]
"""What a protocol whose frames are signed exports as ``KEYS``: texts to what its ``ANNOTATE`` takes as keys. Raises
``ValueError`` with what is wrong."""


class NoKeys(WireError):
    """Keys that a protocol cannot use; the message says why."""


class TooManyFields(WireError):
    """A frame with more fields than anybody looks at; the message gives the limit."""


class Row(msgspec.Struct, frozen=True):
    """One field of a frame: where it stands, its bytes, its path, its value as text, and remarks."""

    offset: int
    data: bytes
    path: str
    value: str
    remarks: tuple[str, ...] = ()


class Dump(msgspec.Struct, frozen=True):
    """A frame, field by field; ``error`` is why it is refused, ``None`` if it is not, ``text`` whether it is a text."""

    layout: str
    data: bytes
    rows: tuple[Row, ...]
    value: Any = None
    error: DecodeError | None = None
    text: bool = False


class Spans(list[Span]):
    """Spans, up to a number: a frame of a million fields costs seconds and a gigabyte."""

    def __init__(self, most: int = MOST_FIELDS) -> None:
        super().__init__()
        self.most = most

    def append(self, span: Span, /) -> None:
        """Keep a span; ``TooManyFields`` when there are too many."""
        if len(self) >= self.most:
            raise TooManyFields(f"the frame has more than {self.most} fields; split it")
        super().append(span)


def keys_of(layout_name: str, texts: Sequence[str]) -> Any:
    """Return the keys that texts are, as ``dump`` takes them for a layout; ``None`` of no texts. Raises ``NoKeys``."""
    if not texts:
        return None
    read: ReadKeys | None = getattr(_module(layout_name), "KEYS", None)
    if read is None:
        raise NoKeys(f"nothing in {layout_name} is signed")
    try:
        return read(texts)
    except (ValueError, WireError) as error:
        raise NoKeys(str(error)) from None


def _module(layout_name: str) -> ModuleType:
    return import_module(f"wire.{layout_name.partition('/')[0]}")


def dump(layout_name: str, data: bytes, *, overlong: str = "accept", most: int = MOST_FIELDS, keys: Any = None) -> Dump:
    """Take a frame apart; a refused one gives the rows that were understood and the error.

    With ``keys`` (``keys_of``) the remarks say whether signatures are valid. Raises ``UnknownLayout``, and
    ``TooManyFields`` when there are more than ``most``.
    """
    spans = Spans(most)
    value, refusal = None, None
    try:
        value = decode(layout_name, data, overlong=overlong, spans=spans)
    except DecodeError as error:
        refusal = error
    annotate: Annotate | None = getattr(_module(layout_name), "ANNOTATE", None)
    remarks = annotate(spans, data, keys) if annotate else {}
    layout = find(layout_name)
    names = message_names(layout, spans)
    rows = tuple(
        Row(
            span.start,
            data[span.start : span.end],
            span.path,
            span.leaf.shown(span.value) or shown(span.value),
            remarks.get(index, ()) + names.get(span.path, ()) + tuple(span.leaf.remarks(span, data)),
        )
        for index, span in enumerate(spans)
    )
    return Dump(layout_name, data, rows, value, refusal, layout.is_json or layout.is_text)


def message_names(layout: Layout, spans: Sequence[Span]) -> dict[str, tuple[str, ...]]:
    """Return which message of JSON it is, by the path of the member that decides, as far as they were understood."""
    part: Any = layout.frame.node if isinstance(layout.frame, Json) else None
    texts = {span.path: span.value for span in spans if isinstance(span.value, str)}
    names: dict[str, tuple[str, ...]] = {}
    while isinstance(part, JsonUnion):
        last, message = part.by[-1], dict(part.table()).get(tuple(texts.get(name, "") for name in part.by))
        if message is not None and not isinstance(message, JsonUnion):
            names[last] = (message.name,)
        part = message
    return names


def shown(value: Any) -> str:
    """Spell a value for a person: flags as ``Z=0 M=1``, long ones cut."""
    if isinstance(value, dict):
        return " ".join(flag(name, bits) for name, bits in value.items() if name != "X" or bits)
    if isinstance(value, bytes):
        text = value[:LONGEST].hex() or "(empty)"
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(value)} bytes)"
    if isinstance(value, str):
        text = json.dumps(value[:LONGEST], ensure_ascii=False)
        text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
        return text if len(value) <= LONGEST else f"{text}… ({len(value)} characters)"
    return str(value)


def flag(name: str, bits: int) -> str:
    """Spell one group of bits of a byte: ids and reserved bits in hex."""
    return f"{name}={bits:#04x}" if name in ("id", "X") else f"{name}={bits}"


def render(dumped: Dump) -> str:
    """Write a dump as a table of text, one field per line, and below it why the frame is refused."""
    return "".join(f"{line}\n" for line in lines(dumped))


def lines(dumped: Dump) -> Iterator[str]:
    """Give a dump line by line."""
    digits = max(4, len(f"{len(dumped.data):x}"))
    path_width = min(96, max((len(row.path) for row in dumped.rows), default=0))
    value_width = min(32, max((len(row.value) for row in dumped.rows), default=0))
    longest = max((len(row.data) for row in dumped.rows), default=1)
    hex_width = min(SHOWN, longest) if dumped.text else 3 * min(WIDTH, longest) - 1
    for row in dumped.rows:
        pieces = text_lines(row.data) if dumped.text else hex_lines(row.data)
        first, *more = row.remarks or ("",)
        yield (
            f"{row.offset:0{digits}x}  {pieces[0]:{hex_width}}  "
            f"{row.path:{path_width}}  {row.value:{value_width}}  {first}"
        ).rstrip()
        before = " " * (digits + 2)
        beside = " " * (hex_width + path_width + 4)
        for index in range(max(len(pieces) - 1, len(more))):
            piece = pieces[index + 1] if index + 1 < len(pieces) else ""
            remark = more[index] if index < len(more) else ""
            indent = beside[len(f"{piece:{hex_width}}") :] + " " * (value_width + 2)
            yield f"{before}{piece:{hex_width}}{indent}{remark}".rstrip()
    if dumped.error is not None:
        yield from refusal_lines(dumped, dumped.error, digits)


def hex_lines(data: bytes) -> list[str]:
    """Write bytes in hex, a few to a line; of many only the first."""
    pieces = [data[at : at + WIDTH].hex(" ") for at in range(0, min(len(data), SHOWN), WIDTH)] or [""]
    return pieces if len(data) <= SHOWN else [*pieces, f"… {len(data)} bytes"]


def text_lines(data: bytes) -> list[str]:
    """Write bytes as text on a line; of many only the first."""
    return [visible(data)] if len(data) <= SHOWN else [visible(data[:SHOWN]), f"… {len(data)} bytes"]


def visible(data: bytes) -> str:
    """Write bytes as text, a dot for each that is no printable character of ASCII."""
    return data.translate(_VISIBLE).decode("latin-1")


_VISIBLE = bytes(byte if 0x20 <= byte < 0x7F else ord("\u00b7") for byte in range(256))


def refusal_lines(dumped: Dump, error: DecodeError, digits: int) -> Iterator[str]:
    """Show the bytes at which a frame was refused, a ``^`` under the offending one, and the reason."""
    understood = dumped.rows[-1].offset + len(dumped.rows[-1].data) if dumped.rows else 0
    if dumped.text:  # what stands before is the name of a member, and says more than brackets do
        start, context, step = max(0, error.offset - TEXT_BEFORE), TEXT_CONTEXT, 1
    else:
        start, context, step = max(min(understood, error.offset), error.offset - CONTEXT + 1), CONTEXT, 3
    window = dumped.data[start : start + context]
    end = start + len(window) == len(dumped.data)
    said = visible(window) if dumped.text else window.hex(" ")
    yield f"{start:0{digits}x}  {' '.join(each for each in (said, '(end)' if end else '…') if each)}"
    yield " " * (digits + 2 + step * (error.offset - start)) + "^"
    place = f"byte {error.offset} ({error.offset:#x}), {error.path}"
    yield f"refused: {error.reason.value} at {place}: {error.detail}"
