"""What a flow is made of: its two sides, and what tells frames of the protocol from others."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.captures.packets import CapturedPacket
from harness.captures.reassembly import Stream, StreamBytes
from harness.captures.resynchronisation import Resynchroniser, plausible
from harness.links.framing import Framing, Reader
from harness.links.transports import TRANSPORTS, framing_of
from harness.protocol import load

STREAMS: tuple[str, ...] = tuple(name for name, each in TRANSPORTS.items() if each.captured_as == "tcp")
"""Transports that are captured as TCP; the frames must tell which of them it is."""


class HeldPacket(NamedTuple):
    """A packet that waits for what it acknowledges, since so many packets and gaps of the other side's stream."""

    packet: CapturedPacket
    since: int
    gaps: int


class ProtocolFrames:
    """What distinguishes frames of a protocol from others: its framings, and a test whether a frame is plausible."""

    def __init__(self, protocol: str, transport: str | None = None) -> None:
        definition = load(protocol)
        framings = definition.framings
        self.protocol = protocol
        self.is_plausible: Callable[[bytes], bool] = plausible(definition)
        self.is_telling = definition.is_telling
        self.usual_side = definition.usual_side
        self.numbers = definition.numbers
        self.is_of_dialler = definition.is_of_dialler
        wanted: Sequence[str] = STREAMS if transport in (None, "udp") else (transport or "tcp",)
        self.framings: dict[str, dict[str, Framing]] = {
            "tcp": {each: framings[each] for each in wanted if each in framings},
            "udp": {"udp": framing_of(framings, "udp")},
        }


class FlowSide:
    """One of the two ends of a session, with the bytes that it sends."""

    def __init__(self, end: bytes, mark: int) -> None:
        self.end = end
        self.mark = mark
        self.other = self
        self.stream = Stream()
        self.is_begun = False
        """Whether its first byte was captured."""
        self.isn: int | None = None
        self.reader: Reader | None = None
        self.resynchroniser: Resynchroniser | None = None
        self.candidates: dict[str, Resynchroniser] | None = None
        self.early: list[StreamBytes] = []
        self.head = b""
        self.is_lost = False
        self.awaited = 0
        """The latest packet of the other side that acknowledges nothing but what has come: of what came later, and was
        lost, its sender knew nothing."""
        self.right = self.wrong = 0
        """Packets whose checksum was right, and those whose was wrong while most were."""
        self.doubtful: int | None = None
        """How many packets there were before the first of the latter."""
        self.held: deque[HeldPacket] = deque()
        """Packets that acknowledge what has not come from the other side."""
        self.overtook = self.gaps = 0
        """Where the other side's stream has to come to, for those of them that were not held any longer."""
