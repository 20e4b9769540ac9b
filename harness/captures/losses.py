"""Losses: what is missing from a recording, or in it without being read, named and counted."""

from collections.abc import Iterable
from enum import Enum

import msgspec


class Missing(Enum):
    """What can be missing from a recording, or be in it without being read."""

    CUT_OFF = "cut off"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged packets"
    CUT_SHORT = "packets cut short"
    LINK_TYPE = "unknown link type"
    FRAGMENT = "IP fragments"
    FOREIGN = "of another protocol"
    ENCRYPTED = "encrypted"
    BEGINNING = "begun in the middle"
    GAP = "gaps"
    CONTRADICTION = "contradictions"
    CUT_FRAME = "frames cut"
    PASSED_OVER = "passed over"


MEANINGS = {
    Missing.CUT_OFF: "the file ends in the middle of a packet",
    Missing.UNREADABLE: "what follows cannot be read",
    Missing.DAMAGED: "packets whose headers contradict themselves",
    Missing.CUT_SHORT: "packets of which not all bytes were captured",
    Missing.LINK_TYPE: "packets of a link type that is not known here",
    Missing.FRAGMENT: "fragments of IP packets, which are not put together",
    Missing.FOREIGN: "connections that are not of this protocol",
    Missing.ENCRYPTED: "connections over TLS, which nobody can read here",
    Missing.BEGINNING: "sessions whose beginning was not captured",
    Missing.GAP: "places where bytes of a stream were not captured",
    Missing.CONTRADICTION: "bytes that came twice, and not the same; the first are taken",
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
