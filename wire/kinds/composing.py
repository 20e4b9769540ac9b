"""Frames made to order, and what golden vectors look at: what kinds of node and the grid say to each other.

A *plan* maps paths with indices to what is wanted there: the bytes of a field, the number of items of a list, the
message of a union by name, or the bytes that stand in a union's place. A kind writes what stands at a place by it
(``Part.composed``), and says which frames look at such a place (``Part.specimens``). What a record can come out as,
what the notes of a protocol say, and how frames are named stays with the grid (``vectors/binary``), which asks.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from wire.expressions import Expr
from wire.kinds.boundaries import PAIRED_SIZE, BoundaryBytes
from wire.kinds.branches import OVERLONG

Change = bytes | int | str
"""What is wanted at a place."""

Plan = Mapping[str, Change]

PlannedOption = tuple[str, dict[str, Change], frozenset[int] | None]
"""What a field can be: in words, as a plan, and as a number if conditions look at it."""


class ComposedFrame(NamedTuple):
    """A frame, and where in it the places are: ``(start, end)`` by path with indices."""

    data: bytes
    spans: dict[str, tuple[int, int]]


class Composing(Protocol):
    """A frame that is being written by a plan (``vectors/binary/composing.py``)."""

    plan: Plan

    def write(self, place: Any, where: str, scope: dict[str, Any], default: bytes | None = None) -> Any:
        """Write what stands at a place, behind the fields of ``scope``; return its value if conditions can look at it.

        ``default`` are the bytes of a field about which the plan says nothing.
        """

    def put(self, data: bytes) -> None:
        """Write bytes."""

    def computed(self, expr: Expr, scope: dict[str, Any]) -> int:
        """Return the value of an expression over the fields of ``scope``."""

    def count(self, where: str, plain: int) -> int:
        """Return how many items are wanted in a list; ``plain`` if nothing is said."""

    def plain_fields(self, record: Any) -> Mapping[str, bytes]:
        """Return the bytes of the fields that conditions look at, in the plainest form of a record."""


class Way(NamedTuple):
    """How to get from a place to one in it: the ``place``, its path with indices, the plan of a frame that has it.

    ``message`` is the name of the message that begins there, if one does.
    """

    place: Any
    where: str
    plan: dict[str, Change]
    message: str = ""


class ComposedTarget(Protocol):
    """A place that is looked at, and how to get there (``vectors/binary/targets.py``)."""

    @property
    def place(self) -> Any: ...
    @property
    def where(self) -> str: ...
    @property
    def plan(self) -> dict[str, Change]: ...
    @property
    def full(self) -> bool: ...


class Looking(Protocol):
    """What makes the frames of golden vectors (``vectors/binary/specimens.py``)."""

    def compose(self, plan: Plan) -> ComposedFrame:
        """Write a frame by a plan."""

    def made(self, target: Any, family: str, aspect: str, comment: str, changes: Plan | None = None) -> Any:
        """Give the frame of a target, with some changes."""

    def specimen(self, target: Any, family: str, aspect: str, comment: str, data: bytes) -> Any:
        """Give a frame that looks at a target."""

    def varied(self, target: Any, variant: BoundaryBytes) -> Any:
        """Give the frame of a target with other bytes in its place."""

    def is_first(self, part: Any) -> bool:
        """Tell whether nobody has asked this of the part before: what is large is made once."""

    def shown(self, target: Any, where: str, inside: Any = None, base: str = "") -> dict[str, Change]:
        """Return what the notes show of the message at a path, as a plan; nothing if they do not.

        The message stands in the layout that ``target`` stands in, or in that which begins at the place ``inside``,
        whose path is ``base``.
        """

    def longest(self, target: Any, count: Expr, most: int) -> tuple[int, ComposedFrame] | None:
        """Return the frame with the highest number, from 2 to ``most``, that an expression can have at a target."""

    def free_headers(self, chain: Any) -> list[int]:
        """Return bytes that begin items of a chain which nobody knows, and which may be passed over."""

    def header_forms(self, chain: Any) -> list[int]:
        """Return one byte for each form of a chain's item that is not reserved, unknown if possible."""

    def known_items(self, target: Any) -> Iterator[Any]:
        """Give the frames with the items of a chain that the notes know, if they know any."""


def short_options(boundaries: Iterable[BoundaryBytes], where: str) -> Iterator[PlannedOption]:
    """Give the contents among the boundaries of a field that are valid, canonical and short, as what it can be."""
    for each in boundaries:
        if each.family == "values" and len(each.data) < PAIRED_SIZE and each.aspect != OVERLONG:
            yield each.comment, {where: each.data}, None


def before(plan: Plan, chain: str) -> dict[str, Change]:
    """Return a plan in which one more item stands before those that a chain has."""
    moved: dict[str, Change] = {}
    for path, wanted in plan.items():
        if path.startswith(f"{chain}["):
            number, _, rest = path[len(chain) + 1 :].partition("]")
            moved[f"{chain}[{int(number) + 1}]{rest}"] = wanted
        else:
            moved[path] = wanted
    there = plan.get(chain, 0)
    assert isinstance(there, int)
    return {**moved, chain: there + 1}
