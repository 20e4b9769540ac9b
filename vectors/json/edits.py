"""What can be done to the parts of a text of JSON: lists of named mutations, for ``json_mutation`` to put to places.

A mutation gets the frame, the start and the end of its part, and ``cuts``: of a container where its members or items
begin and end, one after the other; of a member where its name ends and its value begins.
"""

import re
from collections.abc import Callable, Collection, Sequence

from vectors.json import spelling
from vectors.json.scanner import ARRAY, BOOL, INTEGRAL, OBJECT, REAL, TEXT, unquoted
from wire.json.strict import BYTE_ORDER_MARK
from wire.kinds.edits import NOT_TEXT, Below, Mutation, put, replaced, truncate

COMMA_BEHIND = re.compile(rb"[ \t\n\r]*,")
COMMA_BEFORE = re.compile(rb",[ \t\n\r]*\Z")

WRONG_TYPE_VALUES = {
    TEXT: (b'""', b'"0"', b'"a"', b'"null"'),
    INTEGRAL: (b"0", b"1", b"-1"),
    REAL: (b"0.0", b"1.5", b"1e0"),
    BOOL: (b"true", b"false"),
    OBJECT: (b"{}", b'{"a":1}'),
    ARRAY: (b"[]", b"[0]", b'["a"]'),
    "null": (b"null",),
}
"""Values of each type of JSON."""

MALFORMED = (
    *(b"01", b"00", b"-01", b"+1", b".5", b"-.5", b"1.", b"1.e1", b"1e", b"1e+", b"1e+-1", b"--1", b"-", b"1.2.3"),
    *(b"0x10", b"1_0", b"1 0", b"1,0", "\u0661".encode(), b"1f", b"1L", b"0b1", b"1e1.5", b"\xe2\x88\x92" + b"1"),
)
NOT_NUMBERS = (b"NaN", b"-NaN", b"Infinity", b"-Infinity", b"nan", b"inf", b"1.#INF", b"undefined")
MANY_DIGITS = (*(b"9" * count for count in (20, 40, 400, 5000)), b"-" + b"9" * 400, b"1" + b"0" * 19)
BEYOND_DOUBLE = (b"1e309", b"-1e309", b"1e400", b"17976931348623159" + b"0" * 292 + b".0", b"1E+99999999999999999999")
CONTROLS = (b"\0", b"\x01", b"\b", b"\t", b"\n", b"\r", b"\x1b", b"\x1f")
HALVES = (
    *(rb"\ud800", rb"\udbff", rb"\udc00", rb"\uDFFF", rb"\ude00\ud83d", rb"\ud83dx", rb"\ud83d\n", rb"\uD83D\u0041"),
    *(rb"\ud83d\ud83d", rb"\ud83d\\ude00"),
)
BAD_ESCAPES = (rb"\x41", rb"\'", rb"\U0041", rb"\a", rb"\0", rb"\u00g0", rb"\u 041", rb"\u+041", rb"\u{41}", b"\\\n")
ODD_WHITE = (b"\x0b", b"\x0c", b"\0", b"\xc2\xa0", b"\xe2\x80\xa8", BYTE_ORDER_MARK, b"\x1a", b"\x85", b"/**/", b"#\n")
BEHIND = (b"x", b"{}", b"[]", b"0", b"\0", b"\0\0\0\0", b",", b"}", b"]", b'"', b"\xff", BYTE_ORDER_MARK, b"\n{}\n")
DEPTHS = (1, 2, 61, 62, 63, 64, 65, 66, 200)
GROWN = (63, 64, 127, 128, 255, 256, 257, 1024, 4096)
ANOTHER_NAME = (
    str.upper,
    str.title,
    lambda name: name.replace("-", "_"),
    lambda name: name + " ",
    lambda name: name[1:],
)


def _words(name: str, path: str) -> str:
    return f"{name} {path}" if path else f"{name} frame"


def _changed(name: str, rewrite: Callable[[bytes, Below], bytes | None]) -> Mutation:
    """Make a mutation that puts something else in the place of a part."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        piece = rewrite(frame[start:end], below)
        return None if piece is None else put(frame, start, end, piece)

    return name, change


def _inserted(name: str, options: Sequence[bytes]) -> Mutation:
    """Make a mutation that puts something behind the first quotation mark of a text, or before the last one."""

    def insert(token: bytes, below: Below) -> bytes | None:
        piece = options[below(len(options))]
        if token[:1] != b'"' or token[-1:] != b'"' or len(token) < 2:
            return None
        return token[:-1] + piece + token[-1:] if below(2) else token[:1] + piece + token[1:]

    return _changed(name, insert)


def _respelled(token: bytes, below: Below) -> bytes | None:
    text = unquoted(token)
    way = spelling.LETTERS[1 + below(len(spelling.LETTERS) - 1)]
    try:
        return None if text is None else way(text).encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return None


def of_value(path: str, kinds: str) -> list[Mutation]:
    """Return what can be done to a value that may be of some ``kinds``: another type, levels around it, its end."""
    others = [value for kind, values in WRONG_TYPE_VALUES.items() if kind not in kinds for value in values]

    def nest(token: bytes, below: Below) -> bytes:
        depth = DEPTHS[below(len(DEPTHS))]
        return b"[" * depth + token + b"]" * depth if below(2) else b'{"a":' * depth + token + b"}" * depth

    retype = [replaced(f"retype {path}", others)] if others else []
    return [*retype, _changed(f"nest {path}", nest), truncate(path)]


def of_text(path: str, names: Sequence[str], known: Collection[str]) -> list[Mutation]:
    """Return what can be done to a text, which is one of ``names`` if there are any; ``known`` ones stand here too."""
    mutations = [
        _changed(_words("respell", path), _respelled),
        _changed(_words("quotation mark missing in", path), lambda token, below: token[:-1] if below(2) else token[1:]),
        _changed(_words("no quotation marks around", path), lambda token, below: token[1:-1]),
        _changed(_words("single quotation marks around", path), lambda token, below: b"'%b'" % token[1:-1]),
        _inserted(_words("raw control character in", path), CONTROLS),
        _inserted(_words("bad escape in", path), BAD_ESCAPES),
        _inserted(_words("half surrogate pair in", path), HALVES),
        _inserted(_words("escaped NUL in", path), [rb"\u0000"]),
        _inserted(_words("not UTF-8 in", path), NOT_TEXT),
    ]
    if names:
        wrong = {name for known_ in known for name in (*(change(known_) for change in ANOTHER_NAME), "", "a")}
        wrong = {*wrong, *(name + "\u200b" for name in names)} - {*known, *names}
        other = sorted({*known, *names})
        return [
            *mutations,
            replaced(_words("wrong name in", path), _spelled(sorted(wrong))),
            *([replaced(_words("another name in", path), _spelled(other))] if len(other) > 1 else []),
        ]
    return [
        *mutations,
        _inserted(_words("surrogate pair in", path), [rb"\ud83d\ude00", rb"\uDBFF\uDFFF"]),
        replaced(_words("empty", path), [b'""']),
        replaced(_words("another text in", path), _spelled(spelling.TEXTS)),
        _changed(
            _words("grow", path),
            lambda token, below: token[:-1] + b"a" * (GROWN[below(len(GROWN))] - len(token) + 2) + token[-1:],
        ),
    ]


def _spelled(texts: Sequence[str]) -> list[bytes]:
    return [spelling.LETTERS[0](text).encode() for text in texts]


def of_number(path: str) -> list[Mutation]:
    """Return what can be done to any number."""
    # In an array a comma makes two numbers of one, and both are well.
    malformed = [each for each in MALFORMED if b"," not in each or not path.endswith("[]")]
    return [
        replaced(_words("malformed number in", path), malformed),
        replaced(_words("not a number in", path), NOT_NUMBERS),
        replaced(_words("many digits in", path), MANY_DIGITS),
        replaced(_words("minus zero in", path), [b"-0"]),
        _changed(_words("leading zero in", path), _zero_before),
        _changed(_words("plus sign in", path), lambda token, below: b"+" + token),
    ]


def _zero_before(token: bytes, below: Below) -> bytes:
    digits = token.removeprefix(b"-")
    return token[: len(token) - len(digits)] + b"0" * (1 + below(3)) + digits


def of_integer(path: str, least: int, most: int) -> list[Mutation]:
    """Return what can be done to an integer."""
    return [
        *of_number(path),
        replaced(_words("boundary in", path), [b"%d" % number for number in spelling.integers(least, most)]),
        replaced(_words("out of range in", path), [b"%d" % number for number in spelling.beyond(least, most)]),
        _changed(_words("fraction in", path), lambda token, below: token + (b".0", b".5", b".000")[below(3)]),
        _changed(_words("exponent in", path), lambda token, below: token + (b"e0", b"E+2", b"e-1", b".0e1")[below(4)]),
        replaced(_words("beyond any double in", path), BEYOND_DOUBLE),
    ]


def of_real(path: str, least: int | None) -> list[Mutation]:
    """Return what can be done to a number that need not be an integer."""
    near = [spelled.encode() for real in spelling.reals(least) for spelled in spelling.numerals(real)]
    low = [] if least is None else [b"%d" % (least - 1), b"%r" % (least - 0.5), b"-1e300"]
    return [
        *of_number(path),
        replaced(_words("boundary in", path), near),
        replaced(_words("out of range in", path), [*low, b"9223372036854775808", b"-9223372036854775809"]),
        replaced(_words("beyond any double in", path), BEYOND_DOUBLE),
        _changed(_words("exponent in", path), lambda token, below: token + (b"e0", b"E-5", b"e+")[below(3)]),
    ]


def of_bool(path: str) -> list[Mutation]:
    """Return what can be done to ``true`` and ``false``."""
    return [
        replaced(_words("the other of", path), [b"true", b"false"]),
        replaced(_words("wrong word in", path), [b"True", b"FALSE", b"tru", b"yes", b"truee", b"t"]),
    ]


Rearrange = Callable[[list[bytes], Below], list[bytes] | None]


def _rearranged(name: str, rearrange: Rearrange, least: int) -> Mutation:
    """Make a mutation of the members or items of a container that has at least so many."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        if len(cuts) < 2 * least:
            return None
        inside = rearrange([frame[a:b] for a, b in zip(cuts[::2], cuts[1::2], strict=True)], below)
        if inside is None:
            return None
        closing = b"}" if frame[start : start + 1] == b"{" else b"]"
        return put(frame, start, end, frame[start : start + 1] + b",".join(inside) + closing)

    return name, change


def _duplicate(items: list[bytes], below: Below) -> list[bytes]:
    index = below(len(items))
    return items[:index] + items[index : index + 1] * (1, 1, 1, 2, 20)[below(5)] + items[index:]


def _swap(items: list[bytes], below: Below) -> list[bytes]:
    one = below(len(items))
    other = (one + 1 + below(len(items) - 1)) % len(items)
    items[one], items[other] = items[other], items[one]
    return items


def _drop(items: list[bytes], below: Below) -> list[bytes]:
    del items[below(len(items))]
    return items


def _doubled_comma(items: list[bytes], below: Below) -> list[bytes]:
    items.insert(1 + below(len(items) - 1), b"")
    return items


def _punctuation(path: str) -> list[Mutation]:
    """Return what can be done to the brackets and commas of a container, and to the white space in it."""

    def between(name: str, options: Sequence[bytes]) -> Mutation:
        def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
            places = (start + 1, *cuts, end - 1)
            at = places[below(len(places))]
            return put(frame, at, at, options[below(len(options))])

        return name, change

    def bracket(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        at = (start, end - 1)[below(2)]
        return put(frame, at, at + 1, (b"", b"(", b"<", frame[at : at + 1] * 2)[below(4)])

    def other_bracket(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, end - 1, end, b"]" if frame[start : start + 1] == b"{" else b"}")

    def no_comma(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        if len(cuts) < 4:
            return None
        gap = 2 * below(len(cuts) // 2 - 1)
        return put(frame, cuts[gap + 1], cuts[gap + 2], (b" ", b";", b"\n")[below(3)])

    return [
        _rearranged(f"comma doubled in {path}", _doubled_comma, 2),
        (f"comma missing in {path}", no_comma),
        _rearranged(f"comma at the end of {path}", lambda items, below: [*items, b""], 1),
        _rearranged(f"comma at the start of {path}", lambda items, below: [b"", *items], 1),
        (f"bracket missing or wrong in {path}", bracket),
        (f"wrong end of {path}", other_bracket),
        between(f"white space in {path}", (b" ", b"\n", b"\r\n\t")),
        between(f"odd white space in {path}", ODD_WHITE),
        _rearranged(f"swap in {path}", _swap, 2),
    ]


def of_array(path: str) -> list[Mutation]:
    """Return what can be done to items in a row."""
    path = path or "frame"
    return [
        *_punctuation(path),
        _rearranged(f"duplicate in {path}", _duplicate, 1),
        _rearranged(f"drop in {path}", _drop, 1),
    ]


def of_map(path: str) -> list[Mutation]:
    """Return what can be done to an object whose members have any names."""
    path = path or "frame"

    def add(items: list[bytes], below: Below) -> list[bytes]:
        item = items[below(len(items))]
        name, text = item.partition(b":")[2], spelling.TEXTS[below(len(spelling.TEXTS))]
        return [*items, b"%b:%b" % (spelling.LETTERS[0](text).encode(), name)]

    return [*_punctuation(path), _rearranged(f"add to {path}", add, 1), _rearranged(f"drop in {path}", _drop, 1)]


def of_object(path: str, unknown: Sequence[str], own: Collection[str]) -> list[Mutation]:
    """Return what can be done to an object with members of its ``own``, among which no ``unknown`` name is."""
    usual = [name for name in ("x", "", "type", "__proto__", "\ufeff", "constructor") if name not in own]
    strange = _spelled([*unknown, *usual])
    values = [value for values in WRONG_TYPE_VALUES.values() for value in values]

    def add(items: list[bytes], below: Below) -> list[bytes]:
        name, value = strange[below(len(strange))], values[below(len(values))]
        items.insert(below(len(items) + 1), b"%b:%b" % (name, value))
        return items

    return [*_punctuation(path), _rearranged(f"unknown field in {path}", add, 0)]


def _without(frame: bytes, start: int, end: int) -> bytes:
    """Leave out a member with the comma behind it, or before it."""
    behind = COMMA_BEHIND.match(frame, end)
    if behind is not None:
        return frame[:start] + frame[behind.end() :]
    before = COMMA_BEFORE.search(frame, max(0, start - 100), start)
    return frame[: start if before is None else before.start()] + frame[end:]


def of_named(path: str) -> list[Mutation]:
    """Return what can be done to any member."""

    def double(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        name, behind = frame[start : cuts[0]], frame[cuts[0] : cuts[1]]
        value = (frame[cuts[1] : end], b"null", b"0")[below(3)]
        called = (_respelled(name, below) or name) if below(2) else name
        return put(frame, end, end, b",%b%b%b" % (called, behind, value))

    def respell(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        name = _respelled(frame[start : cuts[0]], below)
        return None if name is None else put(frame, start, cuts[0], name)

    def no_colon(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, cuts[0], cuts[1], (b" ", b"=", b"::", b",", b"=>")[below(5)])

    def no_value(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, cuts[below(2)], end, b"")

    def no_marks(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, cuts[0], (frame[start + 1 : cuts[0] - 1], b"'a'", b"0", b"null", b"")[below(5)])

    def wrong_mark(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        piece = (*CONTROLS, *NOT_TEXT, *HALVES, *BAD_ESCAPES, rb"\u0000")
        return put(frame, cuts[0] - 1, cuts[0] - 1, piece[below(len(piece))])

    return [
        (f"doubled {path}", double),
        (f"missing {path}", lambda frame, start, end, cuts, below: _without(frame, start, end)),
        (f"respell name of {path}", respell),
        (f"colon missing or wrong in {path}", no_colon),
        (f"value missing in {path}", no_value),
        (f"no text as name of {path}", no_marks),
        (f"bad text as name of {path}", wrong_mark),
        truncate(path),
    ]


def of_member(path: str, name: str, others: Sequence[str]) -> list[Mutation]:
    """Return what can be done to a member of an object that has none with one of the ``others`` as its name."""
    wrong = {change(name) for change in ANOTHER_NAME} - {name}

    def rename(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, cuts[0], names[below(len(names))])

    names = _spelled([*sorted(wrong), *others])
    return [*of_named(path), (f"renamed {path}", rename)]


def of_frame() -> list[Mutation]:
    """Return what can be done to a whole frame."""
    encodings = ("utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be")

    def encode(frame: bytes, below: Below) -> bytes | None:
        try:
            return frame.decode().encode(encodings[below(len(encodings))])
        except UnicodeError:
            return None

    def brackets(frame: bytes, below: Below) -> bytes:
        return (b"[", b'{"a":', b'[{"":')[below(3)] * (63, 64, 65, 1000)[below(4)]

    values = [value for values in WRONG_TYPE_VALUES.values() for value in values]
    return [
        _changed("byte order mark", lambda frame, below: BYTE_ORDER_MARK + frame),
        _changed("trailing data", lambda frame, below: frame + BEHIND[below(len(BEHIND))]),
        _changed("frame twice", lambda frame, below: frame + (b"", b"\n", b",", b"\0")[below(4)] + frame),
        _changed("white space around frame", lambda frame, below: b"\r\n" + frame + b"\t "),
        _changed("odd white space before frame", lambda frame, below: ODD_WHITE[below(len(ODD_WHITE))] + frame),
        _changed("odd white space behind frame", lambda frame, below: frame + ODD_WHITE[below(len(ODD_WHITE))]),
        _changed("another encoding of frame", encode),
        _changed("brackets without end", brackets),
        _changed("frame as text", lambda frame, below: b'"%b"' % frame.replace(b"\\", rb"\\").replace(b'"', rb"\"")),
        replaced("another value as frame", [b"", *values]),
        truncate("frame"),
    ]
