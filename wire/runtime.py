"""What generated codecs call: the rare paths that are not worth a line in every function."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from wire import reference, varints
from wire.constructs import OCTET as OCTET  # for generated code
from wire.constructs import BitNames, NamedBits, octet_values, vle
from wire.errors import DecodeError, EncodeError, Reason, UnknownLayout

Table = tuple[NamedBits | None, ...]
"""The values of a byte of flags, by the byte; ``None`` where the byte cannot stand there."""


def flags_table(bits: BitNames, begins: Iterable[int] = range(256)) -> Table:
    """Return the values of the bytes that can stand somewhere."""
    possible = set(begins)
    return tuple(value if value.byte in possible else None for value in octet_values(bits))


class Codec(NamedTuple):
    """One layout in one engine: ``decode(data, refuse_overlong=False)`` and ``encode(value)``."""

    decode: Callable[..., Any]
    encode: Callable[[Any], bytes]


class Refusal(DecodeError):
    """A refusal of an optimized engine: it knows the reason and the offset.

    The words (``path``, ``detail``, ``before``) are asked from the reference engine when somebody reads them.
    """

    def __init__(self, reason: Reason, offset: int) -> None:
        # Past the words of `DecodeError`: they are not known before somebody asks for them.
        Exception.__init__(self, reason, offset)
        self.reason = reason
        self.offset = offset
        self.frame: tuple[str, bytes, bool] | None = None

    def __str__(self) -> str:
        return f"{self.reason.value} at byte {self.offset} ({self.path}): {self.detail}"

    def __getattr__(self, name: str) -> Any:
        if name not in ("path", "detail", "before"):
            raise AttributeError(name)
        vars(self).update(self._explained())
        return vars(self)[name]

    def _explained(self) -> dict[str, Any]:
        words: dict[str, Any] = {"path": "(frame)", "detail": "the reference engine does not say so", "before": []}
        if self.frame is not None:
            layout, data, refuse = self.frame
            # Layouts that are made on the spot, as tests do, are in no catalogue: then there is nobody to ask.
            try:
                reference.decode(layout, data, overlong="refuse" if refuse else "accept")
            except UnknownLayout:
                pass
            except DecodeError as error:
                # Words that belong to another refusal would mislead; that engines differ is for the checks to say.
                if (error.reason, error.offset) == (self.reason, self.offset):
                    words = {"path": error.path, "detail": error.detail, "before": error.before}
        return words


class EncodeRefusal(EncodeError):
    """A value that an optimized engine cannot write.

    The words, which name the field, are asked from the reference engine when somebody reads them: that takes hundreds
    of times as long as to refuse, and whoever only compares engines reads none. A value that is changed before that is
    read as it is then; if it can be written by then, the words are those of the engine that refused.
    """

    def __init__(self, layout: str, value: Any, cause: str) -> None:
        super().__init__()
        self._refused = layout, value, cause
        self._words: str | None = None

    def __str__(self) -> str:
        if self._words is None:
            layout, value, cause = self._refused
            self._words = f"the value does not fit the layout: {cause}"
            try:
                reference.encode(layout, value)
            except EncodeError as better:
                self._words = str(better)
        return self._words

    def __repr__(self) -> str:
        return f"EncodeError({str(self)!r})"

    def __reduce__(self) -> tuple[type[EncodeError], tuple[str]]:
        # Another process is sent the words: the value may be anything.
        return EncodeError, (str(self),)


def blanks(record: dict[str, Any], header: str, table: Table) -> tuple[dict[str, Any] | None, ...]:
    """Return a record that has only its flags, by the byte of them; ``None`` where the byte cannot stand there."""
    return tuple(None if flags is None else record | {header: flags} for flags in table)


def refuse_unknown(data: bytes, at: int, refuse: bool) -> NoReturn:
    """Stand in a union's table where a byte begins no message."""
    raise Refusal(Reason.UNKNOWN_ID, at)


Read = Callable[[bytes, int, bool], tuple[Any, int]]
"""A reader: ``(data, at, refuse)`` to a value and the offset behind it."""


def dispatch(*readers: tuple[Read, Iterable[int]]) -> tuple[Read, ...]:
    """Return a union's readers by the byte that begins a message."""
    by_byte = {byte: read for read, begins in readers for byte in begins}
    return tuple(by_byte.get(byte, refuse_unknown) for byte in range(256))


def varint(data: bytes, at: int, value: int, bits: int, refuse: bool) -> tuple[int, int]:
    """Go on with a variable-length integer whose first byte, ``value``, stands before ``at`` and continues.

    Four and five bytes, which real frames have, go without a loop; whatever is odd goes the careful way.
    """
    # The first byte has counted its own continuation bit, and so have those that follow: what is taken away at the
    # end is the sum of these bits. A zero as the last byte is overlong, so it takes the careful way.
    if bits > 31 and (second := data[at]) > 0x7F and (third := data[at + 1]) > 0x7F:
        fourth = data[at + 2]
        if 0 < fourth < 0x80:
            return value + second * 0x80 + third * 0x4000 + fourth * 0x200000 - 0x204080, at + 3
        if fourth and 0 < (fifth := data[at + 3]) < 0x10:
            value += second * 0x80 + third * 0x4000 + fourth * 0x200000 + fifth * 0x10000000 - 0x10204080
            return value, at + 4
    return _varint(data, at, value, bits, refuse)


def _varint(data: bytes, at: int, value: int, bits: int, refuse: bool) -> tuple[int, int]:
    start = at - 1
    value -= 0x80
    for weight in WEIGHTS:
        byte = data[at]
        at += 1
        if byte < 0x80:
            value += byte * weight
            break
        value += (byte - 0x80) * weight
    # The ninth byte has eight bits and never continues: 8 * 7 + 8 = 64.
    else:
        byte = data[at]
        at += 1
        value += byte << 56
    if value >> bits:
        raise Refusal(Reason.OUT_OF_RANGE, start)
    if byte == 0 and refuse:
        raise Refusal(Reason.OVERLONG, start)
    return value, at


WEIGHTS = tuple(1 << shift for shift in range(7, 56, 7))
"""What the second to the eighth byte of a variable-length integer count."""

BIT_0, BIT_1, BIT_2, BIT_3, BIT_4, BIT_5, BIT_6 = (
    tuple(bool(byte >> place & 1) for byte in range(256)) for place in range(7)
)
"""Whether a bit is set, by the byte."""

VARINT, CONTINUED = varints.SHORT, varints.CONTINUED
"""Variable-length integers of one or two bytes, by their number; and the same in two bytes that more follow."""


def spell_varint(value: Any, bits: int) -> bytes:
    """Spell an integer that is not in ``VARINT``; ``EncodeError`` if it has more than ``bits`` bits."""
    if bits > 31 and 0x3FFF < value < 0x100000000:
        spelled: bytes = CONTINUED[value & 0x3FFF]
        value >>= 14
        if value > 0x3FFF:
            spelled += CONTINUED[value & 0x3FFF]
            value >>= 14
        spelled += VARINT[value]
        return spelled
    if not isinstance(value, int) or value < 0 or value >> bits:
        raise EncodeError(f"{value!r} is not an unsigned integer of {bits} bits")
    return vle(value)


def spell_bits(value: Any, bits: BitNames, fixed: dict[str, int]) -> int:
    """Return the integer of named bits; an absent name counts as 0, and those that are fixed are not read.

    Raises ``EncodeError`` if a value does not fit.
    """
    if not isinstance(value, (dict, Mapping)):  # almost always a dict, of which that is soon known
        raise EncodeError(f"{value!r} is not a table of flags")
    integer = 0
    for name, highest, shift in bits:
        number = fixed[name] if name in fixed else value.get(name, 0)
        if not isinstance(number, int) or number < 0 or number & ~highest:
            raise EncodeError(f"{name}: {number!r} does not fit")
        integer |= number << shift
    # A value made by hand may have X although no bit is left for it; 0 says nothing, anything else would be lost.
    if value.get("X", 0) != 0 and not any(name == "X" for name, _, _ in bits):
        raise EncodeError("X: every bit has a name")
    return integer


def spell_flags(value: Any, bits: BitNames, fixed: dict[str, int], table: Table) -> int:
    """Return the byte of named bits; ``EncodeError`` also if the byte cannot stand here."""
    byte = spell_bits(value, bits, fixed)
    if table[byte] is None:
        raise EncodeError(f"{value!r} begins another message")
    return byte


def named_bits(number: int, bits: BitNames) -> NamedBits:
    """Return the named bits of an integer."""
    return NamedBits({name: number >> shift & highest for name, highest, shift in bits}, number)


def nul(data: bytes, at: int, most: int) -> int:
    """Return where the NUL stands that ends at most ``most`` bytes."""
    # One byte more than the text may have: the NUL itself may stand there.
    end = data.find(0, at, at + most + 1)
    if end < 0:
        raise Refusal(Reason.TOO_LONG, at + most) if len(data) - at > most else Refusal(Reason.TRUNCATED, len(data))
    return end


def zeros(data: bytes, at: int, count: int) -> int:
    """Return where padding of ``count`` bytes ends."""
    end = at + count
    if end > len(data):
        raise Refusal(Reason.TRUNCATED, len(data))
    # The first byte that is not 0 is what is refused; stripping finds it without a loop in Python.
    left = data[at:end].lstrip(b"\0")
    if left:
        raise Refusal(Reason.BAD_VALUE, end - len(left))
    return end


def enclosed(read: Read, data: bytes, at: int, end: int, refuse: bool) -> Any:
    """Return what fills the bytes from ``at`` to ``end``, which are all that its reader sees."""
    try:
        # A copy, so that a byte beyond the end is an IndexError here as at the end of a frame; no reader has to know
        # where the bytes end that it may read.
        value, behind = read(data[at:end], 0, refuse)
    except IndexError:
        raise Refusal(Reason.TRUNCATED, end) from None
    except Refusal as refusal:
        raise Refusal(refusal.reason, at + refusal.offset) from None
    if at + behind != end:
        raise Refusal(Reason.TRAILING, at + behind)
    return value


def refusing(error: Exception, layout: str, data: bytes, refuse: bool) -> Refusal:
    """Return the refusal behind an exception of a reader: an ``IndexError`` is a byte that is not there."""
    refusal = error if isinstance(error, Refusal) else Refusal(Reason.TRUNCATED, len(data))
    refusal.frame = layout, data, refuse
    return refusal


REASONS = tuple(Reason)


def native_refusal(reason: int, offset: int, layout: str, data: bytes, refuse: int) -> Refusal:
    """Return the refusal of the native engine, which gives the reason by its place among ``Reason``."""
    refusal = Refusal(REASONS[reason], offset)
    refusal.frame = layout, data, bool(refuse)
    return refusal


def encode_refusal(error: Exception, layout: str, value: Any) -> EncodeRefusal:
    """Return the refusal behind an exception of a writer."""
    return EncodeRefusal(layout, value, str(error))
