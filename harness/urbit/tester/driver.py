"""The driver: the tester's end of a conversation, as a ship that sends packets, right or wrong, and reads answers.

Datagrams get lost. So what is asked is asked again until an answer comes, and whatever is said to be missing was asked
for several times.
"""

from collections.abc import Callable

import msgspec

from harness.errors import NotAnswered
from harness.exchange import Exchange
from harness.links.link import Link
from harness.timing import Timing
from harness.trace import Direction, Trace
from harness.urbit.ships import key_of
from harness.urbit.tester.conversation import Conversation, Decoded, decode
from harness.urbit.tester.events import Event
from wire.urbit.values import Body, Origin, Packet, Ship, write

TRIES = 5
"""How often something is asked within patience."""


class Driver:
    """One end of a conversation: ``me`` speaks, with ``other``, at an address; ``namespace`` begins all its paths."""

    def __init__(
        self, link: Link, trace: Trace, me: Ship, other: Ship, *, namespace: bytes = b"", timing: Timing | None = None
    ) -> None:
        self.link = link
        self.trace = trace
        self.me = me
        self.other = other
        self.namespace = namespace
        self.timing = timing or Timing()
        self.copies = 1
        """How often what nobody answers is sent: more than once where the path loses datagrams."""
        self.ticks = (1, 1)
        """The tester's tick, and the other ship's."""
        self.conversation = Conversation(link.label)
        self.exchange = Exchange(link, self.conversation, decode, self.on_received)

    # --- time ---------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time in seconds of the link's clock."""
        return self.link.clock.now()

    @property
    def patience(self) -> float:
        """Seconds of the clock after which an answer is taken not to come."""
        return self.timing.patience

    # --- sending ------------------------------------------------------------------------------------------

    def sign(self, data: bytes, ship: Ship | None = None) -> bytes:
        """Sign as the tester's ship, or as another."""
        return key_of(ship or self.me).sign(data)

    def packet(self, body: Body, *, origin: Origin | None = None) -> Packet:
        """Return a packet that may be sent."""
        mine, others = self.ticks
        return Packet(body, self.me, self.other, sender_tick=mine, receiver_tick=others, origin=origin)

    def send(self, body: Body) -> Packet:
        """Send a packet."""
        return self.send_packet(self.packet(body))

    def send_packet(self, packet: Packet) -> Packet:
        """Send a packet as it is."""
        self.send_bytes(write(packet))
        return packet

    def send_bytes(self, frame: bytes) -> None:
        """Send any bytes."""
        self.exchange.send(frame)

    def path(self, name: str) -> bytes:
        """Return a path of this play."""
        return self.namespace + name.encode()

    # --- reading ------------------------------------------------------------------------------------------

    def on_received(self, decoded: Decoded, event: Event | None) -> None:
        """Act on what has come; a tester that only looks does nothing."""

    @property
    def place(self) -> int:
        """Where the conversation stands; for ``since``."""
        return len(self.conversation.events)

    def received(self, *forms: type, since: int = 0) -> list[Event]:
        """Return the packets that came since a place, of some kinds of body."""
        return [
            event
            for event in self.conversation.events[since:]
            if event.direction is Direction.RECEIVED and (not forms or event.form in forms)
        ]

    def sent(self, *forms: type, since: int = 0) -> list[Event]:
        """Return the packets that were sent since a place, of some kinds of body."""
        return [
            event
            for event in self.conversation.events[since:]
            if event.direction is Direction.SENT and (not forms or event.form in forms)
        ]

    def read(self, seconds: float | None = None) -> None:
        """Read for a window, or for so many seconds of the clock; raises ``NotAnswered`` when nobody is there."""
        self.exchange.read_until(lambda: False, self.now() + (self.timing.window if seconds is None else seconds))
        self.require_somebody()

    def require_somebody(self) -> None:
        """Raise ``NotAnswered`` when the other side is gone: whoever waits for time to pass would wait for ever."""
        if self.exchange.ended:
            raise NotAnswered(f"nobody is there any more on link {self.link.label} ({self.exchange.ended})")

    def pause(self, seconds: float) -> None:
        """Read until so many seconds of the protocol have passed, for the other side as well."""
        self.read(self.timing.quiet(seconds))

    def wait_for(
        self, wanted: Callable[[Event], bool], *, since: int = 0, seconds: float | None = None
    ) -> Event | None:
        """Read until a packet is wanted and return it; ``None`` when patience ends, or so many seconds of the clock."""
        caught: list[Event] = []
        place = since

        def found() -> bool:
            nonlocal place
            while place < self.place and not caught:
                event = self.conversation.events[place]
                place += 1
                if event.direction is Direction.RECEIVED and wanted(event):
                    caught.append(event)
            return bool(caught)

        self.exchange.read_until(found, self.now() + (self.patience if seconds is None else seconds))
        return caught[0] if caught else None

    def ask(self, say: Callable[[], object], wanted: Callable[[Event], bool], *, thing: str = "") -> Event | None:
        """Say something until an answer is wanted and return that; ``None`` when it was said often, and in vain.

        ``thing`` names the answer where it is to be known whether such a one ever comes.
        """
        since = self.place
        patience = self.timing.patience_for(thing) if thing else self.patience
        began = self.now()
        # More often where packets get lost: a session's minute is not to go by in waiting for one.
        tries = TRIES * self.copies
        for _ in range(tries):
            said = self.now()
            say()
            answer = self.wait_for(wanted, since=since, seconds=patience / tries)
            if answer is not None:
                self.timing.took(self.now() - said)
                break
        else:
            self.timing.waited(self.now() - began)
        if thing:
            self.timing.awaited(thing, answer is not None)
        return answer

    def surely(self, answer: Event | None, what: str) -> Event:
        """Return an answer that a play rests on; raises ``NotAnswered`` where there is none."""
        if answer is None:
            raise NotAnswered(f"no {what} came on link {self.link.label}")
        return answer

    def close(self) -> None:
        """End the link."""
        self.exchange.close()


def changed(packet: Packet, **fields: object) -> Packet:
    """Return a packet in which something else stands."""
    return msgspec.structs.replace(packet, **fields)
