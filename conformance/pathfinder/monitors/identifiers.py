"""Monitors of "Unique Identifiers", "Generation", "Domains" and "Unsubscribe Command": what numbers stand for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.monitors import Finding, broken, kept
from conformance.pathfinder.monitors.fields import is_filter
from conformance.pathfinder.monitors.registry import monitor, whether
from conformance.pathfinder.monitors.stories import Exchange, exchanges, own_id, requests
from harness.pathfinder.conversation import Conversation


def listings(conversation: Conversation, command: str) -> list[Exchange]:
    """Return the listings of one kind that an implementation gave."""
    return [exchange for exchange in exchanges(conversation) if exchange.command == command]


def listed_once(conversation: Conversation, command: str, name: str) -> Iterator[Finding]:
    """Judge the identifiers in each listing of one kind: none comes twice in one."""
    for listing in listings(conversation, command):
        seen: set[int] = set()
        for event in listing.said:
            number = event.fields.get(name)
            if event.type == "notify" and isinstance(number, int):
                yield whether(number not in seen, event.entry, f"the {name} {number} is listed twice")
                seen.add(number)


@monitor("PF-007")
def subscriptions_have_numbers_of_their_own(conversation: Conversation) -> Iterator[Finding]:
    """No listing has two subscriptions under one identifier."""
    yield from listed_once(conversation, "subscriptions", "subscription-id")


@monitor("PF-034")
def services_have_one_record(conversation: Conversation) -> Iterator[Finding]:
    """No listing has two records of one service."""
    yield from listed_once(conversation, "services", "service-id")


@monitor("PF-063")
def clients_are_connected_once(conversation: Conversation) -> Iterator[Finding]:
    """No listing has one client twice."""
    yield from listed_once(conversation, "clients", "client-id")


@monitor("PF-173")
def clients_see_themselves(conversation: Conversation) -> Iterator[Finding]:
    """The list of clients has the client that asks for it."""
    own = own_id(conversation)
    for listing in listings(conversation, "clients"):
        if own is not None and listing.greeted == "completed" and listing.completed and listing.ending is not None:
            listed = [event.fields.get("client-id") for event in listing.said]
            yield whether(own in listed, listing.ending.entry, "the client that asked is not among the clients")


@monitor("PF-148")
def filters_are_listed(conversation: Conversation) -> Iterator[Finding]:
    """A subscription of this connection that was made with a filter is listed with it, or with another such text."""
    own, all_of_them = own_id(conversation), exchanges(conversation)
    for position, listing in enumerate(all_of_them):
        if listing.command == "subscriptions":
            given = filters_of(all_of_them[:position])
            for event in listing.said:
                number, filter = event.fields.get("subscription-id"), event.fields.get("filter")
                asked = given.get(number) if isinstance(number, int) else None
                if event.type == "notify" and asked is not None and event.fields.get("client-id") == own:
                    if filter == asked or (isinstance(filter, str) and is_filter(filter)):
                        yield kept(event.entry)
                    elif filter is None or isinstance(filter, str):
                        yield broken(event.entry, f"a subscription to {asked} is listed with {filter or 'no filter'}")


def filters_of(before: Iterable[Exchange]) -> dict[int, Any]:
    """Return the filters of the subscriptions that were made and not ended, by their identifiers."""
    found: dict[int, Any] = {}
    for exchange in before:
        number = exchange.request.fields.get("subscription-id")
        if not isinstance(number, int):
            continue
        if exchange.command == "subscribe" and any(event.type == "accept" for event in exchange.said):
            found[number] = exchange.request.fields.get("filter")
        elif exchange.command == "unsubscribe":
            found.pop(number, None)
    return found


def meant(props: Any) -> Any:
    """Return properties without what may mean nothing: order, repetition, names without a value."""
    if not isinstance(props, Mapping):
        return props
    return {name: {(type(each), each) for each in values} for name, values in props.items() if values}


@monitor("PF-019")
def changes_raise_the_generation(conversation: Conversation) -> Iterator[Finding]:
    """A client that publishes a service anew with other properties or another TTL raises its generation."""
    latest: dict[Any, Mapping[str, Any]] = {}
    for each in requests(conversation, "publish", "unpublish"):
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
                yield kept(each.request.entry)


@monitor("PF-135")
def what_is_ended_was_begun(conversation: Conversation) -> Iterator[Finding]:
    """A client ends those subscriptions on a connection that it made there."""
    made: set[int] = set()
    for each in requests(conversation, "subscribe", "unsubscribe"):
        number = each.request.fields.get("subscription-id")
        if not isinstance(number, int):
            continue
        if each.command == "subscribe":
            made.add(number)
        else:
            yield whether(
                number in made, each.request.entry, f"the subscription {number} was not made on this connection"
            )
