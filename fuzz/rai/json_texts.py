"""Texts of JSON as bytes, and how they are broken: what readers of JSON trip over, strict and relaxed ones."""

import json
from collections.abc import Callable, Sequence
from random import Random

from fuzz.net.texts import LOOKALIKES, MANY, NO_TEXT, ODD, SIZES

Pairs = list[tuple[bytes, bytes]]
"""The members of an object, names and values as they are spelled."""

NUMBERS: tuple[bytes, ...] = (
    *(
        str(sign * ((1 << width) + more)).encode()
        for width in (7, 8, 15, 16, 31, 32, 53, 63, 64, 128)
        for more in (-1, 0, 1)
        for sign in (1, -1)
    ),
    *(b"0", b"-0", b"-1", b"1.0", b"1.5", b"1e3", b"1e400", b"-1e-400", b"9" * 400, b"0." + b"0" * 400 + b"1"),
)

LITERALS = (
    b"null",
    b"true",
    b"false",
    b"[]",
    b"{}",
    b'""',
    b'"1"',
    b"[1]",
    b'{"a":1}',
    b'" "',
    b'"\\u0000"',
    b"[[],{}]",
)

RELAXED = (
    *(b"word", b"a.b-c", b"'single'", b"+1", b".5", b"5.", b"007", b"0x10", b"inf", b"nan", b"Infinity", b"undefined"),
    *(
        b"/*x*/1",
        b"1 //x\n",
        b"nullx",
        b"4fab",
        b"12:30",
        b"pgm://h:1",
        b'"\\q"',
        b'"\\x41"',
        b'"a\nb"',
        b"True",
        b"`a`",
    ),
)
"""Values that some readers take."""

ESCAPES = (
    *(b"\\u0000", b"\\ud800", b"\\udc00", b"\\ud83e\\udd80", b"\\ud800\\ud800", b"\\u00e9", b"\\u005c", b"\\u0022"),
    *(b"\\u", b"\\u12", b"\\uZZZZ", b"\\", b"\\/", b"\\q", b"\\u0061\\u0301", b"\\uffff", b"\\u202e"),
)


def text_of(data: bytes, random: Random) -> bytes:
    """Return bytes as a text of JSON: escaped as it should be, mostly; else as they are, between quotes."""
    kind = random.random()
    if kind < 0.9:
        try:
            return json.dumps(data.decode(), ensure_ascii=kind < 0.2).encode()
        except UnicodeError:
            pass
    return b'"%b"' % data


def object_with(pairs: Pairs) -> bytes:
    """Return an object."""
    return b"{%b}" % b",".join(b"%b:%b" % pair for pair in pairs)


def pairs_of(members: dict[str, object]) -> Pairs:
    """Return the members of an object."""
    return [
        (json.dumps(name).encode(), json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
        for name, value in members.items()
    ]


def broken_object(members: dict[str, object], random: Random) -> bytes:
    """Return an object with some members that is broken in one to three ways."""
    pairs = pairs_of(members)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_WAYS)(pairs, random)
    data = object_with(pairs)
    return random.choice(_SPELLINGS)(data, random) if random.random() < 0.4 else data


def deep(random: Random) -> bytes:
    """Return a value within values."""
    depth = random.choice(MANY)
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]"), (b"[[],", b"]")))
    return opening * depth + b"1" + closing * (depth if random.random() < 0.9 else depth // 2)


def value(random: Random) -> bytes:
    """Return a value that is as odd as may be."""
    match random.randrange(7):
        case 0 | 1:
            return random.choice(NUMBERS)
        case 2:
            return random.choice(LITERALS)
        case 3:
            return random.choice(RELAXED)
        case 4:
            return deep(random)
        case 5:
            return b'"%b%b"' % (random.choice((b"", b"a")), random.choice(ESCAPES))
        case _:
            return text_of(random.choice((*ODD, *LOOKALIKES)).encode(), random)


def _other_value(pairs: Pairs, random: Random) -> None:
    if pairs:
        at = random.randrange(len(pairs))
        pairs[at] = pairs[at][0], value(random)


def _number(pairs: Pairs, random: Random) -> None:
    numbers = [at for at, (_, found) in enumerate(pairs) if found.lstrip(b"-").isdigit()]
    if numbers:
        at = random.choice(numbers)
        pairs[at] = pairs[at][0], random.choice(NUMBERS)


def _twice(pairs: Pairs, random: Random) -> None:
    if pairs:
        name, known = random.choice(pairs)
        pairs.insert(random.randrange(len(pairs) + 1), (name, random.choice((known, value(random)))))


def _header_again(pairs: Pairs, random: Random) -> None:
    header = ((b'"session"', b'"$me"'), (b'"seqno"', random.choice(NUMBERS)), (b'"digest"', b'"x"'))
    pairs.insert(random.randrange(len(pairs) + 1), random.choice(header))


def _left_out(pairs: Pairs, random: Random) -> None:
    if pairs:
        del pairs[random.randrange(len(pairs))]


def _unknown(pairs: Pairs, random: Random) -> None:
    name = random.choice(
        (b'"x"', b'""', b'"a.b"', b'"__proto__"', b'"%b"' % (b"n" * random.choice(SIZES)), b'"\\u0000"')
    )
    pairs.insert(random.randrange(len(pairs) + 1), (name, value(random)))


def _many(pairs: Pairs, random: Random) -> None:
    for number in range(random.choice(MANY)):
        pairs.append((b'"m%d"' % number, b"%d" % number))


def _bare_name(pairs: Pairs, random: Random) -> None:
    if pairs:
        at = random.randrange(len(pairs))
        pairs[at] = pairs[at][0].strip(b'"'), pairs[at][1]


def _exchanged(pairs: Pairs, random: Random) -> None:
    random.shuffle(pairs)


_WAYS: Sequence[Callable[[Pairs, Random], None]] = (
    *(_other_value, _other_value, _other_value, _number, _number, _twice, _header_again),
    *(_left_out, _unknown, _unknown, _many, _bare_name, _exchanged),
)


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _comma(data: bytes, random: Random) -> bytes:
    return data[:-1] + b",}"


def _no_comma(data: bytes, random: Random) -> bytes:
    return data.replace(b",", b"\n", 1)


def _no_colon(data: bytes, random: Random) -> bytes:
    return data.replace(b":", b" ", 1)


def _single_quotes(data: bytes, random: Random) -> bytes:
    return data.replace(b'"', b"'")


def _behind(data: bytes, random: Random) -> bytes:
    return data + random.choice((b" ", b"x", b"}", data, b"\0", b"\xff", b",", b"//"))


def _white(data: bytes, random: Random) -> bytes:
    return data.replace(b",", random.choice((b" , ", b"\n,\t", b",\x0b", b",\xc2\xa0", b", \x0c ")))


def _no_text(data: bytes, random: Random) -> bytes:
    at = random.randrange(1, len(data) + 1)
    return data[:at] + random.choice(NO_TEXT) + data[at:]


def _mark(data: bytes, random: Random) -> bytes:
    return b"\xef\xbb\xbf" + data


_SPELLINGS: Sequence[Callable[[bytes, Random], bytes]] = (
    *(_cut, _cut, _comma, _no_comma, _no_colon, _single_quotes, _behind, _white, _no_text, _mark),
)
