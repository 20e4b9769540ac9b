"""Unusual, legal ways of a publisher to publish what changes."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import OK, CachedValue
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.serving import FORMAT
from harness.rai.variants.registry import oddity
from wire.rai.relaxed import Spelling, parse, spell
from wire.rai.values import (
    NOTHING,
    Message,
    Published,
    Raw,
    Reply,
    Return,
    SubStart,
    SubStop,
    WildStart,
    inbox,
    object_of,
    write,
)


class PublishingOddly(Publisher):
    """What publishes otherwise is made of this."""

    def publishing(self, subject: str, body: Published) -> Published:
        """Return what is published in place of something."""
        return body

    def publish(self, subject: str, body: Published) -> None:
        super().publish(subject, self.publishing(subject, body))


@oddity("RAI-136", "RAI-139", does="writes type update and status ok")
class WritesTypes(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, type=body.kind, status=body.state)


@oddity("RAI-136", does="names subject and format in what it publishes")
class NamesSubjects(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, subject=subject, format=FORMAT)


@oddity("RAI-009", "RAI-190", does="publishes all fields with each update")
class PublishesAllFields(Publisher):
    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        return super().changed(record, record.fields)

    def conflated(self, record: CachedValue, updates: list[dict[str, Raw]]) -> Published:
        return replace(super().conflated(record, updates), data=object_of(record.fields))


@oddity("RAI-010", does="publishes what nobody has subscribed")
class Broadcasts(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if body.kind == "update":
            self.publish(subject, body)
        else:
            super().publish_if_wanted(subject, body)


@oddity("RAI-066", does="says in no update that a value is stale")
class UpdatesWithoutStatus(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, status=None) if body.status == "stale" and body.has_data else body


@oddity("RAI-014", "RAI-139", does="tells that a value is stale with all of its fields")
class StaleWithFields(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        record = self.records.get(subject)
        is_notice = body.status == "stale" and not body.has_data
        return replace(body, data=object_of(record.fields)) if is_notice and record is not None else body


@oddity("RAI-014", "RAI-018", does="says feed_down of what is stale")
class StaleIsDown(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, status="feed_down") if body.status == "stale" else body


@oddity("RAI-018", does="says stale of what is down")
class DownIsStale(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, status="stale") if body.status == "feed_down" else body

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        return members | {"status": "stale"} if members.get("status") == "feed_down" else members


@oddity("RAI-011", does="publishes a verify when a source is whole again")
class RestoresByVerify(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, type="verify", status="ok") if body.type == "initial" and body.status is None else body


@oddity("RAI-011", does="publishes an initial with status verify when a source is whole again")
class RestoresByInitialVerify(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, status="verify") if body.type == "initial" and body.status is None else body


@oddity("RAI-011", "RAI-151", does="sends images anew to each inbox")
class RefreshesInboxes(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.returns: dict[tuple[str, str], Return] = {}

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, body, other, now)
        if body.return_ is not None:
            self.returns[subject, other.session] = body.return_

    def refresh(self, subject: str) -> None:
        sessions = sorted(self.interests.sessions_of(subject))
        if not all((subject, session) in self.returns for session in sessions):
            super().refresh(subject)
            return
        for session in sessions:
            body = Reply(**self.whole("start", self.records[subject]), subject=subject)
            self.say(inbox(session, self.returns[subject, session]), body)


@oddity("RAI-019", "RAI-140", does="tells of a switch by an initial with all fields")
class SwitchesByInitials(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        record = self.records.get(subject)
        if body.status != "feed_switch" or record is None:
            return body
        return Published(**self.whole("initial", record) | {"status": "feed_switch"})


@oddity("RAI-022", does="tells of a switch without a recap")
class SwitchesWithoutRecap(PublishingOddly):
    def publishing(self, subject: str, body: Published) -> Published:
        return replace(body, data=NOTHING) if body.status == "feed_switch" else body


@oddity("RAI-022", does="recaps one field at a time")
class RecapsOneByOne(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        if body.status != "feed_switch" or not body.fields:
            super().publish(subject, body)
            return
        for name, value in body.fields.items():
            super().publish(subject, replace(body, data=object_of({name: value})))


@oddity("RAI-022", does="recaps fields as updates behind the notice")
class RecapsByUpdates(Publisher):
    def publish(self, subject: str, body: Published) -> None:
        if body.status != "feed_switch" or not body.has_data:
            super().publish(subject, body)
            return
        super().publish(subject, replace(body, data=NOTHING))
        super().publish(subject, Published(data=body.data))


@oddity("RAI-023", does="says stale rather than conflated of what is both, and conflated of one update that waited")
class ConflatesOne(Publisher):
    def conflated(self, record: CachedValue, updates: list[dict[str, Raw]]) -> Published:
        found = super().conflated(record, updates)
        return replace(found, status="conflated" if record.status == OK else record.status)


@oddity("RAI-122", "RAI-137", does="drops subjects for want of subscribers that wildcards match")
class WildcardsKeepNothing(Publisher):
    def drop_unwanted(self, subject: str) -> None:
        if not self.interests.sessions_of(subject):
            self.publish(subject, Published(type="drop", status="nosubscribers"))


@oddity("RAI-123", does="drops nothing when a wildcard is stopped")
class WildcardsDropNothing(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        self.interests.remove_wild(other.session, wildcard)


@oddity("RAI-122", does="acks wildcard starts")
class AnswersWildcards(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        super().start_wild(body, other, now)
        if body.ack and body.return_ is not None:
            self.ack("start", body.subject, body.return_, other)


@oddity("RAI-193", "RAI-137", does="drops what nobody has subscribed when it is stopped")
class DropsTheUnwanted(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        had_it = subject in self.interests.of_session.get(other.session, ())
        super().stop(subject, body, other)
        if not had_it:
            self.drop_unwanted(subject)


@oddity("RAI-185", "RAI-091", does="writes a member on each line")
class WritesLines(Publisher):
    def spell(self, message: Message) -> bytes:
        return spell(parse(write(message)), Spelling.PRETTY)


@oddity("RAI-091", does="writes words without quotes")
class WritesWords(Publisher):
    def spell(self, message: Message) -> bytes:
        return spell(parse(write(message)), Spelling.RELAXED)


@oddity("RAI-185", does="writes its header behind the body")
class WritesTheHeaderLast(Publisher):
    def spell(self, message: Message) -> bytes:
        header = {"digest": message.digest, "seqno": message.seqno, "session": message.session}
        body = message.signed[1:-1]
        return b"{" + body + (b"," if body else b"") + json.dumps(header).encode()[1:]
