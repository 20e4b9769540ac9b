"""Faults of publishers against the rules of heartbeats, their numbers, and the subscriber's address."""

from abc import abstractmethod
from typing import Any

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.variants.registry import fault
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Packet

LOW = 0xFFFFFFFF


@fault("URB-060", does="answers every other heartbeat of a session by a nack")
class NacksEveryOther(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if heartbeat.number % 2:
            super().affirm(packet, heartbeat, link)
        else:
            self.nack(packet, heartbeat, link)


@fault("URB-060", does="answers the first two heartbeats of a session only")
class AnswersTwoHeartbeats(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if heartbeat.number <= 2:
            super().affirm(packet, heartbeat, link)


@fault("URB-060", does="says nothing to heartbeats of moons and comets")
class SilentToMoons(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if packet.sender.rank < 2:
            super().affirm(packet, heartbeat, link)


@fault("URB-060", does="answers heartbeats with the high half of a session's id alone")
class AnswersHalfAnId(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.answer(packet, HeartbeatResponse(heartbeat.session & ~LOW, heartbeat.number, live=True), link)


@fault("URB-061", does="answers with the low half of a heartbeat's number")
class HalfNumbers(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().affirm(packet, HeartbeatRequest(heartbeat.session, heartbeat.number & LOW), link)


@fault("URB-061", does="has the number 0 in nacks")
class NacksWithoutNumber(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().nack(packet, HeartbeatRequest(heartbeat.session, 0), link)


@fault("URB-061", does="reckons with numbers as floating point does")
class FloatingNumbers(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        rounded = min(int(float(heartbeat.number)), 2**64 - 1)
        super().nack(packet, HeartbeatRequest(heartbeat.session, rounded), link)


@fault("URB-061", does="counts its own answers")
class CountsAnswers(Publisher):
    count = 10_000

    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.count += 1
        super().affirm(packet, HeartbeatRequest(heartbeat.session, self.count), link)


@fault("URB-062", does="says nothing to heartbeats of ships that have no session")
class SilentToStrangers(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if packet.sender in self.sessions.of_ship:
            super().nack(packet, heartbeat, link)


@fault("URB-062", does="says nothing to heartbeats with another id than that of the sender's session")
class SilentToOtherIds(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if packet.sender not in self.sessions.of_ship:
            super().nack(packet, heartbeat, link)


@fault("URB-062", does="calls unknown sessions alive")
class CallsAllAlive(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.affirm(packet, heartbeat, link)


@fault("URB-062", does="compares the low half of ids")
class ComparesHalfIds(Publisher):
    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        return session if session is not None and session.id & LOW == heartbeat.session & LOW else None

    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.answer(packet, HeartbeatResponse(heartbeat.session, heartbeat.number, live=True), link)


@fault("URB-062", does="has the sender's own session in nacks")
class NacksTheOwnSession(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        own = self.sessions.of_ship.get(packet.sender)
        super().nack(packet, heartbeat if own is None else HeartbeatRequest(own.id, heartbeat.number), link)


class OldToo(Publisher):
    """What makes something of old heartbeats is made of this."""

    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        session = self.recognised(packet, heartbeat, now)
        if session is None or self.is_new(session, heartbeat):
            super().on_heartbeat(packet, heartbeat, link, now)
        else:
            self.on_old(session, packet, heartbeat, link)

    @abstractmethod
    def on_old(self, session: Session, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        """Act on a heartbeat that is not newer than all before."""


@fault("URB-069", does="answers old heartbeats with the highest number")
class AnswersTheHighest(OldToo):
    def on_old(self, session: Session, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.affirm(packet, HeartbeatRequest(session.id, session.number), link)


@fault("URB-069", does="answers old heartbeats with the next number")
class AnswersTheNext(OldToo):
    def on_old(self, session: Session, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.affirm(packet, HeartbeatRequest(session.id, heartbeat.number + 1), link)


@fault("URB-070", does="follows old heartbeats")
class FollowsOldHeartbeats(OldToo):
    def on_old(self, session: Session, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.follow(session, packet, link)


@fault("URB-070", does="follows heartbeats with the number of the last one")
class FollowsTheLastNumber(OldToo):
    def on_old(self, session: Session, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if heartbeat.number == session.number:
            self.follow(session, packet, link)


@fault("URB-071", does="takes the next number only")
class NextNumberOnly(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        return heartbeat.number == session.number + 1


@fault("URB-071", does="takes numbers up to a thousand above the last one")
class SmallGapsOnly(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        return session.number < heartbeat.number <= session.number + 1000


@fault("URB-071", does="compares the low half of numbers")
class ComparesHalfNumbers(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        return heartbeat.number & LOW > session.number & LOW


@fault("URB-071", does="takes numbers for signed ones")
class SignedNumbers(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        return heartbeat.number < 2**63 and super().is_new(session, heartbeat)


@fault("URB-071", does="answers a heartbeat behind a gap by a nack")
class NacksGaps(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if heartbeat.number < 2**16:
            super().affirm(packet, heartbeat, link)
        else:
            self.nack(packet, heartbeat, link)


@fault("URB-072", does="ends a session at a heartbeat with the number 0")
class EndsAtZero(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        if not heartbeat.number:
            self.sessions.kill(session)
        return super().is_new(session, heartbeat)


@fault("URB-072", does="takes the number 0 for the highest")
class ZeroIsHighest(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        if not heartbeat.number:
            session.number = 2**64 - 1
        return super().is_new(session, heartbeat)


@fault("URB-072", does="dies of the number 0")
class DiesOfZero(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        return bool(heartbeat.number // heartbeat.number) and super().is_new(session, heartbeat)


@fault("URB-073", does="keeps the address that a session began at")
class StaysWhereItBegan(Publisher):
    def follow(self, session: Session, packet: Packet, link: int) -> None:
        session.ticks = packet.receiver_tick, packet.sender_tick


@fault("URB-073", does="answers heartbeats where a session was before")
class AnswersWhereItWas(Publisher):
    def follow(self, session: Session, packet: Packet, link: int) -> None:
        self.before = session.link
        super().follow(session, packet, link)

    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().affirm(packet, heartbeat, self.before)


@fault("URB-073", does="follows a subscriber once")
class FollowsOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.moved: set[Session] = set()

    def follow(self, session: Session, packet: Packet, link: int) -> None:
        if session not in self.moved:
            if link != session.link:
                self.moved.add(session)
            super().follow(session, packet, link)


@fault("URB-073", does="repeats notifications where they were told first")
class RepeatsWhereItTold(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.told_at: dict[PromisedDatum, int] = {}

    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        session = interest.session
        here, session.link = session.link, self.told_at.setdefault(interest, session.link)
        super().notify(interest, gap, now)
        session.link = here


@fault("URB-075", does="answers heartbeats of sessions twice")
class AnswersTwice(Publisher):
    def affirm(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().affirm(packet, heartbeat, link)
        super().affirm(packet, heartbeat, link)


@fault("URB-075", does="sends each nack twice")
class NacksTwice(Publisher):
    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().nack(packet, heartbeat, link)
        super().nack(packet, heartbeat, link)


@fault("URB-075", does="answers a heartbeat again after two seconds")
class AnswersAgain(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.again: dict[Session, tuple[Packet, HeartbeatRequest, int]] = {}

    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        super().on_heartbeat(packet, heartbeat, link, now)
        session = self.recognised(packet, heartbeat, now)
        if session is not None:
            self.again[session] = packet, heartbeat, link
            self.timers.set(now + 2, session)

    def tick(self, now: float) -> None:
        super().tick(now)
        for session, answered in [*self.again.items()]:
            if now < session.expires - 58.5:
                continue
            del self.again[session]
            self.affirm(*answered)


@fault("URB-077", does="takes a heartbeat for its session's, whoever sends it")
class AnybodySpeaks(Publisher):
    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        return self.live(self.sessions.of_id.get(heartbeat.session), now)


@fault("URB-077", does="gives a session to whoever sends its id")
class GivesSessionsAway(Publisher):
    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Session | None:
        session = self.live(self.sessions.of_id.get(heartbeat.session), now)
        if session is not None and session.ship != packet.sender:
            # Its own is over, and it has that one now.
            own = self.sessions.of_ship.get(packet.sender)
            if own is not None:
                self.sessions.kill(own)
            del self.sessions.of_ship[session.ship]
            session.ship = packet.sender
            self.sessions.of_ship[session.ship] = session
        return session


@fault("URB-079", does="makes a session of an unknown id, once it has sent a nack")
class AdoptsIds(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.nacked: set[int] = set()

    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        if heartbeat.session in self.nacked:
            self.affirm(packet, heartbeat, link)
        else:
            self.nacked.add(heartbeat.session)
            super().nack(packet, heartbeat, link)


@fault("URB-079", does="opens the next session under the id of the last heartbeat that it did not know")
class TakesIdsOver(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.unknown: int | None = None

    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        self.unknown = heartbeat.session
        super().nack(packet, heartbeat, link)

    def fresh_id(self) -> int:
        id, self.unknown = self.unknown, None
        return super().fresh_id() if id is None else id


@fault("URB-079", does="brings dead sessions back when their heartbeats come twice")
class Revives(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.dead: dict[int, Session] = {}

    def live(self, session: Session | None, now: float) -> Session | None:
        if session is not None and not session.is_dead and now > session.expires:
            self.dead[session.id] = session
        return super().live(session, now)

    def nack(self, packet: Packet, heartbeat: HeartbeatRequest, link: int) -> None:
        super().nack(packet, heartbeat, link)
        session = self.dead.pop(heartbeat.session, None)
        if session is not None and session.ship not in self.sessions.of_ship:
            session.is_dead, session.expires = False, float("inf")
            self.sessions.open(session)
