"""Monitors of "Integers" to "Message Format": what holds for every message, whichever it is and whoever says it."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, kept
from conformance.pathfinder.monitors.forms import flaws, judged, name_of, scalars, whole_numbers
from conformance.pathfinder.monitors.registry import monitor, spoken
from harness.pathfinder.conversation import Conversation
from wire.errors import Reason
from wire.json.strict import LEAST, MOST, member_path

IDENTIFIERS = ("client-id", "service-id", "subscription-id")

GARBLED = (Reason.BAD_SYNTAX, Reason.TRUNCATED, Reason.BAD_TEXT)
"""Why a frame is not JSON at all."""


@monitor("PF-002")
def integers_fit_in_64_bits(conversation: Conversation) -> Iterator[Finding]:
    """Every integer, wherever it stands, fits in 64 bits with a sign."""
    for event in spoken(conversation):
        if event.error is None:  # a message of the layout has no others, and its ta-id at least
            yield kept(event.entry)
            continue
        numbers = [each for each in scalars(event.fields) if isinstance(each, int) and not isinstance(each, bool)]
        if any(not LEAST <= number <= MOST for number in numbers):
            yield broken(event.entry, f"{name_of(event)}: an integer of more than 64 bits")
        elif numbers:
            yield kept(event.entry)


@monitor("PF-003")
def whole_numbers_are_in_range(conversation: Conversation) -> Iterator[Finding]:
    """Every number in a field of the type Int>=0 is whole, and within 0 and 2^63 - 1."""
    numbers = whole_numbers()
    for event in spoken(conversation):
        if numbers & event.fields.keys():
            yield judged(event, [flaw for flaw in flaws(event) if flaw.field in numbers and flaw.fault == "range"])


@monitor("PF-004")
def strings_have_no_nul(conversation: Conversation) -> Iterator[Finding]:
    """No string has a NUL character, in whatever field."""
    for event in spoken(conversation):
        if event.error is None:  # a message of the layout has no others, and its command at least
            yield kept(event.entry)
            continue
        words = [each for each in scalars(event.fields) if isinstance(each, str)]
        if any("\0" in word for word in words):
            yield broken(event.entry, f"{name_of(event)}: a string with a NUL character")
        elif words:
            yield kept(event.entry)


@monitor("PF-006")
def identifiers_are_non_negative_integers(conversation: Conversation) -> Iterator[Finding]:
    """Clients, services and subscriptions are identified by non-negative integers."""
    for event in spoken(conversation):
        if any(name in event.fields for name in IDENTIFIERS):
            wrong = [flaw for flaw in flaws(event) if flaw.field in IDENTIFIERS and flaw.fault in ("type", "range")]
            yield judged(event, wrong)


@monitor("PF-013")
def properties_are_strings_and_integers(conversation: Conversation) -> Iterator[Finding]:
    """The values of properties are strings and integers, in an array for each name."""
    for event in spoken(conversation):
        if isinstance(event.fields.get("service-props"), dict):
            inner = [flaw for flaw in flaws(event) if flaw.field == "service-props" and flaw.inner]
            yield judged(event, [flaw for flaw in inner if flaw.fault == "type"])


@monitor("PF-061")
def one_message_each(conversation: Conversation) -> Iterator[Finding]:
    """Where the transport keeps messages apart, each has one message of the protocol."""
    for event in spoken(conversation):
        if event.error is not None and event.error.reason is Reason.TRAILING:
            yield broken(event.entry, "something stands behind the message")
        elif event.fields:
            yield kept(event.entry)


@monitor("PF-077")
def messages_are_json(conversation: Conversation) -> Iterator[Finding]:
    """What is sent is JSON; of a NUL in it another rule speaks."""
    for event in spoken(conversation):
        if event.error is None or event.error.reason not in GARBLED:
            yield kept(event.entry)
        elif not any("\0" in str(each) for each in scalars(event.fields)):
            yield broken(event.entry, f"not JSON: {event.error}")


@monitor("PF-078")
def fields_have_their_types(conversation: Conversation) -> Iterator[Finding]:
    """The value of every field is of the field's type."""
    for event in spoken(conversation):
        if event.fields:
            yield judged(event, [flaw for flaw in flaws(event) if flaw.fault == "type" and not flaw.inner])


@monitor("PF-079")
def no_field_twice(conversation: Conversation) -> Iterator[Finding]:
    """No message has a field twice; the names of properties are no fields."""
    for event in spoken(conversation):
        error = event.error
        if error is None or error.reason is not Reason.DUPLICATE_NAME:
            if event.fields:
                yield kept(event.entry)
        elif error.path in {member_path("", name) for name in event.fields}:
            yield broken(event.entry, f"{name_of(event)}: {error.path} stands there twice")


@monitor("PF-080")
def messages_are_objects(conversation: Conversation) -> Iterator[Finding]:
    """Every message is an object of JSON."""
    for event in spoken(conversation):
        error = event.error
        if error is not None and error.reason is Reason.WRONG_TYPE and error.path == "(frame)":
            yield broken(event.entry, f"no object: {error.detail}")
        elif event.fields:
            yield kept(event.entry)
