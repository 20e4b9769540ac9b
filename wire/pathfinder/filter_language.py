"""The layouts ``pathfinder/filter`` and ``pathfinder/deployed-filter``: a frame is the text of one filter, in UTF-8.

A value is the list of the filter's parts, as they stand in the text::

    (&(name=x)(!(version>5)))      {"type": "and", "filters": 2}
                                   {"type": "equal", "key": "name", "value": "x"}
                                   {"type": "not"}
                                   {"type": "greater", "key": "version", "value": "5"}

A list and no tree: filters may be nested as deep as a frame is long, and neither comparing values, nor printing them,
nor writing them as JSON may depend on that. An ``and`` or ``or`` has as many ``filters`` as it says, a ``not`` has one,
so a list has one meaning. ``present`` has a key; ``equal``, ``greater`` and ``less`` have a key and a value, which is
text; ``substring`` has ``key``, ``initial``, the list ``any`` and ``final``.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from wire.abnf import Grammar
from wire.derivation import Derivation
from wire.errors import EncodeError
from wire.kinds.language import ByHand, InLanguage, Unread
from wire.pathfinder import grammar_filters
from wire.pathfinder.filters import (
    And,
    Composite,
    Equal,
    Filter,
    FilterError,
    Greater,
    Item,
    Less,
    Not,
    Or,
    Present,
    Substring,
    operands,
    parse,
    spell,
    walk,
)
from wire.pathfinder.grammar import LARGEST
from wire.primitives import LimitedTo

Value = list[dict[str, Any]]
"""The parts of a filter, as they stand in its text."""

_TYPES: dict[type, str] = {
    And: "and",
    Or: "or",
    Not: "not",
    Equal: "equal",
    Greater: "greater",
    Less: "less",
    Present: "present",
    Substring: "substring",
}

FIELDS: dict[str, tuple[str, ...]] = {
    "and": ("filters",),
    "or": ("filters",),
    "not": (),
    "equal": ("key", "value"),
    "greater": ("key", "value"),
    "less": ("key", "value"),
    "present": ("key",),
    "substring": ("key", "initial", "any", "final"),
}
"""What a part has beside its ``type``."""


def value_of(tree: Filter) -> Value:
    """Return the parts of a filter as plain data."""
    return [_part(part) for part in walk(tree)]


def _part(part: Composite | Item) -> dict[str, Any]:
    name = _TYPES[type(part)]
    if isinstance(part, Composite):
        return {"type": name, "filters": len(operands(part))} if FIELDS[name] else {"type": name}
    if isinstance(part, Substring):
        return {"type": name, "key": part.key, "initial": part.initial, "any": list(part.any), "final": part.final}
    return {"type": name} | {field: getattr(part, field) for field in FIELDS[name]}


def tree_of(value: Any) -> Filter:
    """Return the filter whose parts these are. Raises ``EncodeError`` when they are no filter's, naming the part."""
    if not isinstance(value, list | tuple) or not value:
        raise EncodeError(f"filter: {value!r:.80} is not a list of parts")
    # From the last part to the first: what a part is made of is there before it, the first on top.
    found: list[Filter] = []
    for index in range(len(value) - 1, -1, -1):
        part = _checked(value[index], f"[{index}]")
        match part["type"]:
            case "and" | "or" | "not" as name:
                count = part.get("filters", 1)
                if count > len(found):
                    raise EncodeError(f"[{index}]: {count} filters are said to follow, and {len(found)} do")
                below = tuple(found.pop() for _ in range(count))
                found.append(Not(below[0]) if name == "not" else And(below) if name == "and" else Or(below))
            case "equal":
                found.append(Equal(part["key"], part["value"]))
            case "greater":
                found.append(Greater(part["key"], part["value"]))
            case "less":
                found.append(Less(part["key"], part["value"]))
            case "present":
                found.append(Present(part["key"]))
            case _:
                found.append(Substring(part["key"], part["initial"], tuple(part["any"]), part["final"]))
    if len(found) > 1:
        raise EncodeError(f"filter: the parts are those of {len(found)} filters")
    return found[0]


def _checked(part: Any, path: str) -> Mapping[str, Any]:
    """Return a part if it has what its type has, and nothing else."""
    name = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping) or not isinstance(name, str) or name not in FIELDS:
        raise EncodeError(f"{path}: {part!r:.80} is no part of a filter; its type is one of {', '.join(FIELDS)}")
    if set(part) != {"type", *FIELDS[name]}:
        raise EncodeError(f"{path}: {name} has {', '.join(FIELDS[name]) or 'nothing'}, not {part!r:.80}")
    for field in FIELDS[name]:
        there = part[field]
        if field == "filters":
            fits = isinstance(there, int) and not isinstance(there, bool) and there >= 0
        elif field == "any":
            fits = isinstance(there, list | tuple) and all(isinstance(text, str) for text in there)
        else:
            fits = isinstance(there, str)
        if not fits:
            raise EncodeError(f"{path}.{field}: {there!r:.80} does not fit")
    return part


# The engines


def _derived(text: str, derivation: Derivation) -> Value:
    return value_of(grammar_filters.filter_of(text, derivation))


def _parts_of(text: str, derivation: Derivation) -> Iterator[tuple[int, int, str, Any]]:
    """Give the parts for a dump: items whole; of others their beginning, and the parenthesis that ends them."""
    rules = ("item", "and", "or", "not")
    found = sorted((start, end, rule) for rule, start, end, _ in derivation.nodes if rule in rules)
    spans: list[tuple[int, int, str, Any]] = []
    for index, (part, (start, end, rule)) in enumerate(zip(_derived(text, derivation), found, strict=True)):
        if rule == "item":
            spans.append((start - 1, end + 1, f"[{index}]", part))
        else:
            spans += [(start - 1, start + 1, f"[{index}]", part), (end, end + 1, f"[{index}]", text[end])]
    return iter(sorted(spans, key=lambda span: span[0]))


def _read(text: str, *, deployed: bool) -> Value:
    try:
        return value_of(parse(text, deployed=deployed))
    except FilterError as refusal:
        raise Unread(refusal.offset, refusal.expected == "the end") from None


def _write(value: Any, *, deployed: bool) -> str:
    return spell(tree_of(value), deployed=deployed)


def _language(rules: Grammar, *, deployed: bool) -> LimitedTo:
    language = InLanguage(
        "filter",
        rules,
        value_of=_derived,
        parts_of=_parts_of,
        write=lambda value: grammar_filters.write(tree_of(value), rules),
        by_hand=ByHand(partial(_read, deployed=deployed), partial(_write, deployed=deployed)),
    )
    return LimitedTo(LARGEST, language)


# Section "Filter Representation". A filter is part of a message, so none is longer than the largest of them.
document_filter = _language(grammar_filters.document, deployed=False)

deployed_filter = _language(grammar_filters.deployed, deployed=True)

LAYOUTS = {"filter": document_filter, "deployed-filter": deployed_filter}
"""What the catalogue has of these."""
