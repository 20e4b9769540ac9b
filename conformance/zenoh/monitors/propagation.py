"""Monitors of zenoh-declarations, "D_FINAL (0x1A)" and "Declaration Propagation": who is told what."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import ENTITIES, monitor, received
from conformance.zenoh.monitors.state import SNAPSHOT, SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.values import DeclareEntity, DeclareFinal, Mode, UndeclareEntity
from wire.zenoh.values_transport import WhatAmI


@monitor("ZD-086", on=received(DeclareFinal, DeclareEntity))
def nothing_of_a_snapshot_after_its_final(event: Event, state: SessionState) -> Observation | None:
    """No declaration comes under the id of a Current interest after its D_FINAL."""
    interests = state.all_of(event.interest_id)
    if not interests:
        return None
    if isinstance(event.body, DeclareFinal):
        return KEPT
    if all(each.mode is Mode.CURRENT and each.finals for each in interests):
        return broken(event.entry, "a declaration of a snapshot came after its D_FINAL", nth=event.nth)
    return None


@monitor("ZD-087", on=received(DeclareFinal))
def finals_belong_to_interests_that_wait(event: Event, state: SessionState) -> Observation | None:
    """Each D_FINAL has the id of a Current or CurrentFuture interest that has had none yet."""
    if event.interest_id is None:
        return broken(event.entry, "D_FINAL came without an interest_id", "header", event.nth)
    interests = state.all_of(event.interest_id)
    if not interests:
        return broken(event.entry, "D_FINAL came with an id that no interest has", "interest_id", event.nth)
    if any(each.mode in SNAPSHOT and not each.finals for each in interests):
        return KEPT
    if all(each.mode in SNAPSHOT for each in interests):
        return broken(event.entry, "D_FINAL came twice for one interest", "interest_id", event.nth)
    return None


@monitor("ZD-090", on=received(*ENTITIES))
def updates_have_no_interest_id(event: Event, state: SessionState) -> Observation | None:
    """After the D_FINAL of a CurrentFuture interest, nothing is declared or undeclared under its id."""
    body = event.body
    assert isinstance(body, DeclareEntity | UndeclareEntity)
    if event.interest_id is None:
        key = event.key or event.known
        done = (each for each in state.interests if each.mode is Mode.CURRENT_FUTURE and each.finals)
        return KEPT if any(each.admits(body.kind, key) for each in done) else None
    interests = state.all_of(event.interest_id)
    if any(each.mode is Mode.CURRENT_FUTURE for each in interests) and all(each.finals for each in interests):
        return broken(
            event.entry, "an update came with the id of an interest after its D_FINAL", "interest_id", event.nth
        )
    return None


@monitor("ZD-093", on=received(DeclareEntity, role=WhatAmI.ROUTER))
def routers_tell_nobody_who_did_not_ask(event: Event, state: SessionState) -> Observation | None:
    """A router sends a declaration without an interest_id only where an interest covers its kind and key.

    An interest counts until the router is known to have handled its Final: by the D_FINAL of a later one.
    """
    body = event.body
    assert isinstance(body, DeclareEntity)
    if event.interest_id is not None:
        return None
    alive = [each for each in state.interests if not each.is_over]
    alive = [each for each in alive if each.mode is not Mode.CURRENT or not each.finals]
    if any(each.admits(body.kind, event.key) for each in alive):
        return KEPT
    if alive:
        return broken(event.entry, "a declaration came that none of the session's interests covers", nth=event.nth)
    return follows(event.entry, "R37", "B")


@monitor("ZD-095", on=received(DeclareEntity))
def live_entities_are_not_announced_again(event: Event, state: SessionState) -> Observation | None:
    """No D_* repeats, outside a snapshot or twice within one, what the session knows and what still lives."""
    body = event.body
    assert isinstance(body, DeclareEntity)
    asked = state.latest(event.interest_id)
    if state.is_contested(event.interest_id):
        # Both snapshots list it.
        return None
    if asked is not None:
        again = (event.key, asked) in state.announced.get((body.kind, body.id), ())
    else:
        again = state.live.get((body.kind, body.id)) == (event.key, body.extensions)
    if again:
        return broken(event.entry, "an entity was announced again that the session knows", nth=event.nth)
    return KEPT
