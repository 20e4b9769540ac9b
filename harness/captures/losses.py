"""Losses: what is missing from a recording, or in it without being read, named and counted."""

from collections.abc import Iterable
from enum import Enum
from typing import Protocol

import msgspec

from harness.trace import Direction


class Missing(Enum):
    """What can be missing from a recording, or be in it without being read."""

    CUT_OFF = "cut off"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged packets"
    CHECKSUM = "wrong checksums"
    CUT_SHORT = "packets cut short"
    LINK_TYPE = "unknown link type"
    FRAGMENT = "IP fragments"
    LONG_LINE = "lines too long"
    FOREIGN = "of another protocol"
    ENCRYPTED = "encrypted"
    BEGINNING = "begun in the middle"
    GAP = "gaps"
    CONTRADICTION = "contradictions"
    DATAGRAM = "datagrams missing"
    REPEATED = "datagrams repeated"
    DISORDER = "out of order"
    CUT_FRAME = "frames cut"
    PASSED_OVER = "passed over"


MEANINGS = {
    Missing.CUT_OFF: "the file ends in the middle of a packet",
    Missing.UNREADABLE: "what follows cannot be read",
    Missing.DAMAGED: "packets whose headers contradict themselves, or lines that are no entry of a trace",
    Missing.CHECKSUM: "packets whose bits were changed on the way, as most checksums of their sender are right",
    Missing.CUT_SHORT: "packets of which not all bytes were captured",
    Missing.LINK_TYPE: "packets of a link type that is not known here",
    Missing.FRAGMENT: "fragments of IP packets, which are not put together",
    Missing.LONG_LINE: "lines of a trace that are longer than any frame; what follows them is read",
    Missing.FOREIGN: "connections that are not of this protocol",
    Missing.ENCRYPTED: "connections over TLS, which nobody can read here",
    Missing.BEGINNING: "sessions whose beginning was not captured",
    Missing.GAP: "places where bytes of a stream were not captured",
    Missing.CONTRADICTION: "bytes that came twice, and not the same; the first are taken",
    Missing.DATAGRAM: "datagrams that were not captured, as the numbers in the others show",
    Missing.REPEATED: "datagrams that came again, and were taken once",
    Missing.DISORDER: "packets that stand in the file before what they follow",
    Missing.CUT_FRAME: "frames of which only a part is there",
    Missing.PASSED_OVER: "bytes behind a loss, before the next place where a frame begins",
}


class Loss(msgspec.Struct, frozen=True):
    """One kind of loss: how often, how many bytes as far as that is known, and what in particular."""

    kind: Missing
    count: int
    bytes: int = 0
    what: str = ""

    def __str__(self) -> str:
        what = f" {self.what}" if self.what else ""
        size = f" ({self.bytes} bytes)" if self.bytes else ""
        return f"{self.kind.value}{what}: {self.count}{size}"


class Losses:
    """A tally of losses, by kind."""

    def __init__(self) -> None:
        self._tally: dict[tuple[Missing, str], tuple[int, int]] = {}

    def add(self, kind: Missing, bytes: int = 0, what: str = "", count: int = 1) -> None:
        """Count a loss."""
        before = self._tally.get((kind, what), (0, 0))
        self._tally[kind, what] = before[0] + count, before[1] + bytes

    def take(self, others: Iterable[Loss]) -> None:
        """Count what was counted elsewhere."""
        for loss in others:
            self.add(loss.kind, loss.bytes, loss.what, loss.count)

    def all(self) -> tuple[Loss, ...]:
        """Return the losses, in the order of their kinds."""
        order = list(Missing)
        found = [Loss(kind, *counts, what) for (kind, what), counts in self._tally.items()]
        return tuple(sorted(found, key=lambda loss: (order.index(loss.kind), loss.what)))


class Irregularity(msgspec.Struct, frozen=True):
    """What the number of a datagram shows to be wrong, and of how many datagrams."""

    kind: Missing
    count: int = 1


class DatagramNumbers(Protocol):
    """Reads the numbers of a session's datagrams, as far as the protocol numbers them.

    ``proven`` is up to where, in the trace, later numbers of both sides show that nothing is missing or out of order.
    """

    @property
    def proven(self) -> int:
        """How many entries that is."""
        ...

    def take(self, direction: Direction, frame: bytes, place: int, time: float) -> Irregularity | None:
        """Take the next datagram of either direction; return what is wrong with it.

        ``place`` is where in the trace it stands, ``time`` when it was captured, in seconds since the session began.
        What is ``REPEATED`` is to be left out.
        """
        ...


class Unnumbered:
    """Datagrams without numbers: nothing shows that none is missing."""

    proven = 0

    def take(self, direction: Direction, frame: bytes, place: int, time: float) -> Irregularity | None:
        """Return nothing."""
        return None
