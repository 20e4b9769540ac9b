"""Faults of a subscriber: what it takes that was changed or forged."""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import NodePeer
from harness.rai.peers.subscriber import Subscriber
from harness.rai.users import DATABASE, secret_of
from harness.rai.variants.registry import fault
from wire.rai.values import Bye, GetSubs, Message, Published, Reply, fields_of, nonce_of, user_of


class Credulous(Subscriber):
    """A subscriber that takes some messages whose digest is wrong."""

    def believes(self, message: Message) -> bool:
        """Tell whether a message is taken whatever its digest."""
        return False

    def is_genuine(self, message: Message, key: bytes) -> bool:
        return super().is_genuine(message, key) or self.believes(message)


@fault("RAI-068", "RAI-076", does="looks at no digest of updates")
class LooksAtNoUpdates(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.kind == "update"


@fault("RAI-068", does="signs data alone: type and status of an update may be changed")
class LooksAtDataAlone(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.state != "ok" and bool(message.digest)


@fault("RAI-068", does="looks at no digest of drops")
class LooksAtNoDrops(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.kind == "drop"


@fault("RAI-068", does="looks at no digest of images that are published")
class LooksAtNoImages(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.kind == "initial"


@fault("RAI-068", "RAI-169", does="looks at no digest in its inbox")
class LooksAtNoAnswers(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Reply)


@fault("RAI-068", does="leaves the subject out of the digest")
class LeavesOutTheSubject(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        subjects = [message.subject, *self.wanted]
        return any(self.signing.verifies(key, message.seqno, each, message.signed, message.digest) for each in subjects)


@fault("RAI-068", does="leaves the return out of the digest of answers")
class LeavesOutTheReturn(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        subjects = [message.subject]
        if isinstance(message.body, Reply):
            subjects += [f"_INBOX.{self.session}.{returned}" for returned in self.asked]
        return any(self.signing.verifies(key, message.seqno, each, message.signed, message.digest) for each in subjects)


@fault("RAI-068", does="leaves the seqno out of the digest")
class LeavesOutTheSeqno(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        seqnos = [message.seqno, *range(max(0, message.seqno - 3), message.seqno)]
        return any(self.signing.verifies(key, each, message.subject, message.signed, message.digest) for each in seqnos)


@fault("RAI-068", does="takes the seqno for a number of 32 bits in the digest")
class LeavesOutHighBits(Subscriber):
    last = 0

    def is_genuine(self, message: Message, key: bytes) -> bool:
        if super().is_genuine(message, key):
            self.last = message.seqno
            return True
        if message.seqno < 2**32:
            return False
        seqnos = [message.seqno % 2**32 + more for more in range(-2, 3)]
        return any(
            each >= 0 and self.signing.verifies(key, each, message.subject, message.signed, message.digest)
            for each in seqnos
        )


@fault("RAI-076", does="compares the first four letters of digests")
class ComparesTheBeginning(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        right = self.signing.digest(key, message.seqno, message.subject, message.signed)
        return right[:4] == message.digest[:4]


@fault("RAI-076", does="compares as many letters of a digest as there are")
class ComparesWhatThereIs(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        right = self.signing.digest(key, message.seqno, message.subject, message.signed)
        return right.startswith(message.digest)


@fault("RAI-076", does="takes messages without a digest")
class TakesUnsigned(Credulous):
    def believes(self, message: Message) -> bool:
        return message.digest == ""


@fault("RAI-076", does="takes what is signed with its own password")
class TakesItsOwnKey(Credulous):
    def believes(self, message: Message) -> bool:
        key = self.signing.session_key(self.database[self.user], nonce_of(message.session))
        return super(Credulous, self).is_genuine(message, key)


@fault("RAI-076", does="looks at each session's first digest alone")
class LooksAtTheFirst(Credulous):
    def believes(self, message: Message) -> bool:
        return len(self.seqnos_of(message.session)) > 2

    def seqnos_of(self, session: str) -> dict[str, int]:
        """Return the last seqno of each subject of a session."""
        other = self.others.get(session)
        return {} if other is None else other.seqnos


@fault("RAI-076", does="answers questions whose digest is wrong")
class AnswersForgedQuestions(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, GetSubs)


@fault("RAI-076", does="takes a BYE whose digest is wrong")
class TakesForgedEnds(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Bye)


@fault("RAI-076", does="takes notices without data whose digest is wrong")
class TakesForgedNotices(Credulous):
    def believes(self, message: Message) -> bool:
        return isinstance(message.body, Published) and not message.body.has_data


@fault("RAI-076", does="takes note of the seqno of messages whose digest is wrong")
class NotesForgedSeqnos(Subscriber):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.others.get(message.session)
        if other is None or not self.is_trusted(other) or not self.is_new(message, other):
            return None
        return other if self.is_genuine(message, other.key) else None


@fault("RAI-076", does="takes note of the seqno of questions whose digest is wrong")
class NotesForgedQuestions(Subscriber):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.others.get(message.session)
        if isinstance(message.body, GetSubs) and other is not None and not self.is_genuine(message, other.key):
            self.is_new(message, other)
            return None
        return super().admitted(message)


@fault("RAI-076", does="trusts a session no more that a forged message came of")
class DistrustsTheForged(Subscriber):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.others.get(message.session)
        if other is not None and not self.is_genuine(message, other.key):
            other.is_trusted = False
        return super().admitted(message)


class HospitableSubscriber(Subscriber):
    """A subscriber that knows users who are in no database; ``secret_of`` says what it takes for their keys."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        self.database = _Everybody(self.secret_of)
        super().received(link, frame, now)

    def secret_of(self, user: str) -> bytes:
        """Return the HA0 of a user."""
        return secret_of(user)


class _Everybody(dict[str, bytes]):
    def __init__(self, secret_of: object) -> None:
        super().__init__(DATABASE)
        self._secret_of = secret_of

    def __contains__(self, user: object) -> bool:
        return True

    def __missing__(self, user: str) -> bytes:
        return self._secret_of(user)  # type: ignore[operator,no-any-return]


@fault("RAI-075", does="knows everybody by a password that it can guess")
class KnowsEverybody(HospitableSubscriber):
    pass


@fault("RAI-075", does="takes an unknown user for one without a password")
class KnowsNobodysPassword(HospitableSubscriber):
    def secret_of(self, user: str) -> bytes:
        return b""

    def is_genuine(self, message: Message, key: bytes) -> bool:
        is_known = user_of(message.session) in DATABASE
        return super().is_genuine(message, key) or (not is_known and super().is_genuine(message, bytes(32)))

    def is_trusted(self, other: KnownSession) -> bool:
        return super().is_trusted(other) or user_of(other.session) not in DATABASE

    def hear(self, message: Message, now: float) -> None:
        if user_of(message.session) not in DATABASE and message.session not in self.others:
            self.others[message.session] = self.meet(message.session, now)
        super().hear(message, now)


@fault("RAI-075", does="takes users for known whose name differs in its case alone")
class IgnoresCaseOfUsers(HospitableSubscriber):
    def meet(self, session: str, now: float) -> KnownSession:
        known = super().meet(session, now)
        known.is_trusted = known.is_trusted or user_of(session).isupper()
        self.others[session] = known
        return known


@fault("RAI-169", does="takes what any known user has signed")
class TakesAnyUsersKey(Credulous):
    def believes(self, message: Message) -> bool:
        keys = [self.signing.session_key(secret, nonce_of(message.session)) for secret in self.database.values()]
        return any(NodePeer.is_genuine(self, message, each) for each in keys)


@fault("RAI-169", does="takes what any session that it trusts has signed")
class TakesAnySessionsKey(Credulous):
    def believes(self, message: Message) -> bool:
        return any(NodePeer.is_genuine(self, message, each.key) for each in self.others.values())


@fault("RAI-169", does="takes drops that another session has signed")
class TakesOthersDrops(TakesAnySessionsKey):
    def believes(self, message: Message) -> bool:
        is_drop = isinstance(message.body, Published) and message.body.kind == "drop"
        return is_drop and super().believes(message)


@fault("RAI-169", does="takes a user's word in sessions with the NONCE of another that it trusts")
class TrustsTheNonce(Subscriber):
    def is_trusted(self, other: KnownSession) -> bool:
        return any(
            each.is_trusted and nonce_of(each.session) == nonce_of(other.session) for each in self.others.values()
        )

    def hear(self, message: Message, now: float) -> None:
        trusted = [nonce_of(each.session) for each in self.others.values()]
        if message.session not in self.others and nonce_of(message.session) in trusted:
            self.others[message.session] = self.meet(message.session, now)
        super().hear(message, now)


@fault("RAI-068", does="looks at no digest of updates that have a second field")
class LooksAtShortUpdates(Credulous):
    def believes(self, message: Message) -> bool:
        body = message.body
        return isinstance(body, Published) and body.kind == "update" and len(fields_of(body.data) or {}) > 1
