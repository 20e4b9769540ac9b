"""The reference server, whatever clients do: what subscribers know is what there is, and nothing is left behind."""

import gc
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.tester.driver import encode_message
from vectors.strategies import LETTERS
from wire.pathfinder.filters import parse
from wire.pathfinder.matching import matches
from wire.pathfinder.values import COMMANDS, read

FILTERS = [None, "(a=1)", "(a=*)", "(&(a=1)(b=x))", "(|(a=1)(b>3))", "(!(a=1))", "(b=x*)", "(a<2)"]
CONTENTS: list[dict[str, list[str | int]]] = [{}, {"a": [1]}, {"a": ["1"], "b": ["x", 5]}, {"a": [2], "b": [3]}]


class Talk:
    """Clients of one server, by link: who they are, and what they were told of services by subscription."""

    def __init__(self) -> None:
        self.server = Server(wall=lambda: 1e9 + self.now)
        self.now = 0.0
        self.links = 0
        self.client_ids: dict[int, int] = {}
        self.watches: dict[tuple[int, int], tuple[str | None, dict[int, Mapping[str, Any]]]] = {}

    def connect(self, client_id: int) -> int:
        self.links += 1
        self.server.connected(self.links, self.now)
        fields = {"client-id": client_id, "protocol-minimum-version": 2, "protocol-maximum-version": 2}
        if self.ask(self.links, "hello", fields)[-1]["msg-type"] == "complete":
            self.client_ids[self.links] = client_id
        return self.links

    def disconnect(self, link: int) -> None:
        self.server.disconnected(link, self.now)
        self.client_ids.pop(link, None)
        for watch in [watch for watch in self.watches if watch[0] == link]:
            del self.watches[watch]
        self.hear(link, -1)

    def ask(self, link: int, command: str, fields: Mapping[str, Any] | None = None, ta: int = 0) -> list[Any]:
        message = {"ta-cmd": command, "ta-id": ta, "msg-type": "request", **(fields or {})}
        self.server.received(link, encode_message(message), self.now)
        return self.hear(link, ta)

    def hear(self, link: int, ta: int) -> list[Any]:
        """Take what was put out; return what answers one transaction and keep what subscriptions tell."""
        answers = []
        for to, frame in self.server.drain(self.now):
            message = None if frame is None else read(frame)
            if message is not None and message["msg-type"] == "notify" and message["ta-cmd"] == "subscribe":
                self.told(self.watches.setdefault((to, message["ta-id"]), (None, {}))[1], message)
            elif to == link and message is not None and message["ta-id"] == ta:
                answers.append(message)
        return answers

    def told(self, known: dict[int, Mapping[str, Any]], message: Mapping[str, Any]) -> None:
        service_id = message["service-id"]
        assert (service_id in known) == (message["match-type"] != "appeared"), message
        if message["match-type"] == "disappeared":
            del known[service_id]
        else:
            assert seen(message) != known.get(service_id), "a notification without news"
            known[service_id] = seen(message)

    def listed(self, link: int, filter: str | None = None) -> dict[int, Mapping[str, Any]]:
        """Return what the server lists: generations may change untold, so they are left out."""
        answers = self.ask(link, "services", {} if filter is None else {"filter": filter})
        found = [answer for answer in answers if answer["msg-type"] == "notify"]
        assert len({answer["service-id"] for answer in found}) == len(found)
        return {answer["service-id"]: seen(answer) for answer in found}


def seen(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in ("service-props", "ttl", "client-id", "orphan-since")}


class Anything(RuleBasedStateMachine):
    """Whatever clients do, each subscriber knows just the services that match, as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.talk = Talk()
        self.transactions = 0
        self.ids: list[int] = []
        self.looks = 0
        self.talk.connect(100)

    def speaker(self, pick: int) -> int:
        return list(self.talk.client_ids)[pick % len(self.talk.client_ids)]

    @rule(client_id=st.integers(1, 3))
    def connect(self, client_id: int) -> None:
        talk = self.talk
        taken = client_id in talk.client_ids.values()
        link = talk.connect(client_id)
        assert (link not in talk.client_ids) == taken
        if taken:
            talk.disconnect(link)

    @rule(pick=st.integers(0, 3))
    def disconnect(self, pick: int) -> None:
        if len(self.talk.client_ids) > 1:
            self.talk.disconnect(self.speaker(pick))

    @rule(pick=st.integers(0, 3), filter=st.sampled_from(FILTERS))
    def subscribe(self, pick: int, filter: str | None) -> None:
        self.transactions += 1
        link = self.speaker(pick)
        self.talk.watches[link, self.transactions] = (filter, {})
        fields = {"subscription-id": self.transactions, **({} if filter is None else {"filter": filter})}
        assert self.talk.ask(link, "subscribe", fields, self.transactions)[0]["msg-type"] == "accept"

    @rule(pick=st.integers(0, 9))
    def unsubscribe(self, pick: int) -> None:
        if self.talk.watches:
            link, number = list(self.talk.watches)[pick % len(self.talk.watches)]
            self.talk.ask(link, "unsubscribe", {"subscription-id": number})
            del self.talk.watches[link, number]

    @rule(
        pick=st.integers(0, 3),
        service_id=st.integers(0, 3),
        step=st.sampled_from([-1, 0, 0, 1, 1]),
        props=st.sampled_from(CONTENTS),
        ttl=st.integers(0, 2),
    )
    def publish(self, pick: int, service_id: int, step: int, props: dict[str, Any], ttl: int) -> None:
        known = self.talk.server.directory.get(service_id)
        generation = max(0, (0 if known is None else known.generation) + step)
        fields = {"service-id": service_id, "generation": generation, "service-props": props, "ttl": ttl}
        (answer,) = self.talk.ask(self.speaker(pick), "publish", fields)
        if known is None or generation > known.generation:
            assert answer["msg-type"] == "complete"
        elif generation < known.generation:
            assert answer["fail-reason"] == "old-generation"

    @rule(pick=st.integers(0, 3), service_id=st.integers(0, 3))
    def unpublish(self, pick: int, service_id: int) -> None:
        is_there = self.talk.server.directory.get(service_id) is not None
        (answer,) = self.talk.ask(self.speaker(pick), "unpublish", {"service-id": service_id})
        assert (answer["msg-type"] == "complete") == is_there

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        until = self.talk.now + seconds
        while (at := self.talk.server.next_tick()) is not None and at <= until:
            self.talk.now = max(self.talk.now, at)
            self.talk.server.tick(self.talk.now)
        self.talk.now = until
        self.talk.hear(0, -1)

    @invariant()
    def subscribers_know_what_there_is(self) -> None:
        link = self.speaker(0)
        everything = self.talk.listed(link)
        # Lists by one filter at a time, in turn: all eight after each step were two thirds of the time that this takes.
        self.looks += 1
        listed = FILTERS[self.looks % len(FILTERS)]
        for filter in {listed, *(watched for watched, _ in self.talk.watches.values())}:
            tree = None if filter is None else parse(filter)
            right = {each: it for each, it in everything.items() if tree is None or matches(tree, it["service-props"])}
            if filter == listed:
                assert self.talk.listed(link, filter) == right
            for (watching, _), (watched, known) in self.talk.watches.items():
                if watched == filter:
                    assert known == right, f"{filter} on link {watching}"

    @invariant()
    def orphans_are_those_whose_owners_are_gone(self) -> None:
        for service in self.talk.server.directory:
            assert service.is_orphan == (service.owner not in self.talk.server.clients)
            assert service.expires is None or service.expires > self.talk.now


TestAnything = Anything.TestCase


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**64), 2**64), st.floats(), st.text(LETTERS, max_size=3)),
    lambda below: st.one_of(
        st.lists(below, max_size=2), st.dictionaries(st.text(LETTERS, max_size=3), below, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = {
    "ta-cmd": st.sampled_from(COMMANDS),
    "ta-id": st.integers(0, 2),
    "msg-type": st.sampled_from(["request", "request", "request", "complete"]),
    "client-id": st.integers(0, 2),
    "protocol-minimum-version": st.integers(0, 3),
    "protocol-maximum-version": st.integers(0, 3),
    "subscription-id": st.integers(0, 2),
    "service-id": st.integers(0, 2),
    "generation": st.integers(0, 2),
    "service-props": st.sampled_from(CONTENTS),
    "ttl": st.integers(0, 2),
    "filter": st.sampled_from(FILTERS),
}
OWN = {
    "hello": ("client-id", "protocol-minimum-version", "protocol-maximum-version"),
    "subscribe": ("subscription-id", "filter"),
    "unsubscribe": ("subscription-id",),
    "services": ("filter",),
    "publish": ("service-id", "generation", "service-props", "ttl"),
    "unpublish": ("service-id",),
}


@st.composite
def almost_requests(draw: st.DrawFn) -> dict[str, Any]:
    """A request that may have a field too many, one too few, or one of a wrong type."""
    command = draw(st.sampled_from(COMMANDS))
    names = ["ta-cmd", "ta-id", "msg-type", *OWN.get(command, ())]
    message = {name: draw(FIELDS[name]) for name in names}
    message["ta-cmd"] = command
    spoiled = draw(st.sampled_from([*names, *FIELDS, "more"]))
    match draw(st.sampled_from(["keep", "keep", "drop", "change"])):
        case "drop":
            message.pop(spoiled, None)
        case "change":
            message[spoiled] = draw(JSON)
        case _:
            pass
    return {name: value for name, value in message.items() if value is not None or name == spoiled}


@given(st.lists(st.tuples(st.integers(1, 3), st.one_of(almost_requests(), st.binary(max_size=9))), max_size=20))
def test_nothing_that_is_said_harms_the_server(said: list[tuple[int, Any]]) -> None:
    server = Server(limits=Limits(services=2, subscriptions_each=2, clients=2))
    for number, (link, message) in enumerate(said):
        now = number * 0.4  # orphans expire on the way, but nobody's time for a hello is over
        if link not in server.sessions:
            server.connected(link, now)
        server.received(link, message if isinstance(message, bytes) else encode_message(message), now)
        put = list(server.drain(now))
        closed = {to for to, sent in put if sent is None}
        assert closed <= {link}
        assert link in {to for to, _ in put}, "neither an answer nor an end"
        assert not closed & set(server.sessions)
        for _, sent in put:
            assert sent is None or read(sent)
        server.tick(now)
        assert all(sent is not None for _, sent in server.drain(now))


# --- churn ------------------------------------------------------------------------------------------------


def live_objects() -> dict[str, int]:
    gc.collect()
    kinds = (ServiceRecord, Session, Subscription)
    return {kind.__name__: sum(isinstance(each, kind) for each in gc.get_objects()) for kind in kinds}


def sizes(server: Server) -> dict[str, int]:
    return {
        "sessions": len(server.sessions),
        "clients": len(server.clients),
        "strangers": len(server.awaiting_hello),
        "subscriptions": len(server.subscriptions),
        "anchors of subscriptions": len(server.subscribers),
        "characters of filters": server.filters,
        "services": len(server.directory),
        "volume": server.directory.volume,
        "owners": len(server.directory._owned),
        "anchors of services": len(server.directory._index),
        "outbox": len(server.outbox),
        "backlog": len(server.backlog),
        "leaving": len(server.leaving),
    }


def churn(talk: Talk, rng: Random, rounds: int) -> None:
    """Let clients come, do everything, and go without taking anything back."""
    for _ in range(rounds):
        links = [talk.connect(rng.getrandbits(60)) for _ in range(5)]
        for number in range(60):
            link = rng.choice(links)
            unique = f"{rng.getrandbits(60):x}"
            filter = rng.choice([f"(name={unique})", f"(|({unique}=*)(n>5))", f"(!(name={unique}))"])
            talk.ask(link, "subscribe", {"subscription-id": talk.links * 100 + number, "filter": filter}, number + 1)
            service = {"service-id": rng.randrange(300), "generation": int(talk.now * 1000) + number}
            props = {"name": [unique], unique: [number]}
            talk.ask(link, "publish", {**service, "service-props": props, "ttl": rng.choice([0, 1, 5, 50])})
            talk.ask(rng.choice(links), "unpublish", {"service-id": rng.randrange(300)})
            talk.ask(rng.choice(links), "unsubscribe", {"subscription-id": talk.links * 100 + rng.randrange(60)})
        talk.server.received(links[0], b"no message", talk.now)
        for link in links:
            talk.disconnect(link)
        talk.now += 1.0
        talk.server.tick(talk.now)


@pytest.fixture
def quiet() -> Iterator[None]:
    """No garbage collection of its own accord: what is left is counted."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow  # a soak
@pytest.mark.usefixtures("quiet")
def test_churn_leaves_nothing_behind() -> None:
    talk, rng = Talk(), Random(1)
    before = live_objects()
    churn(talk, rng, 20)
    assert len(talk.server.directory._expiries) <= 2 * len(talk.server.directory) + 64
    talk.now += 60.0
    talk.server.tick(talk.now)
    talk.hear(0, -1)
    assert talk.server.next_tick() is None
    assert {what: count for what, count in sizes(talk.server).items() if count} == {}
    talk.watches.clear()
    assert live_objects() == before
