"""Monitors of a publisher's answers: whom they are for, and what they answer."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.urbit.monitors.registry import ended, monitor, said, whether
from conformance.urbit.monitors.state import Route, SessionState, Ticks, answered_route, answered_ticks
from harness.urbit.tester.events import Event
from wire.urbit.values import HeartbeatResponse, Promise, ScryResponse

SOON = 0.5
"""Seconds of the clock within which what was sent behind each other has come, and no session has died."""

FEW = 2
"""Answers too many, or nacks too early, that a path may bring about which doubles, or moves."""


def questions(event: Event, state: SessionState) -> dict[Route, set[Ticks]]:
    """Return who has asked what a packet answers, and with which ticks."""
    match event.packet.body:
        case Promise(path=path, fragment=fragment) | ScryResponse(path=path, fragment=fragment):
            return state.asked.get((path, fragment), {})
        case HeartbeatResponse(session=session, number=number):
            return state.beats.get((session, number), {})
    return {}


@monitor("URB-011", on=said(Promise, ScryResponse, HeartbeatResponse))
def ticks_are_swapped(event: Event, state: SessionState) -> Observation | None:
    """An answer has the ticks of its request, swapped; one that comes later has those of any packet of that ship."""
    route = answered_route(event.packet)
    asked = state.ticks.get(route) if event.form is ScryResponse else questions(event, state).get(route)
    if not asked:
        return None
    return whether(
        answered_ticks(event.packet) in asked, event.entry, "the ticks are not those of the request, swapped"
    )


@monitor("URB-012", on=said(Promise, ScryResponse, HeartbeatResponse))
def answers_go_back(event: Event, state: SessionState) -> Observation | None:
    """An answer goes to a ship that has asked, from the one that was asked."""
    asked = questions(event, state)
    if not asked:
        return None
    if answered_route(event.packet) in asked:
        return KEPT
    if event.form is ScryResponse and answered_route(event.packet) in state.ticks:
        return None  # it may have asked from another address
    sender, receiver = event.packet.sender, event.packet.receiver
    return broken(
        event.entry, f"an answer goes from {sender.number} to {receiver.number}, which has not asked that one"
    )


@monitor("URB-034", on=said(Promise))
def promises_answer_requests(event: Event, state: SessionState) -> Observation:
    """A promise has path and fragment of a request of the ship that it goes to."""
    return whether(answered_route(event.packet) in questions(event, state), event.entry, "nobody has asked for this")


@monitor("URB-061", on=said(HeartbeatResponse))
def numbers_are_echoed(event: Event, state: SessionState) -> Observation:
    """An answer to a heartbeat has session and number of one that came."""
    body = event.packet.body
    assert isinstance(body, HeartbeatResponse)
    has_come = (body.session, body.number) in state.beats
    return whether(has_come, event.entry, f"no heartbeat of the session had the number {body.number}", "number")


@monitor("URB-156", on=said(ScryResponse))
def values_go_to_who_has_asked(event: Event, state: SessionState) -> Observation | None:
    """A value goes to a ship that has asked for its path; one that has said something else here may have moved."""
    body = event.packet.body
    assert isinstance(body, ScryResponse)
    route = answered_route(event.packet)
    if route not in state.ticks:
        return broken(event.entry, f"a value is told to {route[0].number}, which has said nothing here")
    if any(route in asked for (path, _), asked in state.asked.items() if path == body.path):
        return KEPT
    return None


@monitor("URB-037", on=ended)
def sessions_do_not_alternate(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """Nothing is promised in a session that another one has followed, and that one is not said to live any more."""
    for promises in state.sessions.values():
        began: dict[int, Event] = {}
        latest = None
        for event in promises:
            id = session_of(event)
            if latest is not None and id != latest and id in began and event.time - began[latest].time > SOON:
                yield broken(event.entry, f"the session {id:#x} is promised in again behind another one", "session")
            elif id == latest:
                yield KEPT
            elif latest is not None:
                yield from still_alive(latest, event, state)
            began.setdefault(id, event)
            latest = id


def still_alive(before: int, event: Event, state: SessionState) -> Iterator[Observation]:
    """Look for a heartbeat of a session that came, and found it alive, well behind the first promise in another."""
    for (session, number), answers in state.answers.items():
        if session != before or min(state.beat_times.get((session, number), [0.0])) < event.time + SOON:
            continue
        for answer in answers:
            body = answer.packet.body
            if isinstance(body, HeartbeatResponse) and body.live:
                yield broken(event.entry, f"another session is promised in while {before:#x} lives", "session")
                return


def session_of(event: Event) -> int:
    """Return the session of a promise."""
    body = event.packet.body
    assert isinstance(body, Promise)
    return body.session


@monitor("URB-060", on=ended)
def sessions_live_at_first(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A heartbeat just after the request that its session was promised for is answered as live."""
    early: list[Event] = []
    alive = 0
    for (session, number), answers in state.answers.items():
        times, promise = state.beat_times.get((session, number)), state.promised.get(session)
        for answer in answers:
            body = answer.packet.body
            assert isinstance(body, HeartbeatResponse)
            alive += body.live and times is not None
            # Of a ship that was promised it: another one may send heartbeats with its id from the same address.
            is_its = promise is not None and promise.packet.receiver.number == answer.packet.receiver.number
            if not is_its or body.live or not times or promise is None:
                continue
            # By when it was asked for, not by when the promise was read, which may be long after the session began.
            asked = state.asked_for(promise)
            if asked is not None and promise.time <= min(times) <= answer.time < asked + SOON:
                early.append(answer)
    if len(early) >= FEW and len(early) > alive:
        yield broken(early[0].entry, "a session is said to be dead that was promised in just before", "live")
    elif alive:
        yield alive * KEPT


@monitor("URB-075", on=ended)
def one_answer_for_each(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """No heartbeat has several answers."""
    kept, several = 0, []
    for key, answers in state.answers.items():
        if len(answers) > len(state.beat_times.get(key, answers)):
            several.append(answers[-1])
        else:
            kept += 1
    if len(several) >= FEW and len(several) > kept:
        yield broken(several[0].entry, "a heartbeat is answered more than once")
    elif kept:
        yield kept * KEPT
