"""Conversations: what was said on one connection, understood. The driver and every monitor read them."""

from json import JSONDecoder
from typing import Any

import msgspec

from harness.pathfinder.transactions import NOTIFY, Transaction
from harness.trace import Direction, Happening, Trace
from wire.errors import DecodeError
from wire.pathfinder.frames import Message, read, read_loosely

_LENIENT = JSONDecoder(strict=False)
"""Reads what strict JSON refuses, but somebody might mean: a name twice, NUL, integers of any size."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """One message: when, which way, where in the trace, and its fields whatever they are.

    ``error`` says why the document has no such message; ``deployed`` that only the field's spelling of it is right.
    A frame that does not begin with a JSON object has no fields; of a field that is said twice the last one counts.
    ``command`` and ``type`` are empty where there is none; ``type`` is ``notify`` for a notification in either
    spelling. ``ta`` is the transaction identifier, 7 where 7.0 is said; ``None`` when it is no integer.
    """

    time: float
    direction: Direction
    frame: bytes
    entry: int
    fields: Message
    command: str
    type: str
    ta: int | None
    error: DecodeError | None = None
    deployed: bool = False


class Conversation:
    """What was said on one connection: feed it frames, read its events and its transactions."""

    def __init__(self, link: str, *, client: Direction | None = None) -> None:
        self.link = link
        self.events: list[Event] = []
        self.said: dict[Direction, list[Event]] = {Direction.SENT: [], Direction.RECEIVED: []}
        self.formed: dict[tuple[Direction, str, str], list[Event]] = {}
        """The events by direction, command and type."""
        self.transactions: list[Transaction] = []
        self.strays: list[Event] = []
        """Messages of no transaction that was ever begun."""
        self.closed_by: Direction | None = None
        self.client = client
        """Which way the client's messages go: as was said, else as the first message that is understood shows."""
        self.closed = ""
        self.has_raw = False
        self._latest: dict[int, Transaction] = {}

    @property
    def is_clean(self) -> bool:
        """Whether the tester said nothing that the document does not have."""
        return not self.has_raw and all(
            event.error is None for event in self.events if event.direction is Direction.SENT
        )

    @property
    def server(self) -> Direction | None:
        """Which way the server's messages go."""
        if self.client is None:
            return None
        return Direction.SENT if self.client is Direction.RECEIVED else Direction.RECEIVED

    def feed(self, direction: Direction, frame: bytes, time: float, entry: int) -> Event:
        """Take one frame and return it as an event."""
        event = understood(direction, frame, time, entry)
        self.events.append(event)
        self.said[direction].append(event)
        self.formed.setdefault((direction, event.command, event.type), []).append(event)
        if self.client is None and event.type:
            self.client = direction if event.type == "request" else _other(direction)
        if direction is self.client:
            if event.type == "request" and event.ta is not None:
                self._begin(event)
        else:
            self._answer(event)
        return event

    def end(self, by: Direction, how: str) -> None:
        """Take note that the connection has ended: all its transactions have."""
        self.closed_by = self.closed_by or by
        self.closed = self.closed or how
        for transaction in self.transactions:
            transaction.closed = self.closed

    def _begin(self, event: Event) -> None:
        transaction = Transaction(event, self.closed)
        self.transactions.append(transaction)
        if event.ta is not None:
            self._latest[event.ta] = transaction

    def _answer(self, event: Event) -> None:
        transaction = None if event.ta is None else self._latest.get(event.ta)
        if transaction is None:
            self.strays.append(event)
        else:
            transaction.take(event)


def understood(direction: Direction, frame: bytes, time: float, entry: int) -> Event:
    """Read a frame: by the document, else by the field's spelling, else whatever fields it has."""
    error, deployed = None, False
    try:
        fields = read(frame)
    except DecodeError as refusal:
        try:
            fields, deployed = read(frame, deployed=True), True
        except DecodeError:
            fields, error = _salvaged(frame), refusal
    said, ta = _text(fields.get("msg-type")), fields.get("ta-id")
    type = "notify" if said in NOTIFY else said
    if isinstance(ta, float) and ta.is_integer():
        ta = int(ta)
    elif not isinstance(ta, int) or isinstance(ta, bool):
        ta = None
    command = _text(fields.get("ta-cmd"))
    return Event(time, direction, frame, entry, fields, command, type, ta, error, deployed)


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace: one conversation per link."""
    found: dict[str, Conversation] = {}
    for index, entry in enumerate(trace):
        if entry.link not in found:
            opened = entry.what is Happening.OPENED  # who dials is the client
            found[entry.link] = Conversation(entry.link, client=entry.direction if opened else None)
        conversation = found[entry.link]
        if entry.what is Happening.FRAME:
            conversation.feed(entry.direction, entry.data, entry.time, index)
        elif entry.what is Happening.RAW and entry.direction is Direction.SENT:
            conversation.has_raw = True
        elif entry.what is Happening.CLOSED:
            conversation.end(entry.direction, entry.note)
    return found


def _salvaged(frame: bytes) -> dict[str, Any]:
    """Return the fields of what is no message, as far as anybody can tell; nothing when nobody can."""
    fields = read_loosely(frame)
    if fields is None:
        try:
            text = frame.decode("utf-8-sig", "replace").lstrip()
            fields, _ = _LENIENT.raw_decode(text)
        except (ValueError, RecursionError):
            return {}
    return fields if isinstance(fields, dict) else {}


def _other(direction: Direction) -> Direction:
    return Direction.SENT if direction is Direction.RECEIVED else Direction.RECEIVED


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
