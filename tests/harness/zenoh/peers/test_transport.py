"""The session below the network messages: two machines that talk to each other, and to themselves in trouble."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.zenoh.batches import FragmentBuffer, read
from harness.zenoh.peers.transport import MASKS, Ended, Opened, SessionTransport, Settings, State
from wire.zenoh.values import InterestFinal, Push, WireExpr
from wire.zenoh.values_transport import Close, Fragment, Frame, Init, Sizes, WhatAmI, write_batch

CLIENT = Settings(b"client-zid", WhatAmI.CLIENT)
ROUTER = Settings(b"router-zid", WhatAmI.ROUTER)


def exchange(one: SessionTransport, two: SessionTransport, now: float = 0.0) -> dict[SessionTransport, list[object]]:
    """Carry batches to and fro until nobody has anything to say."""
    events: dict[SessionTransport, list[object]] = {one: [], two: []}
    fragments = {one: FragmentBuffer(), two: FragmentBuffer()}
    for _ in range(10):
        for sender, receiver in ((one, two), (two, one)):
            for batch in sender.drain(now):
                for event in receiver.receive(read(batch), now):
                    if isinstance(event, Fragment):
                        events[receiver] += fragments[receiver].take(event, marked=receiver.patch)
                    else:
                        events[receiver].append(event)
    return events


def pair(client: Settings = CLIENT, router: Settings = ROUTER) -> tuple[SessionTransport, SessionTransport]:
    """Return two transports with an open session between them."""
    one, two = SessionTransport(client, opener=True), SessionTransport(router, opener=False)
    one.start(0.0)
    events = exchange(one, two)
    assert events[one] == [Opened(b"router-zid", WhatAmI.ROUTER)]
    assert events[two] == [Opened(b"client-zid", WhatAmI.CLIENT)]
    return one, two


def test_messages_arrive_in_order() -> None:
    one, two = pair()
    sent = [InterestFinal(number) for number in range(100)]
    one.send(sent)
    assert exchange(one, two)[two] == sent


@settings(deadline=None, max_examples=30)
@given(
    payload=st.integers(0, 70_000),
    sizes=st.builds(Sizes, st.integers(0, 3), st.just(2), st.integers(17, 65535)),
    initial=st.integers(0, 2**32 - 1),
)
def test_what_does_not_fit_goes_in_fragments(payload: int, sizes: Sizes, initial: int) -> None:
    one, two = pair(Settings(b"client-zid", WhatAmI.CLIENT, initial_sn=initial & MASKS[sizes.frame_sn], sizes=sizes))
    if payload // (sizes.batch_size - 16) > MASKS[sizes.frame_sn] // 2:
        payload = 0  # more fragments than there are sequence numbers
    message = Push(WireExpr("a"), b"x" * payload)
    one.send([message, InterestFinal(1)])
    assert all(len(batch) <= sizes.batch_size for batch in one.outgoing)
    assert exchange(one, two)[two] == [message, InterestFinal(1)]


@pytest.mark.parametrize("size", [0, 1, 8, 15, 16])
def test_batches_in_which_nothing_fits_are_refused(size: int) -> None:
    """A regression: a router that was asked for batches of 16 bytes died of the first answer that it gave."""
    one = SessionTransport(Settings(b"client-zid", WhatAmI.CLIENT, sizes=Sizes(batch_size=size)), opener=True)
    two = SessionTransport(ROUTER, opener=False)
    one.start(0.0)
    events = exchange(one, two)
    assert events[two] == [Ended("malformed", "batches in which nothing fits")]
    assert events[one] == [Ended("close", "reason 2")]


@pytest.mark.parametrize("size", [0, 8, 16])
def test_who_is_told_of_batches_in_which_nothing_fits_says_what_it_has_to(size: int) -> None:
    one, two = pair()
    one.batch_size = size
    one.send([Push(WireExpr("a"), b"xyz"), InterestFinal(1)])
    assert exchange(one, two)[two] == [Push(WireExpr("a"), b"xyz"), InterestFinal(1)]


def test_batches_in_which_a_byte_fits_are_agreed_to() -> None:
    one, two = pair(Settings(b"client-zid", WhatAmI.CLIENT, sizes=Sizes(batch_size=17)))
    two.send([Push(WireExpr("a"), b"xyz"), InterestFinal(1)])
    assert all(len(batch) <= 17 for batch in two.outgoing)
    assert exchange(one, two)[one] == [Push(WireExpr("a"), b"xyz"), InterestFinal(1)]


def test_sequence_numbers_wrap_and_repetitions_are_dropped() -> None:
    one, two = pair(Settings(b"client-zid", WhatAmI.CLIENT, initial_sn=0x7E, sizes=Sizes(0, 2, 65535)))
    assert two.mask == 0x7F
    batches = []
    for number in range(4):
        one.send([InterestFinal(number)])
        batches += one.drain(0.0)
    assert [two.receive(read(batch), 0.0) for batch in batches] == [[InterestFinal(number)] for number in range(4)]
    assert two.receive(read(batches[1]), 0.0) == []


@pytest.mark.parametrize(
    "batch",
    [
        write_batch([Frame(0x1000_0000, ())]),
        bytes.fromhex("08"),
        bytes.fromhex("2500 1e08".replace(" ", "")),
        bytes.fromhex("1e"),
    ],
    ids=["sequence number beyond the mask", "unknown transport id", "unknown declaration", "no frame"],
)
def test_what_cannot_be_read_ends_the_session(batch: bytes) -> None:
    _, two = pair()
    (event,) = two.receive(read(batch), 0.0)
    assert isinstance(event, Ended)
    assert event.how == "malformed"
    assert two.state is State.CLOSED
    assert two.receive(read(batch), 0.0) == []


@pytest.mark.parametrize(
    "init",
    [
        Init(WhatAmI.CLIENT, b"\x00" * 16),
        Init(WhatAmI.CLIENT, b"client-zid", version=8),
        Init(3, b"client-zid"),
    ],
)
def test_a_stranger_is_refused(init: Init) -> None:
    two = SessionTransport(ROUTER, opener=False)
    (event,) = two.receive(read(write_batch([init])), 0.0)
    assert isinstance(event, Ended)


def test_a_session_is_kept_alive_and_expires() -> None:
    one, two = pair(Settings(b"client-zid", WhatAmI.CLIENT, lease=1000))
    assert two.next_tick() == pytest.approx(1.0)
    assert one.next_tick() == pytest.approx(0.25)
    assert one.tick(0.25) == []
    for batch in one.drain(0.25):
        assert two.receive(read(batch), 0.25) == []
    assert two.tick(1.2) == []
    assert [type(event) for event in two.tick(1.25)] == [Ended]
    assert two.next_tick() is None


def test_close_ends_both_sides() -> None:
    one, two = pair()
    one.close()
    (event,) = exchange(one, two)[two]
    assert event == Ended("close", "reason 0")
    assert write_batch([Close(0)]) == bytes.fromhex("2300")
