"""The driver: the tester's side of one connection to a server, in the protocol's own verbs.

A verb sends a request, waits for what answers it, and returns the transaction: ``completed``, ``failed``, ``reason``,
``notifications``. Nothing that a server does is an error here, but for ``sure``, which plays rest on.
"""

import itertools
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import msgspec

from harness.errors import Deadline, NotAnswered
from harness.exchange import Exchange
from harness.links.link import Link
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.events import Event, decode_message, event_of
from harness.pathfinder.tester.transactions import Match, Transaction
from harness.timing import Timing
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.errors import EncodeError
from wire.json.strict import MOST, spell
from wire.pathfinder.values import VERSION, Message, write

TTL = 60
"""Seconds that a service of the tester lives without its owner, where the play is not about that."""

DELAY = TTL / 2
"""Seconds of the protocol's time by which a notification may be late: a server may delay it for a part of the TTL."""


def notification_of(what: str) -> str:
    """Return what waits for notifications of one match-type are known by: where they never come, it is learnt."""
    return f"a notification of what has {what}"


# Servers that others run keep what earlier testers left: no identifier is used twice.
# Random above and counted below, so that testers of one server do not meet. 62 bits, always: the document has 63, and
# who keeps them in floating point rounds all of one length alike.
_ids = itertools.count((1 << 41 | secrets.randbits(41)) << 20)

ROUND = 1 << 10
"""A play begins with a multiple of it: more than floating point rounds off, and more than most plays use."""


def new_id() -> int:
    """Return an unused identifier for a client, a service or a subscription."""
    return next(_ids)


def begin_ids() -> None:
    """Go on at a round number, so that the last bits of identifiers are the same whatever was played before."""
    count_ids_from(-(-next(_ids) // ROUND) * ROUND)


def count_ids_from(first: int) -> None:
    """Restart the identifiers: plays in memory are to be the same each time."""
    global _ids
    _ids = itertools.count(first)


class Service(msgspec.Struct, frozen=True):
    """A service as it is published; ``ttl`` in seconds."""

    id: int
    props: Mapping[str, Any]
    generation: int = 0
    ttl: int = TTL

    def newer(self, *, by: int = 1, **changes: Any) -> "Service":
        """Return the service with a higher generation, and whatever else has changed."""
        return msgspec.structs.replace(self, generation=self.generation + by, **changes)

    def replace(self, **changes: Any) -> "Service":
        """Return the service with something changed, the generation kept."""
        return msgspec.structs.replace(self, **changes)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that a ``publish`` has for it."""
        return {
            "service-id": self.id,
            "generation": self.generation,
            "service-props": self.props,
            "ttl": self.ttl,
        }


class Driver:
    """One connection to the server under test."""

    def __init__(
        self,
        link: Link,
        trace: Trace,
        *,
        client_id: int | None = None,
        timing: Timing | None = None,
        deployed: bool = False,
    ) -> None:
        self.link = link
        self.trace = trace
        self.client_id = new_id() if client_id is None else client_id
        self.timing = timing or Timing()
        self.deployed = deployed
        self.conversation = Conversation(link.label, client=Direction.SENT)
        self.exchange = Exchange(link, self.conversation, decode_message)
        self.published: dict[int, Service] = {}
        self._next_ta = 0

    # --- life ---------------------------------------------------------------------------------------------

    def open(self) -> Self:
        """Say hello; ``NotAnswered`` when that does not complete."""
        self.sure(self.hello())
        return self

    def close(self) -> None:
        """End the connection."""
        self.exchange.close()

    def abort(self) -> None:
        """Reset the connection, where its link can; else end it."""
        self.exchange.abort()

    def break_off(self) -> None:
        """Send what is no message, so that the server ends the connection; end it where the server does not."""
        # An object, as all messages are: what ends whole servers, such as an array, would hide what is asked about.
        self.offend(b"{}")
        self.close()

    @property
    def patience(self) -> float:
        """Seconds after which an answer is taken not to come."""
        return self.timing.patience

    def now(self) -> float:
        """Return the time in seconds of the link's clock."""
        return self.link.clock.now()

    def after(self, seconds: float) -> float:
        """Return when some seconds of the protocol's time will have passed for the server, by the link's clock."""
        return self.now() + self.timing.quiet(seconds)

    @property
    def ended(self) -> str:
        """How the connection ended; empty while it has not."""
        return self.exchange.ended

    # --- sending ------------------------------------------------------------------------------------------

    def take_ta(self) -> int:
        """Return a transaction identifier that was not used on this connection."""
        self._next_ta += 1
        return self._next_ta - 1

    def begin(self, command: str, fields: Mapping[str, Any] | None = None, *, ta: int | None = None) -> Transaction:
        """Send a request and wait for nothing; a value may be anything that JSON can say, or bytes as they are."""
        message = {
            "ta-cmd": command,
            "ta-id": self.take_ta() if ta is None else ta,
            "msg-type": "request",
            **(fields or {}),
        }
        return self.begin_with(message)

    def begin_with(self, message: Message) -> Transaction:
        """Send a request as it is given, and wait for nothing."""
        event = self.send(message)
        transactions = self.conversation.transactions
        # Not so if the conversation did not take it for a request.
        if transactions and transactions[-1].request is event:
            return transactions[-1]
        return Transaction(event, self.ended)  # nothing can answer what has no identifier, or was never sent

    def send(self, message: Message) -> Event:
        """Send one message, whether the document has it or not; a link that has ended is noted, not raised."""
        return self.send_bytes(encode_message(message, deployed=self.deployed))

    def send_bytes(self, frame: bytes) -> Event:
        """Send one frame as it is."""
        event = None
        # The other side may take nothing: what it has to say is read all the same.
        with suppress(Deadline):
            event = self.exchange.send(frame)
        return self._unsent(frame) if event is None else event

    def send_pieces(self, data: bytes, frame: bytes, size: int = 1) -> Event:
        """Send the framed bytes of one frame in pieces, each in a segment of its own."""
        last = None
        # Each in a write of its own, which TCP_NODELAY makes a segment: one write would be one segment again.
        for start in range(0, len(data), size):
            last = self.exchange.send_raw(data[start : start + size])
        return self._unsent(frame) if last is None else self.exchange.record_sent(frame, last)

    def send_raw(self, data: bytes) -> None:
        """Send bytes without framing; monitors do not look at this connection any more."""
        self.conversation.is_clean = False
        self.exchange.send_raw(data)

    def _unsent(self, frame: bytes) -> Event:
        """Return the event of a message that could not be sent; conversation and trace do not have it."""
        unsent = Entry(self.trace.now(), self.link.label, EntryKind.FRAME, Direction.SENT, frame)
        return event_of(unsent, decode_message(frame))

    def offend(self, stimulus: Message | bytes, *, seconds: float | None = None) -> Transaction | None:
        """Send what a server may refuse, and only read until it reacts or the window (or so many seconds) ends.

        Returns the transaction if the stimulus is a request that began one.
        """
        before = len(self.conversation.transactions)
        event = self.send_bytes(stimulus) if isinstance(stimulus, bytes) else self.send(stimulus)
        # By count, as an offending message may begin no transaction at all.
        begun = self.conversation.transactions[before:]
        if not begun and event.entry < 0 and event.type == "request" and event.ta is not None:
            begun = [Transaction(event, self.ended)]  # it was never sent, and so it is over with its connection
        window = self.timing.window if seconds is None else seconds
        self._pump(lambda: bool(self.ended or (begun and begun[0].is_over)), window)
        return begun[0] if begun else None

    # --- reading ------------------------------------------------------------------------------------------

    def read(self, seconds: float) -> None:
        """Read messages until some seconds of the protocol's time have passed for the server, or the link ends."""
        self._pump(lambda: False, self.timing.quiet(seconds))

    def wait_until(self, done: Callable[[], bool], until: float | None = None) -> bool:
        """Read until something holds; ``False`` when patience or the link ends first.

        ``until`` is when patience ends, in seconds of the link's clock: what was sent before this call has waited.
        """
        # Asked first: what has been read already may suffice, and then nothing is waited for.
        began = self.now()
        if not done():
            self._pump(done, self.patience if until is None else until - self.now())
        held = done()
        if not (held or self.ended):
            self.timing.waited(self.now() - began)
        return held

    def wait_for_notification(self, done: Callable[[], bool], what: str) -> bool:
        """Read until notifications make something hold; ``False`` when they never do.

        ``what`` has become of a service, as its notification says it: a sort that never comes is learnt.
        """
        thing = notification_of(what)
        began = self.now()
        came = self.wait_until(done, began + self.timing.patience_for(thing, self.timing.however_late(DELAY)))
        if came:
            self.timing.told(self.now() - began)
        if came or not self.ended:
            self.timing.awaited(thing, came, self.now() - began)
        return came

    def answered(self, transaction: Transaction) -> Transaction:
        """Read until a transaction has an answer, or never will."""
        thing = f"an answer to {transaction.command}"
        self.wait_until(lambda: bool(transaction.answers) or transaction.is_over, self._end_of_patience(thing))
        if not transaction.was_cut:
            self.timing.awaited(thing, bool(transaction.answers))
        return transaction

    def finish(self, transaction: Transaction) -> Transaction:
        """Read until a transaction is over, or patience ends."""
        thing = f"the end of {transaction.command}"
        self.wait_until(lambda: transaction.is_over, self._end_of_patience(thing))
        if transaction.ending is not None or not transaction.is_over:
            self.timing.awaited(thing, transaction.is_over)
        # The slowest counts, as the next may be as slow. Not silence, which says nothing of how long an answer takes;
        # nor a subscription, which lasts for as long as one likes.
        if transaction.ending is not None and transaction.command != "subscribe":
            # By when it came: it may have waited here for the answer to something else that was never given.
            self.timing.took(transaction.ending.time - transaction.request.time)
        return transaction

    def finish_all(self, transactions: Sequence[Transaction]) -> Sequence[Transaction]:
        """Read until transactions that were begun together are over, subscriptions until they have an answer."""
        silent = False
        for each in transactions:
            # Patience once for all of them: they were asked at the same time, so each has waited as long as the first.
            if not silent:
                self.answered(each) if each.command == "subscribe" else self.finish(each)
                silent = not (each.answers or each.is_over)
        return transactions

    def sure(self, transaction: Transaction) -> Transaction:
        """Return a transaction that completed, or was accepted and goes on; raises ``NotAnswered`` otherwise."""
        going_on = transaction.accepted and transaction.command == "subscribe" and not transaction.is_over
        if transaction.completed or going_on:
            return transaction
        raise NotAnswered(f"on link {self.link.label}: {transaction}")

    def _end_of_patience(self, thing: str) -> float:
        """Return when something that is waited for from now on is taken not to come."""
        return self.now() + self.timing.patience_for(thing)

    def _pump(self, done: Callable[[], bool], seconds: float) -> None:
        self.exchange.read_until(done, self.now() + seconds)

    # --- verbs --------------------------------------------------------------------------------------------

    def begin_hello(
        self, *, client_id: int | None = None, minimum: int = VERSION, maximum: int = VERSION
    ) -> Transaction:
        """Say hello with an identifier (this session's own by default) and a range of versions; wait for nothing."""
        fields = {
            "client-id": self.client_id if client_id is None else client_id,
            "protocol-minimum-version": minimum,
            "protocol-maximum-version": maximum,
        }
        return self.begin("hello", fields)

    def hello(self, *, client_id: int | None = None, minimum: int = VERSION, maximum: int = VERSION) -> Transaction:
        """Say hello, as ``begin_hello`` has it."""
        return self.finish(self.begin_hello(client_id=client_id, minimum=minimum, maximum=maximum))

    def ping(self) -> Transaction:
        """Ask whether the server is there."""
        return self.finish(self.begin("ping"))

    def publish(self, service: Service) -> Transaction:
        """Publish a service, or republish it."""
        transaction = self.finish(self.begin("publish", service.fields))
        # Only what the server has taken: the rest need not be taken back at the end of a play.
        if transaction.completed:
            self.published[service.id] = service
        return transaction

    def unpublish(self, service_id: int) -> Transaction:
        """Take a service back."""
        transaction = self.finish(self.begin("unpublish", {"service-id": service_id}))
        if transaction.completed:
            self.published.pop(service_id, None)
        return transaction

    def subscribe(self, filter: str | None = None, *, id: int | None = None) -> Transaction:
        """Subscribe; returns once that is accepted or refused."""
        fields: dict[str, Any] = {"subscription-id": new_id() if id is None else id}
        if filter is not None:
            fields["filter"] = filter
        # Not until its end: a subscription lives until it is unsubscribed.
        return self.answered(self.begin("subscribe", fields))

    def unsubscribe(self, subscription_id: int) -> Transaction:
        """End a subscription."""
        return self.finish(self.begin("unsubscribe", {"subscription-id": subscription_id}))

    def services(self, filter: str | None = None) -> Transaction:
        """List the services."""
        return self.finish(self.begin("services", {} if filter is None else {"filter": filter}))

    def subscriptions(self) -> Transaction:
        """List the subscriptions."""
        return self.finish(self.begin("subscriptions"))

    def clients(self) -> Transaction:
        """List the clients."""
        return self.finish(self.begin("clients"))

    # --- what plays ask for -------------------------------------------------------------------------------

    def barrier(self) -> None:
        """Make sure that the server has acted on everything sent here; ``NotAnswered`` when it does not say so."""
        self.sure(self.ping())

    def is_served(self) -> bool:
        """Tell whether the server still answers here."""
        return not self.ended and self.ping().completed

    def receives(
        self, watch: Transaction, what: str, service_id: int, *, count: int = 1, until: float | None = None
    ) -> Match | None:
        """Read until a subscription has told of a service for the ``count``-th time in one way; returns that match.

        ``None`` when it is not told, however late; ``until`` as for ``wait_until``.
        """

        def heard() -> list[Match]:
            return [match for match in watch.about(service_id) if match.what == what]

        if not self.answered(watch).answers:
            return None  # what was never granted brings nothing, and would be waited for as long as it may be late
        if until is None:
            self.wait_for_notification(lambda: len(heard()) >= count, what)
        else:
            self.wait_until(lambda: len(heard()) >= count, until)
        return heard()[count - 1] if len(heard()) >= count else None

    @property
    def left(self) -> list[int]:
        """The services that were published here, by whatever message, and not taken back here.

        Those whose publish nobody has waited for are among them, as it may be carried out all the same; but not under
        what is no identifier: to take that back would be a breach of our own, on a connection that is sound.
        """
        found: dict[int, None] = dict.fromkeys(self.published)
        for transaction in self.conversation.transactions:
            service_id = transaction.request.fields.get("service-id")
            if not isinstance(service_id, int):
                continue
            if transaction.command == "publish":
                if transaction.completed or (not transaction.failed and 0 <= service_id <= MOST):
                    found[service_id] = None
            elif transaction.command == "unpublish" and transaction.completed:
                found.pop(service_id, None)
        return list(found)

    def received(self) -> list[Event]:
        """Return the messages of the server."""
        return [event for event in self.conversation.events if event.direction is Direction.RECEIVED]


def encode_message(message: Message, *, deployed: bool = False) -> bytes:
    """Encode a message: canonically if the document has it, else as JSON of whatever is in it.

    A value of bytes is taken for encoded JSON and stands in the message as it is, whatever the bytes are.
    """
    try:
        return write(message, deployed=deployed)
    except EncodeError:
        return _json(message)


def _json(value: Any) -> bytes:
    match value:
        case bytes():
            return value
        case str():
            # A lone surrogate is what some cases send, and nothing that UTF-8 has.
            return spell(value).encode("utf-8", "surrogatepass")
        # Before the numbers: True is an int.
        case True | False | None:
            return {True: b"true", False: b"false", None: b"null"}[value]
        # repr is how JSON writes integers of any size, and the shortest text that reads as the same float.
        case int() | float():
            return repr(value).encode()
        case Mapping():
            return b"{" + b",".join(_json(name) + b":" + _json(each) for name, each in value.items()) + b"}"
        case _:
            return b"[" + b",".join(map(_json, value)) + b"]"
