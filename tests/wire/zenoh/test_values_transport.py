"""Batches as values: what is remembered, or read by a faster way, is what the engines say."""

import pytest

from wire.engines import live
from wire.errors import DecodeError, EncodeError
from wire.reference import decode
from wire.zenoh.grammar_transport import BATCH_SIZE, network_messages
from wire.zenoh.values import Extension, Interest, InterestFinal, Mode, NetworkMessage, Options, WireExpr, from_wire
from wire.zenoh.values_transport import (
    BATCH,
    MOST_IN_A_FRAGMENT,
    PATCH_1,
    Close,
    Fragment,
    KeepAlive,
    TransportMessage,
    read_batch,
    read_network,
    write_batch,
    write_network,
)

ASK = Interest(1, Mode.CURRENT, Options.S | Options.R | Options.N | Options.M, WireExpr("a/b"))
LONG = Interest(2, Mode.CURRENT, Options.S | Options.R | Options.N | Options.M, WireExpr("a" * 4000))

ROWS: list[tuple[NetworkMessage, ...]] = [(), (ASK,), (ASK, InterestFinal(1)), (LONG,) * 20]  # more than a batch holds


@pytest.mark.parametrize("messages", ROWS, ids=len)
def test_network_messages_in_a_row(messages: tuple[NetworkMessage, ...]) -> None:
    data = b"".join(map(write_network, messages))
    assert read_network(data) == messages


@pytest.mark.parametrize(
    "data",
    [
        write_network(ASK)[:-1],
        write_network(ASK) + b"\xff",
        # What may follow a FRAME in a batch is no message of the network.
        write_network(ASK) + write_batch([KeepAlive()]),
        write_batch([Close(0)]),
        write_network(ASK) + write_batch([Fragment(1, b"x", more=False)]),
    ],
    ids=bytes.hex,
)
def test_what_is_no_row_of_network_messages_is_refused_as_the_grammar_says(data: bytes) -> None:
    with pytest.raises(DecodeError) as expected:
        tuple(from_wire(value) for value in decode(network_messages, data))
    with pytest.raises(DecodeError) as refused:
        read_network(data)
    assert str(refused.value) == str(expected.value)


@pytest.mark.parametrize("extensions", [(), (PATCH_1,), (Extension(2), Extension(3, b"ab"))], ids=len)
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("reliable", [False, True])
def test_fragments(extensions: tuple[Extension, ...], more: bool, reliable: bool) -> None:
    for size in (0, 1, MOST_IN_A_FRAGMENT, MOST_IN_A_FRAGMENT + 1):
        fragment = Fragment(300, bytes(size), more, reliable, extensions)
        batch = write_batch([fragment])
        assert read_batch(batch) == (fragment,)
        # The engine makes the same of what was read.
        assert live(BATCH).encode(BATCH, live(BATCH).decode(BATCH, batch)) == batch


def test_a_fragment_that_is_too_large_for_a_batch_is_refused() -> None:
    with pytest.raises(EncodeError):
        write_batch([Fragment(1, bytes(BATCH_SIZE), more=False)])


def test_what_was_written_before_is_written_alike_and_is_not_mistaken_for_another() -> None:
    messages: list[TransportMessage] = [Close(0), Close(0, session=False), Close(1), KeepAlive(), KeepAlive((PATCH_1,))]
    once = [write_batch([message]) for message in messages]
    assert [write_batch([message]) for message in messages] == once
    assert [read_batch(each) for each in once] == [(message,) for message in messages]
    assert write_batch(messages) == b"".join(once)
