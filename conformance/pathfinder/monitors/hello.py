"""Monitors of "Hello Command": the versions, and who a client is."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.pathfinder.monitors.forms import Flaw, is_whole, judged
from conformance.pathfinder.monitors.registry import ended, from_client, monitor, served, whether
from conformance.pathfinder.monitors.served import ServedRequest
from conformance.pathfinder.monitors.state import SessionState
from harness.pathfinder.tester.events import Event
from wire.pathfinder.values import VERSION

WHO = ("client-id", "protocol-minimum-version", "protocol-maximum-version")


class Versions(NamedTuple):
    """The versions that a hello offers, both ends included."""

    least: int
    most: int

    def have(self, version: Any) -> bool:
        """Tell whether a version is among them."""
        return is_whole(version) and self.least <= version <= self.most

    def __str__(self) -> str:
        return f"{self.least} to {self.most}"


def offered(event: Event) -> Versions | None:
    """Return the versions that a hello offers; ``None`` if it does not say."""
    least, most = event.fields.get(WHO[1]), event.fields.get(WHO[2])
    return Versions(least, most) if isinstance(least, int) and isinstance(most, int) else None


def agreed(hello: ServedRequest) -> tuple[Versions, Event, Any] | None:
    """Return what a completed hello offered, its complete, and the version that this names; None if not all is said."""
    versions, ending = offered(hello.request), hello.ending
    return None if versions is None or ending is None else (versions, ending, ending.fields.get("protocol-version"))


def wrong_versions(complete: Event, state: SessionState) -> list[Flaw]:
    """Return what keeps the version that a complete names from being one."""
    return [flaw for flaw in state.flaws(complete) if flaw.field == "protocol-version" and flaw.fault != "beyond"]


def agreed_before(hello: ServedRequest, state: SessionState) -> list[Any]:
    """Return the versions on which both sides had agreed when a hello was said."""
    found: list[Any] = []
    for each in state.served("hello"):
        if each is hello:
            break
        agreement = agreed(each) if each.completed else None
        if agreement is not None:
            versions, complete, version = agreement
            if versions.have(version) or version in found or wrong_versions(complete, state):
                found.append(version)
    return found


@monitor("PF-113", on=ended("client"))
def version_2_is_offered(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A client offers version 2, unless a server has just said that it knows none of the versions offered."""
    unsupported = False
    for hello in state.made("hello"):
        versions = offered(hello.request)
        if versions is not None and not unsupported:
            yield whether(versions.have(VERSION), hello.request.entry, f"the versions {versions} are offered")
        unsupported = unsupported or hello.reason == "unsupported-protocol-version"


@monitor("PF-115", on=served("hello", ends=("complete",)))
def versions_are_agreed_on(hello: ServedRequest, state: SessionState) -> Observation | None:
    """A completed hello names a version of the range that was offered, or else the one that was agreed on before."""
    agreement = agreed(hello)
    if agreement is None:
        return None
    versions, complete, version = agreement
    if wrong := wrong_versions(complete, state):
        return judged(complete, wrong)
    if versions.have(version) or version in agreed_before(hello, state):
        return KEPT
    return broken(complete.entry, f"version {version}, of {versions}")


@monitor("PF-116", on=served("hello", ends=("complete",)))
def version_2_is_agreed_on(hello: ServedRequest, state: SessionState) -> Observation | None:
    """Where version 2 is the highest that was offered, 2 is the version; else this document may not apply."""
    agreement = agreed(hello)
    if agreement is None:
        return None
    versions, complete, version = agreement
    if version == VERSION:
        return KEPT
    if versions.have(version) and versions.most == VERSION:
        return broken(complete.entry, f"version {version} is agreed on")
    return None


@monitor("PF-218", on=from_client(types="request"))
def hello_is_completed_first(event: Event, state: SessionState) -> Observation | None:
    """A client that has said hello gives no other command while it is not answered."""
    asked, completed, failed = state.hellos
    if event.command == "hello":
        return None
    if completed:
        return KEPT
    return broken(event.entry, f"{event.command} comes before hello was completed") if asked > failed else None


@monitor("PF-223", on=from_client(types="request"))
def refused_clients_only_try_again(event: Event, state: SessionState) -> Observation | None:
    """Behind a hello that was refused a client says hello again, and nothing else before one is completed."""
    asked, completed, failed = state.hellos
    if not asked or asked != failed or completed:
        return None
    return whether(event.command == "hello", event.entry, f"{event.command} comes though hello was refused")


@monitor("PF-219", on=ended("client"))
def clients_stay_who_they_are(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A hello behind a completed one has its client-id and its versions."""
    first = next((each.request for each in state.made("hello") if each.completed), None)
    for event in state.repeated_hellos:
        if first is not None and not state.flaws(event):
            other = [name for name in WHO if event.fields[name] != first.fields.get(name)]
            yield whether(not other, event.entry, f"another {' and '.join(other)}")
