"""The gate's cases beside clients with small faults, and such as are right in an unusual way."""

import pytest
from played_histories import PlayedHistories

from conformance.pathfinder.histories.abilities import ClientAbilities
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.verdicts import Outcome
from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import KnownService, MatchedService
from harness.protocol import load

CLIENTS = PlayedHistories("pathfinder", "client", CLIENT_HISTORIES, ClientAbilities(comes_back=True), dials=True)
WITHIN = "test_client_domains.test_changes_within_a_generation"
SEVERAL = "test_client_domains.test_matches_of_several_servers"
LOST = "test_client_domains.test_a_server_of_several_that_is_lost"


class OverlooksOrphans(Client):
    """Does not tell that a service has become an orphan."""

    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        return super().is_news(known, latest, match_type) and latest.orphan == known.seen.orphan


class OverlooksOwners(Client):
    """Does not tell that a service has another owner."""

    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        return super().is_news(known, latest, match_type) and latest.owner == known.seen.owner


@pytest.mark.parametrize("peer", [OverlooksOrphans, OverlooksOwners])
def test_changes_within_a_generation_are_to_be_told(peer: type[Client]) -> None:
    assert CLIENTS.accused(peer, WITHIN) == {"PF-043": Outcome.DEVIATION}


@pytest.mark.parametrize("case", [WITHIN, SEVERAL, LOST])
@pytest.mark.parametrize("oddity", ["", "tells-contents-only"])
def test_who_does_not_tell_of_the_generation_alone_is_accused_of_nothing(oddity: str, case: str) -> None:
    peer = load("pathfinder").oddities.all[oddity].peer if oddity else Client
    assert not CLIENTS.accused(peer, case)
