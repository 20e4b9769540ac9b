"""What a byte of flags and a word of bit-fields have in common: an integer of groups of bits that have names."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from wire.constructs import BitNames, NamedBits
from wire.expressions import Group
from wire.kinds.base import FieldFinding, FieldLoop, Part
from wire.kinds.bit_places import Bit, spare_name
from wire.kinds.contexts import CCode, Cell, Kind, Lines, LuaCode, Names
from wire.kinds.edits import Find
from wire.kinds.generators import Pair


class BitGroups(Part, frozen=True):
    """An integer of named ``bits``; those without a name are kept in place under ``spare_name``, if there are any.

    ``constants`` are the names whose value is fixed.
    """

    plain = True

    @property
    @abstractmethod
    def bits(self) -> tuple[Bit, ...]:
        """The groups of bits that have a name."""

    @property
    @abstractmethod
    def constants(self) -> tuple[tuple[str, int], ...]:
        """The names whose value is fixed, with that value."""

    @property
    @abstractmethod
    def is_big(self) -> bool:
        """Whether the highest bits come first."""

    @abstractmethod
    def fewest(self) -> int:
        """Return how many bytes the integer has."""

    @abstractmethod
    def python_octets(self, number: str) -> str:
        """Return the bytes of an integer of these bits, as Python."""

    @abstractmethod
    def spelled(self, number: int) -> bytes:
        """Return the bytes of an integer."""

    @abstractmethod
    def number_in(self, data: bytes) -> int:
        """Return the integer that bytes spell."""

    @property
    def spare(self) -> int:
        """The bits that have no name."""
        return _spare(self)

    @property
    def spare_name(self) -> str:
        """What the bits without a name are kept under."""
        return spare_name(bit.name for bit in self.bits)

    def is_spare(self, name: str) -> bool:
        """Tell whether a name is that of the bits without one."""
        return bool(self.spare) and name == self.spare_name

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the value, in order."""
        return (*self.group_names, *((self.spare_name,) if self.spare else ()))

    @property
    def places(self) -> BitNames:
        """Where the bits of each name stand."""
        return _places(self)

    @property
    def group_names(self) -> tuple[str, ...]:
        return tuple(bit.name for bit in self.bits)

    @property
    def value_names(self) -> tuple[str, ...]:
        return self.names

    def value(self, number: int) -> dict[str, int]:
        """Take an integer apart."""
        return {name: number >> shift & highest for name, highest, shift in self.places}

    def paired(self, number: int) -> Pair:
        return NamedBits(self.value(number), number), self.spelled(number)

    def nameless(self, value: Any) -> int:
        return int(value.get(self.spare_name, 0)) if self.spare else 0

    def group(self, name: str) -> Group | None:
        whole = 8 * self.fewest()
        if self.is_spare(name):
            return Group(self.spare, 0, whole)
        return next((Group(bit.mask, bit.low, whole) for bit in self.bits if bit.name == name), None)

    def take_names(self, names: Names, hint: str) -> None:
        names.table(self, f"{hint}_bits")

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        order = ", true" if self.is_big else ""
        yield f"{code.kept(name)}r:bits({code.declare_bits(name, self)}, {self.fewest()}{order})"

    def c_fits(self, code: CCode, source: str) -> str | None:
        return f"Py_TYPE({source}) == kind_{code.names.tables[self]}.type"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        yield (path, Kind.NUMBER), value.byte

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from (loop.read(value, name) for name in self.names)

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return self.number_finder(path)

    decides = True
    is_composed = True
    can_be_missing = True

    def most_bytes(self) -> float:
        return self.fewest()


# Asked of the same few parts for every frame that is drawn.


@cache
def _spare(groups: BitGroups) -> int:
    return (1 << 8 * groups.fewest()) - 1 & ~sum(bit.mask for bit in groups.bits)


@cache
def _places(groups: BitGroups) -> BitNames:
    named = tuple((bit.name, bit.mask >> bit.low, bit.low) for bit in groups.bits)
    return (*named, (groups.spare_name, groups.spare, 0)) if groups.spare else named
