"""Monitors of what grows: sequence numbers, and times."""

from conformance.monitors import KEPT, Observation
from conformance.rai.monitors.registry import ANY, monitor, said, whether
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import Event
from wire.rai.values import Heartbeat, Hello


@monitor("RAI-074", on=ANY)
def numbers_grow(event: Event, state: SessionState) -> Observation | None:
    """On each subject the numbers that a session gives to its messages grow."""
    message = event.message
    last = state.last.get((message.session, message.subject))
    # Twice the same is what a broker does for a client that listens twice.
    if last is None or last == message:
        return None
    found = f"seqno {message.seqno} comes after {last.seqno} under {_kind(message.subject)}"
    return whether(message.seqno > last.seqno, event.entry, found, "seqno")


@monitor("RAI-186", on=said(Hello, Heartbeat))
def times_grow(event: Event, state: SessionState) -> Observation | None:
    """The time of HELLO and heartbeats grows from one to the next, and is one in microseconds since 1970."""
    body = event.body
    assert isinstance(body, Hello)
    earlier = state.greetings.get(event.message.session)
    if earlier is None or body.time in earlier:
        return KEPT if earlier is None else None
    return whether(body.time > max(earlier), event.entry, f"time {body.time} comes after {max(earlier)}", "time")


def _kind(subject: str) -> str:
    """Return how a subject begins, where what is behind it is made up for each play."""
    return subject.split(".")[0] if subject.startswith("_INBOX.") else subject
