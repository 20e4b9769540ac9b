"""Drawing: the moves of a history, each chosen by what is there by then.

Few services, few subscriptions and few clients: so they meet.
"""

from collections.abc import Callable
from random import Random

from conformance.histories.drawing import Chooser
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.pathfinder.histories.actions import (
    HelloRequest,
    HistoryRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.legality import MOST_SUBSCRIPTIONS
from conformance.pathfinder.histories.moves import ClientAsks, ClientBlinks, ClientReturns, ClientsRace, HistoryMove
from conformance.pathfinder.histories.samples import CURATED, NONE_AT_ALL
from conformance.pathfinder.histories.unspecified import GUESTS, GuestMove
from conformance.pathfinder.strategies import sampled
from vectors.pathfinder.filter_samples import Properties
from wire.json.strict import LEAST, MOST

ENDS = ("close", "abort", "break_off")
"""How a client's connection ends: at its own wish, by a reset, or by the server, which cannot make sense of it."""

CLIENTS = ("a", "b", "c", "d")
"""Clients beside the witness."""

SERVICES = (1, 2, 3, 4, 7, 8)
"""Services of a history: the last two have identifiers near the ends of the range."""

FIRST = 100
"""The number of the first service, or subscription, of a crowd."""

UNUSED = 60
"""The number of subscriptions that are refused."""

SUBSCRIPTIONS = (1, 2, 3, 4, 5, 7, 8)

TAS = (2**31, 2**32 + 1, 2**53 + 1, 2**53 + 2, MOST - 1, MOST)
"""Transaction identifiers that no driver comes to by counting, the ends of ranges among them."""

STEPS = (1, 1, 1, 0, 0, -1, 2, 2**32, 2**53)
"""By how much a republish has a higher generation."""

TTLS = (60, 60, 60, 61, 59)

VALUES: tuple[Properties, ...] = (
    {},
    {"kind": ["x"]},
    {"kind": ["y", "x"]},
    {"kind": ["x", "y", "z"], "of": ["kind"]},
    {"number": [5]},
    {"number": ["5"]},
    {"number": [5, 5]},
    {"text": ["x", "y", "x"], "number": ["5", "5"]},
    {"number": [5, "5", -5]},
    {"number": [MOST, LEAST, 0]},
    {"number": [2**53 + 1]},
    {"number": [2**53 + 2, 2**53]},
    {"text": ["e\u0301", "\u00e9"]},
    {"text": ["\U0001f511", "\u2028", "\x01\x1f\x7f"]},
    {"text": [" a", "a ", "", "\t"]},
    {"text": ["(a=*)", "\\", '"']},
    {"many": [f"value {number}" for number in range(40)]},
)
"""Properties that no filter looks at: each value is to come back as it was."""

ALIKE: tuple[Properties, ...] = ({"number": [5]}, {"number": ["5"]}, {"number": [5, "5"]}, {"number": [5, 5]})
"""Properties that are the same for who compares texts."""

FEW_SERVICES, FEW_TAS, FEW_CLIENTS = SERVICES[:2], TAS[:2], CLIENTS[:2]
"""What a history is about that is to happen twice."""

WEIGHTS: dict[str, dict[str, int]] = {
    "services": {"publish": 8, "unpublish": 3, "list": 4, "subscribe": 1, "ping": 1},
    "subscriptions": {"publish": 6, "unpublish": 2, "subscribe": 4, "unsubscribe": 3, "list": 1, "subscriptions": 2},
    "filters": {"publish": 7, "unpublish": 1, "subscribe": 4, "unsubscribe": 2, "list": 4, "no filter": 4},
    "owners": {"publish": 8, "unpublish": 3, "subscribe": 2, "list": 2, "clients": 1},
    "lifetime": {"publish": 7, "unpublish": 2, "subscribe": 2, "list": 2, "subscriptions": 1, "clients": 1},
    "transactions": {
        "publish": 6,
        "unpublish": 3,
        "subscribe": 3,
        "unsubscribe": 3,
        "list": 3,
        "subscriptions": 1,
        "clients": 1,
        "ping": 2,
        "hello": 1,
    },
    "repetitions": {"publish": 7, "unpublish": 2, "subscribe": 4, "unsubscribe": 4, "list": 2},
    "unspecified": {"publish": 5, "unpublish": 2, "subscribe": 3, "unsubscribe": 1, "list": 2, "hello": 1},
}
"""How often each request is made, by theme."""

LEAVING = {"lifetime": 18, "owners": 8, "repetitions": 20}
"""How many of a hundred moves end a connection, by theme; else three."""

SHORT_LIVED = {"lifetime": 1, "repetitions": 1}
"""How many TTLs of about a minute there are for each that is short or very long, by theme."""

OWN = {"owners": 1}
"""Of how many requests about a service one is another client's than its owner's, by theme; else of six."""

RACES = {"owners": 70, "transactions": 50}
"""Of how many hundred times that several clients ask at once they ask about one service, by theme; else twenty."""

SWEEPS = {"filters": 45}
"""Beyond which of a hundred a client publishes all that a filter is to tell apart, and asks with it, by theme."""

CROWDS = {"transactions": 78}
"""Beyond which of a hundred a client publishes many services at once, by theme; once is enough."""

CROWD = 110
"""Services of a crowd: more than a server tells that counts to a hundred."""

CROWD_OF_SUBSCRIPTIONS = 60
"""Subscriptions of a crowd, under which a server lists as before."""

MOST_REQUESTS = {"transactions": 8, "owners": 2}
"""How many requests are sent without waiting at most, by theme; else three."""


class DirectoryGenerator:
    """Draws the moves of one history, and keeps account of who is there and what is published."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self.choose, self.number, self.dealt = chooser.choice, chooser.randint, chooser.dealt
        self.theme = theme
        self.is_about_repetitions = theme == "repetitions"
        # As many filters as there may be subscriptions: of one sort each, and some of all sorts at once.
        samples = [sampled(Random(chooser.randint(0, 2**32))) for _ in range(2)]
        samples += self.dealt(CURATED)[: 5 if theme == "filters" else 1]
        self.samples = samples
        self.sample = samples[0]
        """The filter that is asked for most often for a while, with services that it matches or just does not."""
        self.there: list[str] = []
        self.away: list[str] = []
        self.published: dict[int, PublishRequest] = {}
        self.owners: dict[int, str] = {}
        self.subscribed: dict[int, tuple[str, int | None]] = {}
        self.past: dict[int, int] = {}
        """The last generation of each service that was ever published."""
        self.waited = self.is_crowded = False
        self.guests: list[GuestMove] = []
        self.no_filters: list[str] = []
        self.requests: dict[str, Callable[[str], HistoryRequest | None]] = {
            "publish": self.publish,
            "unpublish": self.unpublish,
            "subscribe": self.subscribe,
            "unsubscribe": self.unsubscribe,
            "list": self.list_services,
            "no filter": lambda who: ServicesRequest(self.no_filter(), self.ta(who), is_whole=True),
            "subscriptions": lambda who: PlainRequest("subscriptions", self.ta(who)),
            "clients": lambda who: PlainRequest("clients", self.ta(who)),
            "ping": lambda who: PlainRequest("ping", self.ta(who)),
            "hello": lambda who: HelloRequest(ta=self.ta(who)),
        }
        self.choices = [name for name, weight in WEIGHTS[theme].items() for _ in range(weight)]
        self.busy: set[int] | None = None
        """The subscriptions that clients begin and end at once: the order among those of several is open."""
        self.taken: list[int] = []
        """The transaction identifiers of the requests that are sent together."""

    def opening(self) -> list[HistoryMove]:
        """Draw who is there at the beginning."""
        self.there = list(CLIENTS[: self.number(2, len(CLIENTS))]) if not self.is_about_repetitions else [*FEW_CLIENTS]
        return [SessionOpens(who) for who in self.there]

    def move(self) -> HistoryMove | None:
        """Draw the next move."""
        if self.number(0, 5) == 0:
            self.sample = self.choose(self.samples)
        dice = self.number(0, 99)
        leaving = LEAVING.get(self.theme, 3)
        if dice < leaving and len(self.there) > 1:
            return self.leave()
        if self.away and dice < 2 * leaving + 3:
            return self.come_back()
        if dice > 94 and not self.is_about_repetitions and len(self.there) < len(CLIENTS) - len(self.away):
            who = next(each for each in CLIENTS if each not in self.there and each not in self.away)
            self.there.append(who)
            return SessionOpens(who)
        if dice > 90 and len(self.there) > 1:
            return self.race() if self.number(0, 99) < RACES.get(self.theme, 20) else self.ask_together()
        if dice > CROWDS.get(self.theme, 99) and not self.is_crowded:
            return self.crowd(self.choose(self.there))
        if self.theme == "unspecified" and dice > 45:
            return self.guest()
        if dice > SWEEPS.get(self.theme, 99):
            return self.sweep(self.choose(self.there))
        return self.ask(self.choose(self.there))

    def closing(self) -> list[HistoryMove]:
        """Return nothing: the witness has looked at all lists whenever somebody came or went."""
        return []

    def guest(self) -> HistoryMove:
        """Draw a guest that has not been there yet, as long as there is one."""
        self.guests = self.guests or self.dealt(GUESTS)
        return self.guests.pop(0)

    # --- coming and going ---------------------------------------------------------------------------------

    def leave(self) -> HistoryMove | None:
        """Draw who leaves; whoever has a service with a TTL of a second once, as that is waited for."""
        brief = {owner for service, owner in self.owners.items() if self.published[service].ttl == 1}
        some = [who for who in self.there if (who in brief) is not self.waited] if brief else self.there
        if not some:
            return None
        who = self.choose(some)
        self.waited = self.waited or who in brief
        self.there.remove(who)
        self.away.append(who)
        self.subscribed = {id: each for id, each in self.subscribed.items() if each[0] != who}
        ttls = set()
        for service in [each for each, owner in self.owners.items() if owner == who]:
            ttls.add(self.published[service].ttl)
            if self.published[service].ttl < 2:
                del self.published[service], self.owners[service]
        verb = self.choose(ENDS)
        # What has no TTL at all would be gone before its owner is back.
        return ClientBlinks(who, verb) if 1 in ttls and 0 not in ttls and self.number(0, 1) else SessionEnds(who, verb)

    def come_back(self) -> HistoryMove:
        """Draw who comes back."""
        who = self.choose(self.away)
        self.away.remove(who)
        self.there.append(who)
        return ClientReturns(who, republishes=self.number(0, 2) > 0)

    # --- requests -----------------------------------------------------------------------------------------

    def ask(self, who: str) -> HistoryMove | None:
        """Draw what a client asks: one thing, or several without waiting."""
        count = self.number(1, MOST_REQUESTS.get(self.theme, 3)) if self.number(0, 2) == 0 else 1
        self.taken = []
        drawn = [self.requests[self.choose(self.choices)](who) for _ in range(count)]
        asked = tuple(each for each in drawn if each is not None)
        return ClientAsks(who, asked) if asked else None

    def ask_together(self) -> HistoryMove | None:
        """Draw what several clients ask at once: each publishes what is its own, or begins and ends subscriptions."""
        asked, self.busy = [], set()
        for number, who in enumerate(self.there):
            self.taken = []
            mine = [each for each in SERVICES if each % len(self.there) == number]
            drawn: list[HistoryRequest | None] = []
            if mine and self.number(0, 3):
                drawn.append(self.publish(who, self.choose(mine), is_bare=False))
            drawn.append(self.choose((self.subscribe, self.unsubscribe))(who))
            if requests := tuple(each for each in drawn if each is not None):
                asked.append(ClientAsks(who, requests))
        self.busy = None
        return Together(tuple(asked)) if len(asked) > 1 else None

    def race(self) -> HistoryMove:
        """Draw what two clients ask for at once about one service: states of it, or its end."""
        service, first = self.choose(SERVICES), self.choose(self.there)
        asked = []
        for who in (first, self.choose([each for each in self.there if each != first])):
            self.taken = []
            is_end = service in self.published and self.number(0, 3) == 0
            request = UnpublishRequest(service) if is_end else self.publish(who, service, is_bare=False)
            asked.append(ClientAsks(who, (request,)))
        return ClientsRace(tuple(asked))

    def sweep(self, who: str) -> HistoryMove:
        """Draw services that a filter matches and such that it just does not, and a list of what it matches."""
        self.taken = []
        self.sample = self.choose(CURATED)
        published = []
        for service, props in zip(SERVICES, self.sample.contents, strict=False):
            known = self.published.get(service)
            generation = 0 if known is None else min(MOST, known.generation + 1)
            published.append(PublishRequest(service, generation, 60, {**props}))
            self.published[service], self.owners[service] = published[-1], who
        return ClientAsks(who, (*published, ServicesRequest(self.sample.filter)))

    def crowd(self, who: str) -> HistoryMove:
        """Draw many services that are published at once, listed and taken back; or many subscriptions."""
        self.is_crowded = True
        if self.number(0, 1):
            listed = PlainRequest("subscriptions")
            some = range(FIRST, FIRST + CROWD_OF_SUBSCRIPTIONS)
            begun, ended = map(SubscribeRequest, some), map(UnsubscribeRequest, some)
            return ClientAsks(who, (listed, *begun, listed, ServicesRequest(), *ended, PlainRequest("ping")))
        many = range(FIRST, FIRST + CROWD)
        published = tuple(PublishRequest(number) for number in many)
        return ClientAsks(who, (*published, ServicesRequest(), *map(UnpublishRequest, many), PlainRequest("ping")))

    def ta(self, who: str) -> int | None:
        """Draw a transaction identifier that is free, or leave it to the driver."""
        live = [ta for owner, ta in self.subscribed.values() if owner == who]
        tas = FEW_TAS if self.is_about_repetitions else TAS
        free = [ta for ta in tas if ta not in live and ta not in self.taken]
        if not free or self.number(0, 1 if self.theme == "transactions" or self.is_about_repetitions else 5):
            return None
        self.taken.append(self.choose(free))
        return self.taken[-1]

    def service(self, who: str) -> int:
        """Draw the service that a request of a client is about: most often one that it has."""
        own = [service for service, owner in self.owners.items() if owner == who]
        if own and self.number(0, OWN.get(self.theme, 5)):
            return self.choose(sorted(own))
        return self.choose(FEW_SERVICES if self.is_about_repetitions else SERVICES)

    def publish(self, who: str, service: int | None = None, *, is_bare: bool = True) -> HistoryRequest:
        """Draw a service to publish: a new one, or another state of one that there is."""
        id = self.service(who) if service is None else service
        known, props, ttl = self.published.get(id), self.contents(), self.ttl()
        if known is None:
            # Any generation is good for what is not there: lower than it once was, at the end of the range.
            generation = self.choose((0, 0, 0, self.past.get(id, 1), 2**53, MOST - 3))
            bare = is_bare and ttl > 1 and self.number(0, 9) == 0
            new = PublishRequest(id, generation, ttl, {} if bare else props, bare, self.ta(who))
        else:
            by = self.choose(STEPS)
            generation = max(0, min(MOST, known.generation + by))
            what = self.number(0, 3)
            new = PublishRequest(
                id,
                generation,
                known.ttl if what in (1, 3) or (known.bare and ttl < 2) else ttl,
                known.props if known.bare or what in (2, 3) else props,
                known.bare,
                self.ta(who),
            )
            if by == 0 and self.number(0, 2):
                new = PublishRequest(id, generation, known.ttl, known.props, known.bare, new.ta)
        if (
            known is None
            or new.generation > known.generation
            or (new.generation == known.generation and new.ttl == known.ttl and new.props == known.props)
        ):
            self.published[id], self.owners[id], self.past[id] = new, who, new.generation
        return new

    def contents(self) -> Properties:
        """Draw the properties of a service: what some filter matches or just does not, and what none looks at."""
        if self.is_about_repetitions:
            return self.choose(ALIKE)
        sample = self.sample if self.number(0, 3) else self.choose(self.samples)
        props = self.choose(sample.contents) if sample.contents and self.number(0, 3) else {}
        return {**props, **self.choose(VALUES)}

    def ttl(self) -> int:
        """Draw a TTL; in the theme of these short and long ones, too."""
        if self.theme not in SHORT_LIVED or self.number(0, SHORT_LIVED[self.theme]):
            return self.choose(TTLS)
        ttl = self.choose((0, 1, 1, MOST, 2**32))
        # To wait for one that takes a second of a run is enough for a history.
        return 0 if ttl == 1 and self.waited else ttl

    def unpublish(self, who: str) -> HistoryRequest:
        """Draw a service to take back, which may not be there."""
        id = self.service(who)
        self.published.pop(id, None)
        self.owners.pop(id, None)
        return UnpublishRequest(id, self.ta(who))

    def subscribe(self, who: str) -> HistoryRequest | None:
        """Draw a subscription to begin; now and then under an identifier that is taken."""
        mine = [each for each, (owner, _) in self.subscribed.items() if owner == who]
        if len(mine) >= MOST_SUBSCRIPTIONS:
            return None
        free = [each for each in SUBSCRIPTIONS if each not in self.subscribed and each not in (self.busy or ())]
        is_wrong = self.number(0, 9) == 0 and bool(self.subscribed) and self.busy is None
        if not free and not is_wrong:
            return None
        ta, filter = self.ta(who), self.filter()
        if self.number(0, 5 if self.theme == "filters" else 15) == 0:
            # Under an identifier that nobody has: of two reasons to refuse it the document says not which comes first.
            return SubscribeRequest(UNUSED, self.no_filter(), ta, is_whole=True)
        if is_wrong:
            return SubscribeRequest(self.choose(sorted(self.subscribed)), filter, ta)
        id = self.choose(free)
        self.subscribed[id] = who, ta
        return SubscribeRequest(id, filter, ta)

    def unsubscribe(self, who: str) -> HistoryRequest | None:
        """Draw a subscription to end; now and then another client's, or one that is not there."""
        mine = [each for each, (owner, _) in self.subscribed.items() if owner == who]
        if mine and self.number(0, 4):
            id = self.choose(sorted(mine))
            del self.subscribed[id]
            if self.busy is not None:
                self.busy.add(id)
            return UnsubscribeRequest(id, self.ta(who))
        if self.busy is not None:
            return None
        others = [each for each in SUBSCRIPTIONS if each not in mine]
        return UnsubscribeRequest(self.choose(others), self.ta(who)) if others else None

    def list_services(self, who: str) -> HistoryRequest:
        """Draw which services to list; now and then by what is no filter."""
        if self.number(0, 5 if self.theme == "filters" else 15) == 0:
            return ServicesRequest(self.no_filter(), self.ta(who), is_whole=True)
        return ServicesRequest(self.filter(), self.ta(who))

    def no_filter(self) -> str:
        """Draw a text that is no filter, and was not there yet, as long as there is one."""
        self.no_filters = self.no_filters or self.dealt(NONE_AT_ALL)
        return self.no_filters.pop(0)

    def filter(self) -> str | None:
        """Draw a filter: none, for all of the play's, or one of the history's."""
        dice = self.number(0, 9)
        if dice < 2 and self.theme != "filters":
            return None if dice else ""
        if dice < (4 if self.theme != "filters" else 1):
            return ""
        return self.sample.filter if dice < 8 else self.choose(self.samples).filter
