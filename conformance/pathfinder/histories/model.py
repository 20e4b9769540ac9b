"""The model: the reference server, which says nothing, and notes each state that a service was in.

What subscriptions are told may come late, and several changes may be told as one. So it is not compared message by
message: whoever is told something is told a state that the service was in, none older than one told before, and in the
end the state that it is in.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from conformance.pathfinder.waiting import CLOCKS
from harness.pathfinder.peers.answering import RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from wire.pathfinder.values import VERSION, Message


class ServiceState(NamedTuple):
    """What anybody is told of a service that is there."""

    generation: Any
    contents: frozenset[tuple[str, bool, Any]]
    ttl: Any
    owner: Any
    is_orphan: bool

    def but_generation(self) -> tuple[Any, ...]:
        """Return it without the generation, whose change alone need not be told."""
        return self[1:]


def contents_of(props: Any) -> frozenset[tuple[str, bool, Any]]:
    """Return properties as what they mean: neither order nor repetition counts; 5 and the text 5 are two values."""
    named = props.items() if isinstance(props, Mapping) else ()
    return frozenset(
        (name, isinstance(value, str), value if isinstance(value, str | int | float) else repr(value))
        for name, values in named
        for value in (values if isinstance(values, list | tuple) else [values])
    )


def state_of(service: ServiceRecord) -> ServiceState:
    """Return the state of a record of the model."""
    return ServiceState(
        service.generation, contents_of(service.props), service.ttl, service.owner, service.orphan_since is not None
    )


def state_in(fields: Message) -> ServiceState:
    """Return the state that a notification tells of."""
    return ServiceState(
        fields.get("generation"),
        contents_of(fields.get("service-props")),
        fields.get("ttl"),
        fields.get("client-id"),
        "orphan-since" in fields,
    )


def is_recent(since: Any) -> bool:
    """Tell whether something is a time, in seconds since the epoch, not long ago on a clock that may differ."""
    return isinstance(since, int | float) and abs(since - time.time()) <= CLOCKS


class ServiceChange(NamedTuple):
    """What became of a service; ``None`` where it is not there. ``between`` may be told on the way (R14, R23)."""

    now: ServiceRecord | None
    between: tuple[ServiceRecord, ...] = ()


class DirectoryModel(Server):
    """The server, without clock: who leaves leaves orphans that stay until ``expire_now`` is called."""

    def __init__(self, *, profile: str = "document", reclaims_at_hello: bool = True) -> None:
        super().__init__(profile=profile, wall=lambda: 0.0)
        self.reclaims_at_hello = reclaims_at_hello
        self.said: list[Message] = []
        self.log: dict[int, list[ServiceChange]] = {}
        """Of each service all that became of it, in order."""
        self.links: dict[int, Session] = {}
        """The sessions of the clients that are there, by their identifiers."""

    # --- what clients do ----------------------------------------------------------------------------------

    def joins(self, client_id: int) -> None:
        """Take note that a client has connected and said hello."""
        link = max(self.sessions, default=0) + 1
        self.connected(link, 0.0)
        self.links[client_id] = self.sessions[link]
        versions = {"protocol-minimum-version": VERSION, "protocol-maximum-version": VERSION}
        self.asks(client_id, {"ta-cmd": "hello", "ta-id": 0, "client-id": client_id, **versions})

    def leaves(self, client_id: int) -> None:
        """Take note that a client's connection has ended."""
        self.disconnected(self.links.pop(client_id).link, 0.0)

    def asks(self, client_id: int, request: Message) -> list[Message]:
        """Carry out a request, and return what the client is told of it."""
        self.said, session = [], self.links[client_id]
        try:
            self.execute(session, request)
        except RequestRefused as refused:
            self.fail(session, request, refused.reason)
        return [message for message in self.said if message["ta-id"] == request["ta-id"]]

    def expire_now(self, service: ServiceRecord) -> None:
        """Let the time of an orphan be over."""
        self.expire(service)

    # --- what differs from a server that runs -------------------------------------------------------------

    def send(self, session: Session, message: Message) -> None:
        """Keep what is said."""
        self.said.append(message)

    def begin(self, subscription: Subscription) -> None:
        """Say nothing: what a subscription is to know is compared with what there is."""

    def expires(self, service: ServiceRecord) -> float:
        """Return a time that never comes."""
        return float("inf")

    def reclaims(self, service: ServiceRecord) -> bool:
        """Tell whether the mere hello of its owner ends a service's being an orphan (R24)."""
        return self.reclaims_at_hello

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        """Note what became of a service."""
        between: tuple[ServiceRecord, ...] = ()
        if old is not None and new is not None and old.owner != new.owner:
            # A change of owner may be told by itself, and so may be that the service is no orphan any more.
            owned = replace(old, owner=new.owner)
            found = replace(old, orphan_since=None)
            between = (owned, found, replace(owned, orphan_since=None))
        service = new or old
        assert service is not None
        self.log.setdefault(service.id, []).append(ServiceChange(new, between))

    # --- what is asked of it ------------------------------------------------------------------------------

    def state(self, service_id: int) -> ServiceState | None:
        """Return the state that a service is in, if it is there."""
        service = self.directory.get(service_id)
        return None if service is None else state_of(service)

    def listed(self, filter: str | None) -> list[Message]:
        """Return how the services that match are listed."""
        selection = self.selection({} if filter is None else {"filter": filter})
        return [self.describe(service) for service in self.snapshot(selection)]

    def republished(self, service: ServiceRecord) -> dict[str, Any]:
        """Return the fields of the publish that publishes a service as it is."""
        fields = dict(self.describe(service))
        return {name: fields[name] for name in ("service-id", "generation", "service-props", "ttl")}
