"""The reference engine: Construct, interpreted. Slow, readable, and the one that the others are held to."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from construct import ConstructError, Container

from wire.catalogue import grammar as find
from wire.errors import DecodeError, EncodeError, Reason
from wire.primitives import Grammar, NamedBits, Span, dotted, left


def decode(form: str | Grammar, data: bytes, *, overlong: str = "accept", spans: list[Span] | None = None) -> Any:
    """Decode one whole frame to plain values (dicts, lists, integers, bytes, text).

    ``form`` is a layout's name or a grammar. ``overlong`` says whether integers that are longer than
    necessary are accepted (``"accept"``) or refused (``"refuse"``); ``spans`` receives the span of every
    leaf. Raises ``DecodeError``, also when bytes are left over.
    """
    grammar = find(form) if isinstance(form, str) else form
    stream = BytesIO(data)
    try:
        value = grammar.parse_stream(stream, overlong=overlong, spans=spans)
    except ConstructError as error:
        raise DecodeError(
            Reason.BAD_VALUE, stream.tell(), dotted(error.path or ""), str(error).splitlines()[-1]
        ) from error
    # Construct is content with the beginning of a frame; no document is.
    if stream.tell() < len(data):
        over = left(len(data) - stream.tell())
        raise DecodeError(Reason.TRAILING, stream.tell(), "(frame)", f"{over} over")
    return plain(value)


def plain(value: Any) -> Any:
    """Turn Construct's containers, and the native engine's records, into dicts and lists."""
    if isinstance(value, Mapping):
        if isinstance(value, NamedBits):
            return value
        # Construct keeps the stream in the container. In a table of bits or a text of JSON `_io` is a name like any
        # other.
        hidden = "_io" if isinstance(value, Container) else None
        return {name: plain(part) for name, part in value.items() if name != hidden}
    return [plain(part) for part in value] if isinstance(value, list) else value


def encode(form: str | Grammar, value: Any) -> bytes:
    """Encode a value canonically; ``EncodeError`` names the field that a layout cannot express."""
    grammar = find(form) if isinstance(form, str) else form
    try:
        return bytes(grammar.build(plain(value)))
    except (ConstructError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise EncodeError(f"the value does not fit the layout: {error}") from error
