"""Unusual subscribers: when they send heartbeats, and when they cease to."""

from abc import abstractmethod

from harness.urbit.peers.subscriber import Heartbeats, Subscriber
from harness.urbit.peers.times import HEARTBEAT
from harness.urbit.variants.registry import oddity
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Packet, Promise, ScryResponse


@oddity("URB-090", "URB-092", does="sends its first heartbeat 25 seconds after the promise")
class FirstHeartbeatLater(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.due == 0.0:
            session.due = now + self.first()
            self.timers.set(session.due, session)
        else:
            super().beat(session, now)

    def first(self) -> float:
        """Return the seconds from the promise to the first heartbeat."""
        return HEARTBEAT


@oddity("URB-090", does="sends its first heartbeat ten seconds after the promise")
class FirstHeartbeatSoon(FirstHeartbeatLater):
    def first(self) -> float:
        return 10.0


class Paced(Subscriber):
    """A subscriber whose heartbeats are not exactly 25 seconds apart."""

    @abstractmethod
    def pause(self, number: int) -> float:
        """Return the seconds behind a heartbeat."""

    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        session.due = now + self.pause(session.number)
        self.timers.set(session.due, session)


@oddity("URB-091", does="sends heartbeats every 23 and 27 seconds in turn")
class BeatsUnevenly(Paced):
    def pause(self, number: int) -> float:
        return 23.0 if number % 2 else 27.0


@oddity("URB-091", does="sends heartbeats every 24 seconds")
class BeatsEarly(Paced):
    def pause(self, number: int) -> float:
        return 24.0


@oddity("URB-095", does="gives up after five minutes without an answer")
class GivesUpAfterFiveMinutes(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if (session.number - session.answered) * HEARTBEAT <= 300.0:
            super().beat(session, now)


@oddity("URB-091", does="sends no heartbeats while nothing is pending, and goes on when something is promised again")
class RestsWithNothingPending(Subscriber):
    def is_pending(self) -> bool:
        """Tell whether anything is promised."""
        return bool(self.wants)

    def beat(self, session: Heartbeats, now: float) -> None:
        if self.is_pending():
            super().beat(session, now)
        else:
            session.due = 0.0

    def on_promise(self, promise: Promise, now: float) -> None:
        session = self.session
        super().on_promise(promise, now)
        if session is not None and self.session is session and session.due == 0.0:
            self.beat(session, now)


@oddity("URB-091", does="ends a session when nothing is pending, and takes the next promise for another")
class EndsWithNothingPending(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        super().on_response(response, now)
        if not self.wants:
            self.session = None


@oddity("URB-131", does="nacks heartbeats that it is sent")
class NacksHeartbeats(Subscriber):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, HeartbeatRequest):
            self.say(HeartbeatResponse(packet.body.session, packet.body.number, live=False))
        super().take(packet, link, now)
