"""A part of zenoh/network-message as Scapy packets: INTEREST, and DECLARE with D_SUBSCRIBER.

Written as Scapy's documentation teaches it: a ``Field`` for numbers of variable length and one for counted bytes,
``BitField`` for flags, ``ConditionalField`` for what a flag announces, ``PacketListField`` for the extensions.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from scapy.fields import BitField, ConditionalField, Field, PacketField, PacketListField
from scapy.packet import Packet

from vectors.bench.throughput import Baseline


class Number(Field[int, int]):
    """A variable-length integer below ``2**bits``."""

    __slots__ = ("bits",)

    def __init__(self, name: str, default: int, bits: int) -> None:
        super().__init__(name, default, "B")
        self.bits = bits

    def addfield(self, pkt: Any, s: bytes, val: int | None) -> bytes:
        value = self.default if val is None else val
        if not 0 <= value < 1 << self.bits:
            raise ValueError(f"{self.name}: {value} does not fit in {self.bits} bits")
        out = bytearray(s)
        length = 0
        while value > 0x7F and length < 8:
            out.append(value & 0x7F | 0x80)
            value >>= 7
            length += 1
        out.append(value)
        return bytes(out)

    def getfield(self, pkt: Any, s: bytes) -> tuple[bytes, int]:
        value, length, byte = 0, 0, 0x80
        while byte & 0x80 and length < 9:
            byte = s[length]
            value |= (byte if length == 8 else byte & 0x7F) << 7 * length
            length += 1
        if value >> self.bits:
            raise ValueError(f"{self.name}: {value} does not fit in {self.bits} bits")
        return s[length:], value


class Counted(Field[Any, Any]):
    """Bytes, or text, after their count."""

    __slots__ = ("count", "text")

    def __init__(self, name: str, bits: int, *, text: bool = False) -> None:
        super().__init__(name, "" if text else b"", "B")
        self.count = Number(name, 0, bits)
        self.text = text

    def addfield(self, pkt: Any, s: bytes, val: Any) -> bytes:
        content = val.encode() if self.text else val
        return self.count.addfield(pkt, s, len(content)) + content

    def getfield(self, pkt: Any, s: bytes) -> tuple[bytes, Any]:
        s, count = self.count.getfield(pkt, s)
        if count > len(s):
            raise ValueError(f"{self.name}: bytes are missing")
        return s[count:], s[:count].decode() if self.text else s[:count]


class Part(Packet):
    """A packet that stands within another one: what follows it is not its payload."""

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        return b"", s


class Extension(Part):
    """One extension."""

    name = "Extension"
    fields_desc = [
        BitField("Z", 0, 1),
        BitField("encoding", 0, 2),
        BitField("M", 0, 1),
        BitField("id", 0, 4),
        ConditionalField(Number("number", 0, 64), lambda packet: packet.encoding == 1),
        ConditionalField(Counted("octets", 32), lambda packet: packet.encoding == 2),
    ]


def following(packet: Any, found: list[Any], last: Any, rest: bytes) -> Any:
    """Say what follows in a chain of extensions."""
    return Extension if last is None or last.Z else None


def extensions() -> ConditionalField:
    return ConditionalField(PacketListField("extensions", [], next_cls_cb=following), lambda packet: packet.Z)


class DeclareSubscriber(Part):
    """D_SUBSCRIBER."""

    name = "D_SUBSCRIBER"
    fields_desc = [
        BitField("Z", 0, 1),
        BitField("M", 0, 1),
        BitField("N", 0, 1),
        BitField("id", 2, 5),
        Number("subs_id", 0, 32),
        Number("key_scope", 0, 16),
        ConditionalField(Counted("key_suffix", 16, text=True), lambda packet: packet.N),
        extensions(),
    ]


class Declare(Packet):
    """DECLARE."""

    name = "DECLARE"
    fields_desc = [
        BitField("Z", 0, 1),
        BitField("X", 0, 1),
        BitField("I", 0, 1),
        BitField("id", 0x1E, 5),
        ConditionalField(Number("interest_id", 0, 32), lambda packet: packet.I),
        extensions(),
        PacketField("declaration", None, DeclareSubscriber),
    ]


class Interest(Packet):
    """INTEREST in a mode other than Final."""

    name = "INTEREST"
    fields_desc = [
        BitField("Z", 0, 1),
        BitField("Mod", 1, 2),
        BitField("id", 0x19, 5),
        Number("interest_id", 0, 32),
        *(BitField(f"option_{name}", 0, 1) for name in "AMNRTQSK"),
        ConditionalField(Number("key_scope", 0, 16), lambda packet: packet.option_R),
        ConditionalField(Counted("key_suffix", 16, text=True), lambda packet: packet.option_R and packet.option_N),
        extensions(),
    ]


def decode(data: bytes) -> Packet:
    """Decode one message; ``ValueError`` or ``LookupError`` if it is malformed."""
    packet = (Declare if data[0] & 0x1F == 0x1E else Interest)(data)
    if packet.payload:
        raise ValueError("bytes are left over")
    return packet


def encode(packet: Packet) -> bytes:
    """Encode one message."""
    return bytes(packet)


def rebuilt(packet: Packet) -> Packet:
    """Return the same message as somebody makes it who sends it: without the bytes that it was read from."""

    def fresh(part: Any) -> Any:
        if isinstance(part, Packet):
            return type(part)(**{name: fresh(value) for name, value in part.fields.items()})
        return [fresh(each) for each in part] if isinstance(part, list) else part

    made: Packet = fresh(packet)
    return made


DECLARE = attrgetter("Z", "X", "I", "id", "interest_id", "extensions", "declaration")
SUBSCRIBER = attrgetter("Z", "M", "N", "id", "subs_id", "key_scope", "key_suffix", "extensions")
INTEREST = attrgetter(
    "Z", "Mod", "id", "interest_id", *(f"option_{name}" for name in "AMNRTQSK"), "key_scope", "key_suffix", "extensions"
)
EXTENSION = attrgetter("Z", "encoding", "M", "id", "number", "octets")


def read(decode: Callable[[bytes], Any], frames: Sequence[bytes]) -> None:
    """Decode frames and read every field; those that are absent are ``None``."""
    for data in frames:
        packet = decode(data)
        if type(packet) is Declare:
            *_, chain, declaration = DECLARE(packet)
            for extension in chain or ():
                EXTENSION(extension)
            *_, chain = SUBSCRIBER(declaration)
        else:
            *_, chain = INTEREST(packet)
        for extension in chain or ():
            EXTENSION(extension)


def covers(value: dict[str, Any]) -> bool:
    """Tell whether a message is among those that are modelled here."""
    subscriber = value["type"] == "DECLARE" and value["declaration"]["type"] == "D_SUBSCRIBER"
    return subscriber or value["type"] == "INTEREST"


def plain(packet: Any) -> dict[str, Any]:
    """Return a message as the grammars give it."""
    if type(packet) is Interest:
        return {
            "type": "INTEREST",
            "header": {"Z": packet.Z, "Mod": packet.Mod, "id": packet.id},
            "id": packet.interest_id,
            "options": {name: getattr(packet, f"option_{name}") for name in "AMNRTQSK"},
            "key_scope": packet.key_scope,
            "key_suffix": packet.key_suffix,
            "extensions": plain_extensions(packet),
        }
    inner = packet.declaration
    return {
        "type": "DECLARE",
        "header": {"Z": packet.Z, "I": packet.I, "id": packet.id, "X": packet.X << 6},
        "interest_id": packet.interest_id,
        "extensions": plain_extensions(packet),
        "declaration": {
            "type": "D_SUBSCRIBER",
            "header": {"Z": inner.Z, "M": inner.M, "N": inner.N, "id": inner.id},
            "subs_id": inner.subs_id,
            "key_scope": inner.key_scope,
            "key_suffix": inner.key_suffix,
            "extensions": plain_extensions(inner),
        },
    }


def plain_extensions(packet: Any) -> list[dict[str, Any]] | None:
    """Return the extensions of a message as the grammars give them."""
    if not packet.Z:
        return None
    return [
        {
            "header": {"Z": each.Z, "encoding": each.encoding, "M": each.M, "id": each.id},
            "value": (None, each.number, each.octets)[each.encoding],
        }
        for each in packet.extensions
    ]


BASELINES = {"network-message": Baseline("scapy", decode, encode, read=read, covers=covers, prepared=rebuilt)}
