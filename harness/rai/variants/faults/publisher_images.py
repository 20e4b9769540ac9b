"""Faults of a publisher: images, snapshots, and what it says where there is none."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import Fields
from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.serving import FORMAT
from harness.rai.variants.registry import fault
from wire.rai.values import Published, Reply, Return, SubStart, object_of


class Picturing(Publisher):
    """What shows something else is made of this."""

    def picture(self, body: Reply, other: KnownSession) -> Reply:
        """Return what is shown in place of an answer."""
        return body

    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        return self.picture(super().image(kind, subject, other), other)


@fault("RAI-108", does="shows an image to who asks for no ack alone")
class ImageOrAck(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, initial=body.initial and not body.ack), other, now)


@fault("RAI-108", does="shows an image to the first who subscribes a subject alone")
class ShowsTheFirst(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        is_first = not self.interests.sessions_of(subject) - {other.session}
        super().start(subject, replace(body, initial=body.initial and is_first), other, now)


@fault("RAI-108", does="shows no image to who wants a format that it does not have")
class ShowsItsFormatAlone(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        super().start(subject, replace(body, initial=body.initial and body.format in (None, FORMAT)), other, now)


@fault("RAI-108", does="shows a session one image of a subject")
class ShowsOnce(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        has_it = subject in self.interests.of_session.get(other.session, ())
        super().start(subject, replace(body, initial=body.initial and not has_it), other, now)


@fault("RAI-108", does="publishes the image on the subject")
class ShowsImagesToAll(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        shown = self.image(kind, subject, other)
        if kind == "start" and shown.has_data:
            self.publish(subject, Published(type="initial", format=FORMAT, data=shown.data))
        else:
            self.reply(other, returned, shown)


@fault("RAI-112", does="names no format in an image")
class NamesNoFormat(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return body if body.kind == "snap" else replace(body, format=None)


@fault("RAI-112", does="names the format that was asked for")
class NamesTheWantedFormat(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.wanted_format: str | None = None

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        self.wanted_format = body.format
        super().start(subject, body, other, now)

    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        shown = super().image(kind, subject, other)
        is_image = kind == "start" and shown.has_data and self.wanted_format is not None
        return replace(shown, format=self.wanted_format) if is_image else shown


@fault("RAI-115", does="names no subject in an image")
class ImageWithoutSubject(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return body if body.kind == "snap" else replace(body, subject=None)


@fault("RAI-115", does="sends an image with type snap")
class ImageIsSnap(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, type="snap") if body.has_data else body


@fault("RAI-115", does="sends an image without a type")
class ImageIsUpdate(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, type=None) if body.has_data and body.kind == "start" else body


@fault("RAI-115", "RAI-190", does="puts the first two fields into an image")
class ImageOfTwoFields(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        if not body.fields or body.kind == "snap":
            return body
        return replace(body, data=object_of(dict(list(body.fields.items())[:2])))


@fault("RAI-115", does="names short subjects in images alone")
class ImageWithCutSubject(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, subject=(body.subject or "")[:128]) if body.kind == "start" else body


@fault("RAI-134", does="sends a snapshot with type initial")
class SnapIsInitial(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, type="initial") if body.kind == "snap" and body.has_data else body


@fault("RAI-134", does="names no subject in a snapshot")
class SnapWithoutSubject(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, subject=None) if body.kind == "snap" and body.has_data else body


@fault("RAI-134", does="names no format in a snapshot")
class SnapWithoutFormat(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, format=None) if body.kind == "snap" else body


@fault("RAI-134", does="shows snapshots to who has not subscribed the subject alone")
class SnapsOfOthersAlone(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if kind != "snap" or subject not in self.interests.of_session.get(other.session, ()):
            super().show(kind, subject, returned, other, now)


@fault("RAI-134", does="shows snapshots of subjects that nobody has subscribed alone")
class SnapsOfTheUnwanted(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if kind != "snap" or not self.interests.sessions_of(subject):
            super().show(kind, subject, returned, other, now)


@fault("RAI-134", does="publishes what a snapshot shows on the subject")
class SnapsForAnybody(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        shown = self.image(kind, subject, other)
        if kind == "snap" and subject.count(".") > 1:
            self.publish(subject, Published(type="snap", format=FORMAT, data=shown.data))
        else:
            super().show(kind, subject, returned, other, now)


@fault("RAI-004", does="answers a snapshot request twice")
class SnapsTwice(Publisher):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "snap":
            super().show(kind, subject, returned, other, now)


@fault("RAI-004", does="answers a snapshot request again when the value changes")
class SnapsAgain(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shown: dict[str, tuple[Return, KnownSession]] = {}

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
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
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if kind == "snap":
            self.subscribe(subject, Terms(), other, now)


@fault("RAI-094", does="names the format of its images text/json")
class NamesAMediaType(Picturing):
    def picture(self, body: Reply, other: KnownSession) -> Reply:
        return replace(body, format="text/json") if body.has_data else body
