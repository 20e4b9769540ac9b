"""The boundaries of fields: the bytes at which codecs go wrong, class by class, and how to say what they are."""

from collections.abc import Iterator
from typing import NamedTuple

from vectors.binary.composing import PLAIN, PLAIN_BYTE, PLAIN_TEXT
from wire.kinds import branches as aspects
from wire.kinds.branches import length, lengths
from wire.layout import Counted, Flags, Integer, Part, Remainder, Union, Varint
from wire.primitives import vle


class BoundaryBytes(NamedTuple):
    """The bytes that may stand in a field; ``cut``: the frame ends behind them."""

    aspect: str
    comment: str
    data: bytes
    family: str = "values"
    cut: bool = False


def variants(part: Part, full: bool) -> Iterator[BoundaryBytes]:
    """Give the bytes at the boundaries of a field: each class, and with ``full`` both ends of each."""
    match part:
        case Varint():
            yield from varint_variants(part, full)
        case Integer():
            for number in (0, 1, (1 << 8 * part.size) - 1) if full else (0, (1 << 8 * part.size) - 1):
                yield BoundaryBytes("value", say(number), number.to_bytes(part.size, "little"))
            if part.size > 1:
                yield BoundaryBytes(aspects.CUT, "cut after one byte", b"\1", "cut", True)
        case Counted():
            yield from counted_variants(part, full)
        case Remainder():
            yield BoundaryBytes(aspects.EMPTY, "empty", b"")
            yield BoundaryBytes(aspects.MORE_BYTES, "of two bytes", b"ab" if part.text else b"\0\xff")
            if part.text:
                yield from text_variants(full)


def varint_variants(part: Varint, full: bool) -> Iterator[BoundaryBytes]:
    """Give the spellings of a number: each length, what does not fit, what is too long, what is cut."""
    top = (1 << part.bits) - 1
    numbers = []
    for count in lengths(part.bits):
        low = 1 << 7 * (count - 1) if count > 1 else 0
        numbers += [low, *([1] if full and count == 1 else [])]
        if full:
            numbers.append(min((1 << 7 * count) - 1, top) if count < 9 else 1 << 63)
    for number in dict.fromkeys((*numbers, top)):
        if number <= top:
            spelled = vle(number)
            yield BoundaryBytes("value", f"{say(number)} ({length(len(spelled))})", spelled)
    padded = [(PLAIN, 2), *([(0, 2), (PLAIN, 3), (PLAIN, 9), (top, 8)] if full else [])]
    for number, size in padded:
        if len(vle(number)) < size:
            yield BoundaryBytes(aspects.OVERLONG, f"{say(number)} in {size} bytes", overlong(number, size))
    if part.bits < 64:
        for number in (top + 1, *((top + 1 + PLAIN, 2 * top + 1, (1 << 64) - 1) if full else ())):
            yield BoundaryBytes(aspects.OUT_OF_RANGE, f"{say(number)}, which does not fit", vle(number), "refused")
    yield BoundaryBytes(aspects.CUT, "cut after one byte", b"\x80", "cut", True)


def counted_variants(part: Counted, full: bool) -> Iterator[BoundaryBytes]:
    """Give the lengths of bytes or text, counts that lie, and what is no text."""
    content = PLAIN_TEXT if part.text else PLAIN_BYTE
    top = (1 << part.bits) - 1
    sizes = (0, 1, 2, 127, 128) if full else (0, 1, 2, 128)
    names = {0: "empty", 1: "of one byte"}
    for size in sizes:
        if size <= top:
            yield BoundaryBytes("value", names.get(size, f"of {size} bytes"), vle(size) + content * size)
    yield BoundaryBytes(aspects.OVERLONG, "with a count of 1 in two bytes", b"\x81\0" + content)
    if part.bits < 64:
        comment = f"with a count of {say(top + 1)}, which does not fit"
        yield BoundaryBytes(aspects.OUT_OF_RANGE, comment, vle(top + 1) + content, "refused")
    yield BoundaryBytes(aspects.COUNT_CUT, "with a count that is cut", b"\x80", "cut", True)
    yield BoundaryBytes(aspects.BEYOND, "of three bytes, with one", b"\3" + content, "cut", True)
    if full:
        yield BoundaryBytes(aspects.BEYOND, f"of {say(top)} bytes, with one", vle(top) + content, "cut", True)
    if part.text:
        for variant in text_variants(full):
            yield variant._replace(data=vle(len(variant.data)) + variant.data)


def text_variants(full: bool) -> Iterator[BoundaryBytes]:
    """Give texts that are not ASCII, and bytes that are not UTF-8."""
    yield BoundaryBytes(aspects.NOT_ASCII, "of two bytes, one letter", "ü".encode())
    if full:
        yield BoundaryBytes(aspects.NOT_ASCII, "of four bytes, one character", "𝄞".encode())
        yield BoundaryBytes(aspects.NOT_ASCII, "with U+0000", b"a\0b")
    yield BoundaryBytes(aspects.BAD_TEXT, "that is not UTF-8: 0xff", b"\xff", "refused")
    if full:
        yield BoundaryBytes(aspects.BAD_TEXT, "that is not UTF-8: a slash in two bytes", b"\xc0\xaf", "refused")
        yield BoundaryBytes(aspects.BAD_TEXT, "that is not UTF-8: a surrogate", b"\xed\xa0\x80", "refused")
        yield BoundaryBytes(aspects.BAD_TEXT, "that is not UTF-8: above U+10FFFF", b"\xf4\x90\x80\x80", "refused")
        yield BoundaryBytes(aspects.BAD_TEXT, "that is not UTF-8: a character that is cut", b"a\xc3", "refused")


def overlong(number: int, size: int) -> bytes:
    """Spell a number with a variable length in more bytes than it needs, nine at most."""
    spelled = [number >> 7 * index & 0x7F for index in range(size)]
    return bytes(byte | (0x80 if index + 1 < size else 0) for index, byte in enumerate(spelled))


def say(number: int) -> str:
    """Write a number as a person would: large ones near a power of two by that power."""
    if number > 0xFFFF:
        for by, sign in ((0, ""), (1, " - 1"), (-1, " + 1")):
            power = (number + by).bit_length() - 1
            if number + by == 1 << power:
                return f"2**{power}{sign}"
    return str(number)


def said(flags: Flags, byte: int) -> str:
    """Name the groups of bits that are set, without those that are the same in every byte that can stand there."""
    value = flags.value(byte)
    constant = {name for name, _ in flags.constants}
    words = []
    for name in flags.names:
        if name in constant or not value[name]:
            continue
        wide = name == "X" or flags.bit(name).high > flags.bit(name).low
        words.append(f"X=0x{value[name]:02x}" if name == "X" else f"{name}={value[name]}" if wide else name)
    return " ".join(words) or "nothing set"


def combinations(flags: Flags) -> list[int]:
    """Return the bytes of all combinations of flags; of bits without a name none, each one, and all."""
    spare = flags.spare
    wanted = {0, spare, *(1 << bit for bit in range(8) if spare >> bit & 1)}
    return [byte for byte in flags.begins if byte & spare in wanted]


def single(flags: Flags, plain: int) -> list[int]:
    """Return bytes in which each group of bits has each value (0, 1 and the highest of wider ones) once."""
    found = []
    for name in flags.names:
        values = sorted({flags.value(byte)[name] for byte in flags.begins})
        few = values if len(values) <= 4 else [values[0], values[1], values[-1]]
        for value in few:
            able = [byte for byte in flags.begins if flags.value(byte)[name] == value]
            found.append(min(able, key=lambda byte: ((byte ^ plain).bit_count(), byte)))
    return list(dict.fromkeys(found))


def strangers(union: Union) -> list[int]:
    """Return bytes that begin no message of a union: one of each number that the bits of all headers can make."""
    begun = union.begun()
    mask = 0xFF
    for message in union.messages:
        header = message.header
        mask &= sum(header.bit(name).mask for name, _ in header.constants)
    found: dict[int, int] = {}
    for byte in range(256):
        if begun[byte] is None:
            found.setdefault(byte & mask, byte)
    return list(found.values())
