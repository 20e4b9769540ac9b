"""Strict JSON, the constructs that declare it, their tree, and the generated engine against the reference."""

import json
import math
import random
import re
import sys
import time
from enum import Enum, IntEnum
from types import SimpleNamespace

import pytest
from construct import Struct
from hypothesis import given
from hypothesis import strategies as st

from wire import catalogue, kinds
from wire.dump import Spans, TooManyFields
from wire.emit import python as emitter
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
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
from wire.json.strict import DEEPEST, parse, spell
from wire.kinds import Json, JsonMember
from wire.kinds.base import walk
from wire.layout import lay_out
from wire.pathfinder import LAYOUTS
from wire.primitives import LimitedTo, Unsigned
from wire.reference import decode, encode


def plain(node):
    """What a node stands for, without offsets."""
    if isinstance(node.value, dict):
        return {name: plain(member.node) for name, member in node.value.items()}
    return [plain(item) for item in node.value] if isinstance(node.value, list) else node.value


def refused(data):
    with pytest.raises(DecodeError) as caught:
        parse(data)
    return caught.value.reason.value, caught.value.offset


VALID = [
    (b"0", 0),
    (b"-0", 0),
    (b"-1", -1),
    (b"9223372036854775807", 2**63 - 1),
    (b"-9223372036854775808", -(2**63)),
    (b"1.0", 1.0),
    (b"-0.0", -0.0),
    (b"1e2", 100.0),
    (b"1E+2", 100.0),
    (b"12.5e-1", 1.25),
    (b"1e-400", 0.0),
    (b"0e999999999999999999999", 0.0),
    (b"1.7976931348623157e308", sys.float_info.max),
    (b" \t\r\n1\n", 1),
    (b"true", True),
    (b"false", False),
    (b"null", None),
    (b'""', ""),
    (b'"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'),
    (b'"\\u0041\\u00e9\\uFFff"', "A\u00e9\uffff"),
    (b'"\\ud83d\\uDE00"', "\U0001f600"),
    (b'"\x7f\xc2\x80\xe2\x80\xa8\xf0\x9f\x98\x80"', "\x7f\x80\u2028\U0001f600"),
    (b"[]", []),
    (b"[ ]", []),
    (b"{}", {}),
    (b'{ "a" : [ 1 , { "b" : null } ] , "" : "" }', {"a": [1, {"b": None}], "": ""}),
    (b"[" * DEEPEST + b"]" * DEEPEST, eval("[" * DEEPEST + "]" * DEEPEST)),
]


@pytest.mark.parametrize(("data", "value"), VALID)
def test_what_is_json(data, value):
    assert repr(plain(parse(data))) == repr(value)


INVALID = [
    (b"", "truncated", 0),
    (b" ", "truncated", 1),
    (b"tru", "truncated", 3),
    (b"-", "truncated", 1),
    (b"1.", "truncated", 2),
    (b"1e", "truncated", 2),
    (b"1e+", "truncated", 3),
    (b'"', "truncated", 1),
    (b'"\\', "truncated", 2),
    (b'"\\u00', "truncated", 5),
    (b'"\\ud83d', "truncated", 7),
    (b'"\\ud83d\\', "truncated", 8),
    (b'"\xc3', "truncated", 2),
    (b'"\xf0\x9f\x98', "truncated", 4),
    (b"[", "truncated", 1),
    (b"[1,", "truncated", 3),
    (b'{"a"', "truncated", 4),
    (b'{"a":', "truncated", 5),
    (b'{"a":1', "truncated", 6),
    (b'{"a":1,', "truncated", 7),
    (b"01", "bad-syntax", 1),
    (b"-01", "bad-syntax", 2),
    (b"00", "bad-syntax", 1),
    (b"+1", "bad-syntax", 0),
    (b".5", "bad-syntax", 0),
    (b"1.x", "bad-syntax", 2),
    (b"1e.", "bad-syntax", 2),
    (b"--1", "bad-syntax", 1),
    (b"0x10", "trailing", 1),
    (b"1_0", "trailing", 1),
    (b"NaN", "bad-syntax", 0),
    (b"Infinity", "bad-syntax", 0),
    (b"-Infinity", "bad-syntax", 1),
    (b"True", "bad-syntax", 0),
    (b"nulL", "bad-syntax", 3),
    (b"'a'", "bad-syntax", 0),
    (b"\xef\xbb\xbf{}", "bad-syntax", 0),
    (b"\xfe\xff\x00{", "bad-syntax", 0),
    (b"\x0c1", "bad-syntax", 0),
    (b"\xc2\xa01", "bad-syntax", 0),
    (b'"a\nb"', "bad-syntax", 2),
    (b'"\x00"', "bad-syntax", 1),
    (b'"\x1f"', "bad-syntax", 1),
    (b'"\\x"', "bad-syntax", 2),
    (b'"\\U0041"', "bad-syntax", 2),
    (b'"\\u00g0"', "bad-syntax", 5),
    (b'"\\u 041"', "bad-syntax", 3),
    (b"[1,]", "bad-syntax", 3),
    (b"[,1]", "bad-syntax", 1),
    (b"[1 2]", "bad-syntax", 3),
    (b"[1}", "bad-syntax", 2),
    (b"{1:2}", "bad-syntax", 1),
    (b'{"a" 1}', "bad-syntax", 5),
    (b'{"a":1,}', "bad-syntax", 7),
    (b'{"a":1 "b":2}', "bad-syntax", 7),
    (b'{"a":1]', "bad-syntax", 6),
    (b"// 1", "bad-syntax", 0),
    (b"[/**/]", "bad-syntax", 1),
    (b'"\xff"', "bad-text", 1),
    (b'"ab\xc0\x80"', "bad-text", 3),
    (b'"\xed\xa0\x80"', "bad-text", 1),
    (b'"\xf4\x90\x80\x80"', "bad-text", 1),
    (b'"\xc3"', "bad-text", 1),
    (b'"a\\u0000"', "bad-text", 2),
    (b'"\\ud800"', "bad-text", 1),
    (b'"\\udc00"', "bad-text", 1),
    (b'"\\ude00\\ud83d"', "bad-text", 1),
    (b'"\\ud83d\\u0041"', "bad-text", 1),
    (b'"\\ud83dx"', "bad-text", 1),
    (b'"\\ud83d\\n"', "bad-text", 1),
    (b'{"\\u0000":1}', "bad-text", 2),
    (b"9223372036854775808", "out-of-range", 0),
    (b"-9223372036854775809", "out-of-range", 0),
    (b"[1,18446744073709551616]", "out-of-range", 3),
    (b"1e400", "out-of-range", 0),
    (b"-1e400", "out-of-range", 0),
    (b'{"a":1,"a":2}', "duplicate-name", 7),
    (b'{"a":1,"\\u0061":2}', "duplicate-name", 7),
    (b'{"x":{"b":1,"b":2}}', "duplicate-name", 12),
    (b"[" * (DEEPEST + 1), "too-long", DEEPEST),
    (b'{"a":' * DEEPEST + b"{", "too-long", 5 * DEEPEST),
    (b"{}{}", "trailing", 2),
    (b"{} x", "trailing", 3),
    (b"{}\x00", "trailing", 2),
    (b"{}\xff", "trailing", 2),
    (b"1,", "trailing", 1),
]


@pytest.mark.parametrize(("data", "reason", "offset"), INVALID)
def test_what_is_not_json(data, reason, offset):
    assert refused(data) == (reason, offset)


def test_the_first_error_in_the_text_counts():
    assert refused(b'["\xff",01]') == ("bad-text", 2)
    assert refused(b'[01,"\xff"]') == ("bad-syntax", 2)
    assert refused(b'{"a":99999999999999999999,"a":01}') == ("out-of-range", 5)


def test_refusals_name_the_path():
    paths = {
        b'{"a":{"b c":[1,01]}}': 'a."b c"[1]',
        b"[[tru]]": "[0][0]",
        b"01": "(frame)",
        b'{"a":1,"a":2}': "a",
        b'{"' + b"n" * 10_000 + b'":01}': '"' + "n" * 40 + '"\u2026',
    }
    for data, path in paths.items():
        with pytest.raises(DecodeError) as caught:
            parse(data)
        assert caught.value.path == path


# Made when they are asked for: together they take 10 MB.
HOSTILE = {
    "deep arrays": lambda: b"[" * 200_000,
    "deep objects": lambda: b'{"a":' * 200_000,
    "a long integer": lambda: b"9" * 1_000_000,
    "a long negative integer": lambda: b"-" + b"9" * 10_000,
    "a long fraction": lambda: b"0." + b"1" * 1_000_000 + b"x",
    "a long exponent": lambda: b"1e" + b"9" * 1_000_000,
    "zeros": lambda: b"0" * 1_000_000,
    "backslashes": lambda: b'"' + b"\\" * 1_000_001 + b'"',
    "surrogates": lambda: b'"' + b"\\ud83d" * 100_000 + b'"',
    "quotes": lambda: b'"' * 1_000_001,
    "white space": lambda: b" " * 1_000_000,
    "nameless": lambda: b"{" + b'"":1,' * 100_000 + b"}",
    "long names": lambda: b'{"' + b"n" * 100_000 + b'":[' + b"1," * 50_000 + b"x",
    "bad UTF-8": lambda: b'"' + b"a" * 1_000_000 + b"\x80" + b'"',
    "half a character": lambda: b'"' + b"\xf0\x9f\x98" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_end_soon(name):
    start = time.process_time()
    with pytest.raises(DecodeError) as caught:
        parse(HOSTILE[name]())
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 1000


def test_a_frame_has_a_limit():
    grammar = LimitedTo(1000, JsonString())
    assert decode(grammar, b'"' + b"a" * 998 + b'"') == "a" * 998
    for length in (1001, 1_000_000):
        with pytest.raises(DecodeError) as caught:
            decode(grammar, b'"' + b"\\" * (length - 1))
        assert (caught.value.reason, caught.value.offset) == (Reason.TOO_LONG, 1000)
    with pytest.raises(EncodeError, match="at most 1000"):
        encode(grammar, "a" * 999)


# The standard library made strict: another opinion about what JSON is.


def strict_pairs(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate")
    return dict(pairs)


def strict_int(text):
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError("range")
    return int(text)


def strict_float(text):
    if math.isinf(float(text)):
        raise ValueError("range")
    return float(text)


def no_constant(text):
    raise ValueError(text)


def sane(value, depth=0):
    if isinstance(value, str):
        value.encode()
        return "\0" not in value
    if isinstance(value, dict | list):
        inner = [*value, *value.values()] if isinstance(value, dict) else value
        return depth < DEEPEST and all(sane(each, depth + 1) for each in inner)
    return True


LIBRARY = json.JSONDecoder(
    object_pairs_hook=strict_pairs, parse_int=strict_int, parse_float=strict_float, parse_constant=no_constant
)


def library(data):
    """The value in a list, or None."""
    try:
        value = LIBRARY.decode(data.decode())
        return [value] if sane(value) else None
    except (ValueError, RecursionError):
        return None


PIECES = [
    *(bytes([byte]) for byte in b'{}[]:,"\\ \t\n0123456789-+.eEaubnft/\x00\x1f\x7f\x80\xc3\xed\xff'),
    *(data for data, *_ in VALID + INVALID if len(data) < 30),
    b'"a"',
    b'"b":',
    b'"a":1,',
    b"\\u0061",
    b"\\u0000",
    b"\\ud83d\\ude00",
    b"\\ud83d",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"true",
    b"null",
    b"1e400",
    b"1.0",
    b"9223372036854775807",
    b"9223372036854775808",
]


def mutated(data, rng):
    """One small change, or a few."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        match rng.randrange(7):
            case 0:
                data = data[:at] + rng.choice(PIECES) + data[at:]
            case 1:
                data = data[:at] + rng.choice(PIECES) + data[at + 1 :]
            case 2:
                data = data[:at] + data[at + 1 :]
            case 3 if end - at < 60:
                data = data[:at] + data[end:]
            case 4 if end - at < 60:
                data = data[:end] + data[at:end] + data[end:]
            case 5:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case _:
                tokens = list(re.finditer(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null', data))
                if tokens:
                    token = rng.choice(tokens)
                    other = rng.choice([*PIECES, *(each[0] for each in tokens)])
                    data = data[: token.start()] + other + data[token.end() :]
    return data


def any_value(rng, depth=0):
    match rng.randrange(9 if depth < 4 else 7):
        case 0:
            return rng.choice((None, True, False))
        case 1 | 2:
            return number_of(rng)
        case 3:
            return rng.choice((0.5, -0.0, 1e300, 5e-324, rng.random(), rng.uniform(-1e9, 1e9)))
        case 4 | 5 | 6:
            return text_of(rng)
        case 7:
            return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
        case _:
            return {text_of(rng): any_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def number_of(rng, least=-(2**63), most=2**63 - 1):
    edge = rng.choice((least, most, 0, 1, -1, rng.randint(-300, 300), rng.randint(least, most)))
    return min(max(edge, least), most)


def text_of(rng):
    alphabet = 'ab"\\/\n\t\x01\x1f\x7f\xe9\u2028\ud7ff\ue000\U0001f600{}:,'
    return "".join(rng.choice(alphabet) for _ in range(rng.choice((0, 1, 1, 2, 3, 8))))


def spelled(value, rng):
    """A text for a value: white space, order, escapes and exponents as they come."""
    white = lambda: rng.choice(("", "", "", "", " ", "\n", "\t\r ")) if rng else ""  # noqa: E731
    match value:
        case dict():
            members = list(value.items())
            rng.shuffle(members)
            inside = ",".join(
                f"{white()}{spelled(name, rng)}{white()}:{white()}{spelled(each, rng)}{white()}"
                for name, each in members
            )
            return f"{{{inside or white()}}}"
        case list():
            return "[" + (",".join(f"{white()}{spelled(each, rng)}{white()}" for each in value) or white()) + "]"
        case str():
            return '"' + "".join(character(each, rng) for each in value) + '"'
        case float():
            return rng.choice((repr(value), f"{value:.17e}", f"{value:.20E}"))
        case _:
            return json.dumps(value)


def character(each, rng):
    short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t"}
    escaped = json.dumps(each)[1:-1] if each in '"\\/' or ord(each) < 32 or ord(each) > 126 else f"\\u{ord(each):04x}"
    must = each in '"\\' or ord(each) < 32
    if each in '"\\/' and rng.random() < 0.3:
        escaped = f"\\u{ord(each):04X}"
    elif each in short and rng.random() < 0.7:
        escaped = short[each]
    return escaped if must or rng.random() < 0.1 else each


def test_the_library_made_strict_agrees():
    rng = random.Random(1)
    accepted, ends = 0, set()
    for number in range(20_000):
        data = spelled(any_value(rng), rng).encode()
        if number % 4:
            data = mutated(data, rng)
        expected = library(data)
        try:
            found = [plain(parse(data))]
        except DecodeError as error:
            found = None
            ends.add((error.offset < len(data), error.reason is Reason.TRUNCATED))
        assert repr(found) == repr(expected), data
        accepted += found is not None
    assert 7_000 < accepted < 15_000
    assert ends == {(True, False), (False, True)}  # at a byte that is there, or truncated at the end


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_every_beginning_of_an_object_is_truncated(count):
    rng = random.Random(2)
    for _ in range(count):
        data = spelled({"a": any_value(rng), "b\xe9": any_value(rng)}, rng).encode()
        for end in range(len(data)):
            assert refused(data[:end]) == ("truncated", end)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_text_is_spelled_with_the_fewest_escapes(text):
    spelling = spell(text)
    assert plain(parse(spelling.encode())) == text
    assert len(spelling) == len(json.dumps(text, ensure_ascii=False))


# What is declared.

NAMES = JsonAnyOf(JsonString(), JsonInt(-5, 5), JsonBoolean(), JsonArrayOf(JsonNumeric()), JsonMapOf(JsonBoolean()))
SMALL = JsonOneOf(
    "one"
    / JsonObjectOf(
        "kind" / JsonEnum("one", "uno"),
        'it\'s "{odd}" \u00e9\n' / JsonOptional(NAMES),
        "class" / JsonOptional(JsonEnum("x", "{y}")),
    ),
    JsonOneOf(
        "two" / JsonObjectOf("sub" / JsonEnum("a"), "kind" / JsonEnum("two"), "n" / JsonNumeric()),
        "two-b"
        / JsonObjectOf(
            "maybe" / JsonOptional(JsonNumeric(least=-3)),
            "sub" / JsonEnum("b", "c"),
            "kind" / JsonEnum("two"),
            "inner" / JsonObjectOf("a-b" / JsonString(), "a_b" / JsonOptional(JsonArrayOf(JsonString()))),
            "value" / JsonArrayOf(JsonArrayOf(JsonBoolean())),
        ),
        by=("sub",),
    ),
    by=("kind",),
)
OPEN = JsonObjectOf(
    "first" / JsonOptional(JsonBoolean()), "second" / JsonOptional(JsonObjectOf()), "size" / JsonMapOf(NAMES)
)

CARRIED = JsonObjectOf(
    "data" / JsonMapOf(JsonAnything()), "other" / JsonAnything(), "more" / JsonOptional(JsonArrayOf(JsonAnything()))
)

GRAMMARS = {
    "test/small": LimitedTo(400, SMALL),
    "test/open": OPEN,
    "test/scalar": JsonNumeric(least=0),
    "test/list": JsonArrayOf(JsonEnum("a", "b")),
    "test/carried": CARRIED,
    "test/message": LAYOUTS["message"],
}


@pytest.fixture(scope="module", autouse=True)
def named():
    """The grammars of this file are layouts while it runs."""
    known = catalogue.grammars_of("test")
    before = dict(known)
    known.update(GRAMMARS)
    yield
    known.clear()
    known.update(before)


@pytest.fixture(scope="module")
def generated():
    """The engine that is generated from them: its module."""
    layouts = [lay_out(grammar, name) for name, grammar in GRAMMARS.items()]
    module: dict = {}
    exec(compile(emitter.emit("test", layouts), "generated", "exec"), module)
    return SimpleNamespace(**module, globals=module)


def valid(part, rng):
    """A value of a part of a tree."""
    match part:
        case kinds.JsonText(names=names):
            return rng.choice(names) if names else text_of(rng)
        case kinds.JsonInteger():
            return number_of(rng, part.least, part.most)
        case kinds.JsonNumber(least=least):
            whole = number_of(rng, -(2**63) if least is None else least)
            return rng.choice((whole, float(abs(whole)), rng.random() * 1e10, -0.0))
        case kinds.JsonBool():
            return rng.random() < 0.5
        case kinds.JsonAnyValue():
            return any_value(rng)
        case kinds.JsonEither():
            return valid(rng.choice(part.options), rng)
        case kinds.JsonArray():
            return [valid(part.item, rng) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
        case kinds.JsonMap():
            return {text_of(rng): valid(part.item, rng) for _ in range(rng.choice((0, 1, 2, 3)))}
        case kinds.JsonObject():
            there = [member for member in part.members if not member.optional or rng.random() < 0.5]
            return {member.name: valid(member.node, rng) for member in there}
        case kinds.JsonUnion():
            return valid(rng.choice(part.messages), rng)
        case kinds.Json() | kinds.Limited():
            return valid(part.node, rng)
    raise AssertionError(part)


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except DecodeError as error:
        return error.reason, error.offset, error.path
    except EncodeError as error:
        return str(error)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        *(("small", 1_000), ("open", 600), ("scalar", 400), ("list", 300), ("carried", 600), ("message", 1_000)),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("small", 10_000), ("open", 6_000), ("scalar", 4_000), ("list", 3_000), ("message", 10_000))
        ),
    ],
)
def test_the_generated_engine_agrees_on_texts(generated, name, count):
    rng = random.Random(name)
    grammar = GRAMMARS[f"test/{name}"]
    tree = lay_out(grammar).root
    codec = generated.CODECS[name]
    accepted, written = 0, 0
    for number in range(count):
        data = spelled(valid(tree, rng), rng).encode()
        if number % 5:
            data = mutated(data, rng)
        expected = outcome(decode, grammar, data)
        assert outcome(codec.decode, data) == expected, data
        if isinstance(expected, str):
            accepted += 1
            value = codec.decode(data)
            canonical = outcome(encode, grammar, value)
            assert outcome(codec.encode, value) == canonical
            if canonical.startswith("b"):  # else it is longer than the frame may be: 1e9 is 1000000000.0
                assert codec.decode(codec.encode(value)) == decode(grammar, codec.encode(value)) == value
                written += 1
    assert accepted * 0.99 < written
    assert count * 0.2 < accepted < count * 0.9


@pytest.mark.parametrize("name", ["small", "open", "scalar", "list", "carried", "message"])
def test_the_generated_engine_agrees_on_values(generated, name):
    rng = random.Random(name)
    grammar = GRAMMARS[f"test/{name}"]
    tree = lay_out(grammar).root
    codec = generated.CODECS[name]
    outcomes = {True: 0, False: 0}
    for number in range(3_000):
        value = valid(tree, rng)
        if number % 3:
            value = meddled(value, rng)
        expected = outcome(encode, grammar, value)
        assert outcome(codec.encode, value) == expected, value
        outcomes[expected.startswith("b")] += 1
    assert min(outcomes.values()) > 300


class Word(str, Enum):  # noqa: UP042 - not a StrEnum: its str() is not its text
    TWO = "two"
    A = "a"


class Number(IntEnum):
    ONE = 1


def meddled(value, rng):
    """A value with one thing changed somewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        match rng.randrange(6):
            case 0:
                return {key: each for key, each in value.items() if key != name}
            case 1:
                return value | {rng.choice(("new", "a\0", 5, "class", "filter")): rng.choice((None, 1, "x"))}
            case _:
                return value | {name: meddled(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], meddled(value[at], rng), *value[at + 1 :]]
    odd = (None, True, 0, -1, 2**63 - 1, 2**63, -(2**63) - 1, 10**5000, 1.5, -0.0, math.nan, math.inf)
    texts = ("", "a", "two", "a\0", "\ud800", "\ude00\ud83d", b"a", Word.TWO, Word.A, Number.ONE)
    return rng.choice((*odd, *texts, [], {}, (), [1], ("a", "b"), {"a": True}, {1: True}, {"\0": False}, object))


def test_the_generated_engine_asks_the_reference_only_in_doubt(generated, monkeypatch):
    """The speed is in what it decides itself: texts without NUL, names that are there twice, and refusals."""
    rng = random.Random(5)
    data = [spelled(valid(lay_out(GRAMMARS["test/small"]).root, rng), rng).encode() for _ in range(500)]
    codec = generated.CODECS["small"]
    values = [codec.decode(each) for each in data if len(each) <= 400]
    monkeypatch.setitem(generated.globals, "decide", None)
    monkeypatch.setitem(generated.globals, "spell_undecided", None)
    for value in values:
        assert codec.decode(codec.encode(value)) == value


# The table of what fast readers of JSON let pass, as far as each row fits somewhere in a message.
LET_PASS = [
    (b'{"ta-cmd":"ping","ta-id":1,"ta-id":1,"msg-type":"request"}', Reason.DUPLICATE_NAME, 27),
    (b'{"ta-cmd":"ping","ta-id":1,"t\\u0061-id":1,"msg-type":"request"}', Reason.DUPLICATE_NAME, 27),
    (b'{"ta-cmd":"ping","ta-id":9223372036854775808,"msg-type":"request"}', Reason.OUT_OF_RANGE, 25),
    (b'{"ta-cmd":"ping","ta-id":18446744073709551616,"msg-type":"request"}', Reason.OUT_OF_RANGE, 25),
    (b'{"ta-cmd":"ping","ta-id":-9223372036854775809,"msg-type":"request"}', Reason.OUT_OF_RANGE, 25),
    (b'{"ta-cmd":"ping","ta-id":-1,"msg-type":"request"}', Reason.OUT_OF_RANGE, 25),
    (b'{"ta-cmd":"ping","ta-id":1e400,"msg-type":"request"}', Reason.OUT_OF_RANGE, 25),
    (b'{"ta-cmd":"ping","ta-id":1.0,"msg-type":"request"}', Reason.WRONG_TYPE, 25),
    (b'{"ta-cmd":"ping","ta-id":true,"msg-type":"request"}', Reason.WRONG_TYPE, 25),
    (b'{"ta-cmd":"ping","ta-id":NaN,"msg-type":"request"}', Reason.BAD_SYNTAX, 25),
    (b'{"ta-cmd":"ping","ta-id":Infinity,"msg-type":"request"}', Reason.BAD_SYNTAX, 25),
    (b'{"ta-cmd":"ping","ta-id":01,"msg-type":"request"}', Reason.BAD_SYNTAX, 26),
    (b'{"ta-cmd":"ping","ta-id":1,"msg-type":"request"}x', Reason.TRAILING, 48),
    (b'\xef\xbb\xbf{"ta-cmd":"ping","ta-id":1,"msg-type":"request"}', Reason.BAD_SYNTAX, 0),
    (b'{"ta-cmd":"ping","ta-id":1,"msg-type":"fail","fail-reason":"\\u0000"}', Reason.BAD_TEXT, 60),
    (b'{"ta-cmd":"ping","ta-id":1,"msg-type":"fail","fail-reason":"\\ud800"}', Reason.BAD_TEXT, 60),
    (b'{"ta-cmd":"ping","ta-id":1,"msg-type":"fail","fail-reason":"\xed\xa0\x80"}', Reason.BAD_TEXT, 60),
    (b'{"ta-cmd":"ping","ta-id":1,"msg-type":"fail","fail-reason":"\x01"}', Reason.BAD_SYNTAX, 60),
    (b"[" * 200_000, Reason.TOO_LONG, 64),
    (b'{"ta-cmd":"ping","ta-id":' + b"9" * 10_000 + b"}", Reason.OUT_OF_RANGE, 25),
]


@pytest.mark.parametrize(("data", "reason", "offset"), LET_PASS)
def test_what_fast_readers_let_pass_is_refused(generated, data, reason, offset):
    for function in (generated.CODECS["message"].decode, lambda data: decode("test/message", data)):
        with pytest.raises(DecodeError) as caught:
            function(data)
        assert (caught.value.reason, caught.value.offset) == (reason, offset)


def test_a_name_twice_is_seen_behind_any_escapes(generated):
    """What looks like a quote within text must not make up for a name that is gone."""
    rng = random.Random(6)
    codec = generated.CODECS["open"]
    texts = ["\\\\", '\\"', "\\\\\\\\", "\\u0022", "\\\\u0000", '\\\\\\"', "x", "\\n", "\\u005c"]
    found = {True: 0, False: 0}
    for _ in range(4_000):
        names = ["".join(rng.choices(texts, k=rng.randrange(3))) for _ in range(3)]
        strings = ["".join(rng.choices(texts, k=rng.randrange(4))) for _ in range(3)]
        members = ",".join(f'"{name}":"{text}"' for name, text in zip(names, strings, strict=True))
        data = f'{{"size":{{{members}}}}}'.encode()
        expected = outcome(decode, OPEN, data)
        assert outcome(codec.decode, data) == expected
        found[isinstance(expected, str)] += 1
    assert min(found.values()) > 500


REFUSED = [
    (SMALL, b'{"kind":"three"}', Reason.UNKNOWN_ID, 8, "kind"),
    (SMALL, b'{"kind":1}', Reason.WRONG_TYPE, 8, "kind"),
    (SMALL, b'{"x":1}', Reason.MISSING_FIELD, 6, "kind"),
    (SMALL, b"[]", Reason.WRONG_TYPE, 0, "(frame)"),
    (SMALL, b'{"kind":"two","sub":"d"}', Reason.UNKNOWN_ID, 20, "sub"),
    (SMALL, b'{"kind":"two","n":1}', Reason.MISSING_FIELD, 19, "sub"),
    (SMALL, b'{"kind":"two","sub":"a"}', Reason.MISSING_FIELD, 23, "n"),
    (SMALL, b'{"kind":"two","sub":"a","n":null}', Reason.WRONG_TYPE, 28, "n"),
    (SMALL, b'{"kind":"two","sub":"a","n":1,"m":2}', Reason.UNKNOWN_FIELD, 30, "m"),
    (SMALL, b'{"kind":"one","class":null}', Reason.WRONG_TYPE, 22, "class"),
    (SMALL, b'{"kind":"one","class":"y"}', Reason.UNKNOWN_ID, 22, "class"),
    (OPEN, b'{"size":{"a":[1,"x"]}}', Reason.WRONG_TYPE, 16, "size.a[1]"),
    (OPEN, b'{"size":{"a b":6}}', Reason.OUT_OF_RANGE, 15, 'size."a b"'),
    (OPEN, b'{"size":{"a":null}}', Reason.WRONG_TYPE, 13, "size.a"),
    (OPEN, b'{"size":{},"second":{"x":1}}', Reason.UNKNOWN_FIELD, 21, "second.x"),
    (JsonNumeric(least=0), b"-0.5", Reason.OUT_OF_RANGE, 0, "(frame)"),
]


@pytest.mark.parametrize(("grammar", "data", "reason", "offset", "path"), REFUSED)
def test_what_is_not_declared_is_refused(grammar, data, reason, offset, path):
    with pytest.raises(DecodeError) as caught:
        decode(grammar, data)
    assert (caught.value.reason, caught.value.offset, caught.value.path) == (reason, offset, path)


@pytest.mark.parametrize("levels", [0, 1, 2, 31, 32, 33, 61, 62, 63, 64, 5000])
def test_any_value_has_as_many_levels_as_a_text(generated, levels):
    """Those of a frame are at most 64, of which ``other`` has 63; the generated engine decides on fewer of them."""
    text = b'{"data":{},"other":' + b'{"a":' * levels + b"[]" + b"}" * levels + b"}"
    expected = outcome(decode, CARRIED, text)
    assert outcome(generated.CODECS["carried"].decode, text) == expected
    value = []
    for _ in range(levels):
        value = {"a": value}
    value = {"data": {}, "other": value}
    if levels <= 62:
        assert expected == repr(value)
        assert encode(CARRIED, value) == generated.CODECS["carried"].encode(value) == text
    else:
        assert expected[:2] == (Reason.TOO_LONG, 19 + 5 * 63)
        for function in (generated.CODECS["carried"].encode, lambda value: encode(CARRIED, value)):
            with pytest.raises(EncodeError, match=r"64 levels|recursion"):
                function(value)


def test_any_value_that_is_refused_is_refused_where_it_is():
    for inner, reason, offset in (
        (b'{"b":1,"b":2}', Reason.DUPLICATE_NAME, 7),
        (rb'[["\u0000"]]', Reason.BAD_TEXT, 3),
        (b"[9223372036854775808]", Reason.OUT_OF_RANGE, 1),
    ):
        with pytest.raises(DecodeError) as caught:
            decode(CARRIED, b'{"data":{"a":' + inner + b"}}")
        assert (caught.value.reason, caught.value.offset) == (reason, 13 + offset)


def test_the_canonical_form():
    value = {"size": {"b": [1, 2.0, -0.0, 1e16], "a": '\x7f\xe9/"\x01'}, "second": {}, "first": None}
    spelling = '{"second":{},"size":{"b":[1,2.0,-0.0,1e+16],"a":"\x7f\xe9/\\"\\u0001"}}'
    assert encode(OPEN, value).decode() == spelling
    assert decode(OPEN, spelling.encode()) == {"size": value["size"], "second": {}}


def test_any_name_may_stand_in_a_map():
    """Construct's own ``_io`` is hidden in Construct's containers only."""
    value = {"size": {"_io": True, "": False, "type": "x"}}
    assert decode(OPEN, encode(OPEN, value)) == value


def test_spans_have_every_value():
    data = b' {"size" : {"a":[1, 2.5], "b":{}},"first":true}'
    spans = Spans()
    decode(OPEN, data, spans=spans)
    assert [(span.path, span.value, data[span.start : span.end]) for span in spans] == [
        ("size.a[0]", 1, b"1"),
        ("size.a[1]", 2.5, b"2.5"),
        ("size.b", {}, b"{}"),
        ("first", True, b"true"),
    ]


@pytest.mark.parametrize("data", [b'{"size":{"a":1},"x":2,"first":true}', b'{"size":{"a":1},"first":01'])
def test_spans_of_a_refused_text_end_where_it_is_refused(data):
    spans = Spans()
    with pytest.raises(DecodeError):
        decode(OPEN, data, spans=spans)
    assert [span.path for span in spans] == ["size.a"]


def test_a_dump_has_no_end():
    with pytest.raises(TooManyFields):
        decode(JsonArrayOf(JsonInt()), b"[" + b"1," * 50 + b"1]", spans=Spans(50))


def test_the_tree():
    tree = lay_out(GRAMMARS["test/small"], "test/small")
    assert tree.is_json
    assert isinstance(tree.root, kinds.Limited)
    assert isinstance(tree.root.node, Json)
    union = tree.root.node.node
    assert isinstance(union, kinds.JsonUnion)
    assert [key for key, _ in union.table()] == [("one",), ("uno",), ("two",)]
    one = union.messages[0]
    assert isinstance(one, kinds.JsonObject)
    assert one.name == "one"
    assert one.members[2] == JsonMember("class", kinds.JsonText(("x", "{y}")), optional=True)
    assert {type(part) for part in walk(tree.root)} >= {kinds.JsonBool, kinds.JsonMap, kinds.JsonEither}


def test_json_is_a_whole_frame():
    with pytest.raises(CannotLayOut, match="a whole frame"):
        lay_out(Struct("a" / Unsigned(1), "b" / JsonString()))
    with pytest.raises(CannotLayOut, match="JsonOptional"):
        lay_out(JsonArrayOf(JsonOptional(JsonString())))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: JsonObjectOf(JsonString()), 'is "name" /'),
        (lambda: JsonObjectOf("a" / Unsigned(1)), 'is "name" /'),
        (lambda: JsonObjectOf("a" / JsonString(), "a" / JsonString()), "twice"),
        (lambda: JsonEnum("a", "a"), "each once"),
        (lambda: JsonInt(0, 2**63), "64 bits"),
        (lambda: JsonAnyOf(JsonNumeric(), JsonInt()), "different types"),
        (lambda: JsonAnyOf(JsonAnything()), "different types"),
        (lambda: JsonOptional(JsonAnything()), "null"),
        (lambda: JsonOneOf("a" / JsonObjectOf("k" / JsonString()), by=("k",)), "JsonEnum"),
        (lambda: JsonOneOf("a" / JsonObjectOf("k" / JsonOptional(JsonEnum("x"))), by=("k",)), "not optional"),
        (lambda: JsonOneOf(*("a" / JsonObjectOf("k" / JsonEnum("x")) for _ in "12"), by=("k",)), "two messages"),
    ],
)
def test_declarations_that_make_no_sense(make, says):
    with pytest.raises((ValueError, TypeError), match=says):
        make()
