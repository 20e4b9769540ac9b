"""Monitors of "Integers" to "Message Format": what holds for every message, whichever it is and whoever says it.

What the layout accepts keeps most of them by that alone (``kept_by``): it has no integers of more than 64 bits, no NUL,
no field twice. Only what it refuses is looked at.
"""

from conformance.monitors import KEPT, Observation, broken
from conformance.pathfinder.monitors.forms import judged, name_of, scalars, whole_numbers
from conformance.pathfinder.monitors.registry import FLAWED, SOUND, either, monitor, with_fields
from conformance.pathfinder.monitors.state import SessionState
from harness.pathfinder.tester.events import Event
from wire.errors import Reason
from wire.json.strict import LEAST, MOST, member_path

IDENTIFIERS = ("client-id", "service-id", "subscription-id")

GARBLED = (Reason.BAD_SYNTAX, Reason.TRUNCATED, Reason.BAD_TEXT)
"""Why a frame is not JSON at all."""


@monitor("PF-002", on=FLAWED, kept_by=SOUND)
def integers_fit_in_64_bits(event: Event, state: SessionState) -> Observation | None:
    """Every integer, wherever it stands, fits in 64 bits with a sign."""
    numbers = [each for each in scalars(event.fields) if isinstance(each, int) and not isinstance(each, bool)]
    if any(not LEAST <= number <= MOST for number in numbers):
        return broken(event.entry, f"{name_of(event)}: an integer of more than 64 bits")
    return KEPT if numbers else None


@monitor("PF-003", on=FLAWED, kept_by=SOUND)
def whole_numbers_are_in_range(event: Event, state: SessionState) -> Observation | None:
    """Every number in a field of the type Int>=0 is whole, and within 0 and 2^63 - 1."""
    numbers = whole_numbers()
    if numbers.isdisjoint(event.fields):
        return None
    return judged(event, (flaw for flaw in state.flaws(event) if flaw.field in numbers and flaw.fault == "range"))


@monitor("PF-004", on=FLAWED, kept_by=SOUND)
def strings_have_no_nul(event: Event, state: SessionState) -> Observation | None:
    """No string has a NUL character, in whatever field."""
    words = [each for each in scalars(event.fields) if isinstance(each, str)]
    if any("\0" in word for word in words):
        return broken(event.entry, f"{name_of(event)}: a string with a NUL character")
    return KEPT if words else None


@monitor(
    "PF-006",
    on=either(FLAWED, with_fields(*IDENTIFIERS, always=False)),
    kept_by=with_fields(*IDENTIFIERS, always=True),
)
def identifiers_are_non_negative_integers(event: Event, state: SessionState) -> Observation | None:
    """Clients, services and subscriptions are identified by non-negative integers."""
    if not any(name in event.fields for name in IDENTIFIERS):
        return None
    return judged(
        event, (flaw for flaw in state.flaws(event) if flaw.field in IDENTIFIERS and flaw.fault in ("type", "range"))
    )


@monitor(
    "PF-013",
    on=either(FLAWED, with_fields("service-props", always=False)),
    kept_by=with_fields("service-props", always=True),
)
def properties_are_strings_and_integers(event: Event, state: SessionState) -> Observation | None:
    """The values of properties are strings and integers, in an array for each name."""
    if not isinstance(event.fields.get("service-props"), dict):
        return None
    inner = (flaw for flaw in state.flaws(event) if flaw.field == "service-props" and flaw.inner)
    return judged(event, (flaw for flaw in inner if flaw.fault == "type"))


@monitor("PF-061", on=FLAWED, kept_by=SOUND)
def one_message_each(event: Event, state: SessionState) -> Observation | None:
    """Where the transport keeps messages apart, each has one message of the protocol."""
    if event.error is not None and event.error.reason is Reason.TRAILING:
        return broken(event.entry, "something stands behind the message")
    return KEPT if event.fields else None


@monitor("PF-077", on=FLAWED, kept_by=SOUND)
def messages_are_json(event: Event, state: SessionState) -> Observation | None:
    """What is sent is JSON; of a NUL in it another rule speaks."""
    if event.error is None or event.error.reason not in GARBLED:
        return KEPT
    if any("\0" in str(each) for each in scalars(event.fields)):
        return None
    return broken(event.entry, f"not JSON: {event.error}")


@monitor("PF-078", on=FLAWED, kept_by=SOUND)
def fields_have_their_types(event: Event, state: SessionState) -> Observation | None:
    """The value of every field is of the field's type."""
    if not event.fields:
        return None
    return judged(event, (flaw for flaw in state.flaws(event) if flaw.fault == "type" and not flaw.inner))


@monitor("PF-079", on=FLAWED, kept_by=SOUND)
def no_field_twice(event: Event, state: SessionState) -> Observation | None:
    """No message has a field twice; the names of properties are no fields."""
    error = event.error
    if error is None or error.reason is not Reason.DUPLICATE_NAME:
        return KEPT if event.fields else None
    if error.path in {member_path("", name) for name in event.fields}:
        return broken(event.entry, f"{name_of(event)}: {error.path} stands there twice")
    return None


@monitor("PF-080", on=FLAWED, kept_by=SOUND)
def messages_are_objects(event: Event, state: SessionState) -> Observation | None:
    """Every message is an object of JSON."""
    error = event.error
    if error is not None and error.reason is Reason.WRONG_TYPE and error.path == "(frame)":
        return broken(event.entry, f"no object: {error.detail}")
    return KEPT if event.fields else None
