"""Clients whose libraries cannot do all that the contract asks for: what they do not offer is not played."""

from functools import cache
from pathlib import Path

import pytest
from played_histories import PlayedHistories

from conformance.cases import NotPlayed
from conformance.engine.play import PlayResult, play
from conformance.pathfinder.histories.abilities import ClientAbilities
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.run.recorder import RunRecorder
from conformance.run.records import CasePlayed
from conformance.run.settings import BadSettings, gather
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.errors import NotOffered
from harness.pathfinder.peers.client import Client
from harness.pathfinder.protocol import PROTOCOL
from harness.peers.memory import World

LISTINGS = "test_client_listings.test_a_client_that_asks_for_everything"
CLIENTS = PlayedHistories("pathfinder", "client", CLIENT_HISTORIES, ClientAbilities(comes_back=True), dials=True)
OF_DOMAINS = sorted(
    name
    for name, fault in PROTOCOL.faults.all.items()
    if fault.role == "client" and set(fault.rules) & {"PF-021", "PF-041", "PF-042", "PF-043", "PF-044"}
)


@cache
def discreet(peer: type[Client]) -> type[Client]:
    """Return a client like one, whose application is told no generations."""

    class Discreet(peer):  # type: ignore[misc, valid-type]
        def take_events(self) -> list[str]:
            events = (event.split() for event in super().take_events())
            return [" ".join([*each[:2], "-"] if each[0] in ("appeared", "modified") else each) for each in events]

    return Discreet


def world(peer: type[Client], *not_offered: str) -> World:
    """Return an instance of a client that does not offer some things."""
    instance = CLIENTS.world(discreet(peer) if "generations" in not_offered else peer)
    instance.not_offered = frozenset(not_offered)
    return instance


def played(instance: World, pattern: str) -> dict[str, PlayResult]:
    """Play the cases whose names begin so."""
    suite = Suite("pathfinder")
    cases = [each for each in suite.cases if each.fits("client", "tcp") and each.name.startswith(pattern)]
    return {case.name: play(case, instance, suite, profile="document") for case in cases}


def test_a_scenario_that_is_not_offered_is_not_played() -> None:
    results = played(world(Client, "list"), "test_client_")
    left_out = {name for name, result in results.items() if result.not_played}
    assert left_out == {
        LISTINGS,
        "test_client_robustness.test_refusals_with_and_without_a_reason",
    }
    for result in results.values():
        if result.not_played:
            assert result.not_played == "the client does not offer 'list'"
            assert not result.judgements
        else:
            assert result.outcome in (Outcome.PASS, Outcome.ODD), result.judgements


def test_who_tells_no_generations_is_accused_of_nothing() -> None:
    results = played(world(Client, "generations"), "test_client_")
    assert len(results) > 20
    assert {result.outcome for result in results.values()} <= {Outcome.PASS, Outcome.ODD}


@pytest.mark.parametrize("name", OF_DOMAINS)
def test_who_tells_no_generations_is_judged_all_the_same(name: str) -> None:
    fault = PROTOCOL.faults.all[name]
    results = played(world(fault.peer, "generations"), "test_client_domains")  # type: ignore[arg-type]
    accused = {each.rule for result in results.values() for each in result.judgements if each.outcome.accuses}
    assert accused & set(fault.rules)


@pytest.mark.parametrize("theme", ["domains", "answers"])
def test_histories_do_without_what_is_not_offered(theme: str) -> None:
    node = CLIENTS.node(Client)
    node.instance = world(Client, "list", "many")
    assert CLIENTS.play(node, theme, *range(1, 6))


def test_a_history_of_which_nothing_can_be_played_says_so() -> None:
    node = CLIENTS.node(Client)
    node.instance = world(Client, "subscribe-all")
    with pytest.raises(NotPlayed, match="none of its moves"):
        CLIENTS.play(node, "domains", *range(1, 6))


@pytest.mark.parametrize("what", ["subscribe", "modify", "generations"])
def test_histories_that_rest_on_what_is_not_offered_are_not_played(what: str) -> None:
    node = CLIENTS.node(Client)
    node.instance = world(Client, what)
    with pytest.raises(NotOffered, match=f"does not offer '{what}'"):
        CLIENTS.play(node, "domains", 1)
    with pytest.raises(NotPlayed, match="could not be tried"):
        CLIENTS.play(node, "answers", 1)


def described(folder: Path, *not_offered: str) -> str:
    """Write the description of a client, and return its path."""
    path = folder / "mine.toml"
    path.write_text(
        'name = "mine"\nprotocol = "pathfinder"\nroles = ["client"]\ndials = ["client"]\n'
        f"not_offered = {list(not_offered)}\n[process]\ncommand = ['./mine']\n"
    )
    return str(path)


def test_what_is_not_offered_is_a_word_of_the_contract(tmp_path: Path) -> None:
    assert gather(described(tmp_path, "list", "generations"), "pathfinder").description.not_offered == {
        "list",
        "generations",
    }
    with pytest.raises(BadSettings, match=r"mine: not_offered: lst: known are generations, idle, list, .*transient"):
        gather(described(tmp_path, "list", "lst"), "pathfinder")


def test_a_rule_that_nothing_else_judges_says_why_it_was_not(tmp_path: Path) -> None:
    settings = gather(described(tmp_path, "list"), "pathfinder")
    (case,) = [case for case in Suite("pathfinder").cases if case.name == LISTINGS]
    record = CasePlayed(
        case=case.name,
        sentence=case.sentence,
        file="",
        line=1,
        rules=case.marks.rules,
        outcome=Outcome.INCONCLUSIVE,
        attempts=1,
        not_played="the client does not offer 'list'",
        reproduce="",
    )
    run = RunRecorder(settings)
    run.start()
    run.add(record, "")
    summary = run.finish()
    assert "not played: the client does not offer 'list'" in {each.reason for each in summary.rules.values()}
    assert summary.exit == 1, "nothing was proven"
