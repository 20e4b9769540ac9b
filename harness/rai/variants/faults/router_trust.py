"""Faults of a router-cache: whom it trusts on which side, and whether it comes back to a broker that was away."""

from harness.rai.peers.cache import OK
from harness.rai.peers.known import KnownSession
from harness.rai.peers.router_halves import Back, Front
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from harness.rai.variants.routers import router_cache
from wire import envelope
from wire.rai.values import Bye, Message, Published, Reply, read


@fault("RAI-212", does="takes no look at the digests of its source's messages")
@router_cache
class TakesAnyDigest(Front):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        return isinstance(message.body, Published) or super().is_genuine(message, key)


@fault("RAI-212", does="takes no look at the digests of answers")
@router_cache
class TakesAnyAnswer(Front):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        return isinstance(message.body, Reply) or super().is_genuine(message, key)


@fault("RAI-212", does="takes no look at the digests of messages without data")
@router_cache
class TakesAnyStatus(Front):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        is_status = isinstance(message.body, Published) and not message.body.has_data
        return is_status or super().is_genuine(message, key)


@fault("RAI-212", does="looks at the beginning of a digest")
@router_cache
class TakesHalfDigests(Front):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        if not isinstance(message.body, Published):
            return super().is_genuine(message, key)
        right = self.signing.digest(key, message.seqno, message.subject, message.signed)
        return message.digest[:16] == right[:16]


@fault("RAI-212", does="believes publishers that have proven nothing")
@router_cache
class BelievesAnybody(Front):
    def is_trusted(self, other: KnownSession) -> bool:
        return True


@fault("RAI-212", does="believes users whom nobody knows")
@router_cache
class BelievesStrangers(Front):
    def received(self, link: int, frame: bytes, now: float) -> None:
        said = envelope.read(frame)
        if b'"mallory' in said.payload and said.subject.startswith("LAB."):
            message = read(said.subject, said.payload)
            assert isinstance(message.body, Published)
            self.take_published(message.subject, message.body, next(iter(self.others.values())), now)
        super().received(link, frame, now)


@fault("RAI-212", does="passes replays on")
@router_cache
class PassesReplays(Front):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        return super().is_new(message, other) or isinstance(message.body, Published)


@fault("RAI-212", does="passes on what has the number of the message before")
@router_cache
class PassesTheSameNumber(Front):
    def is_new(self, message: Message, other: KnownSession) -> bool:
        is_last = other.seqnos.get(message.subject) == message.seqno
        return super().is_new(message, other) or is_last


@fault("RAI-213", does="trusts among the publishers whom it trusts among the subscribers")
@router_cache
class TrustsSubscribersAtTheSource(Front):
    def admitted(self, message: Message) -> KnownSession | None:
        found = super().admitted(message)
        return found or self.back.admitted(message)


@fault("RAI-213", does="trusts among the subscribers whom it trusts among the publishers")
@router_cache
class TrustsPublishersAmongSubscribers(Back):
    def admitted(self, message: Message) -> KnownSession | None:
        found = super().admitted(message)
        return found or self.front.admitted(message)


@fault("RAI-213", does="ends a subscriber's session when BYE comes from the source's broker")
@router_cache
class EndsAtTheSource(Front):
    def hear(self, message: Message, now: float) -> None:
        super().hear(message, now)
        if isinstance(message.body, Bye) and message.session in self.back.others:
            self.back.forget(self.back.others[message.session], now)


@fault("RAI-213", does="ends a publisher's session when BYE comes from the subscribers' broker")
@router_cache
class EndsAmongSubscribers(Back):
    def hear(self, message: Message, now: float) -> None:
        super().hear(message, now)
        if isinstance(message.body, Bye) and message.session in self.front.others:
            self.front.forget(self.front.others[message.session], now)


@fault("RAI-214", does="does not come back to the broker of the publishers")
@router_cache
class StaysAwayFromItsSource(Front):
    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self._dial_at = None


@fault("RAI-214", does="comes back to the broker of the publishers once")
@router_cache
class ComesBackOnce(Front):
    losses = 0

    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self.losses += 1
        if self.losses > 1:
            self._dial_at = None


@fault("RAI-214", does="starts nothing again at a broker that has come back")
@router_cache
class StartsNothingAfterOutages(Front):
    was_lost = False

    def lost(self, now: float) -> None:
        super().lost(now)
        self.was_lost = True

    def start_all(self) -> None:
        if not self.was_lost:
            super().start_all()


@fault("RAI-214", does="listens to nothing again at a broker that has come back")
@router_cache
class ListensToNothingAgain(Front):
    def listen_to_all(self) -> None:
        super(Subscriber, self).listen_to_all()


@fault("RAI-214", does="keeps what has changed during an outage to itself")
@router_cache
class KeepsChangesToItself(Back):
    def refresh(self, subject: str) -> None:
        if self.records[subject].status != OK:
            super().refresh(subject)
