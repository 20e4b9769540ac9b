"""Fields in a row."""

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from construct import Renamed, Struct

from wire.constructs import Context, dotted
from wire.errors import CannotLayOut, EncodeError
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, looked_at, within
from wire.kinds.branches import Place, Tracing
from wire.kinds.coded import indented
from wire.kinds.composing import ComposedTarget, Composing, Looking, PlannedOption
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Names, Node, Slots
from wire.kinds.edits import Find
from wire.kinds.flags import Flags
from wire.kinds.generators import Draw
from wire.kinds.optional import Optional
from wire.kinds.tail import OptionalTail


class Empty(Struct):
    """A record without fields: no bytes."""

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if obj is not None and not isinstance(obj, dict):
            raise EncodeError(f"{dotted(path)}: {obj!r} is not a record")
        return obj


class Field(Node, frozen=True):
    """A named part of a record."""

    name: str
    node: Part


MESSAGE_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)


def record_of(name: str, grammar: Any, walk: Walk, path: str) -> "Record":
    """Return the node of a ``Struct`` at ``path``, which is the message ``name`` or none."""
    if not grammar.subcons and not isinstance(grammar, Empty):
        raise CannotLayOut(f"{path}: a Struct without fields takes anything for a record; use Empty")
    if name and not MESSAGE_NAME.fullmatch(name):
        raise CannotLayOut(f"{path}: generated code needs a message's name of letters, digits, '_', '-' and '.'")
    scope = Scope()
    fields: list[Field] = []
    for each in grammar.subcons:
        if not isinstance(each, Renamed) or not each.name:
            raise CannotLayOut(f'{path}: a field without a name; write "name" / {type(each).__name__}(...)')
        if each.name in scope or each.name == "type":
            raise CannotLayOut(f"{path}.{each.name}: the name is taken; every field of a record has its own")
        if not each.name.isidentifier():
            raise CannotLayOut(f"{path}.{each.name}: generated code needs an identifier as a field's name")
        part = walk.part(each.subcon, f"{path}.{each.name}", scope)
        last = fields[-1].node if fields else None
        if last is not None and last.open_ended and not isinstance(part, OptionalTail):
            raise CannotLayOut(f"{path}.{each.name}: behind an optional tail only other tails can follow")
        scope[each.name] = part
        fields.append(Field(each.name, part))
    return Record(name, tuple(fields))


def flags_in(part: Part) -> Flags | None:
    """Return the flags that a field holds, present or not; ``None`` if it holds something else."""
    if isinstance(part, Optional):
        part = part.node
    return part if isinstance(part, Flags) else None


class Record(Compound, frozen=True):
    """Fields in a row; ``name`` is the message's if the record stands in a union, else ""."""

    name: str
    fields: tuple[Field, ...]

    constructs = (Struct,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        return record_of("", grammar, walk, path)

    @property
    def header(self) -> Flags:
        """The header byte of a message."""
        flags = self.fields[0].node
        assert isinstance(flags, Flags)
        return flags

    @property
    def record_fields(self) -> Mapping[str, Part] | None:
        return self.by_name

    @property
    def message_name(self) -> str:
        return self.name

    def inner(self) -> tuple[Part, ...]:
        return tuple(field.node for field in self.fields)

    def fewest(self) -> int:
        return sum(field.node.fewest() for field in self.fields)

    @property
    def open_ended(self) -> bool:
        return any(field.node.open_ended for field in self.fields)

    @property
    def silent(self) -> bool:
        # A message has its name to say, which a union chooses by.
        return not self.name and all(field.node.silent for field in self.fields)

    @property
    def begins_with_flags(self) -> bool:
        """Whether the first byte says which of the fields are there."""
        return bool(self.fields) and isinstance(self.fields[0].node, Flags)

    @property
    def own_name(self) -> str:
        return re.sub(r"\W", "_", self.name.lower())

    def take_names(self, names: Names, hint: str) -> None:
        hint = self.own_name or hint
        for field in self.fields:
            names.visit(field.node, f"{hint}_{field.name}" if flags_in(field.node) else field.name)

    def numbers(self) -> set[str]:
        """Return the fields that expressions read as numbers."""
        return {ref.field for field in self.fields for ref in looked_at(field.node) if ref.bit is None}

    def references(self) -> set[str]:
        """Return the fields that expressions look at."""
        return {ref.field for field in self.fields for ref in looked_at(field.node)}

    # Python

    def python_blank(self, name: str, names: Names) -> Lines:
        """Write down the values that this record has by its flags while nothing else is read."""
        if not self.begins_with_flags:
            return
        known = [f'"type": "{self.name}"'] if self.name else []
        known += [f'"{field.name}": None' for field in self.fields]
        table = f"{names.tables[self.header]}_table"
        yield f'{name}_blank = blanks({{{", ".join(known)}}}, "{self.fields[0].name}", {table})'

    def python_reader(self, code: Code) -> Lines:
        yield from self.python_fields(code)
        yield "return value, at"

    def python_fields(self, code: Code) -> Lines:
        """Read a record into ``value``: a copy of the blank one with the same flags, if it begins with flags."""
        # What was read and is not yet added to `at`; a refusal names an offset, so it is added before any can come.
        ahead = 0
        for index, field in enumerate(self.fields):
            code.fields[field.name] = field.node
            if index == 0 and isinstance(field.node, Flags):
                yield f"b_{field.name} = data[at]"
                blank = f"{code.names.parts[self]}_blank[b_{field.name}]"
                if not field.node.is_any and not self.name:
                    yield f"if {blank} is None:"
                    yield "    raise Refusal(UNKNOWN_ID, at)"
                yield f"value = {blank}.copy()"
                ahead = 1
                continue
            # Neighbours that are one byte each are read at `at + 1`, `at + 2`: one addition for all of them.
            early = field.node.python_ahead(code, f"v_{field.name}", ahead)
            if early is not None:
                lines, ahead = early
                yield from lines
            else:
                if ahead:
                    yield f"at += {ahead}"
                    ahead = 0
                if self.begins_with_flags:
                    yield from field.node.python_store(code, field.name)
                    continue
                yield from field.node.python_read(code, f"v_{field.name}")
            if self.begins_with_flags:
                yield f'value["{field.name}"] = v_{field.name}'
        if ahead:
            yield f"at += {ahead}"
        if not self.begins_with_flags:
            known = [f'"type": "{self.name}"'] if self.name else []
            known += [f'"{field.name}": v_{field.name}' for field in self.fields]
            yield f"value = {{{', '.join(known)}}}"

    def python_writer(self, code: Code) -> Lines:
        if not self.fields:
            yield "if value is not None and not isinstance(value, Mapping):"
            yield '    raise EncodeError(f"{value!r} is not a record")'
            yield 'return b""'
            return
        if self.silent:  # no field has to be said, so neither has the record
            yield "value = {} if value is None else value"
        run: list[str] = []  # pieces that follow each other whatever the flags say: one expression
        gather = "out ="
        for field in self.fields:
            code.fields[field.name] = field.node
            if not isinstance(field.node, Optional):
                yield f"v_{field.name} = {field.node.python_item(code, field.name)}"
                statements, piece = field.node.python_write(code, field.name)
                yield from statements
                run.append(piece)
                continue
            if run or gather == "out =":
                pieces = " + ".join(run or ['b""'])
                yield f"{gather} {pieces}"
            gather = "out +="
            run.clear()
            yield f"if {code.truth(field.node.when)}:"
            yield f"    v_{field.name} = {field.node.node.python_item(code, field.name)}"
            statements, piece = field.node.node.python_write(code, field.name)
            yield from indented(iter([*statements, f"out += {piece}"]))
        if run and gather == "out =":
            yield f"return {' + '.join(run)}"
        else:
            yield f"return out + {' + '.join(run)}" if run else "return out"

    # C

    def c_enter(self, code: CCode) -> list[str]:
        """Begin the function of this record: the variables that its expressions need."""
        code.fields = {field.name: field.node for field in self.fields}
        code.kept = self.numbers()
        declared = (field.node.c_variable(field.name, kept=field.name in code.kept) for field in self.fields)
        return [line for line in declared if line is not None]

    def c_reader(self, code: CCode) -> Lines:
        name, first = code.names.parts[self], int(bool(self.name))
        declared = self.c_enter(code)
        yield f"record *v = make(&kind_{name}, {len(self.fields) + first});"
        if not self.fields and not self.name:
            yield "(void)r;"
            yield "return (PyObject *)v;"
            return
        yield "if (v == NULL)"
        yield "    return NULL;"
        yield from declared
        if self.name:
            yield f"v->fields[0] = Py_NewRef(type_{name});"
        body: list[str] = []
        for index, field in enumerate(self.fields, first):
            body += field.node.c_read(code, f"v->fields[{index}]", field.name, checked=bool(self.name))
        yield from body
        if not any("goto bad;" in line for line in body):  # nothing that can be refused, so nothing that is read
            yield "(void)r;"
            yield "return (PyObject *)v;"
            return
        yield "return (PyObject *)v;"
        yield "bad:"
        yield "Py_DECREF(v);"
        yield "return NULL;"

    def c_writer(self, code: CCode) -> Lines:
        declared = self.c_enter(code)
        yield f"if (Py_TYPE(value) != kind_{code.names.parts[self]}.type)"
        yield "    return 0;"
        if not self.fields:
            yield "(void)w;"
            yield "return 1;"
            return
        yield "record *v = (record *)value;"
        yield from declared
        body: list[str] = []
        for index, field in enumerate(self.fields, int(bool(self.name))):
            body += field.node.c_write(code, f"v->fields[{index}]", field.name)
        yield from body
        if not any("(w, " in line or "w->" in line for line in body):
            yield "(void)w;"
        if not any("v->" in line for line in body):
            yield "(void)v;"
        yield "return 1;"

    # Columns

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        if self.fields or self.name:
            yield f"r:record({code.record(self, name)})"

    def slots(self, slots: Slots, path: str) -> None:
        for field in self.fields:
            slots.add(field.node, within(path, field.name))

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        yield from self.column_fields(code, path)

    def column_fields(self, code: ColumnCode, path: str = "", also: frozenset[str] = frozenset()) -> Lines:
        """Read all fields; the numbers of those in ``also`` stay in variables too."""
        code.fields = {field.name: field.node for field in self.fields}
        code.kept = self.references() | also
        for field in self.fields:
            if field.name in code.kept:
                yield field.node.column_variable(field.name)
        for field in self.fields:
            inner = within(path, field.name)
            yield from field.node.column_read(code, inner, field.name, checked=bool(self.name))

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        if self.fields:
            yield from super().column_read(code, path, field, checked=checked)

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        if not isinstance(value, Mapping):
            return
        if self.name:
            yield (within(path, "type"), Kind.CHOICE), self.name
        for field in self.fields:
            yield from field.node.cells(value[field.name], within(path, field.name), value)

    # Generators

    @property
    def by_name(self) -> dict[str, Part]:
        """The parts by the names of their fields."""
        return {field.name: field.node for field in self.fields}

    def hopeless(self) -> bool:
        over = [sum(field.node.fewest() for field in self.fields[index:]) for index in range(1, len(self.fields) + 1)]
        return any(
            # What goes to the end leaves nothing for a field that needs bytes.
            field.node.hopeless() or (field.node.takes_rest and behind > 0)
            for field, behind in zip(self.fields, over, strict=True)
        )

    def may_be_empty(self) -> bool:
        return all(field.node.may_be_empty() for field in self.fields)

    def swallows(self) -> int:
        taken = 0
        for field in reversed(self.fields):
            taken |= field.node.swallows()
            # What stands before a field that always has bytes never comes to the end of the record.
            if not field.node.may_be_empty():
                break
        return taken

    def swallows_behind(self, value: Any) -> int:
        taken = 0
        for field in reversed(self.fields):
            taken |= field.node.swallows_behind(value[field.name])
            if not field.node.may_be_empty():
                break
        return taken

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        return sampling.record(self.name, self.by_name)

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        return finding.record(self.by_name, path)

    # Coverage

    def fewest_filled(self) -> int:
        return sum(field.node.fewest_filled() for field in self.fields)

    def most_bytes(self) -> float:
        return sum(field.node.most_bytes() for field in self.fields)

    @property
    def takes_rest(self) -> bool:
        # A message that is refused always has nothing behind it, whatever it ends with.
        return self.hopeless() or (bool(self.fields) and self.fields[-1].node.takes_rest)

    def branches(self, place: Place) -> Iterator[str]:
        yield from ()

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        values: dict[str, Any] = {"type": self.name} if self.name else {}
        for name, inner in zip(place.labels, place.inner, strict=True):
            values[name] = tracing.read(inner, within(where, name), values)
        return values

    # Vectors

    is_composed = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        values: dict[str, Any] = {}
        plain = composing.plain_fields(place)
        for name, inner in zip(place.labels, place.inner, strict=True):
            values[name] = composing.write(inner, within(where, name), values, plain.get(name))

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for label, inner in zip(place.labels, place.inner, strict=True):
            for words, plan, _ in inner.part.pair_options(looking, target, inner, within(where, label)):
                yield f"{label} {words}", plan, None

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        for field in self.fields:
            yield from loop.field(field.node, loop.read(value, field.name))

    @property
    def value_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)
