"""Histories of servers: the reference is never accused, and whoever breaks what several sentences say together is."""

from typing import Any

import pytest
from hypothesis import given, settings

from conformance.cases import RuleBroken
from conformance.histories.drawing import histories
from conformance.histories.history import play_history
from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.actions import (
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.drawing import WEIGHTS
from conformance.pathfinder.histories.moves import (
    ClientAsks,
    ClientComes,
    ClientLeaves,
    ClientReturns,
    HistoryMove,
)
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.variants.registry import ODDITIES
from harness.peers.memory import World
from harness.trace import Trace
from wire.json.strict import MOST
from wire.pathfinder.values import Message


def node(peer: type[Server]) -> NodeUnderTest:
    world = World(peer.of, "server")
    return NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile="document", namespace="t/")


def play(peer: type[Server], *moves: HistoryMove, can: ServerAbilities | None = None) -> None:
    with SERVER_HISTORIES.scene(node(peer), can or ServerAbilities()) as scene:
        scene.begin()
        for move in moves:
            assert scene.fits(move)
            scene.do(move)


@pytest.mark.parametrize("theme", WEIGHTS)
def test_the_reference_is_not_accused(theme: str) -> None:
    for seed in (101, 102):
        assert play_history(node(Server), SERVER_HISTORIES, theme, seed, "test")


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(histories(SERVER_HISTORIES.generator, "owners", 12))
def test_the_reference_is_not_accused_whatever_hypothesis_draws(moves: tuple[HistoryMove, ...]) -> None:
    with SERVER_HISTORIES.scene(node(Server), ServerAbilities()) as scene:
        scene.begin()
        for move in moves:
            if scene.fits(move):
                scene.do(move)


@pytest.mark.parametrize("name", ["gathering", "clinging", "until-republished", "step-by-step", "lingering"])
def test_odd_servers_are_not_accused(name: str) -> None:
    peer = node(ODDITIES.all[name].peer)
    can = SERVER_HISTORIES.abilities(peer)
    assert not can.complaints
    for theme in ("owners", "lifetime"):
        assert play_history(peer, SERVER_HISTORIES, theme, 1, "test")


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


TWO = ClientComes("a"), ClientComes("b")


def test_who_owned_a_service_once_may_leave() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (PublishRequest(1),)),
        ClientAsks("b", (PublishRequest(1, 1),)),
        ClientLeaves("a"),
    )
    play(Server, *moves)
    with pytest.raises(Mismatch) as difference:
        play(OwnsByHistory, *moves)
    assert difference.value.rule in ("PF-049", "PF-131")


def test_one_of_two_subscriptions_ends() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (SubscribeRequest(1), SubscribeRequest(2, "(kind=x)"))),
        ClientAsks("a", (UnsubscribeRequest(1),)),
        ClientAsks("b", (PublishRequest(1, props={"kind": ["x"]}),)),
    )
    play(Server, *moves)
    with pytest.raises(Mismatch) as difference:
        play(ForgetsTheOther, *moves)
    assert difference.value.rule == "PF-121"


def test_a_service_comes_again_under_its_identifier() -> None:
    moves = (
        *TWO,
        ClientAsks("a", (PublishRequest(1, 5, props={"kind": ["x"]}), UnpublishRequest(1))),
        ClientAsks("a", (PublishRequest(1, 0, props={"kind": ["y"]}), ServicesRequest())),
    )
    play(Server, *moves)
    with pytest.raises(Mismatch) as difference:
        play(KeepsOldState, *moves)
    assert difference.value.rule == "PF-051"


def test_a_history_is_made_small() -> None:
    peer = node(OwnsByHistory)
    with pytest.raises(RuleBroken) as broken:
        play_history(peer, SERVER_HISTORIES, "owners", 1, "test_histories.test_owners")
    steps = [line for line in str(broken.value).splitlines() if line.startswith("  ")]
    assert len(steps) < 8
    assert "alone: -k 'test_histories.test_owners[" in str(broken.value)


def test_what_was_told_once_ends_a_history() -> None:
    moves = (*TWO, ClientAsks("a", (PublishRequest(1),)), ClientAsks("b", (PublishRequest(1, 1),)), ClientLeaves("a"))
    play(OwnsByHistory, *moves, can=ServerAbilities((("PF-049", ""), ("PF-131", ""))))


def test_an_orphan_without_time_is_gone_and_its_owner_comes_back() -> None:
    play(
        Server,
        *TWO,
        ClientAsks("a", (PublishRequest(1, ttl=0), PublishRequest(2, ttl=1), PublishRequest(3))),
        ClientLeaves("a", reset=True),
        ClientReturns("a"),
        ClientAsks("a", (PublishRequest(1), ServicesRequest())),
    )


@pytest.mark.parametrize("peer", [Server, ODDITIES.all["owners-only"].peer])
def test_nothing_stays_behind(peer: type[Server]) -> None:
    under_test = node(peer)
    with SERVER_HISTORIES.scene(under_test, ServerAbilities()) as scene:
        scene.begin()
        for move in (
            *TWO,
            ClientAsks("a", (PublishRequest(1, ttl=MOST), PublishRequest(2, bare=True))),
            ClientLeaves("a"),
        ):
            scene.do(move)
        assert scene.model.directory.get(scene.names.service(1)) is not None
    assert not under_test.session().services().notifications
