"""Monitors of "Common Reason Codes" and of the reason codes of each command."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, SessionEnd, broken, follows
from conformance.pathfinder.monitors.hello import offered
from conformance.pathfinder.monitors.registry import ended, failed, monitor
from conformance.pathfinder.monitors.served import ServedRequest
from conformance.pathfinder.monitors.state import SessionState
from conformance.wording import worded
from harness.pathfinder.tester.events import Event
from wire.pathfinder.values import COMMANDS, VERSION

COMMON = ("no-hello", "insufficient-resources", "permission-denied")
HELLO = ("client-id-exists", "permission-denied", "unsupported-protocol-version", "insufficient-resources")
BAD_FILTER = "invalid-filter-syntax"


def refusal(request: ServedRequest) -> tuple[Event, str | None] | None:
    """Return the fail that ended a request, with its reason if it has one; what is no text is another rule's."""
    ending = request.ending
    if ending is None or ending.type != "fail":
        return None
    reason = ending.fields.get("fail-reason")
    return (ending, reason) if reason is None or isinstance(reason, str) else None


def among(request: ServedRequest, reasons: tuple[str, ...]) -> Observation | None:
    """Judge the reason for which a request failed: if it is given, it is among some."""
    refused = refusal(request)
    if refused is None:
        return None
    fail, reason = refused
    if reason is None or reason in reasons:
        return KEPT
    return broken(fail.entry, f"{fail.command} has no reason {worded(reason)}")


@monitor("PF-106", on=failed(*(set(COMMANDS) - {"hello"})))
def no_hello_is_said_before_hello(request: ServedRequest, state: SessionState) -> Observation | None:
    """A command that no hello came before fails for that reason, if any; behind a completed hello none does."""
    refused = refusal(request)
    if refused is None:
        return None
    fail, reason = refused
    if request.greeted == "completed":
        if reason == "no-hello":
            return broken(fail.entry, f"{fail.command} fails with no-hello behind a completed hello")
    elif request.greeted == "never" and reason in (None, "no-hello"):
        return follows(fail.entry, "R34", "A")
    elif request.greeted == "never" and reason not in COMMON:  # the others can be true at any time
        return broken(fail.entry, f"{fail.command} before hello fails with {worded(reason)}")
    return None


@monitor("PF-119", on=failed("hello"))
def reasons_of_hello(hello: ServedRequest, state: SessionState) -> Observation | None:
    """A hello fails for one of four reasons, and for the version only where version 2 was not offered."""
    refused = refusal(hello)
    if refused is None:
        return None
    fail, reason = refused
    if reason is not None and reason not in HELLO:
        return broken(fail.entry, f"hello has no reason {worded(reason)}")
    versions = offered(hello.request)
    first = reason == "unsupported-protocol-version" and hello.greeted == "never"
    if first and versions is not None and versions.have(VERSION):
        return broken(fail.entry, f"version {VERSION} was offered, and is called unsupported")
    return KEPT


@monitor("PF-134", on=failed("subscribe"))
def reasons_of_subscribe(request: ServedRequest, state: SessionState) -> Observation | None:
    """A subscribe fails for its identifier, its filter, or a common reason."""
    return among(request, ("subscription-id-exists", BAD_FILTER, *COMMON))


@monitor("PF-134", on=ended("server"))
def filters_are_refused_where_they_are(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """No subscribe fails for a filter that it does not have."""
    for request in state.served("subscribe"):
        refused = refusal(request)
        if refused is not None and refused[1] == BAD_FILTER and "filter" not in request.request.fields:
            yield broken(refused[0].entry, "a filter is refused that was not given")


@monitor("PF-140", on=failed("unsubscribe"))
def reasons_of_unsubscribe(request: ServedRequest, state: SessionState) -> Observation | None:
    """An unsubscribe fails for its identifier, or a common reason."""
    return among(request, ("non-existent-subscription-id", *COMMON))


@monitor("PF-147", on=failed("subscriptions", "clients", "ping"))
def reasons_of_commands_without_their_own(request: ServedRequest, state: SessionState) -> Observation | None:
    """What has no reasons of its own fails for a common one."""
    return among(request, COMMON)


@monitor("PF-156", on=failed("services"))
def reasons_of_services(request: ServedRequest, state: SessionState) -> Observation | None:
    """A services request fails for a common reason, or for its filter as a subscribe does."""
    refused = refusal(request)
    if refused is None:
        return None
    fail, reason = refused
    if reason is None or reason in COMMON:
        return KEPT
    if reason == BAD_FILTER and "filter" in request.request.fields:
        return follows(fail.entry, "R07", "A")
    return broken(fail.entry, f"services has no reason {worded(reason)}")


@monitor("PF-164", on=failed("publish"))
def reasons_of_publish(request: ServedRequest, state: SessionState) -> Observation | None:
    """A publish fails for its generation, or a common reason."""
    return among(request, ("old-generation", "same-generation-but-different", *COMMON))


@monitor("PF-171", on=failed("unpublish"))
def reasons_of_unpublish(request: ServedRequest, state: SessionState) -> Observation | None:
    """An unpublish fails for its identifier, or a common reason."""
    return among(request, ("non-existent-service-id", *COMMON))
