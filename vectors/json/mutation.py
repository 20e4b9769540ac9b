"""Mutations of texts of JSON: what ``binary_mutation`` does for binary frames, along the pieces of a text.

What a name says was done: a member that is ``missing`` may have been optional, a respelled text is legal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from vectors.json.edits import (
    of_array,
    of_bool,
    of_frame,
    of_integer,
    of_map,
    of_member,
    of_named,
    of_object,
    of_real,
    of_text,
    of_value,
)
from vectors.json.scanner import ARRAY, BOOL, INTEGRAL, NULL, OBJECT, REAL, TEXT, JsonPiece, scan, unquoted
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
    Part,
    json_keys,
)
from wire.kinds.edits import MAX_FOUND, Found, MutableField, Mutation
from wire.kinds.generators import NoGenerator
from wire.layout import Layout, children

Member = tuple[str, int, int, JsonPiece]
MOST_WITHIN = 5
"""Levels at which places are told apart where any value may stand: each is kept, and there is no end of them."""

AS_DECLARED: Mapping[str, JsonPart] = {
    TEXT: JsonText(),
    INTEGRAL: JsonNumber(None),
    REAL: JsonNumber(None),
    BOOL: JsonBool(),
    NULL: JsonBool(),  # a word without quotation marks
    OBJECT: JsonMap(JsonAnyValue()),
    ARRAY: JsonArray(JsonAnyValue()),
}
"""What a piece is taken for that stands where any value may, by its type."""

Names = Mapping[str, frozenset[str]]
"""What the members by which messages are told apart can have, in any message; under ``""`` the value itself."""


class JsonFieldFinder:
    """A tree along which the fields of a text are found, with their mutations."""

    def __init__(self, layout: Layout) -> None:
        root = layout.frame
        assert isinstance(root, Json)
        self._root = root
        self._whole = MutableField("", root, of_frame())
        self._places: dict[tuple[object, ...], MutableField] = {}
        self._numbers: dict[int, int] = {}
        self._tables: dict[int, dict[tuple[str, ...], JsonObject | JsonUnion]] = {}
        self._names: dict[int, Names] = {}
        self._members: dict[int, dict[str, JsonPart]] = {}
        self._index(root, {})
        # Names that mean something in another message are the likeliest mistake.
        known = sorted({name for members in self._members.values() for name in members})
        self._others = {
            each: tuple(name for name in known if name not in members) for each, members in self._members.items()
        }

    def found(self, frame: bytes) -> list[Found]:
        """Return the fields of a text, inner ones before outer ones; the last is the frame."""
        found: list[Found] = []
        piece = scan(frame)
        if piece is not None:
            self._visit(frame, self._root.node, piece, "", {}, found)
        found.append((0, len(frame), self._whole, ()))
        return found

    def _index(self, part: Part, known: dict[Part, int]) -> None:
        """Number the parts, equal ones alike; what is looked up for every frame is made here."""
        if id(part) in self._numbers:
            return
        self._numbers[id(part)] = known.setdefault(part, len(known))
        match part:
            case JsonUnion():
                self._tables[id(part)] = dict(part.table())
                self._names[id(part)] = {
                    name: frozenset(text for (text,) in json_keys(part, (name,))) for name in part.by
                }
            case JsonObject():
                self._members[id(part)] = {member.name: member.node for member in part.members}
            case JsonAnyValue():
                for each in AS_DECLARED.values():
                    self._index(each, known)
            case Json() | JsonText() | JsonInteger() | JsonNumber() | JsonBool() | JsonEither():
                pass
            case JsonArray() | JsonMap():
                pass
            case _:
                raise NoGenerator(f"{type(part).__name__} is not among the parts that can be found in texts")
        for child in children(part):
            self._index(child, known)

    def _place(self, path: str, part: JsonPart, role: object, make: Callable[[], Sequence[Mutation]]) -> MutableField:
        """Return a place; it is the same for equal parts of the same path and role, whatever message they stand in."""
        key = path, self._numbers[id(part)], role
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = MutableField(path, part, make())
        return place

    def _visit(
        self,
        frame: bytes,
        part: JsonPart,
        piece: JsonPiece,
        path: str,
        names: Names,
        found: list[Found],
        either: str = "",
    ) -> None:
        """Find the fields of one value; ``either`` are the types that stand beside its own."""
        kinds = either or _kinds(part)
        match part:
            case JsonEither():
                option = next((each for each in part.options if piece.kind in _kinds(each)), part.options[0])
                self._visit(frame, option, piece, path, names, found, kinds)
                return
            case JsonUnion():
                self._union(frame, part, piece, path, names, found)
                return
            case JsonObject() if piece.kind == OBJECT:
                self._object(frame, part, piece, path, names, found)
            case JsonMap(item=item) if piece.kind == OBJECT:
                for _, start, end, value in _few(piece.members(frame)):
                    label = f"{path}{{}}"
                    self._visit(frame, item, value, label, {}, found)
                    place = self._place(label, item, "member", lambda label=label: of_named(label))  # type: ignore[misc]
                    found.append((start, value.end, place, (end, value.start)))
            case JsonArray(item=item) if piece.kind == ARRAY:
                for value in piece.items[:MAX_FOUND]:
                    self._visit(frame, item, value, f"{path}[]", {}, found)
            case JsonAnyValue():
                if path.count("[]") + path.count("{}") <= MOST_WITHIN:
                    self._visit(frame, AS_DECLARED[piece.kind], piece, path, {}, found, _kinds(part))
                return
            case _:
                pass
        known = names.get("") if piece.kind != OBJECT else None
        place = self._place(path, part, (kinds, known), lambda: self._mutations(part, path, kinds, known))
        found.append((piece.start, piece.end, place, _cuts(piece)))

    def _union(
        self, frame: bytes, part: JsonUnion, piece: JsonPiece, path: str, names: Names, found: list[Found]
    ) -> None:
        texts = {}
        if piece.kind == OBJECT:
            members = {name: each for name, _, _, each in piece.members(frame) if name in part.by}
            texts = {name: unquoted(frame[each.start : each.end]) for name, each in members.items()}
        message = self._tables[id(part)].get(tuple(texts.get(name) or "" for name in part.by))
        if message is not None:
            self._visit(frame, message, piece, path, {**self._names[id(part)], **names}, found)

    def _object(
        self, frame: bytes, part: JsonObject, piece: JsonPiece, path: str, names: Names, found: list[Found]
    ) -> None:
        members, others = self._members[id(part)], self._others[id(part)]
        for name, start, end, value in _few(piece.members(frame)):
            node = members.get(name)
            if node is None:
                continue
            label = f"{path}.{name}" if path else name
            self._visit(frame, node, value, label, {"": names[name]} if name in names else {}, found)
            place = self._place(
                label,
                node,
                others,
                lambda label=label, name=name: of_member(label, name, others),  # type: ignore[misc]
            )
            found.append((start, value.end, place, (end, value.start)))

    def _mutations(self, part: JsonPart, path: str, kinds: str, names: frozenset[str] | None) -> list[Mutation]:
        """Return what can be done to a value."""
        of_all = of_value(path or "frame", kinds)
        match part:
            case JsonText():
                return [*of_text(path, part.names, names or frozenset(part.names)), *of_all]
            case JsonInteger():
                return [*of_integer(path, part.least, part.most), *of_all]
            case JsonNumber():
                return [*of_real(path, part.least), *of_all]
            case JsonBool():
                return [*of_bool(path), *of_all]
            case JsonArray():
                return [*of_array(path), *of_all]
            case JsonMap():
                return [*of_map(path), *of_all]
            case JsonObject():
                return [*of_object(path or "frame", self._others[id(part)], self._members[id(part)]), *of_all]
            case _:
                return of_all


def _few(members: Iterable[Member]) -> Iterator[Member]:
    return islice(members, MAX_FOUND)


def _kinds(part: JsonPart) -> str:
    """Return the types of JSON that a part takes, as words in a row."""
    match part:
        case JsonText():
            return TEXT
        case JsonInteger():
            return INTEGRAL
        case JsonNumber():
            return f"{INTEGRAL} {REAL}"
        case JsonBool():
            return BOOL
        case JsonArray():
            return ARRAY
        case JsonAnyValue():
            return " ".join(AS_DECLARED)
        case JsonEither():
            return " ".join(map(_kinds, part.options))
        case _:
            return OBJECT


def _cuts(piece: JsonPiece) -> tuple[int, ...]:
    """Return where the members or items of a piece begin and end, one after the other."""
    starts = [start for start, _ in piece.names] or [item.start for item in piece.items]
    return tuple(at for start, item in zip(starts, piece.items, strict=False) for at in (start, item.end))
