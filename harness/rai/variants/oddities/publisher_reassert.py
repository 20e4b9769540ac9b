"""Unusual, legal ways of publishers to have subscriptions end, and to ask silent sessions for theirs."""

from math import ceil
from typing import Any

from msgspec.structs import replace

from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import oddity
from wire.rai.values import GetSubs, Message, Subs, inbox, user_of


class EndsElsewhen(Publisher):
    """What ends subscriptions without expires after other intervals is made of this."""

    intervals = 3.0

    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        if subscription.expires is not None:
            return super().ends_at(subscription, other)
        return other.heard + self.intervals * other.interval


@oddity("RAI-008", does="ends subscriptions without expires an interval after the missed heartbeat was due")
class EndsSoon(EndsElsewhen):
    intervals = 2.1


@oddity("RAI-008", does="ends subscriptions without expires after ten intervals")
class EndsLate(EndsElsewhen):
    intervals = 10


@oddity("RAI-008", does="ends subscriptions without expires with BYE alone")
class EndsAtByeAlone(EndsElsewhen):
    intervals = 10**9


@oddity("RAI-106", "RAI-012", does="looks each ten seconds for what has ended")
class LooksEachTenSeconds(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return 10.0 * ceil(super().ends_at(subscription, other) / 10)


@oddity("RAI-106", does="has each message of a session begin its time anew")
class HearsEverything(Publisher):
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        other.heard = now
        super().take(message, other, now)


@oddity("RAI-106", does="counts the time of a subscription from its start, if that was later")
class CountsFromStarts(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.begun: dict[Terms, float] = {}

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        self.begun[subscription] = now
        super().subscribe(subject, subscription, other, now)

    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        late = self.begun.get(subscription, other.heard) - other.heard
        return super().ends_at(subscription, other) + max(0.0, late)


@oddity("RAI-008", does="trusts who is silent until he says BYE")
class TrustsTheSilent(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        if other.has_ended:
            super().forget(other, now)


@oddity("RAI-124", does="asks no session for its subscriptions")
class AsksNobody(Publisher):
    def ask_for_subscriptions(self, other: KnownSession) -> None:
        pass


@oddity("RAI-124", does="takes a heartbeat for missed after nearly three intervals")
class MissesLate(Publisher):
    def missed_at(self, other: KnownSession) -> float:
        return other.heard + 2.9 * other.interval


@oddity("RAI-124", does="asks at one random moment for all sessions that it meets")
class AsksAllAtATime(Publisher):
    moment: float | None = None

    def delay(self, other: KnownSession) -> float:
        if self.moment is None:
            self.moment = super().delay(other) / other.interval
        return self.moment * other.interval


@oddity("RAI-124", does="asks a silent session with each interval")
class AsksAgain(Publisher):
    def look_after(self, other: KnownSession, now: float) -> None:
        if now >= other.heard + 3.0 * other.interval:
            self._asked.discard(other.session)
        super().look_after(other, now)


class AsksInAnotherWay(Publisher):
    """What asks in another way is made of this."""

    def ask_for_subscriptions(self, other: KnownSession) -> None:
        body = GetSubs(return_=f"{user_of(other.session)}.subs", last_seen=other.time, wildcard=">")
        self.say(inbox(other.session, "get_subs"), self.question(body))

    def question(self, body: GetSubs) -> GetSubs:
        """Return what it asks."""
        return body


@oddity("RAI-125", does="asks at a return that is a number, for what it serves alone")
class AsksByNumber(AsksInAnotherWay):
    def question(self, body: GetSubs) -> GetSubs:
        return replace(body, return_=self.random.randrange(2**31), wildcard="LAB.>")


@oddity("RAI-127", does="asks for all subscriptions at all times")
class AsksForAll(AsksInAnotherWay):
    def question(self, body: GetSubs) -> GetSubs:
        return replace(body, last_seen=0)


@oddity("RAI-007", does="has a list be starts without expires")
class StartsListsAnew(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        for subject in body.subs:
            self.interests.remove(other.session, subject)
        super().reassert(body, other, now)


@oddity("RAI-132", does="sends images of a list before the acks")
class ShowsListsFirst(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        super().reassert(replace(body, ack=False), other, now)
        super().reassert(replace(body, initial=False), other, now)


@oddity("RAI-007", does="takes lists that it has asked for alone")
class TakesAnswersAlone(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        if other.session in self._asked:
            super().reassert(body, other, now)
