"""Digests: what proves who sent a message, and that nobody has changed it (section "HMAC Authentication").

The document names its functions and leaves open what they are; a **profile** says it. Of ``rai-1``, the one of
``docs/rai.md``::

    HA0     = SHA-256(user || service || password)
    HA1     = SHA-256(HA0 || NONCE)                       of auth messages SHA-256(HA0 || NONCE || time || cnonce)
    HA2     = AES_HASH(seqno, subject || canonical)       Matyas-Meyer-Oseas with AES-128 (ISO/IEC 10118-2)
    digest  = HMAC_AES(HA1, HA2)                          AES-256-CMAC (RFC 4493), as base64url without padding

``canonical`` is the message without ``session``, ``seqno`` and ``digest``, as ``wire.rai.relaxed.canonical`` spells it.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from hmac import compare_digest
from importlib import import_module
from typing import Any, NamedTuple

import msgspec

from wire.errors import WireError

BLOCK = 16
"""Bytes of a block of AES."""


class NoDigests(WireError):
    """No digest can be made or checked, as the library for it is not installed."""


class _Library(NamedTuple):
    aes: Any
    cipher: Any
    counter: Any
    cmac: Any


@cache
def _library() -> _Library:
    # Not with the rest: messages are decoded, and their vectors made, where nobody has installed it.
    try:
        ciphers, mac = (import_module(f"cryptography.hazmat.primitives.{name}") for name in ("ciphers", "cmac"))
    except ModuleNotFoundError:
        raise NoDigests("digests need the package cryptography: pip install cryptography") from None
    return _Library(ciphers.algorithms.AES, ciphers.Cipher, ciphers.modes.CTR, mac.CMAC)


def padded(message: bytes) -> bytes:
    """Return a message as whole blocks: 0x80, zeros, and its length in bits as 8 bytes."""
    zeros = -(len(message) + 1 + 8) % BLOCK
    return message + b"\x80" + bytes(zeros) + (8 * len(message)).to_bytes(8)


def matyas_meyer_oseas(initial: bytes, message: bytes) -> bytes:
    """Return the hash of a message: for each block m of it, H = AES(key H, m) xor m, from ``initial`` on."""
    aes, cipher, counter, _ = _library()
    state = initial
    blocks = padded(message)
    for at in range(0, len(blocks), BLOCK):
        block = blocks[at : at + BLOCK]
        # Counter mode is that very formula, as it adds the block to what it encrypts the counter to, the block too.
        state = cipher(aes(state), counter(block)).encryptor().update(block)
    return state


def message_hash(seqno: int, subject: str, canonical: bytes) -> bytes:
    """Return HA2 of ``rai-1``, which is the same for all keys. Raises ``OverflowError`` as ``digest`` does."""
    # Who says a message and all who hear it in this process ask for the same.
    hashed = _remembered if len(canonical) <= REMEMBERED else matyas_meyer_oseas
    return hashed(seqno.to_bytes(BLOCK), subject.encode() + canonical)


REMEMBERED = 1 << 12
"""Bytes of the longest message whose hash is remembered for a while."""

_remembered = lru_cache(1 << 10)(matyas_meyer_oseas)


def cmac(key: bytes, message: bytes) -> bytes:
    """Return the AES-CMAC of a message."""
    library = _library()
    mac = library.cmac(library.aes(key))
    mac.update(message)
    code: bytes = mac.finalize()
    return code


def text(code: bytes) -> str:
    """Return bytes as base64url without padding: how messages have digests, and a NONCE."""
    return urlsafe_b64encode(code).rstrip(b"=").decode()


class Profile(msgspec.Struct, frozen=True):
    """How messages are signed: ``code`` makes the digest of a key, a ``seqno``, a subject and a canonical message."""

    name: str
    code: Callable[[bytes, int, str, bytes], bytes]

    def ha0(self, user: str, service: str, password: str) -> bytes:
        """Return HA0: what a node's database has of a user."""
        return sha256((user + service + password).encode()).digest()

    def session_key(self, ha0: bytes, nonce: str) -> bytes:
        """Return HA1 of a session: the key of its messages, but those of its auth messages."""
        return sha256(ha0 + nonce.encode()).digest()

    def auth_key(self, ha0: bytes, nonce: str, time: int, cnonce: str) -> bytes:
        """Return HA1 of an auth message: ``ha0`` and ``nonce`` are its sender's, the others what it answers has."""
        return sha256(ha0 + f"{nonce}{time}{cnonce}".encode()).digest()

    def digest(self, key: bytes, seqno: int, subject: str, canonical: bytes) -> str:
        """Return the digest of a message. Raises ``OverflowError`` for a ``seqno`` that 16 bytes do not hold."""
        return text(self.code(key, seqno, subject, canonical))

    def verifies(self, key: bytes, seqno: int, subject: str, canonical: bytes, digest: str) -> bool:
        """Tell whether a digest is that of a message, in a time that does not say how much of it is right."""
        if self.code is _none:
            return not digest
        try:
            expected = self.digest(key, seqno, subject, canonical)
        except OverflowError:
            return False
        return compare_digest(expected.encode(), digest.encode(errors="replace"))


def _rai_1(key: bytes, seqno: int, subject: str, canonical: bytes) -> bytes:
    return cmac(key, message_hash(seqno, subject, canonical))


def _cmac(key: bytes, seqno: int, subject: str, canonical: bytes) -> bytes:
    # The IV as a key that everybody knows: whoever changes a message can make it fit again. An example, no advice.
    return cmac(key, cmac(seqno.to_bytes(BLOCK), subject.encode() + canonical))


def _none(key: bytes, seqno: int, subject: str, canonical: bytes) -> bytes:
    return b""


PROFILES = {name: Profile(name, code) for name, code in (("rai-1", _rai_1), ("cmac", _cmac), ("none", _none))}
"""The profiles by name; ``none`` is of networks that do not sign, where digests are empty."""
