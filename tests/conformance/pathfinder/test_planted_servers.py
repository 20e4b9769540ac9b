"""The gate's cases beside servers with small faults: each is accused by the case that is about it, and as gravely."""

import planted_servers as planted
import pytest
from played_histories import PlayedHistories

from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.verdicts import Outcome
from harness.pathfinder.peers.server import Server

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())

SINCE = "test_subscribe.test_since_when"
ALIKE = "test_identifiers.test_identifiers_that_look_alike"
ALL = "test_listings.test_all_sorts_of_services_without_a_filter"
AGAIN = "test_identifiers.test_a_subscription_id_that_is_used_again"
TAKEN_BACK = "test_subscribe.test_services_that_are_taken_back"
ADDRESSES = "test_domains.test_clients_of_two_addresses"

ACCUSED = (
    (planted.TimerOutlivesReturn, "test_lifetime.test_the_ttl_does_not_run_while_the_owner_is_there", "PF-205"),
    (planted.TimerOutlivesChange, "test_lifetime.test_the_ttl_does_not_run_while_the_owner_is_there", "PF-205"),
    (planted.TimerOutlivesTakeover, "test_lifetime.test_an_orphan_that_another_client_takes_over", "PF-206"),
    (planted.TimerOfTheFirstLoss, "test_lifetime.test_a_ttl_begins_with_the_latest_loss", "PF-015"),
    (planted.FilterOfBefore, AGAIN, "PF-120"),
    (planted.MatchesOfBefore, AGAIN, "PF-120"),
    (planted.KeepsRefusedTransactions, "test_transactions.test_the_identifier_of_a_refused_request", "PF-008"),
    (planted.KeepsRefusedSubscriptions, "test_transactions.test_the_identifier_of_a_refused_request", "PF-008"),
    (planted.DeafBehindAnAnswer, "test_messages.test_answers_in_a_living_transaction", "PF-083"),
    (planted.CompletesForItsClient, "test_messages.test_answers_in_a_living_transaction", "PF-083"),
    (planted.ComparesClients, ALIKE, "PF-010"),
    (planted.RoundsClients, "test_hello.test_three_clients_from_one_place", "PF-027"),
    (planted.ComparesServices, ALIKE, "PF-010"),
    (planted.RoundsServices, ALIKE, "PF-010"),
    (planted.ComparesSubscriptions, ALIKE, "PF-010"),
    (planted.RoundsSubscriptions, ALIKE, "PF-010"),
    (planted.ComparesTransactions, "test_identifiers.test_transactions_that_look_alike", "PF-092"),
    (planted.RoundsTransactions, "test_identifiers.test_transactions_that_look_alike", "PF-092"),
    (planted.KeepsTheIdsOfThoseItCutOff, "test_listings.test_a_client_that_has_left", "PF-224"),
    (planted.OrphansOfNobody, ALL, "PF-022"),
    (planted.ListsNoOrphans, ALL, "PF-149"),
    (planted.BeginsWithoutOrphans, ALL, "PF-124"),
    (planted.ListsNothingBare, ALL, "PF-149"),
    (planted.TellsOfNothingBare, ALL, "PF-124"),
    (planted.KeepsNothingBare, ALL, "PF-131"),
    (planted.EscapedAsterisksMatchAll, "test_filters.test_escapes_beside_asterisks", "PF-069"),
    (planted.ListsItsOwnHost, ADDRESSES, "PF-225"),
    (planted.KnowsClientsByHost, "test_domains.test_a_client_that_comes_back_from_another_address", "PF-027"),
    # The document's letter.
    (planted.ComparesWithIntegers, "test_filters.test_comparisons_with_texts", "PF-072"),
    (planted.ComparesWithIntegers, "test_filters.test_what_is_almost_an_integer", "PF-075"),
    (planted.TakesBraces, "test_filters.test_braces", "PF-071"),
    # Grave, and not only warned of.
    (planted.EndsBeforeTheEnd, "test_unsubscribe.test_unsubscribe_what_was_subscribed", "PF-137"),
    (planted.DisappearsTwice, TAKEN_BACK, "PF-123", "PF-209"),
    (planted.ModifiedBehindTheEnd, TAKEN_BACK, "PF-123", "PF-209"),
    (planted.LowerGenerations, "test_publish.test_a_lower_generation", "PF-165"),
)


@pytest.mark.parametrize(("peer", "case", "rules"), [(peer, case, rules) for peer, case, *rules in ACCUSED])
def test_a_small_fault_is_a_violation(peer: type[Server], case: str, rules: list[str]) -> None:
    # Monitors may say the same under the rule of what they see.
    assert dict.fromkeys(rules, Outcome.VIOLATION).items() <= SERVERS.accused(peer, case).items()


@pytest.mark.parametrize(
    ("peer", "case", "rule"),
    [
        (planted.ServesOneHost, ADDRESSES, "PF-035"),
        (planted.ReasonOfSubscribe, "test_listings.test_a_list_with_a_bad_filter", "PF-156"),
    ],
)
def test_what_is_recommended_is_a_deviation(peer: type[Server], case: str, rule: str) -> None:
    assert set(SERVERS.accused(peer, case).items()) == {(rule, Outcome.DEVIATION)}


@pytest.mark.parametrize("case", sorted({case for _, case, *_ in ACCUSED}))
def test_who_is_right_is_accused_of_nothing(case: str) -> None:
    assert not SERVERS.accused(Server, case)


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        (planted.OnWorldTime, set()),
        (planted.SinceTheEnd, {"PF-228"}),
        (planted.SinceThePublish, {"PF-228"}),
        (planted.SinceTheHello, {"PF-228"}),
    ],
)
def test_since_when_by_the_servers_own_clock(
    peer: type[Server], expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = SERVERS.world(peer)
    # Ours is another one: an hour behind would be too much, and five minutes are not.
    monkeypatch.setattr("time.time", lambda: planted.EPOCH + world.clock.now() - 300)
    assert SERVERS.accused(peer, SINCE, world).keys() == expected
