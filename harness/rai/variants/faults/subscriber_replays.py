"""Faults of a subscriber: what it makes of seqnos, and of what comes twice."""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from wire.rai.values import Auth, Hello, Message, Published, Reply


@fault("RAI-073", "RAI-180", does="looks at no seqno")
class LooksAtNoSeqno(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        super().is_new(message, other)
        return True


@fault("RAI-073", does="passes over the last seqno alone")
class LooksAtTheLastSeqno(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        is_last = other.seqnos.get(message.subject) == message.seqno
        other.seqnos[message.subject] = message.seqno
        return not is_last


@fault("RAI-073", does="takes each seqno once, in any order")
class TakesOldSeqnos(Subscriber):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.seen: set[tuple[str, str, int]] = set()

    def is_new(self, message: Message, other: KnownSession) -> bool:
        key = (message.session, message.subject, message.seqno)
        is_new = key not in self.seen
        self.seen.add(key)
        super().is_new(message, other)
        return is_new


@fault("RAI-180", does="takes a seqno that is equal to the last")
class TakesEqualSeqnos(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or message.seqno == other.seqnos[message.subject]


@fault("RAI-180", does="takes a question twice")
class AnswersQuestionsTwice(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or message.subject.endswith("get_subs")


@fault("RAI-180", does="takes answers twice")
class TakesAnswersTwice(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or isinstance(message.body, Reply)


@fault("RAI-180", does="takes drops twice")
class TakesDropsTwice(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        is_drop = isinstance(message.body, Published) and message.body.kind == "drop"
        return super().is_new(message, other) or is_drop


class ForgetsSeqnos(Subscriber):
    """A subscriber that forgets seqnos of subjects."""

    def forget_seqnos(self, other: KnownSession, subject: str = "") -> None:
        """Forget the seqnos of what is published under one subject, or under all."""
        for each in [each for each in other.seqnos if not each.startswith("_") and subject in ("", each)]:
            del other.seqnos[each]


@fault("RAI-073", does="remembers the seqnos of four subjects")
class RemembersFourSubjects(ForgetsSeqnos):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        is_new = super().is_new(message, other)
        for each in [each for each in other.seqnos if not each.startswith("_")][:-4]:
            del other.seqnos[each]
        return is_new


@fault("RAI-073", does="forgets the seqno of a subject when its subscription ends")
class ForgetsWithTheSubscription(ForgetsSeqnos):
    def unsubscribe(self, subject: str) -> None:
        super().unsubscribe(subject)
        for other in self.others.values():
            self.forget_seqnos(other, subject)


@fault("RAI-073", does="forgets seqnos when a session says HELLO again, or beats")
class ForgetsAtGreetings(ForgetsSeqnos):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        if message.session in self.others and message.subject.endswith("HELLO"):
            self.forget_seqnos(self.others[message.session])


@fault("RAI-073", does="forgets seqnos with each auth message")
class ForgetsAtAuths(ForgetsSeqnos):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        if message.session in self.others:
            self.forget_seqnos(self.others[message.session])


@fault("RAI-073", does="forgets seqnos after half a minute")
class ForgetsInTime(ForgetsSeqnos):
    at = 30.0

    def tick(self, now: float) -> None:
        super().tick(now)
        if now >= self.at:
            self.at = now + 30.0
            for other in self.others.values():
                self.forget_seqnos(other)


@fault("RAI-073", does="forgets a subject's seqno with each image")
class ForgetsAtImages(ForgetsSeqnos):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        is_new = super().is_new(message, other)
        if is_new and isinstance(message.body, Published) and message.body.kind == "initial":
            self.forget_seqnos(other, message.subject)
        return is_new


@fault("RAI-181", does="takes the next seqno alone")
class TakesTheNext(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=None)
        return (last is None or message.seqno <= last + 1) and super().is_new(message, other)


@fault("RAI-181", does="takes no seqno that is a thousand ahead")
class TakesTheNear(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=None)
        is_near = last is None or message.seqno <= last + 1000 or message.seqno >= 2**32
        return is_near and super().is_new(message, other)


@fault("RAI-181", does="takes no seqno that is a hundred million ahead")
class TakesTheMillions(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=None)
        is_near = last is None or message.seqno <= last + 10**8 or message.seqno >= 2**32
        return is_near and super().is_new(message, other)


@fault("RAI-182", does="holds seqnos against the last one of the session, whatever its subject")
class OneRowOfSeqnos(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=-1)
        return message.seqno > last and super().is_new(message, other)


@fault("RAI-183", does="compares 32 bits of a seqno")
class ComparesLowBitsOfSeqnos(Subscriber):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        seqno = message.seqno % 2**32
        if seqno <= other.seqnos.get(message.subject, -1):
            return False
        other.seqnos[message.subject] = seqno
        return True


@fault("RAI-183", does="puts 32 bits of a seqno into a digest")
class SignsLowBits(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        seqno = message.seqno % 2**32
        return self.signing.verifies(key, seqno, message.subject, message.signed, message.digest)


@fault("RAI-183", does="puts 48 bits of a seqno into a digest")
class SignsMiddleBits(Subscriber):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        seqno = message.seqno % 2**48
        return self.signing.verifies(key, seqno, message.subject, message.signed, message.digest)
