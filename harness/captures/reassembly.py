"""Reassembly: one direction of a TCP connection, put in order.

Segments may come twice, overlap, and come out of order. Where bytes never came, the stream goes on behind a gap.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

MAX_HELD = 16 << 20
"""Bytes that may wait for others that come before them: many times the largest window of TCP in use."""

LOST_AFTER = 32
"""Packets of a connection after which bytes that were acknowledged, and did not come, are taken for lost.

Captures have packets out of order, by a few places as a rule: several queues of a network card, several processors.
"""

COMPARED = 1 << 16
"""Bytes of the past that what comes again is compared with: what is retransmitted is as a rule the latest."""

# Sequence numbers wrap; which of two comes first is decided within half of the space (RFC 9293, 3.4).
_HALF, _ALL = 1 << 31, 1 << 32


class StreamBytes(NamedTuple):
    """Bytes of a stream in order; ``number`` and ``time`` are those of the packet that completed them.

    ``gap`` bytes before them never came; the last before those came with the packet ``since``.
    """

    data: bytes
    number: int
    time: int
    gap: int = 0
    since: int = 0


class _Held(NamedTuple):
    at: int
    data: bytes
    number: int
    time: int


class Stream:
    """Takes segments and returns bytes in order. ``next`` is the sequence number that is due; it does not wrap."""

    def __init__(self) -> None:
        self.next: int | None = None
        self.acknowledged: int | None = None
        """What the other side has acknowledged last, as it stands in the packet."""
        self.contradictions: list[tuple[int, int]] = []
        """The packet whose bytes were taken, and how many came again and are not the same."""
        self.gaps = 0
        """Places behind which it goes on without the bytes that were due."""
        self._stop: int | None = None
        self._latest = self._time = 0
        self._held: list[_Held] = []
        self._size = 0
        self._stalled = 0
        self._past: deque[_Held] = deque()
        self._remembered = 0

    @property
    def is_waiting(self) -> bool:
        """Whether something waits for bytes that come before it."""
        return bool(self._held)

    @property
    def is_over(self) -> bool:
        """Whether everything up to the end of the stream has come."""
        return self._stop is not None and self.next is not None and self.next >= self._stop

    def begin(self, seq: int) -> None:
        """Say which sequence number the first byte has."""
        self.next = seq

    def finish(self, seq: int) -> None:
        """Say which sequence number stands behind the last byte."""
        self._stop = self._placed(seq)

    def take(self, seq: int, data: bytes, number: int, time: int) -> Sequence[StreamBytes]:
        """Take a segment, of which there is at least one byte; return what is in order now."""
        due = self.next
        if due is None:
            due = self.next = seq
        # Nearly every segment is the one that is due, with nothing waiting: that way has to be short.
        if due & 0xFFFFFFFF != seq or self._held:
            return self._place(self._placed(seq), data, number, time)
        self.next = due + len(data)
        self._latest, self._time = number, time
        self._remember(_Held(due, data, number, time))
        return (StreamBytes(data, number, time),)

    def ahead(self, seq: int) -> int:
        """Return how many bytes have yet to come, or the end of the stream, when what stands before ``seq`` has come.

        0 where all of that has come.
        """
        due = self.next or 0
        behind = (seq - due) & 0xFFFFFFFF
        # As of nearly every packet.
        if not behind or behind >= _HALF:
            return 0
        # The end takes a number of its own (RFC 9293, 3.4).
        return 0 if due + behind - 1 == self._stop == due else behind

    def stall(self) -> Sequence[StreamBytes]:
        """Note that a packet went by while something waits; return what goes on behind a gap, if it is one."""
        if self.acknowledged is None or self._placed(self.acknowledged) <= (self.next or 0):
            return ()
        self._stalled += 1
        return self.give_up() if self._stalled > LOST_AFTER else ()

    def give_up(self) -> Sequence[StreamBytes]:
        """Wait no longer for the bytes that are due; return what goes on behind the gap."""
        if not self._held or self.next is None:
            return ()
        gap, since = self._held[0].at - self.next, self._latest
        self.gaps += 1
        # What is behind the gap was completed by packets behind it.
        self.next, self._latest, self._time, self._stalled = self._held[0].at, 0, 0, 0
        first, *others = self._drained()
        return [first._replace(gap=gap, since=since), *others]

    def lacking(self) -> tuple[int, int]:
        """Return how many bytes are known to have come after the last one here, and the packet that this came with."""
        if self.next is None:
            return 0, 0
        if self._stop is not None:
            return max(self._stop - self.next, 0), self._latest
        if self.acknowledged is None:
            return 0, 0
        behind = self._placed(self.acknowledged) - self.next
        return (behind if behind > 1 else 0), self._latest  # one may be the end of the stream

    def _placed(self, seq: int) -> int:
        """Return a sequence number as one that does not wrap around: the one that is nearest to what is due."""
        due = self.next or 0
        return due + (seq - due + _HALF) % _ALL - _HALF

    def _place(self, at: int, data: bytes, number: int, time: int) -> Sequence[StreamBytes]:
        due = self.next or 0
        if at < due:
            if len(data) > 1 or at < due - 1:  # else it only asks whether the other side is still there
                for past in self._past:
                    self._compare(past, at, data)
            data = data[due - at :]
            at = due
        if data:
            self._hold(at, data, number, time)
        pieces = self._drained()
        while self._size > MAX_HELD:
            pieces += self.give_up()
        return pieces

    def _hold(self, at: int, data: bytes, number: int, time: int) -> None:
        """Keep the bytes that are not there yet."""
        end = at + len(data)
        # The first piece that ends behind where these bytes begin: only from there on can they overlap.
        first = bisect_left(self._held, at, key=lambda held: held.at + len(held.data))
        fresh: list[_Held] = []
        last = first
        place = at
        for held in self._held[first:]:
            if held.at >= end:
                break
            self._compare(held, at, data)
            if place < held.at:
                fresh.append(_Held(place, data[place - at : held.at - at], number, time))
            fresh.append(held)
            place = max(place, held.at + len(held.data))
            last += 1
        if place < end:
            fresh.append(_Held(place, data[place - at :], number, time))
        self._size += sum(len(each.data) for each in fresh) - sum(len(each.data) for each in self._held[first:last])
        self._held[first:last] = fresh

    def _compare(self, taken: _Held, at: int, data: bytes) -> None:
        start, end = max(taken.at, at), min(taken.at + len(taken.data), at + len(data))
        if start < end:
            one, other = taken.data[start - taken.at : end - taken.at], data[start - at : end - at]
            if one != other:
                differing = sum(a != b for a, b in zip(one, other, strict=True))
                self.contradictions.append((taken.number, differing))

    def _drained(self) -> list[StreamBytes]:
        pieces: list[StreamBytes] = []
        count = 0
        for held in self._held:
            if held.at != self.next:
                break
            count += 1
            self.next += len(held.data)
            self._size -= len(held.data)
            # A piece that waited is complete only with the packet that brought what was missing before it.
            self._latest, self._time = max(self._latest, held.number), max(self._time, held.time)
            self._remember(held)
            pieces.append(StreamBytes(held.data, self._latest, self._time))
        if count:
            del self._held[:count]
            self._stalled = 0
        return pieces

    def _remember(self, held: _Held) -> None:
        self._past.append(held)
        self._remembered += len(held.data)
        while self._remembered > COMPARED:
            self._remembered -= len(self._past.popleft().data)
