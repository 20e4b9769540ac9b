"""What shows among several clients only: races, of which either may win and then has; crowds; subtle faults."""

from typing import Any

import pytest
from played_histories import TWO, PlayedHistories
from subtle_server_faults import (
    AsksTheOwnerAboutGenerations,
    EndsEqualSubscriptions,
    KeepsTheTtlOfTheFormerOwner,
    NewNameForWhatMovedAway,
    OldFilterOfAnId,
    SilentAboutTheEndOfOrphans,
    StaysAnOrphanForOthers,
)

from conformance.histories import history
from conformance.histories.moves import SessionEnds
from conformance.pathfinder.histories.abilities import ServerAbilities
from conformance.pathfinder.histories.actions import (
    HistoryRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.moves import ClientAsks, ClientsRace
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.pathfinder.histories.unspecified import GuestsCrowd, GuestsMeet
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import FAULTS
from wire.pathfinder.values import Message

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())
X, Y = {"kind": ["x"]}, {"kind": ["y"]}


class HearsTheLastFirst(Server):
    """Carries out what was sent last by several clients first: it reads a client when another has spoken."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.held: list[tuple[int, bytes]] = []

    def received(self, link: int, frame: bytes, now: float) -> None:
        session = self.sessions.get(link)
        # Only what is marked as racing, by its properties or its end: the rest comes as it is sent.
        if session is None or not (b'"x"' in frame or b'"unpublish"' in frame) or self.held:
            super().received(link, frame, now)
            held, self.held = self.held, []
            for each in held:
                super().received(*each, now)
        else:
            self.held.append((link, frame))


class BothWin(Server):
    """Completes what comes second in a race in which there is one generation, and forgets it."""

    def on_publish(self, session: Session, request: Message) -> None:
        known = self.directory.get(request["service-id"])
        if known is not None and known.generation == request["generation"]:
            self.complete(session, request)
        else:
            super().on_publish(session, request)


class LosesWhatItCompletes(Server):
    """Keeps the properties of a service that another client takes over with the next generation."""

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        if known is not None and known.owner != session.client_id:
            request = {**request, "service-props": known.props}
        return super().record(session, request, known)


def race(*requests: HistoryRequest) -> ClientsRace:
    """Return a race of two clients."""
    return ClientsRace(tuple(ClientAsks(who, (each,)) for who, each in zip("ab", requests, strict=True)))


RACES = (
    race(PublishRequest(1, 0, props=X), PublishRequest(1, 0, props=Y)),
    race(PublishRequest(1, 0, props=X), PublishRequest(1, 1, props=Y)),
    race(PublishRequest(1, 1, props=X), PublishRequest(1, 0, props=Y)),
    race(UnpublishRequest(1), PublishRequest(1, 7, props=Y)),
    race(PublishRequest(1, 0, props=X), PublishRequest(1, 0, props=X)),
)
BEHIND = (ClientAsks("b", (PublishRequest(1, 9), ServicesRequest())),)


@pytest.mark.parametrize("moves", RACES, ids=str)
@pytest.mark.parametrize("peer", [Server, HearsTheLastFirst])
def test_either_may_win(peer: type[Server], moves: ClientsRace) -> None:
    published = (ClientAsks("a", (PublishRequest(1, 0, props=Y),)),) if "unpublish" in str(moves) else ()
    SERVERS.make(peer, *TWO, *published, moves, *BEHIND)


def test_only_one_may_win() -> None:
    assert SERVERS.rule_broken(BothWin, *TWO, RACES[0]) == "PF-159"
    assert SERVERS.rule_broken(LosesWhatItCompletes, *TWO, RACES[1]) in ("PF-153", "PF-210")


MANY = range(100, 120)
CROWD = ClientAsks(
    "a",
    (
        PlainRequest("subscriptions"),
        *map(SubscribeRequest, MANY),
        PlainRequest("subscriptions"),
        *map(UnsubscribeRequest, MANY),
    ),
)


def fault(name: str) -> type[Server]:
    """Return a server of the kill matrix."""
    peer = FAULTS.all[name].peer
    assert issubclass(peer, Server)
    return peer


@pytest.mark.parametrize(
    ("name", "rule", "move"),
    [
        ("overburdened", "PF-226", CROWD),
        ("crowded", "PF-215", GuestsCrowd(60)),
        ("twins", "PF-063", GuestsMeet()),
        ("blames-the-version", "PF-119", GuestsMeet()),
    ],
)
def test_what_shows_among_many_only(name: str, rule: str, move: Any) -> None:
    SERVERS.make(Server, *TWO, move)
    assert SERVERS.rule_broken(fault(name), *TWO, move) == rule


FOUND = (
    StaysAnOrphanForOthers,
    KeepsTheTtlOfTheFormerOwner,
    SilentAboutTheEndOfOrphans,
    EndsEqualSubscriptions,
    OldFilterOfAnId,
    NewNameForWhatMovedAway,
)


@pytest.mark.slow  # half a second each, and six of them
@pytest.mark.parametrize("peer", FOUND, ids=lambda peer: peer.__name__)
def test_histories_of_the_gate_find_it(peer: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "shrunk", lambda moves, *rest, **bounds: moves)
    assert SERVERS.first_accuser(peer, by_histories=True)


def test_an_orphan_does_not_grow_younger_with_another_client() -> None:
    # Of the histories of a run none comes to it.
    published = ClientAsks("a", (PublishRequest(1, 5),)), SessionEnds("a"), ClientAsks("b", (PublishRequest(1, 3),))
    SERVERS.make(Server, *TWO, *published)
    assert SERVERS.rule_broken(AsksTheOwnerAboutGenerations, *TWO, *published) == "PF-165"
