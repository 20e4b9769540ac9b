"""Tests by which healthy nodes were accused once: nothing shows of them any more."""

from pathlib import Path

import msgspec
import pytest

import goldwire
from fuzz.net.finding import NetworkFinding
from fuzz.net.replaying import replayed

INNOCENT = sorted((Path(__file__).parent / "innocent").glob("*.json"))


@pytest.mark.parametrize("path", INNOCENT, ids=lambda path: path.stem)
def test_nobody_is_accused_of_this_any_more(path: Path) -> None:
    assert replayed(msgspec.json.decode(path.read_bytes(), type=NetworkFinding)) is None


def test_who_answers_a_future_interest_has_not_ended_a_snapshot_twice() -> None:
    """Whose answers come is unknown, under an id that was used again: ZI-021 was broken, and ZI-071 was accused."""
    with goldwire.fuzzed_node("zenoh", "peer:", options=("--fault", "ZI-021")) as node:
        session = node.session()
        session.say("590100", "790100")  # INTEREST Future and CurrentFuture, both with id 1
        session.listen()
        node.is_well()
