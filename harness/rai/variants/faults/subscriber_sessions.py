"""Faults of a subscriber: its sessions, heartbeats and inbox."""

from harness.rai.peers.node import MICROSECONDS
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from wire import envelope
from wire.rai.values import (
    AUTH,
    GET_SUBS,
    HB,
    Body,
    Bye,
    Hello,
    Message,
    SnapRequest,
    Subs,
    SubStop,
    WildStop,
    inbox,
    of,
    tail_of,
)


@fault("RAI-099", does="says a heartbeat first, and no HELLO")
class SaysNoHello(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(HB, now)


class Nonces(Subscriber):
    """A subscriber with NONCEs of its own kind; ``count`` is how many runs there were."""

    count = 0

    def new_nonce(self) -> str:
        type(self).count += 1
        return self.nonce(self.count)

    def nonce(self, count: int) -> str:
        """Return a NONCE, by its number."""
        return super().new_nonce()


@fault("RAI-077", does="has the same NONCE in each run")
class KeepsItsNonceSubscriber(Nonces):
    def nonce(self, count: int) -> str:
        return "AAECAwQFBgcICQoLDA0ODw" if not self.session else super().nonce(count)


@fault("RAI-089", does="counts its NONCEs")
class CountsNoncesSubscriber(Nonces):
    def nonce(self, count: int) -> str:
        return f"AAECAwQFBgcICQoLD{count:04}Q"


@fault("RAI-089", does="has 32 random bits in a NONCE")
class ShortNonces(Subscriber):
    def new_nonce(self) -> str:
        return f"{super().new_nonce()[:5]}AAAAAAAAAAAAAAAAA"


@fault("RAI-081", does="says no heartbeat")
class NeverBeatsSubscriber(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = None


@fault("RAI-081", does="says three heartbeats, and no more")
class BeatsThreeTimes(Subscriber):
    count = 0

    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self.count += 1
        if self.count > 3:
            self._beat_at = None


@fault("RAI-100", does="beats three times as often as it says")
class BeatsOftenSubscriber(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + self.interval / 3


@fault("RAI-100", does="beats every half a minute, and says ten seconds")
class BeatsSeldomSubscriber(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + 3 * self.interval


@fault("RAI-100", does="says no heartbeat where it has said something else")
class BeatsInSilence(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, body, key)
        if isinstance(body, SnapRequest) and self._beat_at is not None:
            self._beat_at += self.interval / 2


@fault("RAI-186", does="says its time in milliseconds")
class SaysMilliseconds(Subscriber):
    def utc(self, now: float) -> int:
        return super().utc(now) // 1000


@fault("RAI-186", does="says how long it has run as its time")
class SaysItsAge(Subscriber):
    def utc(self, now: float) -> int:
        return round(now * MICROSECONDS)


@fault("RAI-186", does="says the time of its HELLO in all heartbeats")
class SaysTheFirstTime(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        self.began: float = getattr(self, "began", now)
        super().greet(subject, self.began)
        self._beat_at = now + self.interval


@fault("RAI-002", does="says lists of its subscriptions in another session")
class ListsInAnother(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        session, own = self.session, self._key
        if isinstance(body, Subs):
            self.session = f"{self.user}.{self.new_nonce()}"
            self._key = self.signing.session_key(self.database[self.user], self.session.rpartition(".")[2])
        super().say(subject, body, key)
        self.session, self._key = session, own


@fault("RAI-002", "RAI-103", does="says BYE in another session")
class EndsAnotherSubscriber(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Bye):
            self.session = f"{self.user}.{self.new_nonce()}"
            self._key = self.signing.session_key(self.database[self.user], self.session.rpartition(".")[2])
        super().say(subject, body, key)


class Missigns(Subscriber):
    """A subscriber that signs some messages wrong."""

    wrong: tuple[type[Body], ...] = ()

    def sign(self, message: Message, key: bytes) -> Message:
        return super().sign(message, bytes(32) if isinstance(message.body, self.wrong) else key)


@fault("RAI-071", does="signs no stops")
class SignsNoStops(Missigns):
    wrong = (SubStop, WildStop)


@fault("RAI-071", does="signs no BYE")
class SignsNoEnd(Missigns):
    wrong = (Bye,)


@fault("RAI-071", does="signs no lists of subscriptions")
class SignsNoLists(Missigns):
    wrong = (Subs,)


@fault("RAI-072", does="has no digest in BYE")
class SaysByeWithoutDigest(Subscriber):
    def sign(self, message: Message, key: bytes) -> Message:
        signed = super().sign(message, key)
        return of(signed.subject, signed.session, signed.seqno, signed.body) if isinstance(signed.body, Bye) else signed


@fault("RAI-072", does="has no seqno in stops")
class StopsWithoutSeqno(Subscriber):
    def spell(self, message: Message) -> bytes:
        written = super().spell(message)
        seqno = b'"seqno":%d,' % message.seqno
        return written.replace(seqno, b"") if isinstance(message.body, SubStop) else written


@fault("RAI-074", does="begins to count again with each heartbeat")
class CountsFromBeats(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        self._seqno = 0
        super().greet(subject, now)


@fault("RAI-103", does="says no BYE")
class SaysNoByeSubscriber(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if not isinstance(body, Bye):
            super().say(subject, body, key)


class Undead(Subscriber):
    """A subscriber that goes on in some way after its BYE."""

    said_bye = False

    def end(self, now: float) -> None:
        super().end(now)
        self._has_ended, self.said_bye = False, True


@fault("RAI-177", does="beats on after its BYE")
class BeatsAfterByeSubscriber(Undead):
    def end(self, now: float) -> None:
        super().end(now)
        self._beat_at = now + self.interval

    def received(self, link: int, frame: bytes, now: float) -> None:
        if not self.said_bye:
            super().received(link, frame, now)


@fault("RAI-177", does="answers questions after its BYE")
class AnswersAfterByeSubscriber(Undead):
    pass


@fault("RAI-177", does="stops all that it wants after its BYE")
class StopsAfterBye(Undead):
    def end(self, now: float) -> None:
        super().end(now)
        for subject in list(self.wanted):
            self.unsubscribe(subject)
        self._has_ended = True


class DeafSubscriber(Subscriber):
    """A subscriber that does not hear all that is published in its inbox."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        subject = envelope.read(frame).subject
        if not subject.startswith("_INBOX.") or self.hears(tail_of(subject), now):
            super().received(link, frame, now)

    def hears(self, tail: str, now: float) -> bool:
        """Tell whether what is published under an end of its inbox is heard."""
        return True


@fault("RAI-095", does="listens to its inbox a second after HELLO")
class ListensLateSubscriber(DeafSubscriber):
    def hears(self, tail: str, now: float) -> bool:
        self.began: float = getattr(self, "began", now)
        return now > min(self._said) / MICROSECONDS - self.epoch + 1


@fault("RAI-096", does="listens to auth and numbers in its inbox")
class HearsNumbersAlone(DeafSubscriber):
    def hears(self, tail: str, now: float) -> bool:
        return tail == AUTH or tail.isdigit()


@fault("RAI-096", does="listens to the ends of its inbox that have one letter, and to those with names")
class HearsDigitsAlone(DeafSubscriber):
    def hears(self, tail: str, now: float) -> bool:
        return tail in (AUTH, GET_SUBS) or len(tail) == 1


@fault("RAI-097", does="says nothing to who names an ucast_url")
class SaysNothingElsewhere(Subscriber):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        self.elsewhere: set[str] = getattr(self, "elsewhere", set())
        if body.ucast_url is not None:
            self.elsewhere.add(inbox(message.session, AUTH))

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if subject not in getattr(self, "elsewhere", ()):
            super().say(subject, body, key)


@fault("RAI-097", does="hears no more of who names an ucast_url in a heartbeat")
class LeavesWhoGoesElsewhere(Subscriber):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        if body.ucast_url is not None and message.subject == HB and message.session in self.others:
            self.others[message.session].is_trusted = False


@fault("RAI-204", does="does not come back to a broker")
class StaysAwaySubscriber(Subscriber):
    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self._dial_at = None


@fault("RAI-204", does="comes back with its old NONCE")
class ComesBackTheSame(Subscriber):
    def new_nonce(self) -> str:
        nonce = super().new_nonce()
        self.first: str = getattr(self, "first", nonce)
        return self.first if self._beat_at is None else nonce


@fault("RAI-204", does="comes back with a heartbeat")
class ComesBackQuietly(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(HB if self.session and getattr(self, "has_been", False) else subject, now)
        self.has_been = True


@fault("RAI-204", does="comes back and wants nothing")
class ForgetsWhatItWants(Subscriber):
    def lost(self, now: float) -> None:
        super().lost(now)
        self.wanted.clear()


@fault("RAI-204", does="comes back and wants no wildcards")
class ForgetsItsWildcards(Subscriber):
    def lost(self, now: float) -> None:
        super().lost(now)
        self.wild.clear()


@fault("RAI-204", does="comes back once")
class ComesBackOnceSubscriber(Subscriber):
    count = 0

    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self.count += 1
        if self.count > 1:
            self._dial_at = None


@fault("RAI-204", does="comes back, and does not listen to what it wanted")
class ComesBackDeaf(Subscriber):
    def listen_to_all(self) -> None:
        for each in (inbox(self.session, ">"), *self.listens):
            self.listen(each)
