"""Monitors of zenoh-declarations, "WireExpr Extension (ZBuf, ID=0x0F, M=true)", for all kinds."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.trace import Direction
from harness.zenoh.tester.events import Event
from wire.errors import DecodeError
from wire.zenoh.grammar_extensions import WIRE_EXPR
from wire.zenoh.keys import resolve
from wire.zenoh.values import EntityKind, Extension, UndeclareEntity, WireExpr
from wire.zenoh.wire_expr_reading import read_wire_expr


def carried(body: UndeclareEntity) -> Extension | None:
    """Return the WireExpr extension of an undeclaration, well formed or not."""
    return next((each for each in body.extensions if each.id == WIRE_EXPR.id), None)


def read(payload: bytes, *, deployed: bool) -> WireExpr | None:
    """Read the payload of a WireExpr extension by one layout; ``None`` when it does not fit."""
    try:
        return read_wire_expr(payload, deployed=deployed)
    except DecodeError:
        return None


def is_empty(payload: bytes) -> bool:
    """Tell whether the payload of a WireExpr extension names no key: scope 0 and no suffix."""
    key = read(payload, deployed=False) or read(payload, deployed=True)
    return key is not None and key.scope == 0 and not key.suffix


def presence(event: Event, kind: EntityKind) -> Observation | None:
    """Judge whether an undeclaration of one kind carries WireExpr."""
    body = event.body
    assert isinstance(body, UndeclareEntity)
    if body.kind is not kind:
        return None
    extension = carried(body)
    if extension is not None and isinstance(extension.value, bytes) and is_empty(extension.value):
        return follows(event.entry, "R05", "C")
    if extension is not None:
        return follows(event.entry, "R05", "A")
    if body.extensions:
        return broken(
            event.entry, "the undeclaration has extensions, but not WireExpr among them", "extensions", event.nth
        )
    return follows(event.entry, "R05", "B")


@monitor("ZD-055", on=received(UndeclareEntity))
def subscribers_are_undeclared_with_wire_expr(event: Event, state: SessionState) -> Observation | None:
    """Each U_SUBSCRIBER carries WireExpr."""
    return presence(event, EntityKind.SUBSCRIBER)


@monitor("ZD-076", on=received(UndeclareEntity))
def queryables_are_undeclared_with_wire_expr(event: Event, state: SessionState) -> Observation | None:
    """Each U_QUERYABLE carries WireExpr."""
    return presence(event, EntityKind.QUERYABLE)


@monitor("ZD-085", on=received(UndeclareEntity))
def tokens_are_undeclared_with_wire_expr(event: Event, state: SessionState) -> Observation | None:
    """Each U_TOKEN carries WireExpr."""
    return presence(event, EntityKind.TOKEN)


@monitor("ZD-057", on=received(UndeclareEntity))
def wire_expr_is_a_mandatory_buffer(event: Event, state: SessionState) -> Observation | None:
    """The extension 0x0F of an undeclaration is a ZBuf and marked mandatory."""
    assert isinstance(event.body, UndeclareEntity)
    extension = carried(event.body)
    if extension is None:
        return None
    if not isinstance(extension.value, bytes):
        return broken(event.entry, "the WireExpr extension is not a buffer", "extensions", event.nth)
    if not extension.mandatory:
        return broken(event.entry, "the WireExpr extension is not marked mandatory", "extensions", event.nth)
    return KEPT


def payload(event: Event) -> bytes | None:
    """Return the payload of an undeclaration's WireExpr; None when there is none, or it names no key."""
    assert isinstance(event.body, UndeclareEntity)
    extension = carried(event.body)
    if extension is None or not isinstance(extension.value, bytes) or is_empty(extension.value):
        return None
    return extension.value


@monitor("ZD-058", on=received(UndeclareEntity))
def wire_expr_names_what_was_declared(event: Event, state: SessionState) -> Observation | None:
    """WireExpr resolves to the key under which the entity was declared, in either spelling of it."""
    spelled = payload(event)
    if spelled is None or event.known is None:
        return None
    theirs, ours = state.tables[Direction.RECEIVED], state.tables[Direction.SENT]
    is_read = False
    for deployed in (False, True):
        key = read(spelled, deployed=deployed)
        is_read = is_read or key is not None
        if key is not None and resolve(key, theirs, ours) == event.known:
            return KEPT
        if key is not None and not key.sender and key.scope in state.given[Direction.SENT].difference(ours):
            return None  # we have released it, or given it twice: what the node takes it for is not known
    return (
        broken(event.entry, "WireExpr names another key than the entity was declared with", "extensions", event.nth)
        if is_read
        else None
    )


@monitor("ZD-062", on=received(UndeclareEntity))
def suffix_of_wire_expr_has_its_length(event: Event, state: SessionState) -> Observation | None:
    """The suffix in WireExpr is there if and only if N is set, with its length in front."""
    spelled = payload(event)
    if spelled is None:
        return None
    if read(spelled, deployed=False) is not None:
        return follows(event.entry, "R04", "A")
    if read(spelled, deployed=True) is not None:
        return follows(event.entry, "R04", "B")
    return broken(
        event.entry, "the payload of WireExpr does not read as flags, scope and suffix", "extensions", event.nth
    )
