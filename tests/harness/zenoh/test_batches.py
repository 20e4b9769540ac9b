"""Batches are read once, and fragments are put together in one place."""

import pytest

from harness.zenoh.batches import DecodedBatch, FragmentBuffer, read
from wire.errors import DecodeError
from wire.zenoh.grammar_extensions import DROP, FIRST
from wire.zenoh.values import Extension, InterestFinal
from wire.zenoh.values_transport import Fragment, Frame, write_batch, write_network

DATA = write_network(InterestFinal(1)) + write_network(InterestFinal(2))
WHOLE = (InterestFinal(1), InterestFinal(2))


def part(data: bytes, *, more: bool = True, reliable: bool = True, mark: int | None = None) -> Fragment:
    return Fragment(0, data, more, reliable, () if mark is None else (Extension(mark),))


def test_a_batch_is_its_messages_or_says_why_not() -> None:
    frame = Frame(7, WHOLE)
    assert read(write_batch([frame])) == DecodedBatch((frame,))
    refused = read(write_batch([frame]) + b"\xff")
    assert (refused.messages, refused.beginning) == ((), WHOLE)
    assert isinstance(refused.error, DecodeError)
    assert refused.error.__traceback__ is None, "who keeps it keeps no frames of Python alive"


def test_each_lane_has_a_chain_of_its_own() -> None:
    fragments = FragmentBuffer()
    assert fragments.take(part(DATA[:1])) == ()
    assert fragments.take(part(DATA[:2], reliable=False)) == ()
    assert fragments.take(part(DATA[1:], more=False)) == WHOLE
    assert fragments.take(part(DATA[2:], more=False, reliable=False)) == WHOLE


def test_a_marked_chain_begins_with_first_and_a_dropped_one_is_passed_over() -> None:
    fragments = FragmentBuffer()
    assert fragments.take(part(DATA[1:], more=False), marked=True) == (), "its beginning was lost"
    assert fragments.take(part(b"old", mark=FIRST.id), marked=True) == ()
    assert fragments.take(part(DATA[:1], mark=FIRST.id), marked=True) == (), "a new beginning forgets the old one"
    assert fragments.take(part(DATA[1:], more=False), marked=True) == WHOLE
    assert fragments.take(part(DATA[:1], mark=FIRST.id), marked=True) == ()
    assert fragments.take(part(b"", mark=DROP.id), marked=True) == ()
    assert fragments.take(part(DATA[1:], more=False), marked=True) == ()


def test_what_fragments_complete_may_be_no_message() -> None:
    fragments = FragmentBuffer()
    with pytest.raises(DecodeError):
        fragments.take(part(b"\xff", more=False))
    assert fragments.take(part(DATA, more=False)) == WHOLE, "the next chain is not harmed"
