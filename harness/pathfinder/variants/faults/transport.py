"""Faults against Pathfinder, "Transport Protocol" and "Message Size Limitations"."""

from collections import deque
from typing import Any

from harness.pathfinder.peers.answering import RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message

# Between two sizes of the case: 8 KiB is taken, 64 KiB is not.
LARGE = 50_000
"""Bytes."""


@fault("PF-061", does="puts all that it lists of subscriptions into one frame")
class OneFrameForAll(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        super().enumerate(session, request, found)
        if request["ta-cmd"] == "subscriptions":
            count = 0
            # Its own frames are the last that were put out.
            while count < len(self.outbox) and self.outbox[-1 - count][0] == session.link:
                count += 1
            frames = [frame for _, frame in self.outbox[-count:] if frame is not None]
            self.outbox[-count:] = [(session.link, b"\n".join(frames))]


@fault("PF-064", does="says nothing to a large message")
class DeafToLarge(Server):
    def take(self, session: Session, frame: bytes) -> None:
        if len(frame) < LARGE:
            super().take(session, frame)


@fault("PF-064", does="ends all connections at a large message")
class DyingOfLarge(Server):
    def take(self, session: Session, frame: bytes) -> None:
        super().take(session, frame)
        if len(frame) >= LARGE:
            for each in list(self.sessions.values()):
                self.close(each)


class Reordering(Server):
    """Carries some commands out when it has nothing else to do."""

    late: tuple[str, ...] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.waiting: deque[tuple[Session, Message]] = deque()

    def execute(self, session: Session, request: Message) -> None:
        if request["ta-cmd"] in self.late:
            self.waiting.append((session, request))
        else:
            super().execute(session, request)

    def tick(self, now: float) -> None:
        super().tick(now)
        while self.waiting:
            session, request = self.waiting.popleft()
            if session.link in self.sessions:
                self.carry_out(session, request)
        self.settle()

    def carry_out(self, session: Session, request: Message) -> None:
        """Carry out, or refuse, what has waited."""
        try:
            self.commands[request["ta-cmd"]](session, request)
        except RequestRefused as refused:
            self.fail(session, request, refused.reason)

    def next_tick(self) -> float | None:
        # At once, but behind what is there to be taken: the clock need not move.
        return self.now if self.waiting else super().next_tick()


@fault("PF-210", does="takes services back only when it has nothing else to do")
class UnpublishingLate(Reordering):
    late = ("unpublish",)


@fault("PF-210", does="lists services only when it has nothing else to do")
class ListingLate(Reordering):
    late = ("services",)


@fault("PF-215", does="loses everybody's subscriptions when a connection without hello ends")
class SharingLosses(Server):
    def leave(self, session: Session) -> None:
        super().leave(session)
        if session.client_id is None:
            for subscription in list(self.subscriptions.values()):
                self.forget(subscription)
                self.end(subscription)


@fault("PF-215", does="listens to nobody while fifty connections have not said hello")
class Crowded(Server):
    def take(self, session: Session, frame: bytes) -> None:
        # Fewer than the case connects, which is a hundred.
        if len(self.awaiting_hello) < 50:
            super().take(session, frame)
