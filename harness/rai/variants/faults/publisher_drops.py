"""Faults of a publisher: when it drops a subject, for which reason, and what it does afterwards."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Published, Return, SubStart, SubStop, object_of


class Dropping(Publisher):
    """What says something else in a drop is made of this."""

    def dropping(self, subject: str, body: Published) -> Published | None:
        """Return what is said in place of a drop; ``None`` for nothing."""
        return body

    def publish(self, subject: str, body: Published) -> None:
        said = self.dropping(subject, body) if body.kind == "drop" else body
        if said is not None:
            super().publish(subject, said)


@fault("RAI-137", does="drops what has a value alone")
class DropsValues(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return None if body.status == "nosubscribers" and subject not in self.records else body


@fault("RAI-137", does="drops what one session alone has subscribed")
class DropsAfterOne(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shared: set[str] = set()

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if len(self.interests.sessions_of(subject)) > 1:
            self.shared.add(subject)

    def drop_unwanted(self, subject: str) -> None:
        if subject not in self.shared:
            super().drop_unwanted(subject)


@fault("RAI-137", does="drops a subject twice")
class DropsTwice(Publisher):
    def drop_unwanted(self, subject: str) -> None:
        super().drop_unwanted(subject)
        super().drop_unwanted(subject)


@fault("RAI-137", does="drops for want of subscribers with status expired")
class DropsWithExpired(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, status="expired") if body.status == "nosubscribers" else body


@fault("RAI-137", does="drops without a status")
class DropsWithoutStatus(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, status=None) if body.status == "nosubscribers" else body


@fault("RAI-137", does="says nosubscribers without type drop")
class DropsWithoutType(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, type=None) if body.status == "nosubscribers" else body


@fault("RAI-137", does="acks the last stop in place of a drop")
class AcksInsteadOfDropping(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        if body.ack and body.return_ is not None:
            self.ack("stop", subject, body.return_, other)
            self.interests.remove(other.session, subject)
        else:
            super().stop(subject, body, other)


@fault("RAI-137", does="drops with the last value")
class DropsWithData(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        record = self.records.get(subject)
        return body if record is None else replace(body, data=object_of(record.fields))


@fault("RAI-137", does="drops short subjects alone")
class DropsShortSubjects(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return body if len(subject) < 128 or body.status != "nosubscribers" else None


@fault("RAI-191", does="acks no start of what it has dropped")
class AcksNothingDropped(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.dropped: set[str] = set()

    def drop_unwanted(self, subject: str) -> None:
        super().drop_unwanted(subject)
        if not self.interests.is_wanted(subject):
            self.dropped.add(subject)

    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        if kind == "stop" or subject not in self.dropped:
            super().ack(kind, subject, returned, other)


@fault("RAI-191", does="publishes nothing more of what it has dropped")
class PublishesNothingDropped(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.dropped: set[str] = set()

    def drop_unwanted(self, subject: str) -> None:
        super().drop_unwanted(subject)
        if not self.interests.is_wanted(subject):
            self.dropped.add(subject)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if subject not in self.dropped:
            super().publish_if_wanted(subject, body)


@fault("RAI-191", does="subscribes a session that has had a subject dropped no more")
class SubscribesNobodyTwice(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.had: set[tuple[str, str]] = set()

    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        super().stop(subject, body, other)
        self.had.add((other.session, subject))

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if (other.session, subject) not in self.had:
            super().subscribe(subject, subscription, other, now)


@fault("RAI-191", does="drops a subject twice at most")
class DropsTwoTimes(Dropping):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.counts: dict[str, int] = {}

    def dropping(self, subject: str, body: Published) -> Published | None:
        self.counts[subject] = self.counts.get(subject, 0) + 1
        return body if self.counts[subject] <= 2 else None


@fault("RAI-020", does="drops what has ended with status nosubscribers")
class ExpiredIsUnwanted(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, status="nosubscribers") if body.status == "expired" else body


@fault("RAI-020", does="says expired without type drop")
class ExpiredWithoutType(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, type=None) if body.status == "expired" else body


@fault("RAI-020", does="forgets what has ended without a word")
class ExpiresSilently(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return None if body.status == "expired" and subject.count(".") > 1 else body


@fault("RAI-020", does="drops what has ended once for each subscriber")
class ExpiresForEach(Publisher):
    def do_expire(self, now: float, subject: str) -> None:
        """End a subject for good."""
        for _ in self.interests.sessions_of(subject):
            self.publish_if_wanted(subject, Published(type="drop", status="expired"))
        self.end_subject(subject, Published(type="drop", status="expired"))


@fault("RAI-020", does="drops all subjects with one that has ended")
class ExpiresAll(Publisher):
    def do_expire(self, now: float, subject: str) -> None:
        """End a subject for good."""
        for each in self.interests.subjects:
            self.end_subject(each, Published(type="drop", status="expired"))


@fault("RAI-194", does="drops what its cache has lost with status expired")
class EvictedIsExpired(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return replace(body, status="expired") if body.status == "preempted" else body


@fault("RAI-194", does="loses subjects from its cache without a word")
class EvictsSilently(Dropping):
    def dropping(self, subject: str, body: Published) -> Published | None:
        return None if body.status == "preempted" else body


@fault("RAI-194", does="loses everything from its cache with one subject")
class EvictsAll(Publisher):
    def do_evict(self, now: float, subject: str) -> None:
        """Lose a subject from a full cache."""
        for each in self.interests.subjects:
            self.end_subject(each, Published(type="drop", status="preempted"))


@fault("RAI-194", does="drops what its cache has lost in two ways")
class EvictsInTwoWays(Publisher):
    def do_evict(self, now: float, subject: str) -> None:
        """Lose a subject from a full cache."""
        self.publish_if_wanted(subject, Published(type="drop", status="nosubscribers"))
        super().do_evict(now, subject)


class DroppingTheRenamed(Dropping):
    """What says something else of a subject that was renamed is made of this."""

    def renaming(self, subject: str, body: Published) -> Published | None:
        """Return what is said in place of the drop; ``None`` for nothing."""
        return body

    def dropping(self, subject: str, body: Published) -> Published | None:
        return self.renaming(subject, body) if body.status == "relocate" else body


@fault("RAI-021", does="does not say what a subject has become")
class RenamesIntoNothing(DroppingTheRenamed):
    def renaming(self, subject: str, body: Published) -> Published | None:
        return replace(body, text=None)


@fault("RAI-021", does="names the old subject in place of the new one")
class RenamesIntoItself(DroppingTheRenamed):
    def renaming(self, subject: str, body: Published) -> Published | None:
        return replace(body, text=subject)


@fault("RAI-021", does="names the last segment of the new subject")
class RenamesByTheLastSegment(DroppingTheRenamed):
    def renaming(self, subject: str, body: Published) -> Published | None:
        return replace(body, text=(body.text or "").rpartition(".")[2])


@fault("RAI-021", does="drops what was renamed with status expired")
class RenamedIsExpired(DroppingTheRenamed):
    def renaming(self, subject: str, body: Published) -> Published | None:
        return replace(body, status="expired")


@fault("RAI-021", does="says relocate under the new subject")
class RenamesUnderTheNewName(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.status == "relocate":
            self.publish(body.text or subject, body)
        else:
            super().publish_if_wanted(subject, body)


@fault("RAI-021", does="renames without the value")
class RenamesWithoutTheValue(Publisher):
    def do_rename(self, now: float, subject: str, other: str) -> None:
        """Have a subject under another name."""
        super().do_rename(now, subject, other)
        self.records.pop(other, None)


@fault("RAI-021", does="tells who has asked for an image alone that a subject was renamed")
class RenamesForImages(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shown: set[str] = set()

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, body, other, now)
        if body.initial:
            self.shown.add(subject)

    def do_rename(self, now: float, subject: str, other: str) -> None:
        """Have a subject under another name."""
        if subject not in self.shown:
            self.interests.remove_subject(subject)
        super().do_rename(now, subject, other)
