"""What a dump says about the fields of a packet: its type, its checksum, and, who has the keys, its signature."""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any

from wire.errors import DecodeError
from wire.primitives import Span
from wire.urbit.checksums import checksum
from wire.urbit.signatures import (
    SigningKey,
    cancellation_input,
    ed25519,
    promise_input,
    request_input,
    response_input,
    verifies,
)
from wire.urbit.type_bits import M1, PacketType
from wire.urbit.values import (
    TOTAL_SIZE,
    Cancellation,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    covered,
    path_is_valid,
    read,
)
from wire.urbit.words import LIVE, RANKS, TYPES

KEY_SIZE = 32
"""Bytes of a public key."""

Keys = Mapping[int, bytes]
"""The public keys with which ships sign, by the ship's number."""

NO_KEYS: Keys = {}


def read_keys(texts: Sequence[str]) -> Keys:
    """Return the keys of ships: each ``SHIP=HEX``, or ``SHIP`` alone for the one that it has in tests.

    Raises ``ValueError`` with what is wrong, and ``NoCryptography``.
    """
    ed25519()
    return dict(map(_read_key, texts))


def _read_key(text: str) -> tuple[int, bytes]:
    number, given, digits = text.partition("=")
    try:
        ship = Ship.of(int(number, 0))
    except ValueError:
        raise ValueError(f"{number!r} is no number of a ship; a key is SHIP=HEX or SHIP, as in 68=d75a…") from None
    if not given:
        return ship.number, SigningKey.of_ship(ship.number).public
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        key = b""
    if len(key) != KEY_SIZE:
        raise ValueError(f"{digits!r} is no public key: that is {2 * KEY_SIZE} digits of hex")
    return ship.number, key


def annotate(spans: Sequence[Span], frame: bytes, keys: Keys | None) -> dict[int, tuple[str, ...]]:
    """Return remarks by the index of the span that they belong to; ``keys`` are those of ``read_keys``."""
    found = {span.path: span.value for span in spans}
    remarks: dict[int, tuple[str, ...]] = {}
    for index, span in enumerate(spans):
        field = span.path.rpartition(".")[2]
        if field == "header":
            remarks[index] = header_remarks(span.value, frame)
        elif span.path == "origin.address":
            remarks[index] = (str(IPv4Address(span.value)),)
        elif span.path in ("sender", "receiver"):
            remarks[index] = (ship_remark(span.value, found["header"][f"{span.path}_rank"]),)
        elif field == "live":
            remarks[index] = (LIVE[span.value["live"]],)
        elif field == "path":
            remarks[index] = (path_remark(span.value),)
        elif field == "content":
            remarks[index] = (content_remark(span.value),)
        elif field == "signature":
            remarks[index] = (signature_remark(frame, NO_KEYS if keys is None else keys),)
    return remarks


def header_remarks(header: Mapping[str, int], frame: bytes) -> tuple[str, ...]:
    """Name the type of a packet, and say whether its checksum is right."""
    kind, right = PacketType(header["type"]), checksum(covered(frame))
    said = "is right" if header["checksum"] == right else f"is wrong: {right:#07x} would be right"
    remarks = [TYPES[kind], f"the checksum {header['checksum']:#07x} {said}"]
    if header["version"] != M1.version:
        remarks.append(f"of version {header['version']}, and not {M1.version}: a receiver drops it")
    if header["not_ames"] != M1.not_ames(kind):
        remarks.append(f"not_ames={header['not_ames']} does not belong to this type")
    return tuple(remarks)


def ship_remark(address: int | bytes, rank: int) -> str:
    """Say of which rank a ship is."""
    number = address if isinstance(address, int) else int.from_bytes(address, "little")
    if not Ship(number, rank).fits:
        return f"{RANKS[rank]} by its rank, {RANKS[Ship.of(number).rank]} by its number: a receiver may refuse it"
    return RANKS[rank] if rank else ("galaxy" if number < 1 << 8 else "star")


def path_remark(path: bytes) -> str:
    """Show a path, or say that it is none."""
    text = path.decode("ascii", "backslashreplace")
    return text if path_is_valid(path) else f"no path: {text!r}"


def content_remark(content: bytes) -> str:
    """Say how many fragments there are, and how much data is in this one."""
    if not content:
        return "the number of fragments is missing"
    total = int.from_bytes(content[:TOTAL_SIZE], "little")
    return f"of {total} fragments in all, {len(content[TOTAL_SIZE:])} bytes of data"


Signed = ScryRequest | ScryResponse | Cancellation | Promise

INPUTS: dict[object, Callable[[Any], bytes]] = {
    ScryRequest: lambda body: request_input(body.path, body.fragment),
    Cancellation: lambda body: cancellation_input(body.path, body.fragment),
    Promise: lambda body: promise_input(body.session, body.path, body.fragment),
    ScryResponse: lambda body: response_input(body.path, body.fragment, body.data),
}
"""What each body signs."""

NAMES: dict[object, str] = {
    ScryRequest: TYPES[PacketType.SCRY_FORE],
    Cancellation: TYPES[PacketType.BOND_FORE],
}


def signature_remark(frame: bytes, keys: Keys) -> str:
    """Say whether the signature in a packet is that of its sender."""
    try:
        packet = read(frame)
    except DecodeError:
        return "cannot be checked: the packet is refused"
    ship = packet.sender.number
    if ship not in keys:
        return f"not checked: no key of {ship} is given"
    return _judged(packet, ship, keys[ship])


def _judged(packet: Packet, ship: int, key: bytes) -> str:
    body = packet.body
    assert isinstance(body, Signed)
    if verifies(key, body.signature, INPUTS[type(body)](body)):
        return f"signed by {ship}"
    # These two are alike but for what is signed: who takes one for the other is told so.
    other = {ScryRequest: Cancellation, Cancellation: ScryRequest}.get(type(body))
    if other is not None and verifies(key, body.signature, INPUTS[other](body)):
        return f"not valid: {ship} signed a {NAMES[other]}"
    return f"not valid: {ship} has not signed this"
