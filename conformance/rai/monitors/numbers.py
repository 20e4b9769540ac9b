"""Monitors of sequence numbers."""

from conformance.monitors import Observation
from conformance.rai.monitors.registry import monitor, said, whether
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import Event
from wire.rai.values import Auth, Bye, Dict, Heartbeat, Hello, Publish, Reply, SnapRequest, Subs, SubStart, SubStop


@monitor("RAI-074", on=said(Hello, Heartbeat, Bye, Auth, SubStart, SubStop, SnapRequest, Subs, Reply, Publish, Dict))
def numbers_grow(event: Event, state: SessionState) -> Observation | None:
    """On each subject the numbers that a session gives to its messages grow."""
    message = event.message
    last = state.seqnos.get((message.session, message.subject))
    if last is None:
        return None
    return whether(message.seqno > last, event.entry, f"seqno {message.seqno} comes after {last}", "seqno")
