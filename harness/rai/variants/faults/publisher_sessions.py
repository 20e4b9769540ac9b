"""Faults of publishers in how their sessions begin, live and end, and in what they make of a BYE."""

import itertools
from abc import abstractmethod

from msgspec.structs import replace

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import BYE, HB, HELLO, Body, Bye, Heartbeat, Hello, Message, Published, Reply, inbox, nonce_of, of

SECOND = 1_000_000


@fault("RAI-099", does="says a heartbeat and never HELLO")
class GreetsByHeartbeats(Publisher):
    def greet(self, subject: str, now: float) -> None:
        super().greet(HB, now)


@fault("RAI-099", does="answers others for a while before it says HELLO")
class GreetsLate(Publisher):
    def greet(self, subject: str, now: float) -> None:
        if self._beat_at is None:
            self._beat_at = now + 3
        else:
            super().greet(HB if self._said else HELLO, now)


class SpeaksInAnother(Publisher):
    """What says something in a session of its own is made of this."""

    form: type = object

    def sign(self, message: Message, key: bytes) -> Message:
        if not isinstance(message.body, self.form):
            return super().sign(message, key)
        session = f"{self.user}.{self.new_nonce()}"
        key = self.signing.session_key(self.database[self.user], nonce_of(session))
        return super().sign(of(message.subject, session, message.seqno, message.body), key)


@fault("RAI-002", does="says heartbeats in sessions of their own")
class BeatsInAnother(SpeaksInAnother):
    form = Heartbeat


@fault("RAI-002", does="answers in sessions of their own")
class AnswersInAnother(SpeaksInAnother):
    form = Reply


@fault("RAI-002", does="publishes in sessions of their own")
class PublishesInAnother(SpeaksInAnother):
    form = Published


@fault("RAI-002", does="ends another session than it has begun")
class EndsAnother(SpeaksInAnother):
    form = Bye


class Named(Publisher):
    """What has other NONCEs is made of this."""

    @abstractmethod
    def nonce(self) -> str:
        """Return the NONCE of a session."""

    def begin(self, now: float) -> None:
        self.session = ""
        super().begin(now)

    def new_nonce(self) -> str:
        return super().new_nonce() if self.session else self.nonce()


@fault("RAI-077", does="has the same NONCE in each run")
class HasOneNonce(Named):
    def nonce(self) -> str:
        return "A" * 22


@fault("RAI-077", does="has one of two NONCEs")
class HasTwoNonces(Named):
    runs = itertools.count()

    def nonce(self) -> str:
        return "AB"[next(self.runs) % 2] * 22


@fault("RAI-089", does="counts its NONCEs")
class CountsNonces(Named):
    runs = itertools.count()

    def nonce(self) -> str:
        return f"{next(self.runs):022}"


@fault("RAI-089", does="has NONCEs of eight letters")
class HasShortNonces(Named):
    def nonce(self) -> str:
        return super().new_nonce()[:8] if self.session else self.random.randbytes(4).hex()


@fault("RAI-089", does="has a NONCE whose first three quarters are those of the machine")
class NamesItsMachine(Named):
    def nonce(self) -> str:
        return f"0a0000017f3b2c11d{self.random.randrange(16**5):05x}"


@fault("RAI-089", does="has the time for a NONCE, and its process")
class HasTimesForNonces(Named):
    runs = itertools.count()

    def nonce(self) -> str:
        return f"{round(self.epoch)}{next(self.runs) * 7919 % 32768:012}"


@fault("RAI-081", does="never beats")
class NeverBeats(Publisher):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = None


@fault("RAI-081", does="ceases to beat after two heartbeats")
class BeatsTwice(Publisher):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        if len(self._said) > 2:
            self._beat_at = None


@fault("RAI-081", does="ceases to beat when somebody trusts it")
class BeatsWhileAlone(Publisher):
    def greet(self, subject: str, now: float) -> None:
        if any(other.is_trusted for other in self.others.values()):
            self._beat_at = None
        else:
            super().greet(subject, now)


@fault("RAI-081", does="has each update stand for a heartbeat")
class BeatsWhileIdle(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        super().publish(subject, body)
        if self._beat_at is not None:
            self._beat_at += self.interval


class Paced(Publisher):
    """What beats at other times is made of this: ``pace`` are the intervals between its heartbeats, in turn."""

    pace: tuple[float, ...] = (1.0,)

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self._turns = itertools.cycle(self.pace)

    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + next(self._turns) * INTERVAL


INTERVAL = 10.0


@fault("RAI-100", does="beats each third interval")
class BeatsSeldom(Paced):
    pace = (2.9,)


@fault("RAI-100", does="beats five times in an interval")
class BeatsOften(Paced):
    pace = (0.2,)


@fault("RAI-100", does="leaves out two heartbeats now and then")
class BeatsIrregularly(Paced):
    pace = (1.0, 2.8, 1.0)


@fault("RAI-100", does="states an interval that is three times its own")
class StatesLongIntervals(Paced):
    interval = 30


@fault("RAI-100", does="states an interval that is a third of its own")
class StatesShortIntervals(Paced):
    interval = 3


class Dated(Publisher):
    """What has other times in its HELLO and heartbeats is made of this."""

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Hello):
            body = replace(body, time=self.dated(body.time))
        super().say(subject, body, key)

    @abstractmethod
    def dated(self, time: int) -> int:
        """Return what it says instead of a time."""


@fault("RAI-186", does="has its times in seconds")
class HasSeconds(Dated):
    def dated(self, time: int) -> int:
        return time // SECOND


@fault("RAI-186", does="has its times in milliseconds")
class HasMilliseconds(Dated):
    def dated(self, time: int) -> int:
        return time // 1000


@fault("RAI-186", does="has the time of another zone")
class HasLocalTime(Dated):
    def dated(self, time: int) -> int:
        return time + 3600 * SECOND


@fault("RAI-186", does="repeats the time of its HELLO")
class RepeatsItsTime(Dated):
    def dated(self, time: int) -> int:
        return next(iter(self._said))


@fault("RAI-186", does="counts heartbeats where it should have times")
class CountsTimes(Dated):
    def dated(self, time: int) -> int:
        return next(iter(self._said)) + len(self._said)


@fault("RAI-103", does="ends without a word")
class SaysNoBye(Publisher):
    def end(self, now: float) -> None:
        self._has_ended = True
        super().end(now)


@fault("RAI-103", does="ends without a word while somebody has subscribed")
class LeavesSubscribers(Publisher):
    def end(self, now: float) -> None:
        self._has_ended = next(self.interests.wanted(lambda: iter(self.records)), None) is not None
        super().end(now)


@fault("RAI-103", does="says its BYE to an inbox")
class SaysByeToOne(Publisher):
    def end(self, now: float) -> None:
        for other in list(self.others.values())[:1]:
            self.say(inbox(other.session, "BYE"), Bye())
        self._has_ended = True
        super().end(now)


@fault("RAI-177", does="beats after its BYE")
class BeatsAfterBye(Publisher):
    def end(self, now: float) -> None:
        self.say(BYE, Bye())


@fault("RAI-177", does="answers after its BYE")
class AnswersAfterBye(Publisher):
    def end(self, now: float) -> None:
        self.say(BYE, Bye())
        self._beat_at = None


@fault("RAI-177", does="drops what is subscribed after its BYE")
class DropsAfterBye(Publisher):
    def end(self, now: float) -> None:
        self.say(BYE, Bye())
        for subject in list(self.interests.wanted(lambda: iter(self.records))):
            self.publish(subject, Published(type="drop", status="expired"))
        self._has_ended, self._beat_at = True, None


@fault("RAI-095", does="listens to its inbox from its first heartbeat on")
class ListensLate(Publisher):
    def listen_to_all(self) -> None:
        for each in self.listens:
            self.listen(each)

    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        if subject == HB:
            self.listen(inbox(self.session, ">"))


@fault("RAI-096", does="listens to auth alone in its inbox")
class ListensToAuthAlone(Publisher):
    def listen_to_all(self) -> None:
        for each in (inbox(self.session, "auth"), *self.listens):
            self.listen(each)


@fault("RAI-102", does="takes no note of BYE")
class IgnoresBye(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        if not other.has_ended:
            super().forget(other, now)


@fault("RAI-102", does="ends one subscription at a BYE")
class EndsOneAtBye(Publisher):
    def left(self, other: KnownSession, now: float) -> None:
        for subject in list(self.interests.of_session.get(other.session, ()))[:1]:
            self.end_subscription(other, subject)


@fault("RAI-102", does="drops what others have subscribed as well")
class DropsForAll(Publisher):
    def left(self, other: KnownSession, now: float) -> None:
        for subject in list(self.interests.of_session.get(other.session, ())):
            self.interests.remove_subject(subject)
            self.drop_unwanted(subject)


@fault("RAI-102", does="keeps wildcards of sessions that have said BYE")
class KeepsWildcardsAfterBye(Publisher):
    def left(self, other: KnownSession, now: float) -> None:
        for subject in list(self.interests.of_session.get(other.session, ())):
            self.end_subscription(other, subject)


@fault("RAI-102", does="tells nobody of what it drops after a BYE")
class EndsInSilence(Publisher):
    def left(self, other: KnownSession, now: float) -> None:
        for subject in list(self.interests.of_session.get(other.session, ())):
            self.interests.remove(other.session, subject)


@fault("RAI-176", does="trusts a session after its BYE")
class TrustsAfterBye(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        if other.has_ended:
            self.left(other, now)
        else:
            super().forget(other, now)


@fault("RAI-204", does="does not come back when the broker does")
class StaysAway(Publisher):
    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self._dial_at = None


@fault("RAI-204", does="comes back with the NONCE that it had")
class KeepsItsNonce(Publisher):
    def begin(self, now: float) -> None:
        self._before = self.session
        self.session = ""
        super().begin(now)

    def new_nonce(self) -> str:
        return nonce_of(self._before) if not self.session and self._before else super().new_nonce()


@fault("RAI-204", does="listens to no starts when it has come back")
class ListensOnce(Publisher):
    def lost(self, now: float) -> None:
        super().lost(now)
        self.listens = ("_SESSION.>",)


@fault("RAI-204", does="greets when it has come back, and proves nothing")
class ListensToNobody(Publisher):
    def lost(self, now: float) -> None:
        super().lost(now)
        self.listens = ()


@fault("RAI-215", does="writes subjects with colons, as Redis has them")
class WritesColons(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        first, dot, rest = subject.partition(".")
        super().publish(first + dot + rest.replace(".", ":"), body)
