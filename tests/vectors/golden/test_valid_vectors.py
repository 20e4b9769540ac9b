"""What is called valid is so for every decoder in the field, also where a layout would let more stand."""

from collections.abc import Iterator
from typing import Any

import pytest

from vectors.golden.loader import Vector, load
from vectors.notes import notes

LAYOUTS = ("zenoh/network-message", "zenoh/transport-message", "zenoh/batch")

MOST = {"whatami": 2, "consolidation": 3, "encoding": 0x1FFFF}
"""The greatest numbers that all deployed decoders read alike."""

TARGET = {"encoding": 1, "M": 1, "id": 4}
MOST_TARGET = 2


def doubts(value: Any, owner: str = "") -> Iterator[str]:
    """Give the fields of a value that deployed nodes do not read alike."""
    if isinstance(value, dict):
        message = value.get("type", owner)
        for name, field in value.items():
            # The encoding of an extension is two bits, and another thing.
            if name in MOST and isinstance(field, int) and field > MOST[name]:
                yield f"{message}.{name}"
            yield from doubts(field, message)
        if message == "REQUEST" and value.get("header", {}).items() >= TARGET.items() and value["value"] > MOST_TARGET:
            yield "REQUEST.extensions.Target"
    elif isinstance(value, list | tuple):
        for item in value:
            yield from doubts(item, owner)


def read_by_all(vector: Vector) -> bool:
    return not any(doubts(vector.value))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_valid_vectors_hold_what_all_deployed_nodes_read(layout: str) -> None:
    assert not [vector.id for vector in load(layout) if vector.result == "valid" and not read_by_all(vector)]


def test_what_deployed_nodes_do_with_the_others_is_said() -> None:
    flags = {"reserved-whatami", "unknown-consolidation", "long-encoding", "unknown-target"}
    found = [vector for layout in LAYOUTS for vector in load(layout) if vector.result == "acceptable"]
    assert flags <= {flag for vector in found for flag in vector.flags}
    assert all("deployed nodes" in notes("zenoh").flags[flag] for flag in flags)


def test_one_decoder_takes_any_number_for_a_consolidation_that_it_does_not_know() -> None:
    beyond = [
        vector
        for vector in load("zenoh/network-message")
        if vector.result == "acceptable" and vector.reason == "out-of-range" and "unknown-consolidation" in vector.flags
    ]
    assert beyond
