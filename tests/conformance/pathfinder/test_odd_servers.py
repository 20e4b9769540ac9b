"""The gate's cases beside servers that are right in an unusual way, or wrong in one thing alone: no other is told."""

import odd_servers as odd
import pytest
from played_histories import PlayedHistories

from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from harness.pathfinder.peers.server import Server
from harness.protocol import load
from wire.pathfinder.filters import And, Equal, Filter, Not, Or, Substring

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())
TRAFFIC = "test_properties.test_any_traffic_is_the_models"
OF_FILTERS = ("PF-212", "PF-213")


CASES = (
    "test_integers.test_the_ends_of_the_range",
    "test_ping.test_five_hundred_pings",
    TRAFFIC,
    "test_services.test_numbers_and_texts_of_numbers",
    "test_subscribe.test_changed_properties_and_ttl",
    "test_transactions.test_many_transactions_at_once",
    "test_transactions.test_every_answer_names_its_request",
)


@pytest.mark.takes(8)
@pytest.mark.parametrize("peer", [odd.WritesExponents, odd.AnswersFromBehind])
@pytest.mark.parametrize("case", CASES)
def test_who_is_right_is_accused_of_nothing(peer: type[Server], case: str) -> None:
    assert not SERVERS.accused(peer, case)


FAULTS = {name: each for name, each in load("pathfinder").faults.all.items() if set(each.rules) & set(OF_FILTERS)}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_filters_is_told_of_nothing_in_which_they_are_used(name: str) -> None:
    accused = SERVERS.accused(FAULTS[name].peer, TRAFFIC)
    # Not all show in traffic, whose values are tame.
    assert accused.keys() <= set(FAULTS[name].rules)


class FindsNothing(Server):
    """Finds no text by a substring filter."""

    def parse(self, text: str) -> Filter:
        return without_substrings(super().parse(text))


def without_substrings(tree: Filter) -> Filter:
    """Return a filter in whose substring filters nothing is looked for that any service has."""
    match tree:
        case And(filters):
            return And(tuple(map(without_substrings, filters)))
        case Or(filters):
            return Or(tuple(map(without_substrings, filters)))
        case Not(below):
            return Not(without_substrings(below))
        case Substring(key):
            return Equal(key, "what nobody has")
        case _:
            return tree


def test_who_knows_no_substrings_is_told_of_these_alone() -> None:
    assert SERVERS.accused(FindsNothing, TRAFFIC).keys() == {"PF-212"}
