"""Monitors of zenoh-interests, "INTEREST Wire Format" and "Options Byte": the INTERESTs that a node itself sends."""

import re

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.zenoh.monitors.registry import monitor, received
from conformance.zenoh.monitors.state import SessionState
from harness.zenoh.tester.events import Event, RefusedBatch
from wire.zenoh.values import Interest, InterestFinal, Options


@monitor("ZI-026", on=received(RefusedBatch), kept_by=received(Interest, InterestFinal))
def extensions_where_z_says_so(refusal: RefusedBatch, state: SessionState) -> Observation | None:
    """An INTEREST with Z set has at least one whole extension: any that can be decoded has."""
    if re.search(r"INTEREST.*\.extensions", refusal.error.path):
        return broken(refusal.entry, "an INTEREST with Z set ends before or within its extensions")
    return None


@monitor("ZI-030", on=received(Interest))
def ids_of_interests_that_run(event: Event, state: SessionState) -> Observation:
    """A node gives no id to an interest that another of its interests on the session still has."""
    assert isinstance(event.message, Interest)
    id = event.message.id
    if id in state.running:
        return broken(event.entry, "an INTEREST has the id of one that still runs", "id", event.nth)
    return follows(event.entry, "R33", "A") if id in state.used else KEPT


@monitor("ZI-049", on=received(Interest))
def n_and_m_only_with_r(event: Event, state: SessionState) -> Observation:
    """A node sends no INTEREST with N or M set and R clear."""
    assert isinstance(event.message, Interest)
    options = event.message.options
    if options & (Options.N | Options.M) and not options & Options.R:
        return broken(event.entry, "an INTEREST has N or M set and R clear", "options", event.nth)
    return KEPT
