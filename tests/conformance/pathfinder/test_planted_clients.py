"""The gate's cases beside clients with small faults, and such as are right in an unusual way."""

import pytest
from played_histories import PlayedHistories

from conformance.engine.death import DIED
from conformance.engine.play import play
from conformance.pathfinder.histories.abilities import ClientAbilities
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import KnownService, MatchedService
from harness.pathfinder.tester.events import decode_message
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


class Killed(Exception):
    """What a planted client dies of."""


class PassesOver(Client):
    """Passes over what is no message, and stays on the connection."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        if decode_message(frame).error is None:
            super().received(link, frame, now)


def crash(fatal: bytes, name: str, peer: type[Client] = Client) -> tuple[Judgement, ...]:
    """Return what a case says of a client that dies of a frame which is, or has in it, some bytes."""

    class Mortal(peer):  # type: ignore[misc, valid-type]
        def received(self, link: int, frame: bytes, now: float) -> None:
            if frame == fatal or (len(fatal) > 4 and fatal in frame):
                raise Killed
            super().received(link, frame, now)

    suite = Suite("pathfinder")
    (case,) = [each for each in suite.cases if each.name == name]
    result = play(case, CLIENTS.world(Mortal), suite, profile="document")
    found = tuple(each for each in result.judgements if each.outcome is Outcome.CRASH)
    assert found, result.judgements
    for each in found:
        assert each.entry is not None
        sent = result.trace.entries[each.entry].data
        assert sent == fatal or fatal in sent, f"{sent!r} is said to have ended it"
    return found


NO_MESSAGE = "test_client_robustness.test_what_is_no_message"
FIELDS = "test_client_robustness.test_fields_too_many"
REFUSALS = "test_client_robustness.test_refusals_with_and_without_a_reason"


@pytest.mark.parametrize("peer", [Client, PassesOver])
@pytest.mark.parametrize(
    ("fatal", "name", "words", "rules"),
    [
        # The first of many stimuli, one in the midst of them, and one that is a message all the same.
        (b"garbage", NO_MESSAGE, "refused: bad-syntax", {"PF-221"}),
        (b"5", NO_MESSAGE, "refused: wrong-type", {"PF-221"}),
        (b'"extra"', FIELDS, "refused: unknown-field", {"PF-079", "PF-081"}),
        (b'"permission-denied"', REFUSALS, "subscriptions fail", {"PF-104"}),
        (b'"orphan-since"', WITHIN, "subscribe notify", {"PF-043"}),
    ],
)
def test_who_dies_of_a_message_dies_of_that_one(
    peer: type[Client], fatal: bytes, name: str, words: str, rules: set[str]
) -> None:
    found = crash(fatal, name, peer)
    assert {each.rule for each in found} == rules
    assert {each.what.partition("\n")[0] for each in found} == {f"{DIED}: not heard of since {words} was sent"}
