"""Monitors of "Subscriptions" and "Subscribe Command": the order in which a subscription hears of each service."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, SessionEnd, broken
from conformance.pathfinder.monitors.forms import match_is_known, match_type
from conformance.pathfinder.monitors.registry import ended, monitor, served, whether
from conformance.pathfinder.monitors.served import ENDS, Presence, ServedRequest, ServiceUpdate
from conformance.pathfinder.monitors.state import SessionState


def updates(subscription: ServedRequest) -> list[ServiceUpdate]:
    """Return what a subscription was told, up to its end or to what nobody can tell the service or the meaning of."""
    if subscription.updates is None:  # several monitors ask for the same
        subscription.updates = list(_updates(subscription))
    return subscription.updates


def _updates(subscription: ServedRequest) -> Iterator[ServiceUpdate]:
    presences: dict[int, Presence] = {}
    generations: dict[int, int | None] = {}
    for event in subscription.said:
        number = event.fields.get("service-id")
        if event.type in ENDS:
            return
        if event.type != "notify":
            continue
        if not isinstance(number, int) or not (event.error is None or match_is_known(event)):
            return
        what, generation = match_type(event), event.fields.get("generation")
        yield ServiceUpdate(event, what, number, presences.get(number, "unknown"), generations.get(number))
        presences[number] = "gone" if what == "disappeared" else "there"
        generations[number] = generation if isinstance(generation, int) and what != "disappeared" else None


@monitor("PF-011", on=served("subscribe"))
def services_keep_their_numbers(subscription: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """What is modified or disappears has the identifier of a service that appeared in the same subscription."""
    for event, what, number, before, _ in updates(subscription):
        if what != "appeared":
            yield whether(before != "unknown", event.entry, f"{what} {number}, which never appeared")


@monitor("PF-209", on=served("subscribe"))
def services_come_and_go_in_order(subscription: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """A service appears, is modified while it is there, disappears once, and only then appears again."""
    for event, what, number, before, _ in updates(subscription):
        if what == "appeared" and before == "there":
            yield broken(event.entry, f"{number} appears, and is there already")
        elif what != "appeared" and before == "gone":
            yield broken(event.entry, f"{what} {number}, which has disappeared")
        elif what == "appeared" or before == "there":
            yield KEPT


@monitor("PF-051", on=served("subscribe"))
def nothing_older_comes_later(subscription: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """While a service is there, its generation does not fall."""
    for event, what, number, _, last in updates(subscription):
        now = event.fields.get("generation")
        if what == "modified" and last is not None and isinstance(now, int):
            yield whether(now >= last, event.entry, f"{number} falls from generation {last} to {now}")


@monitor("PF-131", on=ended("server"))
def those_who_are_here_leave_no_orphans(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """A service that was published on this connection, and is its client's still, is listed as no orphan.

    Notifications of subscriptions may be late, so they are not looked at.
    """
    own = state.own_id
    if own is None or not state.served("services") or not state.served("publish"):
        return
    published: dict[int, list[ServedRequest]] = {}
    for request in state.requests:
        number = request.request.fields.get("service-id")
        if request.command == "publish" and isinstance(number, int):
            published.setdefault(number, []).append(request)
        for event in request.said if request.command == "services" else ():
            listed = event.fields.get("service-id")
            known = published.get(listed, []) if isinstance(listed, int) else []
            here = any(each.completed and each.ended_before(request) for each in known)
            if event.type == "notify" and event.fields.get("client-id") == own and here:
                orphan = "orphan-since" in event.fields
                yield whether(not orphan, event.entry, "an orphan, whose owner is this connection's")


@monitor("PF-137", on=served("subscribe"))
def subscriptions_end_when_asked_to(subscription: ServedRequest, state: SessionState) -> Observation | None:
    """A subscription is completed once its client has unsubscribed it."""
    ending = subscription.ending
    if ending is None or ending.type != "complete":
        return None
    number = subscription.request.fields.get("subscription-id")
    asked = any(
        each.request.fields.get("subscription-id") == number and subscription.entry < each.entry < ending.entry
        for each in state.served("unsubscribe")
    )
    return whether(asked, ending.entry, "a subscription ends that nobody unsubscribed")
