"""A delay line: what a peer puts out reaches the wire a fixed time later, as from a slow host or over a long link."""

from collections import deque
from collections.abc import Iterable, Iterator


class DelayLine:
    """Frames and ends of links, each held back for ``seconds`` of the peer's clock; their order stays."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: deque[tuple[float, int, bytes | None]] = deque()

    def delay(self, output: Iterable[tuple[int, bytes | None]], now: float) -> Iterator[tuple[int, bytes | None]]:
        """Take what a peer puts out now, and return what was put out long enough ago."""
        self._waiting.extend((now + self._seconds, link, frame) for link, frame in output)
        # Ends of links wait as frames do: an end that overtook a frame would lose it.
        while self._waiting and self._waiting[0][0] <= now:
            _, link, frame = self._waiting.popleft()
            yield link, frame

    def next_tick(self, at: float | None) -> float | None:
        """Return when the peer is to be asked for output next: for its own sake ``at``, or for a frame that waits."""
        times = [each for each in (at, self._waiting[0][0] if self._waiting else None) if each is not None]
        return min(times, default=None)
