"""The layout ``rai/text``: a frame is one text of relaxed JSON, in UTF-8, as messages are read.

A value is the list of the text's parts, as they stand in it::

    {time: 5, "subs": [a.b, true]}      {"type": "object", "members": 2}
                                        {"name": "time", "type": "number", "spelling": "5"}
                                        {"name": "subs", "type": "array", "items": 2}
                                        {"type": "text", "text": "a.b"}
                                        {"type": "boolean", "boolean": True}

A list and no tree: texts may be nested as deep as a frame is long, and neither comparing values, nor printing them, nor
writing them as JSON may depend on that. An object has as many ``members`` as it says, each with its ``name``; an array
``items``. A number is its ``spelling``, so that 17.50 keeps its zero. What ``wire.rai.relaxed`` reads are the same
texts, but for those of too many levels.
"""

from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

from wire.derivation import Derivation, NoDerivation
from wire.envelope import LARGEST
from wire.errors import EncodeError
from wire.json.strict import item_path, member_path
from wire.kinds.language import ByHand, InLanguage
from wire.primitives import LimitedTo
from wire.rai import grammar_text
from wire.rai.json_values import Members, Number, Value
from wire.rai.relaxed_scanner import RELAXED, is_number, scan

Part = dict[str, Any]
"""One value of a text, without what is in it."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "object": ("members",),
    "array": ("items",),
    "text": ("text",),
    "number": ("spelling",),
    "boolean": ("boolean",),
    "null": (),
}
"""What a part has beside its ``type``, and its ``name`` if it is a member."""


def parts_of(value: Value) -> list[Part]:
    """Return the parts of a value."""
    return list(_flat(value))


def _flat(value: Value) -> Iterator[Part]:
    ahead: list[tuple[Part, Value]] = [({}, value)]
    while ahead:
        part, there = ahead.pop()
        match there:
            case Members():
                yield part | {"type": "object", "members": len(there)}
                ahead += [({"name": name}, each) for name, each in reversed(there)]
            case list():
                yield part | {"type": "array", "items": len(there)}
                ahead += [({}, each) for each in reversed(there)]
            case str():
                yield part | {"type": "text", "text": there}
            case Number(spelling=spelling):
                yield part | {"type": "number", "spelling": spelling}
            case bool():
                yield part | {"type": "boolean", "boolean": there}
            case None:
                yield part | {"type": "null"}


def value_of(parts: Any) -> Value:
    """Return the value whose parts these are. Raises ``EncodeError`` when they are none's, naming the part."""
    if not isinstance(parts, list | tuple) or not parts:
        raise EncodeError(f"text: {parts!r:.80} is not a list of parts")
    # From the last part to the first: what a part is made of is there before it, the first on top.
    found: list[tuple[str | None, Value]] = []
    for index in range(len(parts) - 1, -1, -1):
        part = _checked(parts[index], f"[{index}]")
        value: Value
        match part["type"]:
            case "object" | "array" as kind:
                value = _container(kind, part[FIELDS[kind][0]], found, f"[{index}]")
            case "text":
                value = part["text"]
            case "number":
                value = Number(part["spelling"])
            case "boolean":
                value = part["boolean"]
            case _:
                value = None
        found.append((part.get("name"), value))
    if len(found) > 1 or found[0][0] is not None:
        raise EncodeError(f"text: the parts are those of {len(found)} values, or of a member alone")
    return found[0][1]


def _container(kind: str, count: int, found: list[tuple[str | None, Value]], path: str) -> Value:
    """Return an object or an array of the parts that were found last."""
    if count > len(found):
        raise EncodeError(f"{path}: {count} values are said to follow, and {len(found)} do")
    inside = [found.pop() for _ in range(count)]
    named = [(name, value) for name, value in inside if name is not None]
    if len(named) != (count if kind == "object" else 0):
        raise EncodeError(f"{path}: the members of an object have a name, and items have none")
    return Members(named) if kind == "object" else [value for _, value in inside]


def _checked(part: Any, path: str) -> Mapping[str, Any]:
    """Return a part if it has what its type has, and nothing else."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping) or not isinstance(kind, str) or kind not in FIELDS:
        raise EncodeError(f"{path}: {part!r:.80} is no part of a text; its type is one of {', '.join(FIELDS)}")
    if set(part) - {"name"} != {"type", *FIELDS[kind]}:
        raise EncodeError(f"{path}: {kind} has {', '.join(FIELDS[kind]) or 'nothing'}, not {part!r:.80}")
    for field, there in part.items():
        if field in ("members", "items"):
            fits = isinstance(there, int) and not isinstance(there, bool) and there >= 0
        elif field == "boolean":
            fits = isinstance(there, bool)
        elif field == "spelling":
            fits = isinstance(there, str) and is_number(there)
        else:
            fits = isinstance(there, str) and "\0" not in there
        if not fits:
            raise EncodeError(f"{path}.{field}: {there!r:.80} does not fit")
    return part


# The engines


def _derived(text: str, derivation: Derivation) -> list[Part]:
    return parts_of(grammar_text.value_of(text, derivation))


def _shown(text: str, derivation: Derivation) -> Iterator[tuple[int, int, str, Any]]:
    """Give the parts for a dump: scalars whole, with their names; of others the brackets; and what is around all."""
    values = sorted((node.start, node.end) for node in derivation.nodes if node.rule in ("scalar", "object", "array"))
    names = iter(sorted(node.start for node in derivation.nodes if node.rule == "name"))
    spans: list[tuple[int, int, str, Any]] = []
    # The containers around a part: the path of each, how many parts of it are to come, and how many were there.
    around: list[tuple[str, int, int]] = []
    for part, (start, end) in zip(_derived(text, derivation), values, strict=True):
        path = ""
        if around:
            outer, left, index = around.pop()
            path = member_path(outer, part["name"]) if "name" in part else item_path(outer, index)
            around += [(outer, left - 1, index + 1)] if left > 1 else []
        begin = next(names) if "name" in part else start
        if part["type"] in ("object", "array"):
            count = part[FIELDS[part["type"]][0]]
            around += [(path, count, 0)] if count else []
            spans += [(begin, start + 1, path or "(frame)", part), (end - 1, end, path or "(frame)", text[end - 1])]
        else:
            spans.append((begin, end, path or "(frame)", part))
    for node in derivation.nodes:
        if node.rule in ("byte-order-mark", "behind") and text[node.start : node.end].strip(" \t\n\v\f\r"):
            spans.append((node.start, node.end, f"({node.rule})", text[node.start : node.end]))
    return iter(sorted(spans, key=lambda span: span[0]))


def _written(parts: Any) -> str:
    """Write a text by the grammar."""
    value = value_of(parts)
    text = grammar_text.write(value)
    try:
        if parts_of(grammar_text.read(text)) == parts_of(value):
            return text
    except NoDerivation as refusal:
        raise EncodeError(f"text: nothing in the grammar stands for {parts!r:.80}: {refusal}") from None
    raise EncodeError(f"text: {text:.80} stands for another value than {parts!r:.80}")


def _spelled(parts: Any) -> str:
    """Write a text by hand, part after part; of the brackets that are open a list has what is still to come in each."""
    value_of(parts)
    pieces: list[str] = []
    around: list[tuple[str, int, str]] = []
    for part in parts:
        if around:
            closing, left, comma = around[-1]
            around[-1] = closing, left - 1, ","
            pieces.append(comma)
        if "name" in part:
            pieces.append(f"{encode_basestring(part['name'])}:")
        match part["type"]:
            case "object":
                pieces.append("{")
                around.append(("}", part["members"], ""))
            case "array":
                pieces.append("[")
                around.append(("]", part["items"], ""))
            case "text":
                pieces.append(encode_basestring(part["text"]))
            case "number":
                pieces.append(part["spelling"])
            case "boolean":
                pieces.append("true" if part["boolean"] else "false")
            case _:
                pieces.append("null")
        while around and not around[-1][1]:
            pieces.append(around.pop()[0])
    return "".join(pieces)


# Section "Message Presentation". A text is a payload, so none is longer than the largest of those.
text = LimitedTo(
    LARGEST,
    InLanguage(
        "text",
        grammar_text.text,
        value_of=_derived,
        parts_of=_shown,
        write=_written,
        by_hand=ByHand(lambda text: parts_of(scan(text, RELAXED)), _spelled),
    ),
)

LAYOUTS = {"text": text}
"""What the catalogue has of it."""
