"""Signatures: who asks signs what it asks for, who promises what it promises, with Ed25519 (RFC 8032).

What is signed is jammed, and the path is a cord (reading A08): ``[path fragment]`` of a request, ``[%bond path
fragment]`` of a cancellation (section "Scry Cancellation Request": "a slightly larger tuple"), ``[%bond session path
fragment]`` of a promise. The three differ in how many parts they have, so none passes for another. Of a response the
publisher signs ``[path fragment data]``, as remote scry does.
"""

from functools import cache
from hashlib import sha512
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wire.errors import WireError
from wire.urbit.nouns import cell, cord, jam

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

BOND = cord(b"bond")
SIZE = 64
"""Bytes of a signature."""


class NoCryptography(WireError):
    """No signature can be made or checked, as the library for it is not installed."""


@cache
def ed25519() -> Any:
    """Return the module that signs. Raises ``NoCryptography``."""
    # Not with the rest: packets are decoded, and their vectors made, where nobody has installed it.
    try:
        return import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ModuleNotFoundError:
        raise NoCryptography("signatures need the package cryptography: pip install cryptography") from None


def request_input(path: bytes, fragment: int) -> bytes:
    """Return what a scry request signs."""
    return jam(cell(cord(path), fragment))


def cancellation_input(path: bytes, fragment: int) -> bytes:
    """Return what a scry cancellation request signs."""
    return jam(cell(BOND, cord(path), fragment))


def promise_input(session: int, path: bytes, fragment: int) -> bytes:
    """Return what a scry promise signs."""
    return jam(cell(BOND, session, cord(path), fragment))


def response_input(path: bytes, fragment: int, data: bytes) -> bytes:
    """Return what a scry response signs: the data of the fragment as an atom, as remote scry has it."""
    return jam(cell(cord(path), fragment, cord(data)))


class SigningKey:
    """The key with which a ship signs: a seed of 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        self._private: Ed25519PrivateKey = ed25519().Ed25519PrivateKey.from_private_bytes(seed)
        self.public: bytes = self._private.public_key().public_bytes_raw()

    @classmethod
    def named(cls, name: str) -> "SigningKey":
        """Return the key that Urbit's own tests have for a name: the half for signing of SHA-512, taken twice."""
        return cls(sha512(sha512(name.encode()).digest()).digest()[:32])

    @classmethod
    def of_ship(cls, number: int) -> "SigningKey":
        """Return the key that a ship has in tests: that of its number, in decimal."""
        return cls.named(str(number))

    def sign(self, data: bytes) -> bytes:
        """Return the signature of bytes."""
        return self._private.sign(data)


def verifies(public: bytes, signature: bytes, data: bytes) -> bool:
    """Tell whether a signature of bytes was made with the key that belongs to a public one."""
    library = ed25519()
    invalid: type[Exception] = import_module("cryptography.exceptions").InvalidSignature
    try:
        library.Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (invalid, ValueError):
        return False
    return True
