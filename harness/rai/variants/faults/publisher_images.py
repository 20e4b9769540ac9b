"""Faults of a publisher: images, snapshots, and what it says where there is none."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import VERIFY, Fields, Record
from harness.rai.peers.interests import Subscription
from harness.rai.peers.known import Known
from harness.rai.peers.publisher import FORMAT, Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Publish, Reply, Return, SubStart, object_of, user_of
from wire.subjects import is_legal


class Picturing(Publisher):
    """What shows something else is made of this."""

    def picture(self, body: Reply, other: Known) -> Reply:
        """Return what is shown in place of an answer."""
        return body

    def image(self, kind: str, subject: str, other: Known) -> Reply:
        return self.picture(super().image(kind, subject, other), other)


@fault("RAI-108", does="shows an image to who asks for no ack alone")
class ImageOrAck(Publisher):
    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
        super().start(subject, replace(body, initial=body.initial and not body.ack), other, now)


@fault("RAI-108", does="shows an image to the first who subscribes a subject alone")
class ShowsTheFirst(Publisher):
    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
        is_first = not self.interests.sessions_of(subject) - {other.session}
        super().start(subject, replace(body, initial=body.initial and is_first), other, now)


@fault("RAI-108", does="shows no image to who wants a format that it does not have")
class ShowsItsFormatAlone(Publisher):
    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
        super().start(subject, replace(body, initial=body.initial and body.format in (None, FORMAT)), other, now)


@fault("RAI-108", does="shows a session one image of a subject")
class ShowsOnce(Publisher):
    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
        has_it = subject in self.interests.of_session.get(other.session, ())
        super().start(subject, replace(body, initial=body.initial and not has_it), other, now)


@fault("RAI-108", does="publishes the image on the subject")
class ShowsImagesToAll(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        shown = self.image(kind, subject, other)
        if kind == "start" and shown.has_data:
            self.publish(subject, Publish(type="initial", format=FORMAT, data=shown.data))
        else:
            self.reply(other, returned, shown)


@fault("RAI-112", does="names no format in an image")
class NamesNoFormat(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return body if body.kind == "snap" else replace(body, format=None)


@fault("RAI-112", does="names the format that was asked for")
class NamesTheWantedFormat(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.wanted_format: str | None = None

    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
        self.wanted_format = body.format
        super().start(subject, body, other, now)

    def image(self, kind: str, subject: str, other: Known) -> Reply:
        shown = super().image(kind, subject, other)
        is_image = kind == "start" and shown.has_data and self.wanted_format is not None
        return replace(shown, format=self.wanted_format) if is_image else shown


@fault("RAI-115", does="names no subject in an image")
class ImageWithoutSubject(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return body if body.kind == "snap" else replace(body, subject=None)


@fault("RAI-115", does="sends an image with type snap")
class ImageIsSnap(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, type="snap") if body.has_data else body


@fault("RAI-115", does="sends an image without a type")
class ImageIsUpdate(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, type=None) if body.has_data and body.kind == "start" else body


@fault("RAI-115", "RAI-190", does="puts the first two fields into an image")
class ImageOfTwoFields(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        if not body.fields or body.kind == "snap":
            return body
        return replace(body, data=object_of(dict(list(body.fields.items())[:2])))


@fault("RAI-115", does="names short subjects in images alone")
class ImageWithCutSubject(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, subject=(body.subject or "")[:128]) if body.kind == "start" else body


@fault("RAI-134", does="sends a snapshot with type initial")
class SnapIsInitial(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, type="initial") if body.kind == "snap" and body.has_data else body


@fault("RAI-134", does="names no subject in a snapshot")
class SnapWithoutSubject(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, subject=None) if body.kind == "snap" and body.has_data else body


@fault("RAI-134", does="names no format in a snapshot")
class SnapWithoutFormat(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, format=None) if body.kind == "snap" else body


@fault("RAI-134", does="shows snapshots to who has not subscribed the subject alone")
class SnapsOfOthersAlone(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        if kind != "snap" or subject not in self.interests.of_session.get(other.session, ()):
            super().show(kind, subject, returned, other, now)


@fault("RAI-134", does="shows snapshots of subjects that nobody has subscribed alone")
class SnapsOfTheUnwanted(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        if kind != "snap" or not self.interests.sessions_of(subject):
            super().show(kind, subject, returned, other, now)


@fault("RAI-134", does="publishes what a snapshot shows on the subject")
class SnapsForAnybody(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        shown = self.image(kind, subject, other)
        if kind == "snap" and subject.count(".") > 1:
            self.publish(subject, Publish(type="snap", format=FORMAT, data=shown.data))
        else:
            super().show(kind, subject, returned, other, now)


@fault("RAI-004", does="answers a snapshot request twice")
class SnapsTwice(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "snap":
            super().show(kind, subject, returned, other, now)


@fault("RAI-004", does="answers a snapshot request again when the value changes")
class SnapsAgain(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shown: dict[str, tuple[Return, Known]] = {}

    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "snap":
            self.shown[subject] = returned, other

    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        if subject in self.shown:
            returned, other = self.shown.pop(subject)
            super().show("snap", subject, returned, other, now)


@fault("RAI-004", does="takes a snapshot request for a subscription")
class SnapIsStart(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "snap":
            self.subscribe(subject, Subscription(), other, now)


@fault("RAI-138", does="does not answer who asks for what is not there")
class SilentWhereNothingIs(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        if self.image(kind, subject, other).status != "not_found":
            super().show(kind, subject, returned, other, now)


@fault("RAI-138", does="shows an empty value where there is none")
class ShowsNothingAsAValue(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, status=None, format=FORMAT, data=object_of({})) if body.status == "not_found" else body


@fault("RAI-138", does="adds empty data to not_found")
class NotFoundWithData(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, data=object_of({})) if body.status == "not_found" and body.kind == "start" else body


@fault("RAI-138", does="says temp_unavail where there is nothing")
class NotFoundIsUnavailable(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, status="temp_unavail") if body.status == "not_found" else body


@fault("RAI-138", does="names no subject that is not found")
class NotFoundWithoutSubject(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, subject=None) if body.status == "not_found" and body.kind == "snap" else body


@fault("RAI-138", does="shows a value whose subject begins like the one that is not there")
class ShowsNeighbours(Publisher):
    def image(self, kind: str, subject: str, other: Known) -> Reply:
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

    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        is_missing = subject not in self.records and subject not in self.warming and is_legal(subject)
        if not is_missing or self.missed.setdefault(subject, other.session) == other.session:
            super().show(kind, subject, returned, other, now)


@fault("RAI-016", does="subscribes nobody to what is not there")
class SubscribesWhatIsThere(Publisher):
    def subscribe(self, subject: str, subscription: Subscription, other: Known, now: float) -> None:
        if subject in self.records:
            super().subscribe(subject, subscription, other, now)


@fault("RAI-016", does="subscribes nobody to what is not there and was asked for with an image")
class EndsWithNotFound(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "start" and self.image(kind, subject, other).status == "not_found":
            self.interests.remove(other.session, subject)


@fault("RAI-016", does="publishes the second value of what was not there first")
class LosesTheFirstValue(Publisher):
    def update(self, subject: str, fields: Fields, now: float) -> None:
        if subject in self.records:
            super().update(subject, fields, now)
        else:
            self.records[subject] = Record(dict(fields))


@fault("RAI-145", does="shows an empty value of subjects with empty segments")
class ShowsBadNames(Publisher):
    def image(self, kind: str, subject: str, other: Known) -> Reply:
        if not is_legal(subject):
            return Reply(type=kind, subject=subject, format=FORMAT, data=object_of({}))
        return super().image(kind, subject, other)

    def refusal(self, subject: str, other: Known) -> str:
        return super().refusal(subject, other) if is_legal(subject) else ""


@fault("RAI-145", does="leaves empty segments out")
class MendsNames(Publisher):
    def image(self, kind: str, subject: str, other: Known) -> Reply:
        return super().image(kind, ".".join(each for each in subject.split(".") if each), other)

    def refusal(self, subject: str, other: Known) -> str:
        return super().refusal(subject, other) if is_legal(subject) else ""


@fault("RAI-145", does="answers a session no more that has asked for a bad name")
class DeafAfterBadNames(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.bad: set[str] = set()

    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
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
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, status="not_found") if body.status == "temp_unavail" else body


@fault("RAI-147", does="does not answer for a blocked subject")
class SilentOfTheBlocked(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        if subject not in self.blocked:
            super().show(kind, subject, returned, other, now)


@fault("RAI-147", does="adds the value to temp_unavail")
class BlockedWithData(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        if body.status != "temp_unavail" or body.kind == "start":
            return body
        return replace(body, format=FORMAT, data=object_of(self.records[body.subject or ""].fields))


@fault("RAI-147", does="blocks all subjects with one")
class BlocksAll(Publisher):
    def image(self, kind: str, subject: str, other: Known) -> Reply:
        if self.blocked and subject in self.records:
            return Reply(type=kind, subject=subject, status="temp_unavail")
        return super().image(kind, subject, other)


@fault("RAI-147", does="says temp_unavail of a subject for ever")
class BlocksForEver(Publisher):
    def do_unblock(self, now: float, subject: str) -> None:
        """Get answers again."""


@fault("RAI-148", does="shows a denied user what it has")
class ShowsTheDenied(Publisher):
    def refusal(self, subject: str, other: Known) -> str:
        return super().refusal(subject, other) if subject not in self.records else ""


@fault("RAI-148", does="says not_found to a denied user")
class DeniedIsNotFound(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, status="not_found") if body.status == "perm_denied" else body


@fault("RAI-148", does="does not answer a denied user")
class SilentToTheDenied(Publisher):
    def reply(self, other: Known, returned: Return, body: Any) -> None:
        if user_of(other.session) not in self.denied:
            super().reply(other, returned, body)


@fault("RAI-148", does="denies a user's snapshots, and shows its images")
class DeniesSnapshotsAlone(Publisher):
    def start(self, subject: str, body: SubStart, other: Known, now: float) -> None:
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

    def refusal(self, subject: str, other: Known) -> str:
        found = super().refusal(subject, other)
        return "" if found == "perm_denied" and other.session not in self.denied_sessions else found


@fault("RAI-148", does="denies everybody with one")
class DeniesAll(Publisher):
    def refusal(self, subject: str, other: Known) -> str:
        return "perm_denied" if self.denied else super().refusal(subject, other)


@fault("RAI-148", does="adds the value to perm_denied")
class DeniedWithData(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        record = self.records.get(body.subject or "")
        if body.status != "perm_denied" or record is None:
            return body
        return replace(body, format=FORMAT, data=object_of(record.fields))


@fault("RAI-017", does="says not_found of what will come soon")
class WarmIsNotFound(Publisher):
    def do_warm(self, now: float, subject: str, *text: str) -> None:
        """Have a subject soon."""


@fault("RAI-017", does="shows zeroed data as a value")
class WarmIsAValue(Picturing):
    def picture(self, body: Reply, other: Known) -> Reply:
        return replace(body, type="start") if body.kind == VERIFY else body


@fault("RAI-017", does="shows a verify when the value has come")
class AlwaysWarm(Publisher):
    def image(self, kind: str, subject: str, other: Known) -> Reply:
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
            self.records[subject] = Record(dict(fields))
        else:
            super().update(subject, fields, now)
