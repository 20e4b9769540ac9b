"""The defects that are planted in Pathfinder's servers, each in a process of its own, as a campaign meets them."""

from collections.abc import Iterator

import pytest
from shown_defects import parameters, seen_of
from test_fuzzed_pathfinder import SHOWN

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import Opens


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("pathfinder", "peer:") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_server_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    kind, moves = SHOWN[name]
    test = (Opens("a"), *moves)
    with goldwire.fuzzed_node("pathfinder", "peer:", options=("--defect", name)) as node:
        assert seen_of(node, test, kind) == kind
    assert seen_of(healthy, test, kind) == ""
