"""Histories of servers: the reference is never accused, and whoever breaks what several sentences say together is."""

from typing import Any

import pytest
from hypothesis import given, settings
from played_histories import TWO, PlayedHistories

from conformance.cases import SEEDS
from conformance.histories.drawing import generate, histories
from conformance.histories.history import LENGTH
from conformance.histories.moves import SessionEnds
from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.actions import (
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.drawing import WEIGHTS
from conformance.pathfinder.histories.moves import ClientAsks, ClientReturns, HistoryMove
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.pathfinder.histories.unspecified import GUESTS
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.registry import ODDITIES
from wire.json.strict import MOST
from wire.pathfinder.values import Message

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())
play = SERVERS.make


@pytest.mark.parametrize("theme", WEIGHTS)
def test_the_reference_is_not_accused(theme: str) -> None:
    for seed in (101, 102):
        assert SERVERS.play(SERVERS.node(Server), theme, seed)


def test_all_guests_come_in_the_histories_of_a_run() -> None:
    seeds = range(1, SEEDS + 1)
    played = [generate(SERVER_HISTORIES.generator, "unspecified", seed, LENGTH) for seed in seeds]
    assert set(map(str, GUESTS)) <= {str(move) for moves in played for move in moves}


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(histories(SERVER_HISTORIES.generator, "owners", 12))
def test_the_reference_is_not_accused_whatever_hypothesis_draws(moves: tuple[HistoryMove, ...]) -> None:
    with SERVERS.scene(Server) as scene:
        for move in moves:
            if scene.fits(move):
                scene.do(move)


@pytest.mark.parametrize("name", ["gathering", "clinging", "until-republished", "step-by-step", "lingering"])
def test_odd_servers_are_not_accused(name: str) -> None:
    peer = SERVERS.node(ODDITIES.all[name].peer)
    can = SERVER_HISTORIES.abilities(peer)
    assert not can.complaints
    for theme in ("owners", "lifetime"):
        assert SERVERS.play(peer, theme, 1)


class OwnsByHistory(Server):
    """Makes an orphan of a service when any client leaves that ever owned it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.once: dict[int, set[int]] = {}

    def on_publish(self, session: Session, request: Message) -> None:
        super().on_publish(session, request)
        assert session.client_id is not None
        self.once.setdefault(session.client_id, set()).add(request["service-id"])

    def lose_contact(self, client_id: int) -> None:
        super().lose_contact(client_id)
        for service_id in self.once.get(client_id, ()):
            service = self.directory.get(service_id)
            if service is not None and not service.is_orphan:
                self.orphan(service, self.orphan_since())


class ForgetsTheOther(Server):
    """Ends what a subscription tells of a service that comes back when another one is ended."""

    def forget(self, subscription: Subscription) -> None:
        super().forget(subscription)
        for other in self.subscriptions.values():
            if other.session is subscription.session:
                self.subscribers.remove(other.id, other.selection.anchors)


class KeepsOldState(Server):
    """Tells of a service that was unpublished and is published anew with the properties that it had."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.had: dict[int, ServiceRecord] = {}

    def remove(self, service: ServiceRecord) -> None:
        super().remove(service)
        self.had[service.id] = service

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        super().announce(old, self.had.get(new.id, new) if old is None and new is not None else new)


def test_who_owned_a_service_once_may_leave() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (PublishRequest(1),)),
        ClientAsks("b", (PublishRequest(1, 1),)),
        SessionEnds("a"),
    )
    play(Server, *moves)
    assert SERVERS.rule_broken(OwnsByHistory, *moves) in ("PF-049", "PF-131")


def test_one_of_two_subscriptions_ends() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (SubscribeRequest(1), SubscribeRequest(2, "(kind=x)"))),
        ClientAsks("a", (UnsubscribeRequest(1),)),
        ClientAsks("b", (PublishRequest(1, props={"kind": ["x"]}),)),
    )
    play(Server, *moves)
    assert SERVERS.rule_broken(ForgetsTheOther, *moves) == "PF-121"


class ListsNumbers(Server):
    """Reads what an integer is compared with as a number, and lists that."""

    listed = "0"

    def describe_subscription(self, subscription: Subscription) -> Message:
        fields = dict(super().describe_subscription(subscription))
        return fields | {"filter": fields["filter"].replace("-0", self.listed)}


class ListsOtherNumbers(ListsNumbers):
    """Reads another number than was given."""

    listed = "1"


@pytest.mark.parametrize("filter", ["(n>-0)", "(!(n<-0))"])
def test_a_filter_may_be_listed_with_another_text_of_its_number(filter: str) -> None:
    moves = (*TWO, ClientAsks("a", (SubscribeRequest(1, filter),)), ClientAsks("a", (PlainRequest("subscriptions"),)))
    assert SERVERS.rule_broken(ListsOtherNumbers, *moves) == "PF-148"
    play(ListsNumbers, *moves)


def test_a_service_comes_again_under_its_identifier() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (PublishRequest(1, 5, props={"kind": ["x"]}), UnpublishRequest(1))),
        ClientAsks("a", (PublishRequest(1, 0, props={"kind": ["y"]}), ServicesRequest())),
    )
    play(Server, *moves)
    assert SERVERS.rule_broken(KeepsOldState, *moves) == "PF-051"


def test_a_history_is_made_small() -> None:
    accusation = str(SERVERS.accusation(OwnsByHistory, "owners", *range(1, 6)))
    steps = [line for line in accusation.splitlines() if line.startswith("  ")]
    assert len(steps) < 8
    assert "alone: -k 'test_histories.test_owners[" in accusation


def test_what_was_told_once_ends_a_history() -> None:
    moves = (*TWO, ClientAsks("a", (PublishRequest(1),)), ClientAsks("b", (PublishRequest(1, 1),)), SessionEnds("a"))
    play(OwnsByHistory, *moves, can=ServerAbilities((("PF-049", ""), ("PF-131", ""))))


def test_an_orphan_without_time_is_gone_and_its_owner_comes_back() -> None:
    play(
        Server,
        *TWO,
        ClientAsks("a", (PublishRequest(1, ttl=0), PublishRequest(2, ttl=1), PublishRequest(3))),
        SessionEnds("a", "abort"),
        ClientReturns("a"),
        ClientAsks("a", (PublishRequest(1), ServicesRequest())),
    )


@pytest.mark.parametrize("peer", [Server, ODDITIES.all["owners-only"].peer])
def test_nothing_stays_behind(peer: type[Server]) -> None:
    under_test = SERVERS.node(peer)
    with SERVER_HISTORIES.scene(under_test, ServerAbilities()) as scene:
        scene.begin()
        for move in (
            *TWO,
            ClientAsks("a", (PublishRequest(1, ttl=MOST), PublishRequest(2, bare=True))),
            SessionEnds("a"),
        ):
            scene.do(move)
        assert scene.model.directory.get(scene.names.service(1)) is not None
    assert not under_test.session().services().notifications
