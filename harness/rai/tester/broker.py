"""The tester at a broker: one link on which it hears everything, and the sessions that it plays there."""

from collections.abc import Callable
from typing import Protocol

from harness.errors import NotAnswered
from harness.exchange import Exchange
from harness.links.link import Link
from harness.rai.tester.conversation import Conversation, Decoded, decode
from harness.rai.tester.events import Event
from harness.timing import Timing
from harness.trace import Direction, Trace
from wire import envelope
from wire.rai.values import user_of

MICROSECONDS = 1_000_000

TURN = 0.02
"""Seconds to read at one broker before it is looked at another."""


class Guest(Protocol):
    """A session of the tester's, as its broker sees it."""

    beats_at: float | None

    def beat(self) -> object:
        """Say that it lives on."""
        ...

    def hear(self, event: Event) -> None:
        """Act on what is said at the broker."""
        ...


class TestBroker:
    """The tester's link to one broker; ``node`` is the user of the node under test."""

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(
        self, link: Link, trace: Trace, node: str, *, timing: Timing | None = None, epoch: float = 0.0
    ) -> None:
        self.link = link
        self.trace = trace
        self.node = node
        self.timing = timing or Timing()
        self.epoch = epoch
        self.sessions: list[Guest] = []
        self.beside: list[TestBroker] = []
        """The tester's links to other brokers of the node's: who waits here hears what is said there."""
        self.conversation = Conversation(link.label)
        self.exchange = Exchange(link, self.conversation, decode, self._heard, timer=self)
        # Everything: so it is known what the node says to whom, and that it says nothing more.
        self.send(envelope.listen(">"))

    def join(self, session: Guest) -> None:
        """Have a session hear what is said here."""
        self.sessions.append(session)

    # --- time ---------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time in seconds of the link's clock."""
        return self.link.clock.now()

    def utc(self) -> int:
        """Return the time as messages have it: microseconds of the protocol since 1970."""
        return round((self.epoch + self.now() * self.timing.tempo) * MICROSECONDS)

    def next_tick(self) -> float | None:
        """Return when a session of the tester's has to beat next."""
        return min((each.beats_at for each in self.sessions if each.beats_at is not None), default=None)

    def tick(self, now: float) -> None:
        """Have those sessions beat that have to."""
        for each in self.sessions:
            if each.beats_at is not None and now >= each.beats_at:
                each.beat()

    # --- speaking and hearing -----------------------------------------------------------------------------

    def send(self, frame: bytes) -> Event | None:
        """Send any frame; return its event, if it was a message."""
        return self.exchange.send(frame)

    def publish(self, subject: str, payload: bytes) -> Event | None:
        """Publish any bytes under a subject."""
        return self.send(envelope.data(subject, payload))

    def _heard(self, decoded: Decoded, event: Event | None) -> None:
        if event is not None:
            for each in list(self.sessions):
                each.hear(event)

    @property
    def place(self) -> int:
        """Where the conversation stands; for ``since``."""
        return len(self.conversation.events)

    def received(self, *forms: type, since: int = 0) -> list[Event]:
        """Return what the node has said since a place, of some kinds of body."""
        return [
            event
            for event in self.conversation.events[since:]
            if event.direction is Direction.RECEIVED and self.is_nodes(event) and (not forms or event.form in forms)
        ]

    def is_nodes(self, event: Event) -> bool:
        """Tell whether the node under test has said something, as far as it says who it is."""
        return user_of(event.message.session) == self.node

    @property
    def node_session(self) -> str:
        """The session of the node, the last that it has spoken in; raises ``NotAnswered`` where it has said nothing."""
        for event in reversed(self.conversation.events):
            if event.direction is Direction.RECEIVED and self.is_nodes(event):
                return event.message.session
        raise NotAnswered(f"{self.node} has not said anything")

    def read(self, seconds: float | None = None) -> None:
        """Read for a window, or for so many seconds of the clock; raises ``NotAnswered`` when the broker is gone."""
        self.read_until(lambda: False, self.now() + (self.timing.window if seconds is None else seconds))
        if self.exchange.ended:
            raise NotAnswered(f"the broker has ended link {self.link.label} ({self.exchange.ended})")

    def read_until(self, done: Callable[[], bool], deadline: float) -> None:
        """Read until something holds, the deadline has come or the broker is gone."""
        if not self.beside:
            self.exchange.read_until(done, deadline)
            return
        while not done() and not self.exchange.ended:
            now = self.now()
            self.exchange.read_until(done, min(deadline, now + TURN))
            for other in self.beside:
                other.exchange.read_until(lambda: False, self.now())
                if (due := other.next_tick()) is not None and self.now() >= due:
                    other.tick(self.now())
            if self.now() >= deadline:
                return

    def pause(self, seconds: float) -> None:
        """Read until so many seconds of the protocol have passed, for the node as well."""
        self.read(self.timing.quiet(seconds))

    def wait_for(
        self, wanted: Callable[[Event], bool], *, since: int = 0, seconds: float | None = None, thing: str = ""
    ) -> Event | None:
        """Read until the node says something that is wanted and return it; ``None`` when patience ends before.

        Patience is that of an answer, or so many ``seconds`` of the clock. ``thing`` names what is awaited, where it is
        to be known whether such a thing ever comes.
        """
        caught: list[Event] = []
        place = since

        def found() -> bool:
            nonlocal place
            while place < self.place and not caught:
                event = self.conversation.events[place]
                place += 1
                if event.direction is Direction.RECEIVED and self.is_nodes(event) and wanted(event):
                    caught.append(event)
            return bool(caught)

        began = self.now()
        patience = self.timing.patience if seconds is None else seconds
        if thing:
            patience = self.timing.patience_for(thing, patience)
        self.read_until(found, began + patience)
        if caught and seconds is None:
            self.timing.took(self.now() - began)
        elif not caught:
            self.timing.waited(self.now() - began)
        if thing:
            self.timing.awaited(thing, bool(caught), self.now() - began)
        return caught[0] if caught else None

    def close(self) -> None:
        """End the link."""
        self.exchange.close()
