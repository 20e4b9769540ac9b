"""Faults of publishers in which HELLOs they take for those of living, known sessions."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from harness.rai.peers.known import INTERVAL, KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.users import DATABASE, secret_of
from harness.rai.variants.registry import fault
from wire.rai.values import HELLO, Hello, Message, encoded, user_of

SECOND = 1_000_000
DAY = 86_400 * SECOND
CLOSE = 20 * SECOND


class WideDatabase(Mapping[str, bytes]):
    """A database that knows more users than there are; ``found`` says whose HA0 another has."""

    @abstractmethod
    def found(self, user: str) -> bytes | None:
        """Return the HA0 of a user who is not there."""

    def __getitem__(self, user: str) -> bytes:
        secret = DATABASE.get(user) or self.found(user)
        if secret is None:
            raise KeyError(user)
        return secret

    def __contains__(self, user: object) -> bool:
        return isinstance(user, str) and (user in DATABASE or self.found(user) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(DATABASE)

    def __len__(self) -> int:
        return len(DATABASE)


class GreetsMore(Publisher):
    """What knows more users than there are is made of this."""

    users: type[WideDatabase]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"database": self.users(), **settings})


class Everybody(WideDatabase):
    def found(self, user: str) -> bytes | None:
        return secret_of(user)


class Nameless(WideDatabase):
    def found(self, user: str) -> bytes | None:
        return b""


class Beginnings(WideDatabase):
    def found(self, user: str) -> bytes | None:
        return next((secret for each, secret in DATABASE.items() if user and each.startswith(user)), None)


class Capitals(WideDatabase):
    def found(self, user: str) -> bytes | None:
        return DATABASE.get(user.lower())


class LongNames(WideDatabase):
    def found(self, user: str) -> bytes | None:
        return DATABASE.get(user[:4])


@fault("RAI-160", does="takes everybody for a user whose password is as those of others")
class GreetsEverybody(GreetsMore):
    users = Everybody


@fault("RAI-160", does="has an empty key for who is not in its database")
class GreetsTheNameless(GreetsMore):
    users = Nameless


@fault("RAI-160", does="knows users by the beginnings of their names")
class GreetsBeginnings(GreetsMore):
    users = Beginnings


@fault("RAI-160", does="knows users in capitals as well")
class GreetsCapitals(GreetsMore):
    users = Capitals


@fault("RAI-160", does="knows users by their first four letters")
class GreetsLongNames(GreetsMore):
    users = LongNames


@fault("RAI-161", does="greets who says HELLO with an old time")
class GreetsTheOld(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return body.time <= self.utc(now) + CLOSE


@fault("RAI-161", does="takes a HELLO without a real time for one of now")
class GreetsTheTimeless(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return body.time <= 0 or super().is_timely(body, now)


@fault("RAI-161", does="takes a time in seconds for one as well")
class GreetsSeconds(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return super().is_timely(body, now) or abs(body.time * SECOND - self.utc(now)) <= CLOSE


@fault("RAI-161", does="looks at the time of day of a HELLO, and not at the day")
class GreetsEachDay(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return body.time <= self.utc(now) + CLOSE and abs(body.time - self.utc(now)) % DAY <= CLOSE


@fault("RAI-161", does="takes a HELLO for new that is a few minutes old")
class GreetsAfterMinutes(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return -CLOSE <= self.utc(now) - body.time <= 300 * SECOND


@fault("RAI-161", does="looks at the time of a session's first HELLO alone")
class GreetsOldFriends(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        self.is_met = message.session in self.others
        super().hear_greeting(message, body, now)

    def is_timely(self, body: Hello, now: float) -> bool:
        return self.is_met or super().is_timely(body, now)


@fault("RAI-162", does="greets who says HELLO with a time to come")
class GreetsTheFuture(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return body.time >= self.utc(now) - CLOSE


@fault("RAI-162", does="greets who says HELLO with the time of another zone")
class GreetsOtherZones(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        ahead = body.time - self.utc(now)
        return super().is_timely(body, now) or (ahead > 0 and ahead % (3600 * SECOND) <= CLOSE)


class LooksAway(Publisher):
    """What takes HELLOs with other digests is made of this."""

    def is_genuine(self, message: Message, key: bytes) -> bool:
        if super().is_genuine(message, key):
            return True
        return isinstance(message.body, Hello) and self.passes(message, key)

    @abstractmethod
    def passes(self, message: Message, key: bytes) -> bool:
        """Tell whether a HELLO is taken that has not its own digest."""

    def right(self, message: Message, key: bytes) -> str:
        """Return the digest that it should have."""
        return self.signing.digest(key, message.seqno, message.subject, message.signed)


@fault("RAI-163", does="looks at no digest of a HELLO")
class GreetsTheForged(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return True


@fault("RAI-163", does="takes a HELLO without a digest")
class GreetsTheUnsigned(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return not message.digest


@fault("RAI-163", does="compares as much of a HELLO's digest as there is")
class GreetsTheHalfSigned(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return bool(message.digest) and self.right(message, key).startswith(message.digest)


@fault("RAI-163", does="compares eight letters of a HELLO's digest")
class GreetsTheBeginning(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key)[:8] == message.digest[:8]


@fault("RAI-163", does="compares the end of a HELLO's digest")
class GreetsTheEnd(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key)[-11:] == message.digest[-11:]


@fault("RAI-163", does="does not see whether letters of a HELLO's digest are capitals")
class GreetsCapitalDigests(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key).lower() == message.digest.lower()


@fault("RAI-163", does="takes a HELLO that is signed as a heartbeat")
class GreetsHeartbeats(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.signing.verifies(key, message.seqno, "_SESSION.HB", message.signed, message.digest)


@fault("RAI-163", does="takes a HELLO that is signed by any user")
class GreetsForOthers(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        nonce = message.session.rpartition(".")[2]
        keys = [self.signing.session_key(secret, nonce) for secret in self.database.values()]
        keys += [bytes(32), *self.database.values()]
        return any(super(LooksAway, self).is_genuine(message, each) for each in keys)


@fault("RAI-163", does="takes a HELLO whose seqno was changed by one")
class GreetsChangedNumbers(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.signing.verifies(key, message.seqno - 1, message.subject, message.signed, message.digest)


@fault("RAI-163", does="counts only what it knows of a HELLO as signed")
class GreetsWithMore(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        known = encoded(message.body)
        return self.signing.verifies(key, message.seqno, message.subject, known, message.digest)


@fault("RAI-163", does="does not count the interval of a HELLO as signed")
class GreetsOtherIntervals(LooksAway):
    def passes(self, message: Message, key: bytes) -> bool:
        members = msgspec.json.decode(message.signed)
        signed = msgspec.json.encode(members | {"interval": INTERVAL})
        return self.signing.verifies(key, message.seqno, message.subject, signed, message.digest)


@fault("RAI-082", does="answers a HELLO whenever it comes")
class AnswersEachHello(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or message.subject == HELLO


@fault("RAI-082", does="knows the last HELLO of a session, and none before")
class KnowsTheLastHello(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = other.seqnos.get(message.subject)
        if super().is_new(message, other):
            return True
        other.seqnos[message.subject] = message.seqno
        return message.subject == HELLO and message.seqno != last


@fault("RAI-082", does="answers HELLOs of trusted sessions whenever they come")
class GreetsTheTrustedAgain(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or (message.subject == HELLO and other.is_trusted)

    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        if other.is_trusted:
            self.prove(other, *other.greeting, now)


class Counting(Publisher):
    """What understands some sessions of a user, or of all, is made of this."""

    def is_genuine(self, message: Message, key: bytes) -> bool:
        return super().is_genuine(message, key) and self.understands(message)

    @abstractmethod
    def understands(self, message: Message) -> bool:
        """Tell whether a message is understood."""


@fault("RAI-070", does="has one key for each user, that of the first session")
class KeepsFirstKeys(Counting):
    def understands(self, message: Message) -> bool:
        user = user_of(message.session)
        return next((each for each in self.others if user_of(each) == user), message.session) == message.session


@fault("RAI-070", does="has keys for sixteen sessions")
class KeepsSixteenKeys(Counting):
    def understands(self, message: Message) -> bool:
        return message.session in list(self.others)[:16] or len(self.others) < 16


@fault("RAI-070", does="takes a NONCE that begins with a dash for none")
class TakesNoDashes(Counting):
    def understands(self, message: Message) -> bool:
        return ".-" not in message.session


@fault("RAI-070", does="understands two users")
class UnderstandsTwoUsers(Counting):
    def understands(self, message: Message) -> bool:
        return user_of(message.session) in {user_of(each) for each in [*self.others, message.session][:2]}


@fault("RAI-070", does="speaks with nobody any more when four sessions have proven nothing")
class GivesUpOnStrangers(Publisher):
    def is_trusted(self, other: KnownSession) -> bool:
        untrusted = [each for each in self.others.values() if not each.is_trusted]
        return super().is_trusted(other) and len(untrusted) < 4
