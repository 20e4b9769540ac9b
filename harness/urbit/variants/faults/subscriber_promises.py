"""Faults of a subscriber: which promises it takes, and what it makes of their sessions."""

from abc import abstractmethod

from harness.urbit.peers.subscriber import Heartbeats, Subscriber
from harness.urbit.peers.times import FIRST_GAP
from harness.urbit.ships import public_key_of
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import cancellation_input, promise_input, request_input, verifies
from wire.urbit.values import HeartbeatRequest, Packet, Promise


@fault("URB-104", does="looks at no promise's signature")
class TakesForgedPromises(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        return True


@fault("URB-104", does="looks at the signatures of promises while it has no session")
class ChecksFirstPromisesOnly(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        return self.session is not None or super().is_genuine(promise)


@fault("URB-104", does="takes promises whose signature covers another session, or none")
class TakesMovedPromises(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        signed = cancellation_input(promise.path, promise.fragment)
        return super().is_genuine(promise) or self.is_signed_by(self.publisher, promise.signature, signed)


@fault("URB-104", does="takes promises that are signed as requests are")
class TakesRequestsSignatures(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        signed = request_input(promise.path, promise.fragment)
        return super().is_genuine(promise) or self.is_signed_by(self.publisher, promise.signature, signed)


@fault("URB-104", does="takes promises that it has signed itself")
class TakesOwnPromises(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        signed = promise_input(promise.session, promise.path, promise.fragment)
        return super().is_genuine(promise) or self.is_signed_by(self.me, promise.signature, signed)


@fault("URB-104", does="takes promises of whichever ship has signed them")
class TakesPromisesOfAll(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        body = packet.body
        if isinstance(body, Promise) and packet.receiver == self.me:
            signed = promise_input(body.session, body.path, body.fragment)
            return verifies(public_key_of(packet.sender), body.signature, signed)
        return super().is_for_me(packet)

    def is_genuine(self, promise: Promise) -> bool:
        return True


@fault("URB-104", does="drops a session when a forged promise comes")
class EndsAtForgedPromises(Subscriber):
    def is_genuine(self, promise: Promise) -> bool:
        holds = super().is_genuine(promise)
        if not holds:
            self.session = None
        return holds


@fault("URB-105", does="asks for nothing any more once anything is promised")
class StopsAtAnyPromise(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        super().on_promise(promise, now)
        for want in self.wants.values():
            want.due = -1.0


@fault("URB-105", does="takes up the session of any promise, and forgets what was pending")
class ForgetsForAnyPromise(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.path not in self.wants and self.is_genuine(promise) and self.session is not None:
            self.wants.clear()
            self.begin(promise.session, now)
        else:
            super().on_promise(promise, now)


@fault("URB-105", does="drops its session when something is promised that it did not ask for")
class EndsAtStrayPromises(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.path in self.wants:
            super().on_promise(promise, now)
        else:
            self.session = None


@fault("URB-115", does="keeps to its session whatever is promised in another")
class KeepsToItsSession(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if self.session is None or promise.session == self.session.id:
            super().on_promise(promise, now)


@fault("URB-115", does="goes on with the numbers when something is promised in another session")
class NumbersOnInAnotherSession(Subscriber):
    def begin(self, id: int, now: float) -> None:
        number = 0 if self.session is None else self.session.number
        self.session = Heartbeats(id)
        self.session.number = self.session.answered = number
        self.beat(self.session, now)
        for want in self.wants.values():
            if want.session is not None and want.session != id:
                self.request(want, FIRST_GAP, now)


@fault("URB-146", does="takes the id 0 for none")
class TakesZeroForNone(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.session:
            super().on_promise(promise, now)


class SpellsIds(Subscriber):
    """A subscriber whose heartbeats carry an id that is something else than was promised."""

    @abstractmethod
    def spelt(self, id: int) -> int:
        """Return what is sent for an id."""

    def beat(self, session: Heartbeats, now: float) -> None:
        real, session.id = session.id, self.spelt(session.id)
        super().beat(session, now)
        session.id = real


@fault("URB-146", "URB-153", does="keeps 63 bits of an id")
class KeepsSixtyThreeBits(SpellsIds):
    def spelt(self, id: int) -> int:
        return id & 2**63 - 1


@fault("URB-146", "URB-153", does="keeps an id as a floating number")
class KeepsFloatingIds(SpellsIds):
    def spelt(self, id: int) -> int:
        return min(int(float(id)), 2**64 - 1)


@fault("URB-153", does="sends the bytes of an id in the wrong order")
class SwapsIds(SpellsIds):
    def spelt(self, id: int) -> int:
        return int.from_bytes(id.to_bytes(8, "little"), "big")


@fault("URB-153", does="sends every third heartbeat with the id of the session before")
class MixesIds(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        if session.number == 2:
            self.say(HeartbeatRequest(session.id + 1 & 2**64 - 1, session.number))
