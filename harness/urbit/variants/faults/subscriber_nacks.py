"""Faults of a subscriber: what it does when it hears that a session is dead."""

from abc import abstractmethod

from harness.urbit.peers.subscriber import Heartbeats, Subscriber, Want
from harness.urbit.peers.times import FIRST_GAP
from harness.urbit.variants.registry import fault
from wire.urbit.values import HeartbeatResponse


@fault("URB-096", does="goes on with the heartbeats of a session that is dead")
class BeatsOnWhenDead(Subscriber):
    def tick(self, now: float) -> None:
        for at, due in self.timers.due(now):
            if at != due.due:
                continue
            if isinstance(due, Heartbeats):
                self.beat(due, now)
            elif self.wants.get(due.path) is due and due.session is None:
                self.request(due, 2 * due.gap, now)


@fault("URB-096", does="asks again after a nack, and keeps the dead session if it had more than one heartbeat")
class KeepsOldSessions(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.kept: Heartbeats | None = None

    def die(self, session: Heartbeats, now: float) -> None:
        super().die(session, now)
        self.kept = session if session.number > 1 else None

    def tick(self, now: float) -> None:
        kept = self.kept
        if kept is not None and kept.due <= now:
            self.beat(kept, now)
        super().tick(now)


@fault("URB-097", does="passes over nacks")
class PassesOverNacks(Subscriber):
    def die(self, session: Heartbeats, now: float) -> None:
        """Go on as before."""


@fault("URB-097", does="passes over a nack of any heartbeat but the first")
class PassesOverLaterNacks(Subscriber):
    def is_news(self, session: Heartbeats, answer: HeartbeatResponse) -> bool:
        return super().is_news(session, answer) and (answer.live or answer.number == 1)


class Forgets(Subscriber):
    """A subscriber that asks for some of what is pending after a nack, and for the rest never."""

    @abstractmethod
    def is_known(self, want: Want) -> bool:
        """Tell whether a path is asked for again."""

    def die(self, session: Heartbeats, now: float) -> None:
        super().die(session, now)
        for want in self.wants.values():
            want.due = want.due if self.is_known(want) else -1.0

    def request(self, want: Want, gap: float, now: float) -> None:
        if not self.retired or self.is_known(want):
            super().request(want, gap, now)
        else:
            want.session = None


@fault("URB-097", does="asks for one path after a nack")
class AsksForOnePathAfterNacks(Forgets):
    def is_known(self, want: Want) -> bool:
        return want is next(iter(self.wants.values()))


@fault("URB-097", does="asks after a nack for no path of more than two segments")
class AsksForShortPathsAfterNacks(Forgets):
    def is_known(self, want: Want) -> bool:
        return want.path.count(b"/") <= 2


@fault("URB-097", does="asks for nothing after the second nack")
class AsksAfterTheFirstNackOnly(Subscriber):
    def die(self, session: Heartbeats, now: float) -> None:
        if not self.retired:
            super().die(session, now)
        else:
            self.session = None


class Remembers(Subscriber):
    """A subscriber that remembers whatever was wanted."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.past: set[bytes] = set()

    def want(self, path: bytes, now: float) -> None:
        super().want(path, now)
        self.past.add(path)

    @abstractmethod
    def is_recalled(self, path: bytes) -> bool:
        """Tell whether something that is not wanted is asked for after a nack."""

    def die(self, session: Heartbeats, now: float) -> None:
        super().die(session, now)
        for path in sorted(self.past - self.wants.keys()):
            if self.is_recalled(path):
                self.want(path, now)


@fault("URB-098", does="asks after a nack for what it was told as well")
class AsksForWhatItHas(Remembers):
    def drop(self, path: bytes, now: float) -> None:
        super().drop(path, now)
        self.past.discard(path)

    def is_recalled(self, path: bytes) -> bool:
        return True


@fault("URB-098", does="asks after a nack for what it has dropped")
class AsksForTheDropped(Remembers):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self.dropped: set[bytes] = set()

    def drop(self, path: bytes, now: float) -> None:
        super().drop(path, now)
        self.dropped.add(path)

    def is_recalled(self, path: bytes) -> bool:
        return path in self.dropped


@fault("URB-099", does="goes on with the numbers of the session that was dead")
class NumbersOnAfterNacks(Subscriber):
    number = 0

    def die(self, session: Heartbeats, now: float) -> None:
        self.number = session.number
        super().die(session, now)

    def begin(self, id: int, now: float) -> None:
        super().begin(id, now)

    def beat(self, session: Heartbeats, now: float) -> None:
        if session.number == 0:
            session.number = session.answered = self.number
        super().beat(session, now)


@fault("URB-099", does="begins no session after a nack")
class BeginsNoSecondSession(Subscriber):
    def begin(self, id: int, now: float) -> None:
        if not self.retired:
            super().begin(id, now)


@fault("URB-099", does="sends one heartbeat in each session after the first")
class OneHeartbeatInLaterSessions(Subscriber):
    def beat(self, session: Heartbeats, now: float) -> None:
        if not self.retired or session.number == 0:
            super().beat(session, now)


@fault("URB-106", does="takes every nack for one of its session")
class TakesEveryNack(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        if self.session is not None and not answer.live:
            self.die(self.session, now)
        else:
            super().on_answer(answer, now)


@fault("URB-106", does="compares the low 32 bits of ids")
class ComparesLowBits(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        if self.session is not None and (answer.session ^ self.session.id) & 2**32 - 1 == 0 and not answer.live:
            self.die(self.session, now)
        else:
            super().on_answer(answer, now)


@fault("URB-106", does="takes a nack of a session that was dead before for one of this one")
class TakesNacksOfTheDead(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        if self.session is not None and answer.session in self.retired:
            self.die(self.session, now)
        else:
            super().on_answer(answer, now)


@fault("URB-106", does="ceases its heartbeats at a nack of another session")
class CeasesAtStrangeNacks(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        if self.session is not None and answer.session != self.session.id:
            self.session.due = -1.0
        else:
            super().on_answer(answer, now)


def is_old_nack(answer: HeartbeatResponse, session: Heartbeats) -> bool:
    """Tell whether an answer is a nack to a heartbeat that was answered already."""
    return not answer.live and answer.session == session.id and answer.number <= session.answered


@fault("URB-107", does="ceases its heartbeats at a nack with an old number, and asks for nothing")
class CeasesAtOldNacks(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        session = self.session
        if session is not None and is_old_nack(answer, session):
            self.session = None
        else:
            super().on_answer(answer, now)


@fault("URB-107", does="asks for one path at a nack with an old number")
class AsksForOnePathAtOldNacks(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        session = self.session
        if session is not None and is_old_nack(answer, session):
            self.session = None
            self.request(next(iter(self.wants.values())), FIRST_GAP, now)
        super().on_answer(answer, now)


@fault("URB-107", does="begins its numbers anew at a nack with an old number")
class NumbersAnewAtOldNacks(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        session = self.session
        if session is not None and is_old_nack(answer, session):
            session.number = session.answered = 0
        else:
            super().on_answer(answer, now)


@fault("URB-141", does="takes every answer for a nack in whose last byte anything is set")
class TakesPaddingForNacks(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        live = answer.live and not answer.padding
        super().on_answer(HeartbeatResponse(answer.session, answer.number, live), now)


@fault("URB-141", does="takes no answer for a nack whose last byte is not 1")
class NeedsNacksWithoutPadding(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        live = answer.live or bool(answer.padding)
        super().on_answer(HeartbeatResponse(answer.session, answer.number, live), now)


@fault("URB-141", does="looks at the highest bit of an answer's last byte as well")
class LooksAtTheHighestBit(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        live = answer.live and answer.padding < 0x40
        super().on_answer(HeartbeatResponse(answer.session, answer.number, live), now)
