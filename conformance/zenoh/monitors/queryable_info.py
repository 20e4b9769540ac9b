"""Monitors of zenoh-declarations, "QueryableInfo Extension (Z64, ID=0x1, M=false)"."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.zenoh.conversation import Conversation, Event
from wire.zenoh.extensions import QUERYABLE_INFO
from wire.zenoh.messages import DeclareEntity, Extension, Kind


def infos(conversation: Conversation) -> Iterator[tuple[Event, Extension]]:
    """Return the QueryableInfo extensions that the implementation sent, well formed or not."""
    for event in received(conversation):
        if isinstance(event.body, DeclareEntity) and event.body.kind is Kind.QUERYABLE:
            for extension in event.body.extensions:
                if extension.id == QUERYABLE_INFO.id:
                    yield event, extension


@monitor("ZD-068")
def info_is_a_number_that_may_be_skipped(conversation: Conversation) -> Iterator[Finding]:
    """Extension 1 of D_QUERYABLE is a Z64 and not marked mandatory."""
    for event, extension in infos(conversation):
        if extension.is_(QUERYABLE_INFO):
            yield kept(event.entry)
        else:
            yield broken(event.entry, "extension 1 of D_QUERYABLE is not a Z64, or is marked mandatory")


@monitor("ZD-070")
def no_bits_above_the_distance(conversation: Conversation) -> Iterator[Finding]:
    """QueryableInfo has no bits set beside the Complete flag and the distance, in some known layout."""
    for event, extension in infos(conversation):
        if not isinstance(extension.value, int):
            continue
        narrow, wide = extension.value < 1 << 17, extension.value < 1 << 18
        deployed = extension.value < 1 << 24 and not extension.value & 0xFE
        if (narrow or wide) and deployed:
            yield kept(event.entry)
        elif narrow or wide or deployed:
            yield follows(event.entry, "R21", "A" if narrow else "B" if wide else "D")
        else:
            yield broken(event.entry, "QueryableInfo has bits set that belong to no field")
