"""What a dump says about a packet: what it is, whether its checksum is right, and who signed it."""

import sys

import pytest
from click.testing import CliRunner

from wire.command import decode
from wire.dump import NoKeys, dump, keys_of
from wire.urbit.signatures import (
    SigningKey,
    cancellation_input,
    promise_input,
    request_input,
    response_input,
)
from wire.urbit.values import (
    Ames,
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    write,
)

LAYOUT = "urbit/packet"
SUB, PUB = Ship(68, 0), Ship(166, 0)
PATH, SESSION = b"/~pub/chat/34", 0x0123456789ABCDEF
KEY = SigningKey.of_ship(SUB.number)
SIGNED: list[Body] = [
    ScryRequest(PATH, 1, KEY.sign(request_input(PATH, 1))),
    ScryResponse(PATH, 1, KEY.sign(response_input(PATH, 1, b"hello")), 1, b"hello"),
    Cancellation(PATH, 1, KEY.sign(cancellation_input(PATH, 1))),
    Promise(SESSION, PATH, 1, KEY.sign(promise_input(SESSION, PATH, 1))),
]


def remarks(packet: Packet | bytes, *keys: str) -> dict[str, tuple[str, ...]]:
    frame = packet if isinstance(packet, bytes) else write(packet)
    rows = dump(LAYOUT, frame, keys=keys_of(LAYOUT, keys)).rows
    return {row.path.rpartition(".")[2]: row.remarks for row in rows if row.remarks}


def test_a_heartbeat() -> None:
    assert remarks(Packet(HeartbeatRequest(SESSION, 1), SUB, PUB)) == {
        "header": ("heartbeat request", "the checksum 0x7f736 is right"),
        "sender": ("galaxy",),
        "receiver": ("galaxy",),
    }


def test_a_packet_in_which_much_is_wrong() -> None:
    body = HeartbeatResponse(SESSION, 1, live=False, padding=1)
    packet = Packet(body, Ship(68, 1), Ship(2**16, 3), origin=Origin(0x7F000001, 1), version=2, checksum=1)
    assert remarks(packet) == {
        "header": (
            "heartbeat response",
            "the checksum 0x00001 is wrong: 0x29505 would be right",
            "of version 2, and not 0: a receiver drops it",
        ),
        "address": ("127.0.0.1",),
        "sender": ("planet by its rank, galaxy or star by its number: a receiver may refuse it",),
        "receiver": ("comet by its rank, planet by its number: a receiver may refuse it",),
        "live": ("no, there is no such session", "reserved bits 0x02 are set"),
    }


def test_a_bit_that_does_not_belong_there() -> None:
    said = remarks(Packet(Ames(b"", is_response=False), Ship(256, 0), PUB, not_ames=True))
    assert said["header"][-1] == "not_ames=1 does not belong to this type"
    assert said["sender"] == ("star",)


@pytest.mark.parametrize(
    ("path", "words"), [(PATH, "/~pub/chat/34"), (b"", "no path: ''"), (b"/\xff", r"no path: '/\\xff'")]
)
def test_paths(path: bytes, words: str) -> None:
    assert remarks(Packet(ScryRequest(path, 1, bytes(64)), SUB, PUB))["path"] == (words,)


def test_fragments() -> None:
    frame = write(Packet(ScryResponse(PATH, 1, bytes(64), 3, b"hello"), SUB, PUB))
    assert remarks(frame)["content"] == ("of 3 fragments in all, 5 bytes of data",)
    assert remarks(frame[:-6])["content"] == ("of 3 fragments in all, 0 bytes of data",)
    assert remarks(frame[:-9])["content"] == ("the number of fragments is missing",)
    assert remarks(frame[:-9])["signature"] == ("cannot be checked: the packet is refused",)


@pytest.mark.parametrize("body", SIGNED, ids=lambda body: type(body).__name__)
def test_signatures(body: Body) -> None:
    packet = Packet(body, SUB, PUB)
    assert remarks(packet)["signature"] == ("not checked: no key of 68 is given",)
    assert remarks(packet, "166")["signature"] == ("not checked: no key of 68 is given",)
    assert remarks(packet, "166", "68")["signature"] == ("signed by 68",)
    assert remarks(packet, f"0x44={KEY.public.hex()}")["signature"] == ("signed by 68",)
    assert remarks(packet, f"68={'00' * 32}")["signature"] == ("not valid: 68 has not signed this",)


def test_one_signature_for_another() -> None:
    request, _, cancellation, _ = SIGNED
    assert isinstance(request, ScryRequest)
    assert isinstance(cancellation, Cancellation)
    turned = Packet(Cancellation(PATH, 1, request.signature), SUB, PUB)
    assert remarks(turned, "68")["signature"] == ("not valid: 68 signed a scry request",)
    turned = Packet(ScryRequest(PATH, 1, cancellation.signature), SUB, PUB)
    assert remarks(turned, "68")["signature"] == ("not valid: 68 signed a scry cancellation request",)


@pytest.mark.parametrize(
    ("layout", "key", "words"),
    [
        (LAYOUT, "pub", "'pub' is no number of a ship"),
        (LAYOUT, "-1", "'-1' is no number of a ship"),
        (LAYOUT, "68=", "'' is no public key: that is 64 digits of hex"),
        (LAYOUT, "68=xy", "'xy' is no public key"),
        ("zenoh/batch", "68", "nothing in zenoh/batch is signed"),
    ],
)
def test_keys_that_are_none(layout: str, key: str, words: str) -> None:
    with pytest.raises(NoKeys, match=words):
        keys_of(layout, [key])
    outcome = CliRunner().invoke(decode, [layout, "00", "--key", key])
    assert outcome.exit_code == 2
    assert words in " ".join(outcome.output.replace("│", " ").split())


def test_the_command_takes_keys() -> None:
    frame = write(Packet(SIGNED[0], SUB, PUB)).hex()
    outcome = CliRunner().invoke(decode, [LAYOUT, frame, "--key", "68"])
    assert outcome.exit_code == 0
    assert "signed by 68" in outcome.output
    outcome = CliRunner().invoke(decode, [LAYOUT, frame, "--key", "68", "--json"])
    assert outcome.exit_code == 2
    assert "--key is for dumps" in outcome.output


def test_without_the_library_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    from wire.urbit import signatures

    signatures.ed25519.cache_clear()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    try:
        with pytest.raises(NoKeys, match="pip install"):
            keys_of(LAYOUT, ["68"])
        assert remarks(Packet(SIGNED[0], SUB, PUB))["signature"] == ("not checked: no key of 68 is given",)
    finally:
        signatures.ed25519.cache_clear()
