"""What the driver cites: every event names the entry of its own frame, with the time at which that came in."""

import pytest

from harness.clock import RealClock
from harness.links.transports import dial, listen
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.driver import Driver, encode_message
from harness.trace import Direction, EntryKind, Trace


class LeapingClock(RealClock):
    """A clock that a test sets forward, so that nothing has to wait."""

    leapt = 0.0

    def now(self) -> float:
        return super().now() + self.leapt


CLOCK = LeapingClock()


def answer(ta: int) -> bytes:
    return encode_message({"ta-cmd": "ping", "ta-id": ta, "msg-type": "complete"})


@pytest.fixture
def connected():
    """A driver that has dialled, and the server's end of its connection."""
    trace, listener = Trace("pathfinder"), listen("tcp", FRAMINGS, CLOCK)
    driver = Driver(dial(listener.address, FRAMINGS, CLOCK, trace=trace), trace)
    server = listener.accept(CLOCK.now() + 5)
    yield driver, server
    driver.close()
    server.close()
    listener.close()


def test_two_answers_in_one_segment_have_an_entry_each(connected) -> None:
    """A regression: both were cited under the last entry, and at the time when they were looked at."""
    driver, server = connected
    pings = [driver.begin("ping"), driver.begin("ping")]
    framing = FRAMINGS["tcp"]
    server.send_raw(b"".join(framing.encode(answer(ping.ta)) for ping in pings))
    assert driver.finish(pings[0]).completed
    CLOCK.leapt += 3600  # the time of looking is another than that of coming
    assert driver.finish(pings[1]).completed
    answers = driver.received()
    assert [event.entry for event in answers] == sorted({event.entry for event in answers})
    for event in driver.conversation.events:
        entry = driver.trace.entries[event.entry]
        assert (entry.data, entry.direction, entry.time) == (event.frame, event.direction, event.time)
    assert answers[1].time - answers[0].time < 1800, "they came together"


def test_each_frame_is_recorded_once(connected) -> None:
    driver, server = connected
    ping = driver.begin("ping")
    server.send(answer(ping.ta))
    driver.finish(ping)
    frames = [entry for entry in driver.trace if entry.what is EntryKind.FRAME]
    assert [entry.direction for entry in frames] == [Direction.SENT, Direction.RECEIVED]
    assert [event.entry for event in driver.conversation.events] == [frame.index for frame in frames]


def test_a_refusal_is_kept_without_its_traceback(connected) -> None:
    """A regression: a session kept, with each refused frame, all that was in hand when it was refused."""
    driver, server = connected
    server.send(b"[" * 100 + b"]" * 100)
    assert driver.wait_until(driver.received)
    (error,) = [event.error for event in driver.received()]
    assert "too-long" in str(error)
    assert (error.__traceback__, error.__cause__, error.__context__) == (None, None, None)


def test_what_could_not_be_sent_is_cited_nowhere(connected) -> None:
    """The connection has ended: the transaction is over, and no event claims an entry that there is not."""
    driver, _ = connected
    driver.close()
    before = len(driver.trace)
    ping = driver.begin("ping")
    assert ping.is_closed
    assert len(driver.trace) == before
    assert all(driver.trace.entries[event.entry].data == event.frame for event in driver.conversation.events)
