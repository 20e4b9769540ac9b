"""What goes wrong only when something comes again: planted by somebody who had not read the cases, and missed then."""

import pytest
from played_histories import PlayedHistories

from conformance.cases import SEEDS
from conformance.engine.play import play
from conformance.pathfinder.histories.abilities import ClientAbilities, ServerAbilities
from conformance.pathfinder.histories.attribution import difference_of_states
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.pathfinder.histories.model import ServiceState, contents_of
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.suite import Suite
from harness.pathfinder.peers.answering import OLD_GENERATION, RequestRefused
from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.server_state import ClientRequest, ServerState
from harness.pathfinder.peers.session import Session
from harness.peers.memory import World
from wire.pathfinder.values import Message

SERVERS = PlayedHistories("pathfinder", "server", SERVER_HISTORIES, ServerAbilities())
CLIENTS = PlayedHistories("pathfinder", "client", CLIENT_HISTORIES, ClientAbilities(comes_back=True), dials=True)


class ComparesTexts(Server):
    """Takes an integer for the string of the same text."""

    def is_modified(self, old: ServiceRecord, new: ServiceRecord) -> bool:
        texts = [{(name, str(value)) for name, value in each.contents} for each in (old, new)]
        return texts[0] != texts[1] or (old.owner, old.ttl, old.is_orphan) != (new.owner, new.ttl, new.is_orphan)


class KeepsEndedTransactions(Server):
    """Takes the identifier of a subscription's transaction that was ended for one that goes on."""

    def is_live(self, session: Session, request: Message) -> bool:
        ended = vars(session).setdefault("ended", set())
        if request["ta-cmd"] == "unsubscribe":
            id = request["subscription-id"]
            ended |= {ta for ta, live in session.live.items() if live.id == id}
        return super().is_live(session, request) or (request["ta-cmd"] == "subscribe" and request["ta-id"] in ended)


class RemembersExpired(Server):
    """Refuses a service in a lower generation than it had when it expired."""

    def expire(self, service: ServiceRecord) -> None:
        super().expire(service)
        vars(self).setdefault("expired", {})[service.id] = service.generation

    def on_publish(self, session: Session, request: Message) -> None:
        if request["generation"] < vars(self).get("expired", {}).get(request["service-id"], 0):
            raise RequestRefused(OLD_GENERATION)
        super().on_publish(session, request)


@pytest.mark.parametrize(
    ("peer", "rules"),
    [
        (ComparesTexts, {"PF-011", "PF-122"}),
        (KeepsEndedTransactions, {"PF-215"}),
        (RemembersExpired, {"PF-157", "PF-204"}),
    ],
)
def test_a_server_is_accused_of_what_comes_again(peer: type[Server], rules: set[str]) -> None:
    assert set(SERVERS.accusation(peer, "repetitions", *range(1, 20)).ids) <= rules


class KeepsTheFirstLoss(Server):
    """Says of an orphan since when it was one for the first time."""

    def orphan(self, service: ServiceRecord, since: float) -> None:
        super().orphan(service, vars(self).setdefault("lost", {}).setdefault(service.id, since))


class KeepsTheFirstTtl(Server):
    """Lets an orphan go when its TTL is over that began with the first loss, also when its owner was back."""

    def expires(self, service: ServiceRecord) -> float:
        return float(vars(self).setdefault("first", {}).setdefault(service.id, super().expires(service)))


@pytest.mark.parametrize(("peer", "rule"), [(KeepsTheFirstLoss, "PF-228"), (KeepsTheFirstTtl, "PF-015")])
def test_what_is_lost_twice_is_found_by_the_seeds_of_a_run(peer: type[Server], rule: str) -> None:
    assert SERVERS.accusation(peer, "lifetime", *range(1, SEEDS + 1)).ids == (rule,)


class KeepsTheFirstAddress(Server):
    """Lists a client at the address that it came from for the first time."""

    def on_hello(self, session: Session, request: Message) -> None:
        super().on_hello(session, request)
        addresses = vars(self).setdefault("addresses", {})
        session.address = addresses.setdefault(session.client_id, session.address)


class StandsBetween(Server):
    """Sees all connections come from where something does that stands between."""

    def describe_client(self, session: Session) -> Message:
        return {**super().describe_client(session), "client-addr": f"tcp:192.0.2.1:{session.link}"}


class GivesOneAnotherPort(Server):
    """Sees one of all connections come from another port, as behind NAT that keeps ports where they are free."""

    def describe_client(self, session: Session) -> Message:
        fields = super().describe_client(session)
        return {**fields, "client-addr": f"tcp:192.0.2.1:{session.link}"} if session.link == 3 else fields


def test_where_a_client_comes_from_when_it_is_back() -> None:
    assert {rule for rule, _ in SERVER_HISTORIES.abilities(SERVERS.node(KeepsTheFirstAddress)).complaints} == {"PF-225"}
    for innocent in (StandsBetween, GivesOneAnotherPort):
        assert not SERVER_HISTORIES.abilities(SERVERS.node(innocent)).complaints


class CountsTo(Server):
    """Answers no request behind 128 transactions that are open."""

    def execute(self, session: Session, request: Message) -> None:
        if len(session.live) <= 128 or request["ta-cmd"] in ("subscribe", "unsubscribe"):
            super().execute(session, request)


class EndsAllButOne(Server):
    """Does not complete a subscription that is ended while 127 others of its client are there."""

    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        if request["ta-cmd"] != "subscribe" or len(session.live) not in (127, 128):
            super().complete(session, request, fields)


@pytest.mark.parametrize(("peer", "rule"), [(CountsTo, "PF-087"), (EndsAllButOne, "PF-137")])
def test_what_is_behind_many_transactions_is_answered(peer: type[Server], rule: str) -> None:
    assert SERVERS.accused(peer, "test_transactions.test_behind_many_transactions").keys() == {rule}


class AnotherBehindARefusal(Client):
    """Takes another identifier where its own is said to exist."""

    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        super().on_fail(state, request, reason, now)
        if reason == "client-id-exists":
            vars(state)["other"] = self.new_id()

    def client_id(self, state: ServerState) -> int:
        return int(vars(state).get("other", self.id))


class AnotherSubscriptionBehindARefusal(Client):
    """Subscribes under another identifier where its subscription's is said to exist."""

    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        if reason == "subscription-id-exists":
            state.subscriptions = {self.new_id(): filter for filter in state.subscriptions.values()}
            state.later.extend((now + 1, each) for each in self.resubscribe(state))
            self.events.append(f"failed subscribe {reason}")
        else:
            super().on_fail(state, request, reason, now)


@pytest.mark.parametrize(
    ("peer", "rule"), [(AnotherBehindARefusal, "PF-038"), (AnotherSubscriptionBehindARefusal, "PF-040")]
)
def test_a_client_keeps_its_identifiers_where_they_are_refused(peer: type[Client], rule: str) -> None:
    assert CLIENTS.accusation(peer, "refusals", *range(1, 20)).ids == (rule,)


class PublishesOnce(Client):
    """Publishes nothing again."""

    def republish(self, state: ServerState) -> tuple[ClientRequest, ...]:  # type: ignore[override]
        return ()


def test_a_loss_is_named_in_words() -> None:
    suite = Suite("pathfinder")
    (case,) = [case for case in suite.cases if case.name == "test_client_lifetime.test_services_after_a_loss"]
    result = play(case, World(PublishesOnce.of, "client", dials=True), suite, profile="document")
    accusing = [judgement.what for judgement in result.judgements if judgement.outcome.accuses]
    assert accusing
    assert not any("<function" in what for what in accusing)


def test_states_differ_in_words_that_are_the_same_each_time() -> None:
    props = {"play": ["t.1"], "kind": ["x", "y"], "number": [5]}
    truth = ServiceState(1, contents_of(props), 60, 7, is_orphan=False)
    told = ServiceState(1, contents_of({"kind": ["x"], "number": ["5"]}), 30, 7, is_orphan=True)
    assert difference_of_states(told, truth, ("contents", "ttl", "is_orphan")) == (
        'without kind="y", without number=5, without the property play, with number="5",'
        " with ttl 30, not 60, as an orphan, which it is not"
    )
