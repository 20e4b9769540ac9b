"""Monitors of zenoh-interests, "INTEREST Extensions" to "Relationship to DECLARE/D_FINAL"."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.zenoh.monitors.declare import extension, intruder
from conformance.zenoh.monitors.registry import DECLARATIONS, ENTITIES, monitor, received
from conformance.zenoh.monitors.state import LIVE, SentInterest, SessionState
from harness.timing import MARGIN
from harness.trace import Direction
from harness.zenoh.tester.events import Event
from wire.zenoh.grammar_extensions import NODE_ID, QOS, TIMESTAMP
from wire.zenoh.unknown_extensions import unintelligible
from wire.zenoh.values import (
    DeclareEntity,
    DeclareFinal,
    Interest,
    InterestFinal,
    Mode,
    Options,
    UndeclareEntity,
)

PATIENCE = 5.0
"""Seconds within which a snapshot has to end: the document names none, and nobody whose session goes on without a
D_FINAL for as long is still listing. A session that ends sooner shows nothing. Longer by what others have taken."""


@monitor("ZI-054", on=received(Interest, InterestFinal))
def qos_of_interests(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 1 of an INTEREST is a Z64 and not mandatory."""
    return extension(event, QOS)


@monitor("ZI-055", on=received(Interest, InterestFinal))
def timestamp_of_interests(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 2 of an INTEREST is a ZBuf and not mandatory."""
    return extension(event, TIMESTAMP)


@monitor("ZI-056", on=received(Interest, InterestFinal))
def node_id_of_interests(event: Event, state: SessionState) -> list[Observation] | None:
    """Extension 3 of an INTEREST is a Z64 and mandatory."""
    return extension(event, NODE_ID)


@monitor("ZI-060", on=received(InterestFinal))
def finals_hold_nothing_else(event: Event, state: SessionState) -> Observation:
    """What follows a Final is another message or nothing, so neither options nor a key came with it."""
    if intruder(event, state):
        return broken(event.entry, "something that is no message follows a Final", nth=event.nth)
    return KEPT


@monitor("ZI-061", on=received(InterestFinal))
def finals_end_what_runs(event: Event, state: SessionState) -> Observation:
    """A Final names an interest that its sender opened as Future or CurrentFuture and has not ended."""
    assert isinstance(event.message, InterestFinal)
    if state.theirs.get(event.message.id) in LIVE:
        return KEPT
    return broken(event.entry, "a Final names no interest that runs", "id", event.nth)


@monitor("ZI-069", on=received(DeclareEntity))
def snapshots_carry_their_id(event: Event, state: SessionState) -> Observation | None:
    """What comes with I set while snapshots are sent has the id of one that was asked for."""
    if event.interest_id is None:
        return None
    if event.interest_id in state.open:
        return KEPT
    if state.open and state.latest(event.interest_id) is None:
        return broken(
            event.entry, "a declaration of a snapshot has an id that was never asked with", "interest_id", event.nth
        )
    return None


def is_plain(asked: SentInterest) -> bool:
    """Tell whether nothing about an INTEREST gives its receiver leave to refuse it."""
    interest = asked.interest
    if unintelligible(interest):
        return False
    restricted = bool(interest.options & Options.R)
    if restricted or interest.options & (Options.N | Options.M):
        return restricted and bool(asked.key) and bool(asked.kinds)
    return bool(asked.kinds)


@monitor("ZI-070", on=received(DeclareFinal))
def snapshots_end_with_their_id(event: Event, state: SessionState) -> Observation | None:
    """A snapshot ends with D_FINAL, with I set."""
    if event.interest_id in state.open:
        return KEPT
    if event.interest_id is None and state.open:
        return broken(event.entry, "D_FINAL comes without an interest id", "header", event.nth)
    return None


@monitor("ZI-070", on=received(SessionEnd))
def snapshots_end(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """No snapshot lacks its D_FINAL five seconds after it was asked for, and much longer than others took."""
    patience = PATIENCE + MARGIN * state.slowest
    for asked in state.open.values():
        if end.time - asked.event.time >= patience and is_plain(asked):
            yield broken(
                asked.event.entry, "no D_FINAL ends a snapshot, though the session went on", nth=asked.event.nth
            )


@monitor("ZI-071", on=received(*DECLARATIONS))
def nothing_after_final(event: Event, state: SessionState) -> Observation | None:
    """After the D_FINAL of a snapshot nothing comes under its id, until the id is used again."""
    id, is_final = event.interest_id, isinstance(event.body, DeclareFinal)
    if id is None:
        return None
    if state.is_done(id):
        what = "another D_FINAL" if is_final else "a declaration"
        return broken(
            event.entry, f"{what} comes under the id of a snapshot after its D_FINAL", "interest_id", event.nth
        )
    return KEPT if is_final and id in state.open else None


@monitor("ZI-072", on=received(*ENTITIES))
def updates_carry_no_id(event: Event, state: SessionState) -> Observation | None:
    """What is announced under a Future interest, or withdrawn outside a snapshot, has I clear."""
    id = event.interest_id
    if id is None:
        return KEPT if state.hears_changes and not state.open else None
    future = state.of(id, Mode.FUTURE) is not None
    late = isinstance(event.body, UndeclareEntity) and state.is_done(id)
    return broken(event.entry, "an update carries an interest id", "interest_id", event.nth) if future or late else None


@monitor("ZI-074", on=received(DeclareEntity))
def aliases_come_first(event: Event, state: SessionState) -> Observation | None:
    """A number that stands for a key is used only once it was given to one, and until whoever gave it takes it back."""
    assert isinstance(event.body, DeclareEntity)
    key = event.body.key
    if key.scope == 0:
        return None
    # One of ours that we have taken back may have been used before the node knew of that.
    given = state.numbers if key.sender else state.given[Direction.SENT]
    if event.key is not None or key.scope in given:
        return KEPT
    return broken(event.entry, "a number is used that stands for no key", "key_scope", event.nth)


@monitor("ZI-075", on=received(DeclareEntity))
def listed_once(event: Event, state: SessionState) -> Observation | None:
    """What a snapshot has listed does not come again as an update while it lives and the snapshot lasts."""
    body = event.body
    assert isinstance(body, DeclareEntity)
    if event.interest_id is not None:
        return KEPT if event.interest_id in state.open else None
    if state.listed.get((body.kind, body.id), {}).get(event.key) in state.open:
        return broken(event.entry, "what a snapshot has listed comes again while it lasts", nth=event.nth)
    return None
