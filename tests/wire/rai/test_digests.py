"""Digests against the known answers of ``docs/rai.md``, ISO/IEC 10118-2 as ZigBee has it, and RFC 4493."""

import pytest

from wire.rai.digests import PROFILES, Profile, cmac, matyas_meyer_oseas, message_hash, padded, text

HA0 = "65fc1392dd57700e45cddd66ed893de4f61af69f8b25ecf7ad76fb19fd8e19de"
HA1 = "57dbecf03a2aaa6bb716929dcb7e24a4c7f3027435e8d1185d0933d223509e4d"
HA1_OF_AUTH = "fa387b76b24841cf5105e4020d5e85362b8728c03661fea1aa941b3d6e855dc6"
NONCE = "AAECAwQFBgcICQoLDA0ODw"
SUBJECT, MESSAGE = "NASDAQ.REC.INTC.O", b'{"BID":17.75}'

KEY = bytes.fromhex(HA1)

RAI_1 = PROFILES["rai-1"]


def test_keys() -> None:
    stored = RAI_1.ha0("paul", "service1", "secret")
    assert stored.hex() == HA0
    assert RAI_1.session_key(stored, NONCE).hex() == HA1
    assert RAI_1.auth_key(stored, NONCE, 1700000000000000, "EBESExQVFhcYGRobHB0eHw").hex() == HA1_OF_AUTH


@pytest.mark.parametrize(
    ("seqno", "hashed", "code"),
    [
        (1, "29324b63c59a60eb388e5d563b026067", "dc4583f4fd89687916cd06c7ac7b7607"),
        (2, "c2caeb393b4f5042bbbd5a8c595abaa5", "c9f352a2d6c0b5f1cb77559c28924da9"),
        (4294967296, "59c33bf95f5a560d2808def9307f4f0d", "78cd376a201a6268b939d250f11b8eb1"),
    ],
)
def test_digests(seqno: int, hashed: str, code: str) -> None:
    assert message_hash(seqno, SUBJECT, MESSAGE).hex() == hashed
    signed = RAI_1.digest(KEY, seqno, SUBJECT, MESSAGE)
    assert signed == text(bytes.fromhex(code))
    assert len(signed) == 22
    assert RAI_1.verifies(KEY, seqno, SUBJECT, MESSAGE, signed)


# ZigBee's hash is the same for messages of less than 8 KiB, but that its length has 2 bytes: these leave the rest zero.
@pytest.mark.parametrize(
    ("message", "hashed"),
    [
        ("c0", "ae3a102a28d43ee0d4a09e22788b206c"),
        ("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", "a7977e88bc0b61e8210827109a228f2d"),
    ],
)
def test_matyas_meyer_oseas(message: str, hashed: str) -> None:
    assert matyas_meyer_oseas(bytes(16), bytes.fromhex(message)).hex() == hashed


@pytest.mark.parametrize("length", [0, 1, 6, 7, 8, 15, 16, 23, 24])
def test_padding_fills_blocks(length: int) -> None:
    blocks = padded(b"x" * length)
    assert len(blocks) % 16 == 0
    assert len(blocks) - length in range(9, 9 + 16)
    assert blocks[length] == 0x80
    assert int.from_bytes(blocks[-8:]) == 8 * length


# RFC 4493 has 128 bits; with 256 these are of NIST SP 800-38B, examples 9 and 10 (D.3).
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "028962f61b7bf89efc6b551f4667d983"),
        ("6bc1bee22e409f96e93d7e117393172a", "28a7023f452e8f82bd4bf28d8c37c35c"),
    ],
)
def test_cmac(message: str, code: str) -> None:
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    assert cmac(key, bytes.fromhex(message)).hex() == code


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_verifies_what_it_signs(profile: Profile) -> None:
    signed = profile.digest(KEY, 7, SUBJECT, MESSAGE)
    assert profile.verifies(KEY, 7, SUBJECT, MESSAGE, signed)
    assert not profile.verifies(KEY, 7, SUBJECT, MESSAGE, f"{signed}A")


@pytest.mark.parametrize("profile", [PROFILES["rai-1"], PROFILES["cmac"]])
def test_a_digest_is_of_one_message(profile: Profile) -> None:
    signed = profile.digest(KEY, 7, SUBJECT, MESSAGE)
    assert not profile.verifies(profile.session_key(bytes(32), NONCE), 7, SUBJECT, MESSAGE, signed)
    assert not profile.verifies(KEY, 8, SUBJECT, MESSAGE, signed)
    assert not profile.verifies(KEY, 7, "NASDAQ.REC.INTC.X", MESSAGE, signed)
    assert not profile.verifies(KEY, 7, SUBJECT, b'{"BID":17.76}', signed)
    assert not profile.verifies(KEY, 7, SUBJECT, MESSAGE, "")
    assert not profile.verifies(KEY, 7, SUBJECT, MESSAGE, "é\ud800")


@pytest.mark.parametrize("seqno", [-1, 1 << 128])
def test_a_number_without_room_verifies_nothing(seqno: int) -> None:
    assert not RAI_1.verifies(KEY, seqno, SUBJECT, MESSAGE, "x" * 22)
    with pytest.raises(OverflowError):
        RAI_1.digest(KEY, seqno, SUBJECT, MESSAGE)
