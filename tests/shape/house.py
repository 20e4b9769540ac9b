"""The house as its files show it: rooms, protocols, modules, what each imports, which classes it defines.

Nothing is imported here, all is read: so a module that cannot be imported alone is seen as well, and a copy of the
house (the toy protocol's test makes one) is judged by its own files and not by what happens to be installed.
"""

import ast
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ROOMS = ("wire", "vectors", "harness", "conformance", "fuzz", "reports")
"""The rooms in their order: each imports only itself and rooms that stand before it."""

PUBLIC = "goldwire"
"""The public face: it imports the rooms, and no room imports it."""

PROTOCOLS = frozenset(rules.parent.name for rules in (ROOT / "conformance").glob("*/rules.toml"))
"""Who has rules is a protocol: a document without rules is nothing that one could test."""


class Module:
    """One file of Python: its dotted ``name``, where it stands below the house's root, and what its syntax tree says.

    The tree itself is not kept: those of the whole house take 100 MB.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.relative_to(ROOT)
        parts = self.path.with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.package = ".".join(parts[:-1])

    @property
    def tree(self) -> ast.Module:
        """Its syntax tree, read anew."""
        path = ROOT / self.path
        return ast.parse(path.read_bytes(), str(path))

    @property
    def room(self) -> str:
        """The room that it stands in."""
        return self.path.parts[0]

    @property
    def protocol(self) -> str | None:
        """The protocol that it belongs to, ``None`` if protocols share it."""
        return protocol_of(self.name)

    @cached_property
    def _read(self) -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
        """What it imports, its strings, and its classes, of one reading."""
        nodes = list(ast.walk(self.tree))  # once: of the whole house that is a second
        return frozenset(self._imported(nodes)), _texts(nodes), _classes(nodes)

    @property
    def imported(self) -> frozenset[str]:
        """What its import statements name, as ``module.name`` in full.

        All of them count. One inside a function is a circle that shows itself only at the first call, and one under
        ``TYPE_CHECKING`` is a circle for whoever reads: to understand one module you need the other, and the other way
        round. Either is a sign that something stands in the wrong module.
        """
        return self._read[0]

    def _imported(self, nodes: list[ast.AST]) -> Iterator[str]:
        for node in nodes:
            match node:
                case ast.Import(names):
                    yield from (each.name for each in names)
                case ast.ImportFrom(module, names, level):
                    base = module or ""
                    if level:
                        # One dot is the package itself, each further one the package around it.
                        around = self.package.split(".")[: len(self.package.split(".")) - level + 1]
                        base = ".".join([*around, *([base] if base else [])])
                    yield from (f"{base}.{each.name}" for each in names)

    @property
    def texts(self) -> frozenset[str]:
        """The strings of its code, without docstrings; of an f-string the text that it begins with.

        So ``import_module(f"harness.{protocol}")`` shows ``harness.``, and ``python -m wire.emit`` the module itself.
        """
        return self._read[1]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it defines, at whatever depth."""
        return self._read[2]


def _texts(nodes: list[ast.AST]) -> frozenset[str]:
    docstrings = {
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return frozenset(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    )


def _classes(nodes: list[ast.AST]) -> tuple[str, ...]:
    return tuple(node.name for node in nodes if isinstance(node, ast.ClassDef))


def protocol_of(name: str) -> str | None:
    """Return the protocol whose folder (or file) a dotted name leads into."""
    return next((part for part in name.split(".") if part in PROTOCOLS), None)


@cache
def modules(*rooms: str) -> dict[str, Module]:
    """Return the modules of some rooms by name; without what the emitters have written, which imports its runtime."""
    found = (
        Module(path)
        for room in rooms or ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if "generated" not in path.parts
    )
    return {module.name: module for module in found}


def arrows(house: dict[str, Module]) -> dict[str, set[str]]:
    """Return which module imports which.

    That ``import harness.links`` also runs ``harness/__init__.py`` is no arrow: Python does that first, and the package
    is there when the module runs. ``from harness import X`` is one.
    """
    drawn: dict[str, set[str]] = {name: set() for name in house}
    for module in house.values():
        for name in module.imported:
            target = name
            while target and target not in house:
                target = target.rpartition(".")[0]
            if target and target != module.name:
                drawn[module.name].add(target)
    return drawn


def circles(drawn: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another, however far around (Tarjan's strong components)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_ones: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        open_ones.append(name)
        for target in sorted(drawn[name]):
            if target not in number:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in open_ones:
                lowest[name] = min(lowest[name], number[target])
        if lowest[name] == number[name]:
            start = open_ones.index(name)
            if len(open_ones) - start > 1:
                found.append(sorted(open_ones[start:]))
            del open_ones[start:]

    for name in sorted(drawn):
        if name not in number:
            visit(name)
    return found
