"""One exchange under every driver: frames are read once, in order, up to a deadline; how a link ended is kept."""

import pytest

from harness.clock import VirtualClock
from harness.errors import Deadline, LinkClosed
from harness.exchange import Exchange
from harness.links.link import RecordedLink
from harness.trace import Direction, Entry, EntryKind, Trace


class ScriptedLink(RecordedLink):
    """A link on which frames come at given times, and which then ends or falls silent."""

    def __init__(self, trace: Trace, coming: list[tuple[float, bytes]], ends: str = "") -> None:
        super().__init__("a", trace.clock, trace, "script", (0, 0))
        self.coming = coming
        self.ends = ends
        self.takes = True

    def send(self, frame: bytes) -> Entry:
        if not self.takes:
            raise Deadline("nothing is taken")
        self._refuse_when_ended()
        return self._record(EntryKind.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> Entry:
        self._refuse_when_ended()
        return self._record(EntryKind.RAW, Direction.SENT, data)

    def receive(self, deadline: float) -> Entry:
        clock = self.clock
        assert isinstance(clock, VirtualClock)
        if self.coming and self.coming[0][0] <= deadline:
            at, frame = self.coming.pop(0)
            clock.time = max(clock.time, at)
            self._arrived(frame)
            return self._frames.popleft()
        if not self.coming and self.ends:
            self._end(self.ends)
            self._refuse_when_ended()
        clock.time = max(clock.time, deadline)
        raise Deadline("nothing arrived")

    def close(self) -> None:
        self._end("closed")

    def _refuse_when_ended(self) -> None:
        if self._how is not None:
            raise LinkClosed(self._how)


class Words:
    """A conversation of words."""

    def __init__(self) -> None:
        self.said: list[tuple[float, Direction, str, int]] = []
        self.ended: list[tuple[Direction, str]] = []

    def feed(self, entry: Entry, message: str) -> int:
        self.said.append((entry.time, entry.direction, message, entry.index))
        return len(self.said)

    def end(self, by: Direction, how: str) -> None:
        self.ended.append((by, how))


class Reads:
    """Reads frames, and counts that."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def __call__(self, frame: bytes) -> str:
        self.frames.append(frame)
        return frame.decode()


def made(coming: list[tuple[float, bytes]], ends: str = "", **more) -> tuple[Exchange[str, int], Words, Reads]:
    trace, words, reads = Trace("test", clock=VirtualClock()), Words(), Reads()
    return Exchange(ScriptedLink(trace, coming, ends), words, reads, **more), words, reads


def test_each_frame_is_read_once_and_told_with_its_entry() -> None:
    told: list[tuple[str, int]] = []
    exchange, words, reads = made(
        [(1.0, b"one"), (1.0, b"two")], on_received=lambda message, said: told.append((message, said))
    )
    assert exchange.send(b"hello") == 1
    exchange.read_until(lambda: len(told) == 2, 5.0)
    assert reads.frames == [b"hello", b"one", b"two"]
    assert told == [("one", 2), ("two", 3)]
    assert words.said == [
        (0.0, Direction.SENT, "hello", 1),
        (1.0, Direction.RECEIVED, "one", 2),
        (1.0, Direction.RECEIVED, "two", 3),
    ]


def test_it_reads_up_to_the_deadline_and_no_further() -> None:
    exchange, words, _ = made([(1.0, b"one"), (9.0, b"late")])
    exchange.read_until(lambda: False, 5.0)
    assert exchange.now() == 5.0
    assert [each[2] for each in words.said] == ["one"]
    assert not exchange.ended


def test_what_came_before_the_end_is_read_before_the_end_is_noted() -> None:
    exchange, words, _ = made([(1.0, b"last words")], ends="reset")
    exchange.read_until(lambda: False, 5.0)
    assert [each[2] for each in words.said] == ["last words"]
    assert (exchange.ended, exchange.ended_at) == ("reset", 1.0)
    assert exchange.send(b"anybody?") is None
    exchange.close()
    assert exchange.ended == "reset", "how it ended first is how it ended"
    assert {how for _, how in words.ended} == {"reset"}


def test_a_timer_has_its_turn_between_frames() -> None:
    class Lease:
        def __init__(self) -> None:
            self.ticks: list[float] = []

        def next_tick(self) -> float:
            return len(self.ticks) + 1.0

        def tick(self, now: float) -> None:
            self.ticks.append(now)

    lease = Lease()
    exchange, words, _ = made([(2.5, b"one")], timer=lease)
    exchange.read_until(lambda: False, 3.5)
    assert lease.ticks == [1.0, 2.0, 3.0]
    assert [each[0] for each in words.said] == [2.5]


def test_who_takes_nothing_is_told_apart_from_who_has_gone() -> None:
    exchange, words, _ = made([])
    assert isinstance(exchange.link, ScriptedLink)
    exchange.link.takes = False
    with pytest.raises(Deadline):
        exchange.send(b"x")
    assert (exchange.ended, words.said) == ("", [])


def test_a_frame_in_pieces_is_cited_where_its_last_one_is() -> None:
    exchange, words, reads = made([])
    last = [exchange.send_raw(piece) for piece in (b"wo", b"rd")][-1]
    assert last is not None
    exchange.record_sent(b"word", last)
    assert words.said == [(0.0, Direction.SENT, "word", last.index)]
    assert reads.frames == [b"word"]
