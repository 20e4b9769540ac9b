"""Paths: what befalls frames, the same whenever it is asked with the same seed."""

import pytest

from harness.errors import BadDescription
from harness.links.network_path import Fates, NetworkPath, read_path

FRAMES = 2_000


def fates(path: NetworkPath) -> list[list[float]]:
    told = Fates(path)
    return [told.arrivals(1, False, float(number)) for number in range(FRAMES)]


def test_a_path_is_repeatable() -> None:
    path = NetworkPath(round_trip=0.1, jitter=2.0, loose=True, loss=0.1, doubling=0.1, seed=7)
    assert fates(path) == fates(path)
    assert fates(path) != fates(NetworkPath(round_trip=0.1, jitter=2.0, loose=True, loss=0.1, doubling=0.1, seed=8))


def test_shares_are_kept() -> None:
    told = fates(NetworkPath(loose=True, loss=0.2, doubling=0.3))
    # Of the two copies of a doubled frame each may be lost.
    assert 0.12 < sum(not each for each in told) / FRAMES < 0.19
    assert 0.15 < sum(len(each) == 2 for each in told) / FRAMES < 0.23
    assert sum(len(each) for each in told) == pytest.approx(FRAMES * 1.3 * 0.8, rel=0.05)


def test_frames_overtake_each_other_on_a_loose_path_only() -> None:
    loose = [at for (at,) in fates(NetworkPath(jitter=5.0, loose=True))]
    ordered = [at for (at,) in fates(NetworkPath(jitter=5.0))]
    assert loose != sorted(loose)
    assert ordered == sorted(ordered)


def test_an_end_is_told_behind_all_frames() -> None:
    told = Fates(NetworkPath(jitter=5.0, loose=True, loss=0.5))
    frames = [at for number in range(100) for at in told.arrivals(1, False, 0.01 * number)]
    (end,) = told.arrivals(1, False, 1.0, certain=True)
    assert end >= max(frames)


def test_an_address_moves_now_and_then() -> None:
    told = Fates(NetworkPath(loose=True, moving=0.1))
    assert 0.06 < sum(told.moves() for _ in range(FRAMES)) / FRAMES < 0.14
    assert not any(Fates(NetworkPath(loose=True)).moves() for _ in range(FRAMES))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("loss=0.1", NetworkPath(loose=True, loss=0.1)),
        (
            "loss=0.1,doubling=0.05, moving=0.01,round-trip=0.2,jitter=0.02,seed=3",
            NetworkPath(round_trip=0.2, jitter=0.02, seed=3, loose=True, loss=0.1, doubling=0.05, moving=0.01),
        ),
    ],
)
def test_a_path_is_read_as_it_is_written(text: str, path: NetworkPath) -> None:
    assert read_path(text) == path
    assert read_path(str(path)) == path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lost=0.1", "'lost=0.1': a path is made of loss=…, doubling=…"),
        ("", "'': a path is made of"),
        ("loss", "'loss': '' is no number"),
        ("loss=much", "'loss=much': 'much' is no number"),
        ("loss=1.5", "'loss=1.5': from 0 to 1 are shares"),
        ("jitter=-1", "'jitter=-1': from 0 to 1 are shares, from 0 on seconds"),
        ("jitter=inf", "'jitter=inf': from 0"),
    ],
)
def test_what_is_no_path_is_named(text: str, told: str) -> None:
    with pytest.raises(BadDescription, match=f"^{told}"):
        read_path(text)
