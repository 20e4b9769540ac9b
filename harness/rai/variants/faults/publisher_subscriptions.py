"""Faults of a publisher: what it answers to starts and stops, and whose subscriptions it ends."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Dict, Published, Reply, Return, SubStart, SubStop, user_of

MANY = 32


@fault("RAI-109", does="acks the first start of each session alone")
class AcksOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.acked: set[str] = set()

    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind != "start" or other.session not in self.acked:
            self.acked.add(other.session)
            super().ack(kind, subject, returned, other)


@fault("RAI-109", does="acks no start of a subject without a value")
class AcksWhatItHas(Publisher):
    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind != "start" or subject in self.records:
            super().ack(kind, subject, returned, other)


@fault("RAI-109", does="takes the image for the ack")
class ImageIsAck(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, ack=body.ack and not body.initial), other, now)


@fault("RAI-109", does="acks starts of some subjects of a session at most")
class AcksFew(Publisher):
    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if len(self.interests.of_session.get(other.session, ())) <= MANY:
            super().ack(kind, subject, returned, other)


@fault("RAI-109", does="acks starts of short subjects alone")
class AcksShortSubjects(Publisher):
    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind == "stop" or len(subject) < 128:
            super().ack(kind, subject, returned, other)


@fault("RAI-109", does="acks starts of the first session that came alone")
class AcksTheFirstSession(Publisher):
    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind == "stop" or other.session == next(iter(self.interests.of_session), None):
            super().ack(kind, subject, returned, other)


class Acking(Publisher):
    """What says something else in an ack is made of this."""

    def acking(self, body: Reply) -> Reply:
        """Return what is said in place of an ack."""
        return body

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        super().reply(other, returned, self.acking(body) if isinstance(body, Reply) and body.state == "ack" else body)


@fault("RAI-114", does="acks a start with type initial")
class AcksWithInitial(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, type="initial") if body.kind == "start" else body


@fault("RAI-114", does="acks a start without naming the subject")
class AcksWithoutSubject(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, subject=None) if body.kind == "start" else body


@fault("RAI-114", does="acks a start by its name without the first segment")
class AcksHalfASubject(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, subject=(body.subject or "").partition(".")[2]) if body.kind == "start" else body


@fault("RAI-114", does="acks a start by its name in small letters")
class AcksInSmallLetters(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, subject=f"LAB.{(body.subject or '')[4:].lower()}") if body.kind == "start" else body


@fault("RAI-109", does="acks a start with status ok")
class AcksWithOk(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, status="ok") if body.kind == "start" else body


@fault("RAI-116", does="acks a stop with type start")
class AcksStopsAsStarts(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, type="start")


@fault("RAI-116", does="acks a stop with status ok")
class AcksStopsWithOk(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, status="ok") if body.kind == "stop" else body


@fault("RAI-116", does="acks a stop without naming the subject")
class AcksStopsWithoutSubject(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, subject=None) if body.kind == "stop" else body


@fault("RAI-116", does="acks the stop of the last subscriber alone")
class AcksTheLastStop(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, replace(body, ack=False), other)
        if body.ack and body.return_ is not None and not self.interests.is_wanted(subject):
            self.ack("stop", subject, body.return_, other)


@fault("RAI-116", does="acks a stop of what has a value alone")
class AcksStopsOfValues(Publisher):
    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind == "start" or subject in self.records:
            super().ack(kind, subject, returned, other)


@fault("RAI-116", does="acks the first stop of a subject by a session alone")
class AcksStopsOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.stopped: set[tuple[str, str]] = set()

    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind == "start" or (other.session, subject) not in self.stopped:
            super().ack(kind, subject, returned, other)
        if kind == "stop":
            self.stopped.add((other.session, subject))


@fault("RAI-110", does="acks every start that has a return")
class AcksAllStarts(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, ack=True), other, now)


@fault("RAI-110", does="acks starts that ask for an image alone, where there is one")
class AcksImages(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, ack=body.ack or (body.initial and subject in self.records)), other, now)


@fault("RAI-110", does="acks every start, under 0 where it has no return")
class AcksWithoutReturn(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, body, other, now)
        if body.return_ is None:
            self.ack("start", subject, 0, other)


@fault("RAI-111", does="shows an image to every start that has a return")
class ShowsAll(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, initial=True), other, now)


@fault("RAI-111", does="says not_found to every start with a return where there is nothing")
class SaysThatThereIsNothing(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        has_none = subject not in self.records
        super().start(subject, replace(body, initial=body.initial or has_none), other, now)


@fault("RAI-117", does="acks every stop that has a return")
class AcksAllStops(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, replace(body, ack=True), other)


@fault("RAI-117", does="acks the stop of the last subscriber, asked or not")
class AcksLastStops(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        is_last = not body.ack and len(self.interests.sessions_of(subject)) == 1
        super().stop(subject, replace(body, ack=body.ack or is_last), other)


class Returning(Publisher):
    """What answers elsewhere is made of this."""

    def place(self, returned: Return) -> Return:
        """Return the end of the subject under which it answers."""
        return returned

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        super().reply(other, self.place(returned), body)


@fault("RAI-098", does="answers under the last segment of a return")
class AnswersUnderTheLastSegment(Returning):
    def place(self, returned: Return) -> Return:
        return str(returned).rpartition(".")[2]


@fault("RAI-098", does="answers under the first two segments of a return")
class AnswersUnderTwoSegments(Returning):
    def place(self, returned: Return) -> Return:
        return ".".join(str(returned).split(".")[:2])


@fault("RAI-098", does="answers a return that is a text under its letters and digits")
class AnswersUnderLetters(Returning):
    def place(self, returned: Return) -> Return:
        return returned if isinstance(returned, int) else returned.replace("-", "").replace("_", "")


@fault("RAI-098", does="acks stops under the return of the start")
class AcksUnderTheFirstReturn(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.returns: dict[tuple[str, str], Return] = {}

    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        place = (other.session, subject)
        if kind == "start":
            self.returns[place] = returned
        super().ack(kind, subject, self.returns.get(place, returned), other)


@fault("RAI-118", does="acks starts of subjects that it does not serve")
class AcksForOthers(Publisher):
    def serves(self, subject: str) -> bool:
        return True


@fault("RAI-118", does="serves all that begins with its letters, without the dot")
class ServesByLetters(Publisher):
    serves_all_below = "LAB"


@fault("RAI-118", does="serves its subjects in small letters as well")
class ServesSmallLetters(Publisher):
    def serves(self, subject: str) -> bool:
        return super().serves(subject.upper())


@fault("RAI-006", does="ends all subscriptions of a subject with one stop")
class EndsAllWithOneStop(Publisher):
    def end_subscription(self, other: KnownSession, subject: str) -> None:
        self.interests.remove_subject(subject)
        self.drop_unwanted(subject)


@fault("RAI-006", does="ends the subscriptions of all sessions of a user")
class EndsThoseOfAUser(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, body, other)
        for each in [*self.others.values()]:
            if user_of(each.session) == user_of(other.session):
                self.end_subscription(each, subject)


@fault("RAI-006", does="drops a subject with every stop, and goes on to publish it")
class DropsWithEveryStop(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, body, other)
        if self.interests.is_wanted(subject):
            self.publish(subject, Published(type="drop", status="nosubscribers"))


@fault("RAI-006", does="ends what is below a subject as well")
class EndsWhatIsBelow(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, body, other)
        for each in list(self.interests.of_session.get(other.session, ())):
            if each.startswith(f"{subject}."):
                self.end_subscription(other, each)


@fault("RAI-193", does="ends the oldest subscription of a subject, whoever stops")
class EndsTheOldest(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        having = [each for each in self.others.values() if subject in self.interests.of_session.get(each.session, ())]
        super().stop(subject, body, having[0] if having else other)


@fault("RAI-192", does="acks no second start of a subject")
class AcksNoSecondStart(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        is_second = subject in self.interests.of_session.get(other.session, ())
        super().start(subject, replace(body, ack=body.ack and not is_second), other, now)


@fault("RAI-192", does="takes a second start for a stop")
class TogglesSubscriptions(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if subject in self.interests.of_session.get(other.session, ()):
            self.interests.remove(other.session, subject)
        else:
            super().subscribe(subject, subscription, other, now)


@fault("RAI-192", does="publishes an update for each start")
class PublishesForEachStart(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.starts: dict[str, dict[str, int]] = {}

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        counts = self.starts.setdefault(subject, {})
        counts[other.session] = counts.get(other.session, 0) + 1

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        for _ in range(max(self.starts.get(subject, {}).values(), default=1)):
            super().publish_if_wanted(subject, body)


@fault("RAI-193", does="drops a subject for the stop of who has not subscribed it")
class DropsForStrangers(Publisher):
    def end_subscription(self, other: KnownSession, subject: str) -> None:
        is_strange = subject not in self.interests.of_session.get(other.session, ())
        super().end_subscription(other, subject)
        if is_strange:
            self.publish(subject, Published(type="drop", status="nosubscribers"))


@fault("RAI-193", does="counts starts and stops of a subject, whosever they are")
class CountsStops(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        sessions = self.interests.sessions_of(subject)
        super().stop(subject, body, other)
        if sessions and other.session not in sessions:
            self.interests.remove(min(sessions), subject)
            self.drop_unwanted(subject)


@fault("RAI-029", does="passes over starts of subjects with colons")
class KnowsNoColons(Publisher):
    def serves(self, subject: str) -> bool:
        return super().serves(subject) and ":" not in subject


@fault("RAI-029", does="publishes the colons of subjects as dots")
class ColonsAreDots(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        super().publish(subject.replace(":", "."), body)


@fault("RAI-222", does="dies of a negative expires")
class DiesOfNegativeTimes(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if (subscription.expires or 0) < 0:
            raise ValueError(subscription.expires)
        super().subscribe(subject, subscription, other, now)


@fault("RAI-222", does="dies of an expires of more than 64 bits")
class DiesOfLongTimes(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        (subscription.expires or 0).to_bytes(9, "big", signed=True)
        super().subscribe(subject, subscription, other, now)


@fault("RAI-222", does="ends all subscriptions of a subject with one that expires")
class ExpiresForAll(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if subscription.expires is not None and subscription.expires <= 0:
            self.interests.remove_subject(subject)
            self.drop_unwanted(subject)


@fault("RAI-222", does="has the last expires of a subject count for all of its subscriptions")
class OneTimeForAll(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if subscription.expires is None:
            return
        for session in self.interests.sessions_of(subject):
            self.interests.of_session[session][subject].expires = subscription.expires
            self._due.set(now, self.others[session])


@fault("RAI-142", does="acks starts with type ack")
class AckIsAType(Acking):
    def acking(self, body: Reply) -> Reply:
        return replace(body, type="ack") if body.kind == "start" else body
