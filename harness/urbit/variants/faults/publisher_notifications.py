"""Faults of publishers against the rules of notifications and their repeats."""

from abc import abstractmethod
from typing import Any

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.peers.times import FIRST_GAP
from harness.urbit.variants.registry import fault
from wire.urbit.values import HeartbeatRequest, Packet, ScryRequest, ScryResponse


@fault("URB-040", does="tells nobody of what it has promised")
class TellsNobody(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        pass


@fault("URB-040", does="keeps the first promise of a session only")
class KeepsTheFirst(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        if next(iter(interest.session.interests.values())) is interest:
            super().keep(interest, now)


@fault("URB-040", does="does not keep promises of long paths")
class LongPathsUntold(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        if len(interest.datum[0]) < 128:
            super().keep(interest, now)


@fault("URB-040", does="keeps promises to galaxies and planets only")
class MoonsUntold(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        if interest.session.ship.rank < 2:
            super().keep(interest, now)


@fault("URB-040", does="keeps promises in sessions that had a heartbeat only")
class UntoldBeforeHeartbeats(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        if interest.session.number:
            super().keep(interest, now)


class TellingSome(Publisher):
    """What tells some of those whom it has promised a value is made of this."""

    def chosen(self, interests: list[PromisedDatum]) -> list[PromisedDatum]:
        """Return those who are told."""
        return interests

    def grow(self, path: bytes, value: bytes, now: float) -> None:
        waiting = self.sessions.waiting.get(path)
        if waiting is not None:
            self.sessions.waiting[path] = dict.fromkeys(self.chosen(list(waiting)))
        super().grow(path, value, now)


@fault("URB-041", does="tells the first of those who wait for a value")
class TellsTheFirst(TellingSome):
    def chosen(self, interests: list[PromisedDatum]) -> list[PromisedDatum]:
        return interests[:1]


@fault("URB-041", does="tells the last of those who wait for a value")
class TellsTheLast(TellingSome):
    def chosen(self, interests: list[PromisedDatum]) -> list[PromisedDatum]:
        return interests[-1:]


@fault("URB-041", does="tells eight at most of those who wait for a value")
class TellsEight(TellingSome):
    def chosen(self, interests: list[PromisedDatum]) -> list[PromisedDatum]:
        return interests[:8]


@fault("URB-041", does="tells one of each rank of those who wait for a value")
class TellsOneOfEachRank(TellingSome):
    def chosen(self, interests: list[PromisedDatum]) -> list[PromisedDatum]:
        return list({each.session.ship.rank: each for each in interests}.values())


@fault("URB-042", does="tells once")
class TellsOnce(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        if not interest.gap:
            super().notify(interest, gap, now)


@fault("URB-042", does="tells three times")
class TellsThrice(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        if gap <= 4 * FIRST_GAP:
            super().notify(interest, gap, now)


@fault("URB-042", does="repeats the first notification of a session only")
class RepeatsTheFirst(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        if not interest.gap or next(iter(interest.session.interests.values())) is interest:
            super().notify(interest, gap, now)


@fault("URB-042", does="repeats the latest notification of a session only")
class RepeatsTheLatest(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        told = [each for each in interest.session.interests.values() if each.gap]
        if not interest.gap or told[-1] is interest:
            super().notify(interest, gap, now)


@fault("URB-042", does="takes the next heartbeat for an ack of all that it has told")
class HeartbeatsAreAcks(Publisher):
    def is_new(self, session: Session, heartbeat: HeartbeatRequest) -> bool:
        for interest in [*session.interests.values()]:
            if interest.gap:
                self.sessions.release(interest)
        return super().is_new(session, heartbeat)


@fault("URB-043", does="repeats every second")
class RepeatsEverySecond(Publisher):
    def pause_after(self, interest: PromisedDatum) -> float:
        return FIRST_GAP


@fault("URB-043", does="repeats every ten seconds")
class RepeatsEveryTenSeconds(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        super().notify(interest, 10 * FIRST_GAP, now)


@fault("URB-043", does="begins its backoff anew after three repeats")
class BeginsAnew(Publisher):
    def pause_after(self, interest: PromisedDatum) -> float:
        longer = super().pause_after(interest)
        return FIRST_GAP if longer > 8 * FIRST_GAP else longer


@fault("URB-043", does="repeats with pauses that become shorter")
class RepeatsFaster(Publisher):
    def notify(self, interest: PromisedDatum, gap: float, now: float) -> None:
        super().notify(interest, gap if interest.gap else 16 * FIRST_GAP, now)

    def pause_after(self, interest: PromisedDatum) -> float:
        return max(interest.gap / 2, FIRST_GAP)


@fault("URB-054", does="tells that there is a value, without its data")
class TellsWithoutData(Publisher):
    def notification(self, interest: PromisedDatum) -> ScryResponse | None:
        response = super().notification(interest)
        return None if response is None else replace(response, data=b"")


@fault("URB-054", does="tells the first 512 bytes of a fragment")
class TellsHalfAFragment(Publisher):
    def notification(self, interest: PromisedDatum) -> ScryResponse | None:
        response = super().notification(interest)
        return None if response is None else replace(response, data=response.data[:512])


@fault("URB-054", does="says in notifications that there is one fragment")
class TellsOfOneFragment(Publisher):
    def notification(self, interest: PromisedDatum) -> ScryResponse | None:
        response = super().notification(interest)
        return None if response is None else replace(response, total=1)


@fault("URB-054", does="tells the first fragment in the place of a later one")
class TellsTheFirstFragment(Publisher):
    def notification(self, interest: PromisedDatum) -> ScryResponse | None:
        path, fragment = interest.datum
        response = self.response(path, 1)
        return None if response is None else replace(response, fragment=fragment)


@fault("URB-155", does="tells of a value twenty seconds after it is there")
class TellsLate(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        interest.gap = FIRST_GAP
        self.timers.set(now + 20, interest)


@fault("URB-155", does="tells of a value when the next heartbeat comes")
class TellsAtHeartbeats(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: list[PromisedDatum] = []

    def keep(self, interest: PromisedDatum, now: float) -> None:
        self.kept.append(interest)

    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        super().on_heartbeat(packet, heartbeat, link, now)
        for interest in self.kept:
            if interest.session.ship == packet.sender:
                super().keep(interest, now)
        self.kept = [interest for interest in self.kept if interest.session.ship != packet.sender]


class TellingOthers(Publisher):
    """What tells others than those who have asked is made of this."""

    @abstractmethod
    def others(self, interest: PromisedDatum) -> list[Session]:
        """Return whose session is told as well."""

    def keep(self, interest: PromisedDatum, now: float) -> None:
        super().keep(interest, now)
        response = self.notification(interest)
        if response is not None:
            for session in self.others(interest):
                self.put(session.link, response, session.ship)


@fault("URB-156", does="tells all who have a session")
class TellsAll(TellingOthers):
    def others(self, interest: PromisedDatum) -> list[Session]:
        return [each for each in self.sessions.of_ship.values() if each is not interest.session]


@fault("URB-156", does="tells those who wait for a path above or below")
class TellsAboveAndBelow(TellingOthers):
    def others(self, interest: PromisedDatum) -> list[Session]:
        path = interest.datum[0]
        waiting = [(each, other) for each in self.sessions.of_ship.values() for other, _ in each.interests]
        return [
            each
            for each, other in waiting
            if other != path and (other.startswith(path + b"/") or path.startswith(other))
        ]


@fault("URB-156", does="answers a request for a value to all who have a session")
class AnswersAll(Publisher):
    def on_request_of_value(self, packet: Packet, request: ScryRequest, link: int) -> None:
        super().on_request_of_value(packet, request, link)
        response = self.response(request.path, request.fragment)
        for session in self.sessions.of_ship.values():
            if response is not None and session.ship != packet.sender:
                self.put(session.link, response, session.ship)
