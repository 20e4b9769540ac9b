"""Unusual, legal ways of a publisher to answer starts, stops and requests."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import VERIFY, CachedValue, Fields
from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import oddity
from wire.rai.values import Dict, DictRequest, Raw, Reply, Return, SubStart, SubStop


class AnsweringOddly(Publisher):
    """What answers otherwise is made of this."""

    def answering(self, body: Reply) -> Reply | None:
        """Return what is answered in place of something; ``None`` for nothing."""
        return body

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        answer = self.answering(body) if isinstance(body, Reply) else body
        if answer is not None:
            super().reply(other, returned, answer)


def _is_image(body: Reply) -> bool:
    return body.type == "start" and body.has_data


@oddity("RAI-115", "RAI-108", does="answers starts with type initial")
class AnswersWithInitial(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, type="initial") if _is_image(body) else body


@oddity("RAI-115", "RAI-142", does="writes status ok in images and snapshots")
class WritesOk(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, status="ok") if body.has_data and body.status is None else body


@oddity("RAI-138", does="says that there is no image with type initial")
class NotFoundAsInitial(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, type="initial") if body.status == "not_found" and body.type == "start" else body


@oddity("RAI-138", does="says that there is no image with type snap")
class NotFoundAsSnap(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, type="snap") if body.status == "not_found" else body


@oddity("RAI-147", does="writes temp_unavail as two rows of the table do")
class WritesTempUnvail(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, status="temp_unvail") if body.status == "temp_unavail" else body


@oddity("RAI-145", does="says not_found of subjects with empty segments")
class BadNamesAreNotFound(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, status="not_found") if body.status == "bad_name" else body


@oddity("RAI-145", does="does not answer for subjects with empty segments")
class BadNamesAreNothing(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return None if body.status == "bad_name" else body


@oddity("RAI-017", does="sends a verify as an initial with status verify")
class VerifyAsInitial(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, type="initial", status=VERIFY) if body.type == VERIFY else body


@oddity("RAI-017", does="sends a verify as a start with status verify")
class VerifyAsStart(AnsweringOddly):
    def answering(self, body: Reply) -> Reply | None:
        return replace(body, type="start", status=VERIFY) if body.type == VERIFY else body


@oddity("RAI-134", does="lets a snapshot of what will come wait until that has come")
class SnapshotsWait(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.waiting: dict[str, list[tuple[Return, KnownSession]]] = {}

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if kind == "snap" and self.is_to_come(subject):
            self.waiting.setdefault(subject, []).append((returned, other))
        else:
            super().show(kind, subject, returned, other, now)

    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        for returned, other in self.waiting.pop(subject, ()):
            self.show("snap", subject, returned, other, now)


@oddity("RAI-109", "RAI-108", does="sends the ack behind the image")
class AcksLast(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, ack=False), other, now)
        if body.ack and body.return_ is not None and not self.refusal(subject, other):
            self.ack("start", subject, body.return_, other)


@oddity("RAI-116", "RAI-137", does="acks a stop behind the drop")
class AcksStopsLast(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        self.end_subscription(other, subject)
        super().stop(subject, body, other)


@oddity("RAI-193", does="acks no stop of what is not subscribed")
class AcksSubscribedStops(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        has_it = subject in self.interests.of_session.get(other.session, ())
        super().stop(subject, replace(body, ack=body.ack and has_it), other)


@oddity("RAI-192", does="counts starts and stops of a subject")
class CountsStarts(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.counts: dict[tuple[str, str], int] = {}

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        place = (other.session, subject)
        self.counts[place] = self.counts.get(place, 0) + 1

    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        place = (other.session, subject)
        self.counts[place] = self.counts.get(place, 1) - 1
        if self.counts[place] <= 0:
            super().stop(subject, body, other)
        elif body.ack and body.return_ is not None:
            self.ack("stop", subject, body.return_, other)


@oddity("RAI-109", does="passes over starts that ask for an ack and have no return")
class WantsReturns(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        if not (body.ack and body.return_ is None):
            super().start(subject, body, other, now)


@oddity("RAI-142", does="names the new subject of a drop in the member subject")
class RenamesInSubject(Publisher):
    def say(self, subject: str, body: Any, key: bytes | None = None) -> None:
        if getattr(body, "status", None) == "relocate":
            body = replace(body, text=None, subject=body.text)
        super().say(subject, body, key)


@oddity("RAI-150", "RAI-153", does="writes checksums as texts of hexadecimal digits")
class HexadecimalChecksums(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        if isinstance(members.get("dict_csum"), int):
            members["dict_csum"] = f"0x{members['dict_csum']:08X}"
        return members

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if isinstance(body, Dict) and isinstance(body.dict_csum, int):
            body = replace(body, dict_csum=f"0x{body.dict_csum:08x}")
        super().reply(other, returned, body)


@oddity("RAI-150", does="numbers the versions of its dictionaries")
class NumbersDictionaries(Publisher):
    versions = 0

    def checksum(self, data: Raw) -> int:
        self.versions -= 1
        return self.versions


@oddity("RAI-142", "RAI-221", does="says not_found of a dictionary that it does not have")
class DictionaryNotFound(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if (self.dictionary is None or body.dictionary != self.dictionary.name) and body.return_ is not None:
            self.reply(other, body.return_, Reply(dictionary=body.dictionary, status="not_found"))
        super().send_dictionary(body, other)
