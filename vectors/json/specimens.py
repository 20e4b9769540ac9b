"""The frames of golden vectors for layouts of JSON: what ``specimens`` does for binary layouts.

Of each message: every boundary of every value, every type that does not belong there, members that are absent, missing,
there twice, unknown or of another message, and legal spellings: another order, white space, escapes. All spellings of a
value are tried where its like stands first; elsewhere each branch once. What any text of JSON can have wrong is tried
in the first message (``json_syntax``). Of a message that is looked at in another layout only the members are tried.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from vectors.binary.paths import Arrangement, LayoutPlace, join, places
from vectors.covering_arrays import Factor, Option, covering
from vectors.json.boundaries import enumerated, list_variants, number_words, variants, wrong_type_values
from vectors.json.composing import Composer, MemberText, escaped, joined
from vectors.json.coverage import NAME_ESCAPED, OTHER_ORDER, UNKNOWN_FIELD
from vectors.json.paths import chosen, decisive, place_tree, prefixes
from vectors.json.reader import DUPLICATE, NO_VALUE, SYNTAX, WITHIN, canonical
from vectors.json.syntax import frames
from vectors.notes import ProtocolNotes
from vectors.specimen import Specimen
from wire.json.strict import quoted
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
from wire.kinds.boundaries import BoundaryBytes
from wire.kinds.branches import FULL, MISSING, TOO_LONG, UNKNOWN

FAMILIES = ("values", "members", "types", "refused", "spellings", "cut", "pairs")
"""What the groups of a message are called, behind its name, in this order."""

ALL_TOGETHER = 4
"""Optional members of an object that are tried in all combinations; of more of them, all pairs."""

BLANKS = b" \t\r\n"


class JsonTarget(NamedTuple):
    """A place, and the message that it lies in; ``full`` tells whether everything is to be tried there."""

    place: LayoutPlace
    message: LayoutPlace | None
    full: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the message, if there is one."""
        return (self.message.field,) if self.message is not None else ()


def specimens(layout: str, about: ProtocolNotes) -> Iterator[Specimen]:
    """Give the frames of a layout, in its order; some may be equal."""
    return made(place_tree(layout), about)


def made(root: LayoutPlace, about: ProtocolNotes) -> Iterator[Specimen]:
    """Give the frames of a tree."""
    maker = _Maker(root, about)
    found = list(_targets(root, None, set()))
    for target in found:
        yield from maker.look(target)
    yield from maker.limits(found)


def _targets(place: LayoutPlace, message: LayoutPlace | None, seen: set[Part | type]) -> Iterator[JsonTarget]:
    """Give every place with its message, outer ones first."""
    if place.sure and isinstance(place.part, JsonObject) and place.field:
        message = place
    kind = JsonObject if isinstance(place.part, JsonObject) else place.part
    full = kind not in seen and not place.nested
    if not place.nested:
        seen.add(kind)
    yield JsonTarget(place, message, full)
    for inner in place.inner:
        if not place.nested or isinstance(inner.part, JsonObject | JsonUnion):
            yield from _targets(inner, message, seen)


class _Maker:
    """Frames for each target of one layout."""

    def __init__(self, root: LayoutPlace, about: ProtocolNotes) -> None:
        self.root = root
        self.composer = Composer(root, about.texts)
        self.fields: dict[str, LayoutPlace] = {}
        for place in places(root):
            if isinstance(place.part, JsonObject):
                self.fields = dict(zip(place.labels, place.inner, strict=True)) | self.fields

    def specimen(
        self, target: JsonTarget, family: str, aspect: str, comment: str, data: bytes, path: str = ""
    ) -> Specimen:
        """Name what looks at a target."""
        where = path or target.place.path
        message = target.message.path if target.message is not None else ""
        rest = where.removeprefix(message).lstrip(".").replace("{}", " value").replace("{name}", " name")
        rest = rest.replace("[]", " item").strip()
        words = ", ".join(part for part in (*target.names, f"{rest} {comment}".strip()) if part)
        words = "".join(each if each.isprintable() else f"U+{ord(each):04X}" for each in words)
        return Specimen(target.names, family, where, aspect, words, data)

    def varied(self, target: JsonTarget, variant: BoundaryBytes) -> Specimen:
        """Write the frame of a target with other bytes in its place."""
        path = target.place.path
        if variant.cut:
            data = self.composer.until(path, variant.data)
        else:
            # What is no JSON ends the reading: the message is known only if its other members stand before.
            last = path if variant.aspect in SYNTAX else ""
            data = self.composer.frame({path: variant.data}, last)
        return self.specimen(target, variant.family, variant.aspect, variant.comment, data)

    def look(self, target: JsonTarget) -> Iterator[Specimen]:
        """Give the frames that look at a target."""
        place, part = target.place, target.place.part
        match part:
            case Json():
                for family, aspect, comment, data in frames(self.composer):
                    yield self.specimen(target, family, aspect, comment, data)
            case JsonUnion():
                yield from self.deciding(target)
            case JsonObject():
                yield from self.object(target, part)
            case JsonArray() | JsonMap():
                item = self.composer.spell(place.inner[-1], {})
                other = next((each for _, each in self.few(place.inner[-1]) if each != item), item)
                for variant in list_variants(part, item, other, target.full):
                    yield self.varied(target, variant)
                if isinstance(part, JsonMap):
                    yield from self.twins(target, item)
            case JsonText() | JsonInteger() | JsonNumber() | JsonBool() | JsonAnyValue() if not place.known:
                for variant in variants(part, target.full):
                    yield self.varied(target, variant)
        if not isinstance(part, Limited | Json) and not place.known and not place.sure:
            for variant in wrong_type_values(part, target.full):
                yield self.varied(target, variant)

    def twins(self, target: JsonTarget, item: bytes) -> Iterator[Specimen]:
        """Give objects of any names in which one stands twice."""
        path = target.place.under("{name}").path
        for words, name in (("", b'"a"'), (", once escaped", b'"\\u0061"')):
            data = self.composer.frame({target.place.path: joined([MemberText(b'"a"', item), MemberText(name, item)])})
            yield self.specimen(target, "refused", DUPLICATE, f"twice{words}", data, path)

    def deciding(self, target: JsonTarget) -> Iterator[Specimen]:
        """Give what is wrong with the members that tell messages apart."""
        union = target.place
        assert isinstance(union.part, JsonUnion)
        keys = [key for key, _ in union.part.table()]
        for known in prefixes(union):
            depth = len(known)
            if depth == len(union.part.by):
                continue
            able = [key for key in keys if key[:depth] == known]
            message = chosen(union, able[0])
            while isinstance(message.part, JsonUnion):
                message = message.inner[0]
            path, full = decisive(union, known), able[0] == keys[0]
            before = {join(message.path, name): spelled(each) for name, each in zip(union.part.by, known, strict=False)}
            at = join(message.path, union.part.by[depth])
            here = tuple(dict.fromkeys(key[depth] for key in able))
            tried = [*wrong_type_values(JsonText(), full), *enumerated(here if full else (), deciding=True)]
            for other in dict.fromkeys(key[depth] for key in keys if key[depth] not in here):
                tried.append(BoundaryBytes(UNKNOWN, f'"{other}", which others have', spelled(other), "refused"))
            for each in tried:
                data = self.composer.frame({**before, at: each.data})
                yield self.specimen(target, each.family, each.aspect, each.comment, data, path)
            name = spelled(union.part.by[depth])
            members = (each for each in self.composer.members(message, before) if each.name != name)
            data = self.composer.frame({message.path: joined(members)})
            yield self.specimen(target, "members", MISSING, "missing", data, path)

    def object(self, target: JsonTarget, part: JsonObject) -> Iterator[Specimen]:
        """Give an object with and without its members, with others, and in other spellings."""
        place = target.place
        for comment, optional in self.choices(place, part):
            data = self.composer.frame({place.path: None, **optional})
            yield self.specimen(target, "values", "plain", comment, data)
            for inner, name in decided(place):
                data = self.composer.frame({place.path: None, **optional, inner.path: spelled(name)})
                yield self.specimen(target, "values", f"is {name}", f"{name}, {comment}", data, inner.path)
        every = {place.path: None, **{inner.path: None for inner in place.inner}}
        there = self.composer.members(place, every)
        for member, inner in zip(part.members, place.inner, strict=True):
            kept = [each for each in there if each.name != spelled(member.name)]
            if not member.optional and not inner.known:
                yield self.edited(target, "members", MISSING, "missing", kept, inner.path)
            twice = next(each for each in there if each.name == spelled(member.name))
            yield self.edited(target, "members", DUPLICATE, "twice", [*there, twice], inner.path)
            if target.full:
                yield from self.more_twins(target, there, twice, inner)
        if target.full and there:
            empty = [*there[:-1], there[-1]._replace(value=b"")]
            yield self.edited(target, "refused", NO_VALUE, "without a value", empty, place.inner[-1].path)
        yield from self.strange_members(target, there)
        if not place.nested:
            yield from self.respelled(target, there)
            yield from self.pairs(target, part)

    def edited(
        self, target: JsonTarget, family: str, aspect: str, comment: str, members: list[MemberText], path: str = ""
    ) -> Specimen:
        """Write the frame of a target with other members."""
        data = self.composer.frame({target.place.path: joined(members)})
        return self.specimen(target, family, aspect, comment, data, path)

    def choices(self, place: LayoutPlace, part: JsonObject) -> Iterator[tuple[str, dict[str, None]]]:
        """Give which optional members are there: all combinations, or all pairs if there are many."""
        every = zip(part.members, place.inner, strict=True)
        paths = {member.name: inner.path for member, inner in every if member.optional}
        if not paths:
            yield "plain", {}
        elif len(paths) <= ALL_TOGETHER:
            for there in product((False, True), repeat=len(paths)):
                names = [name for name, is_there in zip(paths, there, strict=True) if is_there]
                yield f"with {' and '.join(names)}" if names else "plain", {paths[name]: None for name in names}
        else:
            factors = [Factor(name, (Option("", 0, (), name), Option(name, 0, (), name))) for name in paths]
            for row in covering([Arrangement(((),), {})], factors):
                names = [option.name for option in row.options if option.label]
                yield f"with {' and '.join(names)}" if names else "plain", {paths[name]: None for name in names}

    def more_twins(
        self, target: JsonTarget, there: list[MemberText], twice: MemberText, inner: LayoutPlace
    ) -> Iterator[Specimen]:
        """Give a member twice: with another value, in front, and escaped."""
        other = next((each for _, each in self.few(inner) if each != twice.value), b"null")
        for comment, members in (
            ("twice, with another value", [*there, twice._replace(value=other)]),
            ("twice, first of all", [twice, *there]),
            ("twice, once with an escape in its name", [*there, twice._replace(name=escaped(twice.name))]),
        ):
            yield self.edited(target, "members", DUPLICATE, comment, members, inner.path)

    def strange_members(self, target: JsonTarget, there: list[MemberText]) -> Iterator[Specimen]:
        """Give members that nobody knows, and those of other messages."""
        known = target.place.labels
        names = dict.fromkeys(("x", *(near(known) if target.full else ())), b"5")
        for name, value in names.items():
            if name not in known:
                comment = f"and a member {quoted(name)}, which is unknown"
                yield self.edited(target, "members", UNKNOWN_FIELD, comment, [*there, MemberText(spelled(name), value)])
        if target.full:
            for words, members in (
                ("first of all", [MemberText(b'"x"', b"5"), *there]),
                ("of null", [*there, MemberText(b'"x"', b"null")]),
                ("that is an object", [*there, MemberText(b'"x"', joined(there))]),
            ):
                yield self.edited(target, "members", UNKNOWN_FIELD, f'and a member "x", {words}', members)
        for name, place in {} if target.place.nested else self.fields.items():
            if name not in known:
                members = [*there, MemberText(spelled(name), self.composer.spell(place, {}))]
                comment = f"and the member {canonical(name)} of others"
                yield self.edited(target, "members", UNKNOWN_FIELD, comment, members)

    def respelled(self, target: JsonTarget, there: list[MemberText]) -> Iterator[Specimen]:
        """Give an object in other legal spellings."""
        if len(there) > 1:
            yield self.edited(target, "spellings", OTHER_ORDER, "in reverse order", there[::-1])
        if target.full:
            for shift in range(1, len(there)):
                words = f"in another order, {there[shift].name.decode()} first"
                yield self.edited(target, "spellings", OTHER_ORDER, words, there[shift:] + there[:shift])
        names = [each._replace(name=escaped(each.name)) for each in there]
        yield self.edited(target, "spellings", NAME_ESCAPED, "with an escape in every name", names)
        data = self.composer.frame({target.place.path: joined(there, BLANKS)})
        yield self.specimen(target, "spellings", WITHIN, "with white space of every kind wherever it may stand", data)

    def pairs(self, target: JsonTarget, part: JsonObject) -> Iterator[Specimen]:
        """Give a covering array over the members of an object, their order and their spelling."""
        factors = []
        for member, inner in zip(part.members, target.place.inner, strict=True):
            options = [Option(words, 0, (), member.name, None, (("", data),)) for words, data in self.few(inner)]
            if member.optional:
                options.insert(0, Option("absent", 0, (), member.name))
            if len(options) > 1:
                factors.append(Factor(member.name, tuple(options)))
        for words in ("reversed", "with white space", "with escapes"):
            factors.append(Factor(words, (Option("", 0, ()), Option(words, 0, ()))))
        for row in covering([Arrangement(((),), {})], factors):
            plan = {option.name: option.plan for option in row.options if option.name}
            found = [option.label for option in row.options]
            members = []
            for member, inner in zip(part.members, target.place.inner, strict=True):
                if member.name in plan and not plan[member.name]:
                    continue
                value = plan[member.name][0][1] if member.name in plan else self.composer.spell(inner, {})
                assert isinstance(value, bytes)
                name = spelled(member.name)
                members.append(MemberText(escaped(name) if "with escapes" in found else name, value))
            members = members[::-1] if "reversed" in found else members
            data = joined(members, b" " if "with white space" in found else b"")
            alike: dict[str, list[str]] = {}
            for option in row.options:
                alike.setdefault(option.label, []).append(option.name)
            words = ", ".join(" ".join((*names, label)).strip() for label, names in alike.items() if label)
            yield self.specimen(target, "pairs", "pairs", words, self.composer.frame({target.place.path: data}))

    def few(self, place: LayoutPlace) -> list[tuple[str, bytes]]:
        """Return some values of a place that are read without any doubt, in words and as they are spelled."""
        match place.part:
            case JsonText(names=names) if names:
                return [(name, spelled(name)) for name in names]
            case JsonText():
                return [
                    ("as usual", self.composer.spell(place, {})),
                    ("empty", b'""'),
                    ("with escapes", rb'"\"\u00fc"'),
                ]
            case JsonInteger(least=least, most=most):
                return [(number_words(number), str(number).encode()) for number in (least, most)]
            case JsonNumber(least=least):
                low = least or 0
                return [(number_words(low), str(low).encode()), (f"{low + 1.5}", str(low + 1.5).encode())]
            case JsonBool():
                return [("true", b"true"), ("false", b"false")]
            case JsonAnyValue():
                return [("5", b"5"), ("null", b"null"), ("a list of lists", b'[["a"]]')]
            case JsonEither():
                return [found for inner in place.inner for found in self.few(inner)]
            case JsonArray():
                (one, first), *others = self.few(place.inner[0])
                more = b",".join((first, *(data for _, data in others)))
                return [(f"of one: {one}", b"[" + first + b"]"), ("of several", b"[" + more + b"]")]
            case JsonMap():
                values = [data for _, data in self.few(place.inner[1])]
                return [("empty", b"{}"), ("of two", b'{"name":' + values[0] + b',"":' + values[-1] + b"}")]
            case _:
                return [("as usual", self.composer.spell(place, {}))]

    def limits(self, targets: list[JsonTarget]) -> Iterator[Specimen]:
        """Give the longest frame that a layout allows, and one that is longer by a byte."""
        for target in targets:
            if not isinstance(target.place.part, Limited):
                continue
            size = target.place.part.size
            full = self.composer.frame({})
            text = next((each for each in targets if each.place.part == JsonText() and not each.place.nested), None)
            if text is None:
                full += b" " * (size - len(full))
            else:
                rest = size - len(self.composer.frame({text.place.path: b'""'}))
                full = self.composer.frame({text.place.path: b'"' + b"a" * rest + b'"'})
            yield self.specimen(target, "values", FULL, f"of {size} bytes", full)
            yield self.specimen(target, "refused", TOO_LONG, f"of {size + 1} bytes", full + b" ")


def spelled(text: str) -> bytes:
    """Spell a text in the fewest characters."""
    return canonical(text).encode()


def decided(place: LayoutPlace) -> Iterator[tuple[LayoutPlace, str]]:
    """Give what else the members of a message that tell it apart can have."""
    for inner in place.inner:
        if inner.known and isinstance(inner.part, JsonText):
            yield from ((inner, name) for name in inner.part.names[1:])


def near(names: Sequence[str]) -> Iterator[str]:
    """Give names that are almost those of members."""
    yield from ("", " ", "type", "__proto__", "\u00fc", "x" * 300)
    for name in names:
        yield from (
            name.upper(),
            name.title(),
            name.replace("-", "_"),
            name.replace("-", ""),
            f" {name}",
            f"{name} ",
            f"{name}s",
        )
