"""Faults of publishers that take requests, stops and BYEs whose digests are not theirs."""

from typing import Any

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import (
    SNAP,
    START,
    STOP,
    Bye,
    DictRequest,
    Message,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    encoded,
    nonce_of,
    user_of,
)

REQUESTS = (SnapRequest, SubStart, SubStop)


class Credits(Publisher):
    """What takes messages with other digests is made of this; ``forms`` are the bodies of which it does."""

    forms: tuple[type, ...] = REQUESTS

    def is_genuine(self, message: Message, key: bytes) -> bool:
        if super().is_genuine(message, key):
            return True
        return isinstance(message.body, self.forms) and self.passes(message, key)

    def passes(self, message: Message, key: bytes) -> bool:
        """Tell whether a message is taken that has not its own digest."""
        return True

    def right(self, message: Message, key: bytes) -> str:
        """Return the digest that it should have."""
        return self.signing.digest(key, message.seqno, message.subject, message.signed)

    def verifies(self, message: Message, key: bytes) -> bool:
        """Tell whether a message is signed with another key."""
        return super().is_genuine(message, key)


@fault("RAI-076", does="looks at no digest of a snapshot request")
class ShowsTheForged(Credits):
    forms = (SnapRequest,)


@fault("RAI-076", does="looks at no digest of a start")
class StartsForgedOnes(Credits):
    forms = (SubStart,)


@fault("RAI-076", does="looks at no digest of a stop")
class StopsForgedOnes(Credits):
    forms = (SubStop,)


@fault("RAI-076", "RAI-170", does="looks at no digest of a BYE")
class EndsForgedOnes(Credits):
    forms = (Bye,)


@fault("RAI-076", does="looks at no digest of a wildcard start")
class StartsForgedWildcards(Credits):
    forms = (WildStart,)


@fault("RAI-076", does="looks at no digest of a list")
class TakesForgedLists(Credits):
    forms = (Subs,)


@fault("RAI-076", does="looks at no digest of a request for a dictionary")
class SendsWordsToTheForged(Credits):
    forms = (DictRequest,)


@fault("RAI-076", does="takes a request without a digest")
class TakesTheUnsigned(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return not message.digest


@fault("RAI-076", does="compares as much of a digest as there is")
class ComparesWhatIsThere(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return bool(message.digest) and self.right(message, key).startswith(message.digest)


@fault("RAI-076", does="compares the beginning of digests")
class ComparesTenLetters(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key)[:10] == message.digest[:10]


@fault("RAI-076", does="compares the end of digests")
class ComparesEnds(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key)[11:] == message.digest[11:]


@fault("RAI-076", does="passes over what stands behind a digest")
class ComparesNothingBehind(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return message.digest.startswith(self.right(message, key))


@fault("RAI-076", does="compares digests without looking at capitals")
class ComparesWithoutCapitals(Credits):
    forms = (*REQUESTS, Bye)

    def passes(self, message: Message, key: bytes) -> bool:
        return self.right(message, key).lower() == message.digest.lower()


@fault("RAI-076", does="counts what it knows of a message alone as signed")
class TakesWhatItKnows(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        known = encoded(message.body)
        return self.signing.verifies(key, message.seqno, message.subject, known, message.digest)


@fault("RAI-076", does="takes a seqno for the one before")
class TakesTheNextNumber(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.signing.verifies(key, message.seqno - 1, message.subject, message.signed, message.digest)


@fault("RAI-076", does="looks at four bytes of a seqno")
class TakesHighNumbers(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return self.signing.verifies(key, message.seqno & 0xFFFFFFFF, message.subject, message.signed, message.digest)


@fault("RAI-076", does="looks at the digests of a session's first twenty requests alone")
class LooksAtFirstDigests(Credits):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.looked = 0

    def passes(self, message: Message, key: bytes) -> bool:
        self.looked += 1
        return self.looked > 20


@fault("RAI-076", does="remembers the seqnos of what has a wrong digest")
class RemembersForgedNumbers(Publisher):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.others.get(message.session)
        if other is None or not self.is_new(message, other):
            return None
        return other if self.is_genuine(message, other.key) and self.is_trusted(other) else None


@fault("RAI-076", does="trusts a session no more of which it has heard something with a wrong digest")
class DistrustsVictims(Publisher):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.others.get(message.session)
        if other is not None and not self.is_genuine(message, other.key):
            other.is_trusted = False
        return super().admitted(message)


class TakesOtherSubjects(Credits):
    """What takes a message under another subject than it was signed for is made of this."""

    def passes(self, message: Message, key: bytes) -> bool:
        return any(
            self.signing.verifies(key, message.seqno, prefix + subject, message.signed, message.digest)
            for prefix in self.prefixes(message)
            for subject in self.subjects(message)
        )

    def prefixes(self, message: Message) -> tuple[str, ...]:
        """Return with what the subject may begin for which a message was signed."""
        return (START, STOP, SNAP)

    def subjects(self, message: Message) -> list[str]:
        """Return what may follow that."""
        return list(self.records)


def prefix_of(message: Message) -> str:
    """Return with what the subject of a request begins."""
    return next(each for each in (START, STOP, SNAP) if message.subject.startswith(each))


@fault("RAI-171", does="does not count the subject as signed")
class SubjectsAreNotSigned(TakesOtherSubjects):
    pass


@fault("RAI-171", does="does not count as signed what is done with a subject")
class KindsAreNotSigned(TakesOtherSubjects):
    def subjects(self, message: Message) -> list[str]:
        return [message.subject.removeprefix(prefix_of(message))]


@fault("RAI-171", does="counts of a subject as signed what is done with it, and nothing else")
class NamesAreNotSigned(TakesOtherSubjects):
    def prefixes(self, message: Message) -> tuple[str, ...]:
        return (prefix_of(message),)


@fault("RAI-171", does="takes a start for a stop of the same subject")
class TakesStartsForStops(TakesOtherSubjects):
    forms = (SubStop,)

    def prefixes(self, message: Message) -> tuple[str, ...]:
        return (START,)


@fault("RAI-171", does="takes a start of one subject for that of another")
class TakesStartsForOthers(TakesOtherSubjects):
    forms = (SubStart,)

    def prefixes(self, message: Message) -> tuple[str, ...]:
        return (START,)


@fault("RAI-169", does="takes what is signed with any key that it knows")
class TakesAnyKey(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return any(self.verifies(message, each.key) for each in self.others.values())


@fault("RAI-169", does="takes what any user has signed with a session's NONCE")
class TakesAnyUser(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        nonce = nonce_of(message.session)
        return any(self.verifies(message, self.signing.session_key(secret, nonce)) for secret in self.database.values())


@fault("RAI-169", does="takes what is signed with the HA0 of any user")
class TakesSecrets(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return any(self.verifies(message, secret) for secret in self.database.values())


@fault("RAI-169", does="takes what a user has signed with the NONCE of another session")
class TakesAnyNonce(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        secret = self.database[user_of(message.session)]
        return any(
            self.verifies(message, self.signing.session_key(secret, nonce_of(each))) for each in list(self.others)
        )


@fault("RAI-169", does="does not count the session as signed, if its user is known")
class TakesRecordings(Credits):
    def passes(self, message: Message, key: bytes) -> bool:
        return isinstance(message.body, SnapRequest) and any(
            self.verifies(message, each.key) for each in self.others.values() if each.is_trusted
        )


@fault("RAI-170", does="takes a BYE that anybody has signed")
class EndsForOthers(TakesAnyKey):
    forms = (Bye,)


@fault("RAI-170", does="takes a stop that anybody has signed")
class StopsForOthers(TakesAnyKey):
    forms = (SubStop,)


@fault("RAI-170", does="takes a BYE that another session of the user has signed")
class EndsForTheUser(Credits):
    forms = (Bye,)

    def passes(self, message: Message, key: bytes) -> bool:
        mine = user_of(message.session)
        return any(self.verifies(message, each.key) for each in self.others.values() if user_of(each.session) == mine)


@fault("RAI-170", does="takes a BYE without a digest")
class EndsTheUnsigned(Credits):
    forms = (Bye,)

    def passes(self, message: Message, key: bytes) -> bool:
        return not message.digest


@fault("RAI-170", does="ends all sessions of a user with one")
class EndsAllOfAUser(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        super().forget(other, now)
        for each in [each for each in self.others.values() if user_of(each.session) == user_of(other.session)]:
            super().forget(each, now)


@fault("RAI-170", does="ends a subscription of all sessions of a user by one stop")
class StopsForAllOfAUser(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, body, other)
        for each in [each for each in self.others.values() if user_of(each.session) == user_of(other.session)]:
            self.end_subscription(each, subject)
