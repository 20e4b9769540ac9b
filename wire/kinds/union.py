"""One of several messages, told apart by their first byte."""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import msgspec

from wire.constructs import OCTET, Context, Grammar, Message, Values, dotted, take
from wire.errors import DecodeError, EncodeError, Reason
from wire.kinds.base import FieldFinding, FieldLoop, Part, Sampling, Scope, Walk, walk, within
from wire.kinds.boundaries import PLAIN
from wire.kinds.branches import MISSING, UNKNOWN, Inside, Place, TracedRefusal, Tracing
from wire.kinds.composing import ComposedTarget, Composing, Looking, Plan, PlannedOption, Way
from wire.kinds.compound import Compound
from wire.kinds.contexts import CCode, Cell, Code, ColumnCode, Kind, Lines, LuaCode, Names, Slots
from wire.kinds.edits import Find, Found, MutableField, Mutation, UnreadableFrame, replaced
from wire.kinds.flags import ID, header_of
from wire.kinds.generators import Draw, Numbers, Unsatisfiable, any_of
from wire.kinds.record import Record, record_of


class OneOf(Grammar):
    """One of several named messages, told apart by the header byte; the value has the name under ``type``."""

    def __init__(self, *messages: Message) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.messages: dict[str, Message] = {str(message.name): message for message in messages}
        self.by_byte: list[Message | None] = [
            next((message for message in messages if header_of(message).matches(byte)), None) for byte in range(256)
        ]

    def begins(self, byte: int) -> bool:
        """Tell whether a header byte begins one of the messages."""
        return self.by_byte[byte] is not None

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Values:
        start = stream.tell()
        byte = take(stream, 1, path, "a header")[0]
        message = self.by_byte[byte]
        if message is None:
            raise DecodeError(
                Reason.UNKNOWN_ID,
                start,
                dotted(path),
                f"no message has the id {byte & ID:#04x} (header {byte:#04x})",
            )
        stream.seek(start)
        value = message.subcon._parsereport(stream, context, f"{path} -> {message.name}")
        return Values({"type": message.name} | value)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        message = self.messages.get(obj.get("type"))
        if message is None:
            raise EncodeError(f"{dotted(path)}: no message is called {obj.get('type')!r}")
        where = f"{path} -> {message.name}"
        begun = self.by_byte[header_of(message).spell(obj["header"], f"{where} -> header")[0]]
        if begun is not message:
            other = begun.name if begun else "no message"
            raise EncodeError(f"{dotted(where)}.header: {obj['header']!r} begins {other}, not {message.name}")
        return message.subcon._build(obj, stream, context, where)


class Union(Compound, frozen=True):
    """One of several messages, told apart by the first byte: no two have a header that ``begins`` alike."""

    messages: tuple[Record, ...]

    constructs = (OneOf,)

    @classmethod
    def declared(cls, grammar: Any, walk: Walk, path: str, scope: Scope) -> Part:
        messages = []
        for name, message in grammar.messages.items():
            header, *fields = record_of(name, message.subcon, walk, f"{path}.{name}").fields
            # Asked of the grammar, in which earlier messages come first where two headers match.
            begins = tuple(byte for byte in range(256) if grammar.by_byte[byte] is message)
            first = msgspec.structs.replace(header, node=msgspec.structs.replace(header.node, begins=begins))
            messages.append(walk.shared(Record(name, (first, *fields))))
        return cls(tuple(messages))

    def begun(self) -> tuple[int | None, ...]:
        """Return for each of the 256 bytes the index of the message that it begins."""
        index = {byte: index for index, message in enumerate(self.messages) for byte in message.header.begins}
        return tuple(index.get(byte) for byte in range(256))

    def inner(self) -> tuple[Part, ...]:
        return self.messages

    def fewest(self) -> int:
        return min(message.fewest() for message in self.messages)

    @property
    def open_ended(self) -> bool:
        return any(message.open_ended for message in self.messages)

    def take_names(self, names: Names, hint: str) -> None:
        for message in self.messages:
            names.visit(message, hint)

    def python_function(self, code: Code) -> Lines:
        yield f"read_{code.names.parts[self]} = dispatch("
        for message in self.messages:
            begins = f"{code.names.tables[message.header]}_begins"
            yield f"    (read_{code.names.parts[message]}, {begins}),"
        yield ")"

    def python_read(self, code: Code, into: str) -> Lines:
        yield f"{into}, at = read_{code.names.parts[self]}[data[at]](data, at, refuse)"

    def python_writer_function(self, code: Code) -> Lines:
        yield f"write_{code.names.parts[self]} = {{"
        for message in self.messages:
            yield f'    "{message.name}": write_{code.names.parts[message]},'
        yield "}"

    def python_written(self, code: Code, source: str) -> str:
        return f'write_{code.names.parts[self]}[{source}["type"]]({source})'

    def python_call(self, code: Code) -> str:
        return f"lambda data, at, refuse: read_{code.names.parts[self]}[data[at]](data, at, refuse)"

    def python_entry(self, code: Code) -> str:
        return f"value, at = read_{code.names.parts[self]}[data[0]](data, 0, refuse)"

    def c_reader(self, code: CCode) -> Lines:
        yield "if (r->at == r->size) {"
        yield "    refuse(r, TRUNCATED, r->size);"
        yield "    return NULL;"
        yield "}"
        yield "switch (r->data[r->at]) {"
        for message in self.messages:
            for byte in message.header.begins:
                yield f"case 0x{byte:02X}:"
            yield f"    return {code.names.parts[message]}_read(r);"
        yield "default:"
        yield "    refuse(r, UNKNOWN_ID, r->at);"
        yield "    return NULL;"
        yield "}"

    def c_writer(self, code: CCode) -> Lines:
        for message in self.messages:
            name = code.names.parts[message]
            yield f"if (Py_TYPE(value) == kind_{name}.type)"
            yield f"    return {name}_write(w, value);"
        yield "(void)w;"
        yield "return 0;"

    def lua_read(self, code: LuaCode, name: str) -> Lines:
        yield f"r:union({code.union(self, name)})"

    def slots(self, slots: Slots, path: str) -> None:
        slots.choice(path, (message.name for message in self.messages))
        for message in self.messages:
            slots.add(message, path)

    def column_reader(self, code: ColumnCode, path: str) -> Lines:
        cell, column = code.cell(within(path, "type"), Kind.CHOICE)
        yield "if (unlikely(p == f->end))"
        yield "    return refused(f, TRUNCATED, p);"
        # A switch over the byte, not a table of functions: so the compiler sees which function is called.
        yield "switch (*p) {"
        for message in self.messages:
            begins = [f"case 0x{byte:02X}:" for byte in message.header.begins]
            yield from (" ".join(begins[at : at + 8]) for at in range(0, len(begins), 8))
            yield f"    TAKE(take_choice({cell}, {column.size}, {column.choices.index(message.name)}));"
            yield f"    return {code.reader(message, path)}(f, p, t, row);"
        yield "}"
        yield "return refused(f, UNKNOWN_ID, p);"

    def cells(self, value: Any, path: str, record: Any) -> Iterator[Cell]:
        message = next(message for message in self.messages if message.name == value["type"])
        yield from message.cells(value, path, record)

    # Generators

    def hopeless(self) -> bool:
        return all(message.hopeless() for message in self.messages)

    def swallows(self) -> int:
        return any_of(message.swallows() for message in self.messages)

    def swallows_behind(self, value: Any) -> int:
        return next(message for message in self.messages if message.name == value["type"]).swallows_behind(value)

    def first(self) -> int:
        """Return the bytes that begin a message, as bits of a number."""
        return any_of(1 << byte for message in self.messages for byte in message.header.begins)

    def sampled(self, sampling: Sampling, fields: Mapping[str, Part]) -> Draw:
        tried = [(message, sampling.attempted(message)) for message in self.messages]
        draws = [draw for message, draw in tried if draw is not None for _ in range(share(message))]
        if not draws:
            raise Unsatisfiable("a union of messages that are all refused")
        pick = sampling.choices.pick(draws)
        return lambda source, numbers: pick(source)(source, numbers)

    def mutations(self, message: Record, path: str) -> list[Mutation]:
        """Return what can be done to the header of a message: another one, or one that begins none."""
        where = path or "frame"
        begun = self.begun()
        unknown = [OCTET[byte] for byte in range(256) if begun[byte] is None]
        other = [OCTET[byte] for each in self.messages if each is not message for byte in each.header.begins]
        return [
            replaced(name, options)
            for name, options in ((f"unknown id in {where}", unknown), (f"another id in {where}", other))
            if options
        ]

    def finder(self, finding: FieldFinding, path: str, fields: Mapping[str, Part]) -> Find:
        finders: list[Find | None] = [None] * 256
        place = MutableField(path, self, ())
        for message in self.messages:
            finder = finding.record(message.by_name, "", self.mutations(message, path))
            for byte in message.header.begins:
                finders[byte] = finder

        def find(data: bytes, at: int, numbers: Numbers, found: list[Found]) -> int:
            finder = finders[data[at]]
            if finder is None:
                raise UnreadableFrame
            end = finder(data, at, numbers, found)
            found.append((at, end, place, ()))
            return end

        return find

    # Coverage

    holds_value = False

    def most_bytes(self) -> float:
        return max(message.most_bytes() for message in self.messages)

    @property
    def takes_rest(self) -> bool:
        return all(message.takes_rest for message in self.messages)

    def by_first_byte(self) -> Sequence[Any]:
        return self.begun()

    def inside(self) -> Iterator[Inside]:
        for message in self.messages:
            yield Inside(message.name, message, message.name, is_message=True, given=1)

    def branches(self, place: Place) -> Iterator[str]:
        yield from ([] if place.given else [MISSING])
        yield from (f"is {label}" for label in place.labels)
        yield from ([UNKNOWN] if None in place.table and not place.sure else [])

    def traced(self, tracing: Tracing, place: Any, where: str, scope: dict[str, Any]) -> Any:
        if tracing.at == tracing.end:
            tracing.hit(place, MISSING)
            raise TracedRefusal(Reason.TRUNCATED, tracing.at)
        index = place.table[tracing.data[tracing.at]]
        if index is None:
            tracing.hit(place, UNKNOWN)
            raise TracedRefusal(Reason.UNKNOWN_ID, tracing.at)
        label = place.labels[index]
        tracing.hit(place, f"is {label}")
        tracing.chosen(where, label)
        return tracing.read(place.inner[index], within(where, label), {})

    # Vectors

    is_composed = True
    can_be_missing = True
    ends_inside = True

    def composed(
        self, composing: Composing, place: Any, where: str, scope: dict[str, Any], default: bytes | None
    ) -> Any:
        chosen = composing.plan.get(where, place.labels[0])
        if isinstance(chosen, bytes):
            composing.put(chosen)
        else:
            composing.write(place.under(chosen), within(where, str(chosen)), {})

    def ways(self, place: Any, where: str, plan: Plan) -> Iterator[Way]:
        for label, inner in zip(place.labels, place.inner, strict=True):
            yield Way(inner, within(where, label), {**plan, where: label}, label)

    def strangers(self) -> list[int]:
        """Return bytes that begin no message: one of each number that the bits of all headers can make."""
        begun = self.begun()
        mask = 0xFF
        for message in self.messages:
            mask &= sum(message.header.bit(name).mask for name, _ in message.header.constants)
        found: dict[int, int] = {}
        for byte in range(256):
            if begun[byte] is None:
                found.setdefault(byte & mask, byte)
        return list(found.values())

    def specimens(self, looking: Looking, target: ComposedTarget) -> Iterator[Any]:
        if target.place.sure:
            return
        unknown = self.strangers()
        for byte in unknown if target.full else unknown[:: max(len(unknown) - 1, 1)]:
            comment = f"0x{byte:02x}, which begins no message"
            # Something follows, for a decoder that takes it for a message.
            yield looking.made(target, "refused", UNKNOWN, comment, {target.where: bytes([byte, PLAIN, 0])})

    def pair_options(self, looking: Looking, target: ComposedTarget, place: Any, where: str) -> Iterator[PlannedOption]:
        for label in place.labels:
            path = within(where, label)
            inside = {at: to for at, to in looking.shown(target, path).items() if at.startswith(f"{path}.")}
            yield label, {**inside, where: label}, None

    # The benchmark

    def fields_read(self, loop: FieldLoop, value: str) -> Lines:
        yield from loop.messages(((message.name, message) for message in self.messages), value)


def share(message: Record) -> int:
    """Return how often a message is chosen: more often if others stand inside it, or those were rare."""
    return sum(isinstance(each, Record) and bool(each.name) for each in walk(message)).bit_length()
