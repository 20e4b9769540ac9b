"""The building blocks of the grammars: Construct classes for what the documents draw.

A grammar uses these with Construct's own ``If``, ``Switch`` and ``this``; the leaves know their bounds, say
where they stand when they refuse, and report the span of bytes that they read when a dump is wanted.

Parsing takes two parameters through Construct's context: ``overlong`` (``"accept"`` or ``"refuse"``: integers
that are longer than necessary) and ``spans`` (a list that receives a ``Span`` per leaf).
"""

from io import SEEK_CUR, SEEK_END
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from construct import Construct, Container, Renamed, Struct

from wire.errors import DecodeError, EncodeError, Reason

# Construct's classes are generic in their stubs only.
if TYPE_CHECKING:
    Grammar = Construct[Any, Any]
    Message = Renamed[Any, Any]
    Values = Container[Any]
else:
    Grammar, Message, Values = Construct, Renamed, Container

Context = Any
"""What Construct hands down while it parses or builds: earlier fields, and ``_params``."""

ID = 0x1F
"""The bits of a header byte that carry a message's id."""


class Span(NamedTuple):
    """The bytes ``[start, end)`` of a frame that one ``leaf`` read, with its path and value."""

    start: int
    end: int
    path: str
    value: Any
    leaf: "Leaf"


def dotted(path: str) -> str:
    """Turn Construct's ``(parsing) -> a -> b`` into ``a.b``, and ``(parsing)[2] -> a`` into ``[2].a``."""
    return path.partition(")")[2].removeprefix(" -> ").replace(" -> ", ".") or "(frame)"


class Flags(dict[str, int]):
    """The named bits of one ``byte``, as a table that nobody can change: every message with that byte shares it."""

    __slots__ = ("byte",)

    def __init__(self, fields: dict[str, int], byte: int) -> None:
        super().__init__(fields)
        self.byte = byte

    def _refuse(self, *args: Any, **options: Any) -> Any:
        raise TypeError("flags are shared and cannot be changed; make a dict of them")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class Leaf(Grammar):
    """A construct without children: reads some bytes, gives one value."""

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True  # an absent field counts as None, which its leaf refuses if it is needed

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        value = self.read(stream, context, path)
        spans = context._params.get("spans")
        if spans is not None:
            spans.append(Span(start, stream.tell(), dotted(path), value, self))
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        stream.write(self.spell(obj, path))
        return obj

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        """Read one value at the stream's position."""
        raise DecodeError(Reason.BAD_VALUE, stream.tell(), dotted(path), "nothing can be read here")

    def spell(self, value: Any, path: str) -> bytes:
        """Return the canonical bytes of a value."""
        raise EncodeError(f"{dotted(path)}: nothing can be written here")


def take(stream: IO[bytes], count: int, path: str, what: str) -> bytes:
    """Read exactly ``count`` bytes; ``DecodeError`` (truncated, at the data's end) when there are fewer."""
    data = stream.read(count)
    if len(data) < count:
        raise DecodeError(
            Reason.TRUNCATED, stream.tell(), dotted(path), f"{what} needs {counted(count)}, {left(len(data))}"
        )
    return data


def counted(count: int) -> str:
    """Say how many bytes."""
    return f"{count} byte{'s'[: count != 1]}"


def left(count: int) -> str:
    """Say how many bytes are left."""
    return "none is left" if count == 0 else f"{counted(count)} {'is' if count == 1 else 'are'} left"


def remaining(stream: IO[bytes]) -> int:
    """Return how many bytes of a stream are not read yet."""
    here = stream.tell()
    end = stream.seek(0, SEEK_END)
    stream.seek(here)
    return end - here


class Unsigned(Leaf):
    """An unsigned integer of a fixed number of bytes, little-endian."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size

    def read(self, stream: IO[bytes], context: Context, path: str) -> int:
        return int.from_bytes(take(stream, self.size, path, "an integer"), "little")

    def spell(self, value: Any, path: str) -> bytes:
        return bounded(value, 8 * self.size, path).to_bytes(self.size, "little")


class VLE(Leaf):
    """A variable-length integer (``zN``): seven bits a byte, low group first, at most nine bytes.

    A ninth byte carries eight bits and never continues.
    """

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def read(self, stream: IO[bytes], context: Context, path: str) -> int:
        start = stream.tell()
        value, length, byte = 0, 0, 0x80
        while byte & 0x80 and length < 9:
            byte = take(stream, 1, path, "a variable-length integer")[0]
            value |= (byte if length == 8 else byte & 0x7F) << (7 * length)
            length += 1
        if value >> self.bits:
            raise DecodeError(Reason.OUT_OF_RANGE, start, dotted(path), f"{value} does not fit in {self.bits} bits")
        if length > 1 and byte == 0 and context._params.get("overlong") == "refuse":
            raise DecodeError(Reason.OVERLONG, start, dotted(path), f"{value} is spelled with {counted(length)}")
        return value

    def spell(self, value: Any, path: str) -> bytes:
        return vle(bounded(value, self.bits, path))


def vle(value: int) -> bytes:
    """Spell an integer below 2**64 as VLE, in the fewest bytes."""
    spelled = bytearray()
    while value > 0x7F and len(spelled) < 8:
        spelled.append(value & 0x7F | 0x80)
        value >>= 7
    spelled.append(value)
    return bytes(spelled)


def bounded(value: Any, bits: int, path: str) -> int:
    """Return ``value`` if it is an unsigned integer of ``bits`` bits; ``EncodeError`` otherwise."""
    if not isinstance(value, int) or value < 0 or value >> bits:
        raise EncodeError(f"{dotted(path)}: {value!r} is not an unsigned integer of {bits} bits")
    return value


class Blob(Leaf):
    """Bytes after their count (``<u8;zN>``)."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.count = VLE(bits)

    def read(self, stream: IO[bytes], context: Context, path: str) -> bytes:
        start = stream.tell()
        count = self.count.read(stream, context, path)
        rest = remaining(stream)
        if count > rest:
            raise DecodeError(Reason.TRUNCATED, start, dotted(path), f"{counted(count)} announced, {left(rest)}")
        return stream.read(count)

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, bytes):
            raise EncodeError(f"{dotted(path)}: {value!r} is not bytes")
        return self.count.spell(len(value), path) + value


class Text(Blob):
    """UTF-8 text after its count of bytes (``<u8;zN>`` where the document says string)."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> str:  # type: ignore[override]
        start = stream.tell()
        return decoded(super().read(stream, context, path), start, path)

    def spell(self, value: Any, path: str) -> bytes:
        return super().spell(encoded(value, path), path)


class Bytes(Leaf):
    """As many bytes as an expression over earlier fields says."""

    def __init__(self, count: Any) -> None:
        super().__init__()
        self.count = count

    def read(self, stream: IO[bytes], context: Context, path: str) -> bytes:
        count = self.count(context)
        if count < 0:
            raise DecodeError(Reason.BAD_VALUE, stream.tell(), dotted(path), f"{count} bytes announced")
        return take(stream, count, path, "a field")

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if not isinstance(obj, bytes) or len(obj) != self.count(context):
            raise EncodeError(f"{dotted(path)}: {obj!r} is not bytes of the length that is announced")
        stream.write(obj)
        return obj


class Rest(Leaf):
    """All bytes up to the end of the frame."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> bytes:
        return stream.read()

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, bytes):
            raise EncodeError(f"{dotted(path)}: {value!r} is not bytes")
        return value


class RestText(Leaf):
    """UTF-8 text up to the end of the frame."""

    def read(self, stream: IO[bytes], context: Context, path: str) -> str:
        start = stream.tell()
        return decoded(stream.read(), start, path)

    def spell(self, value: Any, path: str) -> bytes:
        return encoded(value, path)


def decoded(data: bytes, start: int, path: str) -> str:
    """Decode UTF-8 strictly; ``DecodeError`` (bad-text) at ``start``."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(Reason.BAD_TEXT, start, dotted(path), f"not UTF-8: {error.reason}") from None


def encoded(value: Any, path: str) -> bytes:
    """Encode text as UTF-8; ``EncodeError`` for anything that is no text."""
    if not isinstance(value, str):
        raise EncodeError(f"{dotted(path)}: {value!r} is not text")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"{dotted(path)}: {error.reason}") from None


class Bits(Leaf):
    """One byte of named bits: ``Bits(Z=7, Mod=(6, 5), id=(4, 0))``; a name maps to a bit or to (high, low).

    Bits that have no name are kept under ``X`` in their place; an absent name counts as 0 when encoding.
    """

    def __init__(self, **fields: int | tuple[int, int]) -> None:
        super().__init__()
        self.fields = {name: (where, where) if isinstance(where, int) else where for name, where in fields.items()}
        self.named = sum(self.mask(name) for name in self.fields)
        self.values = [self.split(byte) for byte in range(256)]

    def mask(self, name: str) -> int:
        """Return the bits of one field, in place."""
        high, low = self.fields[name]
        return (2 << high) - (1 << low)

    def split(self, byte: int) -> Flags:
        """Take a byte apart."""
        value = {name: (byte & self.mask(name)) >> low for name, (_, low) in self.fields.items()}
        if self.named != 0xFF:
            value["X"] = byte & ~self.named & 0xFF
        return Flags(value, byte)

    def read(self, stream: IO[bytes], context: Context, path: str) -> Flags:
        return self.values[take(stream, 1, path, "a byte of flags")[0]]

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        byte = self.spell(obj, path)
        stream.write(byte)
        return self.values[byte[0]]  # complete: later conditions look at every name

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, dict):
            raise EncodeError(f"{dotted(path)}: {value!r} is not a table of flags")
        byte = bounded(value.get("X", 0), 8, f"{path} -> X")
        if byte & self.named:
            raise EncodeError(f"{dotted(path)}.X: {byte:#04x} has bits that have a name")
        for name, (high, low) in self.fields.items():
            byte |= bounded(value.get(name, 0), high - low + 1, f"{path} -> {name}") << low
        return bytes([byte])


class Header(Bits):
    """A message's header byte: its id in bits 4:0, flags above, or constants of flags (``Mod=(6, 5, 0)``)."""

    def __init__(self, id: int, **fields: int | tuple[int, int] | tuple[int, int, int]) -> None:
        flags = {name: where[:2] if isinstance(where, tuple) else where for name, where in fields.items()}
        super().__init__(**flags, id=(4, 0))
        self.constants: dict[str, int] = {"id": id}
        self.constants |= {n: w[2] for n, w in fields.items() if isinstance(w, tuple) and len(w) == 3}

    def matches(self, byte: int) -> bool:
        """Tell whether a header byte begins this message."""
        return all(self.values[byte][name] == value for name, value in self.constants.items())

    def read(self, stream: IO[bytes], context: Context, path: str) -> Flags:
        start = stream.tell()
        byte = take(stream, 1, path, "a header")[0]
        if not self.matches(byte):
            raise DecodeError(Reason.UNKNOWN_ID, start, dotted(path), f"header {byte:#04x} does not begin this message")
        return self.values[byte]

    def spell(self, value: Any, path: str) -> bytes:
        if not isinstance(value, dict):
            raise EncodeError(f"{dotted(path)}: {value!r} is not a table of flags")
        return super().spell(value | self.constants, path)


def header_of(message: Message) -> Header:
    """Return the header byte's declaration of a named message."""
    first = message.subcon.subcons[0]  # type: ignore[attr-defined]
    assert isinstance(first.subcon, Header)
    return first.subcon


MOST = 0xFFFF
"""Items of one list: more do not fit in any batch, and a hostile frame must not fill the memory."""


def room(most: int, values: list[Values], stream: IO[bytes], path: str) -> None:
    """Raise ``DecodeError`` (too-long) where one item more than ``most`` begins."""
    if len(values) == most:
        raise DecodeError(Reason.TOO_LONG, stream.tell(), dotted(f"{path}[{most}]"), f"more than {most} items")


def fitting(values: Any, most: int, path: str) -> Any:
    """Return a list of at most ``most`` items; ``EncodeError`` for anything else."""
    if not isinstance(values, list | tuple):
        raise EncodeError(f"{dotted(path)}: {values!r} is not a list")
    if len(values) > most:
        raise EncodeError(f"{dotted(path)}: {len(values)} items, at most {most} fit")
    return values


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


class Messages(Grammar):
    """As many messages as follow: up to the end of the data, or to a header byte that begins none of them."""

    def __init__(self, message: OneOf, *, to_end: bool = False, most: int = MOST) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.message = message
        self.to_end = to_end
        self.most = most

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> list[Values]:
        values: list[Values] = []
        while (first := stream.read(1)) and (self.to_end or self.message.begins(first[0])):
            stream.seek(-1, SEEK_CUR)
            try:
                room(self.most, values, stream, path)
                values.append(self.message._parsereport(stream, context, f"{path}[{len(values)}]"))
            except DecodeError as error:
                error.before.append(values)
                raise
        stream.seek(-len(first), SEEK_CUR)
        return values

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        for index, value in enumerate(fitting(obj, self.most, path)):
            self.message._build(value, stream, context, f"{path}[{index}]")
        return obj


class Chain(Grammar):
    """Items that follow each other as long as each one's header has Z set; the values do not carry Z."""

    def __init__(self, item: Grammar, *, most: int = MOST) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.item = item
        self.most = most

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> list[Values]:
        values: list[Values] = []
        more = True
        while more:
            room(self.most, values, stream, path)
            values.append(self.item._parsereport(stream, context, f"{path}[{len(values)}]"))
            more = bool(values[-1]["header"]["Z"])
        return values

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if not obj:
            raise EncodeError(f"{dotted(path)}: Z is set, so there has to be at least one")
        for index, value in enumerate(fitting(obj, self.most, path)):
            header = dict(value["header"])
            bounded(header.get("Z", 0), 1, f"{path}[{index}] -> header -> Z")
            header["Z"] = int(index + 1 < len(obj))
            self.item._build({**value, "header": header}, stream, context, f"{path}[{index}]")
        return obj


class Empty(Struct):
    """A record without fields: no bytes."""

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        if obj is not None and not isinstance(obj, dict):
            raise EncodeError(f"{dotted(path)}: {obj!r} is not a record")
        return obj


class Refused(Leaf):
    """A place that a layout reserves: reading it is refused with a reason."""

    def __init__(self, detail: str) -> None:
        super().__init__()
        self.detail = detail

    def read(self, stream: IO[bytes], context: Context, path: str) -> Any:
        raise DecodeError(Reason.RESERVED, stream.tell() - 1, dotted(path), self.detail)

    def spell(self, value: Any, path: str) -> bytes:
        raise EncodeError(f"{dotted(path)}: {self.detail}")


class Limited(Grammar):
    """A whole frame of at most ``size`` bytes; a longer one is refused before it is read."""

    def __init__(self, size: int, content: Grammar) -> None:
        super().__init__()
        self.size = size
        self.content = content

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        there = remaining(stream)
        if there > self.size:
            at = stream.tell() + self.size
            raise DecodeError(Reason.TOO_LONG, at, dotted(path), f"{there} bytes, at most {self.size} fit")
        return self.content._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        start = stream.tell()
        self.content._build(obj, stream, context, path)
        if stream.tell() - start > self.size:
            raise EncodeError(f"{dotted(path)}: {stream.tell() - start} bytes, at most {self.size} fit")
        return obj
