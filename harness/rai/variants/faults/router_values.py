"""Faults of a router-cache: what it passes on, what it keeps, and who says it."""

from typing import Any

from harness.rai.peers.cache import CachedValue
from harness.rai.peers.interests import Terms
from harness.rai.peers.kept import Kept
from harness.rai.peers.known import KnownSession
from harness.rai.peers.router_halves import Back, Front
from harness.rai.peers.subscriber import Wanted
from harness.rai.users import SERVED
from harness.rai.variants.registry import fault
from harness.rai.variants.routers import router_cache
from wire import envelope
from wire.rai.values import Message, Published, Told, WildStart, object_of, user_of


@fault("RAI-205", does="passes three updates on of each subject")
@router_cache
class PassesThreeUpdates(Back):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.passed: dict[str, int] = {}

    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        self.passed[subject] = self.passed.get(subject, 0) + 1
        if self.passed[subject] <= 3:
            super().pass_on(subject, record, body)


@fault("RAI-205", does="passes on what its image had, and no new fields")
@router_cache
class PassesKnownFields(Back):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.known: dict[str, set[str]] = {}

    def keep(self, subject: str, kept: Kept, image: Told, known: CachedValue | None) -> None:
        super().keep(subject, kept, image, known)
        self.known[subject] = set(kept.fields)

    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        if self.known.get(subject, set()) >= set(body.fields or {}):
            super().pass_on(subject, record, body)


@fault("RAI-205", does="passes on only subjects of a few segments")
@router_cache
class PassesShortSubjects(Front):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if subject.count(".") < 3:
            super().take_published(subject, body, other, now)


@fault("RAI-205", does="passes on no updates of what it has no image of")
@router_cache
class PassesWhatItKeeps(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        if subject in self.records:
            super().pass_on(subject, record, body)


@fault("RAI-205", does="subscribes no wildcard at the source")
@router_cache
class SubscribesNoWildcard(Back):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        super(Back, self).start_wild(body, other, now)


@fault("RAI-205", does="subscribes at the source only what is asked for with an image")
@router_cache
class SubscribesForImages(Back):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super(Back, self).subscribe(subject, subscription, other, now)

    def show(self, kind: str, subject: str, returned: Any, other: KnownSession, now: float) -> None:
        if kind == "start":
            super().subscribe(subject, Terms(), other, now)
        super().show(kind, subject, returned, other, now)


@fault("RAI-205", does="unsubscribes at the source with the first who leaves")
@router_cache
class LeavesWithTheFirst(Back):
    def end_subscription(self, other: KnownSession, subject: str) -> None:
        super().end_subscription(other, subject)
        if subject in self.front.wanted:
            self.front.unsubscribe(subject)


@fault("RAI-205", does="passes on what the first publisher says that it met")
@router_cache
class PassesTheFirst(Front):
    first = ""

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        self.first = self.first or user_of(other.session)
        if user_of(other.session) == self.first:
            super().take_published(subject, body, other, now)


@fault("RAI-205", does="subscribes each subject at the source once and never again")
@router_cache
class SubscribesOnce(Front):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.ever: set[str] = set()

    def subscribe(self, subject: str, now: float, *, with_image: bool = True) -> None:
        if subject in self.ever:
            self.back.front.do_snapshot(now, subject)
        else:
            self.ever.add(subject)
            super().subscribe(subject, now, with_image=with_image)


@fault("RAI-206", does="shows the image that it got, without updates")
@router_cache
class KeepsTheFirstImage(Back):
    def keep(self, subject: str, kept: Kept, image: Told, known: CachedValue | None) -> None:
        copy = Kept(CachedValue(dict(kept.fields), kept.status), image)
        super().keep(subject, copy, image, known)


@fault("RAI-206", does="keeps the fields of its image up to date, and no new ones")
@router_cache
class KeepsNoNewFields(Back):
    def keep(self, subject: str, kept: Kept, image: Told, known: CachedValue | None) -> None:
        super().keep(subject, kept, image, known)
        self.names = getattr(self, "names", {}) | {subject: set(kept.fields)}

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        subject = next((name for name, each in self.records.items() if each is record), "")
        members = super().whole(kind, record)
        kept = {name: value for name, value in record.fields.items() if name in self.names.get(subject, ())}
        return members | {"data": object_of(kept)}


@fault("RAI-206", does="shows the last update for an image")
@router_cache
class KeepsTheLastUpdate(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        super().pass_on(subject, record, body)
        if subject in self.records:
            self.records[subject] = CachedValue(dict(body.fields or {}), record.status)


@fault("RAI-206", does="shows an update for an image while it has none, and keeps that")
@router_cache
class TakesUpdatesForWholeValues(Front):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is None and body.kind == "update" and body.fields is not None:
            self.absent.add(subject)
        elif wanted.record is not None and isinstance(wanted.record, Kept) and body.kind == "start":
            return
        super().apply(subject, wanted, body, other, now)


@fault("RAI-206", does="adds a whole value to the fields that it has")
@router_cache
class AddsWholeValues(Front):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        before = {} if wanted.record is None else dict(wanted.record.fields)
        super().apply(subject, wanted, body, other, now)
        if wanted.record is not None:
            for name, value in before.items():
                wanted.record.fields.setdefault(name, value)


@fault("RAI-206", does="keeps a value that nobody has subscribed any more")
@router_cache
class KeepsForEver(Back):
    def give_up(self, subject: str) -> None:
        known = self.records.get(subject)
        super().give_up(subject)
        if known is not None:
            self.records[subject] = known


@fault("RAI-206", does="keeps snapshots of what nobody has subscribed")
@router_cache
class KeepsSnapshots(Back):
    def answered(self, subject: str, body: Told) -> None:
        super().answered(subject, body)
        if body.fields is not None:
            self.records[subject] = CachedValue(dict(body.fields))


@fault("RAI-206", does="shows forty fields at most")
@router_cache
class ShowsFortyFields(Back):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        return super().whole(kind, record) | {"data": object_of(dict(list(record.fields.items())[:40]))}


@fault("RAI-207", does="passes on what the source says as it is, beside its own")
@router_cache
class PassesOnBytes(Front):
    def received(self, link: int, frame: bytes, now: float) -> None:
        super().received(link, frame, now)
        if self.back.link is not None and envelope.read(frame).subject.startswith(SERVED):
            self.back._out.append((self.back.link, frame))


@fault("RAI-207", does="passes on drops of the source's as they are, beside its own")
@router_cache
class PassesOnDrops(Front):
    def hear(self, message: Message, now: float) -> None:
        super().hear(message, now)
        if isinstance(message.body, Published) and message.body.kind == "drop" and self.back.link is not None:
            self.back._out.append((self.back.link, envelope.data(message.subject, self.spell(message))))


@fault("RAI-207", does="numbers what it passes on as the source does")
@router_cache
class PassesOnNumbers(Front):
    def hear_message(self, message: Message, now: float) -> None:
        its, self.back._seqno = self.back._seqno, message.seqno + 1000
        super().hear_message(message, now)
        self.back._seqno = max(its, self.back._seqno) if not isinstance(message.body, Published) else self.back._seqno
