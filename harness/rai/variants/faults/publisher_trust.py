"""Faults of publishers in the exchange of trust: whom they greet, what they prove, and whom they trust."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.users import secret_of
from harness.rai.variants.registry import fault
from wire.rai.values import (
    AUTH,
    HELLO,
    Auth,
    DictRequest,
    Heartbeat,
    Hello,
    Message,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    inbox,
    nonce_of,
    user_of,
)

SECOND = 1_000_000


@fault("RAI-080", does="greets one session")
class GreetsOne(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        if next(iter(self.others)) == other.session:
            super().greeted(other, now)


@fault("RAI-080", does="greets one session of each user")
class GreetsEachUserOnce(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        if next(each for each in self.others if user_of(each) == user_of(other.session)) == other.session:
            super().greeted(other, now)


@fault("RAI-080", does="greets nobody who has stated a long interval")
class GreetsTheLively(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        if other.interval <= 30:
            super().greeted(other, now)


@fault("RAI-080", does="greets eight sessions")
class GreetsEight(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        if len(self.others) <= 8:
            super().greeted(other, now)


@fault("RAI-080", does="greets in the inbox of the user's first session")
class GreetsElsewhere(Publisher):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        first = next(each for each in self.others if user_of(each) == user_of(other.session))
        super().prove(self.others[first], time, cnonce, now)


@fault("RAI-080", does="greets nobody whose clock is behind its own")
class GreetsThePunctual(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return super().is_timely(body, now) and body.time >= self.utc(now) - SECOND // 2


class ProvesOtherwise(Publisher):
    """What proves who it is by something else is made of this: it overrides one of the two."""

    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        body = Auth(auth_time=self.time_of(other, time, now), time=self.utc(now), cnonce=self.new_nonce())
        other.asked = body.time, body.cnonce
        self.say(inbox(other.session, AUTH), body, key=self.key_for(other, time, cnonce))

    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        """Return the auth_time of its auth message."""
        return time

    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        """Return the key of its auth message."""
        return self.auth_key(self.session, time, cnonce)


@fault("RAI-083", does="signs its auth messages as any other")
class ProvesBySession(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return self._key


@fault("RAI-083", does="leaves the time out of the key of its auth messages")
class ProvesWithoutTime(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return super().key_for(other, "", cnonce)


@fault("RAI-083", does="leaves the cnonce out of the key of its auth messages")
class ProvesWithoutCnonce(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return super().key_for(other, time, "")


@fault("RAI-083", does="puts time and cnonce into the key the wrong way round")
class ProvesTheWrongWayRound(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return super().key_for(other, cnonce, str(time))


@fault("RAI-083", does="keys its auth messages by whom it greets")
class ProvesWhoOthersAre(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return self.auth_key(other.session, time, cnonce)


@fault("RAI-083", does="keys each auth message by the first HELLO of the user")
class ProvesByTheFirst(ProvesOtherwise):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        first = next(each for each in self.others.values() if user_of(each.session) == user_of(other.session))
        return super().key_for(other, *first.greeting)


@fault("RAI-084", does="has its own time as auth_time")
class RepeatsItsOwnTime(ProvesOtherwise):
    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        return self.utc(now) + 1


@fault("RAI-084", does="has an auth_time in seconds")
class RepeatsSeconds(ProvesOtherwise):
    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        return time // SECOND


@fault("RAI-084", does="has 0 as auth_time")
class RepeatsZero(ProvesOtherwise):
    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        return 0


@fault("RAI-084", does="repeats the newest time that it has heard of anybody")
class RepeatsTheNewest(ProvesOtherwise):
    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        return max(each.time for each in self.others.values())


@fault("RAI-224", does="keys its answer to a heartbeat by nothing")
class ProvesNothingToHeartbeats(ProvesOtherwise):
    beat = False

    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        self.beat = isinstance(body, Heartbeat)
        super().hear_greeting(message, body, now)

    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return super().key_for(other, *((0, "") if self.beat else (time, cnonce)))


@fault("RAI-224", does="answers a heartbeat with a time that it does not have")
class RepeatsNoTimeOfHeartbeats(ProvesNothingToHeartbeats):
    def key_for(self, other: KnownSession, time: Any, cnonce: str) -> bytes:
        return self.auth_key(self.session, time, cnonce)

    def time_of(self, other: KnownSession, time: int, now: float) -> int:
        return time - 1 if self.beat else time


@fault("RAI-088", does="passes over the first that a trusted session says")
class TakesTheSecond(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.heard_once: set[str] = set()

    def take(self, message: Message, other: KnownSession, now: float) -> None:
        if other.session in self.heard_once:
            super().take(message, other, now)
        self.heard_once.add(other.session)


@fault("RAI-088", does="trusts a session from its next heartbeat on")
class TrustsLater(Publisher):
    def trusted(self, other: KnownSession, now: float) -> None:
        self.later = {*getattr(self, "later", ()), other.session}

    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        self.later = getattr(self, "later", set()) - {other.session}

    def is_trusted(self, other: KnownSession) -> bool:
        return super().is_trusted(other) and other.session not in getattr(self, "later", ())


@fault("RAI-088", "RAI-070", does="trusts one session at a time")
class TrustsTheNewest(Publisher):
    def trusted(self, other: KnownSession, now: float) -> None:
        for each in self.others.values():
            each.is_trusted = each is other


class Trusting(Publisher):
    """What takes more than trusted sessions say is made of this."""

    forms: tuple[type, ...] = (object,)

    def admitted(self, message: Message) -> KnownSession | None:
        found = super().admitted(message)
        if found is None and isinstance(message.body, self.forms):
            other = self.meet(message.session, 0.0)
            if self.is_genuine(message, other.key) and self.credits(other) and self.is_new(message, other):
                return other
        return found

    def credits(self, other: KnownSession) -> bool:
        """Tell whether it takes what a session says that is not trusted."""
        return not other.has_ended


@fault("RAI-086", does="trusts who has said HELLO")
class TrustsHello(Trusting):
    def credits(self, other: KnownSession) -> bool:
        return other.session in self.others


@fault("RAI-086", does="answers snapshot requests of anybody")
class ShowsAnybody(Trusting):
    forms = (SnapRequest,)


@fault("RAI-086", does="takes starts of anybody")
class StartsForAnybody(Trusting):
    forms = (SubStart,)


@fault("RAI-086", does="takes wildcard starts of anybody")
class StartsWildcardsForAnybody(Trusting):
    forms = (WildStart,)


@fault("RAI-086", does="takes lists of anybody")
class TakesListsOfAnybody(Trusting):
    forms = (Subs,)


@fault("RAI-086", does="sends its dictionary to anybody")
class SendsWordsToAnybody(Trusting):
    forms = (DictRequest,)


@fault("RAI-086", does="takes stops of anybody")
class StopsForAnybody(Trusting):
    forms = (SubStop,)


@fault("RAI-086", does="trusts a user of whom it trusts a session")
class TrustsUsers(Trusting):
    def credits(self, other: KnownSession) -> bool:
        return any(each.is_trusted and user_of(each.session) == user_of(other.session) for each in self.others.values())


@fault("RAI-086", does="trusts a NONCE, whoever has it")
class TrustsNonces(Trusting):
    def credits(self, other: KnownSession) -> bool:
        return any(
            each.is_trusted and nonce_of(each.session) == nonce_of(other.session) for each in self.others.values()
        )


@fault("RAI-086", does="keeps what is said by who is not trusted, and does it when he is")
class KeepsItForLater(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: dict[str, list[Message]] = {}

    def admitted(self, message: Message) -> KnownSession | None:
        found = super().admitted(message)
        if found is None and not self.meet(message.session, 0.0).is_trusted:
            self.kept.setdefault(message.session, []).append(message)
        return found

    def trusted(self, other: KnownSession, now: float) -> None:
        for message in self.kept.pop(other.session, ()):
            self.take(message, other, now)


class Gullible(Publisher):
    """What takes more for a proof is made of this."""

    def is_proof(self, message: Message, answered: tuple[int, str]) -> bool:
        return super().is_proof(message, answered) or any(
            self.is_genuine(message, key) for key in self.keys(message.session, *answered)
        )

    @abstractmethod
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        """Yield other keys with which an auth message may be signed."""

    def keyed(self, user: str, session: str, time: Any, cnonce: str) -> bytes:
        """Return the key of an auth message of some user."""
        return self.signing.auth_key(secret_of(user), nonce_of(session), time, cnonce)


@fault("RAI-168", does="looks at no digest of an auth message")
class BelievesAnyAnswer(Publisher):
    def is_proof(self, message: Message, answered: tuple[int, str]) -> bool:
        return True


@fault("RAI-168", does="takes an auth message that is signed as any other")
class BelievesSessions(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield self.meet(session, 0.0).key


@fault("RAI-168", does="takes an auth message that leaves out the cnonce")
class BelievesTimes(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield self.keyed(user_of(session), session, time, "")


@fault("RAI-168", does="takes an auth message that leaves out the time")
class BelievesCnonces(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield self.keyed(user_of(session), session, "", cnonce)


@fault("RAI-168", does="takes an auth message whose time is a little off")
class BelievesCloseTimes(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield from (self.keyed(user_of(session), session, time + off, cnonce) for off in (1, -1))


@fault("RAI-168", does="takes an auth message that is keyed by its sender's own HELLO")
class BelievesGreetings(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield self.keyed(user_of(session), session, *self.meet(session, 0.0).greeting)


@fault("RAI-168", does="takes an auth message that any user has signed")
class BelievesAnyUser(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield from (self.keyed(user, session, time, cnonce) for user in self.database)


@fault("RAI-168", does="takes an auth message that is keyed as its own would be")
class BelievesItself(Gullible):
    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield self.keyed(self.user, self.session, time, cnonce)


@fault("RAI-168", does="takes an answer to what it has asked anybody")
class BelievesAnswersToOthers(Gullible):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        other = self.meet(message.session, now)
        for each in list(self.others.values()):
            if each.asked is not None and self.is_genuine(message, self.auth_key(message.session, *each.asked)):
                self.trust(other, now)
                return
        super().hear_auth(message, body, now)

    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield from ()


@fault("RAI-168", does="takes an auth message that answers nothing, if it is keyed by itself")
class BelievesUnasked(Gullible):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        other = self.meet(message.session, now)
        if not other.is_trusted and not other.has_ended and self.is_new(message, other):
            self.trust(other, now)

    def keys(self, session: str, time: Any, cnonce: str) -> Iterator[bytes]:
        yield from ()


@fault("RAI-187", does="forgets subscriptions when their session says HELLO again")
class ForgetsAtHello(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        other = self.others.get(message.session)
        if message.subject == HELLO and other is not None and other.is_trusted:
            for subject in list(self.interests.of_session.get(other.session, ())):
                self.interests.remove(other.session, subject)
        super().hear_greeting(message, body, now)


@fault("RAI-187", does="drops what a session has subscribed that says HELLO again")
class DropsAtHello(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        other = self.others.get(message.session)
        if message.subject == HELLO and other is not None and other.is_trusted:
            self.left(other, now)
        super().hear_greeting(message, body, now)


@fault("RAI-187", does="trusts a session no more that says HELLO again, and does not greet it")
class DistrustsSecondHellos(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        other = self.others.get(message.session)
        if message.subject == HELLO and other is not None and other.is_trusted:
            other.is_trusted = False
