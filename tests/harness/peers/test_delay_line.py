from harness.peers.delay_line import DelayLine


def test_frames_come_later_and_in_their_order() -> None:
    line = DelayLine(0.5)
    assert list(line.delay([(1, b"a"), (2, b"b")], 1.0)) == []
    assert list(line.delay([(1, None)], 1.2)) == []
    assert line.next_tick(None) == 1.5
    assert list(line.delay([], 1.5)) == [(1, b"a"), (2, b"b")]
    assert list(line.delay([], 2.0)) == [(1, None)]


def test_the_next_tick_is_whichever_comes_first() -> None:
    line = DelayLine(0.5)
    assert line.next_tick(None) is None
    assert line.next_tick(3.0) == 3.0
    list(line.delay([(1, b"a")], 1.0))
    assert line.next_tick(3.0) == 1.5
    assert line.next_tick(1.1) == 1.1
