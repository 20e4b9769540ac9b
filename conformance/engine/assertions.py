"""What a requirement that does not hold says: its own words, the values that it compared, and the messages they are of.

A case is a Python function, and its reader is not: neither the statement nor its values are shown as Python spells
them. The values are found again by reading the statement where it failed. Nothing is called for that which could act on
the node: names, fields of values, and what is made of values alone.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, runtime_checkable

import msgspec

from conformance.cases import RuleBroken
from conformance.wording import UNTOLD, worded

PURE = frozenset({"len", "set", "sorted", "list", "tuple", "frozenset", "min", "max"})
"""Functions of Python's own that are called again."""

WANTED = {
    ast.Eq: "",
    ast.Is: "",
    ast.NotEq: "anything but ",
    ast.IsNot: "anything but ",
    ast.Lt: "less than ",
    ast.LtE: "at most ",
    ast.Gt: "more than ",
    ast.GtE: "at least ",
    ast.In: "one of ",
    ast.NotIn: "none of ",
}
"""What a comparison wants of the value on its left."""

PYTHONS = "assert "
"""Where pytest's own account of a statement begins, in an assertion's message in a module that it has rewritten."""

DEEPEST = 4
MOST_CITED = 4096
"""How deep and how long values are searched for messages: a snapshot of thousands is a tuple of events in a value."""


@runtime_checkable
class HasEntries(Protocol):
    """What was read from several messages, and says from which, such as a transaction."""

    @property
    def entries(self) -> Sequence[int]:
        """Where they stand in the trace."""
        ...


class _Unknown(Exception):
    """A value that cannot be had without acting."""


def complaint(error: AssertionError, requirement: str) -> str:
    """Return what an assertion says, in the words of its author or of the case, and the values that it compared."""
    said = f"\n{error}".partition(f"\n{PYTHONS}")[0].strip()
    return "\n".join([said or f"it does not hold that: {requirement}", *_values(error)])


def cited(error: AssertionError) -> tuple[int, ...]:
    """Return the entries of the trace that hold the messages which an assertion was about, in order."""
    found = _failed(error)
    if found is None:
        return ()
    frame, statement = found
    names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
    values = [frame.f_locals[name] for name in sorted(names) if name in frame.f_locals]
    return tuple(sorted({entry for value in values for entry in _entries(value, DEEPEST)}))


def _values(error: AssertionError) -> Iterator[str]:
    found = _failed(error)
    if found is None:
        return
    frame, statement = found
    match statement.test:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            came, wanted = _worded(left, frame), _worded(right, frame)
            if came and not _is_none(right):
                yield f"seen: {came}"
            if wanted and not _is_none(right):
                yield f"wanted: {WANTED[type(operator)]}{wanted}"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            if came := _worded(operand, frame):
                yield f"seen: {came}"
        case ast.Call(args=arguments):
            wanted = ", ".join(filter(None, (_worded(each, frame) for each in arguments)))
            if wanted:
                yield f"wanted: {wanted}"
        case _:
            pass


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _worded(node: ast.expr, frame: FrameType) -> str:
    try:
        return worded(_value(node, frame))
    except _Unknown:
        return UNTOLD


def _failed(error: BaseException) -> tuple[FrameType, ast.Assert] | None:
    """Return the frame in which an assertion failed, and its statement."""
    # A block that blames certain rules raises an error of its own, from the assertion's.
    if isinstance(error, RuleBroken) and isinstance(error.__cause__, AssertionError):
        error = error.__cause__
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return None
    frame, line = step.tb_frame, step.tb_lineno
    statements = _assertions(frame.f_code.co_filename)
    around = [each for each in statements if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return (frame, around[-1]) if around else None


@cache
def _assertions(file: str) -> tuple[ast.Assert, ...]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):  # a case may have been made up by whoever tests us
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Assert))


def _value(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an expression, as far as it is had without acting; raises ``_Unknown``."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return _named(name, frame)
        case ast.Attribute(value=inner, attr=name):
            value = _value(inner, frame)
            # Fields of values, and members of what the document enumerates; a property of a node may open a session.
            if isinstance(value, msgspec.Struct):
                return getattr(value, name)
            raise _Unknown
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return [_value(part, frame) for part in parts]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            function = _named(name, frame)
            if not _is_pure(function, name):
                raise _Unknown
            return function(*[_known(_value(each, frame)) for each in arguments])
        case _:
            raise _Unknown


def _named(name: str, frame: FrameType) -> Any:
    for names in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in names:
            return names[name]
    raise _Unknown


def _is_pure(function: Any, name: str) -> bool:
    """Tell whether a function makes a value of values: one of ours, which without a node or a driver cannot act."""
    return name in PURE or str(getattr(function, "__module__", "")).startswith(("harness.", "conformance."))


def _known(value: Any) -> Any:
    """Return a value that may be handed to a function; anything with a life of its own is ``_Unknown``."""
    if isinstance(value, str | int | float | bytes | list | tuple | set | frozenset | dict | msgspec.Struct | None):
        return value
    raise _Unknown


def _entries(value: Any, depth: int) -> Iterator[int]:
    """Yield the entries of the messages within a value."""
    if isinstance(entry := getattr(value, "entry", None), int) and entry >= 0:
        yield entry
    elif depth and isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _entries(getattr(value, name), depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for each in list(value)[-MOST_CITED:]:
            yield from _entries(each, depth - 1)
    elif isinstance(value, HasEntries):
        yield from value.entries
