"""Faults of a subscriber: whom it trusts, and how it proves who it is."""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from wire.rai.values import AUTH, HB, Auth, Body, Bye, Hello, Message, Published, Reply, inbox, nonce_of, user_of


@fault("RAI-087", does="proves itself to nobody")
class ProvesNothing(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        """Say nothing."""


@fault("RAI-087", does="proves itself to one session of a user")
class ProvesOncePerUser(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        self.users: dict[str, str] = getattr(self, "users", {})
        if self.users.setdefault(user_of(other.session), other.session) == other.session:
            super().prove(other, time, cnonce, now)


@fault("RAI-087", does="proves itself to publishers whose HELLO it has heard")
class ProvesToWhoGreets(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        if other.time > time or other.greeting[0]:
            super().prove(other, time, cnonce, now)


@fault("RAI-087", does="answers proofs that answer its HELLO alone")
class RemembersItsHello(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        if subject == HB:
            del self._said[max(self._said)]


@fault("RAI-087", does="proves itself to the inbox, and not to auth in it")
class ProvesElsewhere(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject.removesuffix(AUTH) + "1" if isinstance(body, Auth) else subject, body, key)


@fault("RAI-166", does="says the time of its own HELLO as auth_time")
class SaysItsOwnTime(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Auth):
            body = Auth(auth_time=min(self._said), time=body.time, cnonce=body.cnonce)
        super().say(subject, body, key)


@fault("RAI-166", does="says the time of its proof twice")
class SaysNow(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Auth):
            body = Auth(auth_time=body.time + 1, time=body.time, cnonce=body.cnonce)
        super().say(subject, body, key)


@fault("RAI-165", does="signs its proof with the key of its session")
class ProvesWithItsSession(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, body, None if isinstance(body, Auth) else key)


@fault("RAI-165", does="keys its proof by its own HELLO")
class ProvesByItsHello(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        body = Auth(auth_time=time, time=self.utc(now), cnonce=self.new_nonce())
        first = min(self._said)
        self.say(inbox(other.session, AUTH), body, key=self.auth_key(self.session, first, self._said[first]))


@fault("RAI-165", does="keys its proof by the publisher's NONCE")
class ProvesByAnotherNonce(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        body = Auth(auth_time=time, time=self.utc(now), cnonce=self.new_nonce())
        key = self.signing.auth_key(self.database[self.user], nonce_of(other.session), time, cnonce)
        self.say(inbox(other.session, AUTH), body, key=key)


@fault("RAI-165", does="keys its proof by the cnonce that it was first asked by")
class ProvesByTheFirstCnonce(Subscriber):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        self.first: str = getattr(self, "first", cnonce)
        body = Auth(auth_time=time, time=self.utc(now), cnonce=self.new_nonce())
        self.say(inbox(other.session, AUTH), body, key=self.auth_key(self.session, time, self.first))


@fault("RAI-088", does="trusts no second publisher")
class TrustsOne(Subscriber):
    def is_trusted(self, other: KnownSession) -> bool:
        return super().is_trusted(other) and other.session == next(iter(self.others))


@fault("RAI-088", does="trusts a publisher until its next heartbeat")
class TrustsForATime(Subscriber):
    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        if other.greeting[0] and user_of(other.session) != "tess":
            other.is_trusted = False

    def tick(self, now: float) -> None:
        super().tick(now)
        for other in self.others.values():
            if now - other.heard > 5 and user_of(other.session) != "tess":
                other.is_trusted = False


@fault("RAI-088", does="trusts a publisher after a second proof")
class TrustsTheSecond(Subscriber):
    def trust(self, other: KnownSession, now: float) -> None:
        super().trust(other, now)
        self.proofs: dict[str, int] = getattr(self, "proofs", {})
        self.proofs[other.session] = self.proofs.get(other.session, 0) + 1
        other.is_trusted = self.proofs[other.session] > 1 or user_of(other.session) == "tess"


@fault("RAI-070", does="has one key for all sessions of a user")
class OneKeyForAUser(Subscriber):
    def meet(self, session: str, now: float) -> KnownSession:
        known = super().meet(session, now)
        self.keys: dict[str, bytes] = getattr(self, "keys", {})
        known.key = self.keys.setdefault(user_of(session), known.key)
        return known


@fault("RAI-070", does="knows tess alone")
class KnowsTess(Subscriber):
    def is_trusted(self, other: KnownSession) -> bool:
        return super().is_trusted(other) and user_of(other.session) == "tess"


@fault("RAI-070", does="has one session of each user: a second one ends the first")
class OneSessionForAUser(Subscriber):
    def trust(self, other: KnownSession, now: float) -> None:
        for each in [each for each in self.others.values() if user_of(each.session) == user_of(other.session)]:
            each.is_trusted = False
        super().trust(other, now)


class TakesProofs(Subscriber):
    """A subscriber that takes auth messages for proofs that are none."""

    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        """Return keys that it takes as well."""
        return []

    def is_proof(self, message: Message, answered: tuple[int, str]) -> bool:
        keys = self.also(message, answered)
        return super().is_proof(message, answered) or any(self.is_genuine(message, key) for key in keys)


@fault("RAI-164", does="looks at no digest of auth messages")
class TakesAnyProof(Subscriber):
    def is_proof(self, message: Message, answered: tuple[int, str]) -> bool:
        return True


@fault("RAI-164", does="takes a proof that is signed with the session's key")
class TakesTheSessionsKey(TakesProofs):
    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        return [self.signing.session_key(self.database[user_of(message.session)], nonce_of(message.session))]


@fault("RAI-164", does="takes a proof that is keyed by its own password")
class TakesItsOwnPassword(TakesProofs):
    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        return [self.signing.auth_key(self.database[self.user], nonce_of(message.session), *answered)]


@fault("RAI-164", does="takes a proof that is keyed by the cnonce in it")
class TakesItsCnonce(TakesProofs):
    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        assert isinstance(message.body, Auth)
        return [self.auth_key(message.session, answered[0], message.body.cnonce)]


@fault("RAI-164", does="takes a proof that is keyed by any time near its own")
class TakesNearTimes(TakesProofs):
    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        return [self.auth_key(message.session, answered[0] - 1, answered[1])]


@fault("RAI-164", does="takes a proof that is keyed by the time in it")
class TakesItsOwnTime(TakesProofs):
    def also(self, message: Message, answered: tuple[int, str]) -> list[bytes]:
        assert isinstance(message.body, Auth)
        return [self.auth_key(message.session, message.body.time, answered[1])]


@fault("RAI-164", does="trusts who has sent a wrong proof, and does not answer it")
class TrustsWrongProofs(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        if message.session not in self.others or not self.others[message.session].is_trusted:
            self.trust(self.meet(message.session, now), now)


@fault("RAI-164", does="answers wrong proofs, and does not trust who has sent them")
class AnswersWrongProofs(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        other = self.meet(message.session, now)
        if body.auth_time in self._said and not other.is_trusted:
            self.prove(other, body.time, body.cnonce, now)


@fault("RAI-164", does="takes the digest of a proof for any subject")
class TakesProofsFromElsewhere(Subscriber):
    first: Auth | None = None

    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        # As one that has kept what it was asked by in a former run.
        if message.subject == inbox(self.session, AUTH) and body.auth_time < min(self._said):
            self.trust(self.meet(message.session, now), now)
        super().hear_auth(message, body, now)


@fault("RAI-164", does="takes no right proof behind a wrong one")
class OffendedByWrongProofs(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        self.offended: set[str] = getattr(self, "offended", set())
        if message.session in self.offended:
            return
        super().hear_auth(message, body, now)
        if message.session not in self.others or not self.others[message.session].is_trusted:
            self.offended.add(message.session)


@fault("RAI-085", does="takes proofs whatever their auth_time")
class TakesAnyTime(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        if body.auth_time not in self._said:
            for time, cnonce in self._said.items():
                if self.is_proof(message, (time, cnonce)):
                    self.prove(self.meet(message.session, now), body.time, body.cnonce, now)
        super().hear_auth(message, body, now)


@fault("RAI-085", does="takes proofs whose auth_time is 0")
class TakesNoTime(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        if body.auth_time == 0:
            self.prove(self.meet(message.session, now), body.time, body.cnonce, now)
        super().hear_auth(message, body, now)


@fault("RAI-079", does="trusts who has said HELLO")
class TrustsWhoGreets(Subscriber):
    def is_trusted(self, other: KnownSession) -> bool:
        return True


@fault("RAI-079", does="trusts every session of a known user")
class TrustsKnownUsers(Subscriber):
    def hear(self, message: Message, now: float) -> None:
        if message.session not in self.others and not isinstance(message.body, Auth | Hello):
            known = self.meet(message.session, now)
            if self.is_genuine(message, known.key):
                known.is_trusted = True
                self.others[message.session] = known
        super().hear(message, now)


@fault("RAI-079", does="trusts who has said a heartbeat")
class TrustsWhoBeats(Subscriber):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        if message.subject == HB and message.session in self.others:
            self.others[message.session].is_trusted = True


class TrustsSomewhat(Subscriber):
    """A subscriber that takes some messages of sessions that it has only met."""

    def takes(self, message: Message) -> bool:
        """Tell whether a message is taken of who is not trusted."""
        return False

    def admitted(self, message: Message) -> KnownSession | None:
        known = self.meet(message.session, 0.0)
        if not known.is_trusted and self.takes(message) and self.is_genuine(message, known.key):
            return known
        return super().admitted(message)


@fault("RAI-079", does="takes drops of who is not trusted")
class TakesStrangeDrops(TrustsSomewhat):
    def takes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.kind == "drop"


@fault("RAI-079", does="takes answers of who is not trusted")
class TakesStrangeAnswers(TrustsSomewhat):
    def takes(self, message: Message) -> bool:
        return isinstance(message.body, Reply)


@fault("RAI-079", does="takes notices without data of who is not trusted")
class TakesStrangeNotices(TrustsSomewhat):
    def takes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and not message.body.has_data and message.body.kind == "update"


@fault("RAI-090", does="trusts on when a session has said BYE")
class TrustsTheGone(Subscriber):
    def hear(self, message: Message, now: float) -> None:
        if not isinstance(message.body, Bye):
            super().hear(message, now)


@fault("RAI-090", does="trusts again who says HELLO after its BYE")
class TrustsWhoComesBack(Subscriber):
    def hear(self, message: Message, now: float) -> None:
        self.gone: set[str] = getattr(self, "gone", set())
        if isinstance(message.body, Bye):
            self.gone.add(message.session)
        super().hear(message, now)
        if isinstance(message.body, Hello) and message.session in self.gone:
            known = self.meet(message.session, now)
            known.is_trusted, known.has_ended = True, False
            self.others[message.session] = known


@fault("RAI-090", does="takes the proof of a session that has ended once more")
class TakesOldProofs(Subscriber):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        cnonce = self._said.get(body.auth_time)
        if cnonce is not None and self.is_proof(message, (body.auth_time, cnonce)):
            self.others.pop(message.session, None)
            self.former.pop(message.session, None)
        super().hear_auth(message, body, now)


@fault("RAI-203", does="starts what it wants once, trusted or not")
class StartsBeforeTheExchange(Subscriber):
    def start_all(self) -> None:
        """Say nothing."""


@fault("RAI-203", does="starts no wildcard again after the exchange")
class StartsSubjectsAfterTheExchange(Subscriber):
    def start_all(self) -> None:
        for subject, wanted in self.wanted.items():
            self.start(subject, wanted)


@fault("RAI-203", does="starts one subject after the exchange")
class StartsOneAfterTheExchange(Subscriber):
    def start_all(self) -> None:
        wanted, self.wanted = self.wanted, dict(list(self.wanted.items())[:1])
        super().start_all()
        self.wanted = wanted


@fault("RAI-203", does="starts what it wants before it has proven itself")
class StartsTooEarly(Subscriber):
    def trusted(self, other: KnownSession, now: float) -> None:
        self.greeted(other, now)

    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        self.start_all()
        super().prove(other, time, cnonce, now)
