"""Recordings: what was said in one session, by whom, and what is known to be missing from it."""

from collections.abc import Iterable, Iterator
from enum import Enum

import msgspec

from harness.trace import Direction, Entry, Happening, Trace

LINK = "a"
"""The label of the one link in the trace of a session."""


SIDES = ("listening", "dialling")
"""The sides of a session that can be judged."""


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


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One session as it was recorded.

    ``trace`` has one link; in it ``RECEIVED`` is what the side said that is judged, at first the one that listens, and
    times are seconds since the session began. ``key`` spells the two ends. ``number`` is where in its source the
    session begins: the number of a packet or of a line, from 1. ``sound`` counts the entries before the first loss:
    what comes later may have its reason in what is missing. ``ended`` is the number of the packet with which the
    session ended, None when it had not ended where its source does.
    """

    source: str
    number: int
    key: str
    trace: Trace
    sound: int
    losses: tuple[Loss, ...] = ()
    side: str = "listening"
    ended: int | None = None

    @property
    def name(self) -> str:
        """What the session is called in a report: ``audit.SOURCE#NUMBER``; the other side's view says so."""
        source = "".join(each if each.isalnum() or each in "-_" else "_" for each in self.source)
        return f"audit.{source}#{self.number}" + ("" if self.side == "listening" else f".{self.side}")

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return sum(entry.what is Happening.FRAME for entry in self.trace)

    def seen_from(self, side: str) -> "Recorded":
        """Return the session with this side judged (``SIDES``)."""
        return self if side == self.side else self.from_the_other_side()

    def from_the_other_side(self) -> "Recorded":
        """Return the same session with the other side judged."""
        trace = like(self.trace)
        for entry in self.trace:
            direction, note = OTHER[entry.direction], entry.note
            if entry.what is Happening.CLOSED:
                note = "closed" if direction is Direction.SENT else "fin"
            trace.add(msgspec.structs.replace(entry, direction=direction, note=note))
        side = "dialling" if self.side == "listening" else "listening"
        trace.ports = {link: ports[::-1] for link, ports in self.trace.ports.items()}
        return msgspec.structs.replace(self, trace=trace, side=side)

    def beginning(self, size: int) -> Trace:
        """Return the first entries of the trace."""
        trace = like(self.trace)
        trace.entries = self.trace.entries[:size]
        return trace


OTHER = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}


def like(trace: Trace) -> Trace:
    """Return an empty trace of the same session."""
    other = Trace(trace.protocol, trace.transport, trace.clock)
    other.epoch, other.began, other.ports = trace.epoch, trace.began, dict(trace.ports)
    return other


def read_lines(lines: Iterable[bytes], source: str, protocol: str, losses: Losses) -> Iterator[Recorded]:
    """Yield the sessions of a run's trace (lines as ``harness.trace.write_ndjson`` writes them), one per link.

    A line that is no entry is counted in ``losses``; what came later on any link is behind a loss.
    """
    decoder = msgspec.json.Decoder(_Line)
    begun: dict[str, tuple[int, Trace]] = {}
    sound: dict[str, int] | None = None
    for number, line in enumerate(lines, 1):
        try:
            read = decoder.decode(line)
            entry = Entry(read.time, LINK, read.what, read.direction, bytes.fromhex(read.data), read.note)
        except (msgspec.MsgspecError, ValueError):
            whole = line.endswith(b"\n")
            losses.add(Missing.DAMAGED if whole else Missing.CUT_OFF, len(line), "lines" if whole else "")
            if sound is None:
                sound = {link: len(trace) for link, (_, trace) in begun.items()}
        else:
            begun.setdefault(read.link, (number, Trace(protocol)))[1].add(entry)
    for link, (number, trace) in begun.items():
        before = len(trace) if sound is None else sound.get(link, 0)
        yield Recorded(source=source, number=number, key=f"link {link}", trace=trace, sound=before)


class _Line(msgspec.Struct, frozen=True):
    """A line of a trace: an entry whose data is in hex."""

    time: float
    link: str
    what: Happening
    direction: Direction = Direction.RECEIVED
    data: str = ""
    note: str = ""
