"""Names for the functions and tables of generated code, taken from the grammar; the same in every language."""

from collections.abc import Iterator
from typing import Any

from wire.errors import CannotLayOut
from wire.kinds import Part
from wire.layout import Layout


class PartNames:
    """The parts of a protocol's layouts that get a function or a table of their own, by name.

    ``parts`` has every compound part, inner ones first; ``tables`` has every integer of named bits. With
    ``callable_only`` a whole frame has to be a part with functions of its own: ``CannotLayOut`` otherwise.
    """

    def __init__(self, layouts: list[Layout], *, callable_only: bool = True) -> None:
        self.parts: dict[Any, str] = {}
        self.tables: dict[Any, str] = {}
        self._taken: set[str] = set()
        for layout in layouts:
            self.visit(layout.root, identifier(layout))
            if callable_only and not layout.frame.compound:
                raise CannotLayOut(f"{layout.name}: a whole frame is a record, a union or a list; put it into a Struct")

    def _name(self, hint: str) -> str:
        name, number = hint, 1
        # Two words of a document may be one identifier (`a-b`, `a_b`), and a field may be called like a message.
        while name in self._taken:
            number += 1
            name = f"{hint}_{number}"
        self._taken.add(name)
        return name

    def visit(self, part: Part, hint: str) -> None:
        """Name what a part needs named, called ``hint`` where it stands."""
        if not part.compound:
            part.take_names(self, hint)
        elif part not in self.parts:
            part.take_names(self, hint)
            self.parts[part] = self._name(part.own_name or hint)

    def table(self, part: Part, hint: str) -> None:
        """Give a part a table of its own."""
        if part not in self.tables:
            self.tables[part] = self._name(hint)


def direct(part: Part) -> Iterator[Part]:
    """Give the parts that the function of a part calls, through what is written into it."""
    for child in part.inner():
        if child.compound:
            yield child
        else:
            yield from direct(child)


def identifier(layout: Layout) -> str:
    """Return a layout's name within its protocol, as an identifier."""
    return layout.name.partition("/")[2].replace("-", "_")
