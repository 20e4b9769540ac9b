"""Events: the messages of a conversation, each read once. Transactions and conversations are made of them."""

from json import JSONDecoder
from typing import Any

import msgspec

from harness.trace import Direction, Entry
from wire.errors import DecodeError
from wire.pathfinder.values import COMMANDS, Message, read, read_accepted, read_loosely

NOTIFY = ("notify", "notification")
"""The document has both names for a notification; the table and the example have the first."""

DISAPPEARED = ("disappeared", "removed")
"""The document has both names for a service that is gone; the table has the second."""

TYPES = ("request", "accept", "notify", "complete", "fail")
"""The types of messages, in the one spelling that is used here."""

Form = tuple[str, str, str, bool]
"""What kind of message it is: its command, type and match type, and whether it is sound. Words that are none of the
document's are empty, as are those that a message has not, so that there are few forms whatever a peer says."""

_LENIENT = JSONDecoder(strict=False)
"""Reads what strict JSON refuses, but somebody might mean: a name twice, NUL, integers of any size."""


class DecodedMessage(msgspec.Struct, frozen=True, gc=False):
    """A frame, decoded once: its fields whatever they are.

    ``error`` says why the document has no such message; ``deployed`` that only the field's spelling of it is right.
    A frame that does not begin with a JSON object has no fields; of a field that is said twice the last one counts.
    ``command`` and ``type`` are empty where there is none; ``type`` is ``notify`` for a notification in either
    spelling. ``ta`` is the transaction identifier, 7 where 7.0 is said; ``None`` when it is no integer.
    ``form`` sums up what kind of message it is; only one that is sound (without ``error``) has a match type there.
    """

    fields: Message
    command: str
    type: str
    ta: int | None
    form: Form
    error: DecodeError | None = None
    deployed: bool = False


class Event(msgspec.Struct, frozen=True, gc=False):
    """One message: when, which way, its frame, its entry in the trace, and its fields."""

    time: float
    direction: Direction
    frame: bytes
    entry: int
    fields: Message
    command: str
    type: str
    ta: int | None
    form: Form
    error: DecodeError | None = None
    deployed: bool = False


def event_in(entry: Entry, name: str | None) -> Event:
    """Read the frame of an entry; ``name`` says which message a batch decoder has found there, if that is known."""
    if name is None:
        return event_of(entry, decode_message(entry.data))
    fields = read_accepted(entry.data)
    key = name, fields.get("match-type", "")
    form = _FORMS.get(key) or _FORMS.setdefault(key, _form_of(fields))
    return Event(entry.time, entry.direction, entry.data, entry.index, fields, form[0], form[1], fields["ta-id"], form)


_FORMS: dict[tuple[str, str], Form] = {}
"""The forms of sound messages, by the layout's name and the match type: one object for each, whose words are compared
and hashed faster than those of every frame anew. There are no more of them than the layout has."""


def event_of(entry: Entry, decoded: DecodedMessage) -> Event:
    """Return the message in an entry as an event."""
    return Event(
        entry.time,
        entry.direction,
        entry.data,
        entry.index,
        decoded.fields,
        decoded.command,
        decoded.type,
        decoded.ta,
        decoded.form,
        decoded.error,
        decoded.deployed,
    )


def decode_message(frame: bytes) -> DecodedMessage:
    """Read a frame: by the document, else by the field's spelling, else whatever fields it has."""
    try:
        return _sound(read(frame), deployed=False)
    except DecodeError as refusal:
        error = refusal.without_traceback()
    try:
        # First the document, then the field: what both take alike is said to be the document's.
        return _sound(read(frame, deployed=True), deployed=True)
    except DecodeError:
        fields = _salvaged(frame)
    decoded, ta = _text(fields.get("msg-type")), fields.get("ta-id")
    type = "notify" if decoded in NOTIFY else decoded
    # JSON has one kind of number: 7.0 is 7 for whoever reads it as such.
    if isinstance(ta, float) and ta.is_integer():
        ta = int(ta)
    elif not isinstance(ta, int) or isinstance(ta, bool):
        ta = None
    command = _text(fields.get("ta-cmd"))
    form = command if command in COMMANDS else "", type if type in TYPES else "", "", False
    return DecodedMessage(fields, command, type, ta, form, error)


def _sound(fields: Message, *, deployed: bool) -> DecodedMessage:
    """Return what the layout has accepted: the three fields that every message has are there, and of their types."""
    form = _form_of(fields)
    return DecodedMessage(fields, form[0], form[1], fields["ta-id"], form, None, deployed)


def _form_of(fields: Message) -> Form:
    """Return the form of a sound message."""
    command, type, match = fields["ta-cmd"], fields["msg-type"], fields.get("match-type", "")
    if type in NOTIFY:
        type = "notify"
    if match in DISAPPEARED:
        match = "disappeared"
    return command, type, match, True


def _salvaged(frame: bytes) -> dict[str, Any]:
    """Return the fields of what is no message, as far as anybody can tell; nothing when nobody can."""
    fields = read_loosely(frame)
    if fields is None:
        try:
            text = frame.decode("utf-8-sig", "replace").lstrip()
            fields, _ = _LENIENT.raw_decode(text)
        # As deep as the other side likes.
        except (ValueError, RecursionError):
            return {}
    return fields if isinstance(fields, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
