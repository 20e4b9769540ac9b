"""Faults of publishers in what they make of seqnos: what comes again, what leaves a gap, and what is great."""

from typing import Any

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import BYE, HELLO, Auth, Bye, Hello, Message, SnapRequest, SubStart, SubStop, nonce_of, user_of


class Numbers(Publisher):
    """What takes requests with other numbers is made of this."""

    forms: tuple[type, ...] = (SubStart, SubStop, SnapRequest)

    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = other.seqnos.get(message.subject, -1)
        if super().is_new(message, other):
            return True
        return isinstance(message.body, self.forms) and self.passes(message, last)

    def passes(self, message: Message, last: int) -> bool:
        """Tell whether a request is taken whose seqno is not greater than the last."""
        return True


@fault("RAI-159", does="looks at no seqno of a start")
class StartsAgain(Numbers):
    forms = (SubStart,)


@fault("RAI-159", does="looks at no seqno of a stop")
class StopsAgain(Numbers):
    forms = (SubStop,)


@fault("RAI-159", does="looks at no seqno of a snapshot request")
class ShowsAgain(Numbers):
    forms = (SnapRequest,)


@fault("RAI-159", "RAI-180", does="takes the last seqno once more")
class TakesTheLastAgain(Numbers):
    def passes(self, message: Message, last: int) -> bool:
        return message.seqno == last


@fault("RAI-180", does="answers each message as often as it comes at once")
class AnswersCopies(Numbers):
    forms = (SnapRequest,)

    def passes(self, message: Message, last: int) -> bool:
        return message.seqno == last


@fault("RAI-159", does="knows the last seqno alone, and takes a lower one")
class KnowsTheLastNumber(Numbers):
    def passes(self, message: Message, last: int) -> bool:
        return message.seqno != last


@fault("RAI-159", does="takes a seqno of 0 for none")
class TakesZero(Numbers):
    def passes(self, message: Message, last: int) -> bool:
        return message.seqno == 0


@fault("RAI-159", does="takes a seqno that begins anew")
class TakesOne(Numbers):
    def passes(self, message: Message, last: int) -> bool:
        return message.seqno == 1


@fault("RAI-159", does="takes what comes a little late")
class TakesTheLate(Numbers):
    def passes(self, message: Message, last: int) -> bool:
        return last - 6 < message.seqno < last


class ForgetsNumbers(Publisher):
    """What forgets the seqnos of a session now and then is made of this."""

    def forget_numbers(self, other: KnownSession) -> None:
        """Forget those of requests: a HELLO that comes again would be another matter."""
        other.seqnos = {subject: seqno for subject, seqno in other.seqnos.items() if subject.startswith("_SESSION.")}


@fault("RAI-159", does="forgets seqnos when a session says HELLO again")
class ForgetsNumbersAtHello(ForgetsNumbers):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        other = self.others.get(message.session)
        if other is not None and message.subject == HELLO:
            self.forget_numbers(other)


@fault("RAI-159", does="forgets seqnos with each heartbeat")
class ForgetsNumbersAtHeartbeats(ForgetsNumbers):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        other = self.others.get(message.session)
        if other is not None and message.subject != HELLO:
            self.forget_numbers(other)


@fault("RAI-159", does="forgets the seqnos of sessions that are silent for long")
class ForgetsNumbersOfTheSilent(ForgetsNumbers):
    def put_away(self, other: KnownSession) -> None:
        super().put_away(other)
        if not other.has_ended:
            self.forget_numbers(other)


@fault("RAI-159", does="forgets the seqnos of a subject with its subscription")
class ForgetsNumbersAtStops(Publisher):
    def end_subscription(self, other: KnownSession, subject: str) -> None:
        super().end_subscription(other, subject)
        other.seqnos.pop(f"_SUB.START.{subject}", None)


@fault("RAI-088", does="has the seqnos of all sessions of a user in one row")
class OneRowForAUser(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.rows: dict[str, dict[str, int]] = {}

    def row(self, other: KnownSession) -> str:
        """Return which row it counts in."""
        return user_of(other.session)

    def is_new(self, message: Message, other: KnownSession) -> bool:
        if not isinstance(message.body, Hello | Auth):
            other.seqnos = self.rows.setdefault(self.row(other), {})
        return super().is_new(message, other)


@fault("RAI-088", does="has the seqnos of all sessions with one NONCE in one row")
class OneRowForANonce(OneRowForAUser):
    def row(self, other: KnownSession) -> str:
        return nonce_of(other.session)


@fault("RAI-088", does="has the seqnos of all sessions in one row")
class OneRowForAll(OneRowForAUser):
    def row(self, other: KnownSession) -> str:
        return ""


@fault("RAI-102", does="has the seqnos of the BYEs of a user in one row")
class OneRowOfByes(OneRowForAUser):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        if not isinstance(message.body, Bye):
            return Publisher.is_new(self, message, other)
        last = self.rows.setdefault(self.row(other), {})
        is_late = message.seqno <= last.get(BYE, -1)
        last[BYE] = message.seqno
        return not is_late


@fault("RAI-174", does="trusts a session after its BYE, and forgets its seqnos")
class TakesTheRecorded(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        if other.has_ended:
            other.seqnos.clear()
            other.has_ended = False
            self.left(other, now)
        else:
            super().forget(other, now)


@fault("RAI-174", does="takes starts of sessions that have said BYE as often as they come")
class TakesRecordedStarts(Publisher):
    def admitted(self, message: Message) -> KnownSession | None:
        other = self.former.get(message.session)
        if other is not None and other.has_ended and isinstance(message.body, SubStart):
            return other if self.is_genuine(message, other.key) else None
        return super().admitted(message)


@fault("RAI-175", does="forgets all of a session that has said BYE")
class ForgetsTheEnded(Publisher):
    def put_away(self, other: KnownSession) -> None:
        super().put_away(other)
        if other.has_ended:
            del self.former[other.session]


@fault("RAI-175", does="forgets the numbers of a session's HELLO with its BYE")
class GreetsTheEnded(Publisher):
    def put_away(self, other: KnownSession) -> None:
        super().put_away(other)
        other.has_ended = False
        other.seqnos.pop(HELLO, None)


@fault("RAI-181", does="wants seqnos without gaps")
class WantsNoGaps(Publisher):
    limit = 20

    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=0)
        is_near = isinstance(message.body, Hello | Auth) or message.seqno - last <= self.limit
        return is_near and super().is_new(message, other)


@fault("RAI-181", does="takes a gap of a thousand for an attack")
class WantsSmallGaps(WantsNoGaps):
    limit = 999


@fault("RAI-181", does="takes a gap of sixteen bits for an attack")
class WantsShortGaps(WantsNoGaps):
    limit = 0xFFFF


@fault("RAI-181", does="takes a gap of half the numbers of 32 bits for a step back")
class WrapsGaps(WantsNoGaps):
    limit = 2**31 - 1


@fault("RAI-182", does="holds a seqno against those of all subjects")
class OneRowForAllSubjects(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max(other.seqnos.values(), default=-1)
        return message.seqno > last and super().is_new(message, other)


@fault("RAI-182", does="holds the seqnos of snapshot requests against each other")
class OneRowForSnapshots(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        last = max((seqno for subject, seqno in other.seqnos.items() if subject.startswith("_SNAP.")), default=-1)
        is_late = isinstance(message.body, SnapRequest) and message.seqno <= last
        return not is_late and super().is_new(message, other)


class NarrowNumbers(Publisher):
    """What has little room for a seqno is made of this: ``bits`` of it."""

    bits = 32

    def is_genuine(self, message: Message, key: bytes) -> bool:
        seqno = message.seqno & (2**self.bits - 1)
        return self.signing.verifies(key, seqno, message.subject, message.signed, message.digest)


@fault("RAI-183", does="has 32 bits for a seqno")
class Has32Bits(NarrowNumbers):
    bits = 32


@fault("RAI-183", does="has 31 bits for a seqno")
class Has31Bits(NarrowNumbers):
    bits = 31


@fault("RAI-183", does="has 48 bits for a seqno")
class Has48Bits(NarrowNumbers):
    bits = 48


@fault("RAI-183", does="drops what has a seqno beyond 32 bits")
class DropsGreatNumbers(Publisher):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return message.seqno < 2**32 and super().is_new(message, other)
