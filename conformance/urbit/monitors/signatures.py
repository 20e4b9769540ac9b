"""Monitors of signatures, where the keys of ships follow from their numbers."""

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.urbit.monitors.registry import monitor, said
from conformance.urbit.monitors.state import SessionState
from harness.urbit.ships import public_key_of
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.events import Event
from wire.urbit.signatures import cancellation_input, request_input, verifies
from wire.urbit.values import Cancellation, Promise, ScryRequest


@monitor("URB-036", on=said(Promise))
def promises_are_signed(event: Event, state: SessionState) -> Observation | None:
    """A promise is signed by its sender, over %bond, session, path and fragment."""
    if not state.is_keyed:
        return None
    if is_genuine(event.packet):
        return KEPT
    body = event.packet.body
    assert isinstance(body, Promise)
    without = cancellation_input(body.path, body.fragment)
    if verifies(public_key_of(event.packet.sender), body.signature, without):
        return follows(event.entry, "A28", "B")
    return broken(event.entry, "the signature of a promise does not verify", "signature")


@monitor("URB-111", on=said(Cancellation))
def cancellations_are_signed(event: Event, state: SessionState) -> Observation | None:
    """A cancellation is signed by its sender, over %bond, path and fragment."""
    if not state.is_keyed:
        return None
    if is_genuine(event.packet):
        return KEPT
    body = event.packet.body
    assert isinstance(body, Cancellation)
    as_request = request_input(body.path, body.fragment)
    is_request = verifies(public_key_of(event.packet.sender), body.signature, as_request)
    said = "is that of a request" if is_request else "does not verify"
    return broken(event.entry, f"the signature of a cancellation {said}", "signature")


@monitor("URB-151", on=said(ScryRequest))
def requests_are_signed(event: Event, state: SessionState) -> Observation | None:
    """A scry request is signed by its sender, over path and fragment, or its signature is blank."""
    body = event.packet.body
    assert isinstance(body, ScryRequest)
    if not any(body.signature):
        return follows(event.entry, "A10", "B")
    if not state.is_keyed:
        return None
    if is_genuine(event.packet):
        return KEPT
    return broken(event.entry, "the signature of a request does not verify", "signature")
