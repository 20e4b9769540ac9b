"""Faults of a publisher: updates, what the cache keeps of them, and updates that several became."""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.rai.peers.cache import CachedValue, Fields
from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Published, Raw, Reply, Return, SubStart, inbox, object_of

SOME = 16


@fault("RAI-009", does="publishes updates to who has asked for an image alone")
class UpdatesForImages(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, body, other, now)
        if not body.initial and not body.ack:
            self.interests.remove(other.session, subject)


@fault("RAI-009", does="publishes no update of a subject that had no value when it was subscribed")
class UpdatesOfOldSubjects(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.kind != "update" or subject in self.valued:
            super().publish_if_wanted(subject, body)

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if subject in self.records:
            self.valued.add(subject)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.valued: set[str] = set()


class Changing(Publisher):
    """What tells of other changes is made of this."""

    changed_fields: Mapping[str, Raw] | None = None

    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        """Return the fields that it tells of, given what they were."""
        return fields

    def update(self, subject: str, fields: Fields, now: float) -> None:
        known = self.records.get(subject)
        before = {} if known is None else dict(known.fields)
        told = self.to_tell(subject, fields, before)
        wanted, self.changed_fields = self.changed_fields, told
        super().update(subject, fields, now)
        self.changed_fields = wanted

    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        return super().changed(record, fields if self.changed_fields is None else self.changed_fields)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.kind != "update" or body.fields != {}:
            super().publish_if_wanted(subject, body)


@fault("RAI-009", does="publishes no field that has become nothing")
class PublishesNoNothing(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: value for name, value in fields.items() if msgspec.json.decode(value)}


@fault("RAI-009", does="publishes no null")
class PublishesNoNull(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: value for name, value in fields.items() if bytes(value) != b"null"}


@fault("RAI-009", does="publishes no field that the subject did not have before")
class PublishesOldFields(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: value for name, value in fields.items() if not before or name in before}


@fault("RAI-009", does="publishes the first of several changed fields")
class PublishesOneField(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return dict(list(fields.items())[:1])


@fault("RAI-009", does="publishes no objects within values")
class PublishesNoObjects(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: value for name, value in fields.items() if b"{" not in bytes(value)}


@fault("RAI-009", does="publishes short values alone")
class PublishesShortValues(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: value for name, value in fields.items() if len(bytes(value)) < 1024}


@fault("RAI-009", does="publishes the old value of what has changed")
class PublishesTheOldValue(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        return {name: before.get(name, value) for name, value in fields.items()}


@fault("RAI-009", does="publishes a value once, also when it comes back")
class PublishesValuesOnce(Changing):
    def to_tell(self, subject: str, fields: Mapping[str, Raw], before: Mapping[str, Raw]) -> Mapping[str, Raw]:
        told = {name: value for name, value in fields.items() if (subject, name, bytes(value)) not in self.told}
        self.told |= {(subject, name, bytes(value)) for name, value in fields.items()}
        return told

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.told: set[tuple[str, str, bytes]] = set()


@fault("RAI-009", does="publishes updates of some subjects of a session at most")
class PublishesFewSubjects(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if subject in list(self.interests.subjects)[:SOME] or not self.interests.sessions_of(subject):
            super().publish_if_wanted(subject, body)


@fault("RAI-009", does="publishes some updates of a subject, and then no more")
class PublishesFewUpdates(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.counts: dict[str, int] = {}

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        self.counts[subject] = self.counts.get(subject, 0) + 1
        if self.counts[subject] <= SOME:
            super().publish_if_wanted(subject, body)


@fault("RAI-009", does="publishes every second update with the one before it")
class PublishesInPairs(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.waiting: dict[str, Published] = {}

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.kind != "update" or body.status is not None:
            super().publish_if_wanted(subject, body)
        elif subject in self.waiting:
            super().publish_if_wanted(subject, body)
            super().publish_if_wanted(subject, self.waiting.pop(subject))
        else:
            self.waiting[subject] = body


@fault("RAI-010", does="publishes what a snapshot was shown of")
class PublishesWhatWasShown(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shown: set[str] = set()

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        self.shown.add(subject)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if subject in self.shown and body.kind == "update":
            self.publish(subject, body)
        else:
            super().publish_if_wanted(subject, body)


@fault("RAI-010", does="publishes what was subscribed once")
class PublishesForGood(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.once: set[str] = set()

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        self.once.add(subject)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if subject in self.once and not self.interests.is_wanted(subject) and body.kind == "update":
            self.publish(subject, body)
        super().publish_if_wanted(subject, body)


@fault("RAI-202", does="publishes an update for each who has subscribed the subject")
class PublishesForEach(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        for _ in range(max(1, len(self.interests.sessions_of(subject)))):
            super().publish_if_wanted(subject, body)


@fault("RAI-202", does="publishes an update once more for those who have subscribed a wildcard")
class PublishesForWildcards(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        super().publish_if_wanted(subject, body)
        if self.interests.sessions_of(subject) and self.interests.wild:
            super().publish_if_wanted(subject, body)


@fault("RAI-136", does="sends updates to the inbox of each subscriber as well")
class SendsUpdates(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        super().publish_if_wanted(subject, body)
        if body.kind == "update" and body.has_data:
            for session in self.interests.sessions_of(subject):
                self.say(inbox(session, "update"), Reply(subject=subject, data=body.data))


@fault("RAI-136", does="publishes updates under its own user as well")
class PublishesUnderItsUser(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        super().publish(subject, body)
        super().publish(f"{self.user}.{subject}", body)


@fault("RAI-136", does="names another subject in updates of long ones")
class NamesShortSubjects(Publisher):
    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        return msgspec.structs.replace(super().changed(record, fields), subject="LAB")


@fault("RAI-136", does="publishes updates with type initial")
class UpdatesAreInitials(Publisher):
    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        found = super().changed(record, fields)
        return msgspec.structs.replace(found, type="initial") if len(record.fields) == 2 else found


@fault("RAI-190", does="has the last update alone in its cache")
class CachesTheLastUpdate(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        self.records[subject].fields = dict(fields)


@fault("RAI-190", does="caches what is subscribed alone, but for the first value")
class CachesWhatIsWanted(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        if subject not in self.records or self.interests.is_wanted(subject):
            super().update(subject, fields, now)


@fault("RAI-190", does="caches no field that was not there first")
class CachesOldFields(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        before = self.records.get(subject)
        known = None if before is None else set(before.fields)
        super().update(subject, fields, now)
        if known is not None:
            record = self.records[subject]
            record.fields = {name: value for name, value in record.fields.items() if name in known}


@fault("RAI-190", does="merges objects within values")
class MergesObjects(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        before = self.records.get(subject)
        old = {} if before is None else {name: msgspec.json.decode(value) for name, value in before.fields.items()}
        super().update(subject, fields, now)
        for name, value in fields.items():
            new = msgspec.json.decode(value)
            if isinstance(new, dict) and isinstance(old.get(name), dict):
                self.records[subject].fields[name] = object_of(old[name] | new)


@fault("RAI-190", does="takes a null for the end of a field")
class NullEndsFields(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        record = self.records[subject]
        record.fields = {name: value for name, value in record.fields.items() if bytes(value) != b"null"}


@fault("RAI-190", does="takes field names for the same whatever their case")
class NamesWithoutCase(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        record = self.records[subject]
        for name in fields:
            for other in [each for each in record.fields if each != name and each.lower() == name.lower()]:
                del record.fields[other]


@fault("RAI-190", does="keeps values of some subjects at most")
class KeepsFewSubjects(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        while len(self.records) > 2 * SOME:
            del self.records[next(iter(self.records))]


@fault("RAI-190", does="keeps subjects apart by all but their last two characters' case")
class SubjectsWithoutCase(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        for other in [each for each in self.records if each != subject and each.lower() == subject.lower()]:
            self.records[other].update(fields, now)


def _as_float(value: Raw) -> Raw:
    """Return a value as who reads numbers as binary fractions writes it again."""
    return Raw(msgspec.json.encode(msgspec.json.decode(value)))


@fault("RAI-093", does="reads and writes numbers as binary fractions")
class BinaryFractions(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, {name: _as_float(value) for name, value in fields.items()}, now)


@fault("RAI-093", does="shows numbers from the cache as binary fractions")
class BinaryFractionsInImages(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        return members | {"data": object_of({name: _as_float(value) for name, value in record.fields.items()})}


@fault("RAI-093", does="keeps nine digits behind the point")
class NineDigits(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, {name: _cut(value) for name, value in fields.items()}, now)


def _cut(value: Raw) -> Raw:
    begin, point, digits = bytes(value).partition(b".")
    return Raw(begin + point + digits[:9]) if point and digits.isdigit() else value


@fault("RAI-023", does="does not say that updates were merged")
class MergesSilently(Publisher):
    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        return msgspec.structs.replace(super().conflated(record, updates), status=None)


@fault("RAI-023", does="merges updates so that the first value of a field counts")
class TheFirstValueCounts(Publisher):
    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        return super().conflated(record, updates[::-1])


@fault("RAI-023", does="publishes the last of several updates as all of them")
class TheLastUpdateCounts(Publisher):
    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        found = super().conflated(record, updates)
        return msgspec.structs.replace(found, data=object_of(updates[-1]))


@fault("RAI-023", does="loses what was held back for all but the first subject")
class ReleasesOneSubject(Publisher):
    def do_release(self, now: float) -> None:
        """Send what waits."""
        self.held = dict(list((self.held or {}).items())[:1])
        super().do_release(now)


@fault("RAI-023", does="holds updates once, and then for good")
class HoldsForGood(Publisher):
    def do_release(self, now: float) -> None:
        """Send what waits."""
        super().do_release(now)
        self.held = {}


@fault("RAI-023", does="caches nothing while updates are held")
class CachesNothingHeld(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        record = self.records.get(subject)
        before = None if record is None else dict(record.fields)
        super().update(subject, fields, now)
        if self.held is not None and before is not None:
            self.records[subject].fields = before


@fault("RAI-139", does="sends merged updates with type initial")
class ConflatedIsInitial(Publisher):
    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        return msgspec.structs.replace(super().conflated(record, updates), type="initial")


@fault("RAI-139", does="sends merged updates with type conflated")
class ConflatedIsAType(Publisher):
    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        return msgspec.structs.replace(super().conflated(record, updates), type="conflated")
