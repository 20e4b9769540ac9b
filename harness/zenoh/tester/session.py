"""A Zenoh session as the tester has it: what it sends, how long it reads and waits, and what it takes for settled.

It keeps the handshake and the leases, and can send any bytes at any moment. The driver adds the protocol's verbs.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Self

from harness.errors import NotAnswered
from harness.exchange import Exchange
from harness.links.link import Link
from harness.timing import Timing
from harness.trace import Direction, Trace
from harness.zenoh.batches import DecodedBatch, read
from harness.zenoh.peers.transport import Ended, SessionTransport, Settings, State
from harness.zenoh.tester.conversation import Conversation
from harness.zenoh.tester.events import Event, RefusedBatch, inner_key
from wire.zenoh.values import Declare, DeclareFinal, Interest, Mode, NetworkMessage, Options, WireExpr
from wire.zenoh.values_transport import frame_header

# Far above the ids that cases choose.
BARRIER = 1_000_000
"""Interest ids from here on are the tester's own, for barriers."""


NOTHING = "the D_FINAL of a barrier"
"""What a barrier waits for: how it is named where it is known whether it ever comes."""


class TesterSession:
    """One session with the implementation under test."""

    def __init__(
        self, link: Link, trace: Trace, settings: Settings, *, namespace: str = "", timing: Timing | None = None
    ) -> None:
        self.link = link
        self.trace = trace
        self.namespace = namespace
        self.conversation = Conversation(link.label)
        self.exchange = Exchange(link, self.conversation, read, self._on_batch, self)
        self.ended = ""
        """How the session ended, by a CLOSE or with its link; empty while it has not."""
        self.is_dropped = False
        self.unsettled = False
        self.timing = timing or Timing()
        self.transport = SessionTransport(settings, opener=True)
        self._settings = settings
        self._began = 0.0
        self.mark = 0
        """Where in the conversation the updates begin that ``news`` has not returned yet."""
        self._barriers = BARRIER
        # Looked for once in each event: whoever asks a hundred things at once waits for each answer among all of them.
        self._looked_at = 0
        self._finals: dict[int | None, list[int]] = {None: []}
        """Where in the conversation the D_FINALs for an interest stand, and under None those for any."""
        self._questions: list[int] = []
        """Where in the conversation the node asks for what exists now."""
        self._answered: set[int] = set()

    # --- life ---------------------------------------------------------------------------------------------

    def open(self, *, opener: bool = True) -> Self:
        """Shake hands; ``opener`` is ``False`` when the implementation dialled. Raises ``NotAnswered``."""
        self.begin_open(opener=opener)
        return self.finish_open()

    def begin_open(self, *, opener: bool = True) -> None:
        """Begin the handshake, and wait for nothing."""
        # Made again, as only now it is known who dialled, and so who begins the handshake.
        self.transport = SessionTransport(self._settings, opener=opener)
        self._began = self.now()
        if opener:
            self.transport.start(self._began)
        self._flush()

    def await_init(self) -> None:
        """Read until the answer to INIT has come, so that OPEN is under way; raises ``NotAnswered``."""
        self._shake_until(lambda: self.transport.state is not State.INIT_SENT)

    def finish_open(self) -> Self:
        """Read to the end of a handshake that was begun; raises ``NotAnswered``."""
        self._shake_until(lambda: self.transport.state is State.OPEN)
        # Two round trips, INIT and OPEN; of one who dials, the first message may have been here already.
        self.timing.took((self.now() - self._began) / (2 if self.transport.opener else 1))
        return self

    def _shake_until(self, done: Callable[[], bool]) -> None:
        if not self.wait_until(done):
            raise NotAnswered(f"the handshake on link {self.link.label} did not end: {self.ended or 'silence'}")

    def close(self) -> None:
        """Say CLOSE and end the link."""
        if not self.ended:
            self.transport.close()
            self._flush()
        self.drop()

    def drop(self) -> None:
        """Cut the link without a word."""
        # An end that the tester brought about is no evidence of the node.
        self.is_dropped = not self.ended
        self.exchange.close()
        self.ended = self.ended or self.exchange.ended

    @property
    def patience(self) -> float:
        """Seconds after which an answer is taken not to come."""
        return self.timing.patience

    def now(self) -> float:
        """Return the time in seconds of the link's clock."""
        return self.link.clock.now()

    # --- sending ------------------------------------------------------------------------------------------

    def send(self, *messages: NetworkMessage, reliable: bool = True) -> None:
        """Send network messages, together in as few batches as they fit in."""
        self.transport.send(messages, reliable=reliable)
        self._flush()

    def send_bytes(self, *encoded: bytes) -> None:
        """Send network messages that are spelled already, in one FRAME; in fragments where batches are too small."""
        content = b"".join(encoded)
        if self.transport.holds(content):
            self.send_batch(frame_header(self.transport.take_sn()) + content)
        else:
            self.send_in_fragments(content, len(content))

    def send_in_fragments(self, data: bytes, size: int) -> None:
        """Send bytes of network messages as fragments of ``size`` bytes, or of as many as a batch holds."""
        self.transport.send_fragments(data, min(size, self.transport.room))
        self._flush()

    def send_batch(self, batch: bytes) -> None:
        """Send a batch as it is."""
        self.transport.outgoing.append(batch)
        self._flush()

    def offend(self, *encoded: bytes, seconds: float | None = None) -> None:
        """Send network messages that the other side may refuse, and only read for a while (or so many seconds)."""
        self.send_bytes(*encoded)
        self.read(seconds)

    # --- reading ------------------------------------------------------------------------------------------

    def read(self, seconds: float | None = None) -> None:
        """Read what the other side makes of what it may refuse, for a window (or so many seconds) or until it ends."""
        self._pump(lambda: False, self.timing.window if seconds is None else seconds)

    def wait_for(self, wanted: Callable[[Event], bool], *, since: int = 0, until: float | None = None) -> Event | None:
        """Read until an event is wanted and return it; ``None`` when patience or the link ends first.

        ``until`` is when patience ends, in seconds of the link's clock: what was sent before this call has waited.
        """
        caught: list[Event] = []
        # Kept between calls: each event is looked at once, however often new ones come.
        place = since

        def found() -> bool:
            nonlocal place
            while place < self.place and not caught:
                event = self.conversation.events[place]
                place += 1
                if event.direction is Direction.RECEIVED and wanted(event):
                    caught.append(event)
            return bool(caught)

        self.wait_until(found, until)
        return caught[0] if caught else None

    def wait_for_final(self, interest: int | None, since: int, until: float | None = None) -> Event | None:
        """Read until the D_FINAL of an interest (or of any) has come and return it; otherwise as ``wait_for``."""
        place = self.place_of_final(interest, since, until)
        return None if place is None else self.conversation.events[place]

    def place_of_final(self, interest: int | None, since: int, until: float | None = None) -> int | None:
        """Read until the D_FINAL of an interest (or of any) has come; return where it stands in the conversation.

        An INTEREST that comes meanwhile is answered, as there being nothing: a client may hand a question on to its
        router, and has nothing to say before that has answered.
        """
        caught: list[int] = []

        def found() -> bool:
            self._look()
            finals = self._finals.get(interest, [])
            caught[:] = finals[bisect_left(finals, since) :][:1]
            # What stands behind the answer is no part of what is waited for.
            end = caught[0] if caught else self.place
            for question in self._questions[bisect_left(self._questions, since) :]:
                if question < end:
                    self._answer(question)
            return bool(caught)

        self.wait_until(found, until)
        return caught[0] if caught else None

    def _look(self) -> None:
        """Note the D_FINALs and the questions that have come since this was called last."""
        events = self.conversation.events
        for place in range(self._looked_at, len(events)):
            event = events[place]
            if event.direction is not Direction.RECEIVED:
                continue
            if isinstance(event.body, DeclareFinal):
                self._finals[None].append(place)
                if event.interest_id is not None:
                    self._finals.setdefault(event.interest_id, []).append(place)
            elif isinstance(event.message, Interest) and event.message.mode is not Mode.FUTURE:
                self._questions.append(place)
        self._looked_at = len(events)

    def _answer(self, question: int) -> None:
        # Once: whoever waits for two answers sees what came behind both questions twice.
        if question not in self._answered and not self.ended:
            self._answered.add(question)
            asked = self.conversation.events[question].message
            assert isinstance(asked, Interest)
            self.send(Declare(DeclareFinal(), asked.id))

    def wait_until(self, done: Callable[[], bool], until: float | None = None) -> bool:
        """Read until something holds; ``False`` when patience or the link ends first. ``until`` as in ``wait_for``."""
        began = self.now()
        if not done():
            self._pump(done, self.patience if until is None else until - self.now())
        held = done()
        if not (held or self.ended):
            self.timing.waited(self.now() - began)
        return held

    def end_of_patience(self, thing: str) -> float:
        """Return when something that is waited for from now on is taken not to come, in seconds of the link's clock."""
        return self.now() + self.timing.patience_for(thing)

    def was_awaited(self, thing: str, came: bool) -> None:
        """Take note of whether something has come; a session that has ended shows nothing of what does not."""
        if came or not self.ended:
            self.timing.awaited(thing, came)

    def received(self, since: int = 0, before: int | None = None) -> list[Event]:
        """Return the events that were received, from a place in the conversation on, up to another."""
        return [event for event in self.conversation.events[since:before] if event.direction is Direction.RECEIVED]

    @property
    def has_declared(self) -> bool:
        """Whether the tester has declared an entity on this session that it has not undeclared."""
        return any(direction is Direction.SENT for direction, _, _ in self.conversation.declared)

    @property
    def place(self) -> int:
        """Where the conversation stands; for ``since``."""
        return len(self.conversation.events)

    # --- what is settled --------------------------------------------------------------------------------------

    def barrier(self) -> None:
        """Make sure that everything sent so far was acted on: ask for a key without entities, wait for the D_FINAL."""
        began = self.now()
        self.await_barrier(self.send_barrier())
        self.timing.took(self.now() - began)

    def send_barrier(self) -> tuple[int, int]:
        """Ask for a key without entities; returns the interest, and the place from which its answer is looked for."""
        # A fresh id each time: the answer to an earlier barrier that came late is not taken for this one's.
        self._barriers += 1
        interest = self._barriers
        since = self.place
        key = WireExpr(f"{self.namespace}goldwire/barrier")
        options = Options.T | Options.R | Options.N | Options.M
        # It is answered behind everything else: a node acts on the messages of a session one after the other.
        self.send(Interest(interest, Mode.CURRENT, options, key))
        return interest, since

    def await_barrier(self, barrier: tuple[int, int]) -> None:
        """Wait for the D_FINAL of a barrier that was sent; raises ``NotAnswered``."""
        interest, since = barrier
        answer = self.wait_for_final(interest, since, self.end_of_patience(NOTHING))
        self.was_awaited(NOTHING, answer is not None)
        if answer is None:
            raise NotAnswered(f"a barrier on link {self.link.label} was not answered: {self.ended or 'silence'}")
        self.unsettled = False

    def await_stragglers(self) -> None:
        """Read until what is told unasked has come behind the answers: no document orders the two."""
        if self.timing.stragglers:
            self.read(self.timing.stragglers)

    def answers(self) -> bool:
        """Tell whether the other side answers a barrier on this session."""
        try:
            self.barrier()
        except NotAnswered:
            return False
        return True

    # --- keys ---------------------------------------------------------------------------------------------

    def inner(self, key: str | None) -> str | None:
        """Take a key out of the namespace; ``None`` when it is not in it."""
        return inner_key(self.namespace, key)

    # --- underneath ---------------------------------------------------------------------------------------

    def _flush(self) -> None:
        for batch in self.transport.drain(self.now()):
            self.exchange.send(batch)
            if self.exchange.ended:
                self.ended = self.ended or self.exchange.ended
                return

    def _pump(self, done: Callable[[], bool], seconds: float) -> None:
        # A session that was closed is over, although its link may still bring something.
        self.exchange.read_until(lambda: bool(self.ended) or done(), self.now() + seconds)
        self.ended = self.ended or self.exchange.ended

    def next_tick(self) -> float | None:
        """Return when the session's transport has something to do."""
        return self.transport.next_tick()

    def tick(self, now: float) -> None:
        """Let time pass: the session is kept alive, or its lease expires."""
        self._act(self.transport.tick(now))
        self._flush()

    def _on_batch(self, batch: DecodedBatch, refusal: RefusedBatch | None) -> None:
        """Let the session's transport act on a batch that came; the conversation knows it already."""
        self._act(self.transport.receive(batch, self.now()))
        if refusal is not None and self.transport.state is State.OPEN:
            # The batch was sound, or the transport had refused it: what its fragments complete is not.
            self._act([self.transport.refuse(f"fragments: {refusal.error}")])
        self._flush()

    def _act(self, events: Iterable[object]) -> None:
        for event in events:
            # Not when a lease expires: a node that is silent may still be there, and cases judge that.
            if isinstance(event, Ended) and event.how != "expired":
                self.ended = f"{event.how} {event.detail}".strip()
