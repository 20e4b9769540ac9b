"""What any text of JSON can have right or wrong as a whole, whatever layout it is of."""

from collections.abc import Iterator
from typing import NamedTuple

from vectors.json.composing import Composer
from vectors.json.reader import (
    BAD_TEXT,
    BEFORE,
    BEHIND,
    BEYOND_BITS,
    BEYOND_DOUBLE,
    BYTE_ORDER_MARK,
    CONTROL,
    DUPLICATE,
    ENDS_ARRAY,
    ENDS_BEFORE,
    ENDS_CHARACTER,
    ENDS_ESCAPE,
    ENDS_NUMBER,
    ENDS_OBJECT,
    ENDS_PAIR,
    ENDS_STRING,
    ENDS_WORD,
    HALF,
    LEADING_ZERO,
    NO_COLON,
    NO_COMMA,
    NO_DIGIT,
    NO_ESCAPE,
    NO_HEX,
    NO_NAME,
    NO_VALUE,
    NO_WORD,
    NOTHING,
    NUL,
    TOO_DEEP,
    TRAILING,
    WITHIN,
)
from wire.json.strict import DEEPEST

MANY = 100_000
"""Brackets that no reader should follow one by one on its stack."""


class SyntaxFrame(NamedTuple):
    """A frame: the family that it belongs to, the aspect that it looks at, in words, and the bytes."""

    family: str
    aspect: str
    comment: str
    data: bytes


def frames(composer: Composer) -> Iterator[SyntaxFrame]:
    """Give the plainest frame with all that can be around it, in place of it, and changed in it."""
    plain = composer.frame({})
    yield from around(plain)
    yield from other_values(plain)
    yield from other_structure(plain)
    yield from nested()
    yield from small()
    for end in range(1, len(plain)):
        yield SyntaxFrame("cut", "cut", f"the plainest frame, cut after {end} of {len(plain)} bytes", plain[:end])


def around(plain: bytes) -> Iterator[SyntaxFrame]:
    """Give what stands before and behind a frame, legal or not."""
    for words, blank in (("a space", b" "), ("a tab", b"\t"), ("a line feed", b"\n"), ("a line's end", b"\r\n")):
        yield SyntaxFrame("spellings", BEFORE, f"with {words} before", blank + plain)
        yield SyntaxFrame("spellings", BEHIND, f"with {words} behind", plain + blank)
    yield SyntaxFrame("spellings", WITHIN, "with a space behind every comma", plain.replace(b",", b", "))
    yield SyntaxFrame("spellings", WITHIN, "over several lines", plain.replace(b",", b",\n  ").replace(b"{", b"{\n  "))
    mark = b"\xef\xbb\xbf"
    yield SyntaxFrame("refused", BYTE_ORDER_MARK, "with a byte order mark", mark + plain)
    yield SyntaxFrame("refused", TRAILING, "with a byte order mark behind", plain + mark)
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        coded = plain.decode().encode(encoding)
        yield SyntaxFrame("refused", NO_VALUE, f"in {encoding.upper()}", coded)
        mark = "\ufeff".encode(encoding)
        yield SyntaxFrame("refused", NO_VALUE, f"in {encoding.upper()}, with a byte order mark", mark + coded)
    strange = (
        *(("a form feed", b"\x0c"), ("a vertical tab", b"\x0b"), ("NUL", b"\0"), ("a no-break space", b"\xc2\xa0")),
        *(("a line separator", b"\xe2\x80\xa8"), ("a byte that is no UTF-8", b"\xff"), ("a record separator", b"\x1e")),
        *(("a comment", b"/* a */"), ("a comment to the line's end", b"// a\n"), ("a comment behind #", b"# a\n")),
        *(("a comma", b","), ("a semicolon", b";"), ("a letter", b"x"), ("a length", b"\0\0\0\x36")),
    )
    for words, data in strange:
        yield SyntaxFrame("refused", NO_VALUE, f"with {words} before", data + plain)
        yield SyntaxFrame("refused", TRAILING, f"with {words} behind", plain + data)
        yield SyntaxFrame("refused", NO_NAME, f"with {words} within", plain[:1] + data + plain[1:])
    for words, data in (
        *(
            ("twice", plain + plain),
            ("twice, on two lines", plain + b"\n" + plain),
            ("twice, in a list", plain + b"," + plain),
        ),
        *(("and an object", plain + b"{}"), ("and null", plain + b" null"), ("and a bracket", plain + b"}")),
    ):
        yield SyntaxFrame("refused", TRAILING, f"the plainest frame {words}", data)


def other_values(plain: bytes) -> Iterator[SyntaxFrame]:
    """Give frames that are no object, or nothing at all."""
    yield SyntaxFrame("cut", NOTHING, "nothing", b"")
    yield SyntaxFrame("cut", ENDS_BEFORE, "white space and nothing else", b" \t\r\n")
    for word in ("true", "false", "null"):
        yield SyntaxFrame("refused", NO_VALUE, f"{word.title()}, which is no word of JSON", word.title().encode())
        yield SyntaxFrame("refused", NO_WORD, f"{word[:-1]}x, which is no word of JSON", f"{word[:-1]}x".encode())
        yield SyntaxFrame("cut", ENDS_WORD, f"{word}, cut", word[:-1].encode())
    for spelled in ("NaN", "Infinity", "undefined", "None", "'a'", "<a/>", "a: b", "[object Object]"):
        yield SyntaxFrame("refused", NO_VALUE, f"{spelled}, which is no JSON", spelled.encode())
    for words, data in (
        *(("true", b"true"), ("0", b"0"), ("1.5", b"1.5"), ("null", b"null"), ("an empty text", b'""')),
        *(("an empty array", b"[]"), ("an empty object", b"{}")),
        ("the plainest frame in an array", b"[" + plain + b"]"),
        ("the plainest frame in an object", b'{"a":' + plain + b"}"),
        ("the plainest frame in a text", b'"' + plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'),
    ):
        yield SyntaxFrame("types", "value", words, data)


def other_structure(plain: bytes) -> Iterator[SyntaxFrame]:
    """Give a frame without each of its structural characters, with each of them twice, and with another."""
    inside = False
    for at, byte in enumerate(plain):
        character = chr(byte)
        if character == '"':
            inside = not inside
        elif inside or character not in "{}[]:,":
            continue
        where = f"{character} at byte {at}"
        yield SyntaxFrame("refused", "syntax", f"without {where}", plain[:at] + plain[at + 1 :])
        yield SyntaxFrame("refused", "syntax", f"with {where} twice", plain[:at] + plain[at : at + 1] + plain[at:])
        if character in OTHERS:
            other = OTHERS[character]
            yield SyntaxFrame(
                "refused", "syntax", f"with {other} for {where}", plain[:at] + other.encode() + plain[at + 1 :]
            )
    yield SyntaxFrame("refused", NO_NAME, "with a comma before the last bracket", plain[:-1] + b",}")


OTHERS = {"{": "[", "}": "]", ":": "=", ",": ";", '"': "'"}
"""What stands in place of a structural character in what is almost JSON."""


def nested() -> Iterator[SyntaxFrame]:
    """Give arrays and objects within each other, as deep as is read, and deeper."""
    for depth in (DEEPEST, DEEPEST + 1, 1000):
        aspect = "value" if depth == DEEPEST else TOO_DEEP
        yield SyntaxFrame("types", aspect, f"{depth} arrays within each other", b"[" * depth + b"]" * depth)
        objects = b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
        if depth <= DEEPEST + 1:
            yield SyntaxFrame("types", aspect, f"{depth} objects within each other", objects)
    yield SyntaxFrame("types", TOO_DEEP, f"{MANY} arrays within each other", b"[" * MANY + b"]" * MANY)
    yield SyntaxFrame("refused", TOO_DEEP, f"{MANY} brackets that open", b"[" * MANY)


def small() -> Iterator[SyntaxFrame]:
    """Give a small text for each way in which a text is no JSON, with what it says around it."""
    for aspect, family, texts in SMALL:
        for text in texts:
            words = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"<{byte:02x}>" for byte in text)
            yield SyntaxFrame(family, aspect, f"the text {words}", text)


SMALL: tuple[tuple[str, str, tuple[bytes, ...]], ...] = (
    (NO_VALUE, "refused", (b"[?]", b'{"a":?}', b"[,]")),
    (NO_NAME, "refused", (b"{1:2}", b"{,}", b'{"a":1,}')),
    (NO_COLON, "refused", (b'{"a" 1}', b'{"a"}', b'{"a","b"}')),
    (NO_COMMA, "refused", (b"[1 2]", b"[1}", b'{"a":1]', b'{"a":1 "b":2}')),
    (NO_WORD, "refused", (b"tRue", b"[nulL]")),
    (NO_DIGIT, "refused", (b"-x", b"1.x", b"1ex", b"1e+x", b"[-]")),
    (LEADING_ZERO, "refused", (b"00", b"-01")),
    (CONTROL, "refused", (b'"\n"', b'"\0"', b'{"\t":1}')),
    (NO_ESCAPE, "refused", (rb'"\x"', rb'{"\x":1}')),
    (NO_HEX, "refused", (rb'"\u00g0"',)),
    (NUL, "refused", (rb'"\u0000"', rb'{"\u0000":1}')),
    (HALF, "refused", (rb'"\ud800"', rb'{"\udc00":1}')),
    (BAD_TEXT, "refused", (b'"\xff"', b'{"\xc0\x80":1}')),
    (DUPLICATE, "refused", (b'{"a":1,"a":1}', rb'{"a":1,"\u0061":1}', b'[{"":1,"":1}]')),
    (BEYOND_BITS, "refused", (b"9223372036854775808", b"[-9223372036854775809]")),
    (BEYOND_DOUBLE, "refused", (b"1e400", b"[-1e400]")),
    (ENDS_BEFORE, "cut", (b"[1,", b'{"a":')),
    (ENDS_OBJECT, "cut", (b"{", b'{"a"', b'{"a":1', b'{"a":1,')),
    (ENDS_ARRAY, "cut", (b"[", b"[1", b"[[]")),
    (ENDS_WORD, "cut", (b"t", b"fals")),
    (ENDS_NUMBER, "cut", (b"-", b"1.", b"1e", b"1e-")),
    (ENDS_STRING, "cut", (b'"', b'"a', b'{"a')),
    (ENDS_ESCAPE, "cut", (b'"\\', rb'"\u00')),
    (ENDS_PAIR, "cut", (rb'"\ud83d', b'"\\ud83d\\', rb'"\ud83d\ude')),
    (ENDS_CHARACTER, "cut", (b'"\xc3', b'"\xf0\x9f')),
)
