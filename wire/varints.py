"""Variable-length integers in any spelling, legal or not, and fast: what generators of frames write and find."""

LONGEST = 9
"""Bytes of the longest variable-length integer; its last byte has eight bits."""

# Made once: numbers of up to 14 bits are most of what frames have, and pairs of bytes make up the others. Row by row,
# as all who start goldwire wait for these tables.
SHORT = (
    *(bytes((low,)) for low in range(0x80)),
    *(bytes((low, high)) for high in range(1, 0x80) for low in range(0x80, 0x100)),
)
"""Integers of one or two bytes, by their number."""

CONTINUED = tuple(bytes((low, high)) for high in range(0x80, 0x100) for low in range(0x80, 0x100))
"""The same in two bytes that more follow."""

_LAST = tuple(bytes((number,)) for number in range(256))


def spell(number: int) -> bytes:
    """Spell an integer below 2**64 with a variable length, in the fewest bytes."""
    # Tables instead of shifts, two bytes at a time: samplers spell several of these for every frame.
    if number < 1 << 14:
        return SHORT[number]
    if number < 1 << 28:
        return CONTINUED[number & 0x3FFF] + SHORT[number >> 14]
    out = CONTINUED[number & 0x3FFF] + CONTINUED[number >> 14 & 0x3FFF]
    if number < 1 << 42:
        return out + SHORT[number >> 28]
    out += CONTINUED[number >> 28 & 0x3FFF]
    if number < 1 << 56:
        return out + SHORT[number >> 42]
    return out + CONTINUED[number >> 42 & 0x3FFF] + _LAST[number >> 56]


def stretch(number: int, length: int) -> bytes:
    """Spell an integer with a variable length in exactly ``length`` bytes: overlong if fewer were enough."""
    out = bytearray()
    for _ in range(length - 1):
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def unspell(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer with a variable length, whatever its size: the number and the offset behind it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number = byte & 0x7F
    for index in range(1, LONGEST):
        byte = data[at + index]
        if byte < 0x80 or index == LONGEST - 1:
            return number | byte << 7 * index, at + index + 1
        number |= (byte & 0x7F) << 7 * index
    raise AssertionError


def boundaries(bits: int) -> tuple[int, ...]:
    """Return the numbers below ``2**bits`` at which codecs err, ascending: around every power that a length ends at."""
    # Where a length ends, where registers and Python's and C's integers end, and where the field itself does.
    powers = {7 * length for length in range(1, LONGEST)} | {8, 15, 16, 31, 32, 63, 64, bits - 1, bits}
    near = {(1 << power) + step for power in powers for step in (-1, 0, 1)} | {0, 1, 2}
    return tuple(sorted(number for number in near if number < 1 << bits))
