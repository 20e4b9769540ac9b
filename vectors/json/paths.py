"""Where the parts of a layout of JSON stand: every place with its path, as ``places`` has them for binary layouts.

A part stands at a place of its own in every message: ``publish-request.ttl``, ``publish-request.service-props{}[]``.
``{}`` is the value of a member that may have any name, ``{name}`` that name, ``[]`` an item. A member that tells the
messages of a union apart stands where it decides: ``ta-cmd``, then ``subscribe.msg-type``.

A message that an earlier layout of the protocol has as well is looked at closely there; here it is ``nested``. A place
is ``known`` where a union has compared the value, and ``sure`` where nothing of another type can stand.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache

from vectors.binary.paths import CannotCover, LayoutPlace, join
from wire.catalogue import grammars
from wire.catalogue import layout as find_layout
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
    JsonText,
    JsonUnion,
    Limited,
    Part,
)
from wire.kinds.base import walk
from wire.layout import Layout

KINDS: dict[type, str] = {
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a real number",
    dict: "an object",
    list: "an array",
    type(None): "null",
}
"""What JSON tells apart, by the types of Python."""


@cache
def place_tree(layout: str) -> LayoutPlace:
    """Return the outermost place of a layout of JSON."""
    return place_tree_of(find_layout(layout), earlier(layout))


def place_tree_of(layout: Layout, others: Collection[Part]) -> LayoutPlace:
    """Return the outermost place of a tree; the messages among ``others`` are looked at elsewhere."""
    return _PlaceTreeBuilder(layout.name, others).place(layout.root, "", "", ())


def earlier(layout: str) -> frozenset[Part]:
    """Return the messages of the layouts of JSON that a protocol names before one."""
    names = list(grammars())
    before = [name for name in names[: names.index(layout)] if name.partition("/")[0] == layout.partition("/")[0]]
    trees = [tree for name in before if (tree := find_layout(name)).is_json]
    return frozenset(part for tree in trees for part in walk(tree.root) if isinstance(part, JsonObject) and part.name)


def kinds(part: Part) -> frozenset[type]:
    """Return the types of JSON that a part takes."""
    match part:
        case JsonText():
            return frozenset({str})
        case JsonInteger():
            return frozenset({int})
        case JsonNumber():
            return frozenset({int, float})
        case JsonBool():
            return frozenset({bool})
        case JsonArray():
            return frozenset({list})
        case JsonAnyValue():
            return frozenset(KINDS)
        case JsonEither():
            return frozenset().union(*(kinds(option) for option in part.options))
        case _:
            return frozenset({dict})


def option(place: LayoutPlace, kind: type) -> LayoutPlace:
    """Return the option of a place for a type of JSON; the place itself where there is no choice."""
    if not isinstance(place.part, JsonEither):
        return place
    return next((inner for inner in place.inner if kind in kinds(inner.part)), place)


def decisive(union: LayoutPlace, known: tuple[str, ...]) -> str:
    """Return the path of the member that decides next, after what the members before it have."""
    assert isinstance(union.part, JsonUnion)
    words = "-".join((*((union.owner,) if union.owner else ()), *known))
    return join(join(union.path, words), union.part.by[len(known)])


def prefixes(union: LayoutPlace) -> list[tuple[str, ...]]:
    """Return what the deciding members of a union can have, from the first on, each beginning once."""
    assert isinstance(union.part, JsonUnion)
    keys = [key for key, _ in union.part.table()]
    return list(dict.fromkeys(key[:length] for length in range(len(union.part.by) + 1) for key in keys))


def chosen(union: LayoutPlace, key: tuple[str, ...]) -> LayoutPlace:
    """Return the place of the message that some members choose."""
    return choices(union)[key]


@lru_cache(maxsize=64)  # as many as the largest layouts have; grammars that are made on the spot are without end
def choices(union: LayoutPlace) -> Mapping[tuple[str, ...], LayoutPlace]:
    """Return what some members can have together, and the place of the message that they then choose."""
    assert isinstance(union.part, JsonUnion)
    return {key: union.inner[union.part.messages.index(message)] for key, message in union.part.table()}


def messages(union: LayoutPlace) -> Iterator[LayoutPlace]:
    """Give the messages of a union, also those of unions within it."""
    for inner in union.inner:
        if isinstance(inner.part, JsonUnion):
            yield from messages(inner)
        else:
            yield inner


class _PlaceTreeBuilder:
    """One walk through a layout."""

    def __init__(self, layout: str, others: Collection[Part]) -> None:
        self.layout = layout
        self.others = others
        self.paths: set[str] = set()

    def place(self, part: Part, path: str, owner: str, by: tuple[str, ...], *, nested: bool = False) -> LayoutPlace:
        """Return the place of a part; ``by`` are the members that have decided already, ``owner`` what they had."""
        place = LayoutPlace(part, path, self.layout)
        place.owner, place.nested = owner, nested

        def inner(each: Part, at: str) -> LayoutPlace:
            return self.place(each, at, "", (), nested=nested)

        match part:
            case Limited():
                place.labels, place.inner = ("whole",), (inner(part.node, path),)
            case Json():
                place.labels, place.inner = ("text",), (inner(part.node, path),)
            case JsonUnion():
                self.union(place, part, by)
            case JsonObject():
                place.labels = tuple(member.name for member in part.members)
                place.inner = tuple(inner(member.node, join(path, member.name)) for member in part.members)
                for member, each in zip(part.members, place.inner, strict=True):
                    each.field, each.known = member.name, member.name in by
            case JsonEither():
                place.labels = tuple(" or ".join(KINDS[k] for k in KINDS if k in kinds(each)) for each in part.options)
                place.inner = tuple(inner(each, path) for each in part.options)
                for each in place.inner:
                    each.sure = True
            case JsonArray():
                place.labels, place.inner = ("[]",), (inner(part.item, f"{path}[]"),)
            case JsonMap():
                place.labels = ("{name}", "{}")
                place.inner = (inner(JsonText(), f"{path}{{name}}"), inner(part.item, f"{path}{{}}"))
                place.inner[0].sure = True
            case JsonText() | JsonInteger() | JsonNumber() | JsonBool() | JsonAnyValue():
                pass
            case _:
                raise CannotCover(f"{path or '(frame)'}: no vectors are made for {type(part).__name__}")
        return place

    def union(self, place: LayoutPlace, part: JsonUnion, by: tuple[str, ...]) -> None:
        """Fill the place of a union: its messages, by their names."""
        words: dict[Part, str] = {}
        for key, message in part.table():
            words.setdefault(message, "-".join((*((place.owner,) if place.owner else ()), *key)))
        inner, labels = [], []
        for message in part.messages:
            if isinstance(message, JsonUnion):
                label, path = words[message], place.path
            else:
                label, path = message.name, join(place.path, message.name)
                if path in self.paths:
                    raise CannotCover(f"{path}: two messages have this name; give each its own")
                self.paths.add(path)
            nested = place.nested or message in self.others
            there = self.place(message, path, words[message], (*by, *part.by), nested=nested)
            there.field, there.sure = label, True
            inner.append(there)
            labels.append(label)
        place.labels, place.inner = tuple(labels), tuple(inner)
