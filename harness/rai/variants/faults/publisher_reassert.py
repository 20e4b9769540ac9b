"""Faults of publishers in what time and heartbeats do to subscriptions, and in what they ask silent sessions."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import GONE
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import GetSubs, Hello, Message, Reply, Subs, inbox, user_of

SECOND = 1_000_000


@fault("RAI-106", does="takes no note of expires")
class IgnoresExpires(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return super().ends_at(Terms(), other)


@fault("RAI-106", does="ends each subscription with its session's third missed heartbeat")
class EndsLongOnes(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return min(super().ends_at(subscription, other), super().ends_at(Terms(), other))


@fault("RAI-106", does="ends subscriptions after half of their time")
class EndsHalfway(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return other.heard + (super().ends_at(subscription, other) - other.heard) / 2


@fault("RAI-106", does="takes expires for intervals")
class ExpiresByIntervals(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        intervals = GONE if subscription.expires is None else subscription.expires
        return other.heard + intervals * other.interval


@fault("RAI-106", does="never ends a subscription that has been reasserted by a heartbeat")
class KeepsThemAlive(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return float("inf") if len(other.seqnos) > 3 else super().ends_at(subscription, other)


class FromTheStart(Publisher):
    """What counts the time of a subscription from elsewhere is made of this."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.begun: dict[Terms, float] = {}

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        self.begun[subscription] = now
        super().subscribe(subject, subscription, other, now)


@fault("RAI-106", "RAI-178", does="counts the time of a subscription from its start")
class ExpiresFromTheStart(FromTheStart):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        if subscription.expires is None or subscription not in self.begun:
            return super().ends_at(subscription, other)
        return self.begun[subscription] + subscription.expires


@fault("RAI-178", does="has a heartbeat keep a subscription alive for three times its time in all")
class ExpiresInTheEnd(FromTheStart):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        at = super().ends_at(subscription, other)
        if subscription.expires is None or subscription not in self.begun:
            return at
        return min(at, self.begun[subscription] + 3 * subscription.expires)


@fault("RAI-179", does="has the heartbeats of any session keep all alive")
class HeartbeatsAreForAll(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        for each in self.kept(other):
            each.heard = now

    def kept(self, other: KnownSession) -> list[KnownSession]:
        """Return the sessions that the heartbeat of one keeps alive."""
        return list(self.others.values())


@fault("RAI-179", does="has the heartbeats of a session keep all of its user alive")
class HeartbeatsAreForTheUser(HeartbeatsAreForAll):
    def kept(self, other: KnownSession) -> list[KnownSession]:
        return [each for each in self.others.values() if user_of(each.session) == user_of(other.session)]


class EndsOtherwise(Publisher):
    """What does otherwise when the time of a subscription has run out is made of this."""

    is_late = False

    def look_after(self, other: KnownSession, now: float) -> None:
        self.is_late = True
        super().look_after(other, now)
        self.is_late = False


@fault("RAI-012", does="tells nobody when the time of a subject has run out")
class ExpiresInSilence(EndsOtherwise):
    def drop_unwanted(self, subject: str) -> None:
        if not self.is_late:
            super().drop_unwanted(subject)


@fault("RAI-012", does="tells one session when the time of a subject has run out, in its inbox")
class ExpiresInAnInbox(EndsOtherwise):
    def drop_unwanted(self, subject: str) -> None:
        if not self.is_late:
            super().drop_unwanted(subject)
        else:
            for other in list(self.others.values())[:1]:
                self.reply(other, "drop", Reply(type="drop", subject=subject, status="nosubscribers"))


@fault("RAI-012", does="drops a subject whose time has run out only once another is started")
class ExpiresOnceAsked(EndsOtherwise):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ended: list[str] = []

    def drop_unwanted(self, subject: str) -> None:
        if self.is_late:
            self.ended.append(subject)
        else:
            super().drop_unwanted(subject)

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        while self.ended:
            self.drop_unwanted(self.ended.pop())


@fault("RAI-008", does="ends subscriptions when a heartbeat is a little late")
class EndsAtOnce(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return (
            other.heard + 1.2 * other.interval if subscription.expires is None else super().ends_at(subscription, other)
        )


@fault("RAI-008", does="ends subscriptions after five seconds of silence")
class EndsAfterSeconds(Publisher):
    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        return other.heard + 5 if subscription.expires is None else super().ends_at(subscription, other)


@fault("RAI-124", does="asks sessions before their heartbeat is due")
class AsksEarly(Publisher):
    def missed_at(self, other: KnownSession) -> float:
        return other.heard + 0.3 * other.interval

    def delay(self, other: KnownSession) -> float:
        return 0.0


@fault("RAI-124", does="asks all sessions when one has missed a heartbeat")
class AsksEverybody(Publisher):
    def ask_for_subscriptions(self, other: KnownSession) -> None:
        for each in list(self.others.values()):
            super().ask_for_subscriptions(each)


@fault("RAI-124", does="asks at once when a heartbeat is missed")
class AsksAtOnce(Publisher):
    def delay(self, other: KnownSession) -> float:
        return 0.0


@fault("RAI-124", does="asks half an interval after a heartbeat was missed")
class AsksOnTime(Publisher):
    def delay(self, other: KnownSession) -> float:
        return other.interval / 2


class AsksOtherwise(Publisher):
    """What asks otherwise is made of this."""

    def ask_for_subscriptions(self, other: KnownSession) -> None:
        body = GetSubs(return_=f"{user_of(other.session)}.subs", last_seen=other.time, wildcard=">")
        self.say(inbox(other.session, "get_subs"), self.question(body, other))

    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        """Return what it asks."""
        return body


@fault("RAI-125", does="asks without a wildcard")
class AsksForNothing(AsksOtherwise):
    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, wildcard="")


@fault("RAI-125", does="asks without a return")
class AsksForNoAnswer(AsksOtherwise):
    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, return_="")


@fault("RAI-127", does="has its own time as last_seen")
class AsksByItsClock(AsksOtherwise):
    heard_at = 0.0

    def look_after(self, other: KnownSession, now: float) -> None:
        self.heard_at = now
        super().look_after(other, now)

    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, last_seen=self.utc(self.heard_at))


@fault("RAI-127", does="has as last_seen when it heard a heartbeat")
class AsksByWhatItHeard(AsksOtherwise):
    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, last_seen=self.utc(other.heard))


@fault("RAI-127", does="has last_seen in seconds")
class AsksBySeconds(AsksOtherwise):
    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, last_seen=body.last_seen // SECOND)


@fault("RAI-127", does="has as last_seen when the missed heartbeat should have come")
class AsksByWhatWasMissed(AsksOtherwise):
    def question(self, body: GetSubs, other: KnownSession) -> GetSubs:
        return replace(body, last_seen=body.last_seen + other.interval * SECOND)


class Lists(Publisher):
    """What takes lists otherwise is made of this."""

    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        taken = self.taken(body, other)
        if taken is not None:
            super().reassert(taken, other, now)

    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        """Return what it takes of a list."""
        return body


@fault("RAI-132", does="takes no note of lists")
class IgnoresLists(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return None


@fault("RAI-132", does="takes the first subject of a list")
class TakesFirstOfLists(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, subs=body.subs[:1])


@fault("RAI-132", does="takes the subjects of a list that it knows to be subscribed")
class TakesWhatItKnew(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        known = self.interests.of_session.get(other.session, {})
        kept = [place for place, subject in enumerate(body.subs) if subject in known]
        returns = [body.subs_return[place] for place in kept if place < len(body.subs_return)]
        return replace(body, subs=[body.subs[place] for place in kept], subs_return=returns)


@fault("RAI-132", does="answers all of a list at its first return")
class AnswersAtTheFirst(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, subs_return=body.subs_return[:1] * len(body.subs))


@fault("RAI-132", does="counts returns by the subjects that it serves")
class MiscountsReturns(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, subs=[subject for subject in body.subs if self.serves(subject)])


@fault("RAI-132", does="sends no images for a list")
class ShowsNothingForLists(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, initial=False)


@fault("RAI-132", does="acks no list")
class AcksNoLists(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, ack=False)


@fault("RAI-132", does="acks and shows whatever a list asks for")
class AnswersListsInFull(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return replace(body, ack=True, initial=True)


@fault("RAI-132", does="subscribes nothing by a list that asks for nothing")
class IgnoresQuietLists(Lists):
    def taken(self, body: Subs, other: KnownSession) -> Subs | None:
        return body if body.ack or body.initial else None


@fault("RAI-132", does="hears only what is one segment below its inbox")
class ListensToOneSegment(Publisher):
    def listen_to_all(self) -> None:
        for each in (inbox(self.session, "*"), *self.listens):
            self.listen(each)


@fault("RAI-133", does="answers for subjects of others in a list")
class AnswersForOthers(Publisher):
    is_list = False

    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        self.is_list = True
        super().reassert(body, other, now)
        self.is_list = False

    def serves(self, subject: str) -> bool:
        return self.is_list or super().serves(subject)


@fault("RAI-133", does="serves what has its prefix anywhere")
class ServesWhatSoundsAlike(AnswersForOthers):
    def serves(self, subject: str) -> bool:
        return "LAB." in subject if self.is_list else Publisher.serves(self, subject)


@fault("RAI-007", does="has a list not begin any time anew")
class ListsAreNoHeartbeats(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        heard = other.heard
        super().reassert(body, other, now)
        other.heard = heard


@fault("RAI-007", does="begins the time of the first of a list anew")
class RenewsTheFirst(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        heard = other.heard
        super().reassert(body, other, now)
        for subject in body.subs[1:]:
            its = self.interests.of_session.get(other.session, {}).get(subject)
            if its is not None and its.expires is not None:
                its.expires -= round(now - heard)


@fault("RAI-220", does="dies of a list with too few returns")
class DiesOfShortLists(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        assert len(body.subs_return) >= len(body.subs)
        super().reassert(body, other, now)


@fault("RAI-220", does="trusts no session whose list has more returns than subjects")
class DistrustsLongLists(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        if len(body.subs_return) > len(body.subs):
            self.put_away(other)
        else:
            super().reassert(body, other, now)


@fault("RAI-220", does="dies of an empty list")
class DiesOfEmptyLists(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        super().reassert(body, other, now)
        assert body.subs[0] or True


@fault("RAI-223", does="goes by its own interval")
class GoesByItsOwnInterval(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        other = self.others.get(message.session)
        if other is not None:
            other.interval = self.interval

    def greeted(self, other: KnownSession, now: float) -> None:
        other.interval = self.interval
        super().greeted(other, now)
