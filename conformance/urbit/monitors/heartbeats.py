"""Monitors of a subscriber's heartbeats: their ids and their numbers.

Heartbeats get lost, and a record may begin in the midst of a session. So a number that is missing says nothing by
itself; one that comes again later does, and numbers that are always as far apart.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.urbit.monitors.registry import ended, monitor, said
from conformance.urbit.monitors.state import SessionState
from harness.urbit.tester.events import Event
from harness.urbit.tester.publisher import number_of
from wire.urbit.values import HeartbeatRequest

STEPS = 4
"""Numbers that are equally far apart, each from the one before, that are no accident."""

COPIES = 3
"""Times that a heartbeat comes with one number: a path doubles, and does no more."""

MOMENT = 0.6
"""Seconds of the clock within which copies of one datagram arrive."""

SURELY = 0.8
"""The part of its time by which a heartbeat cannot be early."""


def distortions(id: int) -> dict[int, str]:
    """Return what somebody makes of an id who has not the place for it, or miscounts; with words for it."""
    swapped = int.from_bytes(id.to_bytes(8, "little"), "big")
    found = {
        swapped: "with its bytes in the other order",
        id & 2**63 - 1: "in 63 bits",
        id & 2**53 - 1: "in 53 bits",
        int(float(id)): "as a floating number",
        id & 2**32 - 1: "in 32 bits",
        id >> 32: "in 32 bits",
        id + 1: "and one more",
        id - 1: "and one less",
    }
    # Small ids may be anybody's.
    return {other: words for other, words in found.items() if id >> 32 and other != id}


@monitor("URB-153", on=said(HeartbeatRequest))
def ids_were_promised(event: Event, state: SessionState) -> Observation | None:
    """A heartbeat carries the id of a promise: another that resembles one was not promised elsewhere."""
    body = event.packet.body
    assert isinstance(body, HeartbeatRequest)
    if body.session in state.told:
        return KEPT
    for id in state.told:
        if words := distortions(id).get(body.session):
            return broken(event.entry, f"a heartbeat carries the id {id:#x} {words}", "session")
    return None


def pace(beats: Sequence[Event]) -> float | None:
    """Return the usual seconds of the clock from one heartbeat to the next; None if that is not known."""
    apart = [two.time - one.time for one, two in pairwise(beats) if number_of(two) == number_of(one) + 1]
    return median(apart) if apart else None


def is_known_from_its_beginning(session: int, state: SessionState) -> bool:
    """Tell whether the session before is in the record: then all of this one is."""
    first = state.told.get(session)
    return first is not None and any(other.time < first.time for id, other in state.told.items() if id != session)


@monitor("URB-092", on=ended)
def first_numbers_are_1(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """The first heartbeat of a session has the number 1; one with a higher number comes when it would be due."""
    for session, beats in state.heartbeats.items():
        first, number = beats[0], number_of(beats[0])
        if zero := next((beat for beat in beats if number_of(beat) == 0), None):
            yield broken(zero.entry, "a heartbeat has the number 0", "number")
        elif number == 1:
            yield KEPT
        elif (usual := pace(beats)) is not None and is_known_from_its_beginning(session, state):
            since = first.time - state.told[session].time
            if since < SURELY * usual * (number - 1):
                yield broken(first.entry, f"the first heartbeat of a session has the number {number}", "number")


@monitor("URB-093", on=ended)
def numbers_grow_by_1(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """Each further heartbeat of a session has the next number."""
    for beats in state.heartbeats.values():
        numbers = [number_of(beat) for beat in beats]
        steps = [two - one for one, two in pairwise(numbers)]
        if again := returning(beats):
            yield broken(again.entry, f"number {number_of(again)} comes again", "number")
        elif len(steps) >= STEPS and steps[0] > 1 and len(set(steps)) == 1:
            yield broken(beats[1].entry, f"number {numbers[1]} comes after {numbers[0]}", "number")
        elif count := steps.count(1):
            yield count * KEPT


def returning(beats: Sequence[Event]) -> Event | None:
    """Return a heartbeat with a number that came long before, or again and again; None if there is none."""
    seen: dict[int, list[tuple[int, float]]] = {}
    for place, beat in enumerate(beats):
        number = number_of(beat)
        copies = seen.setdefault(number, [])
        copies.append((place, beat.time))
        higher = {number_of(each) for each in beats[copies[0][0] : place] if number_of(each) > number}
        is_late = beat.time - copies[0][1] > MOMENT
        if is_late and (len(copies) >= COPIES or len(higher) > 1):
            return beat
    return None
