"""Frames of the layout ``rai/text``, for generators and vectors.

::

    rng ──sample──► value
    frame ──MUTATIONS──► frame that is almost it
    specimens, large_specimens ──► every branch of the grammar, every refusal, every bound, by name
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from vectors.language.samples import Below, Mutation, Samples, TextSpecimen
from wire.envelope import LARGEST
from wire.json.strict import DEEPEST
from wire.rai import grammar_text
from wire.rai.json_values import Members, Number, Value
from wire.rai.relaxed_scanner import LITERALS, RELAXED_WORD
from wire.rai.text_language import Part, parts_of

WORDS = (
    "paul.AAECAwQFBgcICQoLDA0ODw",
    "a",
    "a.b-c_d9",
    "tru",
    "falsy",
    "nullify",
    "inf",
    "x.>",
    "",
    " ",
    "é\n",
    "\\",
    '"',
)
NUMBERS = (
    "0",
    "5",
    "-1",
    "17.50",
    "1700000000000000",
    "9223372036854775808",
    "+5",
    "007",
    "5.",
    "1e5",
    "-1.5E-3",
    "-0",
)
NAMES = ("session", "seqno", "data", "true", "a b", "", "é")


def sample(rng: Random) -> list[Part]:
    """Make the value of a text: an object, most often."""
    return parts_of(_value(rng, 3) if rng.random() < 0.2 else _members(rng, 3))


def _members(rng: Random, levels: int) -> Members:
    return Members((rng.choice(NAMES), _value(rng, levels - 1)) for _ in range(rng.randrange(5)))


def _value(rng: Random, levels: int) -> Value:
    match rng.randrange(6 if levels else 4):
        case 0:
            return rng.choice((None, True, False))
        case 1:
            return Number(rng.choice(NUMBERS))
        case 2 | 3:
            return rng.choice(WORDS)
        case 4:
            return [_value(rng, levels - 1) for _ in range(rng.randrange(4))]
    return _members(rng, levels)


def parts(frame: bytes) -> list[tuple[int, int]]:
    """Return where each object and array within a frame begins and ends, inner ones first, as far as brackets pair."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    quoted = escaped = False
    for at, byte in enumerate(frame):
        if escaped:
            escaped = False
        elif quoted:
            escaped = byte == _ESCAPE
            quoted = byte != _QUOTE
        elif byte == _QUOTE:
            quoted = True
        elif byte in b"{[":
            opened.append(at)
        elif byte in b"}]" and opened:
            found.append((opened.pop(), at + 1))
    return found


_ESCAPE, _QUOTE = b'\\"'


def is_number(value: Any) -> bool:
    """Tell whether a value of JSON is a number."""
    return isinstance(value, int | float)


def is_shallow(value: Any) -> bool:
    """Tell whether a text has no more levels than any reader of JSON here takes; what is no text of parts has not."""
    if not isinstance(value, list):
        return True
    open_: list[int] = []
    for part in value:
        while open_ and not open_[-1]:
            open_.pop()
        if open_:
            open_[-1] -= 1
        if part["type"] in ("object", "array"):
            open_.append(part.get("members", part.get("items", 0)))
            if len(open_) > DEEPEST:
                return False
    return True


# Mutations


def _places(frame: bytes, characters: bytes) -> list[int]:
    return [at for at, byte in enumerate(frame) if byte in characters]


def _at(characters: bytes, *pieces: bytes, behind: bool = False, instead: bool = False) -> Mutation:
    """Put a piece before one of some characters, behind it, or in its place."""

    def change(frame: bytes, below: Below) -> bytes | None:
        places = _places(frame, characters)
        if not places:
            return None
        at, piece = places[below(len(places))], pieces[below(len(pieces))]
        return frame[: at + behind] + piece + frame[at + (behind or instead) :]

    return change


def _anywhere(*pieces: bytes) -> Mutation:
    def insert(frame: bytes, below: Below) -> bytes:
        at, piece = below(len(frame) + 1), pieces[below(len(pieces))]
        return frame[:at] + piece + frame[at:]

    return insert


def _wrapped(begins: bytes, ends: bytes) -> Mutation:
    return lambda frame, below: begins + frame + ends


def _cut(frame: bytes, below: Below) -> bytes | None:
    return frame[: below(len(frame))] if frame else None


def _unquoted(frame: bytes, below: Below) -> bytes | None:
    """Take both quotation marks of a text away."""
    places = _places(frame, b'"')
    if len(places) < 2:
        return None
    first = below(len(places) - 1)
    start, end = places[first], places[first + 1]
    return frame[:start] + frame[start + 1 : end] + frame[end + 1 :]


def _doubled(frame: bytes, below: Below) -> bytes | None:
    """Write an object or array twice, with a comma or without."""
    found = parts(frame)
    if not found:
        return None
    start, end = found[below(len(found))]
    return frame[:end] + (b",", b"", b" ")[below(3)] + frame[start:end] + frame[end:]


MUTATIONS: tuple[tuple[str, Mutation], ...] = (
    ("drop bracket", _at(b"{}[]", b"", instead=True)),
    ("double bracket", _at(b"{}[]", b"{", b"}", b"[", b"]")),
    ("exchange bracket", _at(b"{}[]", b"{", b"}", b"[", b"]", instead=True)),
    ("drop comma", _at(b",", b"", b" ", b"\n", instead=True)),
    ("double comma", _at(b",", b",", b" ,", b";")),
    ("comma before a bracket", _at(b"}]", b",", b" , ", b",,")),
    ("drop colon", _at(b":", b"", b" ", b"=", b",", instead=True)),
    ("drop quotation mark", _at(b'"', b"", b"'", instead=True)),
    ("without quotation marks", _unquoted),
    ("escape in a text", _at(b'"', rb"\q", rb"\n", rb"\"", b"\\", rb"\/", b"\\\xc3\xa9", b"\\\n", behind=True)),
    (
        "unit in a text",
        _at(b'"', rb"\u0041", rb"\u000", rb"\u0000", rb"\ud83d\ude00", rb"\ud83d", rb"\udc00", behind=True),
    ),
    ("control in a text", _at(b'"', b"\n", b"\0", b"\x1f", b"\x7f", behind=True)),
    ("digits in a number", _at(b"0123456789", b"0", b".", b"e", b"e+", b"-", b"+", b"x", b"E5", b"..")),
    ("sign of a value", _at(b":[,", b"+", b"-", b" -", b"- ", behind=True)),
    ("word as a value", _at(b":[,", b"true", b"nullx", b"nul", b"inf", b"_", b"4fabc0", b"a.b-", b"-inf", behind=True)),
    ("longer word", _at(b"aelstu", b"x", b".", b"-", b"9", b":", b">", b"/", behind=True)),
    ("white space", _anywhere(b" ", b"\n", b"\t", b"\v", b"\f", b"\r", b"\xc2\xa0")),
    ("anything", _anywhere(*(bytes((code,)) for code in range(0x20, 0x7F)))),
    ("not UTF-8", _anywhere(b"\x80", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff")),
    ("something behind", lambda frame, below: frame + (b" ", b"x", b"}", b",", b"\0", b"\xff", b"\xc3")[below(7)]),
    ("byte order mark", _wrapped(b"\xef\xbb\xbf", b"")),
    ("in an object", _wrapped(b'{"data":', b"}")),
    ("in an array", _wrapped(b"[", b",]")),
    ("twice", _doubled),
    ("cut", _cut),
)
"""Named changes of a frame. What comes of one may be a text or not."""


# Specimens


def specimens() -> Iterator[TextSpecimen]:
    """Give small frames that take every branch of the grammar, and have every refusal."""
    for about, texts in _TEXTS.items():
        for name, text in texts.items():
            yield TextSpecimen(name, text.encode(), about)
    for word in _WORDS:
        yield TextSpecimen(f"{word} as a value", f"{{a:{word}}}".encode(), "words")
        yield TextSpecimen(f"{word} as a name", f"{{{word}:1}}".encode(), "words")
        yield TextSpecimen(f"{word} alone", word.encode(), "words")
    for number in _NUMBERS:
        yield TextSpecimen(f"the number {number or 'of no digits'}", f'{{"a":{number}}}'.encode(), "numbers")
    for escape in _ESCAPES:
        shown = "".join(each if each.isprintable() else f"U+{ord(each):04X}" for each in escape)
        yield TextSpecimen(shown, f'{{"a":"{escape}"}}'.encode(), "escapes")
    yield TextSpecimen("an escape in a name", rb'{"\u0061\n":1}', "escapes")
    for literal in LITERALS:
        words = ",".join(_almost(literal))
        yield TextSpecimen(f"words that are almost {literal}", f"[{words}]".encode(), "words")
    units = "".join(f"\\u{unit}" for unit in _UNITS)
    yield TextSpecimen("units of every kind", f'["{units}"]'.encode(), "escapes")
    letters = "".join(f"\\{chr(code)}" for code in range(0x20, 0x7F) if chr(code) != "u")
    yield TextSpecimen("escapes of every letter", f'["{letters}"]'.encode(), "escapes")
    for character in _EDGES:
        code = f"U+{ord(character):04X}"
        yield TextSpecimen(f"{code} in a text", f'{{"a":"{character}"}}'.encode(), "characters")
        yield TextSpecimen(f"{code} without quotes", f"{{a:a{character}}}".encode(), "characters")
        yield TextSpecimen(f"{code} as white space", f'{{"a":1{character}}}'.encode(), "characters")
    for name, frame in _BYTES.items():
        yield TextSpecimen(name, frame, "encoding")
    for cut in range(len(_CUT)):
        yield TextSpecimen(f"cut after {cut}", _CUT[:cut], "beginnings")


def _almost(literal: str) -> Iterator[str]:
    """Give words that begin as a literal does, and go on otherwise in every way."""
    for size in range(1, len(literal)):
        beginning, following = literal[:size], literal[size]
        near = {chr(ord(following) - 1), chr(ord(following) + 1), *"-.09AZ_az"} - {following}
        yield beginning
        for letter in sorted(near):
            if RELAXED_WORD.fullmatch(beginning + letter):
                yield from (beginning + letter, f"{beginning}{letter}x.9-_Z")


def large_specimens() -> Iterator[TextSpecimen]:
    """Give frames that are large: nested deep, of many parts, of long ones."""
    yield TextSpecimen("arrays nested 20000 deep", b"[" * 20_000 + b"]" * 20_000)
    yield TextSpecimen("arrays nested 20000 deep, one not closed", b"[" * 20_000 + b"]" * 19_999)
    yield TextSpecimen("objects nested 5000 deep", b'{"a":' * 5000 + b"1" + b"}" * 5000)
    yield TextSpecimen("5000 members", b"{" + b"a:1," * 5000 + b"}")
    yield TextSpecimen("20000 digits", b"[" + b"9" * 20_000 + b"]")
    yield TextSpecimen("20000 letters", b"[" + b"a" * 20_000 + b"]")


def _golden_specimens() -> Iterator[TextSpecimen]:
    """Give those for vectors: what is large and does not repeat one byte would make long files."""
    yield from specimens()
    for levels in (DEEPEST, DEEPEST + 1, 1100):
        yield TextSpecimen(f"arrays nested {levels} deep", b"[" * levels + b"]" * levels, "sizes")
    yield TextSpecimen("objects nested 64 deep", b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST, "sizes")
    yield TextSpecimen("20000 digits", b'{"a":' + b"9" * 20_000 + b"}", "sizes")
    yield TextSpecimen("20000 letters", b'{"a":"' + b"a" * 20_000 + b'"}', "sizes")
    yield TextSpecimen(f"{LARGEST + 1} bytes", b'{"a":"' + b"a" * (LARGEST + 1 - 8) + b'"}', "sizes")


_CUT = '{"é":[true,x,-1.5e+3,{}],"b":"\\ud83d\\ude00\\n",}'.encode()

_EDGES = "\0\x01\t\n\v\f\r\x1f !\"',-./09:;=>@AZ[\\]^_`az{|}~\x7f\x80\xa0\u07ff\u2028\ud7ff\ue000\ufeff\uffff\U0010ffff"
"""Characters at either side of what the grammar tells apart, and of what UTF-8 does."""

_WORDS = (
    *("true", "false", "null", "t", "f", "n", "tr", "tru", "trx", "fa", "fal", "fals", "falsx", "nu", "nul", "nulx"),
    *("truex", "falsehood", "nullx", "true.", "null9", "True", "NULL", "inf", "Inf", "nan", "NaN", "info", "nano"),
    *("a", "Z", "_", "a.b", "a-b", "a_b9", "json", "user1.NONCE", "paul.AAECAwQFBgcICQoLDA0ODw", "9a", "-a", ".a"),
    *("a:b", "a/b", "a+b", "a=", "a>", ">", "prefix.>", "pgm://host:port", "é", "'a'"),
)

_UNITS = (
    *("1000", "9aAf", "Aa00", "C000", "E0bB", "F000", "a000", "c000", "e000", "ffff", "B000", "b000", "D000", "d7ff"),
    *("0100", "0900", "0A00", "0F00", "0a00", "0f00", "0010", "0090", "00A0", "00F0", "00a0", "00f0", "0001", "0009"),
    *("000A", "000F", "000a", "000f", "d800\\udc00", "D900\\uDD00", "dA00\\ude00", "dB00\\udF00"),
    *("da00\\udC00", "dbff\\udfff"),
)
"""Codes at either side of what the grammar tells apart; halves of a pair stand beside each other."""

_NUMBERS = (
    *("0", "7", "-7", "10", "1700000000000000", "9223372036854775807", "9223372036854775808", "-0", "17.50", "0.0"),
    *("1e5", "1E5", "1e+5", "1e-05", "-1.5E-3", "1e400", "+7", "+0.5", "00", "007", "-01", "5.", "5.e3", "+05."),
    *("-", "+", "--1", "+-1", ".5", "-.5", "1e", "1e+", "1.5.5", "1e5.5", "1-", "0x12", "4fabc0", "12:30", "10s"),
    *("2023-01-01", "1_0", "1 0", "٣", "Infinity", "-inf", ""),
)

_ESCAPES = (
    *('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\u00e9", "\\uFFFF", "\\ud7ff", "\\uE000"),
    *("\\ud83d\\ude00", "\\uD83D\\uDE00", "\\udbff\\udfff", "\\u0001", "\\u0010", "\\u0100", "\\u1000", "\\uabcd"),
    *(
        "\\q",
        "\\x41",
        "\\'",
        "\\0",
        "\\ ",
        "\\é",
        "\\U0041",
        "\\\n",
        "\\\0",
        "\\u0000",
        "\\ud83d",
        "\\ude00",
        "\\uDc00x",
    ),
    *(
        "\\ud83d\\u0041",
        "\\ud83d\\n",
        "\\ud83dx",
        "\\ud83d\\ud83d",
        "\\ude00\\ud83d",
        "\\u",
        "\\u00",
        "\\u004",
        "\\u00g1",
    ),
    *("\\u{41}", "\\u+041", "\\"),
)

_TEXTS: dict[str, dict[str, str]] = {
    "strict": {
        "an object without members": "{}",
        "an array without items": "[]",
        "a header": '{"session":"user1.NONCE","seqno":1,"digest":"digest_bits"}',
        "every kind of value": '{"a":"b","c":17.50,"d":true,"e":false,"f":null,"g":[1,2],"h":{"i":{}}}',
        "a name twice": '{"a":1,"a":2}',
        "white space wherever it may stand": ' \t\r\n{ \n"a"\t:\r1 , "b" : [ 1 , 2 ] } \n',
        "a text alone": '"a"',
        "a number alone": "-17",
        "a literal alone": " null ",
    },
    "members": {
        "names without quotes": "{a:1,b_c:2,d.e-f:3}",
        "values without quotes": '{"a":b,"c":[d,e]}',
        "as the document prints it": "{\n  session : sam.NONCE,\n  seqno : 1,\n  digest : digest_bits,\n}",
        "a comma behind the last member": '{"a":1,}',
        "a comma and white space behind the last member": '{"a":1 ,\n}',
        "a comma behind the last item": "[1,]",
        "a comma and white space behind the last item": "[1 , ]",
        "two commas": '{"a":1,,"b":2}',
        "two commas behind the last member": '{"a":1,,}',
        "three members and a comma": '{"a":1,b:"",c:3,}',
        "three items and a comma": '[1,"",3,]',
        "names of every kind of letter": "{A:1,Z-.09AZ_az9_9a_-A-__0__:2,_:3,__x:4,a:5,z9:6}",
        "only a comma": "{,}",
        "only a comma, in an array": "[,]",
        "a comma first": '{,"a":1}',
        "no comma": '{"a":1 "b":2}',
        "no comma at the end of a line": '{"a":1\n"b":2}',
        "no comma between items": "[1 2]",
        "no colon": '{"a" 1}',
        "no colon before a brace": "{a {b:1}}",
        "an equals sign": "{a=1}",
        "no value": '{"a":}',
        "no value and a comma": "{a:,b:1}",
        "no name": "{:1}",
        "a number as a name": "{1:2}",
        "an array as a name": "{[]:1}",
        "a bracket for another": '{"a":1]',
        "a bracket for another, in an array": "[1}",
        "single quotes": "{'a':1}",
        "single quotes around a value": "{a:'b'}",
        "a comment": "{/*a*/}",
        "a comment to the end of a line": "{a:1//b\n}",
    },
    "outside": {
        "nothing": "",
        "white space": " \n",
        "byte order mark": "\ufeff{}",
        "byte order mark alone": "\ufeff",
        "two byte order marks": "\ufeff\ufeff{}",
        "white space before a byte order mark": " \ufeff{}",
        "a bracket behind": "{}}",
        "an object behind": "{} {}",
        "text behind": '{"a":1} and more\0',
        "white space behind, and then text": "[]\n\nx",
        "other white space behind": "{}\v\f",
        "other white space before": "\v\f{}",
        "other white space within": "{a\v:\f1}",
        "something behind a text": '"a" b',
        "something behind a number": "1,",
        "something behind a word": "a b",
        "two words": "true false",
        "a colon": ":",
        "a closing bracket": "]",
    },
}

_BYTES: dict[str, bytes] = {
    "stray continuation byte": b'{"a":"\x80"}',
    "overlong NUL": b'{"a":"\xc0\x80"}',
    "overlong quotation mark": b'{"a":"\xc0\xa2"}',
    "surrogate as UTF-8": b'{"a":"\xed\xa0\x80"}',
    "beyond Unicode": b'{"a":"\xf4\x90\x80\x80"}',
    "byte that is never UTF-8": b'{"a":"\xff"}',
    "character not finished": b'{"a":"\xe6\x97"}',
    "character cut at the end": b'{"a":"\xe6\x97',
    "character cut where none can stand": b"{\xe6\x97",
    "character cut behind a text": b"{}\xe6",
    "not UTF-8 behind a text": b"{}\xff",
    "not UTF-8 behind a number": b"1\xff",
    "not UTF-8 behind an error": b"{a}\xff",
    "not UTF-8 at the beginning": b"\xff{}",
    "not UTF-8 in a name": b'{"a\xff":1}',
    "not UTF-8 in a word": b"{a:b\xff}",
    "not UTF-8 behind characters of several bytes": '{"é":"日'.encode() + b'\xff"}',
    "error behind characters of several bytes": '{"é":日}'.encode(),
    "not UTF-8 behind an escape": b'{"a":"\\\xff"}',
    "byte order mark cut": b"\xef\xbb",
    "UTF-16": '{"a":1}'.encode("utf-16-le"),
}

LANGUAGES = {
    "text": Samples(
        sample, MUTATIONS, parts, _golden_specimens, grammar_text.widest, grammar_text.DISPUTED, respells=True
    ),
}
"""What the generators of frames have of it."""
