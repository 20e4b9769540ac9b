"""Records: a client's own services, and its merged picture of what its subscriptions on several servers tell it."""

import msgspec

from harness.pathfinder.peers.scenarios import Props
from wire.pathfinder.values import Message

MatchSource = tuple[int, int]
"""Where a service was seen: the server's number and the subscription's identifier."""


class PublishedService(msgspec.Struct, frozen=True):
    """A service of the client's own; ``ttl`` in seconds."""

    service_id: int
    generation: int
    props: Props
    ttl: int


class MatchedService(msgspec.Struct, frozen=True):
    """A service as a match tells of it. When it lost its owner is left out: each server has its own time for that."""

    generation: int
    props: tuple[tuple[str, tuple[str, ...]], ...]
    ttl: int
    owner: int
    orphan: bool


def seen(match: Message) -> MatchedService:
    """Return the state in an ``appeared`` or ``modified``; the order of values does not count, nor do empty names."""
    props = match["service-props"].items()
    return MatchedService(
        generation=match["generation"],
        props=tuple(sorted((name, tuple(sorted(map(repr, values)))) for name, values in props if values)),
        ttl=match["ttl"],
        owner=match["client-id"],
        orphan="orphan-since" in match,
    )


class KnownService:
    """A matched service as last notified to the application, with the sources that it was seen from."""

    def __init__(self, seen: MatchedService, source: MatchSource) -> None:
        self.seen = seen
        self.sources = {source}


class DomainView:
    """The services of the domain, merged; it keeps the books, ``Watcher`` decides.

    A place whose subscription has ended by itself has to be confirmed: it counts until the time for that is over.
    """

    def __init__(self) -> None:
        self.services: dict[int, KnownService] = {}
        self._unconfirmed: dict[tuple[int, MatchSource], float] = {}

    def at(self, *, server: int, subscription: int | None = None) -> list[tuple[int, MatchSource]]:
        """Return services and places of a server, or of one subscription there."""
        return [
            (service, source)
            for service, known in self.services.items()
            for source in known.sources
            if source[0] == server and subscription in (None, source[1])
        ]

    def add(self, service: int, source: MatchSource) -> None:
        """Note that a known service is in a place, for certain."""
        self.services[service].sources.add(source)
        self._unconfirmed.pop((service, source), None)

    def expect_confirmation(self, service: int, source: MatchSource, until: float) -> None:
        """Note that a service must be confirmed in a place by then; an earlier time stays as it is."""
        self._unconfirmed.setdefault((service, source), until)

    def take_due(self, now: float) -> list[tuple[int, MatchSource]]:
        """Return services and places that were not confirmed in time, and wait for them no longer."""
        due = [each for each, until in self._unconfirmed.items() if until <= now]
        for each in due:
            del self._unconfirmed[each]
        return due

    def next_unconfirmed(self) -> float | None:
        """Return when the next place is given up."""
        return min(self._unconfirmed.values(), default=None)

    def remove(self, service: int, source: MatchSource) -> bool:
        """Take a service out of a place; ``False`` when it was not there."""
        self._unconfirmed.pop((service, source), None)
        known = self.services.get(service)
        if known is None or source not in known.sources:
            return False
        known.sources.remove(source)
        return True

    def forget(self, service: int) -> None:
        """Forget a service, its generation with it."""
        for source in self.services.pop(service).sources:
            self._unconfirmed.pop((service, source), None)


class Watcher:
    """What a client makes of the matches of all its subscriptions. Section "Multiple Server Domains".

    ``events`` has what the application is told.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self.view = DomainView()

    # --- what comes in ------------------------------------------------------------------------------------

    def on_match(self, source: MatchSource, match: Message) -> None:
        """Act on a notification of a subscription."""
        if match["match-type"] == "disappeared":
            self.vanish(match["service-id"], source)
        else:
            self.see(match["service-id"], source, seen(match), match["match-type"])

    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        """Merge one subscription's notification of a service into the view."""
        known = self.view.services.get(service)
        if known is None:
            self.view.services[service] = KnownService(latest, source)
            self.on_appeared(service, latest)
        elif not self.is_outdated(known, latest):
            self.view.add(service, source)
            if self.is_news(known, latest, match_type):
                known.seen = latest
                self.on_modified(service, latest)

    def vanish(self, service: int, source: MatchSource) -> None:
        """Take a service out of one subscription's picture; tell the application when that was the last."""
        if self.view.remove(service, source) and self.is_gone_everywhere(self.view.services[service]):
            # Reading: the generation goes with the record. One that is published after this is created anew, and
            # SHOULD begin at 0; a client that remembered would never see it.
            self.view.forget(service)
            self.on_disappeared(service)

    def mark_unconfirmed(self, now: float, *, server: int, subscription: int | None = None) -> None:
        """Doubt all that was seen on a server, or in one subscription there, which has ended by itself."""
        for service, source in self.view.at(server=server, subscription=subscription):
            self.view.expect_confirmation(service, source, now + self.keeps_unconfirmed(self.view.services[service]))

    def give_up_unconfirmed(self, now: float) -> None:
        """Take services out of the places where they were not confirmed in time."""
        for service, source in self.view.take_due(now):
            self.vanish(service, source)

    def drop_subscription(self, *, server: int, subscription: int) -> None:
        """Forget the matches of a subscription that the application has ended, without notifications."""
        for service, source in self.view.at(server=server, subscription=subscription):
            self.view.remove(service, source)
            if not self.view.services[service].sources:
                self.view.forget(service)

    # --- decisions ----------------------------------------------------------------------------------------

    def is_outdated(self, known: KnownService, latest: MatchedService) -> bool:
        """Tell whether a match must be ignored: an older generation than was seen already, from whatever server.

        Reading: an ignored match makes no appearance either, so nobody waits for that subscription's disappearance.
        """
        return latest.generation < known.seen.generation

    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        """Tell whether the application must learn of a match: once per change, not once per server.

        Reading: an appearance in a higher generation is a modification too, for the application has older properties
        and the server that would say ``modified`` may be out of reach.
        """
        return latest.generation > known.seen.generation or (match_type == "modified" and latest != known.seen)

    def is_gone_everywhere(self, known: KnownService) -> bool:
        """Tell whether a service has disappeared from all subscriptions in which it had appeared."""
        return not known.sources

    def keeps_unconfirmed(self, known: KnownService) -> float:
        """Return how many seconds a service stays in the picture of a subscription that was lost.

        Reading: losing the connection is no match of type removed, so nothing disappears by it. But a subscription is a
        transaction, and ends with its connection: nobody will ever say that a service went meanwhile. So the client
        does what a server does that loses an owner: it keeps the service for its TTL. By then the server, back with
        or without its memory, has told of it again through the new subscription, or it is gone there.
        """
        return known.seen.ttl

    # --- what the application is told ---------------------------------------------------------------------

    def on_appeared(self, service: int, latest: MatchedService) -> None:
        """Tell the application of a new service."""
        self.events.append(f"appeared {service} {latest.generation}")

    def on_modified(self, service: int, latest: MatchedService) -> None:
        """Tell the application that a service has changed."""
        self.events.append(f"modified {service} {latest.generation}")

    def on_disappeared(self, service: int) -> None:
        """Tell the application that a service is gone."""
        self.events.append(f"disappeared {service}")
