"""Which branches a layout of JSON has, and which a frame reaches: ``coverage`` for texts of JSON.

What can be wrong with a text of JSON is a branch of the whole frame; what can stand at a place is one of that place:
each boundary of a number, each way to spell a text, every type that does not belong there, a member that is absent,
missing, there twice … ``trace`` holds what ``json_reading`` reads against the tree, the third opinion beside the two
engines. In a message that is looked at in another layout, only its members are.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NoReturn

from vectors.binary.coverage import Branch, BranchTrace, ReadPart
from vectors.binary.paths import LayoutPlace, places
from vectors.json.paths import KINDS, choices, chosen, decisive, kinds, messages, option, place_tree, prefixes
from vectors.json.reader import (
    BAD_TEXT,
    BEFORE,
    BEHIND,
    BEYOND_BITS,
    BEYOND_DOUBLE,
    DUPLICATE,
    ENDS,
    HALF,
    NUL,
    SYNTAX,
    WITHIN,
    JsonReader,
    NotJson,
    Read,
    canonical,
    described,
    numeric,
    otherwise_encoded,
)
from wire.errors import Reason
from wire.json.strict import LEAST, MOST
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
)
from wire.kinds.branches import EMPTY, FULL, MAXIMUM, MISSING, MORE, NONE, NOT_ASCII, ONE, TOO_LONG, UNKNOWN, ZERO

CUT, PRESENT, ABSENT, UNKNOWN_FIELD = "cut", "present", "absent", "unknown field"
OTHER_ORDER, NAME_ESCAPED = "other order", "name escaped"
ASTRAL, ESCAPED, RESPELLED, PAIR = "beyond U+FFFF", "escaped", "escaped freely", "escaped pair"
MINIMUM, MINUS_ZERO, BELOW, ABOVE = "minimum", "minus zero", "below the least", "above the most"
INTEGER, REAL, VANISHED = "an integer", "a real number", "less than any double"
DEEPER = "of several levels"

Scalar = JsonText | JsonInteger | JsonNumber | JsonBool | JsonAnyValue
"""What has no parts."""


def there(kind: type) -> str:
    """Name the branch in which a value of a type stands where any may."""
    return f"is {KINDS[kind]}"


def wrong(kind: type) -> str:
    """Name the branch in which something of a wrong type stands."""
    return f"wrong type: {KINDS[kind]}"


@cache
def branches(layout: str) -> tuple[Branch, ...]:
    """Return the branches of a layout, in its order."""
    return tuple(dict.fromkeys(list_branches(place_tree(layout))))


def list_branches(root: LayoutPlace) -> Iterator[Branch]:
    """Give the branches of a place and of all inside it."""
    for place in places(root):
        if isinstance(place.part, JsonUnion):
            yield from _deciding(place)
        elif isinstance(place.part, JsonObject):
            yield from _members(place)
        if not place.nested:
            yield from (Branch(place.path, name) for name in _names(place))


def _names(place: LayoutPlace) -> Iterator[str]:
    part = place.part
    match part:
        case Limited():
            yield from (FULL, TOO_LONG)
        case Json():
            yield from (*SYNTAX, BEFORE, WITHIN, BEHIND)
        case JsonText() if place.known:
            yield from (f"is {name}" for name in part.names if len(part.names) > 1)
        case JsonText(names=()):
            yield from (EMPTY, NOT_ASCII, ASTRAL, ESCAPED, RESPELLED, PAIR, NUL, HALF, BAD_TEXT)
            yield from [DUPLICATE] if place.path.endswith("{name}") else []
        case JsonText():
            yield from (*(f"is {name}" for name in part.names), UNKNOWN)
        case JsonInteger():
            yield from (*([ZERO, MINUS_ZERO] if part.least <= 0 <= part.most else []), MAXIMUM)
            yield from [MINIMUM] if part.least else []
            yield from (*([BELOW] if part.least > LEAST else []), *([ABOVE] if part.most < MOST else []), BEYOND_BITS)
        case JsonNumber():
            yield from (INTEGER, REAL, *([ZERO, MINUS_ZERO, VANISHED] if part.least is None or part.least <= 0 else []))
            yield from (*([MINIMUM] if part.least else []), *([] if part.least is None else [BELOW]), MAXIMUM)
            yield from (BEYOND_BITS, BEYOND_DOUBLE)
        case JsonBool():
            yield from ("true", "false")
        case JsonAnyValue():
            yield from (*map(there, KINDS), DEEPER)
        case JsonArray() | JsonMap():
            yield from (NONE, ONE, MORE)
        case JsonObject():
            yield from (OTHER_ORDER, NAME_ESCAPED) if len(part.members) > 1 else (NAME_ESCAPED,)
    if isinstance(part, Scalar) and not place.known:
        yield CUT
    if not isinstance(part, Limited | Json) and not place.known and not place.sure:
        yield from (wrong(kind) for kind in KINDS if kind not in kinds(part))


def _deciding(union: LayoutPlace) -> Iterator[Branch]:
    assert isinstance(union.part, JsonUnion)
    if not union.owner:
        yield from (Branch(union.path, f"is {message.field}") for message in messages(union))
    for known in prefixes(union):
        if len(known) < len(union.part.by):
            path = decisive(union, known)
            yield from (Branch(path, name) for name in (MISSING, *(wrong(kind) for kind in KINDS if kind is not str)))
            yield Branch(path, UNKNOWN)


def _members(place: LayoutPlace) -> Iterator[Branch]:
    assert isinstance(place.part, JsonObject)
    for member, inner in zip(place.part.members, place.inner, strict=True):
        if member.optional:
            yield from (Branch(inner.path, PRESENT), Branch(inner.path, ABSENT))
        elif not inner.known:
            yield Branch(inner.path, MISSING)
        yield Branch(inner.path, DUPLICATE)
    yield Branch(place.path, UNKNOWN_FIELD)


def trace(root: LayoutPlace, data: bytes) -> BranchTrace:
    """Read a whole frame along a layout of JSON; a refusal is part of what is returned."""
    reader = _Reader(root, data)
    try:
        reader.trace.value = reader.whole()
    except _Refusal as refusal:
        reader.trace.reason, reader.trace.offset = refusal.reason, refusal.offset
        reader.trace.where = refusal.place.path if isinstance(refusal.place, LayoutPlace) else refusal.place
        reader.trace.refused = {**refusal.known, "aspect": refusal.aspect}
    return reader.trace


class _Refusal(Exception):
    """A frame is refused at a place, or at a path that has no place of its own."""

    def __init__(
        self, reason: Reason, offset: int, place: LayoutPlace | str, aspect: str, known: dict[str, Any]
    ) -> None:
        super().__init__(reason, offset, aspect)
        self.reason, self.offset, self.place, self.aspect, self.known = reason, offset, place, aspect, known


class _Reader:
    """One frame that is held against a layout."""

    def __init__(self, root: LayoutPlace, data: bytes) -> None:
        self.root = root
        self.data = data
        self.trace = BranchTrace(root.layout, set(), [], {}, {})

    def hit(self, place: LayoutPlace | str, name: str) -> None:
        self.trace.branches.add(Branch(place.path if isinstance(place, LayoutPlace) else place, name))

    def refuse(
        self, reason: Reason, offset: int, place: LayoutPlace | str, aspect: str, read: Read | None = None
    ) -> NoReturn:
        """Raise ``_Refusal``; ``read`` is the scalar that was refused."""
        # In a message that another layout looks at closely, only its members count: else each protocol's second layout
        # would have to have all vectors of the first one again.
        if not isinstance(place, LayoutPlace) or not place.nested or aspect in (MISSING, UNKNOWN_FIELD):
            self.hit(place, aspect)
        known = {} if read is None else described(read)
        if isinstance(place, LayoutPlace):
            known["expected"] = tuple(KINDS[kind] for kind in KINDS if kind in kinds(place.part))
        raise _Refusal(reason, offset, place, aspect, known)

    def whole(self) -> Any:
        """Return the value of the frame."""
        place = self.root
        if isinstance(place.part, Limited):
            if len(self.data) > place.part.size:
                self.refuse(Reason.TOO_LONG, place.part.size, place, TOO_LONG)
            if len(self.data) == place.part.size:
                self.hit(place, FULL)
            place = place.inner[0]
        text = JsonReader(self.data)
        try:
            read = text.whole()
        except NotJson as error:
            self.unreadable(place, error)
        finally:
            # Also when the text is refused: white space before the fault was read.
            for name in text.blanks:
                self.hit(place, name)
        value = self.read(place.inner[0], read)
        self.event(place, 0, len(self.data), value, {"size": len(self.data)})
        return value

    def event(self, place: LayoutPlace, start: int, end: int, value: Any, names: dict[str, Any]) -> None:
        self.trace.events.append(ReadPart(place, place.path, start, end, value, names))

    def unreadable(self, place: LayoutPlace, error: NotJson) -> NoReturn:
        """Refuse what is no JSON: a matter of the whole frame, and of the place that was being read."""
        self.hit(place, error.aspect)
        there = self.located(place.inner[0], error)
        known: dict[str, Any] = {} if error.value is None else {"value": float(error.value), **numeric(error.value)}
        known["otherwise_encoded"] = otherwise_encoded(self.data)
        if there is not None:
            for name in _branches_of_fault(there, error.aspect):
                self.hit(there, name)
        raise _Refusal(error.reason, error.offset, there or place, error.aspect, known)

    def located(self, place: LayoutPlace, error: NotJson) -> LayoutPlace | None:
        """Return the place of what was being read, ``None`` where the layout has none."""
        for container, step in error.within:
            place = option(place, type(container))
            if type(container) not in kinds(place.part) or isinstance(place.part, JsonAnyValue):
                return None
            while isinstance(place.part, JsonUnion):
                given = (container.get(name) for name in place.part.by)
                # Only those members that were read before the fault: the message may not be known yet.
                key = tuple(each.value for each in given if each and isinstance(each.value, str))
                if key not in choices(place):
                    return None
                place = chosen(place, key)
            if isinstance(place.part, JsonObject):
                if step not in place.labels:
                    return None
                place = place.under(step)
            elif isinstance(place.part, JsonMap):
                twice = error.aspect == DUPLICATE and container is error.within[-1][0]
                place = place.under("{name}" if step is None or twice else "{}")
            else:
                place = place.inner[0]
        kind = {NUL: str, HALF: str, BAD_TEXT: str, BEYOND_BITS: int, BEYOND_DOUBLE: float}.get(error.aspect)
        return place if kind is None else option(place, kind)

    def read(self, place: LayoutPlace, read: Read) -> Any:
        """Hold what was read against a place, and return its value."""
        kind = type(read.value)
        if kind not in kinds(place.part):
            self.refuse(Reason.WRONG_TYPE, read.start, place, wrong(kind), read)
        place = option(place, kind)
        match place.part:
            case JsonUnion():
                return self.union(place, read)
            case JsonObject():
                return self.object(place, read)
            case JsonArray():
                value: Any = [self.read(place.inner[0], item) for item in read.value]
            case JsonMap():
                value = {name: self.member(place, name, read) for name in read.value}
            case JsonAnyValue():
                return self.anything(place, read)
            case _:
                self.scalar(place, read)
                value = read.value
        if isinstance(value, list | dict):
            self.hit_if_looked_at(place, (NONE, ONE)[len(value)] if len(value) < 2 else MORE)
        self.event(place, read.start, read.end, value, described(read) if not isinstance(value, list | dict) else {})
        return value

    def anything(self, place: LayoutPlace, read: Read) -> Any:
        value, kind = read.plain, type(read.value)
        self.hit_if_looked_at(place, there(kind))
        inside = value if kind is list else value.values() if kind is dict else ()
        if any(isinstance(each, list | dict) for each in inside):
            self.hit_if_looked_at(place, DEEPER)
        self.event(place, read.start, read.end, value, described(read))
        return value

    def member(self, place: LayoutPlace, name: str, read: Read) -> Any:
        start, raw = read.names[name]
        inner = place.under("{name}")
        self.text(inner, name, raw)
        self.event(inner, start, start + len(raw), name, {"value": name})
        return self.read(place.under("{}"), read.value[name])

    def union(self, place: LayoutPlace, read: Read) -> Any:
        assert isinstance(place.part, JsonUnion)
        table = choices(place)
        known: tuple[str, ...] = ()
        for name in place.part.by:
            path = decisive(place, known)
            inner = read.value.get(name)
            if inner is None:
                self.refuse(Reason.MISSING_FIELD, read.end - 1, path, MISSING)
            if not isinstance(inner.value, str):
                self.refuse(Reason.WRONG_TYPE, inner.start, path, wrong(type(inner.value)), inner)
            known = (*known, inner.value)
            if not any(key[: len(known)] == known for key in table):
                self.refuse(Reason.UNKNOWN_ID, inner.start, path, UNKNOWN, inner)
        message = chosen(place, known)
        if isinstance(message.part, JsonUnion):
            return self.union(message, read)
        self.hit(place, f"is {message.field}")
        return self.object(message, read)

    def object(self, place: LayoutPlace, read: Read) -> dict[str, Any]:
        part = place.part
        assert isinstance(part, JsonObject)
        values: dict[str, Any] = {}
        for name, inner in read.value.items():
            if name not in place.labels:
                offset, _ = read.names[name]
                self.refuse(Reason.UNKNOWN_FIELD, offset, place, UNKNOWN_FIELD)
            values[name] = self.read(place.under(name), inner)
        for member, inner_place in zip(part.members, place.inner, strict=True):
            if member.optional:
                self.hit(inner_place, PRESENT if member.name in values else ABSENT)
            elif member.name not in values:
                self.refuse(Reason.MISSING_FIELD, read.end - 1, inner_place, MISSING)
        if not place.nested:
            if list(values) != [name for name in place.labels if name in values]:
                self.hit(place, OTHER_ORDER)
            if any(raw.decode() != canonical(name) for name, (_, raw) in read.names.items()):
                self.hit(place, NAME_ESCAPED)
        self.event(place, read.start, read.end, values, {})
        return values

    def scalar(self, place: LayoutPlace, read: Read) -> None:
        part, value = place.part, read.value
        match part:
            case JsonText(names=names) if names:
                if value not in names:
                    self.refuse(Reason.UNKNOWN_ID, read.start, place, UNKNOWN, read)
                if len(names) > 1 or not place.known:
                    self.hit_if_looked_at(place, f"is {value}")
            case JsonText():
                self.text(place, value, read.raw)
            case JsonBool():
                self.hit_if_looked_at(place, "true" if value else "false")
            case JsonInteger() | JsonNumber():
                self.number(place, part, read)

    def hit_if_looked_at(self, place: LayoutPlace, name: str) -> None:
        if not place.nested:
            self.hit(place, name)

    def text(self, place: LayoutPlace, value: str, raw: bytes) -> None:
        if place.nested:
            return
        if not value:
            self.hit(place, EMPTY)
        if not value.isascii():
            self.hit(place, NOT_ASCII)
        if any(character > "\uffff" for character in value):
            self.hit(place, ASTRAL)
        if b"\\" in raw:
            spelled = raw.decode()
            pair = any(spelled.count(each) < value.count(each) for each in value if each > "\uffff")
            self.hit(place, ESCAPED if spelled == canonical(value) else PAIR if pair else RESPELLED)

    def number(self, place: LayoutPlace, part: JsonInteger | JsonNumber, read: Read) -> None:
        value, known = read.value, described(read)
        if part.least is not None and value < part.least:
            self.refuse(Reason.OUT_OF_RANGE, read.start, place, BELOW, read)
        most = part.most if isinstance(part, JsonInteger) else MOST
        if isinstance(part, JsonInteger) and value > most:
            self.refuse(Reason.OUT_OF_RANGE, read.start, place, ABOVE, read)
        names = {
            ZERO: value == 0 and not known["negative"] and not known["digits"],
            MINUS_ZERO: value == 0 and known["negative"] and not known["digits"],
            MINIMUM: bool(part.least) and value == part.least,
            MAXIMUM: value == most,
        }
        if isinstance(part, JsonNumber):
            names |= {REAL: known["real"], INTEGER: not known["real"], VANISHED: value == 0 and known["digits"]}
        for name, holds in names.items():
            if holds:
                self.hit_if_looked_at(place, name)


def _branches_of_fault(place: LayoutPlace, aspect: str) -> Iterator[str]:
    """Give the branches of a place in which a text is no JSON."""
    if aspect == DUPLICATE:
        yield DUPLICATE
    if place.nested or place.known:
        return
    part = place.part
    if (isinstance(part, JsonText) and not part.names and aspect in (NUL, HALF, BAD_TEXT)) or (
        isinstance(part, JsonInteger | JsonNumber) and aspect == BEYOND_BITS
    ):
        yield aspect
    if isinstance(part, JsonNumber) and aspect == BEYOND_DOUBLE:
        yield aspect
    if aspect in ENDS and isinstance(part, Scalar | JsonEither):
        yield CUT
