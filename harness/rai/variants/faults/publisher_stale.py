"""Faults of a publisher: values that cannot be relied on, and that can again."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import FEED_DOWN, OK, STALE, CachedValue, Fields
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Published, Raw, Reply, SubStart, object_of


@fault("RAI-014", does="tells nobody that a source is disturbed")
class StaleSilently(Publisher):
    def tell_state(self, subject: str, status: str) -> None:
        self.records[subject].status = status


@fault("RAI-014", does="tells once that a source is disturbed")
class StaleOnce(Publisher):
    def tell_state(self, subject: str, status: str) -> None:
        if any(record.status == STALE for record in self.records.values()):
            self.records[subject].status = status
        else:
            super().tell_state(subject, status)


@fault("RAI-014", does="says temp_unavail of a disturbed source")
class StaleIsUnavailable(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        is_notice = body.status == STALE and not body.has_data
        super().publish_if_wanted(subject, replace(body, status="temp_unavail") if is_notice else body)


@fault("RAI-014", does="tells who has asked for an image alone that a source is disturbed")
class StaleForImages(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shown: set[str] = set()

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, body, other, now)
        if body.initial:
            self.shown.add(subject)

    def tell_state(self, subject: str, status: str) -> None:
        if subject in self.shown:
            super().tell_state(subject, status)
        else:
            self.records[subject].status = status


@fault("RAI-014", does="calls all subjects stale with one")
class StaleAll(Publisher):
    def do_stale(self, now: float, subject: str) -> None:
        """Lose the source of a subject."""
        for each in self.records:
            self.tell_state(each, STALE)


@fault("RAI-014", does="tells of a disturbed source with the next update")
class StaleWithTheNextUpdate(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.status != STALE or body.has_data:
            super().publish_if_wanted(subject, body)


@fault("RAI-139", does="tells that a value is stale with type stale")
class StaleIsAType(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        super().publish_if_wanted(subject, replace(body, type=STALE) if body.status == STALE else body)


@fault("RAI-139", does="tells that a value is stale with an initial")
class StaleIsAnInitial(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        is_notice = body.status == STALE and not body.has_data and subject in self.records
        data = {"type": "initial", "data": object_of(self.records[subject].fields)} if is_notice else {}
        super().publish_if_wanted(subject, replace(body, **data))


@fault("RAI-066", does="takes an update for the end of stale")
class UpdateEndsStale(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        self.records[subject].status = OK


@fault("RAI-066", does="takes updates of every field that there was for the end of stale")
class AllFieldsEndStale(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        before = self.records.get(subject)
        is_whole = before is not None and before.fields.keys() <= fields.keys() | self.fresh.get(subject, set())
        super().update(subject, fields, now)
        if self.records[subject].status == STALE:
            self.fresh.setdefault(subject, set()).update(fields)
            if is_whole:
                self.records[subject].status = OK

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.fresh: dict[str, set[str]] = {}


@fault("RAI-066", does="publishes no update of what is stale")
class StaleIsSilent(Publisher):
    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        return super().changed(record, {} if record.status == STALE else fields)


@fault("RAI-066", does="keeps updates of what is stale out of its cache")
class StaleIsFrozen(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        record = self.records.get(subject)
        before = None if record is None or record.status == OK else dict(record.fields)
        super().update(subject, fields, now)
        if before is not None:
            self.records[subject].fields = before


@fault("RAI-066", does="says in images alone that a value is stale")
class StaleInImages(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        return replace(shown, status=None) if kind == "snap" and shown.status == STALE else shown


@fault("RAI-066", does="says in snapshots alone that a value is stale")
class StaleInSnapshots(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        return replace(shown, status=None) if kind == "start" and shown.status == STALE else shown


@fault("RAI-066", does="marks what is subscribed alone as stale")
class StaleWhereWanted(Publisher):
    def tell_state(self, subject: str, status: str) -> None:
        if self.interests.is_wanted(subject):
            super().tell_state(subject, status)


@fault("RAI-066", does="takes a value for stale for ten seconds")
class StaleForAWhile(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.stale_since: dict[str, float] = {}

    def do_stale(self, now: float, subject: str) -> None:
        """Lose the source of a subject."""
        super().do_stale(now, subject)
        self.stale_since[subject] = now

    def show(self, kind: str, subject: str, returned: Any, other: KnownSession, now: float) -> None:
        record = self.records.get(subject)
        if record is not None and record.status == STALE and now > self.stale_since.get(subject, now) + 10:
            record.status = OK
        super().show(kind, subject, returned, other, now)


@fault("RAI-066", does="tells who was there when a source was disturbed alone that it is stale")
class StaleForThoseWhoWereThere(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.there: dict[str, set[str]] = {}

    def do_stale(self, now: float, subject: str) -> None:
        """Lose the source of a subject."""
        super().do_stale(now, subject)
        self.there[subject] = self.interests.sessions_of(subject)

    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        is_hidden = shown.status == STALE and other.session not in self.there.get(subject, ())
        return replace(shown, status=None) if is_hidden else shown


@fault("RAI-011", does="publishes nothing when a source is whole again")
class RestoresSilently(Publisher):
    def refresh(self, subject: str) -> None:
        """Publish nothing."""


@fault("RAI-011", does="publishes an update when a source is whole again")
class RestoresByUpdates(Publisher):
    def refresh(self, subject: str) -> None:
        self.publish_if_wanted(subject, self.changed(self.records[subject], self.records[subject].fields))


@fault("RAI-011", does="still says stale when a source is whole again")
class RestoresAsStale(Publisher):
    stale_once = False

    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        record = self.records[subject]
        restored = super().do_restore
        publish, self.stale_once = self.stale_once, True
        restored(now, subject, *text)
        self.stale_once = publish
        record.status = OK

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        return super().whole(kind, record) | ({"status": STALE} if self.stale_once else {})


@fault("RAI-011", does="keeps fields that a source has no more when it is whole again")
class RestoresOnTop(Publisher):
    added: Mapping[str, Raw] = {}

    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        before = dict(self.records[subject].fields)
        publish, self.added = self.added, before
        super().do_restore(now, subject, *text)
        self.added = publish
        self.records[subject].fields = before | self.records[subject].fields

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        return super().whole(kind, record) | {"data": object_of({**self.added, **record.fields})}


@fault("RAI-011", does="says stale to who asks after a source is whole again")
class SaysStaleToWhoAsks(Publisher):
    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        was = self.records[subject].status
        super().do_restore(now, subject, *text)
        self.records[subject].status = was


@fault("RAI-011", does="has all sources whole again with one")
class RestoresAll(Publisher):
    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        super().do_restore(now, subject, *text)
        for record in self.records.values():
            record.status = OK


@fault("RAI-011", does="says that a source is whole again once")
class RestoresOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.restored: set[str] = set()

    def refresh(self, subject: str) -> None:
        if subject not in self.restored:
            super().refresh(subject)
        self.restored.add(subject)


@fault("RAI-018", does="tells nobody that the feed is down")
class DownSilently(Publisher):
    def do_down(self, now: float) -> None:
        """Have no feed."""
        self.is_down = True
        for record in self.records.values():
            record.status = FEED_DOWN


@fault("RAI-018", does="tells of one subject that the feed is down")
class DownOnce(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        if body.status != FEED_DOWN or subject == self.interests.subjects[0]:
            super().publish(subject, body)


@fault("RAI-018", does="tells that the feed is down, and shows values as before")
class DownForUpdates(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        if members.get("status") == FEED_DOWN:
            del members["status"]
        return members


@fault("RAI-018", does="shows values as before of what nobody has subscribed while the feed is down")
class DownWhereWanted(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        is_hidden = shown.status == FEED_DOWN and not self.interests.sessions_of(subject)
        return replace(shown, status=None) if is_hidden else shown


@fault("RAI-018", does="says not_found while the feed is down")
class DownIsNotFound(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        if shown.status != FEED_DOWN:
            return shown
        return Reply(type=kind, subject=subject, status="not_found")


@fault("RAI-018", does="says feed_down when the feed is up again")
class DownForGood(Publisher):
    def do_up(self, now: float) -> None:
        """Have a feed again."""


@fault("RAI-018", does="tells once that the feed is down")
class DownOnlyOnce(Publisher):
    was_down = False

    def do_down(self, now: float) -> None:
        """Have no feed."""
        if not self.was_down:
            super().do_down(now)
        self.was_down = True


@fault("RAI-018", does="shows other fields while the feed is down")
class DownWithoutFields(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        return members | {"data": object_of({})} if record.status == FEED_DOWN else members
