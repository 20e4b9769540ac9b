"""Faults of a publisher: what it says when the source of its values has become another."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import Fields
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import NOTHING, Published, Raw, fields_of, object_of


class Switching(Publisher):
    """What tells of a switch otherwise is made of this."""

    def switching(self, subject: str, body: Published) -> Published | None:
        """Return what is told in place of the notice; ``None`` for nothing."""
        return body

    def publish(self, subject: str, body: Published) -> None:
        told = self.switching(subject, body) if body.status == "feed_switch" else body
        if told is not None:
            super().publish(subject, told)


@fault("RAI-019", does="tells of a switch for subjects that have changed lately alone")
class SwitchesWhatMoves(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return body if body.has_data else None


@fault("RAI-019", does="tells of a switch for one subject")
class SwitchesOneSubject(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return body if subject == self.interests.subjects[0] else None


@fault("RAI-019", does="tells of one switch alone")
class SwitchesOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.has_switched = False

    def do_switch(self, now: float) -> None:
        """Have values over another path."""
        if not self.has_switched:
            super().do_switch(now)
        self.has_switched = True


@fault("RAI-019", does="tells of a switch by stale")
class SwitchIsStale(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return replace(body, type=None, status="stale")


@fault("RAI-019", does="tells nobody of a switch who has subscribed a wildcard alone")
class SwitchesNames(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return body if self.interests.sessions_of(subject) else None


@fault("RAI-019", does="publishes nothing after a switch")
class SwitchesOff(Publisher):
    def do_switch(self, now: float) -> None:
        """Have values over another path."""
        super().do_switch(now)
        self.held = {}


@fault("RAI-140", does="tells of a switch by an update")
class SwitchIsAnUpdate(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return replace(body, type=None)


@fault("RAI-140", does="tells of a switch with type verify")
class SwitchIsAVerify(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return replace(body, type="verify")


@fault("RAI-140", does="tells of a switch by an initial without data")
class SwitchIsAnEmptyInitial(Switching):
    def switching(self, subject: str, body: Published) -> Published | None:
        return replace(body, type="initial", data=NOTHING)


class Recapping(Switching):
    """What recaps other fields is made of this."""

    def recapping(self, subject: str, recent: Fields) -> Fields:
        """Return the fields of a recap."""
        return recent

    def switching(self, subject: str, body: Published) -> Published | None:
        return replace(body, data=object_of(self.recapping(subject, fields_of(body.data) or {})))


@fault("RAI-022", does="recaps all fields")
class RecapsAll(Recapping):
    def recapping(self, subject: str, recent: Fields) -> Fields:
        return dict(self.records[subject].fields)


@fault("RAI-022", does="recaps the first of the values that a field had")
class RecapsFirstValues(Recapping):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.first: dict[tuple[str, str], Raw] = {}

    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        for name, value in fields.items():
            self.first.setdefault((subject, name), value)

    def recapping(self, subject: str, recent: Fields) -> Fields:
        return {name: self.first[subject, name] for name in recent}


@fault("RAI-022", does="recaps the last update alone")
class RecapsTheLastUpdate(Recapping):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.last: dict[str, Fields] = {}

    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, fields, now)
        self.last[subject] = fields

    def recapping(self, subject: str, recent: Fields) -> Fields:
        return dict(self.last[subject])


@fault("RAI-022", does="recaps fields that there are none of")
class RecapsNobodysFields(Recapping):
    def recapping(self, subject: str, recent: Fields) -> Fields:
        return recent | {"SWITCHED": Raw(b"1")}


@fault("RAI-022", does="recaps what changed within a minute")
class RecapsAMinute(Publisher):
    def do_switch(self, now: float) -> None:
        """Have values over another path."""
        super().do_switch(now - 50)
