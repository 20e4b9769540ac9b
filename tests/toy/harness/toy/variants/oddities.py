"""The oddities of the reference server: unusual ways to keep a rule, which no case may take for a breach."""

from collections.abc import Iterator

from harness.toy.peers.server import Server
from harness.toy.variants.registry import oddity

LATER = 0.05
"""Seconds that an answer may wait: long enough for further requests to come, short against anybody's patience."""


@oddity("TOY-005", does="answers a moment later, and the last request first")
class LastFirst(Server):
    due: float | None = None

    # The clock belongs to the runner, which comes back at next_tick: a peer never waits by itself.
    def received(self, link: int, frame: bytes, now: float) -> None:
        super().received(link, frame, now)
        self.due = self.due or now + LATER

    def next_tick(self) -> float | None:
        return self.due

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        if self.due is not None and now >= self.due:
            self.due = None
            self.outbox.reverse()
            yield from super().drain(now)
