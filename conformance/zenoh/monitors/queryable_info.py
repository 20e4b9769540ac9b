"""Monitors of zenoh-declarations, "QueryableInfo Extension (Z64, ID=0x1, M=false)"."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.zenoh.tester.events import Event
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.values import DeclareEntity, EntityKind, Extension


def infos(event: Event) -> list[Extension]:
    """Return the QueryableInfo extensions of a D_QUERYABLE, well formed or not."""
    body = event.body
    if not isinstance(body, DeclareEntity) or body.kind is not EntityKind.QUERYABLE:
        return []
    return [each for each in body.extensions if each.id == QUERYABLE_INFO.id]


@monitor("ZD-068", on=received(DeclareEntity))
def info_is_a_number_that_may_be_skipped(event: Event, state: SessionState) -> list[Observation]:
    """Extension 1 of D_QUERYABLE is a Z64 and not marked mandatory."""
    return [
        KEPT
        if extension.is_(QUERYABLE_INFO)
        else broken(
            event.entry, "extension 1 of D_QUERYABLE is not a Z64, or is marked mandatory", "extensions", event.nth
        )
        for extension in infos(event)
    ]


@monitor("ZD-070", on=received(DeclareEntity))
def no_bits_above_the_distance(event: Event, state: SessionState) -> Iterator[Observation]:
    """QueryableInfo has no bits set beside the Complete flag and the distance, in some known layout."""
    for extension in infos(event):
        if not isinstance(extension.value, int):
            continue
        narrow, wide = extension.value < 1 << 17, extension.value < 1 << 18
        deployed = extension.value < 1 << 24 and not extension.value & 0xFE
        if (narrow or wide) and deployed:
            yield KEPT
        elif narrow or wide or deployed:
            yield follows(event.entry, "R21", "A" if narrow else "B" if wide else "D")
        else:
            yield broken(event.entry, "QueryableInfo has bits set that belong to no field", "extensions", event.nth)
