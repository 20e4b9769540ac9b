"""Checksums: the hash that Urbit's runtimes have for bytes."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wire.urbit.checksums import FALLBACK, SEED, TRIES, checksum, fastest, mug, murmur3

# Tick byte, two galaxies, a session id and the number 1: a heartbeat request without its header.
HEARTBEAT = bytes.fromhex("11 4400 a600 efcdab8967452301 0100000000000000")


@pytest.mark.parametrize(
    ("data", "seed", "hashed"),
    [
        # Of MurmurHash3's own verification and its best known examples.
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (bytes(4), 0, 0x2362F9DE),
        (b"\x21", 0, 0x72661CF4),
        (b"\x21\x43", 0, 0xA0F7B07A),
        (b"\x21\x43\x65", 0, 0x7E4A8634),
        (b"\x21\x43\x65\x87", 0, 0xF55B516B),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
    ],
)
def test_murmur3(data: bytes, seed: int, hashed: int) -> None:
    assert murmur3(data, seed) == hashed


def test_zeros_at_the_end_are_hashed_as_well() -> None:
    assert checksum(HEARTBEAT) == 0x7F736
    assert checksum(HEARTBEAT.rstrip(b"\0")) == 0x2525A


def test_no_hash_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def hashes(data: bytes, seed: int) -> int:
        seeds.append(seed)
        return 0 if len(seeds) < 3 else 0x80000000

    monkeypatch.setattr("wire.urbit.checksums.murmur3", hashes)
    # The highest bit is folded into the lowest.
    assert mug(b"") == 1
    assert seeds == [SEED, SEED + 1, SEED + 2]
    monkeypatch.setattr("wire.urbit.checksums.murmur3", lambda data, seed: seeds.append(seed) or 0)
    assert mug(b"") == FALLBACK
    assert seeds[3:] == list(range(SEED, SEED + TRIES))


@pytest.fixture(scope="module")
def built() -> Callable[[bytes], int]:
    """What is in C; where nothing can be built, there is nothing to hold it to."""
    hashes = fastest()
    if hashes is mug:
        pytest.skip("there is no C here")
    return hashes


@given(st.binary(max_size=70))
@settings(derandomize=True, database=None)
def test_the_one_in_c_agrees(built: Callable[[bytes], int], data: bytes) -> None:
    assert built(data) == mug(data)


def test_the_one_in_c_tries_another_seed_as_well(built: Callable[[bytes], int]) -> None:
    nothing = bytes.fromhex("d65cdb6d")
    assert murmur3(nothing, SEED) == 0
    assert built(nothing) == mug(nothing) == murmur3(nothing, SEED + 1) & 0x7FFFFFFF ^ murmur3(nothing, SEED + 1) >> 31


@pytest.mark.parametrize("data", ["text", None, 1, [1]])
def test_the_one_in_c_takes_bytes_alone(built: Callable[..., int], data: object) -> None:
    with pytest.raises(TypeError):
        built(data)


def test_without_c_it_is_the_one_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wire.urbit.mug", None)
    fastest.cache_clear()
    try:
        assert fastest() is mug
        assert checksum(HEARTBEAT) == 0x7F736
    finally:
        fastest.cache_clear()
