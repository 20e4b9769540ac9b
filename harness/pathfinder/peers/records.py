"""Records: a client's own services, and its merged picture of what its subscriptions on several servers tell it."""

import msgspec

from harness.pathfinder.peers.scenarios import Props
from wire.pathfinder.values import Message

Place = tuple[int, int]
"""Where a service was seen: the server's number and the subscription's identifier."""


class PublishedService(msgspec.Struct, frozen=True):
    """A service of the client's own; ``ttl`` in seconds."""

    service_id: int
    generation: int
    props: Props
    ttl: int


class Seen(msgspec.Struct, frozen=True):
    """A service as a match tells of it. When it lost its owner is left out: each server has its own time for that."""

    generation: int
    props: tuple[tuple[str, tuple[str, ...]], ...]
    ttl: int
    owner: int
    orphan: bool


def seen(match: Message) -> Seen:
    """Return what an ``appeared`` or ``modified`` says; the order of values does not count, nor do empty names."""
    props = match["service-props"].items()
    return Seen(
        generation=match["generation"],
        props=tuple(sorted((name, tuple(sorted(map(repr, values)))) for name, values in props if values)),
        ttl=match["ttl"],
        owner=match["client-id"],
        orphan="orphan-since" in match,
    )


class KnownService:
    """A service that the application was told of: its latest state, and the places where it has appeared."""

    def __init__(self, seen: Seen, place: Place) -> None:
        self.seen = seen
        self.places = {place}


class Picture:
    """The services of the domain, merged; it keeps the books, ``Watcher`` decides.

    A place whose subscription has ended by itself is in doubt: it counts until the doubt is due.
    """

    def __init__(self) -> None:
        self.services: dict[int, KnownService] = {}
        self._doubts: dict[tuple[int, Place], float] = {}

    def at(self, *, server: int, subscription: int | None = None) -> list[tuple[int, Place]]:
        """Return services and places of a server, or of one subscription there."""
        return [
            (service, place)
            for service, known in self.services.items()
            for place in known.places
            if place[0] == server and subscription in (None, place[1])
        ]

    def add(self, service: int, place: Place) -> None:
        """Note that a known service is in a place, for certain."""
        self.services[service].places.add(place)
        self._doubts.pop((service, place), None)

    def doubt(self, service: int, place: Place, until: float) -> None:
        """Note that a service must be confirmed in a place by then; an earlier doubt stays as it is."""
        self._doubts.setdefault((service, place), until)

    def take_due(self, now: float) -> list[tuple[int, Place]]:
        """Return services and places that were not confirmed in time, and doubt them no longer."""
        due = [each for each, until in self._doubts.items() if until <= now]
        for each in due:
            del self._doubts[each]
        return due

    def next_doubt(self) -> float | None:
        """Return when the next place is given up."""
        return min(self._doubts.values(), default=None)

    def remove(self, service: int, place: Place) -> bool:
        """Take a service out of a place; ``False`` when it was not there."""
        self._doubts.pop((service, place), None)
        known = self.services.get(service)
        if known is None or place not in known.places:
            return False
        known.places.remove(place)
        return True

    def forget(self, service: int) -> None:
        """Forget a service, its generation with it."""
        for place in self.services.pop(service).places:
            self._doubts.pop((service, place), None)


class Watcher:
    """What a client makes of the matches of all its subscriptions. Section "Multiple Server Domains".

    ``events`` has what the application is told.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self.picture = Picture()

    # --- what comes in ------------------------------------------------------------------------------------

    def on_match(self, place: Place, match: Message) -> None:
        """Act on a notification of a subscription."""
        if match["match-type"] == "disappeared":
            self.vanish(match["service-id"], place)
        else:
            self.see(match["service-id"], place, seen(match), match["match-type"])

    def see(self, service: int, place: Place, latest: Seen, match_type: str) -> None:
        """Merge what one subscription says of a service into the picture."""
        known = self.picture.services.get(service)
        if known is None:
            self.picture.services[service] = KnownService(latest, place)
            self.on_appeared(service, latest)
        elif not self.is_outdated(known, latest):
            self.picture.add(service, place)
            if self.is_news(known, latest, match_type):
                known.seen = latest
                self.on_modified(service, latest)

    def vanish(self, service: int, place: Place) -> None:
        """Take a service out of one subscription's picture; tell the application when that was the last."""
        if self.picture.remove(service, place) and self.is_gone_everywhere(self.picture.services[service]):
            # Reading: the generation goes with the record. One that is published after this is created anew, and
            # SHOULD begin at 0; a client that remembered would never see it.
            self.picture.forget(service)
            self.on_disappeared(service)

    def unconfirm(self, now: float, *, server: int, subscription: int | None = None) -> None:
        """Doubt all that was seen on a server, or in one subscription there, which has ended by itself."""
        for service, place in self.picture.at(server=server, subscription=subscription):
            self.picture.doubt(service, place, now + self.keeps_unconfirmed(self.picture.services[service]))

    def give_up_doubtful(self, now: float) -> None:
        """Take services out of the places where they were not confirmed in time."""
        for service, place in self.picture.take_due(now):
            self.vanish(service, place)

    def look_away(self, *, server: int, subscription: int) -> None:
        """Forget what was seen in a subscription that the application has ended; it is told nothing."""
        for service, place in self.picture.at(server=server, subscription=subscription):
            self.picture.remove(service, place)
            if not self.picture.services[service].places:
                self.picture.forget(service)

    # --- decisions ----------------------------------------------------------------------------------------

    def is_outdated(self, known: KnownService, latest: Seen) -> bool:
        """Tell whether a match must be ignored: an older generation than was seen already, from whatever server.

        Reading: an ignored match makes no appearance either, so nobody waits for that subscription's disappearance.
        """
        return latest.generation < known.seen.generation

    def is_news(self, known: KnownService, latest: Seen, match_type: str) -> bool:
        """Tell whether the application must learn of a match: once per change, not once per server.

        Reading: an appearance in a higher generation is a modification too, for the application has older properties
        and the server that would say ``modified`` may be out of reach.
        """
        return latest.generation > known.seen.generation or (match_type == "modified" and latest != known.seen)

    def is_gone_everywhere(self, known: KnownService) -> bool:
        """Tell whether a service has disappeared from all subscriptions in which it had appeared."""
        return not known.places

    def keeps_unconfirmed(self, known: KnownService) -> float:
        """Return how many seconds a service stays in the picture of a subscription that was lost.

        Reading: losing the connection is no match of type removed, so nothing disappears by it. But a subscription is a
        transaction, and ends with its connection: nobody will ever say that a service went meanwhile. So the client
        does what a server does that loses an owner: it keeps the service for its TTL. By then the server, back with
        or without its memory, has told of it again through the new subscription, or it is gone there.
        """
        return known.seen.ttl

    # --- what the application is told ---------------------------------------------------------------------

    def on_appeared(self, service: int, latest: Seen) -> None:
        """Tell the application of a new service."""
        self.events.append(f"appeared {service} {latest.generation}")

    def on_modified(self, service: int, latest: Seen) -> None:
        """Tell the application that a service has changed."""
        self.events.append(f"modified {service} {latest.generation}")

    def on_disappeared(self, service: int) -> None:
        """Tell the application that a service is gone."""
        self.events.append(f"disappeared {service}")
