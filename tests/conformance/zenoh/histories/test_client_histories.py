"""Histories of clients: the reference is not accused; who forgets what it is asked is."""

import pytest

from conformance.cases import NotPlayed, RuleBroken
from conformance.histories.history import play_history
from conformance.zenoh.histories.client import CLIENT
from harness.peers.memory import World
from harness.trace import Trace
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.variants.registry import ODDITIES
from wire.zenoh.values import Interest, InterestFinal


def play(peer: type[Client], seed: int) -> frozenset[str]:
    world = World(peer.of, "client", dials=True)
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="t/")
    return play_history(node, CLIENT, "client", seed, "test_histories.test_client")


@pytest.mark.parametrize("seed", range(11, 16))
def test_the_reference_is_not_accused(seed: int) -> None:
    assert {"ZI-014", "ZI-070"} <= play(Client, seed)


def test_a_client_that_pushes_tokens_is_not_accused() -> None:
    peer = ODDITIES.all["eager-client"].peer
    assert issubclass(peer, Client)
    for seed in range(11, 14):
        play(peer, seed)


class EndsAllInterests(Client):
    """Ends all interests at any Final."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        session.interests.clear()


class KeepsItsEndsToItself(Client):
    """Does not tell the end of what it has declared."""

    def withdraw(self, entity: Entity) -> None:
        """Tell nobody."""


@pytest.mark.parametrize(("peer", "rule"), [(EndsAllInterests, "ZI-072"), (KeepsItsEndsToItself, "ZI-017")])
def test_who_forgets_is_accused_by_the_rules_about_who_is_asked(peer: type[Client], rule: str) -> None:
    def found() -> None:
        for seed in range(1, 20):
            play(peer, seed)

    with pytest.raises(RuleBroken) as caught:
        found()
    assert caught.value.ids == (rule,)


class Mute(Client):
    """Answers nobody."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Say nothing."""


def test_nothing_is_played_with_a_client_that_answers_nobody() -> None:
    with pytest.raises(NotPlayed, match="not answered up to D_FINAL"):
        play(Mute, 1)
