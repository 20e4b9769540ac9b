"""Private copies of a peer's modules: one of them may be changed, and the tester, which uses them too, is not."""

import ast
import builtins
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from harness.peers.peer import Peer
from harness.protocol import load


def modules_of(protocol: str, role: str, *, shared: bool = False) -> dict[str, Path]:
    """Return the modules that decide what the reference peer of a role does, with their files.

    They are those of the protocol's ``decisions`` that the peer's module imports, directly or by way of others of them.
    What two roles share belongs to the first of them; with ``shared`` it is returned for the others too.
    """
    roles = load(protocol).roles
    found = _imported(protocol, roles[role])
    if shared:
        return found
    for other in list(roles)[: list(roles).index(role)]:
        earlier = _imported(protocol, roles[other])
        found = {name: path for name, path in found.items() if name not in earlier}
    return found


def _imported(protocol: str, peer: type[Peer]) -> dict[str, Path]:
    decisions = load(protocol).decisions
    found: dict[str, Path] = {}
    todo = [peer.__module__]
    while todo:
        name = todo.pop()
        if name in found or name not in decisions:
            continue
        found[name] = Path(str(import_module(name).__file__))
        tree = ast.parse(found[name].read_bytes())
        todo += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return dict(sorted(found.items()))


class PrivateModules:
    """Copies of some modules that import each other, and everything else as it is.

    ``codes`` are the compiled modules by name.
    """

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        self._codes = codes
        self._loaded: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def peer(self, original: type[Peer]) -> type[Peer]:
        """Return the copy of a peer's class."""
        found = getattr(self._load(original.__module__), original.__name__)
        assert isinstance(found, type)
        return found

    def _load(self, name: str) -> ModuleType:
        if name not in self._loaded:
            module = self._loaded[name] = ModuleType(name)
            vars(module)["__builtins__"] = self._builtins
            vars(module)["__file__"] = self._codes[name].co_filename
            exec(self._codes[name], vars(module))
        return self._loaded[name]

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] = (), level: int = 0
    ) -> ModuleType:
        if name in self._codes and fromlist:
            return self._load(name)
        return __import__(name, globals, locals, fromlist, level)
