"""Recorded sessions: what was said in one session, by whom, and what is known to be missing from it."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from harness.captures.losses import Loss, Losses, Missing
from harness.captures.reader import LONGEST_LINE
from harness.trace import Direction, Entry, EntryKind, Trace

LINK = "a"
"""The label of the one link in the trace of a session."""


SIDES = ("listening", "dialling")
"""The sides of a session that can be judged."""


@lru_cache(maxsize=64)  # the sessions of a capture come in a row
def _in_a_name(source: str) -> str:
    """Return what stands for a source in the names of its sessions."""
    # The name is also that of a file in a report.
    return "".join(each if each.isalnum() or each in "-_" else "_" for each in source)


class RecordedSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session as it was recorded.

    ``trace`` has one link; in it ``RECEIVED`` is what the side said that is judged, at first the ``usual`` one, and
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
    usual: str = "listening"
    ended: int | None = None

    @property
    def name(self) -> str:
        """What the session is called in a report: ``audit.SOURCE#NUMBER``; the other side's view says so."""
        return f"audit.{_in_a_name(self.source)}#{self.number}" + ("" if self.side == self.usual else f".{self.side}")

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return sum(entry.what is EntryKind.FRAME for entry in self.trace)

    def seen_from(self, side: str) -> "RecordedSession":
        """Return the session with this side judged (``SIDES``)."""
        return self if side == self.side else self.from_the_other_side()

    def from_the_other_side(self) -> "RecordedSession":
        """Return the same session with the other side judged."""
        trace = like(self.trace)
        for entry in self.trace:
            direction, note = OTHER[entry.direction], entry.note
            # In every trace the tester's side has `closed` a link, and the other has ended it with a `fin`.
            if entry.what is EntryKind.CLOSED:
                note = "closed" if direction is Direction.SENT else "fin"
            trace.add(msgspec.structs.replace(entry, direction=direction, note=note))
        side = "dialling" if self.side == "listening" else "listening"
        trace.ports = {link: ports[::-1] for link, ports in self.trace.ports.items()}
        trace.names = self.trace.names
        return msgspec.structs.replace(self, trace=trace, side=side)

    def beginning(self, size: int) -> Trace:
        """Return the first entries of the trace."""
        trace = like(self.trace)
        trace.entries, trace.names = self.trace.entries[:size], self.trace.names[:size]
        return trace


OTHER = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}


def like(trace: Trace) -> Trace:
    """Return an empty trace of the same session."""
    other = Trace(trace.protocol, trace.transport, trace.clock)
    other.epoch, other.began, other.ports = trace.epoch, trace.began, dict(trace.ports)
    return other


def read_lines(
    lines: Iterable[bytes], source: str, protocol: str, losses: Losses, side: str = "listening"
) -> Iterator[RecordedSession]:
    """Yield the sessions of a run's trace (lines as ``harness.trace.write_ndjson`` writes them), one per link.

    Who was tested stands for the ``side`` that is usually judged.
    A line that is no entry is counted in ``losses``; what came later on any link is behind a loss.
    """
    decoder = msgspec.json.Decoder(_Line)
    begun: dict[str, tuple[int, Trace]] = {}
    sound: dict[str, int] | None = None
    for number, line in enumerate(lines, 1):
        try:
            read = decoder.decode(line)
            entry = Entry(read.time, LINK, read.what, read.direction, bytes.fromhex(read.data), read.note)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            if len(line) > LONGEST_LINE:
                losses.add(Missing.LONG_LINE)
            else:
                # Only the last line can lack its end: that of a run that was killed.
                whole = line.endswith(b"\n")
                losses.add(Missing.DAMAGED if whole else Missing.CUT_OFF, len(line), "lines" if whole else "")
            if sound is None:
                sound = {link: len(trace) for link, (_, trace) in begun.items()}
        else:
            begun.setdefault(read.link, (number, Trace(protocol)))[1].add(entry)
    for link, (number, trace) in begun.items():
        before = len(trace) if sound is None else sound.get(link, 0)
        key = f"link {link}"
        yield RecordedSession(source=source, number=number, key=key, trace=trace, sound=before, side=side, usual=side)


class _Line(msgspec.Struct, frozen=True):
    """A line of a trace: an entry whose data is in hex."""

    time: float
    link: str
    what: EntryKind
    direction: Direction = Direction.RECEIVED
    data: str = ""
    note: str = ""
