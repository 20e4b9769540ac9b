"""Signatures: RFC 8032's, over inputs none of which passes for another."""

import pytest

from wire.urbit.nouns import cue
from wire.urbit.signatures import (
    BOND,
    SIZE,
    SigningKey,
    cancellation_input,
    promise_input,
    request_input,
    response_input,
    verifies,
)

PATH, SESSION = b"/~pub/chat/34", 0x0123456789ABCDEF


def test_the_first_vector_of_the_rfc() -> None:
    key = SigningKey(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert key.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    signed = key.sign(b"")
    assert signed.hex() == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert verifies(key.public, signed, b"")


def test_what_is_signed_is_the_tuple() -> None:
    path = int.from_bytes(PATH, "little")
    assert cue(request_input(PATH, 1)) == (path, 1)
    assert cue(cancellation_input(PATH, 1)) == (BOND, (path, 1))
    assert cue(promise_input(SESSION, PATH, 1)) == (BOND, (SESSION, (path, 1)))


def test_no_signature_passes_for_another() -> None:
    key, other = SigningKey.named("sub"), SigningKey.named("pub")
    inputs = [request_input(PATH, 1), cancellation_input(PATH, 1), promise_input(SESSION, PATH, 1)]
    for signed in inputs:
        signature = key.sign(signed)
        assert len(signature) == SIZE
        assert [verifies(key.public, signature, each) for each in inputs] == [each == signed for each in inputs]
        assert not verifies(other.public, signature, signed)


@pytest.mark.parametrize("signature", [b"", bytes(SIZE), bytes(SIZE + 1)])
def test_what_is_no_signature_verifies_nothing(signature: bytes) -> None:
    assert not verifies(SigningKey.named("sub").public, signature, b"")


@pytest.mark.parametrize("public", [b"", bytes(31), b"\xff" * 32])
def test_what_is_no_key_verifies_nothing(public: bytes) -> None:
    assert not verifies(public, SigningKey.named("sub").sign(b""), b"")


def test_a_response_signs_its_data_as_well() -> None:
    key = SigningKey.of_ship(166)
    signature = key.sign(response_input(b"/~pub/chat/34", 1, b"hello"))
    assert verifies(key.public, signature, response_input(b"/~pub/chat/34", 1, b"hello"))
    assert not verifies(key.public, signature, response_input(b"/~pub/chat/34", 1, b"hellO"))
    assert key.public == SigningKey.named("166").public
