"""The bytes in docs/urbit.md are those that the code makes: who has no other implementation begins with them."""

import re
from pathlib import Path

import pytest

from wire.urbit.checksums import mug
from wire.urbit.signatures import SigningKey, cancellation_input, promise_input, request_input, response_input
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Packet, Ship, write

PAGE = (Path(__file__).parents[3] / "docs" / "urbit.md").read_text(encoding="utf-8")
SUBSCRIBER, PUBLISHER = Ship.of(68), Ship.of(166)
SESSION, PATH = 0x0123_4567_89AB_CDEF, b"/~pub/chat/34"


def of_row(name: str) -> bytes:
    """Return the bytes in the last cell of a row by its first."""
    rows = re.findall(rf"^\| {re.escape(name)} \|(?:.*\|)? `([0-9a-f ]+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 1, name
    return bytes.fromhex(rows[0])


@pytest.mark.parametrize("ship", [SUBSCRIBER, PUBLISHER])
def test_keys(ship: Ship) -> None:
    assert of_row(str(ship.number)) == SigningKey.of_ship(ship.number).public


@pytest.mark.parametrize(
    ("tuple_", "jammed"),
    [
        ("['/~pub/chat/34' 1]", request_input(PATH, 1)),
        ("[%bond '/~pub/chat/34' 1]", cancellation_input(PATH, 1)),
        ("[%bond 0x123456789abcdef '/~pub/chat/34' 1]", promise_input(SESSION, PATH, 1)),
        ("['/~pub/chat/34' 1 'hello']", response_input(PATH, 1, b"hello")),
    ],
)
def test_jammed_tuples(tuple_: str, jammed: bytes) -> None:
    assert of_row(f"`{tuple_}`") == jammed


@pytest.mark.parametrize(
    ("name", "packet"),
    [
        ("heartbeat request", Packet(HeartbeatRequest(SESSION, 1), SUBSCRIBER, PUBLISHER)),
        ("heartbeat response", Packet(HeartbeatResponse(SESSION, 1, live=True), PUBLISHER, SUBSCRIBER)),
        ("nack", Packet(HeartbeatResponse(SESSION, 1, live=False), PUBLISHER, SUBSCRIBER)),
    ],
)
def test_packets(name: str, packet: Packet) -> None:
    assert of_row(name) == write(packet)


def test_the_hash() -> None:
    assert f"`abc` it is 0x{mug(b'abc'):08x}" in PAGE
