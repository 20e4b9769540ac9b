"""zenoh/network-message by hand: what somebody writes in plain Python who wants it fast and checks everything.

The values are those of the grammars. Malformed frames, and values that cannot be written, are ``ValueError``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from vectors.bench.throughput import Baseline

Message = dict[str, Any]


class Flags(dict[str, int]):
    """The bits of one byte, made once for every byte and shared."""

    __slots__ = ("byte",)


def table(**fields: tuple[int, int] | int) -> list[Flags]:
    """Return the 256 bytes taken apart; bits without a name are X."""
    where = {name: (bits, bits) if isinstance(bits, int) else bits for name, bits in fields.items()}
    named = sum((2 << high) - (1 << low) for high, low in where.values())
    values = []
    for byte in range(256):
        flags = Flags({name: byte >> low & (2 << high - low) - 1 for name, (high, low) in where.items()})
        if named != 0xFF:
            flags["X"] = byte & ~named
        flags.byte = byte
        values.append(flags)
    return values


ID = (4, 0)
Z_ONLY = table(Z=7, id=ID)
INTEREST = table(Z=7, Mod=(6, 5), id=ID)
OPTIONS = table(A=7, M=6, N=5, R=4, T=3, Q=2, S=1, K=0)
DECLARE = table(Z=7, I=5, id=ID)
D_KEYEXPR = table(Z=7, N=5, id=ID)
KEYED = table(Z=7, M=6, N=5, id=ID)
EXTENSION = table(Z=7, encoding=(6, 5), M=4, id=(3, 0))
PUT = table(Z=7, E=6, T=5, id=ID)
DEL = table(Z=7, T=5, id=ID)
QUERY = table(Z=7, P=6, C=5, id=ID)
REPLY = table(Z=7, C=5, id=ID)
ERR = table(Z=7, E=6, id=ID)
OAM = table(Z=7, encoding=(6, 5), id=ID)


def more(data: bytes, at: int, low: int, bits: int) -> tuple[int, int]:
    """Go on with a number of more than one byte, whose first byte stands at ``at``."""
    byte = data[at + 1]
    if byte < 0x80:  # two bytes are what is seen most
        value, at = low & 0x7F | byte << 7, at + 2
    else:
        value, shift, at = low & 0x7F, 7, at + 1
        while byte & 0x80 and shift < 56:
            value |= (byte & 0x7F) << shift
            shift += 7
            at += 1
            byte = data[at]
        value |= byte << shift
        at += 1
    if value >> bits:
        raise ValueError(f"{value} does not fit in {bits} bits")
    return value, at


def counted(data: bytes, at: int, bits: int) -> tuple[bytes, int]:
    """Read bytes after their count."""
    count = data[at]
    if count > 0x7F:
        count, at = more(data, at, count, bits)
    else:
        at += 1
    end = at + count
    if end > len(data):
        raise ValueError("bytes are missing")
    return data[at:end], end


def read_extensions(data: bytes, at: int) -> tuple[list[Message], int]:
    extensions = []
    while True:
        header = data[at]
        at += 1
        encoding = header & 0x60
        value: Any = None
        if encoding == 0x20:
            value = data[at]
            if value > 0x7F:
                value, at = more(data, at, value, 64)
            else:
                at += 1
        elif encoding == 0x40:
            value, at = counted(data, at, 32)
        elif encoding:
            raise ValueError("reserved encoding of an extension")
        extensions.append({"header": EXTENSION[header], "value": value})
        if header < 0x80:
            return extensions, at


def read_declaration(data: bytes, at: int) -> tuple[Message, int]:
    header = data[at]
    kind = header & 0x1F
    at += 1
    suffix: Any = None
    extensions: Any = None
    if kind > 7:
        if kind != 0x1A:
            raise ValueError("unknown declaration")
        if header & 0x80:
            extensions, at = read_extensions(data, at)
        return {"type": "D_FINAL", "header": Z_ONLY[header], "extensions": extensions}, at
    bits = 16 if kind < 2 else 32
    number = data[at]
    if number > 0x7F:
        number, at = more(data, at, number, bits)
    else:
        at += 1
    name, key = DECLARED[kind]
    if kind & 1:
        if header & 0x80:
            extensions, at = read_extensions(data, at)
        return {"type": name, "header": Z_ONLY[header], key: number, "extensions": extensions}, at
    scope = data[at]
    if scope > 0x7F:
        scope, at = more(data, at, scope, 16)
    else:
        at += 1
    if header & 0x20:
        content, at = counted(data, at, 16)
        suffix = content.decode()
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    return {
        "type": name,
        "header": KEYED[header] if kind else D_KEYEXPR[header],
        key: number,
        "key_scope": scope,
        "key_suffix": suffix,
        "extensions": extensions,
    }, at


DECLARED = (
    ("D_KEYEXPR", "expr_id"),
    ("U_KEYEXPR", "expr_id"),
    ("D_SUBSCRIBER", "subs_id"),
    ("U_SUBSCRIBER", "subs_id"),
    ("D_QUERYABLE", "qbls_id"),
    ("U_QUERYABLE", "qbls_id"),
    ("D_TOKEN", "token_id"),
    ("U_TOKEN", "token_id"),
)


def read_declare(data: bytes, header: int) -> tuple[Message, int]:
    at = 1
    interest: Any = None
    extensions: Any = None
    if header & 0x20:
        interest = data[1]
        if interest > 0x7F:
            interest, at = more(data, 1, interest, 32)
        else:
            at = 2
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    declaration, at = read_declaration(data, at)
    return {
        "type": "DECLARE",
        "header": DECLARE[header],
        "interest_id": interest,
        "extensions": extensions,
        "declaration": declaration,
    }, at


def read_interest(data: bytes, header: int) -> tuple[Message, int]:
    number = data[1]
    at = 2
    if number > 0x7F:
        number, at = more(data, 1, number, 32)
    scope: Any = None
    suffix: Any = None
    extensions: Any = None
    if not header & 0x60:
        if header & 0x80:
            extensions, at = read_extensions(data, at)
        return {"type": "INTEREST_FINAL", "header": INTEREST[header], "id": number, "extensions": extensions}, at
    options = data[at]
    at += 1
    if options & 0x10:
        scope = data[at]
        if scope > 0x7F:
            scope, at = more(data, at, scope, 16)
        else:
            at += 1
        if options & 0x20:
            content, at = counted(data, at, 16)
            suffix = content.decode()
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    return {
        "type": "INTEREST",
        "header": INTEREST[header],
        "id": number,
        "options": OPTIONS[options],
        "key_scope": scope,
        "key_suffix": suffix,
        "extensions": extensions,
    }, at


def number_at(data: bytes, at: int, bits: int) -> tuple[int, int]:
    value = data[at]
    return more(data, at, value, bits) if value > 0x7F else (value, at + 1)


def read_timestamp(data: bytes, at: int) -> tuple[Message, int]:
    time, at = number_at(data, at, 64)
    clock, at = counted(data, at, 8)
    if not 1 <= len(clock) <= 16:
        raise ValueError("a clock's id has 1 to 16 bytes")
    return {"time": time, "clock_id": clock}, at


def read_body(data: bytes, at: int) -> tuple[Message, int]:
    """Read PUT or DEL."""
    header = data[at]
    at += 1
    timestamp: Any = None
    encoding: Any = None
    schema: Any = None
    extensions: Any = None
    kind = header & 0x1F
    if kind == 2:
        if header & 0x20:
            timestamp, at = read_timestamp(data, at)
        if header & 0x80:
            extensions, at = read_extensions(data, at)
        return {"type": "DEL", "header": DEL[header], "timestamp": timestamp, "extensions": extensions}, at
    if kind != 1:
        raise ValueError("unknown body")
    if header & 0x20:
        timestamp, at = read_timestamp(data, at)
    if header & 0x40:
        encoding, at = number_at(data, at, 32)
        if encoding & 1:
            schema, at = counted(data, at, 8)
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    payload, at = counted(data, at, 32)
    return {
        "type": "PUT",
        "header": PUT[header],
        "timestamp": timestamp,
        "encoding": encoding,
        "schema": schema,
        "extensions": extensions,
        "payload": payload,
    }, at


def read_query(data: bytes, at: int) -> tuple[Message, int]:
    header = data[at]
    if header & 0x1F != 3:
        raise ValueError("unknown body")
    at += 1
    consolidation: Any = None
    parameters: Any = None
    extensions: Any = None
    if header & 0x20:
        consolidation, at = number_at(data, at, 8)
    if header & 0x40:
        content, at = counted(data, at, 32)
        parameters = content.decode()
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    return {
        "type": "QUERY",
        "header": QUERY[header],
        "consolidation": consolidation,
        "parameters": parameters,
        "extensions": extensions,
    }, at


def read_answer(data: bytes, at: int) -> tuple[Message, int]:
    """Read REPLY or ERR."""
    header = data[at]
    at += 1
    kind = header & 0x1F
    consolidation: Any = None
    encoding: Any = None
    schema: Any = None
    extensions: Any = None
    if kind == 4:
        if header & 0x20:
            consolidation, at = number_at(data, at, 8)
        if header & 0x80:
            extensions, at = read_extensions(data, at)
        body, at = read_body(data, at)
        return {
            "type": "REPLY",
            "header": REPLY[header],
            "consolidation": consolidation,
            "extensions": extensions,
            "body": body,
        }, at
    if kind != 5:
        raise ValueError("unknown body")
    if header & 0x40:
        encoding, at = number_at(data, at, 32)
        if encoding & 1:
            schema, at = counted(data, at, 8)
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    payload, at = counted(data, at, 32)
    return {
        "type": "ERR",
        "header": ERR[header],
        "encoding": encoding,
        "schema": schema,
        "extensions": extensions,
        "payload": payload,
    }, at


def read_keyed(
    message: Message, data: bytes, at: int, header: int, body: Callable[[bytes, int], tuple[Message, int]]
) -> tuple[Message, int]:
    """Read what PUSH, REQUEST and RESPONSE have in common."""
    message["key_scope"], at = number_at(data, at, 16)
    message["key_suffix"] = message["extensions"] = None
    if header & 0x20:
        content, at = counted(data, at, 16)
        message["key_suffix"] = content.decode()
    if header & 0x80:
        message["extensions"], at = read_extensions(data, at)
    message["body"], at = body(data, at)
    return message, at


def read_push(data: bytes, header: int) -> tuple[Message, int]:
    return read_keyed({"type": "PUSH", "header": KEYED[header]}, data, 1, header, read_body)


def read_request(data: bytes, header: int) -> tuple[Message, int]:
    number, at = number_at(data, 1, 32)
    return read_keyed({"type": "REQUEST", "header": KEYED[header], "id": number}, data, at, header, read_query)


def read_response(data: bytes, header: int) -> tuple[Message, int]:
    number, at = number_at(data, 1, 32)
    return read_keyed({"type": "RESPONSE", "header": KEYED[header], "id": number}, data, at, header, read_answer)


def read_response_final(data: bytes, header: int) -> tuple[Message, int]:
    number, at = number_at(data, 1, 32)
    extensions: Any = None
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    return {"type": "RESPONSE_FINAL", "header": Z_ONLY[header], "id": number, "extensions": extensions}, at


def read_oam(data: bytes, header: int) -> tuple[Message, int]:
    number, at = number_at(data, 1, 16)
    extensions: Any = None
    body: Any
    if header & 0x80:
        extensions, at = read_extensions(data, at)
    encoding = header >> 5 & 3
    if encoding == 0:
        body = {}
    elif encoding == 1:
        body, at = number_at(data, at, 64)
    elif encoding == 2:
        body, at = counted(data, at, 32)
    else:
        raise ValueError("reserved encoding")
    return {"type": "OAM", "header": OAM[header], "id": number, "extensions": extensions, "body": body}, at


READERS: dict[int, Callable[[bytes, int], tuple[Message, int]]] = {
    0x19: read_interest,
    0x1A: read_response_final,
    0x1B: read_response,
    0x1C: read_request,
    0x1D: read_push,
    0x1E: read_declare,
    0x1F: read_oam,
}


def decode(data: bytes) -> Message:
    """Decode one network message; ``ValueError`` if it is malformed."""
    try:
        header = data[0]
        message, at = READERS[header & 0x1F](data, header)
    except LookupError:
        raise ValueError("bytes are missing, or the message is unknown") from None
    if at != len(data):
        raise ValueError("bytes are left over")
    return message


SHORT = [bytes((number,)) for number in range(0x80)]
TWO = [bytes((number & 0x7F | 0x80, number >> 7)) for number in range(0x4000)]
"""Numbers of two bytes, by the number; the first 128 are not used."""


def number(value: int, bits: int) -> bytes:
    """Spell a number; ``ValueError`` if it does not fit in so many bits."""
    if value < 0 or value >> bits:
        raise ValueError(f"{value} does not fit in {bits} bits")
    if value < 0x80:
        return SHORT[value]
    if value < 0x4000:
        return TWO[value]
    out = bytearray()
    while value > 0x7F and len(out) < 8:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def octet(flags: Mapping[str, int], among: list[Flags], identity: int | None = None) -> int:
    """Return the byte of flags; the ``id`` of a header is what the message says."""
    byte = getattr(flags, "byte", None)
    if byte is None:
        byte = next((each.byte for each in among if each == flags), None)
        if byte is None:
            raise ValueError(f"{flags!r} are no flags")
    return byte if identity is None else byte & 0xE0 | identity


def text(value: str, bits: int) -> bytes:
    content = value.encode()
    return number(len(content), bits) + content


def blob(value: bytes, bits: int) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("not bytes")
    return number(len(value), bits) + value


def write_extensions(extensions: list[Message]) -> bytes:
    if not extensions:
        raise ValueError("Z is set, so there has to be an extension")
    out = b""
    last = len(extensions) - 1
    for index, extension in enumerate(extensions):
        header = octet(extension["header"], EXTENSION) & 0x7F
        encoding = header & 0x60
        out += bytes((header if index == last else header | 0x80,))
        if encoding == 0x20:
            out += number(extension["value"], 64)
        elif encoding == 0x40:
            out += blob(extension["value"], 32)
        elif encoding:
            raise ValueError("reserved encoding of an extension")
    return out


def write_keyexpr(message: Message, header: int, out: bytes) -> bytes:
    """Write scope, suffix and extensions."""
    value = message["key_scope"]
    out += SHORT[value] if 0 <= value < 0x80 else number(value, 16)
    if header & 0x20:
        content = message["key_suffix"].encode()
        size = len(content)
        out += (SHORT[size] if size < 0x80 else number(size, 16)) + content
    return out + write_extensions(message["extensions"]) if header & 0x80 else out


DECLARATIONS = {name: (kind, key) for kind, (name, key) in enumerate(DECLARED)}


def write_declaration(message: Message) -> bytes:
    name = message["type"]
    if name == "D_FINAL":
        header = octet(message["header"], Z_ONLY, 0x1A)
        out = bytes((header,))
        return out + write_extensions(message["extensions"]) if header & 0x80 else out
    kind, key = DECLARATIONS[name]
    header = octet(message["header"], (Z_ONLY if kind & 1 else KEYED if kind else D_KEYEXPR), kind)
    value = message[key]
    out = bytes((header,)) + (SHORT[value] if 0 <= value < 0x80 else number(value, 16 if kind < 2 else 32))
    if kind & 1:
        return out + write_extensions(message["extensions"]) if header & 0x80 else out
    return write_keyexpr(message, header, out)


def write_declare(message: Message) -> bytes:
    header = octet(message["header"], DECLARE, 0x1E)
    out = bytes((header,))
    if header & 0x20:
        value = message["interest_id"]
        out += SHORT[value] if 0 <= value < 0x80 else number(value, 32)
    if header & 0x80:
        out += write_extensions(message["extensions"])
    return out + write_declaration(message["declaration"])


def write_interest(message: Message) -> bytes:
    header = octet(message["header"], INTEREST, 0x19)
    if not header & 0x60:
        raise ValueError("mode 0 is INTEREST_FINAL")
    options = octet(message["options"], OPTIONS)
    out = bytes((header,)) + number(message["id"], 32) + bytes((options,))
    if options & 0x10:
        out += number(message["key_scope"], 16)
        if options & 0x20:
            out += text(message["key_suffix"], 16)
    return out + write_extensions(message["extensions"]) if header & 0x80 else out


def write_numbered(message: Message) -> bytes:
    """Write INTEREST_FINAL or RESPONSE_FINAL."""
    header = octet(message["header"], Z_ONLY, 0x19) & 0x9F
    if message["type"] == "RESPONSE_FINAL":
        header = octet(message["header"], Z_ONLY, 0x1A)
    out = bytes((header,)) + number(message["id"], 32)
    return out + write_extensions(message["extensions"]) if header & 0x80 else out


def write_timestamp(timestamp: Message) -> bytes:
    if not 1 <= len(timestamp["clock_id"]) <= 16:
        raise ValueError("a clock's id has 1 to 16 bytes")
    return number(timestamp["time"], 64) + blob(timestamp["clock_id"], 8)


def write_encoding(message: Message) -> bytes:
    out = number(message["encoding"], 32)
    return out + blob(message["schema"], 8) if message["encoding"] & 1 else out


def write_body(message: Message) -> bytes:
    put = message["type"] == "PUT"
    if not put and message["type"] != "DEL":
        raise ValueError("unknown body")
    header = octet(message["header"], PUT if put else DEL, 1 if put else 2)
    out = bytes((header,))
    if header & 0x20:
        out += write_timestamp(message["timestamp"])
    if put and header & 0x40:
        out += write_encoding(message)
    if header & 0x80:
        out += write_extensions(message["extensions"])
    return out + blob(message["payload"], 32) if put else out


def write_query(message: Message) -> bytes:
    if message["type"] != "QUERY":
        raise ValueError("unknown body")
    header = octet(message["header"], QUERY, 3)
    out = bytes((header,))
    if header & 0x20:
        out += number(message["consolidation"], 8)
    if header & 0x40:
        out += text(message["parameters"], 32)
    return out + write_extensions(message["extensions"]) if header & 0x80 else out


def write_answer(message: Message) -> bytes:
    if message["type"] == "REPLY":
        header = octet(message["header"], REPLY, 4)
        out = bytes((header,))
        if header & 0x20:
            out += number(message["consolidation"], 8)
        if header & 0x80:
            out += write_extensions(message["extensions"])
        return out + write_body(message["body"])
    if message["type"] != "ERR":
        raise ValueError("unknown body")
    header = octet(message["header"], ERR, 5)
    out = bytes((header,))
    if header & 0x40:
        out += write_encoding(message)
    if header & 0x80:
        out += write_extensions(message["extensions"])
    return out + blob(message["payload"], 32)


def write_push(message: Message) -> bytes:
    header = octet(message["header"], KEYED, 0x1D)
    return write_keyexpr(message, header, bytes((header,))) + write_body(message["body"])


def write_request(message: Message) -> bytes:
    header = octet(message["header"], KEYED, 0x1C)
    out = bytes((header,)) + number(message["id"], 32)
    return write_keyexpr(message, header, out) + write_query(message["body"])


def write_response(message: Message) -> bytes:
    header = octet(message["header"], KEYED, 0x1B)
    out = bytes((header,)) + number(message["id"], 32)
    return write_keyexpr(message, header, out) + write_answer(message["body"])


def write_oam(message: Message) -> bytes:
    header = octet(message["header"], OAM, 0x1F)
    out = bytes((header,)) + number(message["id"], 16)
    if header & 0x80:
        out += write_extensions(message["extensions"])
    match header >> 5 & 3:
        case 0:
            return out
        case 1:
            return out + number(message["body"], 64)
        case 2:
            return out + blob(message["body"], 32)
    raise ValueError("reserved encoding")


WRITERS: dict[str, Callable[[Message], bytes]] = {
    "INTEREST_FINAL": write_numbered,
    "INTEREST": write_interest,
    "DECLARE": write_declare,
    "PUSH": write_push,
    "REQUEST": write_request,
    "RESPONSE": write_response,
    "RESPONSE_FINAL": write_numbered,
    "OAM": write_oam,
}


def encode(message: Message) -> bytes:
    """Encode one network message; ``ValueError`` if it cannot be written."""
    try:
        return WRITERS[message["type"]](message)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"cannot be written: {error}") from None


BASELINES = {"network-message": Baseline("hand", decode, encode)}
