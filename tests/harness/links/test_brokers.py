"""Links to real brokers: what is published, who gets it, and how they end."""

from contextlib import contextmanager

import pytest
from brokers import BROKERS, CLOCK, broker

from harness.errors import (
    Deadline,
    LinkClosed,
    LinkError,
    Unreachable,
    Unsupported,
)
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.transports import dial, reach
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


@contextmanager
def links_of(listener, count):
    links = [listener.accept(soon()) for _ in range(count)]
    try:
        yield links
    finally:
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


ODD = ["A", "A+/=_-.B", "ž.日本.😀", "A.\x01\x7f", "A.b*.c>d", "a" * 1000]


@pytest.mark.parametrize("subject", ODD)
def test_subjects_with_odd_characters_arrive(pair, subject):
    one, two = pair
    two.send(listen(subject))
    two.send(listen(">"))
    one.send(data(subject, b"x"))
    one.send(data("end", b""))
    assert heard(two, 2) == [data(subject, b"x"), data("end", b"")]


@pytest.mark.parametrize("running", ["nats"], indirect=True)
@pytest.mark.parametrize("subject", ["", "A B", "A\tB", "A\r\nPUB B 0"])
def test_subjects_that_nats_cannot_spell_are_refused(pair, subject):
    for frame in (data(subject, b""), listen(subject)):
        with pytest.raises(ValueError, match="no subject for NATS"):
            pair[0].send(frame)
    pair[1].send(listen(">"))
    pair[0].send(data("A", b"still here"))
    assert heard(pair[1], 1) == [data("A", b"still here")]


@pytest.mark.parametrize("running", ["redis", "websocket"], indirect=True)
@pytest.mark.parametrize("subject", ["A B", "A\tB", "A\r\nPUB B 0", "A\0", "A..B", "[A].?.\\"])
def test_subjects_are_any_text_for_redis(pair, subject):
    test_subjects_with_odd_characters_arrive(pair, subject)


@pytest.mark.parametrize("running", ["nats"], indirect=True)
def test_what_a_broker_refuses_to_listen_to_is_told(pair):
    with pytest.raises(LinkError, match="Invalid Subject"):
        pair[0].send(listen("A..B"))
    pair[0].send(listen("A.B"))
    pair[1].send(data("A.B", b"still here"))
    assert heard(pair[0], 1) == [data("A.B", b"still here")]


def test_a_wildcard_stands_for_whole_segments(pair):
    one, two = pair
    for wildcard in ("A.*.C", "B.>"):
        two.send(listen(wildcard))
    for subject in ("A.C", "A.B.C", "A.B.B.C", "A.B.C.D", "B", "B.A", "B.A.A", "BB.A", "A.x.C"):
        one.send(data(subject, b""))
    assert heard(two, 4) == [data(each, b"") for each in ("A.B.C", "B.A", "B.A.A", "A.x.C")]


def test_what_is_cancelled_is_heard_no_more_and_cancelling_again_does_nothing(pair):
    one, two = pair
    for subject in ("A.>", "A.*", "A.*", "B"):
        two.send(listen(subject))
    for subject in ("A.*", "B", "B", "C"):
        two.send(cancel(subject))
    for subject in ("A.1", "A.1.2", "B", "A.2"):
        one.send(data(subject, b""))
    assert heard(two, 3) == [data("A.1", b""), data("A.1.2", b""), data("A.2", b"")]
    two.send(listen("B"))
    one.send(data("B", b"again"))
    assert heard(two, 1) == [data("B", b"again")]


def test_what_is_no_envelope_is_refused(pair):
    for frame in (b"", b"X\0\0", b"D\0\5A", b"D\0\1\xff"):
        with pytest.raises(ValueError, match="no envelope"):
            pair[0].send(frame)


def test_a_broker_that_is_killed_ends_links_and_comes_back_at_the_same_address(running, trace):
    one, two = (running.accept(soon(), label, trace) for label in "ab")
    two.send(listen(">"))
    one.send(data("A", b"last words"))
    assert heard(two, 1) == [data("A", b"last words")]
    running.shut()
    for link in (one, two):
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how in ("fin", "reset")
    assert {each.note for each in trace if each.what is EntryKind.CLOSED} <= {"fin", "reset"}
    with pytest.raises(LinkClosed):
        one.send(listen("A"))
    with pytest.raises(Deadline, match="no broker"):
        running.accept(CLOCK.now() + 0.05)
    with pytest.raises(Unreachable):
        dial(running.address, BROKER_FRAMINGS, CLOCK)
    running.shut()
    running.open()
    running.open()
    with links_of(running, 2) as (three, four):
        four.send(listen(">"))
        three.send(data("A", b"again"))
        assert heard(four, 1) == [data("A", b"again")]
    one.close()
    two.close()


def test_a_broker_that_runs_already_is_dialled_and_not_ended(running):
    reached = reach(running.address, CLOCK)
    with links_of(reached, 2) as (one, two):
        one.send(listen("A"))
        two.send(data("A", b"x"))
        assert heard(one, 1) == [data("A", b"x")]
    with pytest.raises(Unsupported, match="not ours to end"):
        reached.shut()
    reached.forget()
    reached.close()
    with links_of(reached, 1):
        pass


def test_an_abort_ends_a_link_with_a_reset(pair):
    assert pair[0].can_reset
    pair[0].abort()
    with pytest.raises(LinkClosed) as end:
        pair[0].receive(soon())
    assert end.value.how == "closed"
