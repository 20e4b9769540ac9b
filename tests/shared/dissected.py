"""What Wireshark has to show of a frame, by the reference engine: every span where it is, and every refusal."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from tshark import ShownField, ShownFrame

from wire import catalogue, reference
from wire.errors import DecodeError
from wire.primitives import Blob, Real, Span, Zeros, real_of

INDEX = re.compile(r"\[\d+\]")

CHANGED = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
"""Characters that are shown otherwise, as ``\\x1`` or ``\\n``, or not at all: XML has no way to write most of them."""

FAMILIES = ("branch", "bytes", "text", "float", "double", "boolean", "number", "signed", "integer", "real")
"""What a filter may have behind the name of the field, where fields of that name have several types."""


class WantedField(NamedTuple):
    """A field that has to be shown: its filter, or which it may have, where it stands, its value, and a sub-field."""

    name: str | tuple[str, ...]
    start: int
    size: int
    value: Any
    below: str = ""

    def is_shown_by(self, shown: ShownField) -> bool:
        """Tell whether this is it."""
        names = (self.name,) if isinstance(self.name, str) else self.name
        known = {f"{name}{family}{self.below}" for name in names for family in ("", *(f".{each}" for each in FAMILIES))}
        return shown.name in known and shown[1:3] == self[1:3] and is_shown(self.value, shown.text)


def is_shown(value: Any, text: str) -> bool:
    """Tell whether a text of Wireshark's is a value."""
    match value:
        case bool():
            return text in (str(value), str(int(value)))  # as newer ones write it, and older ones
        case int():
            return int(text, 0) == value
        case float():  # of 4 bytes with 6 digits; in Decimal, as the greatest double rounded up is no double
            there, wanted = Decimal(text), Decimal(value)
            near = there == wanted or (wanted.is_finite() and abs(there - wanted) <= abs(wanted) * Decimal("1e-5"))
            return near or (wanted.is_nan() and there.is_nan())
        case bytes():
            return text.replace(":", "") == value.hex()
    return re.fullmatch(".{1,4}".join(re.escape(piece) for piece in CHANGED.split(value)), text, re.DOTALL) is not None


def filter_of(layout: str, path: str) -> str:
    """Return the filter of the field at a path: protocol, the record that has it, the field."""
    protocol, _, root = layout.partition("/")
    root = root.replace("-", "_")
    steps = [step for step in INDEX.sub("", path).split(".") if step and step != "(frame)"]
    return ".".join([protocol, *([root, *steps][-2:] if steps else [root])]).lower()


def wanted(layout: str, data: bytes, spans: list[Span]) -> Iterator[WantedField]:
    """Give the fields of a frame of bytes, in order."""
    for start, end, path, value, leaf in spans:
        name, size = filter_of(layout, path), end - start
        match leaf:
            case Blob():
                count = len(value if isinstance(value, bytes) else value.encode())
                yield WantedField(name, start, size - count, count, ".length")
                yield WantedField(name, end - count, count, value)
            case Zeros(size=0):  # what fills something up
                yield WantedField(name, start, size, data[start:end], ".padding")
            case Zeros():
                yield WantedField(name, start, size, data[start:end])
            case Real():
                yield WantedField(name, start, size, real_of(value, leaf.size))
            case _ if isinstance(value, dict):
                yield WantedField(name, start, size, value.byte)
                # Of bits without a name only those that are set.
                shown = [bit for bit in value if bit != leaf.spare or value[bit]]
                yield from (WantedField(name, start, size, value[bit], f".{bit.lower()}") for bit in shown)
            case _:
                yield WantedField(name, start, size, value)


def wanted_of_json(layout: str, spans: list[Span]) -> Iterator[WantedField]:
    """Give the fields of a text of JSON, in order.

    A filter has the members down to the value; of an object whose members may have any names it has not the names.
    """
    for start, end, path, value, _ in spans:
        if not isinstance(value, dict | list | None):
            steps = INDEX.sub("", path).split(".")
            names = (".".join([layout.partition("/")[0], *steps[:count]]) for count in range(1, len(steps) + 1))
            yield WantedField(tuple(names), start, end - start, value)


def differences(layout: str, data: bytes, shown: ShownFrame) -> list[Any]:
    """Return what is not shown as it has to be: pairs of what is wanted and what is there."""
    spans: list[Span] = []
    try:
        reference.decode(layout, data, spans=spans)
    except DecodeError as error:
        refusal = error.reason.value, error.offset
        return [] if (shown.refusal, shown.is_malformed) == (refusal, True) else [(refusal, shown.refusal)]
    wrong: list[Any] = [(None, shown.refusal)] if shown.refusal or shown.is_malformed else []
    there = shown.fields
    if catalogue.layout(layout).is_json:
        fields = list(wanted_of_json(layout, spans))
        # Names of members that may have any are shown, but are no values; empty lists and objects, and null, are
        # branches.
        there = [field for field in there if not field.name.endswith(".name")]
        empty = {(span.start, span.end - span.start) for span in spans if isinstance(span.value, dict | list | None)}
        wrong += [(place, shown.branches) for place in empty - {(each.start, each.size) for each in shown.branches}]
    else:
        fields = list(wanted(layout, data, spans))
    if len(fields) != len(there):
        return [*wrong, (fields, there)]
    return wrong + [pair for pair in zip(fields, there, strict=True) if not pair[0].is_shown_by(pair[1])]
