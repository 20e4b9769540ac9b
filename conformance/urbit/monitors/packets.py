"""Monitors of packets, whatever is said in them: header, prelude, and the layout of bodies."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.urbit.monitors.registry import ANY, REFUSED, monitor, said, whether
from conformance.urbit.monitors.state import SessionState, answered_route
from harness.urbit.peers.ship import VERSION
from harness.urbit.tester.events import Event, RefusedPacket
from wire.errors import DecodeError, Reason
from wire.urbit.checksums import checksum
from wire.urbit.type_bits import M1, M2, M3, Mapping, PacketType
from wire.urbit.values import (
    HEADER_SIZE,
    Ames,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    covered,
    is_intact,
    read,
    write,
)

OTHER_BITS: dict[str, Mapping] = {"B": M3, "C": M2}
"""How else the bits of the type are read (reading A01)."""

SIGNATURE = 64
BODIES = {
    PacketType.SCRY_FORE: ("URB-020", ScryRequest),
    PacketType.SCRY_BACK: ("URB-021", ScryResponse),
    PacketType.BEAT_FORE: ("URB-013", HeartbeatRequest),
    PacketType.BEAT_BACK: ("URB-014", HeartbeatResponse),
    PacketType.BOND_FORE: ("URB-016", Cancellation),
    PacketType.BOND_BACK: ("URB-017", Promise),
}
"""The rule about the body of each type, and the class of such bodies."""

BEFORE_PATHS = {PacketType.SCRY_FORE: 70, PacketType.BOND_FORE: 70, PacketType.BOND_BACK: 78}
"""Types whose bodies end with a path, and the bytes that stand before it."""


@monitor("URB-150", on=ANY)
def checksums_are_right(event: Event, state: SessionState) -> Observation:
    """The checksum is that of all bytes behind header and origin."""
    packet = event.packet
    if packet.checksum is None:
        return KEPT
    if packet.checksum == checksum(covered(write(packet)).rstrip(b"\0")):
        return follows(event.entry, "A04", "B")
    return broken(event.entry, f"the checksum is {packet.checksum:#x}", "header.checksum")


@monitor("URB-006", on=ANY)
def headers_are_sound(event: Event, state: SessionState) -> Iterator[Observation]:
    """The version is 0, and each rank the least that holds its ship's number."""
    packet = event.packet
    for ship, field in ((packet.sender, "header.sender_rank"), (packet.receiver, "header.receiver_rank")):
        yield whether(ship.fits, event.entry, f"ship {ship.number} has the rank {ship.rank}", field)
    yield whether(packet.version == VERSION, event.entry, f"the version is {packet.version}", "header.version")
    if packet.not_ames is False:
        yield follows(event.entry, "A02", "B")


@monitor("URB-001", on=said(HeartbeatRequest), kept_by=said(ScryRequest, Cancellation, HeartbeatResponse, ScryResponse))
def heartbeats_are_of_the_same_ships(event: Event, state: SessionState) -> Observation:
    """Packets differ in type and body alone: a heartbeat goes between the ships between which its session is."""
    body = event.packet.body
    assert isinstance(body, HeartbeatRequest)
    promise = state.told.get(body.session)
    if promise is None or (promise.packet.sender, promise.packet.receiver) == answered_route(event.packet):
        return KEPT
    return broken(event.entry, "a heartbeat goes between other ships than the promise of its session")


@monitor("URB-019", on=said(ScryRequest, Cancellation, Promise, ScryResponse))
def paths_are_ascii(event: Event, state: SessionState) -> Observation:
    """No byte of a path is above 127."""
    path: bytes = getattr(event.packet.body, "path", b"")
    return whether(path.isascii(), event.entry, "a path has bytes above 127", "path")


@monitor("URB-015", on=said(HeartbeatResponse))
def padding_is_zero(event: Event, state: SessionState) -> Observation:
    """The padding beside live is 0."""
    body = event.packet.body
    assert isinstance(body, HeartbeatResponse)
    return whether(not body.padding, event.entry, f"the padding beside live is {body.padding:#x}", "live")


def is_swapped(number: int, size: int) -> bool:
    """Tell whether a number of so many bytes is a small one with its bytes in the other order."""
    return bool(number) and number % (1 << 8 * (size - 1)) == 0


@monitor("URB-022", on=ANY)
def numbers_are_little_endian(event: Event, state: SessionState) -> Observation | None:
    """Small numbers have their zeros behind them; ids are sent as they came."""
    match event.packet.body:
        case HeartbeatRequest(session=session, number=number):
            swapped = int.from_bytes(session.to_bytes(8, "little"), "big")
            wrong = is_swapped(number, 8) or (session not in state.told and swapped in state.told)
        case HeartbeatResponse(session=session, number=number):
            swapped = int.from_bytes(number.to_bytes(8, "little"), "big")
            asked = state.beats
            wrong = (session, number) not in asked and (session, swapped) in asked and number != swapped
        case ScryRequest(fragment=fragment) | Cancellation(fragment=fragment):
            wrong = is_swapped(fragment, 4)
        case Promise(path=path, fragment=fragment):
            # Who was asked for such a number has sent it as it came.
            wrong = is_swapped(fragment, 4) and (path, fragment) not in state.asked
        case ScryResponse(path=path, fragment=fragment, total=total, total_width=width):
            wrong = is_swapped(fragment, 4) and (path, fragment) not in state.asked
            wrong = wrong or (width == 4 and is_swapped(total, 4))
        case _:
            return None
    return follows(event.entry, "A03", "B") if wrong else KEPT


# --- datagrams that are no packets ------------------------------------------------------------------------


def kind_of(refused: RefusedPacket) -> PacketType | None:
    """Return the type of a datagram that is surely meant to be a packet of the document; None of any other.

    Its checksum is right; and a packet that looks like a request and is not marked as none of ames may be one of ames,
    as those of today.
    """
    if not is_intact(refused.frame):
        return None
    kind = PacketType(M1.type_in(refused.frame[0]))
    return None if kind.is_ames or not refused.frame[0] & 8 else kind


def is_body(packet: Packet, state: SessionState) -> bool:
    """Tell whether a packet that was read in another way is one that might have been sent here."""
    match packet.body:
        case Ames():
            return False
        case HeartbeatRequest(session=session):
            return session in state.told
        case HeartbeatResponse(session=session, number=number):
            return (session, number) in state.beats
        case ScryResponse(path=path) | Promise(path=path):
            return path in state.asked_paths
        case ScryRequest(path=path) | Cancellation(path=path):
            return path.isascii() and path.startswith(b"/")
    return False


def other_bits(refused: RefusedPacket, state: SessionState) -> str | None:
    """Return how else the type of a datagram may be read, so that it is a packet (reading A01)."""
    for option, mapping in OTHER_BITS.items():
        try:
            if is_body(read(refused.frame, mapping), state):
                return option
        except DecodeError:
            continue
    return None


def other_type(refused: RefusedPacket, state: SessionState) -> PacketType | None:
    """Return the type that a datagram must have so that it is a packet; None if no type will do."""
    first, rest = refused.frame[0], refused.frame[1:]
    for kind in BODIES:
        try:
            if is_body(read(bytes((first & ~0b111 | kind,)) + rest), state):
                return kind
        except DecodeError:
            continue
    return None


@monitor("URB-002", on=REFUSED, kept_by=ANY)
def types_are_right(refused: RefusedPacket, state: SessionState) -> Observation | None:
    """What is sent is a packet of the type that its header says."""
    if not is_intact(refused.frame):
        return None
    if option := other_bits(refused, state):
        return follows(refused.entry, "A01", option)
    kind, other = kind_of(refused), other_type(refused, state)
    if kind is None or other is None:
        return None
    return broken(refused.entry, f"the type is {kind.name}, and the rest is {other.name}", "header.type")


@monitor("URB-001", on=REFUSED)
def packets_are_whole(refused: RefusedPacket, state: SessionState) -> Observation | None:
    """A packet has a header and a prelude."""
    if kind_of(refused) is None or refused.error.path.startswith("body") or refused.error.reason is Reason.TRAILING:
        return None
    return broken(refused.entry, f"it ends within header or prelude: {refused.error.detail}")


def misshaped(refused: RefusedPacket, kind: PacketType, state: SessionState) -> bool:
    """Tell whether a datagram is meant to be of a type, and its body is not laid out so."""
    is_of_it = kind_of(refused) is kind and (
        refused.error.path.startswith("body") or refused.error.reason is Reason.TRAILING
    )
    return is_of_it and other_bits(refused, state) is None and other_type(refused, state) is None


def is_about_the_path(refused: RefusedPacket, kind: PacketType) -> bool:
    """Tell whether a body is wrong by its path or the length before it: whatever stands before that is in its place."""
    if kind not in BEFORE_PATHS:
        return False
    is_behind = refused.error.reason is Reason.TRAILING or refused.error.path.endswith(".path")
    header = int.from_bytes(refused.frame[:HEADER_SIZE], "little")
    prelude = 1 + (2 << (header >> 7 & 3)) + (2 << (header >> 9 & 3))
    begin = len(refused.frame) - len(covered(refused.frame)) + prelude + BEFORE_PATHS[kind]
    return is_behind and refused.frame[begin : begin + 1] == b"/"


@monitor("URB-018", on=REFUSED, kept_by=said(ScryRequest, Cancellation, Promise))
def lengths_are_those_of_paths(refused: RefusedPacket, state: SessionState) -> Observation | None:
    """The length before a path is that of the path, with which the body ends."""
    for kind in BEFORE_PATHS:
        if misshaped(refused, kind, state) and is_about_the_path(refused, kind):
            return broken(refused.entry, f"the path has another length: {refused.error.detail}", "path_length")
    return None


def _look_after(kind: PacketType, rule: str, form: type) -> None:
    """Register a monitor of the bodies of one type."""

    @monitor(rule, on=REFUSED, kept_by=said(form))
    def bodies_are_laid_out(refused: RefusedPacket, state: SessionState) -> Observation | None:
        """A body is laid out as its type has it."""
        if not misshaped(refused, kind, state) or is_about_the_path(refused, kind):
            return None
        if form in (HeartbeatRequest, HeartbeatResponse) and refused.error.detail.startswith(f"{SIGNATURE} bytes"):
            return follows(refused.entry, "A06", "B")
        return broken(refused.entry, f"the body of {kind.name} is not laid out so: {refused.error}")


for _kind, (_rule, _form) in BODIES.items():
    _look_after(_kind, _rule, _form)
