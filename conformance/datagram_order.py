"""The order of datagrams: whether what a session accuses a node of may be due to how its capture mixed both directions.

A segment of TCP says what came before it from the other side; a datagram does not. Taps, queues and cards mix up what
came almost at once, and stamp it so. So a node is not accused where a few datagrams of the other side, captured a
little earlier or later, would leave nothing to accuse it of.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import filterfalse

from harness.captures.recorded_session import like
from harness.trace import Direction, Entry, EntryKind, Trace

PLACES = 32
"""By how many places a datagram may stand in a wrong one: as many as segments of TCP are waited for."""

SIMULTANEOUS = 0.1
"""Seconds by which the time stamps of two directions may differ: many times what taps and cards are apart."""

TRIES = 64
"""Orders that are looked at, at least; each of them judges the session once more."""

ENTRIES = 1 << 17
"""Entries that are judged again for it: short sessions have more orders looked at, and cost some seconds at most."""

FirstAccusation = Callable[[Trace], int | None]
"""Says at which entry of a trace the node is first accused, -1 if at none in particular; None when it is not."""


def is_fine_in_another_order(trace: Trace, sound: int, first_accusation: FirstAccusation) -> bool:
    """Tell whether nobody is accused when some datagrams of the tester's side stand elsewhere.

    What the node said in the first ``sound`` entries is judged; what it was told may stand behind them.
    """
    entries = list(trace)
    heard = sum(map(_is_heard, entries[:sound]))
    tries, most = 0, max(TRIES, ENTRIES // len(entries))
    first = first_accusation(_until(trace, entries, heard))
    while first is not None and first >= 0:
        # Each order is to get further than that before: so this ends, and what is found does not undo itself.
        before, better = _heard_before(entries, first), None
        for order in _moved(entries, first):
            tries += 1
            if tries > most:
                return False
            judged = _until(trace, order, heard)
            accused = first_accusation(judged)
            if accused is None:
                return True
            if accused >= 0 and _heard_before(list(judged), accused) > before:
                better = order, accused
                break
        if better is None:
            return False
        entries, first = better
    return first is None


def _moved(entries: Sequence[Entry], at: int) -> Iterator[list[Entry]]:
    """Yield entries with what the tester sent behind a place moved before it, or what stands before it moved closer."""
    time = entries[at].time
    for place in range(1, PLACES + 1):
        behind, before = at + place, at - place
        if behind < len(entries) and _is_sent(entries[behind]) and entries[behind].time <= time + SIMULTANEOUS:
            window = entries[at : behind + 1]
            yield [*entries[:at], *filter(_is_sent, window), *filterfalse(_is_sent, window), *entries[behind + 1 :]]
        if before >= 0 and _is_sent(entries[before]) and entries[before].time >= time - SIMULTANEOUS:
            window = entries[before:at]
            yield [*entries[:before], *filterfalse(_is_sent, window), *filter(_is_sent, window), *entries[at:]]


def _is_sent(entry: Entry) -> bool:
    return entry.direction is Direction.SENT and entry.what is EntryKind.FRAME


def _is_heard(entry: Entry) -> bool:
    return entry.direction is Direction.RECEIVED and entry.what is EntryKind.FRAME


def _heard_before(entries: Sequence[Entry], at: int) -> int:
    return sum(map(_is_heard, entries[:at]))


def _until(trace: Trace, entries: Sequence[Entry], heard: int) -> Trace:
    """Return a trace with entries up to so many that were heard."""
    other = like(trace)
    count = 0
    for entry in entries:
        count += _is_heard(entry)
        if count > heard:
            break
        other.add(entry)
    return other
