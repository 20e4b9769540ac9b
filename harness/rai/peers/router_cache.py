"""The reference router-cache: a subscriber on one broker, a publisher on another, and a cache between the two.

::

    source's broker ──► front (a subscriber) ──► cache ──► back (a publisher) ──► subscribers' broker

What is asked of the back and is not in the cache is asked of the source by the front; until that answers, it waits.
"""

from collections.abc import Iterator
from typing import Any

from harness.peers.peer import Dialler, PeerSettings
from harness.rai.peers.router_halves import Back, Front

SOURCE, SUBSCRIBERS = 0, 1
"""The brokers, as they are numbered."""


class RouterCache(Dialler):
    """A router-cache; ``command`` takes the verbs of docs/rai.md."""

    role = "router-cache"
    verbs = ("end",)
    front_half: type[Front] = Front
    back_half: type[Back] = Back

    def __init__(
        self,
        *,
        profile: str = "document",
        scenario: str = "",
        servers: int = 2,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        # Each half is a session of its own, and no two sessions are alike.
        self.front = self.front_half(profile=profile, seed=seed, **settings)
        self.back = self.back_half(profile=profile, seed=None if seed is None else ~seed, **settings)
        self.front.back, self.back.front = self.back, self.front
        self.front.partner, self.back.partner = self.back, self.front
        self._halves: tuple[Front, Back] = (self.front, self.back)
        self._of_link: dict[int, Front | Back] = {}

    @classmethod
    def of(cls, settings: PeerSettings) -> "RouterCache":
        return cls(profile=settings.profile, epoch=settings.epoch, seed=settings.seed)

    def dials(self, now: float) -> list[int]:
        return [server for server, half in enumerate(self._halves) if half.dials(now)]

    def refused(self, server: int, now: float) -> None:
        self._halves[server].refused(0, now)

    def reached(self, server: int, link: int, now: float) -> None:
        self._of_link[link] = self._halves[server]
        self._halves[server].reached(0, link, now)

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of nothing: it is told which broker it has reached."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        self._of_link[link].received(link, frame, now)

    def disconnected(self, link: int, now: float) -> None:
        self._of_link.pop(link).disconnected(link, now)

    def tick(self, now: float) -> None:
        for half in self._halves:
            half.tick(now)

    def next_tick(self) -> float | None:
        return min((at for half in self._halves if (at := half.next_tick()) is not None), default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        for half in self._halves:
            yield from half.drain(now)

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb != "end":
            return super().command(verb, arguments, now)
        for half in self._halves:
            half.end(now)
        return ""
