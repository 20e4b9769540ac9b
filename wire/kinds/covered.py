"""What golden vectors ask of a node: what can happen at a place of it, what did, and how frames come there.

Coverage is the proof that vectors leave nothing out (``vectors/binary/coverage.py``). Composing is how most of them are
made (``vectors/binary/composing.py``, ``specimens.py``): a kind that is composed has a boundary list, a plan and pairs;
frames of any other are searched (``vectors/binary/searching.py``).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wire.expressions import Expr
from wire.kinds.boundaries import BoundaryBytes, say
from wire.kinds.branches import Inside, Place, Tracing
from wire.kinds.coded import Coded
from wire.kinds.composing import Change, ComposedTarget, Composing, Looking, Plan, PlannedOption, Way
from wire.kinds.generators import NoGenerator


class Covered(Coded, frozen=True):
    """What is known about the places at which a node stands."""

    # Coverage: what can happen at a place of a layout, and what does.

    def fewest_filled(self) -> int:
        """Return the fewest bytes that this part takes of more than it needs."""
        return self.fewest()

    @property
    def takes_rest(self) -> bool:
        """Whether nothing can be over behind it: it goes to the end, or is refused always."""
        return False

    @property
    def holds_value(self) -> bool:
        """Whether it stands for bytes itself: not if another part decides which, or there are none."""
        return True

    @property
    def frame_limit(self) -> int | None:
        """The bytes that a whole frame has at most, if this part limits it."""
        return None

    @property
    def decided_by(self) -> Expr | None:
        """The expression whose values decide what can happen here, if it is not one of ``alternatives``."""
        return None

    def inside(self) -> Iterator[Inside]:
        """Give the places within a place of this part, the fields of a record aside."""
        yield from ()

    def by_first_byte(self) -> Sequence[Any]:
        """Return what is looked up by the first byte, if anything is."""
        return ()

    def alternatives(self) -> tuple[str, ...]:
        """Return the labels between which the fields that stand earlier choose."""
        return ()

    def chosen(self, computed: Callable[[Expr], int]) -> str:
        """Return the label that is chosen; ``computed`` gives the values of expressions."""
        raise TypeError(f"{type(self).__name__}: there are no alternatives")

    def branches(self, place: Place) -> Iterator[str]:
        """Give the names of what can happen at a place."""
        raise NoGenerator(f"no vectors are made for {type(self).__name__}")

    def limit_branches(self, place: Place) -> Iterator[str]:
        """Give the names of what can happen to a list that is as long as can be."""
        yield from ()

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        """Read a value along a layout, and say what happens."""
        raise NoGenerator(f"no vectors are made for {type(self).__name__}")

    @property
    def ends_inside(self) -> bool:
        """Whether what can follow is said at the places within: a frame ends with one of its messages."""
        return False

    # Composing: a frame is written forwards, by a plan.

    @property
    def is_composed(self) -> bool:
        """Whether frames of it are composed by a plan, inner parts aside."""
        return False

    def plain_bytes(self, place: Any, computed: Callable[[Expr], int]) -> bytes:
        """Return the bytes of a field about which nothing is said; ``computed`` gives the values of expressions."""
        return b""

    def value_of(self, data: bytes) -> Any:
        """Return what conditions see of these bytes, which need not be whole; ``None`` if they cannot look at it."""
        return self.paired(self.number_in(data))[0] if self.decides else None

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        """Write what stands at a place, and return its value if conditions can look at it."""
        data = composing.plan.get(where, default)
        if data is None:
            data = self.plain_bytes(place, lambda expr: composing.computed(expr, scope))
        assert isinstance(data, bytes)
        composing.put(data)
        return self.value_of(data)

    def ways(self, place: Any, where: str, plan: Plan) -> Iterator[Way]:
        """Give the ways to the places within, but for the fields of a record and the alternatives of a condition."""
        yield from ()

    # What the notes of a protocol ask of a value that was read (``vectors/notes.py``).

    def spelled_number(self, value: Any, size: int) -> tuple[int, int] | None:
        """Return the number of variable length that its ``size`` bytes have, and in how many; ``None`` without one."""
        return None

    def nameless(self, value: Any) -> int:
        """Return those of its bits that are set and have no name."""
        return 0

    # What is looked at: boundaries, what a field can be in pairs, what is as long as can be.

    def said(self, number: int) -> str:
        """Say what a number of it is, for a person."""
        return say(number)

    @property
    def can_be_missing(self) -> bool:
        """Whether a frame that ends right before it ends too early, if nothing else has asked for the byte."""
        return False

    @property
    def numbers_tried(self) -> tuple[int, ...]:
        """The numbers that its pairs try: a record that looks at it has to know where they lead."""
        return ()

    def boundaries(self, full: bool) -> Iterator[BoundaryBytes]:
        """Give the bytes at the boundaries of a field: each class, and with ``full`` both ends of each."""
        yield from ()

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        """Give the frames that look at a place of it."""
        for variant in self.boundaries(target.full):
            yield looking.varied(target, variant)

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        """Give what a field can be, where it meets the other fields of its message in pairs."""
        yield from ()

    def group_options(self) -> Iterator[tuple[str, list[tuple[str, frozenset[int]]]]]:
        """Give the groups of named bits, which meet others in triples: of each value the words, and the numbers."""
        yield from ()

    @property
    def most_items(self) -> int | None:
        """The items that it has at most, if it is a list."""
        return None

    @property
    def more_name(self) -> str:
        """The bit of an item's first field that says whether one more follows, if it is a list of that sort."""
        return ""

    def goes_on(self, number: int) -> bool:
        """Tell whether one more follows an item whose first field is this number."""
        return False

    def filled(self, looking: Looking, target: ComposedTarget, count: int) -> dict[str, Change]:
        """Return a plan of a list of many items, as short as can be."""
        return {target.where: count}

    def stretched(self, looking: Looking, target: ComposedTarget, size: int) -> dict[str, Change]:
        """Return a plan of a frame of a whole ``size`` that it makes so long; nothing if it cannot."""
        return {}
