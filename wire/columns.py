"""The columns of a layout: how the values of a tree spread over a table with a row per frame.

A column is a place in the value, written as a dotted path: ``declaration.key_scope`` is
``value["declaration"]["key_scope"]``, whichever messages stand there. Messages of a union share the columns whose path
and kind agree, so that the table stays narrow, and ``type`` says which message it is::

    choice   "type" of a union                      dictionary of its messages' names
    number   Integer, Varint, named bits (as one)   uint8, uint16, uint32 or uint64: the smallest that holds all
    signed   Integer with a sign                    int8, int16, int32 or int64
    float    Float of 4 bytes                       float32, to the bit
    double   Float of 8 bytes                       float64, to the bit
    text     Counted, Sized, Terminated, Remainder  utf8
    bytes    the same, without text                 binary
    items    Items, Chain, Array                    list of structs: a table of its own

A place that can hold more than one kind gets a column per kind: ``body.number`` and ``body.bytes``. What is absent is
null; an empty record leaves no trace but its neighbours'.

Of a text of JSON there is only ``type`` so far, the name of the message that the frame is, where it is one of several.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from wire.errors import CannotLayOut
from wire.kinds import Part
from wire.kinds.base import within
from wire.kinds.contexts import Kind
from wire.layout import Layout

REFUSED, REFUSED_AT = "refused", "refused_at"
"""The first columns of every layout: the class of the refusal and its offset in bytes, null for accepted frames."""


class Column(msgspec.Struct, frozen=True, cache_hash=True):
    """The values of one ``kind`` at one ``path`` (``""`` is the value itself), under a ``name``.

    ``size`` is the bytes of a number or of a choice's index, ``choices`` are the names of messages, ``items`` the
    table of a list's items.
    """

    name: str
    path: str
    kind: Kind
    size: int = 0
    choices: tuple[str, ...] = ()
    items: "Table | None" = None


class Table(msgspec.Struct, frozen=True, cache_hash=True):
    """Columns in the order in which the tree names their places."""

    columns: tuple[Column, ...]

    def index(self, path: str, kind: Kind) -> int:
        """Return where a column stands."""
        return next(i for i, column in enumerate(self.columns) if (column.path, column.kind) == (path, kind))


def columns_of(layout: Layout) -> Table:
    """Return the columns of a layout, without ``REFUSED`` and ``REFUSED_AT``."""
    return table_of(layout.root)


@lru_cache(maxsize=64)  # as many as the largest layouts have; grammars that are made on the spot are without end
def table_of(*parts: Part) -> Table:
    """Return the columns that hold the values of all ``parts``, which stand at the same place."""
    slots = _Slots()
    for part in parts:
        slots.add(part, "")
    return Table(tuple(slots.columns()))


class _Slots:
    """The places of a table while it grows; a place is a path and a kind."""

    def __init__(self) -> None:
        self.sizes: defaultdict[tuple[str, Kind], int] = defaultdict(int)
        self.choices: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.items: defaultdict[str, dict[Part, None]] = defaultdict(dict)

    def add(self, part: Part, path: str) -> None:
        """Make room for the values of a part."""
        part.slots(self, path)

    def octets(self, path: str, *, text: bool) -> None:
        """Make room for bytes or text."""
        self.sizes[path, Kind.TEXT if text else Kind.BYTES] = 0

    def items_at(self, path: str, item: Part) -> None:
        """Make room for a list."""
        self.sizes[path, Kind.ITEMS] = 0
        self.items[path][item] = None

    def choice(self, path: str, names: Iterable[str]) -> None:
        """Make room for which message stands at ``path``."""
        kind = within(path, "type")
        self.choices[kind] |= dict.fromkeys(names)
        # Arrow's indices into a dictionary are signed: 127 is the last that fits in one byte.
        self.sizes[kind, Kind.CHOICE] = 1 if len(self.choices[kind]) <= 0x7F else 2

    def number(self, path: str, size: int, kind: Kind = Kind.NUMBER) -> None:
        """Make room for integers or floats of ``size`` bytes."""
        # Arrow has no integers of 3, 5, 6 or 7 bytes; two parts at one place share the wider column.
        whole = next((each for each in (1, 2, 4, 8) if each >= size), None)
        if whole is None:
            raise CannotLayOut(f"{path}: an integer of {size} bytes; a column has at most 8")
        self.sizes[path, kind] = max(self.sizes[path, kind], whole)

    def columns(self) -> Iterable[Column]:
        """Give the columns, each under a name of its own."""
        kinds: defaultdict[str, set[Kind]] = defaultdict(set)
        for path, kind in self.sizes:
            kinds[path].add(kind)
        taken = {REFUSED, REFUSED_AT, *(path for path, several in kinds.items() if path and len(several) == 1)}
        for (path, kind), size in self.sizes.items():
            name = path
            if not path or len(kinds[path]) > 1 or path in (REFUSED, REFUSED_AT):
                name = within(path, kind.value)
                # A field of the grammar may be called like a kind (`number`), or like the columns of refusals.
                while name in taken:
                    name += "_"
                taken.add(name)
            items = table_of(*self.items[path]) if kind is Kind.ITEMS else None
            choices = tuple(self.choices[path]) if kind is Kind.CHOICE else ()
            yield Column(name, path, kind, size, choices, items)
