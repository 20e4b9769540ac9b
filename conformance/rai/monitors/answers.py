"""Monitors of what publishers answer and publish: types, statuses, subjects, formats."""

from collections.abc import Callable

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.rai.monitors.registry import monitor, said, whether
from conformance.rai.monitors.state import Asked, SessionState
from harness.rai.tester.events import Event
from wire.rai.values import Published, Reply, SnapRequest, Subs, SubStart, SubStop, Told

FORMATS = frozenset({"json", "tib_sass", "tibmsg", "rvmsg", "marketfeed", "rwf"})

REASONS = frozenset({"not_found", "temp_unavail", "bad_access", "bad_name", "feed_down", "stale", "perm_denied"})
"""Statuses that a snapshot can have beside ok, and an image as well."""

TABLE: dict[str, frozenset[str]] = {
    "snap": REASONS | {"ok"},
    "initial": REASONS | {"ok", "verify", "conflated", "feed_switch"},
    "drop": frozenset({"nosubscribers", "expired", "relocate", "preempted"}),
    "update": REASONS - {"not_found"} | {"ok", "conflated"},
    "verify": frozenset({"ok"}),
    "recap": frozenset({"feed_switch"}),
    "stop": frozenset({"ack"}),
}
"""The types and statuses of the document; a start may have what an image has, and ack (reading R02)."""
TABLE["start"] = TABLE["initial"] | {"ack"}

OTHER_SPELLING = "temp_unvail"

IMAGES = ("start", "initial", "verify")


@monitor("RAI-142", on=said(Reply, Published))
def pairs_are_those_of_the_table(event: Event, state: SessionState) -> Observation | None:
    """Types and statuses that are sent are pairs of the table."""
    body = _told(event)
    if body.kind == "transient":
        return KEPT
    if body.type is None and body.dictionary is not None and not body.has_data:
        return None  # of a dictionary that is not there; the table is of subjects
    if body.state == OTHER_SPELLING:
        return follows(event.entry, "R01", "B")
    found = f"type {body.kind} has status {body.state}"
    return whether(body.state in TABLE.get(body.kind, frozenset()), event.entry, found, "status")


@monitor("RAI-094", on=said(Reply, Published))
def formats_are_those_that_are_named(event: Event, state: SessionState) -> Observation | None:
    """The format of data is json or one of five binary ones."""
    body = _told(event)
    if body.format is None:
        return None
    return whether(body.format in FORMATS, event.entry, f"the format is {body.format}", "format")


@monitor("RAI-112", on=said(Reply))
def images_name_their_format(event: Event, state: SessionState) -> Observation | None:
    """An image names the format that its data are in."""
    body = _told(event)
    if body.kind not in IMAGES or not body.has_data:
        return None
    return whether(bool(body.format), event.entry, "an image has no format", "format")


@monitor("RAI-114", on=said(Reply))
def acks_of_starts(event: Event, state: SessionState) -> Observation | None:
    """An ack has type start and the subject that was started."""
    return _acks(event, state, "start", (SubStart, Subs))


@monitor("RAI-116", on=said(Reply))
def acks_of_stops(event: Event, state: SessionState) -> Observation | None:
    """The ack of a stop has type stop and the subject that was stopped."""
    return _acks(event, state, "stop", (SubStop,))


@monitor("RAI-115", on=said(Reply))
def images_name_their_subject(event: Event, state: SessionState) -> Observation | None:
    """An image that answers a start names its subject, and has data."""
    return _images(event, state, (SubStart, Subs), lambda body: body.kind in IMAGES)


@monitor("RAI-134", on=said(Reply))
def snapshots_name_their_subject(event: Event, state: SessionState) -> Observation | None:
    """A snapshot has type snap, names its subject, and has data."""
    return _images(event, state, (SnapRequest,), lambda body: body.kind == "snap")


@monitor("RAI-136", on=said(Reply, Published))
def updates_are_for_all(event: Event, state: SessionState) -> Observation | None:
    """Updates are published under the subject itself."""
    if event.form is Published:
        return KEPT
    body = _told(event)
    return broken(event.entry, "an update is sent to an inbox", "type") if body.type == "update" else None


def _acks(event: Event, state: SessionState, kind: str, questions: tuple[type, ...]) -> Observation | None:
    body, asked = _told(event), _asked(event, state, questions)
    if body.state != "ack" or not asked or len(asked) < len(state.answered(event)):
        return None
    if body.kind != kind:
        return broken(event.entry, f"the ack of a {kind} has type {body.kind}", "type")
    return _names_its_subject(event, body, asked)


def _images(
    event: Event, state: SessionState, questions: tuple[type, ...], is_such: Callable[[Told], bool]
) -> Observation | None:
    body, asked = _told(event), _asked(event, state, questions)
    # What a status says that is no value is no image.
    if body.state == "ack" or not asked or len(asked) < len(state.answered(event)) or not body.has_data:
        return None
    if not is_such(body):
        return broken(event.entry, f"the answer has type {body.kind}", "type")
    return _names_its_subject(event, body, asked)


def _names_its_subject(event: Event, body: Told, asked: list[Asked]) -> Observation:
    subjects = {each.subject for each in asked}
    found = f"the answer is about {body.subject}, and not about {', '.join(sorted(subjects))}"
    return whether(body.subject in subjects, event.entry, found, "subject")


def _asked(event: Event, state: SessionState, questions: tuple[type, ...]) -> list[Asked]:
    return [each for each in state.answered(event) if each.what in questions]


def _told(event: Event) -> Told:
    body = event.body
    assert isinstance(body, Told)
    return body
