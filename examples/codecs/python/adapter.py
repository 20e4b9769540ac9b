"""A codec of ``zenoh/network-message`` behind goldwire's pipe (vectors/pipe.md), in Python without anything else.

Written by hand from the documents, to be copied and to disagree: it shares no code with goldwire's engines.
"""

import json
import sys
from typing import Any

LAYOUT = "zenoh/network-message"
MOST_EXTENSIONS = 65535
MOST_CLOCK_ID = 16

Value = dict[str, Any]
Flags = tuple[str | None, str | None, str | None]
"""The names of a header's bits 7, 6 and 5; ``None`` is a reserved bit. Bits 4:0 are the id."""


class Refusal(Exception):
    """Bytes that are no message: the class of the reason, and the offset in bytes."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset


class Unfit(Exception):
    """A value that the layout cannot express; the message says why."""


# ---------------------------------------------------------------------------------------------- decoding


class Reader:
    """The bytes of one frame, and how far they are read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        """Read one byte."""
        if self.at == len(self.data):
            raise Refusal("truncated", self.at)
        self.at += 1
        return self.data[self.at - 1]

    def integer(self, bits: int) -> int:
        """Read a variable-length integer: seven bits a byte, low group first; a ninth byte has all eight."""
        start = self.at
        value = 0
        for index in range(9):
            byte = self.byte()
            if index == 8:
                value |= byte << 56
                break
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        if value >> bits:
            raise Refusal("out-of-range", start)
        return value

    def blob(self, bits: int) -> bytes:
        """Read bytes after their count; a count of more than is left is refused where it stands."""
        start = self.at
        count = self.integer(bits)
        if count > len(self.data) - self.at:
            raise Refusal("truncated", start)
        self.at += count
        return self.data[self.at - count : self.at]

    def clock_id(self) -> bytes:
        """Read a clock's id, which is refused before it is asked whether so many bytes are left."""
        start = self.at
        count = self.integer(8)
        if count > MOST_CLOCK_ID:
            raise Refusal("too-long", start)
        if count == 0:
            raise Refusal("bad-value", start)
        self.at = start
        return self.blob(8)

    def text(self, bits: int) -> str:
        """Read UTF-8 after its count of bytes."""
        start = self.at
        try:
            return self.blob(bits).decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal("bad-text", start) from None


def split(byte: int, flags: Flags) -> Value:
    """Take a header byte apart."""
    header = {name: byte >> (7 - index) & 1 for index, name in enumerate(flags) if name}
    header["id"] = byte & 0x1F
    if None in flags:
        header["X"] = byte & sum(0x80 >> index for index, name in enumerate(flags) if name is None)
    return header


def read_extensions(reader: Reader, header: Value) -> list[Value] | None:
    """Read the extensions that follow if Z is set; each one's own Z says whether another follows."""
    if not header["Z"]:
        return None
    extensions: list[Value] = []
    more = 1
    while more:
        if len(extensions) == MOST_EXTENSIONS:
            raise Refusal("too-long", reader.at)
        byte = reader.byte()
        more = byte >> 7
        encoding = byte >> 5 & 3
        own = {"Z": more, "encoding": encoding, "M": byte >> 4 & 1, "id": byte & 0x0F}
        extensions.append({"header": own, "value": read_content(reader, encoding, None)})
    return extensions


def read_content(reader: Reader, encoding: int, unit: Any) -> Any:
    """Read what an extension or an OAM carries: nothing, an integer or bytes."""
    if encoding == 3:
        raise Refusal("reserved", reader.at - 1)
    if encoding == 0:
        return unit
    return reader.integer(64) if encoding == 1 else octets(reader.blob(32))


def octets(data: bytes) -> Value:
    """Write bytes as the pipe does."""
    return {"hex": data.hex()}


def read_key(reader: Reader, header: Value) -> Value:
    """Read a key: its scope, and its suffix if N is set."""
    scope = reader.integer(16)
    return {"key_scope": scope, "key_suffix": reader.text(16) if header["N"] else None}


def read_network_message(reader: Reader) -> Value:
    """Read one network message."""
    start = reader.at
    byte = reader.byte()
    kind = byte & 0x1F
    if kind == 0x19:
        return read_interest(reader, byte)
    if kind == 0x1E:
        return read_declare(reader, byte)
    if kind in (0x1D, 0x1C, 0x1B):
        return read_data(reader, byte)
    if kind == 0x1A:
        header = split(byte, ("Z", None, None))
        number = reader.integer(32)
        return {"type": "RESPONSE_FINAL", "header": header, "id": number, "extensions": read_extensions(reader, header)}
    if kind == 0x1F:
        header = {"Z": byte >> 7, "encoding": byte >> 5 & 3, "id": kind}
        number = reader.integer(16)
        extensions = read_extensions(reader, header)
        body = read_content(reader, header["encoding"], {})
        return {"type": "OAM", "header": header, "id": number, "extensions": extensions, "body": body}
    raise Refusal("unknown-id", start)


def read_interest(reader: Reader, byte: int) -> Value:
    """Read INTEREST, or INTEREST_FINAL, which has the mode 0."""
    header = {"Z": byte >> 7, "Mod": byte >> 5 & 3, "id": 0x19}
    value: Value = {"type": "INTEREST", "header": header, "id": reader.integer(32)}
    if header["Mod"] == 0:
        value["type"] = "INTEREST_FINAL"
    else:
        bits = reader.byte()
        options = {name: bits >> (7 - index) & 1 for index, name in enumerate("AMNRTQSK")}
        value |= {"options": options, "key_scope": None, "key_suffix": None}
        if options["R"]:
            value |= read_key(reader, options)
    return value | {"extensions": read_extensions(reader, header)}


def read_declare(reader: Reader, byte: int) -> Value:
    """Read DECLARE with its declaration."""
    header = split(byte, ("Z", None, "I"))
    interest_id = reader.integer(32) if header["I"] else None
    extensions = read_extensions(reader, header)
    declaration = read_declaration(reader)
    return {
        "type": "DECLARE",
        "header": header,
        "interest_id": interest_id,
        "extensions": extensions,
        "declaration": declaration,
    }


ENTITIES = {0x02: ("SUBSCRIBER", "subs_id"), 0x04: ("QUERYABLE", "qbls_id"), 0x06: ("TOKEN", "token_id")}


def read_declaration(reader: Reader) -> Value:
    """Read one of the nine declarations."""
    start = reader.at
    byte = reader.byte()
    kind = byte & 0x1F
    value: Value
    if kind == 0x00:
        header = split(byte, ("Z", None, "N"))
        value = {"type": "D_KEYEXPR", "header": header, "expr_id": reader.integer(16)}
        value |= read_key(reader, header)
    elif kind == 0x01:
        header = split(byte, ("Z", None, None))
        value = {"type": "U_KEYEXPR", "header": header, "expr_id": reader.integer(16)}
    elif kind in ENTITIES:
        name, number = ENTITIES[kind]
        header = split(byte, ("Z", "M", "N"))
        value = {"type": f"D_{name}", "header": header, number: reader.integer(32)}
        value |= read_key(reader, header)
    elif kind - 1 in ENTITIES:
        name, number = ENTITIES[kind - 1]
        header = split(byte, ("Z", None, None))
        value = {"type": f"U_{name}", "header": header, number: reader.integer(32)}
    elif kind == 0x1A:
        header = split(byte, ("Z", None, None))
        value = {"type": "D_FINAL", "header": header}
    else:
        raise Refusal("unknown-id", start)
    return value | {"extensions": read_extensions(reader, header)}


def read_data(reader: Reader, byte: int) -> Value:
    """Read PUSH, REQUEST or RESPONSE."""
    kind = byte & 0x1F
    header = split(byte, ("Z", "M", "N"))
    value: Value = {"type": {0x1D: "PUSH", 0x1C: "REQUEST", 0x1B: "RESPONSE"}[kind], "header": header}
    if kind != 0x1D:
        value["id"] = reader.integer(32)
    value |= read_key(reader, header)
    value["extensions"] = read_extensions(reader, header)
    bodies = {0x1D: (0x01, 0x02), 0x1C: (0x03,), 0x1B: (0x04, 0x05)}
    value["body"] = read_body(reader, bodies[kind])
    return value


def read_body(reader: Reader, allowed: tuple[int, ...]) -> Value:
    """Read PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here."""
    start = reader.at
    byte = reader.byte()
    kind = byte & 0x1F
    if kind not in allowed:
        raise Refusal("unknown-id", start)
    if kind in (0x01, 0x05):
        header = split(byte, ("Z", "E", "T") if kind == 0x01 else ("Z", "E", None))
        value: Value = {"type": "PUT" if kind == 0x01 else "ERR", "header": header}
        if kind == 0x01:
            value["timestamp"] = read_timestamp(reader) if header["T"] else None
        value["encoding"] = reader.integer(32) if header["E"] else None
        value["schema"] = octets(reader.blob(8)) if header["E"] and value["encoding"] & 1 else None
        value["extensions"] = read_extensions(reader, header)
        value["payload"] = octets(reader.blob(32))
        return value
    if kind == 0x02:
        header = split(byte, ("Z", None, "T"))
        timestamp = read_timestamp(reader) if header["T"] else None
        return {"type": "DEL", "header": header, "timestamp": timestamp, "extensions": read_extensions(reader, header)}
    if kind == 0x03:
        header = split(byte, ("Z", "P", "C"))
        value = {"type": "QUERY", "header": header}
        value["consolidation"] = reader.integer(8) if header["C"] else None
        value["parameters"] = reader.text(32) if header["P"] else None
        value["extensions"] = read_extensions(reader, header)
        return value
    header = split(byte, ("Z", None, "C"))
    value = {"type": "REPLY", "header": header}
    value["consolidation"] = reader.integer(8) if header["C"] else None
    value["extensions"] = read_extensions(reader, header)
    value["body"] = read_body(reader, (0x01, 0x02))
    return value


def read_timestamp(reader: Reader) -> Value:
    """Read a time and the id of the clock that gave it."""
    time = reader.integer(64)
    return {"time": time, "clock_id": octets(reader.clock_id())}


def decode(data: bytes) -> Value:
    """Decode a frame that is one network message and nothing else."""
    reader = Reader(data)
    value = read_network_message(reader)
    if reader.at < len(data):
        raise Refusal("trailing", reader.at)
    return value


# ---------------------------------------------------------------------------------------------- encoding


def number(value: Any, bits: int, what: str) -> int:
    """Return an unsigned integer that fits."""
    if type(value) is not int or value < 0 or value >> bits:
        raise Unfit(f"{what} is not an unsigned integer of {bits} bits")
    return value


def write_integer(out: bytearray, value: Any, bits: int, what: str) -> None:
    """Write a variable-length integer in the fewest bytes."""
    rest = number(value, bits, what)
    for _ in range(8):
        if rest < 0x80:
            break
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def write_blob(out: bytearray, value: Any, bits: int, what: str) -> None:
    """Write bytes after their count."""
    try:
        data = bytes.fromhex(value["hex"])
    except (TypeError, KeyError, ValueError):
        raise Unfit(f"{what} is not bytes") from None
    write_integer(out, len(data), bits, f"the length of {what}")
    out += data


def write_text(out: bytearray, value: Any, bits: int, what: str) -> None:
    """Write text as UTF-8 after its count of bytes."""
    if not isinstance(value, str):
        raise Unfit(f"{what} is not text")
    try:
        data = value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unfit(f"{what} has half of a surrogate pair") from None
    write_integer(out, len(data), bits, f"the length of {what}")
    out += data


def table(value: Any, what: str) -> Value:
    """Return a table of fields."""
    if not isinstance(value, dict):
        raise Unfit(f"{what} is not a table")
    return value


def field(value: Value, name: str) -> Any:
    """Return a field that has to be there."""
    if name not in value:
        raise Unfit(f"{name} is missing")
    return value[name]


def type_of(value: Value) -> str:
    """Return the type that a message says it has."""
    kind = value.get("type")
    if not isinstance(kind, str):
        raise Unfit("a message has no type")
    return kind


def flag(header: Value, name: str, bits: int = 1) -> int:
    """Return a flag of a header; one that is missing counts as 0."""
    return number(header.get(name, 0), bits, name)


def write_header(out: bytearray, value: Value, kind: int, flags: Flags) -> Value:
    """Write a header byte; return the table of its flags."""
    header = table(field(value, "header"), "header")
    reserved = sum(0x80 >> index for index, name in enumerate(flags) if name is None)
    byte = flag(header, "X", 8)
    if byte & ~reserved:
        raise Unfit("X has bits that have a name")
    for index, name in enumerate(flags):
        if name:
            byte |= flag(header, name) << (7 - index)
    out.append(byte | kind)
    return header


def write_extensions(out: bytearray, value: Value, header: Value) -> None:
    """Write the extensions if the header has Z; their own Z follow from the order."""
    if not flag(header, "Z"):
        return
    extensions = value.get("extensions")
    if not isinstance(extensions, list) or not 0 < len(extensions) <= MOST_EXTENSIONS:
        raise Unfit(f"Z is set: extensions have to be a list of 1 to {MOST_EXTENSIONS}")
    for index, each in enumerate(extensions):
        extension = table(each, "an extension")
        own = table(field(extension, "header"), "header")
        encoding = flag(own, "encoding", 2)
        if flag(own, "X", 8):
            raise Unfit("X has bits that have a name")
        more = index + 1 < len(extensions)
        out.append(more << 7 | encoding << 5 | flag(own, "M") << 4 | flag(own, "id", 4))
        write_content(out, encoding, extension.get("value"), "an extension's value")


def write_content(out: bytearray, encoding: int, value: Any, what: str) -> None:
    """Write what an extension or an OAM carries."""
    if encoding == 3:
        raise Unfit("the encoding 3 is reserved")
    if encoding == 1:
        write_integer(out, value, 64, what)
    elif encoding == 2:
        write_blob(out, value, 32, what)


def write_key(out: bytearray, value: Value, flags: Value) -> None:
    """Write a key: its scope, and its suffix if N is set."""
    write_integer(out, value.get("key_scope"), 16, "key_scope")
    if flag(flags, "N"):
        write_text(out, value.get("key_suffix"), 16, "key_suffix")


def write_network_message(out: bytearray, value: Value) -> None:
    """Write one network message."""
    kind = type_of(value)
    if kind in ("INTEREST", "INTEREST_FINAL"):
        write_interest(out, value)
    elif kind == "DECLARE":
        header = write_header(out, value, 0x1E, ("Z", None, "I"))
        if flag(header, "I"):
            write_integer(out, value.get("interest_id"), 32, "interest_id")
        write_extensions(out, value, header)
        write_declaration(out, table(field(value, "declaration"), "declaration"))
    elif kind in ("PUSH", "REQUEST", "RESPONSE"):
        write_data(out, value)
    elif kind == "RESPONSE_FINAL":
        header = write_header(out, value, 0x1A, ("Z", None, None))
        write_integer(out, value.get("id"), 32, "id")
        write_extensions(out, value, header)
    elif kind == "OAM":
        header = table(field(value, "header"), "header")
        encoding = flag(header, "encoding", 2)
        if flag(header, "X", 8):
            raise Unfit("X has bits that have a name")
        out.append(flag(header, "Z") << 7 | encoding << 5 | 0x1F)
        write_integer(out, value.get("id"), 16, "id")
        write_extensions(out, value, header)
        write_content(out, encoding, value.get("body"), "body")
    else:
        raise Unfit(f"no network message is called {kind!r}")


def write_interest(out: bytearray, value: Value) -> None:
    """Write INTEREST or INTEREST_FINAL."""
    header = table(field(value, "header"), "header")
    final = value["type"] == "INTEREST_FINAL"
    mode = 0 if final else flag(header, "Mod", 2)
    if mode == 0 and not final:
        raise Unfit("an INTEREST with the mode 0 is an INTEREST_FINAL")
    if flag(header, "X", 8):
        raise Unfit("X has bits that have a name")
    out.append(flag(header, "Z") << 7 | mode << 5 | 0x19)
    write_integer(out, value.get("id"), 32, "id")
    if not final:
        options = table(field(value, "options"), "options")
        if flag(options, "X", 8):
            raise Unfit("X has bits that have a name")
        out.append(sum(flag(options, name) << (7 - index) for index, name in enumerate("AMNRTQSK")))
        if flag(options, "R"):
            write_key(out, value, options)
    write_extensions(out, value, header)


def write_declaration(out: bytearray, value: Value) -> None:
    """Write one of the nine declarations."""
    kind = type_of(value)
    entities = {f"D_{name}": (code, number) for code, (name, number) in ENTITIES.items()}
    entities |= {f"U_{name}": (code + 1, number) for code, (name, number) in ENTITIES.items()}
    if kind == "D_KEYEXPR":
        header = write_header(out, value, 0x00, ("Z", None, "N"))
        write_integer(out, value.get("expr_id"), 16, "expr_id")
        write_key(out, value, header)
    elif kind == "U_KEYEXPR":
        header = write_header(out, value, 0x01, ("Z", None, None))
        write_integer(out, value.get("expr_id"), 16, "expr_id")
    elif kind in entities:
        code, name = entities[kind]
        declares = code in ENTITIES
        header = write_header(out, value, code, ("Z", "M", "N") if declares else ("Z", None, None))
        write_integer(out, value.get(name), 32, name)
        if declares:
            write_key(out, value, header)
    elif kind == "D_FINAL":
        header = write_header(out, value, 0x1A, ("Z", None, None))
    else:
        raise Unfit(f"no declaration is called {kind!r}")
    write_extensions(out, value, header)


def write_data(out: bytearray, value: Value) -> None:
    """Write PUSH, REQUEST or RESPONSE."""
    kind = value["type"]
    code, *bodies = {
        "PUSH": (0x1D, "PUT", "DEL"),
        "REQUEST": (0x1C, "QUERY"),
        "RESPONSE": (0x1B, "REPLY", "ERR"),
    }[kind]
    assert isinstance(code, int)
    header = write_header(out, value, code, ("Z", "M", "N"))
    if kind != "PUSH":
        write_integer(out, value.get("id"), 32, "id")
    write_key(out, value, header)
    write_extensions(out, value, header)
    write_body(out, table(field(value, "body"), "body"), bodies)


def write_body(out: bytearray, value: Value, allowed: list[Any]) -> None:
    """Write PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here."""
    kind = type_of(value)
    if kind not in allowed:
        raise Unfit(f"{kind!r} cannot stand here, only {' or '.join(allowed)}")
    if kind in ("PUT", "ERR"):
        put = kind == "PUT"
        header = write_header(out, value, 0x01 if put else 0x05, ("Z", "E", "T" if put else None))
        if put and flag(header, "T"):
            write_timestamp(out, value)
        if flag(header, "E"):
            write_integer(out, value.get("encoding"), 32, "encoding")
            if value["encoding"] & 1:
                write_blob(out, value.get("schema"), 8, "schema")
        write_extensions(out, value, header)
        write_blob(out, value.get("payload"), 32, "payload")
    elif kind == "DEL":
        header = write_header(out, value, 0x02, ("Z", None, "T"))
        if flag(header, "T"):
            write_timestamp(out, value)
        write_extensions(out, value, header)
    elif kind == "QUERY":
        header = write_header(out, value, 0x03, ("Z", "P", "C"))
        if flag(header, "C"):
            write_integer(out, value.get("consolidation"), 8, "consolidation")
        if flag(header, "P"):
            write_text(out, value.get("parameters"), 32, "parameters")
        write_extensions(out, value, header)
    else:
        header = write_header(out, value, 0x04, ("Z", None, "C"))
        if flag(header, "C"):
            write_integer(out, value.get("consolidation"), 8, "consolidation")
        write_extensions(out, value, header)
        write_body(out, table(field(value, "body"), "body"), ["PUT", "DEL"])


def write_timestamp(out: bytearray, value: Value) -> None:
    """Write the time and the id of its clock."""
    timestamp = table(value.get("timestamp"), "timestamp")
    write_integer(out, timestamp.get("time"), 64, "time")
    clock = bytearray()
    write_blob(clock, timestamp.get("clock_id"), 8, "clock_id")
    if not 1 <= len(clock) - 1 <= MOST_CLOCK_ID:
        raise Unfit(f"clock_id has not 1 to {MOST_CLOCK_ID} bytes")
    out += clock


def encode(value: Any) -> bytes:
    """Encode one network message canonically."""
    out = bytearray()
    write_network_message(out, table(value, "a message"))
    return bytes(out)


# ---------------------------------------------------------------------------------------------- the pipe


def answer(request: Value) -> Value:
    """Answer one request."""
    do = request.get("do")
    if do == "describe":
        return {
            "pipe": "goldwire-pipe-1",
            "name": "goldwire example in Python",
            "version": "1",
            "language": "Python",
            "layouts": [LAYOUT],
        }
    if do not in ("decode", "encode"):
        return {"error": {"detail": f"cannot do {do!r}"}}
    if request.get("layout") != LAYOUT:
        return {"error": {"detail": f"the layout {request.get('layout')!r} is not spoken here"}}
    if do == "decode":
        return {"results": [decoded(frame) for frame in request["frames"]]}
    return {"results": [encoded(value) for value in request["values"]]}


def decoded(frame: str) -> Value:
    """Answer for one frame."""
    try:
        return {"value": decode(bytes.fromhex(frame))}
    except Refusal as refusal:
        return {"error": {"reason": refusal.reason, "offset": refusal.offset}}


def encoded(value: Any) -> Value:
    """Answer for one value."""
    try:
        return {"bytes": encode(value).hex()}
    except Unfit as unfit:
        return {"error": {"detail": str(unfit)}}


def main() -> None:
    """Answer line after line, up to the end of the input."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        sys.stdout.write(json.dumps({"id": request["id"]} | answer(request)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
