"""Histories of clients: the reference is not accused; who forgets what it is asked is."""

import pytest
from played_histories import PlayedHistories

from conformance.cases import NotPlayed
from conformance.zenoh.histories.abilities import PLAIN
from conformance.zenoh.histories.client import CLIENT
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import ODDITIES
from wire.zenoh.values import Interest, InterestFinal

CLIENTS = PlayedHistories("zenoh", "client", CLIENT, PLAIN, dials=True)


def play(peer: type[Client], *seeds: int) -> frozenset[str]:
    return CLIENTS.play(CLIENTS.node(peer), "client", *seeds)


@pytest.mark.parametrize("seed", range(11, 16))
def test_the_reference_is_not_accused(seed: int) -> None:
    assert {"ZI-014", "ZI-070"} <= play(Client, seed)


def test_a_client_that_pushes_tokens_is_not_accused() -> None:
    peer = ODDITIES.all["eager-client"].peer
    assert issubclass(peer, Client)
    play(peer, 11, 12, 13)


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
    assert CLIENTS.accusation(peer, "client", *range(1, 20)).ids == (rule,)


class Mute(Client):
    """Answers nobody."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Say nothing."""


def test_nothing_is_played_with_a_client_that_answers_nobody() -> None:
    with pytest.raises(NotPlayed, match="not answered up to D_FINAL"):
        play(Mute, 1)
