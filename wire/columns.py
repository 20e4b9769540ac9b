"""The columns of a layout: how the values of a tree spread over a table with a row per frame.

A column is a place in the value, written as a dotted path: ``declaration.key_scope`` is
``value["declaration"]["key_scope"]``, whichever messages stand there. Messages of a union share the columns whose path
and kind agree, so that the table stays narrow, and ``type`` says which message it is::

    choice   "type" of a union                      dictionary of its messages' names
    number   Integer, Varint, Flags (the raw byte)  uint8, uint16, uint32 or uint64: the smallest that holds all
    text     Counted and Remainder of text          utf8
    bytes    Counted, Sized, Remainder              binary
    items    Items, Chain                           list of structs: a table of its own

A place that can hold more than one kind gets a column per kind: ``body.number`` and ``body.bytes``. What is absent is
null; an empty record leaves no trace but its neighbours'.

Of a text of JSON there is only ``type`` so far, the name of the message that the frame is, where it is one of several.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum

import msgspec

from wire.layout import (
    CannotLayOut,
    Chain,
    Counted,
    Flags,
    Integer,
    Items,
    Json,
    JsonObject,
    JsonUnion,
    Layout,
    Limited,
    Nothing,
    Optional,
    Part,
    Record,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)

REFUSED, REFUSED_AT = "refused", "refused_at"
"""The first columns of every layout: the class of the refusal and its offset in bytes, null for accepted frames."""


class Kind(Enum):
    """What a column holds."""

    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"
    BYTES = "bytes"
    ITEMS = "items"


class Column(msgspec.Struct, frozen=True):
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


class Table(msgspec.Struct, frozen=True):
    """Columns in the order in which the tree names their places."""

    columns: tuple[Column, ...]

    def index(self, path: str, kind: Kind) -> int:
        """Return where a column stands."""
        return next(i for i, column in enumerate(self.columns) if (column.path, column.kind) == (path, kind))


def columns_of(layout: Layout) -> Table:
    """Return the columns of a layout, without ``REFUSED`` and ``REFUSED_AT``."""
    return table_of(layout.root)


def table_of(*parts: Part) -> Table:
    """Return the columns that hold the values of all ``parts``, which stand at the same place."""
    slots = _Slots()
    for part in parts:
        slots.add(part, "")
    return Table(tuple(slots.columns()))


def within(path: str, name: str) -> str:
    """Return the path of a field of the value at ``path``."""
    return f"{path}.{name}" if path else name


class _Slots:
    """The places of a table while it grows; a place is a path and a kind."""

    def __init__(self) -> None:
        self.sizes: defaultdict[tuple[str, Kind], int] = defaultdict(int)
        self.choices: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.items: defaultdict[str, dict[Part, None]] = defaultdict(dict)

    def add(self, part: Part, path: str) -> None:
        """Make room for the values of a part."""
        match part:
            case Integer(size=size):
                self.number(path, size)
            case Varint(bits=bits):
                self.number(path, (bits + 7) // 8)
            case Flags():
                self.number(path, 1)
            case Counted(text=True) | Remainder(text=True):
                self.sizes[path, Kind.TEXT] = 0
            case Counted() | Remainder() | Sized():
                self.sizes[path, Kind.BYTES] = 0
            case Record(fields=fields):
                for field in fields:
                    self.add(field.node, within(path, field.name))
            case Union(messages=messages):
                self.choice(path, (message.name for message in messages))
                for message in messages:
                    self.add(message, path)
            case Json(node=JsonUnion() as union):
                self.choice(path, _messages(union))
            case Json():
                pass
            case Items() | Chain():
                self.sizes[path, Kind.ITEMS] = 0
                self.items[path][item_of(part)] = None
            case Optional(node=node) | Limited(node=node):
                self.add(node, path)
            case Switch(cases=cases, default=default):
                for _, case in cases:
                    self.add(case, path)
                self.add(default, path)
            case Nothing() | Reserved():
                pass
            case _:
                raise TypeError(part)

    def choice(self, path: str, names: Iterable[str]) -> None:
        kind = within(path, "type")
        self.choices[kind] |= dict.fromkeys(names)
        self.sizes[kind, Kind.CHOICE] = 1 if len(self.choices[kind]) <= 0x7F else 2

    def number(self, path: str, size: int) -> None:
        whole = next((each for each in (1, 2, 4, 8) if each >= size), None)
        if whole is None:
            raise CannotLayOut(f"{path}: an integer of {size} bytes; a column has at most 8")
        self.sizes[path, Kind.NUMBER] = max(self.sizes[path, Kind.NUMBER], whole)

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
                while name in taken:
                    name += "_"
                taken.add(name)
            items = table_of(*self.items[path]) if kind is Kind.ITEMS else None
            choices = tuple(self.choices[path]) if kind is Kind.CHOICE else ()
            yield Column(name, path, kind, size, choices, items)


def _messages(union: JsonUnion) -> Iterator[str]:
    """Give the names of the messages of a union, and of the unions in it."""
    for message in union.messages:
        if isinstance(message, JsonObject):
            yield message.name
        else:
            yield from _messages(message)


def item_of(part: Items | Chain) -> Part:
    """Return what a list is made of."""
    return part.union if isinstance(part, Items) else part.item
