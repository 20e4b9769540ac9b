"""Faults of a subscriber: its heartbeats, their numbers, and when they are sent."""

from harness.urbit.peers.subscriber import Heartbeats, Subscriber
from harness.urbit.peers.times import HEARTBEAT
from harness.urbit.variants.registry import fault
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Promise


@fault("URB-090", does="sends its first heartbeat after a minute")
class FirstHeartbeatAfterAMinute(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number == 0 and session.due == 0.0:
            session.due = now + 60.0
            self.timers.set(session.due, session)
        else:
            super().beat(session, now)


@fault("URB-090", "URB-153", does="sends heartbeats with an id of its own")
class OwnIds(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number == 0:
            session.id ^= 0x5555555555555555
        super().beat(session, now)


@fault("URB-091", does="sends a heartbeat every 50 seconds")
class EveryFiftySeconds(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        session.due = now + 2 * HEARTBEAT
        self.timers.set(session.due, session)


@fault("URB-091", does="sends a heartbeat every 15 seconds")
class EveryFifteenSeconds(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        session.due = now + 15.0
        self.timers.set(session.due, session)


@fault("URB-091", does="sends a heartbeat at once whenever something is promised")
class BeatsAtPromises(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        before = self.session
        super().on_promise(promise, now)
        if before is not None and self.session is before:
            self.beat(before, now)


@fault("URB-092", "URB-099", does="numbers heartbeats from 0")
class NumbersFromZero(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.due == 0.0:
            session.number = -1
        super().beat(session, now)


@fault("URB-092", "URB-099", does="numbers heartbeats from 2")
class NumbersFromTwo(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.due == 0.0:
            session.number = 1
        super().beat(session, now)


@fault("URB-093", does="numbers heartbeats in twos")
class NumbersInTwos(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        session.number += session.number > 0
        super().beat(session, now)


@fault("URB-093", does="gives all heartbeats one number")
class OneNumber(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        session.number = 0
        super().beat(session, now)


@fault("URB-093", does="begins its numbers anew behind the second")
class NumbersUpToTwo(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        session.number %= 2
        session.answered %= 2
        super().beat(session, now)


@fault("URB-093", does="begins its numbers anew when something else is promised")
class NumbersAnewAtPromises(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        super().on_promise(promise, now)
        if self.session is not None and self.session.number > 1:
            self.session.number = self.session.answered = 0


@fault("URB-094", does="counts answers, and not heartbeats")
class NumbersByAnswers(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        session.number = session.answered
        super().beat(session, now)


@fault("URB-094", does="waits for an answer before the next heartbeat")
class WaitsForAnswers(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.answered == session.number:
            super().beat(session, now)
        else:
            session.due = now + 1.0
            self.timers.set(session.due, session)


@fault("URB-094", does="sends heartbeats that are not answered ever more slowly")
class SlowsDown(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        if unanswered := session.number - session.answered - 1:
            session.due = now + HEARTBEAT * 1.5 ** min(unanswered, 3)
            self.timers.set(session.due, session)


@fault("URB-094", does="repeats a heartbeat that is not answered, with its number")
class RepeatsHeartbeats(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number and session.answered < session.number and session.due == now:
            session.number -= session.number % 2
        super().beat(session, now)


@fault("URB-095", does="ceases after four heartbeats without an answer")
class CeasesAfterFour(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number - session.answered < 4:
            super().beat(session, now)


@fault("URB-095", does="takes a session for dead that has not answered for two minutes, and asks again")
class TakesSilenceForDeath(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number - session.answered > 4:
            self.die(session, now)
        else:
            super().beat(session, now)


@fault("URB-095", does="begins its numbers anew after six heartbeats without an answer")
class BeginsAnewAfterSilence(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number - session.answered >= 6:
            session.number = session.answered = 0
        super().beat(session, now)


@fault("URB-112", does="keeps a series of heartbeats for each path")
class SeriesForEachPath(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        want = self.wants.get(promise.path)
        is_new = want is not None and want.session is None
        before = self.session
        super().on_promise(promise, now)
        if is_new and before is not None and self.session is before:
            another = Heartbeats(before.id)
            self.beat(another, now)

    def tick(self, now: float) -> None:
        for at, due in self.timers.due(now):
            if at != due.due:
                continue
            if isinstance(due, Heartbeats):
                if self.session is not None and due.id == self.session.id:
                    self.beat(due, now)
            elif self.wants.get(due.path) is due and due.session is None:
                self.request(due, 2 * due.gap, now)


@fault("URB-112", does="sends each heartbeat once for each path that is promised, with one number")
class BeatsForEachPath(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        for _ in range(sum(want.session == session.id for want in self.wants.values()) - 1):
            self.say(HeartbeatRequest(session.id, session.number))


@fault("URB-118", does="asks again for everything whenever it hears that its session lives")
class AsksWhenLive(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        super().on_answer(answer, now)
        if self.session is not None and answer.session == self.session.id and answer.live:
            for want in self.wants.values():
                self.request(want, 1.0, now)


@fault("URB-118", does="goes on behind the number of any answer")
class TakesNumbersOver(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        super().on_answer(answer, now)
        if self.session is not None and answer.session == self.session.id and answer.live:
            self.session.number = answer.number % 2**32


@fault("URB-118", does="ends a session when it hears of a number that it has not sent")
class EndsAtStrangeNumbers(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        if self.session is not None and answer.session == self.session.id and answer.number > self.session.number:
            self.die(self.session, now)
        else:
            super().on_answer(answer, now)
