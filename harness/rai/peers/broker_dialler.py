"""What has one link to a broker: it dials, again where the broker was away, and says to what it listens."""

from abc import abstractmethod
from collections.abc import Iterator

from harness.peers.peer import Dialler
from wire import envelope

AGAIN = 1.0
"""Seconds until a broker is dialled again."""


class BrokerDialler(Dialler):
    """Somebody at a broker; ``link`` is the one to it, ``None`` while there is none."""

    def __init__(self) -> None:
        self.link: int | None = None
        self._out: list[tuple[int, bytes | None]] = []
        self._events: list[str] = []
        self._dial_at: float | None = 0.0
        self._has_ended = False

    @abstractmethod
    def begin(self, now: float) -> None:
        """Begin anew: the broker is reached."""

    def disconnected(self, link: int, now: float) -> None:
        self.link = None
        # At once: the broker may have been started again already.
        self._dial_at = now

    def dials(self, now: float) -> list[int]:
        if self._dial_at is None or now < self._dial_at or self._has_ended:
            return []
        self._dial_at = None
        return [0]

    def refused(self, server: int, now: float) -> None:
        self._dial_at = now + AGAIN

    def reached(self, server: int, link: int, now: float) -> None:
        self.link = link
        self.begin(now)

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        self.reached(0, link, now)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        out, self._out = self._out, []
        return iter(out)

    def take_events(self) -> list[str]:
        events, self._events = self._events, []
        return events

    def listen(self, subject: str) -> None:
        """Have the broker deliver what is published under a subject or a wildcard."""
        if self.link is not None:
            self._out.append((self.link, envelope.listen(subject)))

    def cancel(self, subject: str) -> None:
        """End that."""
        if self.link is not None:
            self._out.append((self.link, envelope.cancel(subject)))
