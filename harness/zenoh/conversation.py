"""Conversations: what was said on one link, understood. The driver and every monitor read them.

A conversation keeps both mapping tables as they were at each message, so a message comes with the key expression
that it stands for, whichever table its scope is looked up in.
"""

from collections.abc import Iterator

import msgspec

from harness.trace import Direction, Entry, Happening, Trace
from wire.errors import DecodeError
from wire.zenoh.extensions import WIRE_EXPR
from wire.zenoh.frames import (
    Close,
    Fragment,
    Frame,
    Init,
    Open,
    TransportMessage,
    read_batch,
    read_beginning,
    read_network,
)
from wire.zenoh.keys import Table, read_wire_expr_extension, resolve
from wire.zenoh.messages import (
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    Interest,
    Kind,
    NetworkMessage,
    Push,
    Request,
    Response,
    UndeclareEntity,
    UndeclareKeyExpr,
)

OTHER = {Direction.SENT: Direction.RECEIVED, Direction.RECEIVED: Direction.SENT}


class Event(msgspec.Struct, frozen=True, gc=False):
    """One network message: when, which way, where in the trace, and the keys that it stands for.

    ``key`` is what the message itself names (``None`` when it names none, or an ExprId that was never declared);
    ``known`` is, for an undeclaration, the key under which its id was declared before; ``body`` and ``interest_id``
    are, for a DECLARE, the declaration inside it and its interest id.
    """

    time: float
    direction: Direction
    message: NetworkMessage
    entry: int
    key: str | None = None
    known: str | None = None
    body: object = None
    interest_id: int | None = None


class Refusal(msgspec.Struct, frozen=True):
    """A batch that cannot be decoded."""

    time: float
    direction: Direction
    error: DecodeError
    entry: int


class Conversation:
    """What was said on one link: feed it frames, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.said: dict[Direction, list[Event]] = {Direction.SENT: [], Direction.RECEIVED: []}
        self.refusals: list[Refusal] = []
        self.tables: dict[Direction, Table] = {Direction.SENT: {}, Direction.RECEIVED: {}}
        self.declared: dict[tuple[Direction, Kind, int], str | None] = {}
        self.whatami: dict[Direction, int] = {}
        self.is_open = False
        self.closed_by: Direction | None = None
        self._parts: dict[tuple[Direction, bool], bytearray] = {}

    @property
    def is_clean(self) -> bool:
        """Whether the tester said nothing that cannot be decoded."""
        return all(refusal.direction is not Direction.SENT for refusal in self.refusals)

    def feed(self, direction: Direction, batch: bytes, time: float, entry: int) -> list[Event]:
        """Take one batch and return its network messages as events."""
        before = len(self.events)
        try:
            for message in read_batch(batch):
                self._take(direction, message, time, entry)
        except DecodeError as error:
            self.refusals.append(Refusal(time, direction, error, entry))
            if len(self.events) == before and error.before:
                for inner in read_beginning(batch):
                    self._note(direction, inner, time, entry)
        return self.events[before:]

    def _take(self, direction: Direction, message: TransportMessage, time: float, entry: int) -> None:
        match message:
            case Frame():
                for inner in message.messages:
                    self._note(direction, inner, time, entry)
            case Fragment():
                parts = self._parts.setdefault((direction, message.reliable), bytearray())
                parts += message.data
                if not message.more:
                    del self._parts[direction, message.reliable]
                    for inner in read_network(bytes(parts)):
                        self._note(direction, inner, time, entry)
            case Init():
                self.whatami[direction] = message.whatami
            case Open(cookie=None):
                self.is_open = True
            case Close():
                self.closed_by = self.closed_by or direction
            case _:
                pass

    def _note(self, direction: Direction, message: NetworkMessage, time: float, entry: int) -> None:
        sender, receiver = self.tables[direction], self.tables[OTHER[direction]]
        key = known = None
        match message:
            case Interest() if message.key is not None:
                key = resolve(message.key, sender, receiver)
            case Push() | Request() | Response():
                key = resolve(message.key, sender, receiver)
            case Declare(body=DeclareKeyExpr() as body):
                key = resolve(body.key, sender, receiver)
                if key is not None:
                    sender[body.expr_id] = key
            case Declare(body=UndeclareKeyExpr() as body):
                key = sender.pop(body.expr_id, None)
            case Declare(body=DeclareEntity() as body):
                key = resolve(body.key, sender, receiver)
                self.declared[direction, body.kind, body.id] = key
            case Declare(body=UndeclareEntity() as body):
                key = self._named(body, sender, receiver)
                known = self.declared.pop((direction, body.kind, body.id), None)
            case _:
                pass
        event = Event(time, direction, message, entry, key, known)
        if isinstance(message, Declare):
            event = Event(time, direction, message, entry, key, known, message.body, message.interest_id)
        self.events.append(event)
        self.said[direction].append(event)

    def _named(self, body: UndeclareEntity, sender: Table, receiver: Table) -> str | None:
        for extension in body.extensions:
            if extension.is_(WIRE_EXPR) and isinstance(extension.value, bytes):
                try:
                    return resolve(read_wire_expr_extension(extension.value)[0], sender, receiver)
                except DecodeError:
                    return None
        return None


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace: one conversation per link."""
    found: dict[str, Conversation] = {}
    for index, entry in enumerate(trace):
        if entry.what is Happening.FRAME:
            conversation = found.setdefault(entry.link, Conversation(entry.link))
            conversation.feed(entry.direction, entry.data, entry.time, index)
    return found


def frames_of(trace: Trace, link: str) -> Iterator[tuple[int, Entry]]:
    """Return the frames of one link with their places in the trace."""
    return ((index, entry) for index, entry in enumerate(trace) if entry.link == link and entry.what is Happening.FRAME)
