"""Nodes that have functions of their own in generated code, which others call: records, unions, lists, chains."""

from abc import abstractmethod
from typing import ClassVar

from wire.kinds.base import Part
from wire.kinds.coded import indented, made, written
from wire.kinds.contexts import CCode, Code, ColumnCode, Lines, Names


class Compound(Part, frozen=True):
    """Base of the kinds that answer with the bodies of their functions; what calls these is the same for all."""

    compound: ClassVar[bool] = True

    def python_reader(self, code: Code) -> Lines:
        """Read it, in Python; the last line returns the value and ``at``. A union, which is a table, has no body."""
        raise TypeError(f"{type(self).__name__}: writes its functions down itself")

    def python_writer(self, code: Code) -> Lines:
        """Write it, in Python; the last line returns the bytes."""
        raise TypeError(f"{type(self).__name__}: writes its functions down itself")

    @abstractmethod
    def c_reader(self, code: CCode) -> Lines:
        """Read it, in C."""

    @abstractmethod
    def c_writer(self, code: CCode) -> Lines:
        """Write it, in C."""

    @abstractmethod
    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        """Read it into columns, in C."""

    def python_blank(self, name: str, names: Names) -> Lines:
        """Write down the values that it begins with, if there are such."""
        yield from ()

    def python_inlined(self) -> tuple[Part, ...]:
        """Return the parts that its own functions read and write, without a call."""
        return ()

    def python_function(self, code: Code) -> Lines:
        """Write down the function that reads it."""
        yield f"def read_{code.names.parts[self]}(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:"
        yield from indented(self.python_reader(code))

    def python_writer_function(self, code: Code) -> Lines:
        """Write down the function that writes it."""
        yield f"def write_{code.names.parts[self]}(value: Any) -> bytes:"
        yield from indented(self.python_writer(code))

    def python_call(self, code: Code) -> str:
        """Return what reads it, to be called with ``(data, at, refuse)``."""
        return f"read_{code.names.parts[self]}"

    def python_entry(self, code: Code) -> str:
        """Read it into ``value``, where it is the whole frame."""
        return f"value, at = read_{code.names.parts[self]}(data, 0, refuse)"

    def python_written(self, code: Code, source: str) -> str:
        """Return its bytes; the value is in ``source``."""
        return f"write_{code.names.parts[self]}({source})"

    # Where it stands in a record, it is called.

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"{into}, at = read_{code.names.parts[self]}(data, at, refuse)"

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        return [], self.python_written(code, f"v_{field}")

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        yield from made(into, f"{code.names.parts[self]}_read(r)")

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        yield from written(f"{code.names.parts[self]}_write(w, {source})")

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        yield f"TAKE({code.reader(self, path)}(f, p, {', '.join(code.rows)}));"
