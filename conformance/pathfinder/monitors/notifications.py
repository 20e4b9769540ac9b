"""Monitors of "Subscriptions" and "Subscribe Command": the order in which a subscription hears of each service."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from conformance.monitors import Finding, broken, kept
from conformance.pathfinder.monitors.forms import match_is_known, match_type
from conformance.pathfinder.monitors.registry import monitor, whether
from conformance.pathfinder.monitors.stories import ENDS, Exchange, exchanges, own_id
from harness.pathfinder.conversation import Conversation, Event

State = Literal["unknown", "there", "gone"]
"""What a subscription has been told of a service: nothing, that it is there, that it is gone."""


class Match(NamedTuple):
    """One notification about a service, and what the subscription had been told of it before."""

    event: Event
    what: str
    service_id: int
    before: State
    generation: int | None
    """The generation that was told last, as long as the service has been there."""


def matches(subscription: Exchange) -> Iterator[Match]:
    """Return what a subscription was told, up to its end or to what nobody can tell the service or the meaning of."""
    states: dict[int, State] = {}
    generations: dict[int, int | None] = {}
    for event in subscription.said:
        number = event.fields.get("service-id")
        if event.type in ENDS:
            return
        if event.type != "notify":
            continue
        if not isinstance(number, int) or not match_is_known(event):
            return
        what, generation = match_type(event), event.fields.get("generation")
        yield Match(event, what, number, states.get(number, "unknown"), generations.get(number))
        states[number] = "gone" if what == "disappeared" else "there"
        generations[number] = generation if isinstance(generation, int) and what != "disappeared" else None


def subscriptions(conversation: Conversation) -> list[Exchange]:
    """Return the subscriptions that an implementation served."""
    return [exchange for exchange in exchanges(conversation) if exchange.command == "subscribe"]


@monitor("PF-011")
def services_keep_their_numbers(conversation: Conversation) -> Iterator[Finding]:
    """What is modified or disappears has the identifier of a service that appeared in the same subscription."""
    for subscription in subscriptions(conversation):
        for event, what, number, before, _ in matches(subscription):
            if what != "appeared":
                yield whether(before != "unknown", event.entry, f"{what} {number}, which never appeared")


@monitor("PF-209")
def services_come_and_go_in_order(conversation: Conversation) -> Iterator[Finding]:
    """A service appears, is modified while it is there, disappears once, and only then appears again."""
    for subscription in subscriptions(conversation):
        for event, what, number, before, _ in matches(subscription):
            if what == "appeared" and before == "there":
                yield broken(event.entry, f"{number} appears, and is there already")
            elif what != "appeared" and before == "gone":
                yield broken(event.entry, f"{what} {number}, which has disappeared")
            elif what == "appeared" or before == "there":
                yield kept(event.entry)


@monitor("PF-051")
def nothing_older_comes_later(conversation: Conversation) -> Iterator[Finding]:
    """While a service is there, its generation does not fall."""
    for subscription in subscriptions(conversation):
        for event, what, number, _, last in matches(subscription):
            now = event.fields.get("generation")
            if what == "modified" and last is not None and isinstance(now, int):
                yield whether(now >= last, event.entry, f"{number} falls from generation {last} to {now}")


@monitor("PF-131")
def those_who_are_here_leave_no_orphans(conversation: Conversation) -> Iterator[Finding]:
    """A service that was published on this connection, and is its client's still, is listed as no orphan.

    Notifications of subscriptions may be late, so they are not looked at.
    """
    own = own_id(conversation)
    published: dict[int, list[Exchange]] = {}
    for exchange in exchanges(conversation):
        number = exchange.request.fields.get("service-id")
        if exchange.command == "publish" and isinstance(number, int):
            published.setdefault(number, []).append(exchange)
        for event in exchange.said if exchange.command == "services" else []:
            listed = event.fields.get("service-id")
            known = published.get(listed, []) if isinstance(listed, int) else []
            here = any(each.completed and each.ended is not None and each.ended < exchange.began for each in known)
            if event.type == "notify" and own is not None and event.fields.get("client-id") == own and here:
                orphan = "orphan-since" in event.fields
                yield whether(not orphan, event.entry, "an orphan, whose owner is this connection's")


@monitor("PF-137")
def subscriptions_end_when_asked_to(conversation: Conversation) -> Iterator[Finding]:
    """A subscription is completed once its client has unsubscribed it."""
    unsubscribes = [exchange for exchange in exchanges(conversation) if exchange.command == "unsubscribe"]
    for subscription in subscriptions(conversation):
        ending, ended = subscription.ending, subscription.ended
        number = subscription.request.fields.get("subscription-id")
        if ending is not None and ended is not None and ending.type == "complete":
            asked = any(
                each.request.fields.get("subscription-id") == number and subscription.began < each.began < ended
                for each in unsubscribes
            )
            yield whether(asked, ending.entry, "a subscription ends that nobody unsubscribed")
