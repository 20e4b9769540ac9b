"""Links to real brokers: what is published, who gets it, and how they end."""

import pytest
from brokers import BROKERS, CLOCK, broker

from harness.errors import Deadline, LinkClosed
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.trace import Direction, EntryKind, Trace
from wire.envelope import LARGEST, cancel, data, listen


def soon():
    return CLOCK.now() + 20.0


@pytest.fixture(scope="module", params=BROKERS)
def running(request):
    with broker(request.param, BROKER_FRAMINGS) as listener:
        yield listener


@pytest.fixture
def trace():
    return Trace("test", clock=CLOCK)


@pytest.fixture
def pair(running, trace):
    """Two clients of one broker."""
    links = [running.accept(soon(), label, trace) for label in "ab"]
    yield links
    for link in links:
        link.close()


def heard(link, count):
    return [link.receive(soon()).data for _ in range(count)]


def test_what_one_publishes_the_other_hears_in_order(pair, trace):
    one, two = pair
    two.send(listen("A.>"))
    sent = [data("A.B.C" if number % 3 else "A.D", b"%d" % number) for number in range(500)]
    for frame in sent:
        one.send(frame)
    assert heard(two, len(sent)) == sent
    received = [each.data for each in trace.of("b") if each.what is EntryKind.FRAME][1:]
    assert received == sent
    assert trace.entries[0].what is EntryKind.OPENED
    assert {each.direction for each in trace.of("a")} == {Direction.SENT}


def test_an_order_holds_across_subscriptions(pair):
    one, two = pair
    for subject in ("A.*", "B.>", "C"):
        two.send(listen(subject))
    sent = [data(("A.x", "B.y.z", "C")[number * 7 % 3], b"%d" % number) for number in range(300)]
    for frame in sent:
        one.send(frame)
    assert heard(two, len(sent)) == sent


def test_nobody_hears_himself(pair):
    one, two = pair
    for link in pair:
        link.send(listen(">"))
    same = data("A.B", b"equal bytes")
    for _ in range(20):
        one.send(same)
        two.send(same)
    one.send(data("end", b""))
    two.send(data("end", b""))
    for link in pair:
        assert heard(link, 21) == [same] * 20 + [data("end", b"")]
        with pytest.raises(Deadline):
            link.receive(CLOCK.now() + 0.05)


def test_what_matches_twice_is_heard_once_unless_all_is_wanted(pair):
    one, two = pair
    for subject in ("A.>", "A.*", "A.B"):
        two.send(listen(subject))
    one.send(data("A.B", b"1"))
    one.send(data("A.C", b"2"))
    one.send(data("A.B.C", b"3"))
    one.send(data("A.B", b"4"))
    frames = [data("A.B", b"1"), data("A.C", b"2"), data("A.B.C", b"3"), data("A.B", b"4")]
    assert heard(two, 4) == frames
    two.send(cancel("A.>"))
    one.send(data("A.B.C", b"5"))
    one.send(data("A.B", b"6"))
    assert heard(two, 1) == [data("A.B", b"6")]
    two.raw = True
    one.send(data("A.B", b"7"))
    assert heard(two, 2) == [data("A.B", b"7")] * 2


@pytest.mark.parametrize("payload", [b"", b"\0", bytes(range(256)), "žluť".encode(), b"\r\n+OK\r\n", b"\xff\xfe"])
def test_any_payload_arrives(pair, payload):
    one, two = pair
    two.send(listen(">"))
    one.send(data("A", payload))
    assert heard(two, 1) == [data("A", payload)]


def test_the_largest_payload_arrives_and_one_more_byte_is_refused(pair):
    one, two = pair
    two.send(listen(">"))
    largest = data("A", b"x" * LARGEST)
    one.send(largest)
    assert heard(two, 1) == [largest]
    with pytest.raises(ValueError, match="does not fit"):
        one.send(data("A", b"x" * (LARGEST + 1)))
    one.send(data("A", b"still here"))
    assert heard(two, 1) == [data("A", b"still here")]


def test_a_link_that_was_closed_says_so_and_all_was_published(pair):
    one, two = pair
    two.send(listen(">"))
    one.send(listen("A.>"))
    two.send(data("A.B", b"unread"))
    for number in range(100):
        one.send(data("A.C", b"%d" % number))
    one.close()
    one.close()
    assert heard(two, 100) == [data("A.C", b"%d" % number) for number in range(100)]
    with pytest.raises(LinkClosed) as end:
        one.send(data("A", b""))
    assert end.value.how == "closed"
