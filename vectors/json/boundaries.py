"""The boundaries of values in JSON: the spellings at which codecs go wrong, class by class."""

from collections.abc import Iterable, Iterator
from itertools import chain

from vectors.json.coverage import (
    ABOVE,
    ASTRAL,
    BELOW,
    CUT,
    DEEPER,
    ESCAPED,
    INTEGER,
    MINUS_ZERO,
    PAIR,
    REAL,
    RESPELLED,
    VANISHED,
    there,
    wrong,
)
from vectors.json.paths import KINDS, kinds
from vectors.json.reader import (
    BAD_TEXT,
    BEYOND_BITS,
    BEYOND_DOUBLE,
    CONTROL,
    DUPLICATE,
    ENDS_CHARACTER,
    ENDS_ESCAPE,
    ENDS_PAIR,
    HALF,
    LEADING_ZERO,
    NO_COMMA,
    NO_DIGIT,
    NO_ESCAPE,
    NO_HEX,
    NO_NAME,
    NO_VALUE,
    NO_WORD,
    NUL,
    TOO_DEEP,
    canonical,
)
from wire.json.strict import DEEPEST, LEAST, MOST
from wire.kinds import JsonAnyValue, JsonArray, JsonBool, JsonInteger, JsonMap, JsonNumber, JsonText, Part
from wire.kinds.boundaries import BoundaryBytes, say
from wire.kinds.branches import EMPTY, MORE, NONE, NOT_ASCII, ONE, UNKNOWN, ZERO

OTHERS: dict[type, tuple[bytes, ...]] = {
    str: (b'"5"', b'""', b'"a"'),
    bool: (b"true", b"false"),
    int: (b"5", b"0"),
    float: (b"5.5", b"5.0", b"1e3", b"0.0", b"-5.5"),
    dict: (b"{}", b'{"a":5}'),
    list: (b"[]", b"[5]", b'["a"]'),
    type(None): (b"null",),
}
"""Values of every type of JSON, the one that says most first."""


def wrong_type_values(part: Part, full: bool) -> Iterator[BoundaryBytes]:
    """Give values of the types that a part does not take: one of each, with ``full`` several."""
    for kind, spelled in OTHERS.items():
        if kind not in kinds(part):
            for each in spelled if full else spelled[:1]:
                yield BoundaryBytes(wrong(kind), f"of a wrong type: {each.decode()}, {KINDS[kind]}", each, "types")


def variants(part: Part, full: bool) -> Iterator[BoundaryBytes]:
    """Give the spellings at the boundaries of a scalar: each class, and with ``full`` what else is known to go wrong.

    Where a variant is ``cut``, the frame ends behind it.
    """
    match part:
        case JsonText(names=()):
            yield from text_variants(full)
            if full:
                yield from text_syntax()
        case JsonText(names=names):
            yield from enumerated(names)
        case JsonInteger() | JsonNumber():
            yield from chain(integer_variants(part, full), number_variants(part, full))
            yield BoundaryBytes(CUT, "cut: the frame ends before it", b"", "cut", True)
            if full:
                yield from number_syntax()
        case JsonBool():
            yield from (BoundaryBytes(word.decode(), word.decode(), word) for word in (b"true", b"false"))
            yield BoundaryBytes(CUT, "cut within the word", b"tru", "cut", True)
            for word in (b"True", b"truE", b"fals3") if full else ():
                yield BoundaryBytes(NO_WORD if word[:1] != b"T" else NO_VALUE, word.decode(), word, "refused")
        case JsonAnyValue():
            yield from any_variants(full)


def enumerated(names: tuple[str, ...], deciding: bool = False) -> Iterator[BoundaryBytes]:
    """Give the names of an enumeration, unless they decide, and what is near them and not among them."""
    for name in () if deciding else names:
        yield BoundaryBytes(f"is {name}", f"{name}", canonical(name).encode())
    near = (
        name for known in names for name in (known.upper(), known.capitalize(), f"{known} ", f" {known}", known[:-1])
    )
    for name in dict.fromkeys(("", "unknown", *near)):
        if name not in names:
            spelled = canonical(name).encode()
            yield BoundaryBytes(UNKNOWN, f"{spelled.decode()}, which is unknown", spelled, "refused")


def any_variants(full: bool) -> Iterator[BoundaryBytes]:
    """Give values of every type, some within others, and what is wrong within others."""
    for kind, spelled in OTHERS.items():
        for each in spelled if full else spelled[:1]:
            yield BoundaryBytes(there(kind), f"{each.decode()}, {KINDS[kind]}", each)
    nested = rb'{"a":[{"":null,"b":[[],{}]},1.5,"\u00fc"],"c":{"c":-5}}'
    yield BoundaryBytes(DEEPER, "of several levels", nested)
    yield BoundaryBytes(CUT, "cut within an array", b"[5", "cut", True)
    if full:
        yield BoundaryBytes(there(int), "the least integer of 64 bits", str(LEAST).encode())
        yield BoundaryBytes(there(int), "the largest integer of 64 bits", str(MOST).encode())
        yield BoundaryBytes(there(float), "more digits than a double has", b"0.1234567890123456789012", "spellings")
        yield BoundaryBytes(there(list), "of 300 items", b"[" + b",".join([b"5"] * 300) + b"]")
        for levels in (30, 40):
            deep = b'{"a":[' * (levels // 2) + b"]}" * (levels // 2)
            yield BoundaryBytes(DEEPER, f"of {levels} levels", deep)
        for aspect, words, data in (
            (DUPLICATE, "a name twice", b'{"a":5,"a":5}'),
            (DUPLICATE, "a name twice, two levels down", rb'[{"a":5,"\u0061":5}]'),
            (NUL, "NUL, escaped", rb'["a\u0000b"]'),
            (NUL, "NUL, escaped, in a name", rb'{"a\u0000b":5}'),
            (HALF, "half a surrogate pair", rb'{"a":"\ud83d"}'),
            (BAD_TEXT, "what is not UTF-8", b'["\xff"]'),
            (BEYOND_BITS, "an integer that does not fit in 64 bits", b'{"a":[9223372036854775808]}'),
            (BEYOND_DOUBLE, "a number beyond any double", b"[1e400]"),
            (TOO_DEEP, "too many levels", b"[" * DEEPEST + b"]" * DEEPEST),
        ):
            yield BoundaryBytes(aspect, f"with {words}", data, "refused")


def quoted(content: bytes) -> bytes:
    """Put the inside of a string between its quotes."""
    return b'"' + content + b'"'


def text_variants(full: bool) -> Iterator[BoundaryBytes]:
    """Give texts: empty, of every kind of character, in every legal spelling, and those that must not be."""
    yield BoundaryBytes(EMPTY, "empty", b'""')
    yield BoundaryBytes(NOT_ASCII, "with a letter of two bytes", quoted("ü".encode()))
    yield BoundaryBytes(ASTRAL, "with a character of four bytes", quoted("😀".encode()))
    yield BoundaryBytes(ESCAPED, "with all that has to be escaped, in few characters", rb'"\"\\\b\f\n\r\t\u0001\u001f"')
    if full:
        for words, text in CHARACTERS.items():
            yield BoundaryBytes(NOT_ASCII if not text.isascii() else "value", f"with {words}", quoted(text.encode()))
        yield BoundaryBytes("value", "of 5000 characters", quoted(b"a" * 5000))
    yield BoundaryBytes(RESPELLED, r"with a letter escaped: \u0061", rb'"\u0061"', "spellings")
    yield BoundaryBytes(PAIR, "with a pair of escapes for one character", rb'"\ud83d\ude00"', "spellings")
    if full:
        for spelled in RESPELLINGS:
            aspect = PAIR if spelled.lower().startswith(rb"\ud") else RESPELLED
            yield BoundaryBytes(aspect, f"spelled {spelled.decode()}", quoted(spelled), "spellings")
    yield BoundaryBytes(NUL, "with NUL, escaped", rb'"a\u0000b"', "refused")
    yield BoundaryBytes(HALF, "with half a surrogate pair, escaped", rb'"\ud83d"', "refused")
    yield BoundaryBytes(BAD_TEXT, "that is not UTF-8: ff", b'"\xff"', "refused")
    if full:
        yield BoundaryBytes(NUL, "of NUL, escaped, alone", rb'"\u0000"', "refused")
        for spelled in HALVES:
            yield BoundaryBytes(HALF, f"with half a surrogate pair: {spelled.decode()}", quoted(spelled), "refused")
        for words, content in NOT_UTF_8.items():
            yield BoundaryBytes(BAD_TEXT, f"that is not UTF-8: {words} ({content.hex()})", quoted(content), "refused")
    yield BoundaryBytes(CUT, "cut within the text", b'"a', "cut", True)
    if full:
        for aspect, words, content in CUTS:
            yield BoundaryBytes(aspect, f"cut {words}", content, "cut", True)


CHARACTERS = {
    "a space at each end": " a ",
    "punctuation": "(&(name=service-a)(version>11)) !#$%'*+,./;?@[]^_`{|}~",
    "DEL": "\x7f",
    "U+0080": "\x80",
    "a combining accent": "e\u0301",
    "U+07FF and U+0800": "\u07ff\u0800",
    "line separators": "\u2028\u2029",
    "U+D7FF and U+E000, beside the surrogates": "\ud7ff\ue000",
    "U+FEFF within": "a\ufeff",
    "characters that are none": "\ufffe\uffff",
    "U+10000 and U+10FFFF": "\U00010000\U0010ffff",
    "text that runs from right to left": "\u05d0\u05d1",
}

RESPELLINGS = (
    *(rb"\/", rb"\u002f", rb"\u0022", rb"\u005c", rb"\u005C", rb"\u0008", rb"\u000a", rb"\u001F", rb"\u007f"),
    *(rb"\u00fc", rb"\u00FC", rb"\u2028", rb"\ufeff", rb"\uffff", rb"\ud7ff", rb"\ue000"),
    *(rb"\uD83D\uDE00", rb"\uD83d\ude00", rb"\ud800\udc00", rb"\udbff\udfff"),
)

HALVES = (
    *(rb"\ud800", rb"\udbff", rb"\udc00", rb"\udfff", rb"\uD800", rb"\ud83da", rb"\ud83d\u0061", rb"\ud83d\n"),
    *(rb"\ude00\ud83d", rb"\ud83d\ud83d\ude00", rb"\ud83d\ue000", rb"\ud83d\\ude00"),
)

NOT_UTF_8 = {
    "a byte of no character": b"\xfe",
    "a byte that goes on, alone": b"a\x80",
    "a character that is cut": b"a\xc3",
    "a character of three bytes that is cut": b"\xe2\x82",
    "a character of four bytes that is cut": b"\xf0\x9f\x98",
    "a slash in two bytes": b"\xc0\xaf",
    "NUL in two bytes": b"\xc0\x80",
    "U+007F in two bytes": b"\xc1\xbf",
    "a slash in three bytes": b"\xe0\x80\xaf",
    "U+07FF in three bytes": b"\xe0\x9f\xbf",
    "a slash in four bytes": b"\xf0\x80\x80\xaf",
    "U+FFFF in four bytes": b"\xf0\x8f\xbf\xbf",
    "the first surrogate": b"\xed\xa0\x80",
    "the last surrogate": b"\xed\xbf\xbf",
    "two surrogates for one character": b"\xed\xa0\xbd\xed\xb8\x80",
    "above U+10FFFF": b"\xf4\x90\x80\x80",
    "a character of five bytes": b"\xf8\x88\x80\x80\x80",
    "Latin-1": b"\xfc",
}

CUTS = (
    (CUT, "before the text", b""),
    (CUT, "behind the quotation mark", b'"'),
    (CUT, "behind a quotation mark that is escaped", rb'"\"'),
    (ENDS_ESCAPE, "within an escape: \\", b'"\\'),
    (ENDS_ESCAPE, r"within an escape: \u", rb'"\u'),
    (ENDS_ESCAPE, r"within an escape: \u00e", rb'"\u00e'),
    (ENDS_PAIR, r"within a pair: \ud83d", rb'"\ud83d'),
    (ENDS_PAIR, "within a pair: \\ud83d\\", b'"\\ud83d\\'),
    (ENDS_PAIR, r"within a pair: \ud83d\ude0", rb'"\ud83d\ude0'),
    (ENDS_CHARACTER, "within a character of two bytes", b'"\xc3'),
    (ENDS_CHARACTER, "within a character of three bytes", b'"\xe2\x82'),
    (ENDS_CHARACTER, "within a character of four bytes", b'"\xf0\x9f\x98'),
)


def text_syntax() -> Iterator[BoundaryBytes]:
    """Give what is no string of JSON."""
    for byte in (0, 1, 8, 9, 10, 13, 27, 31):
        yield BoundaryBytes(
            CONTROL, f"with a raw control character, 0x{byte:02x}", quoted(b"a" + bytes([byte])), "refused"
        )
    for content in (rb"\x41", rb"\'", rb"\a", rb"\v", rb"\0", rb"\101", rb"\U0041", rb"\ ", b"\\\xc3\xbc"):
        yield BoundaryBytes(NO_ESCAPE, f"with {content.decode()}, which is no escape", quoted(content), "refused")
    yield BoundaryBytes(NO_ESCAPE, "with a line that goes on behind a backslash", b'"\\\n"', "refused")
    for content in (rb"\u004", rb"\u00g1", rb"\u+041", rb"\u 041", rb"\u{41}", rb"\ud83d\u00g0"):
        yield BoundaryBytes(NO_HEX, f"with {content.decode()}, without four hex digits", quoted(content), "refused")
    yield BoundaryBytes(NO_VALUE, "in single quotes", b"'a'", "refused")
    yield BoundaryBytes(NO_VALUE, "without quotes", b"a", "refused")
    yield BoundaryBytes(NO_COMMA, "twice, without a comma", b'"a""a"', "refused")


def integer_variants(part: JsonInteger | JsonNumber, full: bool) -> Iterator[BoundaryBytes]:
    """Give integers: the limits, what is within, and what is beyond."""
    least, most = (part.least, part.most) if isinstance(part, JsonInteger) else (part.least, MOST)
    low = LEAST if least is None else least
    inside = [0, low, most]
    if full:
        # Where integers of other languages end, and where doubles begin to skip integers (2**53).
        inside += [1, -1, 255, 256, 1 << 31, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, most - 1, low + 1]
    for number in dict.fromkeys(inside):
        if low <= number <= most:
            aspect = ZERO if number == 0 else INTEGER if isinstance(part, JsonNumber) else "value"
            yield BoundaryBytes(aspect, number_words(number), str(number).encode())
    if low <= 0 <= most:
        yield BoundaryBytes(MINUS_ZERO, "-0", b"-0", "spellings")
    for number in (low - 1, *((-(1 << 31), -(1 << 53), LEAST) if full else ())):
        if LEAST <= number < low:
            yield BoundaryBytes(BELOW, f"{number_words(number)}, which is too small", str(number).encode(), "refused")
    for number in (most + 1, *((MOST,) if full else ())):
        if most < number <= MOST:
            yield BoundaryBytes(ABOVE, f"{number_words(number)}, which is too large", str(number).encode(), "refused")
    beyond = [MOST + 1, *([LEAST - 1] if low < 0 or full else [])]
    if full:
        # 2**64 + 5 comes back as 5 from readers that wrap round; 1000 digits need arbitrary precision.
        beyond += [MOST + 2, (1 << 64) - 1, 1 << 64, (1 << 64) + 5, 1 << 128, -(1 << 64), 10**999]
    for number in beyond:
        words = "of 1000 digits" if number == 10**999 else number_words(number)
        yield BoundaryBytes(BEYOND_BITS, f"{words}, which does not fit in 64 bits", str(number).encode(), "refused")


def number_variants(part: JsonInteger | JsonNumber, full: bool) -> Iterator[BoundaryBytes]:
    """Give numbers with a fraction or an exponent."""
    if isinstance(part, JsonInteger):
        for spelled in (b"1E400", b"-1e400") if full else ():
            yield BoundaryBytes(BEYOND_DOUBLE, f"{spelled.decode()}, beyond any double", spelled, "refused")
        return
    small = part.least is None or part.least <= 0
    yield BoundaryBytes(REAL, "1.5", b"1.5")
    for spelled in (b"1700000000.25", b"0.001", b"1e-05", b"1.7976931348623157e+308", b"5e-324") if full else ():
        if small or float(spelled) >= (part.least or 0):
            yield BoundaryBytes(REAL, spelled.decode(), spelled)
    for spelled in (b"1E2", b"1e+2", b"1.50", b"1.0e1", b"100e-2", b"12345678901234567890.0") if full else (b"1E2",):
        yield BoundaryBytes(REAL, f"spelled {spelled.decode()}", spelled, "spellings")
    if small:
        yield BoundaryBytes(VANISHED, "1e-400, less than any double", b"1e-400", "spellings")
        if full:
            yield BoundaryBytes(ZERO, "0.0", b"0.0")
            yield BoundaryBytes(MINUS_ZERO, "-0.0", b"-0.0", "spellings")
            yield BoundaryBytes(ZERO, "0 with a huge exponent", b"0e99999999999999999999", "spellings")
            yield BoundaryBytes(REAL, "of more digits than a double has", b"1700000000.123456789012345678", "spellings")
    if part.least is not None:
        yield BoundaryBytes(BELOW, f"{part.least - 0.5}, which is too small", str(part.least - 0.5).encode(), "refused")
    yield BoundaryBytes(BEYOND_DOUBLE, "1e400, beyond any double", b"1e400", "refused")
    for spelled in (b"-1e400", b"1e99999999999999999999") if full else ():
        yield BoundaryBytes(BEYOND_DOUBLE, f"{spelled.decode()}, beyond any double", spelled, "refused")


def number_syntax() -> Iterator[BoundaryBytes]:
    """Give what is no number of JSON."""
    for aspect, spelled in (
        *((LEADING_ZERO, each) for each in ("05", "00", "-05", "007")),
        *((NO_DIGIT, each) for each in ("-", "5.", "5e", "5e+", "5.e3", "--5", "-a", "-Infinity")),
        *((NO_VALUE, each) for each in ("+5", ".5", "NaN", "Infinity", "five", "\u0665")),
        *((NO_COMMA, each) for each in ("0x5", "5_0", "5L", "5 5", "5.5.5", "5e5.5", "5-5", "5;")),
    ):
        yield BoundaryBytes(aspect, f"{spelled}, which is no number", spelled.encode(), "refused")
    yield BoundaryBytes(NO_NAME, "1,000, which is a number and more", b"1,000", "refused")
    yield BoundaryBytes(CUT, "cut behind the minus sign", b"-", "cut", True)
    yield BoundaryBytes(CUT, "cut behind the point", b"5.", "cut", True)
    yield BoundaryBytes(CUT, "cut within the exponent", b"5e-", "cut", True)


def list_variants(part: JsonArray | JsonMap, item: bytes, other: bytes, full: bool) -> Iterator[BoundaryBytes]:
    """Give arrays and objects of any names: empty, of one, of several, and what is none; of two different items."""
    if isinstance(part, JsonArray):
        yield BoundaryBytes(NONE, "empty", b"[]")
        yield BoundaryBytes(ONE, "of one", b"[" + item + b"]")
        yield BoundaryBytes(MORE, "of three", b"[" + b",".join((item, other, item)) + b"]")
        yield BoundaryBytes(MORE, "with white space", b"[ " + item + b"\t,\n" + other + b"\r]", "spellings")
        if full:
            yield BoundaryBytes(MORE, "of 300", b"[" + b",".join((item,) * 300) + b"]")
            shapes = ("[%s,]", "[,%s]", "[%s,,%s]", "[,]", "[%s %s]", "[%s;%s]", "[%s}", "(%s)")
            yield from broken(shapes, item)
        return
    yield BoundaryBytes(NONE, "empty", b"{}")
    yield BoundaryBytes(ONE, "of one", b'{"a":' + item + b"}")
    yield BoundaryBytes(MORE, "of three", b'{"b":' + item + b',"a":' + other + b',"A":' + item + b"}")
    yield BoundaryBytes(MORE, "with white space", b'{ "b" :\t' + item + b'\n,\r"a" : ' + other + b" }", "spellings")
    if full:
        names = b",".join(b'"n%d":%s' % (number, item) for number in range(40))
        yield BoundaryBytes(MORE, "of 40", b"{" + names + b"}")
        names_of = ('{"a":}', '{"a"}', "{a:%s}", "{'a':%s}", "{5:%s}", "{%s}", "{null:%s}", '{"a" %s}', '{"a"=%s}')
        yield from broken((*names_of, '{"a":%s,}', '{,"a":%s}', '{"a":%s "b":%s}', '{"a":%s]', "{,}"), item)


def broken(shapes: Iterable[str], item: bytes) -> Iterator[BoundaryBytes]:
    """Give what is no array and no object."""
    for shape in shapes:
        spelled = shape.replace("%s", item.decode())
        yield BoundaryBytes("syntax", f"{spelled}, which is no JSON", spelled.encode(), "refused")


def number_words(number: int) -> str:
    """Write a number as a person would."""
    return f"-({say(-number)})" if number < 0 and "**" in say(-number) else say(number) if number >= 0 else str(number)
