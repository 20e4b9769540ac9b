"""Monitors of zenoh-declarations, "D_SUBSCRIBER (0x02)" and "U_SUBSCRIBER (0x03)": the ids of entities."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.values import DeclareEntity, EntityKind, Mode, UndeclareEntity


@monitor("ZD-049", on=received(DeclareEntity))
def one_id_for_one_live_subscriber(event: Event, state: SessionState) -> Observation | None:
    """No subs_id is given to a key while it still belongs to a subscriber on another."""
    body = event.body
    assert isinstance(body, DeclareEntity)
    if body.kind is not EntityKind.SUBSCRIBER:
        return None
    known = state.live.get((body.kind, body.id))
    if known is None or known[0] == event.key:
        return KEPT
    unnumbered = body.id == 0 and state.of(event.interest_id, Mode.CURRENT) is not None
    return follows(event.entry, "R16", "D" if unnumbered else "C")


@monitor("ZD-052", on=received(UndeclareEntity))
def subscribers_are_undeclared_by_their_id(event: Event, state: SessionState) -> Observation | None:
    """Each U_SUBSCRIBER has the subs_id of a subscriber that was declared and not undeclared since."""
    body = event.body
    assert isinstance(body, UndeclareEntity)
    if body.kind is not EntityKind.SUBSCRIBER:
        return None
    if (body.kind, body.id) in state.live:
        return KEPT
    return broken(event.entry, "U_SUBSCRIBER with a subs_id that no declared subscriber has", "subs_id", event.nth)
