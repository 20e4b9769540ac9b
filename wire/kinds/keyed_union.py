"""One of several messages, told apart by a field that stands before them."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from construct import Renamed, Struct

from wire.constructs import Context, Grammar, Message, Values, dotted
from wire.errors import CannotLayOut, DecodeError, EncodeError, Reason
from wire.expressions import Expr, compiled
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, lead_of, within
from wire.kinds.branches import UNKNOWN, Inside, Place, TracedRefusal, Tracing, some
from wire.kinds.coded import c_one_of, lua_one_of, one_of
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Find, Found, MutableField, UnreadableFrame, truncate
from wire.kinds.flags import Flags
from wire.kinds.generators import AVOIDED, REFUSED, Draw, Lead, Numbers, Pair, Source, Unsatisfiable, any_of
from wire.kinds.record import Record, record_of
from wire.kinds.sized import computed


class SelectedBy(Grammar):
    """One of several named messages, by the number that an expression over earlier fields has.

    ``SelectedBy(this.kind, {1: "PING" / Struct(...), 2: "PONG" / Struct(...)})``: the value has the name as ``type``.
    """

    def __init__(self, key: Any, messages: Mapping[int, Message]) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.key = key
        self.messages = dict(messages)

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Values:
        key = computed(self.key, context)
        message = self.messages.get(key)
        if message is None:
            raise DecodeError(Reason.UNKNOWN_ID, stream.tell(), dotted(path), f"no message has the number {key}")
        value = message.subcon._parsereport(stream, context, f"{path} -> {message.name}")
        return Values({"type": message.name} | value)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        key = computed(self.key, context)
        message = self.messages.get(key)
        if message is None:
            raise EncodeError(f"{dotted(path)}: no message has the number {key}")
        if obj.get("type") != message.name:
            raise EncodeError(f"{dotted(path)}: {key} is the number of {message.name}, not of {obj.get('type')!r}")
        return message.subcon._build(obj, stream, context, f"{path} -> {message.name}")


class KeyedUnion(Part, frozen=True):
    """The message that has the number ``key``; any other number is refused."""

    key: Expr
    cases: tuple[tuple[int, Record], ...]

    constructs = (SelectedBy,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        key = scope.expression(grammar.key, path)
        cases = []
        for number, message in grammar.messages.items():
            if (
                not isinstance(number, int)
                or not isinstance(message, Renamed)
                or not isinstance(message.subcon, Struct)
            ):
                raise CannotLayOut(f'{path}: the case {number!r} is not one of a number and "NAME" / Struct(...)')
            record = walk.shared(record_of(str(message.name), message.subcon, walk, f"{path}.{message.name}"))
            first = record.fields[0].node if record.fields else None
            if isinstance(first, Flags) and not first.is_any:
                raise CannotLayOut(f"{path}.{message.name}: a Header where a field has chosen already; use Bits")
            cases.append((int(number), record))
        names = {record.name: record for _, record in cases}
        if any(names[record.name] != record for _, record in cases):
            raise CannotLayOut(f"{path}: two different messages of one name; every message has its own")
        if not cases:
            raise CannotLayOut(f"{path}: no message to select; use Pass for nothing")
        return cls(key, tuple(cases))

    def inner(self) -> tuple[Part, ...]:
        return tuple(record for _, record in self.cases)

    def expressions(self) -> tuple[Expr, ...]:
        return (self.key,)

    def fewest(self) -> int:
        return min(record.fewest() for _, record in self.cases)

    @property
    def open_ended(self) -> bool:
        return any(record.open_ended for _, record in self.cases)

    def take_names(self, names: Names, hint: str) -> None:
        for _, record in self.cases:
            names.visit(record, hint)

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"key = {code.bare(self.key)}"
        cases = ((f"key == {number}", record.python_read(code, into)) for number, record in self.cases)
        yield from one_of(cases, ["raise Refusal(UNKNOWN_ID, at)"])

    def python_write(self, code: Code, field: str) -> tuple[list[str], str]:
        cases = (
            (f'key == {number} and v_{field}["type"] == "{record.name}"', record.python_set(code, field))
            for number, record in self.cases
        )
        refused = ['raise EncodeError("no such message has the number that is announced")']
        return [f"key = {code.bare(self.key)}", *one_of(cases, refused)], f"w_{field}"

    def c_read(self, code: CCode, into: str, field: str, *, checked: bool = False) -> Lines:
        cases = ((number, record.c_read(code, into, field)) for number, record in self.cases)
        yield from c_one_of(code.number(self.key), cases, ["refuse(r, UNKNOWN_ID, r->at);", "goto bad;"])

    def c_write(self, code: CCode, source: str, field: str) -> Lines:
        cases = ((number, record.c_write(code, source, field)) for number, record in self.cases)
        yield from c_one_of(code.number(self.key), cases, ["return 0;"])

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        cases = ((number, record.lua_read(code, name)) for number, record in self.cases)
        refused = ['refuse("unknown-id", r.at, "no message has the number " .. tostring(case))']
        yield from lua_one_of(code.number(self.key), cases, refused)

    def meanings(self) -> Iterator[tuple[Expr, dict[int, str]]]:
        yield self.key, {number: record.name for number, record in self.cases}

    def slots(self, slots: Slots, path: str) -> None:
        slots.choice(path, (record.name for _, record in self.cases))
        for _, record in self.cases:
            slots.add(record, path)

    def column_read(self, code: ColumnCode, path: str, field: str, *, checked: bool = False) -> Lines:
        cell, column = code.cell(within(path, "type"), Kind.CHOICE)

        def case(record: Record) -> Lines:
            yield f"TAKE(take_choice({cell}, {column.size}, {column.choices.index(record.name)}));"
            yield from record.column_read(code, path, field)

        cases = ((number, case(record)) for number, record in self.cases)
        yield from c_one_of(code.number(self.key), cases, ["return refused(f, UNKNOWN_ID, p);"])

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        message = next(message for _, message in self.cases if message.name == value["type"])
        yield from message.cells(value, path, record)

    # Generators

    def decisions(self) -> tuple[int, ...]:
        return tuple(number for number, _ in self.cases)

    def hopeless(self) -> bool:
        return all(record.hopeless() for _, record in self.cases)

    def swallows(self) -> int:
        return any_of(record.swallows() for _, record in self.cases)

    def swallows_behind(self, value: Any) -> int:
        return any_of(record.swallows_behind(value) for _, record in self.cases if record.name == value["type"])

    def leads(self, fields: Mapping[str, Part]) -> Callable[[Numbers], Lead]:
        key = compiled(self.key, fields)
        cases = {number: (index, lead_of(record, {})) for index, (number, record) in enumerate(self.cases)}

        def chosen(numbers: Numbers) -> Lead:
            if (number := key(numbers)) not in cases:
                return REFUSED
            index, lead = cases[number]
            led = lead(numbers)
            return led if led in (REFUSED, AVOIDED) else (index, led)

        return chosen

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        key = compiled(self.key, fields)
        cases = {number: sampling.promised(record, {}) for number, record in self.cases}

        def draw(source: Source, numbers: Numbers) -> Pair:
            if key(numbers) not in cases:
                raise Unsatisfiable(f"no message has the number {key(numbers)}")
            return cases[key(numbers)](source, numbers)

        return draw

    @property
    def refusal(self) -> str:
        return "unknown"

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        key, place = compiled(self.key, fields), MutableField(path, self, [truncate(path)])
        # Paths are those within a message, and so are those of the messages in it.
        cases = {number: finding.record(record.by_name, "") for number, record in self.cases}

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            if key(numbers) not in cases:
                raise UnreadableFrame
            end = cases[key(numbers)](data, at, {}, found)
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return max(record.most_bytes() for _, record in self.cases)

    @property
    def takes_rest(self) -> bool:
        return all(record.takes_rest for _, record in self.cases)

    @property
    def decided_by(self) -> Expr | None:
        return self.key

    def inside(self) -> Iterator[Inside]:
        for message in dict.fromkeys(record for _, record in self.cases):
            yield Inside(message.name, message, message.name, is_message=True)

    def branches(self, place: Place) -> Iterator[str]:
        known = {number for number, _ in self.cases}
        reached = {record.name for number, record in self.cases if some(place.numbers, number, number)}
        yield from (f"is {label}" for label in place.labels if label in reached)
        if place.numbers is None or place.numbers - known:
            yield UNKNOWN

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        record = dict(self.cases).get(tracing.computed(self.key, scope))
        if record is None:
            tracing.hit(place, UNKNOWN)
            raise TracedRefusal(Reason.UNKNOWN_ID, tracing.at)
        tracing.hit(place, f"is {record.name}")
        tracing.chosen(where, record.name)
        return tracing.read(place.inner[place.labels.index(record.name)], within(where, record.name), {})

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.messages({record.name: record for _, record in self.cases}.items(), value)
