"""Monitors of zenoh-interests, "Interests", "Interest Modes" and "Message Flows".

They look at the interests of the tester and at what the node under test declares in return. Where one link does not
tell, they say nothing.
"""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import ENTITIES, monitor, received
from conformance.zenoh.monitors.state import LIVE, SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.values import DeclareEntity, DeclareFinal, Mode, UndeclareEntity


@monitor("ZI-002", on=received(DeclareEntity))
def what_nobody_asked_for(event: Event, state: SessionState) -> Observation | None:
    """A declaration without an interest id falls under some interest that was sent before."""
    if event.interest_id is not None:
        return None
    return KEPT if state.covering(event) else follows(event.entry, "R37", "B")


@monitor("ZI-010", on=received(DeclareEntity))
def what_a_current_interest_lists(event: Event, state: SessionState) -> Observation | None:
    """What comes under the id of a Current interest matches it."""
    return matching(event, state, Mode.CURRENT)


@monitor("ZI-014", on=received(DeclareEntity))
def what_a_current_future_interest_lists(event: Event, state: SessionState) -> Observation | None:
    """What comes under the id of a CurrentFuture interest matches it."""
    return matching(event, state, Mode.CURRENT_FUTURE)


def matching(event: Event, state: SessionState, mode: Mode) -> Observation | None:
    """Judge what is declared under the ids of interests of a mode."""
    asked = state.of(event.interest_id, mode)
    if asked is None or not asked.is_clear:
        return None
    body = event.body
    assert isinstance(body, DeclareEntity)
    if asked.covers(body.kind, event.key):
        return KEPT
    return broken(
        event.entry, f"{body.kind.value} {event.key} does not match what was asked for", "key_suffix", event.nth
    )


@monitor("ZI-011", on=received(DeclareFinal, DeclareEntity))
def final_is_the_last_of_a_current_interest(event: Event, state: SessionState) -> Observation | None:
    """D_FINAL comes with the id of the Current interest, and nothing of the answer comes after it."""
    asked, is_final = state.of(event.interest_id, Mode.CURRENT), isinstance(event.body, DeclareFinal)
    if asked is not None and is_final and not asked.complete:
        return KEPT
    if asked is not None and not is_final and asked.complete and not asked.passed:
        return broken(event.entry, "a declaration follows the D_FINAL of its Current interest", nth=event.nth)
    if is_final and event.interest_id is None and state.waits(Mode.CURRENT):
        return broken(
            event.entry, "D_FINAL without an interest id while a Current interest waits for it", "header", event.nth
        )
    return None


@monitor("ZI-013", on=received(*ENTITIES, DeclareFinal))
def nothing_after_a_current_interest(event: Event, state: SessionState) -> Observation | None:
    """Once a Current interest is complete, no change is reported to it."""
    if isinstance(event.body, DeclareFinal):
        done = any(each.mode is Mode.CURRENT and each.complete for each in state.interests)
        return KEPT if done else None
    asked = state.of(event.interest_id, Mode.CURRENT)
    if asked is not None and asked.complete and asked.passed:
        return broken(
            event.entry,
            "a change is reported under the id of a Current interest that is complete",
            "interest_id",
            event.nth,
        )
    if event.interest_id is None and isinstance(event.body, UndeclareEntity) and only_listed(event, state):
        return follows(event.entry, "R32", "B")
    return None


def only_listed(event: Event, state: SessionState) -> bool:
    """Tell whether an undeclaration can be due to nothing but Current interests that are complete."""
    if event.known is None or state.is_due(event) or state.covering(event, *LIVE):
        return False
    return bool(state.covering(event, Mode.CURRENT))


@monitor("ZI-015", on=received(DeclareFinal))
def one_final_for_a_current_future_interest(event: Event, state: SessionState) -> Observation | None:
    """A CurrentFuture interest gets one D_FINAL."""
    asked = state.of(event.interest_id, Mode.CURRENT_FUTURE)
    if asked is None:
        return None
    if asked.complete:
        return broken(event.entry, "a second D_FINAL for a CurrentFuture interest", "interest_id", event.nth)
    return KEPT


@monitor("ZI-016", on=received(DeclareEntity))
def declarations_after_the_snapshot(event: Event, state: SessionState) -> Observation | None:
    """What is declared after the snapshot of a CurrentFuture interest has no interest id."""
    return update(event, state)


@monitor("ZI-017", on=received(UndeclareEntity))
def undeclarations_after_the_snapshot(event: Event, state: SessionState) -> Observation | None:
    """What is undeclared after the snapshot of a CurrentFuture interest has no interest id."""
    return update(event, state)


def update(event: Event, state: SessionState) -> Observation | None:
    """Judge the interest id of an update under CurrentFuture.

    A declaration right behind D_FINAL may be a late part of the snapshot, which is another rule's business.
    """
    if event.interest_id is None:
        running = any(each.complete and each.is_running for each in state.covering(event, Mode.CURRENT_FUTURE))
        return KEPT if running else None
    asked = state.of(event.interest_id, Mode.CURRENT_FUTURE)
    if asked is not None and asked.complete and (asked.passed or isinstance(event.body, UndeclareEntity)):
        return broken(
            event.entry, "an update of a CurrentFuture interest carries an interest id", "interest_id", event.nth
        )
    return None


@monitor("ZI-018", on=received(*ENTITIES))
def updates_of_a_current_future_interest(event: Event, state: SessionState) -> Observation | None:
    """Updates come while a CurrentFuture interest runs, and not after its Final."""
    return until_final(event, state, Mode.CURRENT_FUTURE)


@monitor("ZI-022", on=received(*ENTITIES))
def updates_of_a_future_interest(event: Event, state: SessionState) -> Observation | None:
    """Updates come while a Future interest runs, and not after its Final."""
    return until_final(event, state, Mode.FUTURE)


def until_final(event: Event, state: SessionState, mode: Mode) -> Observation | None:
    """Judge an update by whether an interest of a mode still runs, where nothing else can have brought it."""
    if event.interest_id is not None:
        return None
    own = [asked for asked in state.covering(event, mode) if asked.is_clear]
    if any(asked.is_running for asked in own):
        return KEPT
    if not own or state.is_due(event) or state.pushes:
        return None
    if isinstance(event.body, DeclareEntity):
        return broken(event.entry, "a declaration comes after the Final", nth=event.nth)
    return follows(event.entry, "R29", "B") if event.known is not None else None


@monitor("ZI-019", on=received(DeclareEntity, DeclareFinal))
def nothing_that_exists_for_a_future_interest(event: Event, state: SessionState) -> Observation | None:
    """A Future interest brings no snapshot: nothing is declared under its id before later questions are answered."""
    asked = state.of(event.interest_id, Mode.FUTURE)
    if isinstance(event.body, DeclareFinal):
        return KEPT if asked is None and state.waits(Mode.FUTURE) else None
    if asked is not None and not asked.passed:
        return broken(event.entry, "a declaration comes under the id of a Future interest", "interest_id", event.nth)
    return None


@monitor("ZI-020", on=received(DeclareEntity))
def declarations_for_a_future_interest(event: Event, state: SessionState) -> Observation | None:
    """What a Future interest brings has no interest id."""
    if event.interest_id is None:
        running = any(each.is_running for each in state.covering(event, Mode.FUTURE))
        return KEPT if running else None
    asked = state.of(event.interest_id, Mode.FUTURE)
    if asked is not None and asked.passed:
        return broken(event.entry, "an update of a Future interest carries an interest id", "interest_id", event.nth)
    return None


@monitor("ZI-021", on=received(DeclareFinal))
def no_final_in_future_mode(event: Event, state: SessionState) -> Observation | None:
    """No D_FINAL answers an interest in Future mode."""
    if event.interest_id is None:
        return None
    if state.of(event.interest_id, Mode.FUTURE) is not None:
        return broken(event.entry, "D_FINAL for a Future interest", "interest_id", event.nth)
    return KEPT
