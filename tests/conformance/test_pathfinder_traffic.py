"""The Pathfinder monitors on real traffic: what the reference server and the reference client say is never accused."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pathfinder.monitors import MONITORS
from harness.memory import World
from harness.pathfinder import DIALS, NodeUnderTest, conversations
from harness.pathfinder.client import Client
from harness.pathfinder.conversation import Conversation
from harness.pathfinder.driver import Session
from harness.pathfinder.limits import Limits
from harness.pathfinder.scenarios import SCENARIOS
from harness.pathfinder.scripted import NotCome, Visit
from harness.pathfinder.server import Server
from harness.trace import Trace


def accusations(heard: Iterable[Conversation]) -> list[str]:
    return [
        f"{monitor.name} ({', '.join(monitor.rules)}) on link {each.link} at {finding.entry}: {finding.what}"
        for each in heard
        for monitor in MONITORS
        for finding in monitor.watch(each)
        if not finding.ok
    ]


def judged(heard: Iterable[Conversation]) -> set[str]:
    """Return the rules on which there is any evidence."""
    return {rule for each in heard for monitor in MONITORS if list(monitor.watch(each)) for rule in monitor.rules}


TIGHT = Limits(
    hello_patience=3.0, strangers=2, clients=3, services=6, services_each=4, subscriptions_each=3, transactions=4
)

numbers = st.integers(0, 3)
filters = st.sampled_from([None, "(a=1)", "(a=*)", "(&(a=1)(b=x))", "(!(a=1))", "(b=x*)", "(a=}", "(a>x)", "(=)"])
props = st.sampled_from(
    [{}, {"a": [1]}, {"a": ["1"], "b": ["x", 5]}, {"a": [2, 2], "b": []}, {"b": ["\U0001f310", -(2**63)]}]
)


def optional(filter: str | None) -> dict[str, Any]:
    return {} if filter is None else {"filter": filter}


requests = st.one_of(
    st.builds(
        lambda who, least, most: (
            "hello",
            {"client-id": who, "protocol-minimum-version": least, "protocol-maximum-version": most},
        ),
        numbers,
        st.integers(1, 3),
        st.integers(1, 3),
    ),
    st.builds(lambda id, filter: ("subscribe", {"subscription-id": id, **optional(filter)}), numbers, filters),
    st.builds(lambda id: ("unsubscribe", {"subscription-id": id}), numbers),
    st.builds(
        lambda id, generation, props, ttl: (
            "publish",
            {"service-id": id, "generation": generation, "service-props": props, "ttl": ttl},
        ),
        numbers,
        numbers,
        props,
        st.sampled_from([0, 1, 2, 2**63 - 1]),
    ),
    st.builds(lambda id: ("unpublish", {"service-id": id}), numbers),
    st.builds(lambda filter: ("services", optional(filter)), filters),
    st.sampled_from(["subscriptions", "clients", "ping"]).map(lambda command: (command, {})),
)

Step = tuple[str, int, Any]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), numbers, requests),
        st.tuples(st.just("ask"), numbers, requests),
        st.tuples(st.just("ask under a used ta-id"), numbers, requests),
        st.tuples(st.just("ask"), numbers, requests),
        st.tuples(st.just("come without a word"), numbers, st.none()),
        st.tuples(st.just("hear"), numbers, st.sampled_from([0.0, 0.5, 4.0])),
        st.tuples(st.just("leave"), numbers, st.none()),
    ),
    min_size=8,
    max_size=60,
)


class Crowd:
    """Clients of one server, who say what they like and read when they like."""

    def __init__(self, *, profile: str, limits: Limits) -> None:
        self.world = World(
            lambda: Server(profile=profile, limits=limits, wall=lambda: 1e9 + self.world.clock.now()), "server"
        )
        self.trace = Trace("pathfinder", clock=self.world.clock)
        self.deployed = profile == "deployed"
        self.here: dict[int, Session] = {}
        self.sessions: list[Session] = []

    def session(self, place: int) -> Session:
        """Return who is at a place; somebody new, who says hello, if nobody is."""
        if place not in self.here or self.here[place].ended:
            self.come(place).hello()
        return self.here[place]

    def come(self, place: int) -> Session:
        """Connect anew."""
        link = self.world.link(self.trace, f"l{len(self.sessions)}")
        self.here[place] = Session(link, self.trace, client_id=place, deployed=self.deployed)
        self.sessions.append(self.here[place])
        return self.here[place]

    def act(self, what: str, place: int, how: Any) -> None:
        if what == "come without a word":
            self.come(place)
            return
        session = self.session(place)
        match what:
            case "ask":
                session.begin(*how)
            case "ask under a used ta-id":
                over = [each.ta for each in session.conversation.transactions if each.is_over]
                session.begin(*how, ta=over[-1] if over else None)
            case "hear":
                session.read(how)
            case _:
                session.close()


@settings(deadline=None)
@given(steps, st.sampled_from(["document", "deployed"]), st.sampled_from([TIGHT, Limits()]))
def test_the_reference_server_is_not_accused_whatever_it_is_asked(
    steps: list[Step], profile: str, limits: Limits
) -> None:
    crowd = Crowd(profile=profile, limits=limits)
    for step in steps:
        crowd.act(*step)
    for session in crowd.sessions:
        session.read(1.0)  # what was asked for last
    assert crowd.world.alive(), crowd.world.epitaph()
    assert accusations(each.conversation for each in crowd.sessions) == []
    assert accusations(conversations(crowd.trace).values()) == []


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("servers", [1, 2])
def test_the_reference_client_is_not_accused_in_any_scenario(scenario: str, servers: int) -> None:
    instance = World(Client, "client", dials="client" in DIALS)
    node = NodeUnderTest(instance, Trace("pathfinder", clock=instance.clock), profile="document", namespace="n/")
    domain = node.begin(scenario, servers=servers)
    visits = [domain.accept(server) for server in range(servers)]
    with suppress(NotCome):  # it is connected to nobody: a transient client leaves by itself
        domain.read(3.0)
        visits[0].drop()
        domain.comes(0)
        domain.read(3.0)
    assert accusations(node.conversations) == []
    assert accusations(conversations(node.trace).values()) == []
    assert {"PF-091", "PF-107", "PF-112"} <= judged(node.conversations)


def test_the_reference_client_is_not_accused_when_it_is_refused() -> None:
    instance = World(Client, "client", dials="client" in DIALS)
    node = NodeUnderTest(instance, Trace("pathfinder", clock=instance.clock), profile="document", namespace="n/")
    domain = node.begin("publish")
    visit = domain.accept(0, obliges=False)
    domain.needs(lambda: bool(visit.asked("hello")), "said hello")
    visit.answer(visit.asked("hello")[0], "fail", {"fail-reason": "insufficient-resources"})
    again: Visit | None = visit
    for _ in range(3):
        if again is not None:
            again.obliges = True
            domain.read(2.0)
            again = domain.comes(0, within=1.0) if again.ended else again
    assert accusations(node.conversations) == []
