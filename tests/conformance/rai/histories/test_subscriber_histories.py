"""Histories of subscribers, move by move: what the document leaves to a subscriber is held against nobody."""

from played_histories import PlayedHistories

from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.subscriber import SUBSCRIBER_HISTORIES
from conformance.rai.histories.subscriber_moves import (
    Answers,
    Gives,
    Holds,
    LooksOnce,
    SaysStatus,
    Shows,
    Subscribes,
    SubscribesAll,
    TimePasses,
    Unsubscribes,
    Updates,
)
from conformance.suite import Suite
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.oddities.subscriber_subscribing import GivesUpSnapshots, TellsOfUnavailability


class SubscriberPlays(PlayedHistories):
    """Histories with a subscriber, at a broker."""

    def world(self, peer):
        return Suite("rai").harness.world(peer.of, self.role)


PLAYS = SubscriberPlays("rai", "subscriber", SUBSCRIBER_HISTORIES, Abilities())
A, BELOW = "LAB.a", "LAB.g.b.c"


def test_who_says_that_a_value_is_unavailable_for_a_while() -> None:
    moves = (
        Subscribes(A),
        Updates((A,)),
        SaysStatus(A, "temp_unavail"),
        Updates((A,)),
        Shows(A, "initial"),
        Updates((A,)),
    )
    for peer in (Subscriber, TellsOfUnavailability):
        PLAYS.make(peer, *moves)


def test_who_waits_no_more_for_an_answer() -> None:
    moves = (Holds("toby"), LooksOnce(A), TimePasses(11), TimePasses(11), Answers("toby"), LooksOnce(A))
    for peer in (Subscriber, GivesUpSnapshots):
        PLAYS.make(peer, *moves)


def test_what_was_renamed_is_known_by_a_wildcard() -> None:
    renamed = (SubscribesAll("LAB.g.>"), Subscribes(BELOW, "listen"), Gives(BELOW, "relocate", "LAB.n.a"))
    told = (Updates((BELOW,), times=3), Unsubscribes(BELOW), Updates((A, BELOW)))
    PLAYS.make(Subscriber, *renamed, *told)
