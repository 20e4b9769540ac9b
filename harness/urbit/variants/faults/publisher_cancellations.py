"""Faults of publishers against the rules of cancellations."""

from abc import abstractmethod
from typing import Any

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import Datum, PromisedDatum, Session
from harness.urbit.ships import key_of
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import cancellation_input, request_input
from wire.urbit.values import Cancellation, HeartbeatResponse, Packet, ScryRequest, ScryResponse, Ship


@fault("URB-044", does="repeats notifications until the session ends, whoever cancels them")
class RepeatsForEver(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        if not interest.gap:
            super().release(interest)


@fault("URB-044", does="heeds the ack of the first notification of a session only")
class HeedsTheFirstAck(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        if not interest.gap or next(iter(interest.session.interests.values())) is interest:
            super().release(interest)


@fault("URB-044", does="repeats a notification once more after its ack")
class RepeatsOnceMore(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.acked: set[PromisedDatum] = set()

    def release(self, interest: PromisedDatum) -> None:
        if interest.gap:
            self.acked.add(interest)
        else:
            super().release(interest)

    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        super().notify(interest, gap, now)
        if interest in self.acked:
            super().release(interest)


@fault("URB-044", does="wants two acks of a notification that it has repeated")
class WantsTwoAcks(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.acked: set[PromisedDatum] = set()

    def release(self, interest: PromisedDatum) -> None:
        if interest.gap and interest not in self.acked:
            self.acked.add(interest)
        else:
            super().release(interest)


@fault("URB-045", does="heeds cancellations of what is told only")
class HeedsAcksOnly(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        if interest.gap:
            super().release(interest)


@fault("URB-045", does="heeds no cancellations of comets before a value is there")
class CometsCancelInVain(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        if interest.gap or interest.session.ship.rank < 3:
            super().release(interest)


@fault("URB-045", does="never tells a subscriber what it has cancelled once")
class BearsAGrudge(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.cancelled: set[tuple[Ship, Datum]] = set()

    def release(self, interest: PromisedDatum) -> None:
        self.cancelled.add((interest.session.ship, interest.datum))
        super().release(interest)

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if (interest.session.ship, interest.datum) not in self.cancelled:
            super().keep(interest, now)


class ReleasingMore(Publisher):
    """What forgets more promises than the one that is cancelled is made of this."""

    @abstractmethod
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        """Return what is forgotten beside it."""

    def release(self, interest: PromisedDatum) -> None:
        for each in [*self.more(interest), interest]:
            self.sessions.release(each)


@fault("URB-046", does="forgets all fragments of a path of which one is cancelled")
class ForgetsAllFragments(ReleasingMore):
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        return [each for each in interest.session.interests.values() if each.datum[0] == interest.datum[0]]


@fault("URB-046", does="forgets all promises of a subscriber that cancels one")
class ForgetsAllPromises(ReleasingMore):
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        return [*interest.session.interests.values()]


@fault("URB-046", does="forgets with a path all below it")
class ForgetsAllBelow(ReleasingMore):
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        below = interest.datum[0] + b"/"
        return [each for each in interest.session.interests.values() if each.datum[0].startswith(below)]


@fault("URB-046", does="forgets what others were promised of a path that one cancels")
class ForgetsOthers(ReleasingMore):
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        return [
            session.interests[interest.datum]
            for session in self.sessions.of_ship.values()
            if interest.datum in session.interests
        ]


@fault("URB-046", does="takes the ack of one notification for that of all")
class OneAckForAll(ReleasingMore):
    def more(self, interest: PromisedDatum) -> list[PromisedDatum]:
        return [each for each in interest.session.interests.values() if each.gap] if interest.gap else []


@fault("URB-046", does="cancels the first fragment, whichever is named")
class CancelsTheFirstFragment(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        first = interest.session.interests.get((interest.datum[0], 1))
        super().release(first or interest)


@fault("URB-047", "URB-048", "URB-049", does="looks at no signatures of cancellations")
class TakesAnySignature(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        return True


@fault("URB-047", does="takes signatures of zeros")
class TakesZeros(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        return cancellation.signature == bytes(64) or super().may_cancel(packet, cancellation)


@fault("URB-047", does="looks at the first half of a signature")
class ComparesTheFirstHalf(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        right = key_of(packet.sender).sign(cancellation_input(cancellation.path, cancellation.fragment))
        return cancellation.signature[:32] == right[:32]


@fault("URB-047", does="takes signatures of other fragments")
class TakesOtherFragments(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        signed = [cancellation_input(cancellation.path, fragment) for fragment in range(1, 4)]
        return any(self.is_signed_by(packet.sender, cancellation.signature, each) for each in signed)


@fault("URB-047", does="takes the signature of the path above")
class TakesThePathAbove(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        above = cancellation_input(cancellation.path.rpartition(b"/")[0], cancellation.fragment)
        by_above = self.is_signed_by(packet.sender, cancellation.signature, above)
        return by_above or super().may_cancel(packet, cancellation)


@fault("URB-047", does="looks at no signatures of acks")
class TakesAnyAck(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        return cancellation.path in self.values or super().may_cancel(packet, cancellation)


@fault("URB-048", does="takes the signature of a request for that of a cancellation")
class TakesRequestSignatures(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        signed = request_input(cancellation.path, cancellation.fragment)
        as_request = self.is_signed_by(packet.sender, cancellation.signature, signed)
        return as_request or super().may_cancel(packet, cancellation)


@fault("URB-049", does="takes cancellations that it has signed itself")
class TakesItsOwnSignature(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        signed = cancellation_input(cancellation.path, cancellation.fragment)
        by_itself = self.is_signed_by(self.me, cancellation.signature, signed)
        return by_itself or super().may_cancel(packet, cancellation)


@fault("URB-049", does="takes cancellations that any of those has signed who wait for the same")
class TakesOthersSignatures(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        signed = cancellation_input(cancellation.path, cancellation.fragment)
        return any(
            self.is_signed_by(session.ship, cancellation.signature, signed)
            for session in self.sessions.of_ship.values()
            if (cancellation.path, cancellation.fragment) in session.interests
        )


@fault("URB-049", does="takes cancellations that anybody has signed who has spoken with it")
class TakesAnybodysSignature(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.met: set[Ship] = set()

    def take(self, packet: Packet, link: int, now: float) -> None:
        self.met.add(packet.sender)
        super().take(packet, link, now)

    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        signed = cancellation_input(cancellation.path, cancellation.fragment)
        return any(self.is_signed_by(ship, cancellation.signature, signed) for ship in self.met)


class Unpending(Publisher):
    """What makes something of cancellations of what is not pending is made of this."""

    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        is_pending = session is not None and (cancellation.path, cancellation.fragment) in session.interests
        if is_pending:
            super().on_cancellation(packet, cancellation, now)
        else:
            self.on_nothing(packet, cancellation, session)

    @abstractmethod
    def on_nothing(self, packet: Packet, cancellation: Cancellation, session: Session | None) -> None:
        """Act on one of what is not pending."""


@fault("URB-050", does="ends a session in which something is cancelled that is not pending")
class EndsAtNothing(Unpending):
    def on_nothing(self, packet: Packet, cancellation: Cancellation, session: Session | None) -> None:
        if session is not None:
            self.sessions.kill(session)


@fault("URB-050", does="forgets the first promise when something is cancelled that is not pending")
class ForgetsForNothing(Unpending):
    def on_nothing(self, packet: Packet, cancellation: Cancellation, session: Session | None) -> None:
        for interest in [] if session is None else [*session.interests.values()][:1]:
            self.sessions.release(interest)


@fault("URB-050", does="dies of a cancellation without a session")
class DiesOfNothing(Unpending):
    def on_nothing(self, packet: Packet, cancellation: Cancellation, session: Session | None) -> None:
        if session is None:
            raise KeyError(packet.sender)


@fault("URB-050", does="keeps cancellations for promises to come")
class CancelsInAdvance(Unpending):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.cancelled: set[tuple[Ship, Datum]] = set()

    def on_nothing(self, packet: Packet, cancellation: Cancellation, session: Session | None) -> None:
        self.cancelled.add((packet.sender, (cancellation.path, cancellation.fragment)))

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if (interest.session.ship, interest.datum) not in self.cancelled:
            super().keep(interest, now)


class Answering(Publisher):
    """What answers cancellations is made of this."""

    def take(self, packet: Packet, link: int, now: float) -> None:
        super().take(packet, link, now)
        if isinstance(packet.body, Cancellation):
            self.on_acked(packet, packet.body, link)

    @abstractmethod
    def on_acked(self, packet: Packet, cancellation: Cancellation, link: int) -> None:
        """Say something to a cancellation."""


@fault("URB-051", does="acknowledges cancellations by an empty response")
class AnswersByNothing(Answering):
    def on_acked(self, packet: Packet, cancellation: Cancellation, link: int) -> None:
        empty = ScryResponse(cancellation.path, cancellation.fragment, bytes(64), 0, b"")
        self.answer(packet, empty, link)


@fault("URB-051", does="answers a cancellation of what is there by the value")
class AnswersByTheValue(Answering):
    def on_acked(self, packet: Packet, cancellation: Cancellation, link: int) -> None:
        if cancellation.path in self.values:
            request = ScryRequest(cancellation.path, cancellation.fragment, cancellation.signature)
            self.on_request_of_value(packet, request, link)


@fault("URB-051", does="answers a forged cancellation by a nack")
class AnswersForgeries(Answering):
    def on_acked(self, packet: Packet, cancellation: Cancellation, link: int) -> None:
        if not self.may_cancel(packet, cancellation):
            self.answer(packet, HeartbeatResponse(0, 0, live=False), link)


@fault("URB-051", does="answers the cancellation of a promise by the promise")
class PromisesTheCancelled(Answering):
    def on_acked(self, packet: Packet, cancellation: Cancellation, link: int) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None:
            its = PromisedDatum(session, (cancellation.path, cancellation.fragment))
            self.answer(packet, self.promise(its), link)


@fault("URB-056", does="ends a session whose last promise is cancelled")
class EndsWhenIdle(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        super().release(interest)
        if not interest.session.interests:
            self.sessions.kill(interest.session)


@fault("URB-056", does="ends a session whose last notification is acknowledged")
class EndsWhenTold(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        super().release(interest)
        if interest.gap and not interest.session.interests:
            self.sessions.kill(interest.session)


@fault("URB-056", does="lets sessions without promises live for half a minute after each heartbeat")
class ShortWhenIdle(Publisher):
    def renew(self, session: Session, now: float) -> None:
        super().renew(session, now)
        if not session.interests:
            session.expires = now + 30
            self.time(session)


@fault("URB-012", does="sends comets' nacks to their planets")
class NacksPlanets(Publisher):
    def nack(self, packet: Packet, heartbeat: Any, link: int) -> None:
        ship = packet.sender
        body = HeartbeatResponse(heartbeat.session, heartbeat.number, live=False)
        self.put(link, body, Ship.of(ship.number & 0xFFFFFFFF) if ship.rank == 3 else ship)
