"""Names for the functions and tables of generated code, taken from the grammar; the same in every language."""

from collections.abc import Iterator

from wire.layout import Chain, Flags, Items, Layout, Limited, Optional, Part, Record, Switch, Union, children


class Names:
    """The parts of a protocol's layouts that get a function or a table of their own, by name.

    ``parts`` has every record, union, list and chain, inner ones first; ``tables`` has every byte of flags.
    """

    def __init__(self, layouts: list[Layout]) -> None:
        self.parts: dict[Part, str] = {}
        self.tables: dict[Flags, str] = {}
        self._taken: set[str] = set()
        for layout in layouts:
            self._visit(layout.root, identifier(layout))

    def _name(self, hint: str) -> str:
        name, number = hint, 1
        while name in self._taken:
            number += 1
            name = f"{hint}_{number}"
        self._taken.add(name)
        return name

    def _visit(self, part: Part, hint: str) -> None:
        match part:
            case Optional(node=node) | Limited(node=node):
                self._visit(node, hint)
            case Switch():
                for _, case in part.cases:
                    self._visit(case, hint)
                self._visit(part.default, hint)
            case Flags() if part not in self.tables:
                self.tables[part] = self._name(f"{hint}_bits")
            case Record() | Union() | Items() | Chain() if part not in self.parts:
                self._compound(part, hint)
            case _:
                pass

    def _compound(self, part: Record | Union | Items | Chain, hint: str) -> None:
        match part:
            case Record():
                hint = part.name.lower() or hint
                for field in part.fields:
                    self._visit(field.node, f"{hint}_{field.name}" if flags_in(field.node) else field.name)
            case Union():
                for message in part.messages:
                    self._visit(message, hint)
            case Items():
                self._visit(part.union, f"{hint}_item")
            case Chain():
                self._visit(part.item, f"{hint}_item")
        self.parts[part] = self._name(hint)


def direct(part: Part) -> Iterator[Part]:
    """Give the parts that the function of a part calls, through conditions and switches."""
    for child in children(part):
        if isinstance(child, Optional | Switch | Limited):
            yield from direct(child)
        else:
            yield child


def flags_in(part: Part) -> Flags | None:
    """Return the flags that a field holds, present or not; ``None`` if it holds something else."""
    if isinstance(part, Optional):
        part = part.node
    return part if isinstance(part, Flags) else None


def identifier(layout: Layout) -> str:
    """Return a layout's name within its protocol, as an identifier."""
    return layout.name.partition("/")[2].replace("-", "_")
