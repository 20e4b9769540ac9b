"""The generators of JSON: texts that are valid, spelled in every way, or wrong as their names say."""

import json
import math
import re
from collections import Counter
from itertools import islice
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from vectors import strategies
from vectors.json.scanner import pieces, scan
from vectors.json.spelling import LETTERS, TEXTS, beyond, integers, numerals, reals
from vectors.mutation import Mutator, mutate, mutations
from vectors.sampling import Sampler, stream
from wire import reference
from wire.catalogue import grammars, layout
from wire.engines import engine, present
from wire.errors import DecodeError, Reason
from wire.json.anything import JsonAnything
from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonBoolean,
    JsonEnum,
    JsonInt,
    JsonMapOf,
    JsonNumeric,
    JsonObjectOf,
    JsonOneOf,
    JsonOptional,
    JsonString,
)
from wire.json.strict import LEAST, MOST, parse
from wire.kinds import Json, Remainder
from wire.kinds import JsonArray as ArrayPart
from wire.kinds import JsonBool as BoolPart
from wire.kinds import JsonEither as EitherPart
from wire.kinds import JsonInteger as IntegerPart
from wire.kinds import JsonMap as MapPart
from wire.kinds import JsonNumber as NumberPart
from wire.kinds import JsonObject as ObjectPart
from wire.kinds import JsonText as TextPart
from wire.kinds import JsonUnion as UnionPart
from wire.kinds.edits import MAX_FOUND
from wire.kinds.generators import NoGenerator
from wire.layout import Layout, children, lay_out
from wire.primitives import LimitedTo

MESSAGE = "pathfinder/message"
IN_JSON = [name for name in grammars() if layout(name).is_json]
ALWAYS = {"pathfinder/message", "rai/publish", "rai/hello"}
"""The other shapes are made of the same parts: what is slow, CI plays with these."""

EACH = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ALWAYS else [pytest.mark.sweep]) for name in IN_JSON]
)
ONCE = settings(database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))

one = "one" / JsonObjectOf(
    "kind" / JsonEnum("one", "uno"), "on" / JsonBoolean(), "class" / JsonOptional(JsonEnum("x", "{y}"))
)
two = JsonOneOf(
    "two-a" / JsonObjectOf("kind" / JsonEnum("two"), "sub" / JsonEnum("a"), "n" / JsonInt(-5, 300)),
    "two-b" / JsonObjectOf("kind" / JsonEnum("two"), "sub" / JsonEnum("b", "c"), "kinds" / JsonArrayOf(JsonString())),
    by=("sub",),
)
ARTIFICIAL = {
    "union": LimitedTo(5000, JsonOneOf(one, two, by=("kind",))),
    "open": JsonObjectOf(
        "size" / JsonMapOf(JsonAnyOf(JsonString(), JsonNumeric(), JsonBoolean(), JsonArrayOf(JsonInt(7, 7)))),
        "kind" / JsonOptional(JsonObjectOf("kind" / JsonString(), "a.b" / JsonOptional(JsonObjectOf()))),
    ),
    "carried": JsonObjectOf("data" / JsonOptional(JsonMapOf(JsonAnything())), "other" / JsonAnything()),
    "scalar": JsonNumeric(least=1),
    "text": JsonString(),
    "flag": JsonBoolean(),
    "list": JsonArrayOf(JsonMapOf(JsonArrayOf(JsonInt(LEAST, -1)))),
    "small": LimitedTo(30, JsonObjectOf("a" / JsonArrayOf(JsonString()), "b" / JsonOptional(JsonNumeric()))),
}


def artificial(name):
    return lay_out(ARTIFICIAL[name], f"artificial/{name}")


def refusal(form, data):
    """Why a frame is refused, by a grammar or a layout's name."""
    try:
        reference.decode(form, data)
    except DecodeError as error:
        return error.reason
    return None


def same(one, other):
    """To the last bit, with the order of names."""
    return repr(one) == repr(other)


# Spellings


def test_every_spelling_gives_the_same_value():
    for text in TEXTS:
        for spelled in LETTERS:
            assert parse(spelled(text).encode()).value == text
    for number in (*integers(), *reals()):
        for spelled in numerals(number):
            assert same(parse(spelled.encode()).value, number), spelled
    assert LETTERS[0]("\u00e9/\n") == '"\u00e9/\\n"'
    assert numerals(1e16)[0] == "1e+16"


def test_boundaries_have_both_ends_and_what_lies_beyond():
    assert {LEAST, -1, 0, 1, (1 << 53) + 1, MOST} <= set(integers())
    assert integers(3, 5) == (3, 4, 5)
    assert (beyond(0, 300)[0] < -1) & (-1 in beyond(0, 300)) & (301 in beyond(0, 300)) & (max(beyond(0, 300)) > 1 << 64)
    assert not set(integers(0, 300)) & set(beyond(0, 300))
    assert all(real >= 0 for real in reals(0))
    assert any(math.copysign(1, real) < 0 for real in reals(0))


@EACH
def test_respelled_frames_give_the_same_value(name):
    sampler, codecs, different = Sampler(layout(name), Random(5)), [each.codec(name) for each in present(name)], 0
    assert len(codecs) >= 2
    for _ in range(600):
        value, frame = sampler.pair(overlong=True)
        assert all(same(codec.decode(frame), value) for codec in codecs)
        different += frame != codecs[0].encode(value)
    assert different > 500


def test_respelled_frames_have_everything_that_rfc_8259_allows():
    sampler = Sampler(layout(MESSAGE), Random(6))
    frames = [sampler.frame(overlong=True) for _ in range(2000)]
    for wanted in (
        b'"\\u',
        b"\\ud83d\\ude00",
        b"\\/",
        b"\r\n\t",
        b" : ",
        b"  {",
        b"\n  ",
        b"E+",
        b"e-",
        b":-0,",
        b"0000",
    ):
        assert any(wanted in frame for frame in frames), wanted
    orders = {tuple(json.loads(frame)) for frame in frames if b"ping" in frame}
    assert {("ta-cmd", "ta-id", "msg-type"), ("msg-type", "ta-id", "ta-cmd")} < orders


# Everything is reached


class Reached:
    """What some values reach, of what the parts of a tree could have."""

    def __init__(self, root):
        self.expected, self.seen = set(), set()
        for part in self.parts(root):
            key = part
            match part:
                case ObjectPart():
                    optional = [member.name for member in part.members if member.optional]
                    self.expected |= {(key, name, there) for name in optional for there in (True, False)}
                case UnionPart():
                    self.expected |= {(key, names) for names, _ in part.table()}
                case TextPart(names=()):
                    self.expected |= {(key, each) for each in ("empty", "short", "long", "control", "quote", "wide")}
                case TextPart(names=names):
                    self.expected |= {(key, name) for name in names}
                case IntegerPart():
                    self.expected |= {(key, part.least), (key, part.most)}
                    if part.least <= 0 and part.most > 1 << 60:
                        self.expected |= {(key, each) for each in (0, 1, 1 << 32, (1 << 53) + 1)}
                case NumberPart(least=least):
                    self.expected |= {(key, int), (key, float), (key, MOST)}
                    self.expected |= {(key, "minus zero")} if least is None or least <= 0 else set()
                case BoolPart():
                    self.expected |= {(key, True), (key, False)}
                case EitherPart():
                    self.expected |= {(key, type(option)) for option in part.options}
                case ArrayPart() | MapPart():
                    self.expected |= {(key, size) for size in range(5)}

    def parts(self, part):
        yield part
        for child in children(part):
            yield from self.parts(child)

    def visit(self, part, value):
        match part:
            case Json():
                self.visit(part.node, value)
            case ObjectPart():
                for member in part.members:
                    self.seen.add((part, member.name, member.name in value))
                    if member.name in value:
                        self.visit(member.node, value[member.name])
            case UnionPart():
                names = tuple(value[name] for name in part.by)
                self.seen.add((part, names))
                self.visit(dict(part.table())[names], value)
            case TextPart(names=()):
                self.seen |= {(part, each) for each in self.words(value)}
            case TextPart() | BoolPart() | IntegerPart():
                self.seen.add((part, value))
            case NumberPart():
                self.seen |= {(part, type(value)), (part, value)}
                if value == 0 and math.copysign(1, value) < 0:
                    self.seen.add((part, "minus zero"))
            case EitherPart():
                kinds = {
                    str: TextPart,
                    bool: BoolPart,
                    int: (NumberPart, IntegerPart),
                    float: NumberPart,
                    list: ArrayPart,
                }
                option = next(each for each in part.options if isinstance(each, kinds[type(value)]))
                self.seen.add((part, type(option)))
                self.visit(option, value)
            case ArrayPart() | MapPart():
                self.seen.add((part, len(value)))
                for each in value.values() if isinstance(value, dict) else value:
                    self.visit(part.item, each)

    @staticmethod
    def words(text):
        yield {0: "empty"}.get(len(text), "short" if len(text) < 20 else "long")
        yield from (word for word, some in (("control", "\x01\n\x1f"), ("quote", '"\\')) if set(some) & set(text))
        if any(ord(letter) > 0xFFFF for letter in text):
            yield "wide"

    def missing(self):
        return [(type(each[0]).__name__, *each) for each in self.expected - self.seen]


@pytest.mark.slow  # 40,000 values
@EACH
def test_everything_in_the_tree_is_reached(name):
    tree = layout(name)
    reached, sampler = Reached(tree.frame), Sampler(tree, Random(2))
    assert len(reached.expected) > (60 if name.startswith("pathfinder/") else 10)  # one shape of Rai's has few fields
    for _ in range(40_000):
        reached.visit(tree.frame, sampler.value())
    assert reached.missing() == []


def test_messages_get_their_share():
    sampler, count = Sampler(layout(MESSAGE), Random(4)), 8000
    values = [sampler.value() for _ in range(count)]
    kinds = Counter((value["ta-cmd"], value["msg-type"], value.get("match-type") == "disappeared") for value in values)
    assert len(kinds) == 36
    assert min(kinds.values()) > count / 36 / 2
    assert 0.4 < sum("filter" in value for value in values if value["msg-type"] == "request") / kinds.total() * 18 < 4


def test_long_texts_are_rare_but_there():
    sampler = Sampler(layout(MESSAGE), Random(6))
    frames = [sampler.frame() for _ in range(30_000)]
    assert 80 < sum(map(len, frames)) / len(frames) < 300
    assert max(map(len, frames)) > 1 << 14


# Grammars of this test


@pytest.mark.parametrize("name", ARTIFICIAL)
def test_any_grammar_has_its_generators(name):
    grammar, tree = ARTIFICIAL[name], artificial(name)
    reached, sampler = Reached(tree.frame), Sampler(tree, Random(1))
    for _ in range(500):
        value, frame = sampler.pair()
        assert reference.encode(grammar, value) == frame
        assert same(reference.decode(grammar, frame), value)
        value, frame = sampler.pair(overlong=True)
        assert same(reference.decode(grammar, frame), value)
        reached.visit(tree.frame, value)
    for _ in range(9000):
        reached.visit(tree.frame, sampler.value())
    assert name == "small" or not reached.missing()


@pytest.mark.parametrize("name", ARTIFICIAL)
def test_any_grammar_has_its_mutations(name):
    grammar, accepted, refused = ARTIFICIAL[name], 0, Counter()
    for frame, names in islice(stream(artificial(name), 3), 1500):
        reason = refusal(grammar, frame)
        if reason is None:
            accepted += 1
        else:
            assert names
            refused[reason] += 1
    assert accepted >= 750
    assert {Reason.BAD_SYNTAX, Reason.WRONG_TYPE, Reason.TRAILING, Reason.TRUNCATED} <= set(refused)


@pytest.mark.parametrize("name", ARTIFICIAL)
def test_any_grammar_has_its_strategies(name):
    grammar, seen = ARTIFICIAL[name], []

    @settings(ONCE, max_examples=40, phases=[Phase.generate])
    @given(strategies.values(artificial(name)), strategies.frames(artificial(name), overlong=True))
    def check(value, frame):
        assert same(reference.decode(grammar, reference.encode(grammar, value)), value)
        assert refusal(grammar, frame) is None
        seen.append(frame)

    check()
    assert len(set(seen)) > 3


def test_limits_are_kept_and_reached():
    sampler = Sampler(artificial("small"), Random(1))
    lengths = Counter(len(sampler.frame()) for _ in range(3000))
    assert max(lengths) == 30


def test_another_kind_of_part_is_named():
    with pytest.raises(NoGenerator, match="Remainder"):
        Sampler(Layout("x/y", Json(Remainder(True))), Random(1))
    with pytest.raises(NoGenerator, match="Remainder"):
        mutations(Layout("x/y", Json(Remainder(True))))


# Mutations

LEAVES = TextPart | IntegerPart | NumberPart | BoolPart


WITHIN_MAP = re.compile(r"service-props|data\b")


def has_names(part):
    """Tell whether a text somewhere in a tree is one of some names."""
    return (isinstance(part, TextPart) and bool(part.names)) or any(map(has_names, children(part)))


def members_of(part):
    """Give the members of all objects in a tree."""
    yield from part.members if isinstance(part, ObjectPart) else ()
    for child in children(part):
        yield from members_of(child)


def is_found(path):
    """Tell whether a place is among those that are looked at: of long lists only the first items are."""
    return all(int(index) < MAX_FOUND for index in re.findall(r"\[(\d+)\]", path))


@EACH
def test_spans_are_those_of_the_reference_engine(name):
    sampler, known = Sampler(layout(name), Random(9)), mutations(layout(name))
    for number in range(300):
        frame, expected = sampler.frame(overlong=number % 2 > 0), []
        reference.decode(name, frame, spans=expected)
        spans = [each[:2] for each in known.spans(frame) if isinstance(each.part, LEAVES) and each.path.count("{") == 0]
        # Empty lists are no leaves.
        leaves = (each for each in expected if not isinstance(each.value, list | dict))
        wanted = [each[:2] for each in leaves if not WITHIN_MAP.match(each.path) and is_found(each.path)]
        members = {each for each in spans if frame[each[1] : each[1] + 1] != b":"}
        assert [each for each in spans if each in set(wanted)] == wanted
        assert members >= set(wanted)


def test_frames_that_cannot_be_read_are_mutated_too():
    tree, rng = layout(MESSAGE), Random(1)
    for frame in (
        b"",
        b"{",
        b"}",
        b'{"ta-cmd"',
        b"\xff" * 9,
        b"[" * 3000,
        b'{"ta-cmd":"ping","ta-id":7,"msg-type":"x"}',
    ):
        for _ in range(60):
            mutated, names = mutate(tree, frame, rng)
            assert mutated != frame
            assert names


def test_a_scan_goes_as_far_as_it_can():
    data = b'{"a" : [1, "x", {"b":nul}], "c":tru e, "d":1}'
    assert [data[each.start : each.end] for each in pieces(scan(data))][1:5] == [
        *(b'[1, "x", {"b":nul}]', b"1", b'"x"', b'{"b":nul}'),
    ]
    assert [name for name, *_ in scan(data).members(data)] == ["a", "c"]
    assert scan(b" ,") is None
    assert len([*pieces(scan(b"[" * 100_000))]) == 100


REASONS = {
    "retype": {Reason.WRONG_TYPE},
    "nest": {Reason.WRONG_TYPE, Reason.TOO_LONG, Reason.MISSING_FIELD},
    "respell": {None},
    "swap in": {None},
    "white space": {None},
    "minus zero in": {None},
    "boundary in": {None},
    "surrogate pair in": {None},
    "another text in": {None},
    "empty": {None},
    "grow": {None},
    "doubled": {Reason.DUPLICATE_NAME},
    "missing": {Reason.MISSING_FIELD, None},
    "renamed": {Reason.UNKNOWN_FIELD, Reason.MISSING_FIELD},
    "unknown field in": {Reason.UNKNOWN_FIELD},
    "wrong name in": {Reason.UNKNOWN_ID},
    "out of range in": {Reason.OUT_OF_RANGE},
    "many digits in": {Reason.OUT_OF_RANGE},
    "beyond any double in": {Reason.OUT_OF_RANGE},
    "fraction in": {Reason.WRONG_TYPE},
    "exponent in ta-id": {Reason.WRONG_TYPE},
    "malformed number in": {Reason.BAD_SYNTAX},
    "not a number in": {Reason.BAD_SYNTAX},
    "leading zero in": {Reason.BAD_SYNTAX},
    "plus sign in": {Reason.BAD_SYNTAX},
    "raw control character in": {Reason.BAD_SYNTAX},
    "bad escape in": {Reason.BAD_SYNTAX},
    "escaped NUL in": {Reason.BAD_TEXT},
    "half surrogate pair in": {Reason.BAD_TEXT},
    "not UTF-8 in": {Reason.BAD_TEXT},
    "bad text as name of": {Reason.BAD_TEXT, Reason.BAD_SYNTAX},
    "comma": {Reason.BAD_SYNTAX},
    "colon missing or wrong in": {Reason.BAD_SYNTAX},
    "value missing in": {Reason.BAD_SYNTAX},
    "no text as name of": {Reason.BAD_SYNTAX},
    "wrong end of": {Reason.BAD_SYNTAX},
    "odd white space in": {Reason.BAD_SYNTAX},
    "odd white space before frame": {Reason.BAD_SYNTAX},
    "odd white space behind frame": {Reason.TRAILING},
    "single quotation marks around": {Reason.BAD_SYNTAX},
    "no quotation marks around": {Reason.BAD_SYNTAX, Reason.WRONG_TYPE, Reason.OUT_OF_RANGE, None},  # "-1", "null"
    "byte order mark": {Reason.BAD_SYNTAX},
    "another encoding of frame": {Reason.BAD_SYNTAX},
    "trailing data": {Reason.TRAILING},
    "frame twice": {Reason.TRAILING},
    "brackets without end": {Reason.TRUNCATED, Reason.TOO_LONG},
    "append past the limit": {Reason.TOO_LONG},
}
"""What comes of a mutation of a valid frame, by how its name begins."""

OF_ONE_SHAPE = {"nest": {Reason.UNKNOWN_FIELD, None}, "no quotation marks around": {Reason.TRUNCATED}}
"""What may come as well of a message of one shape, which knows no member of another name; within what may be any value,
anything may be nested, and what ends Rai's messages is often a text, such as ``{``."""


@pytest.mark.sweep
@pytest.mark.slow  # 30,000 frames
@EACH
def test_mutations_do_what_their_names_say(name):
    sampler, mutator, seen, came = Sampler(layout(name), Random(11)), Mutator(layout(name), Random(12)), Counter(), {}
    codec, is_union = engine("python").codec(name), isinstance(layout(name).frame.node, UnionPart)
    for number in range(30_000):
        frame = sampler.frame(overlong=number % 4 == 0)
        mutated, names = mutator.mutate(frame, (frame, b'{"ta-cmd":"ping"}'))
        assert mutated != frame
        if len(names) > 1:
            continue
        kind = next((start for start in REASONS if names[0].startswith(start)), None)
        seen[kind] += 1
        if kind is None:
            continue
        try:
            codec.decode(mutated)
            reason = None
        except DecodeError as error:
            reason = error.reason
        expected = REASONS[kind] | (set() if is_union else OF_ONE_SHAPE.get(kind, set()))
        assert reason in expected, (names, frame, mutated)
        came.setdefault(kind, set()).add(reason)
    never = set() if name.startswith("pathfinder/") else {"exponent in ta-id"}
    never |= set() if has_names(layout(name).frame) else {"wrong name in"}
    assert min(seen[kind] for kind in REASONS if kind not in never) > 0, seen
    needed = {member.optional for member in members_of(layout(name).frame)}
    assert came["missing"] == {None if optional else Reason.MISSING_FIELD for optional in needed}
    # Which message it is, is looked for first: if that is gone, it is what is missed.
    assert came["renamed"] == {Reason.UNKNOWN_FIELD, *([Reason.MISSING_FIELD] if is_union else [])}


@pytest.mark.slow  # 20,000 frames
def test_names_of_mutations_end_with_the_field():
    frames = islice(stream(layout(MESSAGE), 2), 20_000)
    seen = Counter(name for _, names in frames for name in names)
    for wanted in (
        "missing ttl",
        "doubled ta-id",
        "renamed service-id",
        "retype service-props{}",
        "wrong name in ta-cmd",
    ):
        assert seen[wanted] > 0
    assert seen["doubled service-props{}"] > 0
    assert sum(count for each, count in seen.items() if each.endswith(" service-props{}[]")) > 30
    assert seen["another name in match-type"] > 0


@pytest.mark.slow  # 16,000 frames
@EACH
def test_streams_are_half_valid_and_reach_every_reason(name):
    total, reasons, valid = 16_000, Counter(), 0
    codec = engine("python").codec(name)
    for frame, names in islice(stream(layout(name), 1), total):
        valid += not names
        try:
            codec.decode(frame)
            reasons[None] += 1
        except DecodeError as error:
            assert names
            reasons[error.reason] += 1
    assert valid == total / 2
    assert reasons[None] < total * 0.65
    never = {Reason.OVERLONG, Reason.RESERVED, Reason.BAD_VALUE}  # what only a binary frame can be
    never |= set() if has_names(layout(name).frame) else {Reason.UNKNOWN_ID}
    # Few fields of Rai's messages are numbers, which alone can be out of range.
    least = total / (150 if name.startswith("pathfinder/") else 200)
    assert min(reasons[each] for each in Reason if each not in never) > least, reasons
    assert not never & set(reasons)


def test_mutated_frames_name_their_mutations():
    @settings(ONCE, max_examples=60)
    @given(strategies.named_mutated(layout(MESSAGE)))
    def check(pair):
        assert 1 <= len(pair[1]) <= 4

    check()
