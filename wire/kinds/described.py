"""What the tree of a layout says about one node, the parts that it is made of aside: numbers, bytes, conditions."""

from collections.abc import Iterable
from typing import Any, ClassVar

from wire.expressions import Expr, Group, Ref
from wire.kinds.contexts import Names, Node
from wire.kinds.generators import Pair


class Described(Node, frozen=True):
    """Whatever can be said about a node in a word or a number: what the drivers decide by."""

    constructs: ClassVar[tuple[Any, ...]] = ()
    """The constructs that declare this kind: classes of Construct, or one object of it (``Pass``)."""

    compound: ClassVar[bool] = False
    """Whether it has functions of its own in generated code."""

    plain: ClassVar[bool] = False
    """Whether it is a plain value that can stand alone, as an item of a list does."""

    def expressions(self) -> tuple[Expr, ...]:
        """Return what is computed from fields that stand earlier, inner parts aside."""
        return ()

    def conditions(self) -> tuple[Expr, ...]:
        """Return the conditions under which there is a value."""
        return ()

    def decisions(self) -> tuple[int, ...]:
        """Return the numbers that what it computes is compared with."""
        return ()

    @property
    def announced(self) -> Expr | None:
        """What says how many bytes or items there are, if earlier fields do."""
        return None

    @property
    def settles(self) -> bool:
        """Whether a number that stands earlier follows from what is drawn here, and not the other way round."""
        return False

    # The number that the value is, if it is one.

    @property
    def number_bits(self) -> int | None:
        """Bits of the number that the value is, its sign aside; ``None`` if it is none."""
        return None

    @property
    def signed(self) -> bool:
        """Whether the number can be negative."""
        return False

    def group(self, name: str) -> Group | None:
        """Return the bits of that name; ``None`` if there are none."""
        return None

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of its bits, if they have names."""
        return ()

    @property
    def decides(self) -> bool:
        """Whether it is an integer that generators can choose by where it leads the later fields."""
        return False

    @property
    def has_few(self) -> bool:
        """Whether ``candidates`` are all integers that can stand here."""
        return False

    def candidates(self, near: Iterable[int], refs: frozenset[Ref]) -> list[int]:
        """Return the integers worth trying where ``refs`` are looked at, ascending; those ``near`` may matter."""
        raise TypeError(f"{self}: not an integer that generators choose; ask `decides` first")

    def spelled(self, number: int) -> bytes:
        """Return the bytes of the integer that it is."""
        raise TypeError(f"{self}: not an integer that generators choose; ask `decides` first")

    def number_in(self, data: bytes) -> int:
        """Return the integer that its bytes are: the opposite of ``spelled``."""
        raise TypeError(f"{self}: not an integer that generators choose; ask `decides` first")

    def paired(self, number: int) -> Pair:
        """Return the value of the integer that it is, and its bytes."""
        return number, self.spelled(number)

    # Its bytes, and its names.

    def fewest(self) -> int:
        """Return the fewest bytes that this part has."""
        return 0

    def most_bytes(self) -> float:
        """Return a number of bytes that this part has at most."""
        return float("inf")

    def may_be_empty(self) -> bool:
        """Tell whether it can have no bytes."""
        return not self.fewest()

    def hopeless(self) -> bool:
        """Tell whether every frame that has this part is refused."""
        return False

    @property
    def refusal(self) -> str:
        """What a number is called that leads to a refusal here, or ""."""
        return ""

    @property
    def open_ended(self) -> bool:
        """Whether it may go on where it could end, so that nothing can follow: only an optional tail does."""
        return False

    def swallows(self) -> int:
        """Return the bytes, as bits of a number, that it would take for its own if they stood right behind it."""
        return 0

    def swallows_behind(self, value: Any) -> int:
        """Return what ``swallows`` does for one value: of several messages only one stands there."""
        return self.swallows()

    @property
    def silent(self) -> bool:
        """Whether the value may be left out of a record, as it has no bytes of its own to say."""
        return False

    @property
    def message_name(self) -> str:
        """The name of the message that it is, or ""."""
        return ""

    @property
    def value_names(self) -> tuple[str, ...]:
        """The names of a value's fields, by which it is told from other values."""
        return ()

    @property
    def own_name(self) -> str:
        """What its functions are called wherever it stands, or ""."""
        return ""

    def take_names(self, names: Names, hint: str) -> None:
        """Name what generated code has of this part; ``hint`` is what it is called where it stands."""
