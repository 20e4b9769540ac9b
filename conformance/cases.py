"""Cases: functions that exercise an implementation, marked with the rules that they judge.

A case is an ordinary pytest function in ``conformance/<protocol>/cases/`` with one argument, ``node``. Its marks say
which rules fall when it fails, which roles it can be played against, and over which transports it is worth playing.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import msgspec

Function = Callable[..., None]


class Marks(msgspec.Struct, frozen=True):
    """What ``@rule`` says of a case: rule ids, roles (empty: any), transports, and whether monitors watch it."""

    rules: tuple[str, ...]
    roles: frozenset[str] = frozenset()
    transports: frozenset[str] = frozenset({"tcp"})
    monitored: bool = True


class Case(msgspec.Struct, frozen=True):
    """One case: ``name`` is ``file.function``, ``sentence`` the first line of its docstring."""

    name: str
    function: Function
    marks: Marks

    @property
    def sentence(self) -> str:
        """What the case does, in one sentence."""
        return (inspect.getdoc(self.function) or self.name).splitlines()[0]

    def suits(self, role: str) -> bool:
        """Tell whether the case can be played against a role, over whatever transport."""
        return not self.marks.roles or role in self.marks.roles

    def fits(self, role: str, transport: str) -> bool:
        """Tell whether the case can be played against a role over a transport."""
        return self.suits(role) and transport in self.marks.transports


def rule(
    *ids: str, roles: tuple[str, ...] = (), transports: tuple[str, ...] = ("tcp",), monitored: bool = True
) -> Callable[[Function], Function]:
    """Mark a case with the rules that it judges; ``monitored=False`` when its own stimulus breaks rules."""

    def mark(function: Function) -> Function:
        function.__goldwire__ = Marks(ids, frozenset(roles), frozenset(transports), monitored)  # type: ignore[attr-defined]
        return function

    return mark


def marks_of(function: object) -> Marks | None:
    """Return a function's marks, if it is a case."""
    return getattr(function, "__goldwire__", None)


class Inconclusive(Exception):
    """The case could not be judged; the message is the cause."""


class Broken(AssertionError):
    """One of the case's rules is broken, and only that one."""

    def __init__(self, ids: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.ids = ids


@contextmanager
def judging(*ids: str) -> Iterator[None]:
    """Blame only these rules for an assertion that fails within."""
    try:
        yield
    except Broken:
        raise
    except AssertionError as error:
        raise Broken(ids, str(error)) from error


def cases(protocol: str) -> list[Case]:
    """Return every case of a protocol, in the order of files and lines."""
    package = import_module(f"conformance.{protocol}.cases")
    found: list[Case] = []
    for module in sorted(iter_modules(package.__path__), key=lambda info: info.name):
        found += cases_in(import_module(f"{package.__name__}.{module.name}"))
    return found


def cases_in(module: Any) -> list[Case]:
    """Return the cases of one module, in the order of its lines."""
    short = module.__name__.rpartition(".")[2]
    return [
        Case(f"{short}.{name}", function, marks)
        for name, function in vars(module).items()
        if (marks := marks_of(function)) is not None
    ]
