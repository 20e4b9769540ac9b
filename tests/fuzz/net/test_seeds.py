"""Seeds: what was said already, as tests."""

from random import Random

import pytest

from fuzz.net.moves import NetworkTest, Opens, Says
from fuzz.net.seeds import FEW, from_vectors
from fuzz.net.targets import load
from vectors.golden.loader import load as load_vectors


def said_in(test: NetworkTest) -> dict[str, list[bytes]]:
    """What each session says; each is opened before it says something, and once."""
    said: dict[str, list[bytes]] = {}
    for move in test:
        if isinstance(move, Opens):
            assert said.setdefault(move.who, []) == []
        elif isinstance(move, Says):
            said[move.who] += move.data
    return said


@pytest.mark.parametrize(("protocol", "role"), [("zenoh", "router"), ("pathfinder", "server"), ("urbit", "publisher")])
def test_each_vector_is_said_once_and_what_is_refused_in_a_session_of_its_own(protocol: str, role: str) -> None:
    """A regression: what is refused ends the session, and what was said behind it was said in vain."""
    target = load(protocol)[role]
    tests = from_vectors(target, Random(1))
    vectors = load_vectors(target.layout)
    refused = {each.data for each in vectors if each.result != "valid"}
    sessions = [said for test in tests for said in said_in(test).values()]
    assert sorted(each for said in sessions for each in said) == sorted(each.data for each in vectors)
    assert all(len(said) == 1 for said in sessions if refused.intersection(said))
    assert max(map(len, sessions)) <= FEW
