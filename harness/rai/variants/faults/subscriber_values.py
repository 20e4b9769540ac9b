"""Faults of a subscriber: what it makes of images, updates and their status."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import OK, CachedValue
from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import DISTURBED, WHOLE, Subscriber, Wanted
from harness.rai.variants.registry import fault
from wire.rai.values import NOTHING, Message, Published, Raw, Reply, Told, object_of


@fault("RAI-155", does="tells no update of what has no image")
class NeedsAnImage(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None or body.kind in WHOLE:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="tells no update of what was subscribed without an image")
class TellsOnlyWhatHasAnImage(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if subject not in self.wanted or self.wanted[subject].with_image:
            super().take_published(subject, body, other, now)


@fault("RAI-155", does="tells values of sixteen subjects at most")
class TellsSixteenSubjects(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if subject in list(self.wanted)[:16]:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="tells values of subjects with five segments at most")
class TellsShortSubjects(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if subject.count(".") < 5:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="tells no update after not_found")
class GivesUpAtNotFound(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        if body.state == "not_found":
            self.wanted.pop(subject, None)


@fault("RAI-155", "RAI-088", does="takes updates of one publisher for each subject")
class OnePublisherForEachSubject(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.source in ("", other.session):
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="tells the fields of an update alone")
class TellsChangesAlone(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        super().apply(subject, wanted, body, other, now)
        if body.kind == "update" and body.fields and wanted.record is not None and len(wanted.record.fields) > 8:
            wanted.record.fields = dict(list(wanted.record.fields.items())[:8])


@fault("RAI-155", does="tells every text as ASCII")
class LosesAccents(Subscriber):
    def tell(self, *words: str) -> None:
        super().tell(*(word.encode("ascii", "ignore").decode() for word in words))


@fault("RAI-155", does="tells decimals as integers")
class CutsDecimals(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        fields = body.fields
        if fields is not None:
            for name, value in fields.items():
                if bytes(value).replace(b".", b"").isdigit():
                    fields[name] = Raw(bytes(value).partition(b".")[0])
            body = _with(body, fields)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="takes no data of a recap")
class PassesOverRecaps(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.kind != "recap":
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="passes over conflated updates")
class PassesOverConflated(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.state != "conflated":
            super().apply(subject, wanted, body, other, now)


@fault("RAI-155", does="tells every other of two updates that come at once")
class TellsLateUpdatesFirst(Subscriber):
    held: tuple[str, Wanted, Told, KnownSession] | None = None

    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if self.held is None and len(body.fields or {}) == 2 and b"F3" in bytes(body.data):
            self.held = (subject, wanted, body, other)
            return
        super().apply(subject, wanted, body, other, now)
        if self.held is not None and self.held[0] == subject:
            held, self.held = self.held, None
            super().apply(*held, now)


@fault("RAI-059", does="replaces a value by each update")
class ReplacesByUpdates(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None and body.fields and body.kind == "update":
            wanted.record.fields.clear()
        super().apply(subject, wanted, body, other, now)


@fault("RAI-059", does="keeps what an image lacks")
class MergesImages(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None and body.fields is not None:
            body = _with(body, {**wanted.record.fields, **body.fields})
        super().apply(subject, wanted, body, other, now)


@fault("RAI-059", does="keeps what an image lacks that has fewer fields")
class MergesSmallImages(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None and body.fields is not None and len(body.fields) == 1:
            body = _with(body, {**wanted.record.fields, **body.fields})
        super().apply(subject, wanted, body, other, now)


@fault("RAI-059", does="adds no fields by updates that the image did not have")
class AddsNoFields(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None and body.fields and body.kind == "update" and len(wanted.record.fields) > 1:
            known = {name: value for name, value in body.fields.items() if name in wanted.record.fields}
            body = _with(body, known)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-052", does="passes over updates before the image")
class DropsEarlyUpdates(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        wanted = self.wanted.get(subject)
        if wanted is None or wanted.record is not None or not wanted.with_image or body.kind in WHOLE:
            super().take_published(subject, body, other, now)


@fault("RAI-052", does="passes over the image when there was an update")
class DropsLateImages(Subscriber):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        _, subject = self.asked.get(message.subject.split(".", 3)[3], ("", ""))
        wanted = self.wanted.get(subject)
        if body.fields is None or wanted is None or wanted.record is None:
            super().take_reply(message, body, other, now)


@fault("RAI-135", does="passes over data without a type")
class NeedsAType(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        wanted = self.wanted.get(subject)
        if body.type is not None or body.status is not None or wanted is None or wanted.record is None:
            super().take_published(subject, body, other, now)


@fault("RAI-135", does="takes data without a type for an image")
class TakesUpdatesForImages(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.type is None and body.fields is not None:
            wanted.record = None
        super().apply(subject, wanted, body, other, now)


@fault("RAI-135", does="takes data without a type, but with a format, for an image")
class TakesFormatsForImages(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.type is None and body.format is not None and body.fields is not None:
            wanted.record = None
        super().apply(subject, wanted, body, other, now)


@fault("RAI-141", does="passes over updates that say so")
class PassesOverWrittenTypes(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.type != "update":
            super().apply(subject, wanted, body, other, now)


@fault("RAI-141", does="takes any status that is written for a doubt")
class DoubtsWrittenStatus(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        super().apply(subject, wanted, body, other, now)
        if body.status == "ok" and wanted.record is not None:
            self.mark(subject, wanted, "stale")


@fault("RAI-141", does="takes an image with status ok for an update")
class MergesImagesThatAreOk(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.status == "ok" and body.kind in WHOLE and body.fields is not None and wanted.record is not None:
            body = _with(body, {**wanted.record.fields, **body.fields})
        super().apply(subject, wanted, body, other, now)


@fault("RAI-156", does="tells no status with a value")
class TellsNoStatus(Subscriber):
    def tell_value(self, subject: str, record: CachedValue, changed: Any) -> None:
        super().tell_value(subject, CachedValue(record.fields, OK), changed)


@fault("RAI-156", does="tells nothing of a status without data")
class PassesOverBareStatus(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        if body.state not in DISTURBED:
            super().take_status(subject, wanted, body)


@fault("RAI-156", does="tells stale alone, and nothing of a feed that is down")
class TellsNoFeedDown(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.state != "feed_down":
            super().apply(subject, wanted, body, other, now)
        elif body.fields is not None:
            super().apply(subject, wanted, _with(body, body.fields, status="ok"), other, now)


@fault("RAI-156", does="takes the status of no image")
class TakesImagesForWhole(Subscriber):
    def status_of_image(self, body: Told) -> str:
        return OK


@fault("RAI-156", does="takes the status of no update")
class TakesNoStatusOfUpdates(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.kind == "update" and body.fields is not None:
            body = _with(body, body.fields, status="ok")
        super().apply(subject, wanted, body, other, now)


@fault("RAI-156", does="clears the fields of a value that is stale")
class ClearsStaleValues(Subscriber):
    def mark(self, subject: str, wanted: Wanted, status: str) -> None:
        if wanted.record is not None:
            wanted.record.fields = {}
        super().mark(subject, wanted, status)


@fault("RAI-157", does="takes a stale value for whole after an update")
class HealsByUpdates(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.fields is not None and body.state not in DISTURBED and wanted.record is not None:
            wanted.record.status = OK
        super().apply(subject, wanted, body, other, now)


@fault("RAI-157", does="takes a stale value for whole after an update that says ok")
class HealsByOk(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.fields is not None and body.status == "ok" and wanted.record is not None:
            wanted.record.status = OK
        super().apply(subject, wanted, body, other, now)


@fault("RAI-157", does="takes a stale value for whole after three updates")
class HealsByAndBy(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        self.count = 0 if body.state in DISTURBED else getattr(self, "count", 0) + 1
        if wanted.record is not None and self.count >= 3:
            wanted.record.status = OK
        super().apply(subject, wanted, body, other, now)


@fault("RAI-158", does="keeps a value stale for ever")
class StaysStale(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        was = wanted.record.status if wanted.record is not None else OK
        if was != OK and body.fields is not None and body.state == OK:
            body = _with(body, body.fields, status=was)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-158", does="takes a verify for an update")
class TakesVerifyForAnUpdate(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.kind == "verify" and body.fields is not None:
            body = _with(body, body.fields, type="update")
        super().apply(subject, wanted, body, other, now)


@fault("RAI-158", does="takes an image for whole only where it says ok")
class NeedsOkWritten(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        was = wanted.record.status if wanted.record is not None else OK
        if was != OK and body.fields is not None and body.status is None:
            body = _with(body, body.fields, status=was)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-158", does="heals a feed that is down by nothing")
class StaysDown(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        was = wanted.record.status if wanted.record is not None else OK
        if was == "feed_down" and body.fields is not None and body.state == OK:
            body = _with(body, body.fields, status=was)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-158", does="tells a value as stale again with the next update")
class RemembersStale(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        self.were_stale: set[str] = getattr(self, "were_stale", set())
        if body.state in DISTURBED:
            self.were_stale.add(subject)
        elif body.kind == "update" and body.fields is not None and subject in self.were_stale:
            body = _with(body, body.fields, status="stale")
        super().apply(subject, wanted, body, other, now)


@fault("RAI-015", does="stops what is stale")
class StopsWhatIsStale(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        super().apply(subject, wanted, body, other, now)
        if body.state == "stale" and subject in self.wanted:
            self.unsubscribe(subject)
            self.subscribe(subject, now)


@fault("RAI-015", does="takes no update while a feed is down")
class WaitsWhileDown(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is None or wanted.record.status != "feed_down" or body.kind in WHOLE:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-015", does="takes no update after a feed switch")
class WaitsAfterSwitch(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is None or wanted.record.status != "feed_switch" or body.kind in WHOLE:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-143", does="drops what has a status that it does not know, for good")
class GivesUpAtUnknown(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.state == "half_day":
            self.wanted.pop(subject, None)
        else:
            super().apply(subject, wanted, body, other, now)


@fault("RAI-143", does="ends at a type that it does not know")
class EndsAtUnknownTypes(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.kind not in WHOLE | {"update", "recap", "transient"}:
            raise LookupError(body.kind)
        super().apply(subject, wanted, body, other, now)


@fault("RAI-144", does="clears a value at a transient")
class ClearsAtTransients(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        if body.kind == "transient":
            wanted.record = None


@fault("RAI-144", does="clears a value at a transient with status bad_access")
class ClearsAtBadAccess(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        if body.kind == "transient" and body.state == "bad_access":
            wanted.record = None


@fault("RAI-144", does="takes a transient's status for a field")
class KeepsTransients(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        if body.kind == "transient" and wanted.record is not None:
            wanted.record.fields["STATUS"] = Raw(b'"%b"' % body.state.encode())


def _with(body: Told, fields: dict[str, Raw], **members: Any) -> Told:
    """Return what is told with other fields."""
    return replace(body, data=object_of(fields) if body.data is not NOTHING else NOTHING, **members)
