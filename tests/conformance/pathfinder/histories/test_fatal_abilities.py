"""What a server does at all, where one thing of it ends the server."""

from played_histories import PlayedHistories

from conformance.engine.play import play
from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from wire.pathfinder.values import Message

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())


class DiesOfTakeovers(Server):
    """Dies when another client than its owner publishes a service; as paf 1.0.6, more or less."""

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        assert known is None or known.owner == session.client_id, "whose is it?"
        return super().record(session, request, known)


class Forgetful(DiesOfTakeovers):
    """And loses services with their owners."""

    def orphan(self, service: ServiceRecord, since: float) -> None:
        self.remove(service)


def outcomes(name: str, peer: type[Server] = DiesOfTakeovers) -> dict[str, Outcome]:
    """Return what a case comes to, by rule."""
    suite = Suite("pathfinder")
    (case,) = [case for case in suite.cases if case.name == f"test_histories.test_{name}"]
    return play(case, SERVERS.world(peer), suite, profile="document").by_rule()


def test_who_dies_of_one_thing_is_told_so() -> None:
    assert outcomes("abilities") == {"PF-121": Outcome.CRASH, "PF-157": Outcome.CRASH}


def test_the_other_things_are_tried_all_the_same() -> None:
    found = SERVER_HISTORIES.abilities(SERVERS.node(Forgetful))
    assert not found.blocked
    assert {"PF-015", "PF-215"} <= found.lacking


def test_histories_are_played_with_it() -> None:
    # Of some kinds and seeds none takes anything over.
    found = [outcomes(f"{theme}[{seed}]") for theme in ("services", "subscriptions") for seed in (1, 2)]
    assert all(Outcome.INCONCLUSIVE not in each.values() for each in found)
    assert any(each for each in found)
