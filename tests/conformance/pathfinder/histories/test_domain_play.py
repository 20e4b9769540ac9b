"""Histories of clients: the reference is never accused, and whoever is wrong where several servers meet is."""

import pytest
from played_histories import PlayedHistories
from subtle_client_faults import (
    SUBTLE,
    ForgetsWhatChangedMeanwhile,
)

from conformance.histories import history
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import Together
from conformance.pathfinder.histories.abilities import ClientAbilities
from conformance.pathfinder.histories.application import ServicePicture, Untold
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.pathfinder.histories.domain_drawing import LOSING
from conformance.pathfinder.histories.domain_moves import (
    ClientBegins,
    ServerAnswers,
    ServerDrops,
    ServerErrs,
    ServerObliges,
    ServerReturns,
    ServerTells,
    ServerVanishes,
    ServiceMatch,
)
from harness.pathfinder.peers.client import Client
from harness.pathfinder.variants.registry import FAULTS, ODDITIES

CLIENTS = PlayedHistories("pathfinder", "client", CLIENT_HISTORIES, ClientAbilities(comes_back=True), dials=True)


def appeared(generation: int = 0, *, orphan: bool = False) -> ServiceMatch:
    """Return an appearance of the first service."""
    return ServiceMatch("appeared", 1, generation, orphan)


def modified(generation: int, *, orphan: bool = False) -> ServiceMatch:
    """Return a change of the first service."""
    return ServiceMatch("modified", 1, generation, orphan)


GONE = ServiceMatch("disappeared", 1)


@pytest.mark.parametrize("theme", LOSING)
def test_the_reference_is_not_accused(theme: str) -> None:
    for seed in (101, 102):
        assert CLIENTS.play(CLIENTS.node(Client), theme, seed)


@pytest.mark.parametrize(
    "name", ["forgets-lost-servers", "counts-old-matches", "tells-contents-only", "leaves-when-refused"]
)
def test_odd_clients_are_not_accused(name: str) -> None:
    peer = CLIENTS.node(ODDITIES.all[name].peer)
    assert not CLIENT_HISTORIES.abilities(peer).complaints
    for theme in LOSING:
        assert CLIENTS.play(peer, theme, 1)


# --- what the application may be told -----------------------------------------------------------------------


def explained(*heard: tuple[int, ServiceMatch], events: str = "") -> ServicePicture:
    """Return the picture of a service after what two servers said, and what the application was told."""
    picture = ServicePicture(1)
    picture.explain(heard, [each.strip() for each in events.split(",") if each.strip()])
    return picture


@pytest.mark.parametrize(
    ("heard", "events"),
    [
        ([(0, appeared()), (1, appeared())], "appeared 1 0"),
        ([(0, appeared()), (0, modified(1)), (1, appeared(1))], "appeared 1 0, modified 1 1"),
        # An appearance in a higher generation is a change, or not.
        ([(0, appeared()), (1, appeared(2))], "appeared 1 0, modified 1 2"),
        ([(0, appeared()), (1, appeared(2)), (0, modified(2))], "appeared 1 0, modified 1 2"),
        ([(0, appeared()), (1, appeared(2)), (0, modified(1))], "appeared 1 0"),
        ([(0, appeared()), (0, modified(0, orphan=True))], "appeared 1 0, modified 1 0"),
        # A change within a generation is told, or not, where another server has the service as well.
        ([(0, appeared()), (1, appeared()), (0, modified(0, orphan=True))], "appeared 1 0"),
        ([(0, appeared()), (1, appeared()), (0, modified(0, orphan=True))], "appeared 1 0, modified 1 0"),
        # An outdated appearance counts, or not.
        ([(0, appeared(2)), (1, appeared(1)), (0, GONE)], "appeared 1 2"),
        ([(0, appeared(2)), (1, appeared(1)), (0, GONE)], "appeared 1 2, disappeared 1"),
    ],
)
def test_what_the_application_may_be_told(heard: list[tuple[int, ServiceMatch]], events: str) -> None:
    explained(*heard, events=events)


@pytest.mark.parametrize(
    ("rule", "heard", "events"),
    [
        ("PF-042", [(0, appeared()), (1, appeared())], "appeared 1 0, appeared 1 0"),
        ("PF-041", [(0, appeared(2)), (1, appeared(1))], "appeared 1 2, modified 1 1"),
        ("PF-041", [(0, appeared()), (1, appeared(2)), (0, modified(1))], "appeared 1 0, modified 1 1"),
        ("PF-043", [(0, appeared()), (0, modified(1)), (1, appeared(1))], "appeared 1 0, modified 1 1, modified 1 1"),
        ("PF-044", [(0, appeared()), (1, appeared()), (0, GONE)], "appeared 1 0, disappeared 1"),
    ],
)
def test_what_the_application_must_not_be_told(rule: str, heard: list[tuple[int, ServiceMatch]], events: str) -> None:
    with pytest.raises(Mismatch) as difference:
        explained(*heard, events=events)
    assert difference.value.rule == rule
    assert not isinstance(difference.value, Untold)


@pytest.mark.parametrize(
    ("rule", "heard", "events"),
    [
        ("PF-042", [(0, appeared())], ""),
        ("PF-104", [(0, appeared(orphan=True))], ""),
        ("PF-043", [(0, appeared()), (0, modified(1))], "appeared 1 0"),
        ("PF-043", [(0, appeared()), (0, modified(0, orphan=True))], "appeared 1 0"),
        ("PF-044", [(0, appeared()), (1, appeared()), (0, GONE), (1, GONE)], "appeared 1 0"),
    ],
)
def test_what_the_application_must_be_told(rule: str, heard: list[tuple[int, ServiceMatch]], events: str) -> None:
    with pytest.raises(Untold) as difference:
        explained(*heard, events=events)
    assert difference.value.rule == rule


def test_what_only_a_lost_server_had_may_be_given_up() -> None:
    picture = explained((0, appeared()), events="appeared 1 0")
    picture.lose(0)
    kept = picture.copy()
    picture.explain((), ["disappeared 1"])
    picture.explain([(0, appeared())], ["appeared 1 0"])
    kept.explain([(0, appeared())], [])
    with pytest.raises(Mismatch, match="though nobody"):
        ServicePicture(1).explain((), ["appeared 1 0"])


# --- plays ----------------------------------------------------------------------------------------------------


def fault(name: str) -> type[Client]:
    """Return a client of the kill matrix."""
    peer = FAULTS.all[name].peer
    assert issubclass(peer, Client)
    return peer


TWO_SERVERS = ClientBegins("subscribe", 2), ServerTells(0, (appeared(),)), ServerTells(1, (appeared(),))


@pytest.mark.parametrize(
    ("name", "rule", "moves"),
    [
        ("gone-with-the-server", "PF-044", (*TWO_SERVERS, ServerVanishes(0))),
        ("gone-at-the-first", "PF-044", (*TWO_SERVERS, ServerTells(0, (GONE,)))),
        ("loses-its-filter", "PF-220", (*TWO_SERVERS, ServerVanishes(1), ServerReturns(1))),
        ("waits-for-all", "PF-042", (ClientBegins("subscribe", 2), Together((ServerTells(1, (appeared(),)),)))),
        ("forgets-to-forget", "PF-045", (ClientBegins("unpublish", 1), ServerDrops(0))),
        ("ttl-per-server", "PF-039", (ClientBegins("publish", 2),)),
        ("hears-beginnings", "PF-221", (ClientBegins("subscribe", 1), ServerErrs(0, "two messages"))),
        ("hears-any-number", "PF-222", (ClientBegins("subscribe", 1), ServerErrs(0, "the largest number"))),
        ("all-at-once", "PF-089", (ClientBegins("many", 1, (0,)), ServerAnswers(0))),
    ],
)
def test_who_is_wrong_is_accused(name: str, rule: str, moves: tuple[object, ...]) -> None:
    assert CLIENTS.rule_broken(fault(name), *moves) == rule
    CLIENTS.make(Client, *moves)


def test_what_is_answered_late_and_refused_is_asked_for_again() -> None:
    refused = ServerAnswers(0, refuses=True, reason="permission-denied")
    CLIENTS.make(
        Client, ClientBegins("publish", 2, (0,)), refused, ServerAnswers(0), refused, ServerDrops(0), ServerVanishes(1)
    )
    CLIENTS.make(Client, ClientBegins("list", 1, (0,)), ServerAnswers(0), ServerObliges(0))


def test_what_a_server_learns_while_it_is_away_it_tells_when_it_is_back() -> None:
    with CLIENTS.scene(Client) as scene:
        for move in (ClientBegins("subscribe-all", 2), ServerVanishes(0), ServerTells(0, (appeared(3),))):
            scene.do(move)
        assert not scene.domain.events
        scene.do(ServerReturns(0))
        assert "appeared 1 3" in scene.domain.events


def test_moves_that_no_server_can_make_are_left_out() -> None:
    with CLIENTS.scene(Client) as scene:
        assert not scene.fits(ServerTells(0, (appeared(),)))
        scene.do(ClientBegins("subscribe", 1))
        for wrong in (ServerTells(0, (GONE,)), ServerTells(1, (appeared(),)), ServerReturns(0), ServerAnswers(0)):
            assert not scene.fits(wrong)
        assert scene.fits(ServerTells(0, (appeared(), modified(1), GONE)))
        assert not scene.fits(ServerTells(0, (appeared(1), modified(1))))


def test_what_has_no_answer_is_published_as_it_is() -> None:
    # Which of its moves meet, chance brings about in a fifth of the histories: not in the five of the gate.
    moves = ClientBegins("modify", 1, (0,)), ServerAnswers(0), ServerAnswers(0), ServerDrops(0)
    CLIENTS.make(Client, *moves)
    assert CLIENTS.rule_broken(ForgetsWhatChangedMeanwhile, *moves) == "PF-019"


@pytest.mark.slow  # half a second each, and twelve of them
@pytest.mark.parametrize(
    "peer", [each for each in SUBTLE if each is not ForgetsWhatChangedMeanwhile], ids=lambda peer: peer.__name__
)
def test_histories_of_the_gate_find_it(peer: type[Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "shrunk", lambda moves, *rest, **bounds: moves)
    assert CLIENTS.first_accuser(peer, by_histories=True)
