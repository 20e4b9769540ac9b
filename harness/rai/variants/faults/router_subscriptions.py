"""Faults of a router-cache: what it subscribes at its source for several, and what it ends there."""

from typing import Any

from harness.rai.peers.cache import OK
from harness.rai.peers.interests import Wildcard
from harness.rai.peers.known import KnownSession
from harness.rai.peers.router_cache import RouterCache
from harness.rai.peers.router_halves import Back, Front
from harness.rai.variants.registry import fault
from harness.rai.variants.routers import router_cache
from wire.rai.values import Published, Reply, Return, SubStart, WildStart, user_of
from wire.subjects import matches


@fault("RAI-205", does="ends a wildcard at the source when one of several has ended it")
@router_cache
class EndsWildcardsForAll(Back):
    def end_wild(self, other: KnownSession, wildcard: Wildcard) -> None:
        super().end_wild(other, wildcard)
        cover = self.cover(wildcard[1])
        if cover in self.front.wild:
            self.front.unsubscribe_wild(cover)


@fault("RAI-205", does="ends at the source what is subscribed by name when a wildcard ends that matches it")
@router_cache
class EndsNamesWithWildcards(Front):
    def unsubscribe_wild(self, wildcard: str) -> None:
        super().unsubscribe_wild(wildcard)
        for subject in [each for each in self.wanted if matches(wildcard, each)]:
            self.unsubscribe(subject)


@fault("RAI-205", does="ends all wildcards at the source with the first that nobody wants")
@router_cache
class EndsAllWildcards(Front):
    def unsubscribe_wild(self, wildcard: str) -> None:
        for each in [wildcard, *self.wild]:
            super().unsubscribe_wild(each)


@fault("RAI-205", does="subscribes one wildcard at the source")
@router_cache
class SubscribesOneWildcard(Back):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if self.front.wild:
            super(Back, self).start_wild(body, other, now)
        else:
            super().start_wild(body, other, now)


@fault("RAI-206", does="asks for no image of what was subscribed without one first")
@router_cache
class AsksForNoImages(Back):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.without: set[str] = set()

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        if not body.initial and subject not in self.front.wanted:
            self.without.add(subject)
            self.front.subscribe(subject, now, with_image=False)
        super().start(subject, body, other, now)

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if subject in self.without and subject not in self.records:
            self.reply(other, returned, Reply(type=kind, subject=subject, status="temp_unavail"))
        else:
            super().show(kind, subject, returned, other, now)


@fault("RAI-208", does="takes all values for sound when a new source has proven itself")
@router_cache
class CleansWithSources(Front):
    def trusted(self, other: KnownSession, now: float) -> None:
        super().trusted(other, now)
        for subject, wanted in self.all_wanted():
            if wanted.record is not None and subject in self.back.records:
                wanted.record.status = self.back.records[subject].status = OK
                self.back.refresh(subject)


@fault("RAI-209", does="shows what its source has dropped")
@router_cache
class ShowsWhatHasEnded(Back):
    def end_subject(self, subject: str, drop: Published) -> None:
        kept = self.records.get(subject)
        super().end_subject(subject, drop)
        if kept is not None:
            self.records[subject] = kept


@fault("RAI-211", does="takes no note that the broker of its source is away")
@router_cache
class OverlooksOutages(Front):
    def lost(self, now: float) -> None:
        """Go on as if nothing were."""


@fault("RAI-213", does="trusts a subscriber's session when another of the user is trusted at the source")
@router_cache
class TrustsUsersOfTheSource(Back):
    def is_trusted(self, other: KnownSession) -> bool:
        return other.is_trusted or user_of(other.session) in {
            user_of(each.session) for each in self.front.others.values() if each.is_trusted
        }


@fault("RAI-213", does="trusts a publisher's session when another of the user is trusted among the subscribers")
@router_cache
class TrustsUsersOfSubscribers(Front):
    def is_trusted(self, other: KnownSession) -> bool:
        return other.is_trusted or user_of(other.session) in {
            user_of(each.session) for each in self.back.others.values() if each.is_trusted
        }


@fault("RAI-118", does="serves whatever its source has")
@router_cache
class ServesWhatever(Back):
    def serves(self, subject: str) -> bool:
        return not subject.startswith("_")


@fault("RAI-103", does="says BYE to its subscribers alone")
class RouterSaysByeToItsSubscribers(RouterCache):
    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb != "end":
            return super().command(verb, arguments, now)
        self.back.end(now)
        return ""


@fault("RAI-103", does="says BYE to its source alone")
class RouterSaysByeToItsSource(RouterCache):
    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb != "end":
            return super().command(verb, arguments, now)
        self.front.end(now)
        return ""
