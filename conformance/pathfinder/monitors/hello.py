"""Monitors of "Hello Command": the versions, and who a client is."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.monitors import Finding, broken, kept
from conformance.pathfinder.monitors.forms import flaws, is_whole, judged
from conformance.pathfinder.monitors.registry import monitor, whether
from conformance.pathfinder.monitors.stories import exchanges, requests
from harness.pathfinder.conversation import Conversation, Event
from wire.pathfinder.frames import VERSION

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
    least, most = (event.fields.get(name) for name in WHO[1:])
    return Versions(least, most) if isinstance(least, int) and isinstance(most, int) else None


def agreements(conversation: Conversation) -> Iterator[tuple[Versions, Event, Any]]:
    """Return each hello that was completed: the versions offered, the complete, and the version that it names."""
    for exchange in exchanges(conversation):
        ending, versions = exchange.ending, offered(exchange.request)
        if exchange.command == "hello" and exchange.completed and ending is not None and versions is not None:
            yield versions, ending, ending.fields.get("protocol-version")


@monitor("PF-113")
def version_2_is_offered(conversation: Conversation) -> Iterator[Finding]:
    """A client offers version 2, unless a server has just said that it knows none of the versions offered."""
    unsupported = False
    for hello in requests(conversation, "hello"):
        versions = offered(hello.request)
        if versions is not None and not unsupported:
            yield whether(versions.have(VERSION), hello.request.entry, f"the versions {versions} are offered")
        unsupported = unsupported or hello.reason == "unsupported-protocol-version"


@monitor("PF-115")
def versions_are_agreed_on(conversation: Conversation) -> Iterator[Finding]:
    """A completed hello names a version of the range that was offered, or else the one that was agreed on before."""
    agreed: list[Any] = []
    for versions, complete, version in agreements(conversation):
        wrong = [flaw for flaw in flaws(complete) if flaw.field == "protocol-version" and flaw.fault != "beyond"]
        if not wrong and not versions.have(version) and version not in agreed:
            yield broken(complete.entry, f"version {version}, of {versions}")
        else:
            yield judged(complete, wrong)
            agreed.append(version)


@monitor("PF-116")
def version_2_is_agreed_on(conversation: Conversation) -> Iterator[Finding]:
    """Where nothing above version 2 was offered, 2 is the version; with others this document may not apply."""
    for versions, complete, version in agreements(conversation):
        if version == VERSION:
            yield kept(complete.entry)
        elif versions.have(version) and versions.most <= VERSION:
            yield broken(complete.entry, f"version {version} is agreed on")


class Standing(NamedTuple):
    """What had become of a client's hellos when it made a request: how many there were, and how many had ended how."""

    asked: int
    completed: int
    failed: int


def standings(conversation: Conversation) -> Iterator[tuple[Event, Standing]]:
    """Return each request of an implementation that is the client, and how it then stood with hello."""
    hellos = {id(each.request): each for each in requests(conversation, "hello")}
    endings = {id(each.ending): each for each in hellos.values() if each.ending is not None}
    asked = completed = failed = 0
    for event in conversation.events if hellos else []:
        if event.direction is conversation.client and event.type == "request":
            yield event, Standing(asked, completed, failed)
            asked += id(event) in hellos
        elif id(event) in endings:
            completed += event.type == "complete"
            failed += event.type == "fail"


@monitor("PF-218")
def hello_is_completed_first(conversation: Conversation) -> Iterator[Finding]:
    """A client that has said hello gives no other command while it is not answered."""
    for event, (asked, completed, failed) in standings(conversation):
        if event.command != "hello" and completed:
            yield kept(event.entry)
        elif event.command != "hello" and asked > failed:
            yield broken(event.entry, f"{event.command} comes before hello was completed")


@monitor("PF-223")
def refused_clients_only_try_again(conversation: Conversation) -> Iterator[Finding]:
    """Behind a hello that was refused a client says hello again, and nothing else before one is completed."""
    for event, (asked, completed, failed) in standings(conversation):
        if asked and asked == failed and not completed:
            yield whether(event.command == "hello", event.entry, f"{event.command} comes though hello was refused")


@monitor("PF-219")
def clients_stay_who_they_are(conversation: Conversation) -> Iterator[Finding]:
    """A hello behind a completed one has its client-id and its versions."""
    first = next((each.request for each in requests(conversation, "hello") if each.completed), None)
    for event, (_, completed, _) in standings(conversation):
        if first is not None and event.command == "hello" and completed and not flaws(event):
            other = [name for name in WHO if event.fields[name] != first.fields.get(name)]
            yield whether(not other, event.entry, f"another {' and '.join(other)}")
