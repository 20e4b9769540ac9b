"""Conversations: the messages of one connection as events and transactions. The driver and every monitor read them."""

from itertools import repeat

from harness.pathfinder.tester.events import DecodedMessage, Event, event_in, event_of
from harness.pathfinder.tester.transactions import Transaction
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.pathfinder.values import VERSION, Message


class Conversation:
    """The messages of one connection: feed it frames, read its events and its transactions."""

    def __init__(self, link: str, *, client: Direction | None = None) -> None:
        self.link = link
        self.events: list[Event] = []
        self.closed_by: Direction | None = None
        self.client = client
        """Which way the client's messages go: as given, else as the first message that can be read shows."""
        self.closed = ""
        self.is_clean = True
        """Whether the tester sent nothing that the document does not have, and no other version was agreed on."""
        self._offers: dict[int | None, Message] = {}
        """The hellos that may be answered, by their identifiers."""
        self._is_greeted = False
        # Who plays a case asks for transactions all the time; who judges a server in a capture of millions, never. So
        # they are made when they are first asked for, and kept up to date from then on: who holds one waits for it.
        self._is_asked = False
        self._transactions: list[Transaction] = []
        self._strays: list[Event] = []
        self._latest: dict[int, Transaction] = {}
        self._sorted = 0
        self._unknown = 0

    is_open = True
    """Whether its beginning is known: each message can be understood without a handshake."""

    @property
    def server(self) -> Direction | None:
        """Which way the server's messages go."""
        if self.client is None:
            return None
        return self.client.other

    def feed(self, entry: Entry, decoded: DecodedMessage) -> Event:
        """Take one frame, as it was read, and return it as an event."""
        event = event_of(entry, decoded)
        self.take(event)
        return event

    def take(self, event: Event) -> None:
        """Take a message that was read."""
        self.events.append(event)
        if event.error is not None and event.direction is Direction.SENT:
            self.is_clean = False
        if event.command == "hello":
            self._note_hello(event)
        if self.client is None:
            if event.type:
                self.client = event.direction if event.type == "request" else event.direction.other
            else:
                self._unknown = len(self.events)
        if self._is_asked:
            self._sort()

    def _note_hello(self, event: Event) -> None:
        """Take note of the versions that are offered, and of another one that is agreed on: another document has it."""
        if event.type == "request":
            self._offers[event.ta] = event.fields
        elif event.type == "complete" and not self._is_greeted:
            self._is_greeted = True  # what was agreed on stays, whatever is said in another hello
            offer = self._offers.pop(event.ta, {})
            least, most = offer.get("protocol-minimum-version"), offer.get("protocol-maximum-version")
            agreed = event.fields.get("protocol-version")
            if not (isinstance(agreed, int) and isinstance(least, int) and isinstance(most, int)):
                return
            # Where version 2 is the highest that is offered, who takes a lower one is at fault, and is judged.
            if agreed != VERSION != most and least <= agreed <= most:
                self.is_clean = False

    def end(self, by: Direction, how: str) -> None:
        """Take note that the connection has ended: all its transactions have."""
        self.closed_by = self.closed_by or by
        self.closed = self.closed or how
        # Those too that are held by a play: it waits for their end.
        for transaction in self._transactions:
            transaction.closed = self.closed

    @property
    def transactions(self) -> list[Transaction]:
        """The client's requests with what answered them, in order; one that is held goes on to take its answers."""
        self._is_asked = True
        self._sort()
        return self._transactions

    @property
    def strays(self) -> list[Event]:
        """Messages of no transaction that was ever begun."""
        self._sort()
        return self._strays

    def _sort(self) -> None:
        """Sort the messages since the last call into transactions."""
        for place in range(self._sorted, len(self.events)):
            event = self.events[place]
            # What was said before it showed who is the client belongs to nobody's request.
            if event.direction is not self.client or place < self._unknown:
                self._answer(event)
            elif event.type == "request" and event.ta is not None:
                transaction = Transaction(event, self.closed)
                self._transactions.append(transaction)
                # An identifier may be used again once its transaction is over: answers belong to the latest.
                self._latest[event.ta] = transaction
        self._sorted = len(self.events)

    def _answer(self, event: Event) -> None:
        transaction = None if event.ta is None else self._latest.get(event.ta)
        if transaction is None:
            self._strays.append(event)
        else:
            transaction.take(event)


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace: one conversation per link."""
    found: dict[str, Conversation] = {}
    for entry, name in zip(trace, trace.names or repeat(None), strict=False):  # the latter has no end
        conversation = found.get(entry.link)
        if conversation is None:
            # In a capture that began later nobody has dialled; then the first message that can be read tells.
            opened = entry.what is EntryKind.OPENED  # who dials is the client
            conversation = found[entry.link] = Conversation(entry.link, client=entry.direction if opened else None)
        if entry.what is EntryKind.FRAME:
            conversation.take(event_in(entry, name))
        elif entry.what is EntryKind.RAW and entry.direction is Direction.SENT:
            conversation.is_clean = False
        elif entry.what is EntryKind.CLOSED:
            conversation.end(entry.direction, entry.note)
    return found
