"""Unusual subscribers: how they ask, and what they make of promises and nacks."""

from harness.urbit.peers.subscriber import FRAGMENT, Heartbeats, Subscriber, Want
from harness.urbit.peers.times import FIRST_GAP
from harness.urbit.variants.registry import oddity
from wire.urbit.values import HeartbeatResponse, Promise, ScryRequest


class BacksOff(Subscriber):
    """A subscriber whose pauses between requests are others: the first of so many seconds, and so many times longer."""

    first, factor, longest = 1.0, 2.0, 30.0

    def request(self, want: Want, gap: float, now: float) -> None:
        super().request(want, self.first if gap == FIRST_GAP else gap, now)

    def longer(self, gap: float) -> float:
        return min(self.factor * gap, self.longest)


@oddity("URB-109", does="asks slowly: after 5 seconds, and then four times as long each time, up to two minutes")
class AsksSlowly(BacksOff):
    first, factor, longest = 5.0, 4.0, 120.0


@oddity("URB-109", does="asks often: after half a second, and then 1.3 times as long each time")
class AsksOften(BacksOff):
    first, factor, longest = 0.5, 1.3, 60.0


@oddity("URB-109", does="asks after pauses that are longer or shorter by a fifth, in turn")
class AsksUnevenly(BacksOff):
    count = 0

    def longer(self, gap: float) -> float:
        self.count += 1
        return super().longer(gap) * (0.8 if self.count % 2 else 1.2)


@oddity("URB-151", "URB-020", does="leaves the signatures of requests blank")
class SignsNoRequest(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        want.session, want.gap, want.due = None, gap, now + gap
        self.say(ScryRequest(want.path, FRAGMENT, bytes(64)))
        self.timers.set(want.due, want)


@oddity("URB-102", "URB-105", does="cancels what is promised and not wanted")
class CancelsStrayPromises(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        super().on_promise(promise, now)
        if promise.path not in self.wants and self.is_genuine(promise):
            self.cancel(promise.path, promise.fragment)


@oddity("URB-105", does="takes up the session of any promise of the publisher")
class TakesUpAnySession(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        is_wanted = promise.path in self.wants and promise.fragment == FRAGMENT
        is_other = self.session is None or self.session.id != promise.session
        if not is_wanted and is_other and promise.session not in self.retired and self.is_genuine(promise):
            self.begin(promise.session, now)
        else:
            super().on_promise(promise, now)


@oddity("URB-115", does="asks again for what was promised in the session before when it has waited as long as ever")
class AsksAgainByAndBy(Subscriber):
    def begin(self, id: int, now: float) -> None:
        if self.session is not None:
            self.retire(self.session.id)
        self.session = Heartbeats(id)
        self.beat(self.session, now)
        for want in self.wants.values():
            if want.session is not None and want.session != id:
                want.session, want.due = None, now + want.gap
                self.timers.set(want.due, want)


@oddity("URB-115", does="keeps what was promised in the session before, and asks when it ends")
class KeepsOldPromises(Subscriber):
    def begin(self, id: int, now: float) -> None:
        if self.session is not None:
            self.retire(self.session.id)
        self.session = Heartbeats(id)
        self.beat(self.session, now)
        for want in self.wants.values():
            want.session = want.session and id


@oddity("URB-107", "URB-097", does="takes any nack of its session, whatever its number")
class TakesAnyNumber(Subscriber):
    def is_news(self, session: Heartbeats, answer: HeartbeatResponse) -> bool:
        return True


@oddity("URB-097", "URB-107", does="takes nacks of all heartbeats that were sent and not answered")
class TakesUnansweredNumbers(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.unanswered: set[int] = set()

    def beat(self, session: Heartbeats, now: float) -> None:
        super().beat(session, now)
        if session.number == 1:
            self.unanswered.clear()
        self.unanswered.add(session.number)

    def is_news(self, session: Heartbeats, answer: HeartbeatResponse) -> bool:
        is_news = answer.number in self.unanswered
        self.unanswered.discard(answer.number)
        return is_news


@oddity("URB-097", does="asks for all that is pending a second after a nack")
class AsksASecondAfterNacks(Subscriber):
    def die(self, session: Heartbeats, now: float) -> None:
        self.session = None
        self.retire(session.id)
        for want in self.wants.values():
            want.session, want.gap, want.due = None, FIRST_GAP, now + 1.0
            self.timers.set(want.due, want)


@oddity("URB-099", "URB-106", does="remembers no session that is dead")
class RemembersNoDeath(Subscriber):
    def retire(self, id: int) -> None:
        """Remember nothing."""


@oddity("URB-110", does="asks again for a path that is wanted once more")
class AsksWhenWantedAgain(Subscriber):
    def want(self, path: bytes, now: float) -> None:
        if path in self.wants:
            self.request(self.wants[path], FIRST_GAP, now)
        super().want(path, now)
