"""Cases: functions that exercise an implementation, marked with the rules that they judge.

A case is an ordinary pytest function in ``conformance/<protocol>/cases/`` with one argument, ``node``. Its marks say
which rules fall when it fails, which roles it can be played against, and over which transports it is worth playing.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType, ModuleType

import msgspec

from harness.protocol import IncompleteProtocol, load

Function = Callable[..., object]

SEEDS = 5
"""Histories that are played of each kind, by default: about ten seconds in all over sockets, with our own peers."""


class Marks(msgspec.Struct, frozen=True):
    """What ``@rule`` says of a case: rule ids, roles (empty: any), and transports (empty: the protocol's usual one).

    ``is_history``: it returns the rules that it came to judge, and says nothing of others, also of those in ``rules``;
    ``is_seeded``: it takes a seed beside the node; ``is_basic``: it asks whether the node does something at all.
    ``needs`` are rules on which its stimulus rests, beside those that its own rules need.
    """

    rules: tuple[str, ...]
    roles: frozenset[str] = frozenset()
    transports: frozenset[str] = frozenset()
    is_history: bool = False
    is_seeded: bool = False
    is_basic: bool = False
    needs: tuple[str, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """One case: ``name`` is ``file.function``, ``sentence`` the first line of its docstring."""

    name: str
    function: Function
    marks: Marks
    usual_transport: str = "tcp"

    @property
    def sentence(self) -> str:
        """What the case does, in one sentence."""
        return (inspect.getdoc(self.function) or self.name).splitlines()[0]

    @property
    def requirement(self) -> str:
        """What must come of it, as the docstring says below its first line; empty if it says nothing there."""
        _, _, rest = (inspect.getdoc(self.function) or "").partition("\n")
        return " ".join(rest.split())

    @property
    def is_searched(self) -> bool:
        """Whether the case plays many examples, which a property is searched in."""
        return bool(getattr(self.function, "is_hypothesis_test", False))

    def suits(self, role: str) -> bool:
        """Tell whether the case can be played against a role, over whatever transport."""
        return not self.marks.roles or role in self.marks.roles

    def fits(self, role: str, transport: str) -> bool:
        """Tell whether the case can be played against a role over a transport."""
        return self.suits(role) and transport in (self.marks.transports or {self.usual_transport})


def rule(
    *ids: str,
    roles: tuple[str, ...] = (),
    transports: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Mark a case with the rules that it judges.

    ``needs`` where it looks at its rules by way of something that they do not need themselves.
    """

    def mark(function: Function) -> Function:
        # On the function itself, so that a case stays an ordinary function, which pytest and Hypothesis may wrap.
        marks = Marks(ids, frozenset(roles), frozenset(transports), needs=needs)
        function.__goldwire__ = marks  # type: ignore[attr-defined]
        return function

    return mark


def history(*ids: str, roles: tuple[str, ...] = (), seeded: bool = True) -> Callable[[Function], Function]:
    """Mark a case that plays a history, one for each seed, and name rules that all of them are about."""

    def mark(function: Function) -> Function:
        function.__goldwire__ = Marks(ids, frozenset(roles), is_history=True, is_seeded=seeded)  # type: ignore[attr-defined]
        return function

    return mark


def basic(id: str, *, roles: tuple[str, ...] = (), transports: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Mark a case that asks whether a node does at all what a rule asks for, on which other rules rest (``needs``).

    It accuses only who never does it; who does it now and then is for the rule's other cases. Basic cases stand in the
    order in which they rest on each other.
    """

    def mark(function: Function) -> Function:
        function.__goldwire__ = Marks((id,), frozenset(roles), frozenset(transports), is_basic=True)  # type: ignore[attr-defined]
        return function

    return mark


def seeded(name: str, function: Function, seeds: Iterable[int]) -> Iterator[tuple[str, Function]]:
    """Yield the cases that a function stands for: itself, or one for each seed."""
    marks = marks_of(function)
    if marks is None or not marks.is_seeded:
        yield name, function
        return
    for seed in seeds:
        yield f"{name}[{seed}]", _with_seed(function, seed)


@cache  # a case is the same whenever cases are looked for
def _with_seed(function: Function, seed: int) -> Function:
    @wraps(function)
    def case(node: object) -> object:
        return function(node=node, seed=seed)

    return case


def marks_of(function: object) -> Marks | None:
    """Return a function's marks, if it is a case."""
    # Of functions only: pytest asks for everything that a module holds, and an object may answer to any name.
    marks = vars(function).get("__goldwire__") if isinstance(function, FunctionType) else None
    return marks if isinstance(marks, Marks) else None


class Inconclusive(Exception):
    """The case could not be judged; the message is the cause."""


class TooLate(Inconclusive):
    """The tester itself was too slow for what is to be judged, as on a busy machine; another play may be in time."""


class NotPlayed(Exception):
    """The case was left out, and says nothing, of no rule; the message is why: no time, or what the node lacks."""


class RuleBroken(AssertionError):
    """One of the case's rules is broken, and only that one; ``is_whole`` when the message is to be kept as it is.

    ``shown_by`` names another case that shows the same better; ``until`` is how many entries the trace had when that
    showed, where the play went on.
    """

    def __init__(
        self,
        ids: tuple[str, ...],
        message: str,
        *,
        is_whole: bool = False,
        shown_by: str = "",
        until: int | None = None,
    ) -> None:
        super().__init__(message)
        self.ids = ids
        self.is_whole = is_whole
        self.shown_by = shown_by
        self.until = until


class RulesBroken(Exception):
    """Several rules are broken, each in its own way."""

    def __init__(self, each: Sequence[RuleBroken]) -> None:
        super().__init__("; ".join(map(str, each)))
        self.each = each


class Block(msgspec.Struct):
    """A part of a case that judges some rules only: how long the trace was as it began, and as all of it had held."""

    ids: tuple[str, ...]
    began: int
    held: int | None = None


class Blocks(list[Block]):
    """The blocks that a play has come to, in the order in which they began; ``now`` says how long its trace is."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__()
        self.now = now


_BLOCKS: ContextVar[Blocks | None] = ContextVar("blocks", default=None)


@contextmanager
def following(blocks: Blocks) -> Iterator[None]:
    """Take down within which blocks a case comes to."""
    token = _BLOCKS.set(blocks)
    try:
        yield
    finally:
        _BLOCKS.reset(token)


# A context manager and not a second decorator: most cases state several requirements in a row, each for its own rules.
@contextmanager
def judging(*ids: str) -> Iterator[None]:
    """Blame only these rules for an assertion that fails within."""
    blocks = _BLOCKS.get()
    block = Block(ids, 0 if blocks is None else blocks.now())
    if blocks is not None:
        blocks.append(block)
    try:
        yield
    except RuleBroken:
        # Of a block within: the inner one knows better which rule it is about.
        raise
    except AssertionError as error:
        raise RuleBroken(ids, str(error)) from error
    if blocks is not None:
        block.held = blocks.now()


def cases(protocol: str, usual_transport: str = "") -> list[Case]:
    """Return every case of a protocol, in the order of files and lines; ``IncompleteProtocol`` when it has none.

    ``usual_transport`` is the protocol's own, looked up if it is not told.
    """
    folder = str(cases_folder(protocol))
    found: list[Case] = []
    usual = usual_transport or load(protocol).usual_transport
    # Sorted, as a folder has an order of its own on each machine; within a file the order of lines is that of vars().
    for module in sorted(iter_modules([folder]), key=lambda info: info.name):
        found += cases_in(import_module(f"conformance.{protocol}.cases.{module.name}"), usual)
    return found


def cases_folder(protocol: str) -> Path:
    """Return the folder of a protocol's cases; ``IncompleteProtocol`` when it has none."""
    spec = find_spec(f"conformance.{protocol}.cases")
    if spec is None or not spec.submodule_search_locations:
        raise IncompleteProtocol(f"{protocol!r} has a catalogue but no cases yet: add conformance/{protocol}/cases/")
    return Path(next(iter(spec.submodule_search_locations)))


def cases_in(module: ModuleType, usual_transport: str = "tcp") -> list[Case]:
    """Return the cases of one module, in the order of its lines."""
    short = module.__name__.rpartition(".")[2]
    return [
        Case(f"{short}.{each}", function, marks, usual_transport)
        for name, found in vars(module).items()
        if (marks := marks_of(found)) is not None
        for each, function in seeded(name, found, range(1, SEEDS + 1))
    ]
