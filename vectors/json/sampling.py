"""Texts of JSON and their values: what ``sampling`` does for binary layouts, with the same ``Choices``.

A canonical text has its members in the order of the layout. Where ``overlong`` is chosen, members may stand anywhere,
white space between them, names and texts are escaped, numbers have zeros and exponents: all that gives the same value.
"""

from collections.abc import Callable, Sequence
from typing import Any

from vectors.json import spelling
from wire.json.strict import LEAST, MOST, spell_number
from wire.kinds import (
    Json,
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonMember,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
)
from wire.kinds.generators import PATIENCE, Choices, Draw, NoGenerator, Numbers, Pair, Source
from wire.layout import Layout

MOST_ITEMS = 65535
"""Items of an array or members of a map, where choices set no bound."""

LEVELS = 3
"""Levels of arrays and objects where any value may stand: one in a list in an object has met all that there is."""


def json_drawing(layout: Layout, choices: Choices) -> Draw:
    """Compile what stands in a frame of JSON; ``NoGenerator`` for a part that is not known here."""
    root = layout.frame
    assert isinstance(root, Json)
    drawing = _JsonDrawing(choices)
    draw = drawing.part(root.node)
    if not choices.overlong:
        return draw
    around = choices.pick(spelling.AROUND)

    def surrounded(source: Source, numbers: Numbers) -> Pair:
        before, behind = around(source), around(source)
        value, data = draw(source, numbers)
        return value, before + data + behind

    return surrounded


class _JsonDrawing:
    """One compilation: equal parts become the same closure."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.known: dict[JsonPart, Draw] = {}
        self.style = choices.pick(spelling.STYLES if choices.overlong else spelling.STYLES[:1])
        self.ways = choices.pick(range(len(spelling.LETTERS)))

    def part(self, part: JsonPart) -> Draw:
        """Compile a part."""
        # Layouts share parts; compiling each once keeps closures few, and the processor's caches warm.
        if part not in self.known:
            self.known[part] = self.make(part)
        return self.known[part]

    def make(self, part: JsonPart) -> Draw:
        match part:
            case JsonText(names=()):
                return self.text(self.choices.letters())
            case JsonText(names=names):
                return self.text(self.choices.pick(names))
            case JsonInteger(least=least, most=most):
                return self.number(self.choices.integer(least, most))
            case JsonNumber(least=least):
                integer = self.number(self.choices.integer(*_range(least)))
                real = self.number(self.choices.real(least))
                return _one_of(self.choices, [integer, real])
            case JsonBool():
                pick = self.choices.pick(((False, b"false"), (True, b"true")))
                return lambda source, numbers: pick(source)
            case JsonAnyValue():
                return self.anything(LEVELS)
            case JsonEither(options=options):
                return _one_of(self.choices, [self.part(option) for option in options])
            case JsonArray(item=item):
                return self.array(self.part(item))
            case JsonMap(item=item):
                return self.map(self.part(item))
            case JsonObject(members=members):
                return self.object(members)
            case JsonUnion(messages=messages):
                return _one_of(self.choices, [self.part(each) for each in messages for _ in range(_share(each))])
        raise NoGenerator(f"{type(part).__name__} is not among the parts of which texts can be made")

    def anything(self, levels: int) -> Draw:
        draws = [self.part(each) for each in (JsonText(), JsonNumber(None), JsonBool())]
        draws.append(lambda source, numbers: (None, b"null"))
        if levels:
            inner = self.anything(levels - 1)
            draws += [self.array(inner), self.map(inner)]
        return _one_of(self.choices, draws)

    def spelled(self) -> Callable[[Source, str], bytes]:
        """Return what spells a text, or a name."""
        if not self.choices.overlong:
            return lambda source, text: spelling.LETTERS[0](text).encode()
        ways = self.ways
        return lambda source, text: spelling.LETTERS[ways(source)](text).encode()

    def text(self, letters: Callable[[Source], str]) -> Draw:
        spelled = self.spelled()

        def draw(source: Source, numbers: Numbers) -> Pair:
            text = letters(source)
            return text, spelled(source, text)

        return draw

    def number(self, made: Callable[[Source], int | float]) -> Draw:
        if not self.choices.overlong:

            def canonical(source: Source, numbers: Numbers) -> Pair:
                number = made(source)
                return number, spell_number(number).encode()

            return canonical
        way = self.choices.pick(range(16))

        def draw(source: Source, numbers: Numbers) -> Pair:
            number = made(source)
            ways = spelling.numerals(number)
            return number, ways[way(source) % len(ways)].encode()

        return draw

    def array(self, item: Draw) -> Draw:
        more, item, style = self.choices.more(0, MOST_ITEMS), self.choices.item(item), self.style

        def draw(source: Source, numbers: Numbers) -> Pair:
            white = style(source)
            values, pieces = list[Any](), list[bytes]()
            while more(source, len(values)):
                value, piece = item(source, numbers)
                values.append(value)
                pieces.append(piece)
            return values, _joined(b"[", pieces, b"]", white)

        return draw

    def map(self, item: Draw) -> Draw:
        more, style = self.choices.more(0, MOST_ITEMS), self.style
        member = self.choices.item(_named(self.text(self.choices.letters()), item))

        def draw(source: Source, numbers: Numbers) -> Pair:
            white = style(source)
            members: dict[str, tuple[object, bytes]] = {}
            # Names are drawn until there are enough different ones, and not for ever.
            for _ in range(PATIENCE * 4):  # of few names that can be chosen, all are soon there
                if not more(source, len(members)):
                    break
                ((name, called), (value, piece)), _ = member(source, numbers)
                if name not in members:
                    members[name] = value, _member(called, piece, white)
            pieces = [piece for _, piece in members.values()]
            return {name: value for name, (value, _) in members.items()}, _joined(b"{", pieces, b"}", white)

        return draw

    def object(self, members: Sequence[JsonMember]) -> Draw:
        there, spelled, style = self.choices.pick((False, True)), self.spelled(), self.style
        draws = [(member.name, member.optional, self.part(member.node)) for member in members]
        # How far before the end a member is put: where texts are canonical, not at all.
        places = [self.choices.pick(range(index + 1 if self.choices.overlong else 1)) for index in range(len(draws))]

        def draw(source: Source, numbers: Numbers) -> Pair:
            white = style(source)
            found: list[tuple[str, object, bytes]] = []
            for name, optional, part in draws:
                if optional and not there(source):
                    continue
                called = spelled(source, name)
                value, piece = part(source, numbers)
                # Members change places by steps back from the end: any order can come out, and none is built by
                # sorting.
                at = len(found) - places[len(found)](source)
                found.insert(at, (name, value, _member(called, piece, white)))
            pieces = [piece for _, _, piece in found]
            return {name: value for name, value, _ in found}, _joined(b"{", pieces, b"}", white)

        return draw


def _range(least: int | None) -> tuple[int, int]:
    return (LEAST if least is None else max(least, LEAST)), MOST


def _share(message: JsonObject | JsonUnion) -> int:
    """Return how often a message is chosen: a union of some counts as all of them."""
    # By messages, so that those of a nested union are not rarer than the others.
    return sum(map(_share, message.messages)) if isinstance(message, JsonUnion) else 1


def _one_of(choices: Choices, draws: Sequence[Draw]) -> Draw:
    pick = choices.pick(draws)
    return lambda source, numbers: pick(source)(source, numbers)


def _named(name: Draw, content: Draw) -> Draw:
    """Draw a member of a map; its value is the name and the value, each with its bytes."""
    return lambda source, numbers: ((name(source, numbers), content(source, numbers)), b"")


def _member(called: bytes, piece: bytes, white: spelling.Style) -> bytes:
    return b"%b%b:%b%b" % (called, white.before, white.colon, piece)


def _joined(opening: bytes, pieces: Sequence[bytes], closing: bytes, white: spelling.Style) -> bytes:
    if not pieces:
        return opening + white.opened + closing
    return b"%b%b%b%b%b" % (opening, white.opened, (b"," + white.comma).join(pieces), white.closed, closing)
