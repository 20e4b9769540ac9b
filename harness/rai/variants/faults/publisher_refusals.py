"""Faults of a publisher: what it says where there is nothing to show, or nothing that may be shown."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import VERIFY, CachedValue, Fields
from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.serving import FORMAT
from harness.rai.variants.faults.publisher_images import Picturing
from harness.rai.variants.registry import fault
from wire.rai.values import Reply, Return, SubStart, object_of, user_of
from wire.subjects import is_legal


@fault("RAI-138", does="does not answer who asks for what is not there")
class SilentWhereNothingIs(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if self.image(kind, subject, other).status != "not_found":
            super().show(kind, subject, returned, other, now)


@fault("RAI-138", does="shows an empty value where there is none")
class ShowsNothingAsAValue(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, status=None, format=FORMAT, data=object_of({})) if body.status == "not_found" else body


@fault("RAI-138", does="adds empty data to not_found")
class NotFoundWithData(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, data=object_of({})) if body.status == "not_found" and body.kind == "start" else body


@fault("RAI-138", does="says temp_unavail where there is nothing")
class NotFoundIsUnavailable(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, status="temp_unavail") if body.status == "not_found" else body


@fault("RAI-138", does="names no subject that is not found")
class NotFoundWithoutSubject(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, subject=None) if body.status == "not_found" and body.kind == "snap" else body


@fault("RAI-138", does="shows a value whose subject begins like the one that is not there")
class ShowsNeighbours(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        if subject not in self.records:
            for each in self.records:
                if subject.startswith(f"{each}."):
                    return replace(super().image(kind, each, other), subject=subject)
        return super().image(kind, subject, other)


@fault("RAI-138", does="tells the first who asks alone that there is nothing")
class NotFoundOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.missed: dict[str, str] = {}

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        is_missing = subject not in self.records and subject not in self.warming and is_legal(subject)
        if not is_missing or self.missed.setdefault(subject, other.session) == other.session:
            super().show(kind, subject, returned, other, now)


@fault("RAI-016", does="subscribes nobody to what is not there")
class SubscribesWhatIsThere(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if subject in self.records:
            super().subscribe(subject, subscription, other, now)


@fault("RAI-016", does="subscribes nobody to what is not there and was asked for with an image")
class EndsWithNotFound(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "start" and self.image(kind, subject, other).status == "not_found":
            self.interests.remove(other.session, subject)


@fault("RAI-016", does="publishes the second value of what was not there first")
class LosesTheFirstValue(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        if subject in self.records:
            super().update(subject, fields, now)
        else:
            self.records[subject] = CachedValue(dict(fields))


@fault("RAI-145", does="shows an empty value of subjects with empty segments")
class ShowsBadNames(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        if not is_legal(subject):
            return Reply(type=kind, subject=subject, format=FORMAT, data=object_of({}))
        return super().image(kind, subject, other)

    def refusal(self, subject: str, other: KnownSession) -> str:
        return super().refusal(subject, other) if is_legal(subject) else ""


@fault("RAI-145", does="leaves empty segments out")
class MendsNames(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        return super().image(kind, ".".join(each for each in subject.split(".") if each), other)

    def refusal(self, subject: str, other: KnownSession) -> str:
        return super().refusal(subject, other) if is_legal(subject) else ""


@fault("RAI-145", does="answers a session no more that has asked for a bad name")
class DeafAfterBadNames(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.bad: set[str] = set()

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if not is_legal(subject):
            self.bad.add(other.session)
        if other.session not in self.bad:
            super().show(kind, subject, returned, other, now)


@fault("RAI-147", does="shows the value of a blocked subject")
class ShowsTheBlocked(Publisher):
    def do_block(self, now: float, subject: str) -> None:
        """Get no answer for a subject."""


@fault("RAI-147", does="says not_found of a blocked subject")
class BlockedIsNotFound(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, status="not_found") if body.status == "temp_unavail" else body


@fault("RAI-147", does="does not answer for a blocked subject")
class SilentOfTheBlocked(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if subject not in self.blocked:
            super().show(kind, subject, returned, other, now)


@fault("RAI-147", does="adds the value to temp_unavail")
class BlockedWithData(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        if body.status != "temp_unavail" or body.kind == "start":
            return body
        return replace(body, format=FORMAT, data=object_of(self.records[body.subject or ""].fields))


@fault("RAI-147", does="blocks all subjects with one")
class BlocksAll(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        if self.blocked and subject in self.records:
            return Reply(type=kind, subject=subject, status="temp_unavail")
        return super().image(kind, subject, other)


@fault("RAI-147", does="says temp_unavail of a subject for ever")
class BlocksForEver(Publisher):
    def do_unblock(self, now: float, subject: str) -> None:
        """Get answers again."""


@fault("RAI-148", does="shows a denied user what it has")
class ShowsTheDenied(Publisher):
    def refusal(self, subject: str, other: KnownSession) -> str:
        return super().refusal(subject, other) if subject not in self.records else ""


@fault("RAI-148", does="says not_found to a denied user")
class DeniedIsNotFound(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, status="not_found") if body.status == "perm_denied" else body


@fault("RAI-148", does="does not answer a denied user")
class SilentToTheDenied(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Any) -> None:
        if user_of(other.session) not in self.denied:
            super().reply(other, returned, body)


@fault("RAI-148", does="denies a user's snapshots, and shows its images")
class DeniesSnapshotsAlone(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        denied, self.denied = self.denied, set()
        super().start(subject, body, other, now)
        self.denied = denied


@fault("RAI-148", does="denies the sessions that a user has when it is denied")
class DeniesSessions(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.denied_sessions: set[str] = set()

    def do_deny(self, now: float, user: str) -> None:
        """Let a user see nothing any more."""
        super().do_deny(now, user)
        self.denied_sessions |= {each for each in self.others if user_of(each) == user}

    def refusal(self, subject: str, other: KnownSession) -> str:
        found = super().refusal(subject, other)
        return "" if found == "perm_denied" and other.session not in self.denied_sessions else found


@fault("RAI-148", does="denies everybody with one")
class DeniesAll(Publisher):
    def refusal(self, subject: str, other: KnownSession) -> str:
        return "perm_denied" if self.denied else super().refusal(subject, other)


@fault("RAI-148", does="adds the value to perm_denied")
class DeniedWithData(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        record = self.records.get(body.subject or "")
        if body.status != "perm_denied" or record is None:
            return body
        return replace(body, format=FORMAT, data=object_of(record.fields))


@fault("RAI-134", does="answers a snapshot of what will come soon by a verify")
class WarmSnapshots(Publisher):
    def is_to_come(self, subject: str) -> bool:
        return False


@fault("RAI-134", does="answers no snapshot of what will come soon")
class SilentWhileWarm(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if kind != "snap" or not self.is_to_come(subject):
            super().show(kind, subject, returned, other, now)


@fault("RAI-017", does="says not_found of what will come soon")
class WarmIsNotFound(Publisher):
    def do_warm(self, now: float, subject: str, *text: str) -> None:
        """Have a subject soon."""


@fault("RAI-017", does="shows zeroed data as a value")
class WarmIsAValue(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, type="start") if body.kind == VERIFY else body


@fault("RAI-017", does="shows a verify when the value has come")
class AlwaysWarm(Publisher):
    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        return replace(shown, type=VERIFY) if subject in self.once_warm and shown.has_data else shown

    def do_warm(self, now: float, subject: str, *text: str) -> None:
        """Have a subject soon."""
        super().do_warm(now, subject, *text)
        self.once_warm.add(subject)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.once_warm: set[str] = set()


@fault("RAI-017", does="publishes nothing of what was warm")
class WarmForGood(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        if subject in self.warming:
            self.warming.pop(subject)
            self.records[subject] = CachedValue(dict(fields))
        else:
            super().update(subject, fields, now)


@fault("RAI-142", does="says busy where there is no image")
class BusyWhereNothingIs(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, status="busy") if body.status == "not_found" else body
