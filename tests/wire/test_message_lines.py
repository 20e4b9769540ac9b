"""Frames messages in one line per message."""

import pytest

from vectors.golden.loader import load as load_vectors
from wire.catalogue import grammars
from wire.message_lines import message_lines


def test_messages_of_a_batch_stand_for_themselves() -> None:
    messages = message_lines("zenoh/batch", bytes.fromhex("2500 3e011a 39077800036c2f61"))
    assert [each.text for each in messages] == [
        "DECLARE I=1 interest_id=1, D_FINAL",
        'INTEREST Current id=7 options=M+N+R+T key_scope=0 key_suffix="l/a"',
    ]
    assert [(each.start, each.end) for each in messages] == [(2, 5), (5, 13)]
    assert [each.place_of("interest_id") for each in messages] == [(3, 4), None]
    assert messages[1].place_of("id") == (6, 7)


def test_what_is_refused_is_told_as_far_as_it_is_understood() -> None:
    *before, last = message_lines("zenoh/batch", bytes.fromhex("25003e01"))
    assert [each.text for each in before] == ["DECLARE I=1 interest_id=1"]
    assert last.text == "refused: truncated at byte 4, [0].FRAME.messages[0].DECLARE.declaration"
    assert last.refused_at == 4


def test_extensions_are_one_place() -> None:
    (messages,) = message_lines("zenoh/batch", bytes.fromhex("25001e84010500210503"))[:1]
    assert messages.place_of("header") == (2, 3)
    (undeclared,) = message_lines("zenoh/network-message", bytes.fromhex("1e83055f020205"))
    assert undeclared.place_of("extensions") == (3, 7)


def test_a_frame_that_is_one_packet_is_told_by_its_header() -> None:
    """A regression: the first letter of each field was missing."""
    frame = bytes.fromhex("0cb0b9bf 11 4400 a600 efcdab8967452301 0100000000000000")
    (message,) = message_lines("urbit/packet", frame)
    assert message.name == "heartbeat request"
    assert message.text.startswith("heartbeat request type=4 ")
    assert message.text.endswith(" sender=68 receiver=166 session=81985529216486895 number=1")
    assert message.place_of("number") == (17, 25)


def test_a_text_is_told_by_its_name() -> None:
    data = b'{"ta-cmd":"ping","ta-id":7,"msg-type":"request"}'
    (messages,) = message_lines("pathfinder/message", data)
    assert (messages.text, messages.start, messages.end) == ("ping request", 0, len(data))
    odd = data[:-1] + b',"detail":"x"}'
    (messages,) = message_lines("pathfinder/message", odd)
    assert messages.text.startswith("refused: unknown-field")
    place = messages.place_of("detail")
    assert place is not None
    assert odd[slice(*place)] == b'"detail":"x"'


def test_a_message_that_is_alone_in_its_layout_is_called_as_that() -> None:
    data = b'{"session":"sam.NONCE","seqno":1,"digest":"","auth_time":1,"time":2,"cnonce":"a"}'
    assert [message.text for message in message_lines("rai/auth", data)] == ["auth"]
    assert next(message.text for message in message_lines("rai/sub-stop", data)).startswith("refused: unknown-field")


@pytest.mark.parametrize("layout", sorted(grammars()))
def test_every_vector_is_told(layout: str) -> None:
    for vector in load_vectors(layout)[::7]:
        messages = message_lines(layout, vector.data)
        assert messages or not vector.data
        assert all(each.text for each in messages), vector.id
