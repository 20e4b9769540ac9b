"""Oddities of router-caches: when they ask, how they pass on what they are told, and how long they wait."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import OK, STALE, CachedValue
from harness.rai.peers.kept import Kept
from harness.rai.peers.known import KnownSession
from harness.rai.peers.router_halves import PATIENCE, Back, Front, Question
from harness.rai.variants.registry import oddity
from harness.rai.variants.routers import router_cache
from wire.rai.values import Body, Published, Reply, Return, Told
from wire.subjects import REST


@oddity("RAI-206", does="asks the source each time that a value is to be shown")
@router_cache
class AsksEachTime(Back):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if subject not in self.questions and not self.refusal(subject, other):
            self.front.do_snapshot(now, subject)
            self.questions[subject] = Question(now + PATIENCE)
        if subject in self.questions:
            self.questions[subject].askers.append((kind, other, returned))


@oddity("RAI-205", does="passes updates on as updates with all fields")
@router_cache
class PassesAllFields(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        super().pass_on(subject, record, replace(body, data=self.whole("update", record)["data"]))


@oddity("RAI-205", does="passes updates on as whole values, where it has one")
@router_cache
class PassesWholeValues(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        if subject in self.records and record.status == OK:
            self.refresh(subject)
        else:
            super().pass_on(subject, record, body)


@oddity("RAI-205", does="writes out types and statuses that are the usual ones")
@router_cache
class WritesTypesOut(Back):
    def publish(self, subject: str, body: Published) -> None:
        super().publish(subject, replace(body, type=body.kind, status=body.state))


@oddity("RAI-206", does="shows images with type initial, and says where they are published what it is about")
@router_cache
class ShowsInitials(Back):
    def reply(self, other: KnownSession, returned: Return, body: Any) -> None:
        if isinstance(body, Reply) and body.type == "start" and body.state != "ack":
            body = replace(body, type="initial")
        super().reply(other, returned, body)


@oddity("RAI-208", does="calls each disturbance stale")
@router_cache
class CallsAllStale(Front):
    def apply(self, subject: str, wanted: Any, body: Told, other: KnownSession, now: float) -> None:
        if body.state in ("feed_down", "feed_switch"):
            body = replace(body, type=None if body.type == "recap" else body.type, status=STALE)
        super().apply(subject, wanted, body, other, now)


@oddity("RAI-208", "RAI-211", does="tells of a disturbance by an image that has the status")
@router_cache
class TellsByImages(Back):
    def tell_state(self, subject: str, status: str) -> None:
        if subject in self.records:
            self.refresh(subject)
        else:
            super().tell_state(subject, status)


@oddity("RAI-209", does="says a new name in subject, and in text")
@router_cache
class SaysNewNamesTwice(Back):
    def tell_drop(self, subject: str, body: Told) -> None:
        name = body.text or body.subject
        super().tell_drop(subject, replace(body, text=name, subject=name))


@oddity("RAI-210", does="marks a value as stale until its source has taken it up again")
@router_cache
class MarksDropped(Front):
    def take_drop(self, subject: str, wanted: Any, body: Published, now: float) -> None:
        if body.state == "nosubscribers":
            self.mark(subject, wanted, STALE)
        super().take_drop(subject, wanted, body, now)


@oddity("RAI-211", does="calls all values stale when any publisher has left")
@router_cache
class CallsAllStaleAtOnce(Front):
    def left(self, other: KnownSession, now: float) -> None:
        for subject, wanted in self.all_wanted():
            self.mark(subject, wanted, STALE)


@oddity("RAI-211", does="waits for ten heartbeats before it takes a publisher for gone")
@router_cache
class WaitsForTenBeats(Front):
    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        # As if it had been heard seven intervals later than it was.
        other.heard = now + 7 * other.interval


@oddity("RAI-214", "RAI-206", does="publishes each image that it gets to all")
@router_cache
class PublishesEachImage(Back):
    def keep(self, subject: str, kept: Kept, image: Told, known: CachedValue | None) -> None:
        self.put_off.add(subject)
        super().keep(subject, kept, image, known)


@oddity("RAI-207", does="numbers the messages under each subject by themselves")
@router_cache
class NumbersBySubject(Back):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.numbers: dict[str, int] = {}

    def begin(self, now: float) -> None:
        self.numbers = {}
        super().begin(now)

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        number = self.numbers[subject] = self.numbers.get(subject, 0) + 1
        self._seqno = number - 1
        super().say(subject, body, key)


@oddity("RAI-205", does="stays subscribed at the source when nobody is subscribed any more")
@router_cache
class StaysSubscribed(Back):
    def give_up(self, subject: str) -> None:
        """Keep it, and keep it up to date; what a wildcard has brought comes no more without that."""
        if subject not in self.front.wanted:
            super().give_up(subject)


@oddity("RAI-205", does="subscribes all that is served at the source, whatever the wildcard")
@router_cache
class CoversAll(Back):
    def cover(self, pattern: str) -> str:
        return self.serves_all_below + REST


@oddity(
    "RAI-208", "RAI-211", does="forgets the values of a publisher that has left, once it has told that they are stale"
)
@router_cache
class ForgetsWithItsSource(Front):
    def left(self, other: KnownSession, now: float) -> None:
        super().left(other, now)
        for subject, wanted in self.all_wanted():
            if wanted.source == other.session:
                wanted.record = None
                self.back.lose(subject)
