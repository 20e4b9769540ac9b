"""Mutations of binary frames: a light reading that finds the fields, and what can be done to numbers, counts, lists.

The reading checks nothing that it need not. Of a frame that it cannot read to the end it keeps what it understood.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from vectors.located import (
    MOST,
    Below,
    Found,
    Mutation,
    Place,
    Unreadable,
    put,
    replaced,
    spoiled,
    truncate,
)
from vectors.spelling import (
    LONGEST,
    NoGenerator,
    Outcomes,
    Scope,
    boundaries,
    evaluator,
    first,
    present,
    spell,
    spelled,
    stretch,
    unspell,
)
from wire.layout import (
    Chain,
    Counted,
    Flags,
    Integer,
    Items,
    Nothing,
    Optional,
    Part,
    Record,
    Remainder,
    Reserved,
    Sized,
    Switch,
    Union,
    Varint,
)

Read = Callable[[bytes, int, Scope, list[Found]], int]


class BinaryReading:
    """A compiled tree that finds the fields of a frame."""

    def __init__(self, root: Part) -> None:
        self._known: dict[tuple[Part, str], Read] = {}
        self._read = self._part(root, "", {})

    def found(self, frame: bytes) -> list[Found]:
        """Return the fields of a frame in order, inner ones before outer ones, as far as it can be read."""
        found: list[Found] = []
        with suppress(LookupError, ValueError, Unreadable):
            self._read(frame, 0, {}, found)
        return found

    def _part(self, part: Part, path: str, fields: dict[str, Part]) -> Read:
        """Compile a part at ``path``, in a record of ``fields``."""
        match part:
            case Optional():
                when, node = evaluator(part.when, fields), self._part(part.node, path, fields)
                return lambda data, at, scope, found: node(data, at, scope, found) if when(scope) else at
            case Switch():
                return self._switch(part, path, fields)
            case Sized():
                return self._sized(part, path, fields)
        key = part, path
        if key not in self._known:
            self._known[key] = self._make(part, path)
        return self._known[key]

    def _make(self, part: Part, path: str) -> Read:
        match part:
            case Integer() | Varint() | Flags():
                return _number(part, path)
            case Counted():
                return _counted(Place(path, part, _of_counted(part, path)))
            case Remainder():
                return _remainder(Place(path, part, _of_remainder(part, path)))
            case Nothing():
                return lambda data, at, scope, found: at
            case Reserved():
                return _reserved
            case Record():
                return self._record(part, path)
            case Union():
                return self._union(part, path)
            case Items():
                return self._items(part, path)
            case Chain():
                return self._chain(part, path)
        raise NoGenerator(f"{type(part).__name__} is not among the parts that can be found in frames")

    def _record(self, record: Record, path: str, header: Sequence[Mutation] = ()) -> Read:
        """Compile a record; ``header`` are the mutations that its first byte has as a member of a union."""
        fields = {field.name: field.node for field in record.fields}
        reads = []
        for field in record.fields:
            label = f"{path}.{field.name}" if path else field.name
            node, outcomes = present(field.node), Outcomes(record, field.name)
            more, header = [*header, *(_of_deciding(outcomes, label) if outcomes else ())], ()
            if more and isinstance(node, Flags | Integer | Varint):
                read = _number(node, label, more)
                if isinstance(field.node, Optional):
                    read = _if(evaluator(field.node.when, fields), read)
            else:
                read = self._part(field.node, label, fields)
            reads.append(read)
        return _in_a_row(tuple(reads))

    def _union(self, union: Union, path: str) -> Read:
        readers: list[Read | None] = [None] * 256
        place = Place(path, union, ())
        for message in union.messages:
            read = self._record(message, "", _of_union(union, message, path))
            for byte in message.header.begins:
                readers[byte] = read

        def read_one(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
            read = readers[data[at]]
            if read is None:
                raise Unreadable
            end = read(data, at, scope, found)
            found.append((at, end, place, ()))
            return end

        return read_one

    def _switch(self, switch: Switch, path: str, fields: dict[str, Part]) -> Read:
        key, default = evaluator(switch.key, fields), self._part(switch.default, path, fields)
        cases = {number: self._part(case, path, fields) for number, case in switch.cases}
        return lambda data, at, scope, found: cases.get(key(scope), default)(data, at, scope, found)

    def _sized(self, part: Sized, path: str, fields: dict[str, Part]) -> Read:
        place, count = Place(path, part, [truncate(path)]), evaluator(part.count, fields)

        def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
            end = at + count(scope)
            if not at <= end <= len(data):
                raise Unreadable
            found.append((at, end, place, ()))
            return end

        return read

    def _items(self, items: Items, path: str) -> Read:
        item = self._part(items.union, path, {})
        place = Place(path, items, _of_list(items.most, path, 0))
        begins = (1 << 256) - 1 if items.to_end else first(items.union)

        def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
            start, cuts = at, list[int]()
            while at < len(data) and begins >> data[at] & 1:
                if len(cuts) == MOST:
                    raise Unreadable
                cuts.append(at)
                at = item(data, at, scope, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return read

    def _chain(self, chain: Chain, path: str) -> Read:
        mask = chain.item.header.bit("Z").mask
        item = self._record(chain.item, path)
        place = Place(path, chain, _of_list(chain.most, path, mask))

        def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
            start, cuts, header = at, list[int](), mask
            while header & mask:
                if len(cuts) == MOST:
                    raise Unreadable
                cuts.append(at)
                header = data[at]
                at = item(data, at, scope, found)
            found.append((start, at, place, tuple(cuts)))
            return at

        return read


def _in_a_row(reads: tuple[Read, ...]) -> Read:
    def read(data: bytes, at: int, outer: Scope, found: list[Found]) -> int:
        scope: Scope = {}
        for field in reads:
            at = field(data, at, scope, found)
        return at

    return read


def _if(when: Callable[[Scope], int], read: Read) -> Read:
    return lambda data, at, scope, found: read(data, at, scope, found) if when(scope) else at


def _number(part: Flags | Integer | Varint, path: str, more: Sequence[Mutation] = ()) -> Read:
    """Compile a number: with its usual mutations, and ``more`` if it decides something."""
    name = path.rpartition(".")[2]
    match part:
        case Flags():
            return _flags(part, name, Place(path, part, [*_of_flags(part, path), *more]))
        case Integer():
            return _integer(part.size, name, Place(path, part, [*_of_integer(part, path), *more]))
        case Varint():
            return _varint(name, Place(path, part, [*_of_varint(part, path), *more]))


def _reserved(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
    raise Unreadable


def _integer(size: int, name: str, place: Place) -> Read:
    def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
        end = at + size
        if end > len(data):
            raise Unreadable
        scope[name] = int.from_bytes(data[at:end], "little")
        found.append((at, end, place, ()))
        return end

    return read


def _flags(part: Flags, name: str, place: Place) -> Read:
    begins = frozenset(part.begins)

    def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
        scope[name] = byte = data[at]
        if byte not in begins:
            raise Unreadable
        found.append((at, at + 1, place, ()))
        return at + 1

    return read


def _varint(name: str, place: Place) -> Read:
    def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
        scope[name], end = unspell(data, at)
        found.append((at, end, place, ()))
        return end

    return read


def _counted(place: Place) -> Read:
    def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
        count, begin = unspell(data, at)
        end = begin + count
        if end > len(data):
            raise Unreadable
        found.append((at, end, place, (begin,)))
        return end

    return read


def _remainder(place: Place) -> Read:
    def read(data: bytes, at: int, scope: Scope, found: list[Found]) -> int:
        found.append((at, len(data), place, ()))
        return len(data)

    return read


Respelling = Callable[[int, Below], bytes | None]
"""A number to the bytes that shall stand in its place."""


def _respelled(name: str, respell: Respelling) -> Mutation:
    """Make a mutation of what is done to a variable-length integer, or to the count that a span begins with."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        number, after = unspell(frame, start)
        piece = respell(number, below)
        return None if piece is None else put(frame, start, after, piece)

    return name, change


def _overlong(number: int, below: Below) -> bytes | None:
    least = len(spell(number))
    return stretch(number, least + 1 + below(LONGEST - least)) if least < LONGEST else None


def _overflow(bits: int) -> Respelling:
    beyond = tuple(
        sorted({1 << bits, (1 << bits) + 1, 1 << bits + 7 & (1 << 64) - 1 | 1 << bits, 1 << 63, (1 << 64) - 1})
    )

    def overflow(number: int, below: Below) -> bytes | None:
        which = below(len(beyond) + 1)
        return spell(number | 1 << bits if which == len(beyond) else beyond[which])

    return overflow


_CONTINUED = tuple(byte * count for byte in (b"\x80", b"\xff") for count in (1, 2, 4, 8, 9, 10, 11, 64))


def _hostile(number: int, below: Below) -> bytes:
    return _CONTINUED[below(len(_CONTINUED))]


def _boundary(bits: int) -> Respelling:
    near = tuple(map(spell, boundaries(bits)))
    return lambda number, below: near[below(len(near))]


def _of_varint(part: Varint, path: str) -> list[Mutation]:
    mutations = [
        _respelled(f"overlong {path}", _overlong),
        _respelled(f"hostile continuation bytes in {path}", _hostile),
        _respelled(f"boundary in {path}", _boundary(part.bits)),
        truncate(path),
    ]
    if part.bits < 64:
        mutations.append(_respelled(f"overflow {path}", _overflow(part.bits)))
    return mutations


def _of_integer(part: Integer, path: str) -> list[Mutation]:
    near = tuple(number.to_bytes(part.size, "little") for number in boundaries(8 * part.size))

    def boundary(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, near[below(len(near))])

    return [(f"boundary in {path}", boundary), truncate(path)]


def _of_flags(part: Flags, path: str) -> list[Mutation]:
    mutations = [
        _flip(f"flip {path}.{bit.name}", (bit.mask,))
        if bit.high == bit.low
        else _flip(f"change {path}.{bit.name}", tuple(n << bit.low for n in range(1, (bit.mask >> bit.low) + 1)))
        for bit in part.bits
    ]
    if part.spare:
        mutations.append(_flip(f"flip {path}.X", tuple(1 << n for n in range(8) if part.spare >> n & 1)))
    return [*mutations, truncate(path)]


def _flip(name: str, masks: tuple[int, ...]) -> Mutation:
    def flip(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, bytes((frame[start] ^ masks[below(len(masks))],)))

    return name, flip


_GROWN = (63, 64, 126, 127, 128, 129, 254, 255, 256, 257)


def _of_counted(part: Counted, path: str) -> list[Mutation]:
    most = (1 << part.bits) - 1
    huge = tuple(n for n in (1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63, most - 1, most) if n <= most)

    def content(name: str, rewrite: Callable[[bytes, Below], bytes]) -> Mutation:
        def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
            data = rewrite(frame[cuts[0] : end], below)
            return put(frame, start, end, spell(len(data)) + data) if len(data) <= most else None

        return f"{name} {path}", change

    def hugely(number: int, below: Below) -> bytes | None:
        count = huge[below(len(huge))]
        return spell(count) if count > number else None

    mutations = [
        _respelled(f"count one more than there is in {path}", lambda n, below: spell(n + 1) if n < most else None),
        _respelled(f"count one less than there is in {path}", lambda n, below: spell(n - 1) if n else None),
        _respelled(f"count huge in {path}", hugely),
        _respelled(f"overlong count of {path}", _overlong),
        _respelled(f"hostile continuation bytes in {path}", _hostile),
        content("empty", lambda data, below: b""),
        content("grow", lambda data, below: data + b"a" * (_GROWN[below(len(_GROWN))] - len(data))),
        truncate(path),
    ]
    if part.bits < 64:
        mutations.append(_respelled(f"overflow count of {path}", _overflow(part.bits)))
    if part.text:
        mutations.append(content("not UTF-8 in", spoiled))
    return mutations


def _of_remainder(part: Remainder, path: str) -> list[Mutation]:
    if not part.text:
        return [truncate(path)]

    def spoil(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, start, end, spoiled(frame[start:end], below))

    return [truncate(path), (f"not UTF-8 in {path}", spoil)]


def _of_union(union: Union, message: Record, path: str) -> list[Mutation]:
    """Return what can be done to the header of a message: another one, or one that begins none."""
    where = path or "frame"
    begun = union.begun()
    unknown = [bytes((byte,)) for byte in range(256) if begun[byte] is None]
    other = [bytes((byte,)) for each in union.messages if each is not message for byte in each.header.begins]
    return [
        replaced(name, options)
        for name, options in ((f"unknown id in {where}", unknown), (f"another id in {where}", other))
        if options
    ]


def _of_deciding(outcomes: Outcomes, path: str) -> list[Mutation]:
    """Return what can be done to a number that later fields depend on: lead to a reserved place, lie about a length."""
    mutations = []
    part = outcomes.part
    mask, numbers = outcomes.refusals()
    if numbers:
        where = [bit.name for bit in part.bits if bit.mask & mask] if isinstance(part, Flags) else []
        mutations.append(_renumbered(f"reserved {'.'.join([path, *where])}", part, _reserving(mask, numbers)))
    beside = path.removesuffix(outcomes.field)
    for name, bits, size in outcomes.counts():
        for word, step in (("more", 1), ("less", -1)):
            recount = _counting(outcomes, bits, size, step)
            mutations.append(_renumbered(f"count {word} than there is in {beside}{name}", part, recount))
    return mutations


def _renumbered(name: str, part: Flags | Integer | Varint, renumber: Callable[[int, Below], int | None]) -> Mutation:
    """Make a mutation of what is done to the number that a part counts as."""

    def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        old = unspell(frame, start)[0] if isinstance(part, Varint) else int.from_bytes(frame[start:end], "little")
        number = renumber(old, below)
        return None if number is None else put(frame, start, end, spelled(part, number))

    return name, change


def _reserving(mask: int, numbers: Sequence[int]) -> Callable[[int, Below], int]:
    def reserve(old: int, below: Below) -> int:
        number = numbers[below(len(numbers))]
        return old & ~mask | number if mask else number

    return reserve


def _counting(
    outcomes: Outcomes, mask: int, size: Callable[[Scope], int], sign: int
) -> Callable[[int, Below], int | None]:
    """Change a number by one so that it announces more bytes, or fewer."""
    part, field = outcomes.part, outcomes.field
    most = (
        mask
        or (1 << (8 * part.size if isinstance(part, Integer) else part.bits if isinstance(part, Varint) else 0)) - 1
    )
    step = mask & -mask or 1

    def recount(old: int, below: Below) -> int | None:
        number = (old & most) + sign * step
        if number < 0 or number > most:
            return None
        number |= old & ~most
        return number if (size({field: number}) - size({field: old})) * sign > 0 else None

    return recount


def _of_list(most: int, path: str, mask: int) -> list[Mutation]:
    """Return what can be done to items in a row; those of a chain have ``mask`` set in their first byte, but the last.

    What changes their order or number keeps the chain whole, if its name does not say otherwise.
    """

    def relinked(items: Sequence[bytes]) -> bytes:
        if not mask:
            return b"".join(items)
        *linked, last = items
        return b"".join(
            [*(bytes((item[0] | mask,)) + item[1:] for item in linked), bytes((last[0] & ~mask,)), last[1:]]
        )

    def rearranged(name: str, rearrange: Callable[[list[bytes], Below], list[bytes] | None], least: int) -> Mutation:
        def change(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
            if len(cuts) < least:
                return None
            ends = (*cuts[1:], end)
            items = rearrange([frame[a:b] for a, b in zip(cuts, ends, strict=True)], below)
            return None if not items else put(frame, start, end, relinked(items))

        return f"{name} in {path}", change

    def duplicate(items: list[bytes], below: Below) -> list[bytes]:
        index = below(len(items))
        return items[:index] + items[index : index + 1] * (1, 1, 1, 2, 20)[below(5)] + items[index:]

    def swap(items: list[bytes], below: Below) -> list[bytes]:
        one = below(len(items))
        other = (one + 1 + below(len(items) - 1)) % len(items)
        items[one], items[other] = items[other], items[one]
        return items

    def drop(items: list[bytes], below: Below) -> list[bytes]:
        del items[below(len(items))]
        return items

    def overfill(items: list[bytes], below: Below) -> list[bytes]:
        return items + items[-1:] * (most + 1 - len(items))

    def drop_last(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        return put(frame, cuts[-1], end, b"") if cuts else None

    def go_on(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes:
        return put(frame, cuts[-1], cuts[-1] + 1, bytes((frame[cuts[-1]] | mask,)))

    def stop(frame: bytes, start: int, end: int, cuts: tuple[int, ...], below: Below) -> bytes | None:
        if len(cuts) < 2:
            return None
        at = cuts[below(len(cuts) - 1)]
        return put(frame, at, at + 1, bytes((frame[at] & ~mask,)))

    mutations = [
        rearranged("duplicate", duplicate, 1),
        rearranged("swap", swap, 2),
        rearranged("drop", drop, 2),
        (f"drop last in {path}", drop_last),
    ]
    if most <= 256:  # more would make slow frames of all that come near
        mutations.append(rearranged("one more than fit", overfill, 1))
    if mask:
        mutations += [(f"chain end missing in {path}", go_on), (f"chain ends early in {path}", stop)]
    return mutations
