"""The defects that are planted in Pathfinder's servers, each in a process of its own, as a campaign meets them."""

from collections.abc import Iterator

import pytest
from shown_defects import check_it_shows, parameters
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
    check_it_shows("pathfinder", "server", name, kind, (Opens("a"), *moves), healthy)
