"""Conversations: the messages of one link as events. The driver and every monitor read them.

A conversation keeps both mapping tables as they were at each message, so a message comes with the key expression
that it stands for, whichever table its scope is looked up in.
"""

from harness.trace import Direction, Entry, EntryKind, Trace
from harness.zenoh.batches import DecodedBatch, FragmentBuffer, read
from harness.zenoh.tester.events import OTHER, Event, RefusedBatch
from wire.errors import DecodeError
from wire.zenoh.grammar_extensions import WIRE_EXPR
from wire.zenoh.keys import HeardTable, Table, resolve
from wire.zenoh.unknown_extensions import unintelligible
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    NetworkMessage,
    Push,
    Request,
    Response,
    UndeclareEntity,
    UndeclareKeyExpr,
)
from wire.zenoh.values_transport import (
    Close,
    Fragment,
    Frame,
    Init,
    Open,
    TransportMessage,
)
from wire.zenoh.wire_expr_reading import read_wire_expr_extension


class Conversation:
    """The messages of one link: feed it frames, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.refusals: list[RefusedBatch] = []
        self.tables = {Direction.SENT: HeardTable(), Direction.RECEIVED: HeardTable()}
        self.declared: dict[tuple[Direction, EntityKind, int], str | None] = {}
        self.whatami: dict[Direction, int] = {}
        self.is_open = False
        self.closed_by: Direction | None = None
        self.closed = ""
        self.is_misnumbered = False
        """Whether the tester has sent frames that are not numbered as the session does it: some nodes take those."""
        self._first = 0
        """Where in ``events`` those of the batch that is read begin."""
        self._fragments = {Direction.SENT: FragmentBuffer(), Direction.RECEIVED: FragmentBuffer()}

    @property
    def is_clean(self) -> bool:
        """Whether the tester sent nothing that cannot be decoded, or of which nobody knows whether it was taken."""
        return not self.is_misnumbered and all(refusal.direction is not Direction.SENT for refusal in self.refusals)

    def feed(self, entry: Entry, batch: DecodedBatch) -> RefusedBatch | None:
        """Take one batch; return the refusal if it, or what its fragments complete, cannot be decoded."""
        direction, time, index = entry.direction, entry.time, entry.index
        error = batch.error
        self._first = len(self.events)
        try:
            for message in batch.messages:
                self._take(direction, message, time, index)
        except DecodeError as within:  # of what fragments complete
            error = within.without_traceback()
        # What stands before an error in a batch was sent, and a node may have acted on it.
        for inner in batch.beginning:
            self._note(direction, inner, time, index)
        if error is None:
            return None
        self.refusals.append(RefusedBatch(time, direction, error, index))
        return self.refusals[-1]

    def end(self, by: Direction, how: str) -> None:
        """Note that the link has ended."""
        # Of several ends the first is the reason.
        self.closed = self.closed or how

    def _take(self, direction: Direction, message: TransportMessage, time: float, entry: int) -> None:
        if isinstance(message, Frame):
            for inner in message.messages:
                self._note(direction, inner, time, entry)
        elif isinstance(message, Fragment):
            for inner in self._fragments[direction].take(message):
                self._note(direction, inner, time, entry)
        elif isinstance(message, Init):
            self.whatami[direction] = message.whatami
        elif isinstance(message, Open):
            # The OPEN that answers has no cookie.
            self.is_open = self.is_open or message.cookie is None
        elif isinstance(message, Close):
            self.closed_by = self.closed_by or direction

    def _note(self, direction: Direction, message: NetworkMessage, time: float, entry: int) -> None:
        sender, receiver = self.tables[direction], self.tables[OTHER[direction]]
        key = known = None
        if not isinstance(message, Declare):
            if isinstance(message, Interest):
                key = None if message.key is None else resolve(message.key, sender, receiver)
            elif isinstance(message, Push | Request | Response):
                key = resolve(message.key, sender, receiver)
            nth = len(self.events) - self._first
            self.events.append(Event(time, direction, message, entry, type(message), key, nth=nth))
            return
        body = message.body
        # Tests of classes one after the other, the most frequent first: patterns take several times as long, and this
        # is done for every declaration of a capture.
        if isinstance(body, DeclareEntity):
            key = resolve(body.key, sender, receiver)
            self.declared[direction, body.kind, body.id] = key
        elif isinstance(body, UndeclareEntity):
            key = self._named(body, sender, receiver)
            # Looked up by id, which is what an undeclaration goes by; the key in its extension may be wrong or missing.
            known = self.declared.pop((direction, body.kind, body.id), None)
        elif isinstance(body, DeclareKeyExpr):
            key = resolve(body.key, sender, receiver)
            sender.give(body.expr_id, key, is_sure=not unintelligible(message))
        elif isinstance(body, UndeclareKeyExpr):
            key = sender.release(body.expr_id, is_sure=not unintelligible(message))
        nth = len(self.events) - self._first
        event = Event(time, direction, message, entry, type(body), key, known, body, message.interest_id, nth)
        self.events.append(event)

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
    for entry in trace:
        if entry.what is EntryKind.FRAME:
            conversation = found.get(entry.link)
            if conversation is None:
                conversation = found[entry.link] = Conversation(entry.link)
            conversation.feed(entry, read(entry.data))
    return found
