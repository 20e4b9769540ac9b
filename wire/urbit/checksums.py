"""Checksums of packets: 20 bits of Urbit's hash of bytes, ``mug``, which is built on MurmurHash3.

The document says nothing of them: its packets are those of Ames ("header prelude body"), whose header has them. What
is in C (``mug.c``) is asked where it was built: of 1,100 bytes it takes 1 µs, and this here 150.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module

SEED, FALLBACK = 0xCAFEBABE, 0x7FFF
TRIES = 8
"""Seeds that are tried, one after the other, as no hash is zero."""

MASK = 0xFFFFF
WORD = 0xFFFFFFFF


def checksum(data: bytes) -> int:
    """Return the 20 bits that a packet's header has for the bytes behind its header and its origin.

    Of all bytes, as they are (reading A04): a runtime that hashes numbers hashes no zero bytes at their end.
    """
    return fastest()(data) & MASK


@cache
def fastest() -> Callable[[bytes], int]:
    """Return ``mug`` as it was built in C, or as it stands here."""
    try:
        built: Callable[[bytes], int] = import_module("wire.urbit.mug").mug
    except ImportError:
        return mug
    return built


def mug(data: bytes) -> int:
    """Return a hash of 31 bits that is never zero."""
    for seed in range(SEED, SEED + TRIES):
        hashed = murmur3(data, seed)
        if folded := hashed >> 31 ^ hashed & 0x7FFFFFFF:
            return folded
    return FALLBACK


def murmur3(data: bytes, seed: int) -> int:
    """Return MurmurHash3's ``x86_32`` of bytes."""
    whole = len(data) & ~3
    state = seed
    for at in range(0, whole, 4):
        state ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        state = _turned(state, 13) * 5 + 0xE6546B64 & WORD
    if len(data) > whole:
        state ^= _mixed(int.from_bytes(data[whole:], "little"))
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & WORD
    state = (state ^ state >> 13) * 0xC2B2AE35 & WORD
    return state ^ state >> 16


def _mixed(word: int) -> int:
    return _turned(word * 0xCC9E2D51 & WORD, 15) * 0x1B873593 & WORD


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & WORD
