"""Monitors of "Unique Identifiers", "Generation", "Domains" and "Unsubscribe Command": what numbers stand for."""

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.pathfinder.monitors.fields import is_filter
from conformance.pathfinder.monitors.registry import ended, monitor, served, whether
from conformance.pathfinder.monitors.served import ServedRequest
from conformance.pathfinder.monitors.state import SessionState


def listed_once(listing: ServedRequest, name: str) -> Iterator[Observation]:
    """Judge the identifiers in a listing: none comes twice."""
    seen: set[int] = set()
    for event in listing.said:
        number = event.fields.get(name)
        if event.type != "notify" or not isinstance(number, int):
            continue
        if number in seen:
            yield broken(event.entry, f"the {name} {number} is listed twice")
        seen.add(number)
    yield len(seen)


@monitor("PF-007", on=served("subscriptions"))
def subscriptions_have_numbers_of_their_own(listing: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """No listing has two subscriptions under one identifier."""
    return listed_once(listing, "subscription-id")


@monitor("PF-034", on=served("services"))
def services_have_one_record(listing: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """No listing has two records of one service."""
    return listed_once(listing, "service-id")


@monitor("PF-063", on=served("clients"))
def clients_are_connected_once(listing: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """No listing has one client twice."""
    return listed_once(listing, "client-id")


@monitor("PF-173", on=served("clients"))
def clients_see_themselves(listing: ServedRequest, state: SessionState) -> Observation | None:
    """The list of clients has the client that asks for it."""
    own = state.own_id
    if own is None or listing.greeted != "completed" or not listing.completed or listing.ending is None:
        return None
    listed = [event.fields.get("client-id") for event in listing.said]
    return whether(own in listed, listing.ending.entry, "the client that asked is not among the clients")


@monitor("PF-148", on=ended("server"))
def filters_are_listed(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A subscription of this connection that was made with a filter is listed with it, or with another such text."""
    if not state.served("subscriptions"):
        return
    own = state.own_id
    given: dict[int, Any] = {}  # the filters of the subscriptions that were made and not ended
    for request in state.requests:
        command, number = request.command, request.request.fields.get("subscription-id")
        if command == "subscriptions":
            yield from with_filters(request, own, given)
        elif command == "unsubscribe" and isinstance(number, int):
            given.pop(number, None)
        elif command == "subscribe" and isinstance(number, int) and was_accepted(request):
            given[number] = request.request.fields.get("filter")


def was_accepted(request: ServedRequest) -> bool:
    """Tell whether a request was answered by an accept."""
    return any(event.type == "accept" for event in request.said)


def with_filters(listing: ServedRequest, own: int | None, given: Mapping[int, Any]) -> Iterator[Observation]:
    """Judge with which filters a listing has the client's own subscriptions."""
    for event in listing.said:
        number, filter = event.fields.get("subscription-id"), event.fields.get("filter")
        asked = given.get(number) if isinstance(number, int) else None
        if event.type == "notify" and asked is not None and event.fields.get("client-id") == own:
            if filter == asked or (isinstance(filter, str) and is_filter(filter)):
                yield KEPT
            elif filter is None or isinstance(filter, str):
                yield broken(event.entry, f"a subscription to {asked} is listed with {filter or 'no filter'}")


def meant(props: Any) -> Any:
    """Return properties without what may mean nothing: order, repetition, names without a value."""
    if not isinstance(props, Mapping):
        return props
    return {name: {(type(each), each) for each in values} for name, values in props.items() if values}


@monitor("PF-019", on=ended("client"))
def changes_raise_the_generation(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A client that publishes a service anew with other properties or another TTL raises its generation."""
    latest: dict[Any, Mapping[str, Any]] = {}
    for each in state.made("publish", "unpublish"):
        fields = each.request.fields
        if each.request.error is not None:
            continue
        before = latest.pop(fields["service-id"], None)
        if each.command == "publish" and not each.failed:
            latest[fields["service-id"]] = fields
        if each.command == "publish" and before is not None:
            changed = before["ttl"] != fields["ttl"] or meant(before["service-props"]) != meant(fields["service-props"])
            if changed and fields["generation"] <= before["generation"]:
                yield broken(each.request.entry, f"changed, and still of generation {fields['generation']}")
            else:
                yield KEPT


@monitor("PF-135", on=ended("client"))
def what_is_ended_was_begun(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A client ends those subscriptions on a connection that it made there."""
    made: set[int] = set()
    for each in state.made("subscribe", "unsubscribe"):
        number = each.request.fields.get("subscription-id")
        if not isinstance(number, int):
            continue
        if each.command == "subscribe":
            made.add(number)
        else:
            yield whether(
                number in made, each.request.entry, f"the subscription {number} was not made on this connection"
            )
