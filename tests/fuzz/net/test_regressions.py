"""Tests as they are written for a person: whatever was found, its regression is Python, and tells a node just that."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import goldwire
from conformance.suite import Suite
from fuzz.net.confirming import confirm
from fuzz.net.finding import NetworkFinding, NetworkOrigin, regression
from fuzz.net.fuzzed_node import FuzzedNode, FuzzedNodeSession
from fuzz.net.making_small import made_small
from fuzz.net.moves import (
    EndsSession,
    FuzzMove,
    GivesCommand,
    Listens,
    NetworkTest,
    Opens,
    Says,
    WaitsAWhile,
    joined,
    renamed,
    sessions_of,
    spelled_out,
)
from fuzz.net.node_on_trial import reproduce
from fuzz.net.playing import TestPlayer
from fuzz.net.symptoms import Symptom
from fuzz.net.targets import load
from harness.trace import Direction, Entry
from wire.zenoh.values import Declare, DeclareFinal, Extension, Interest, Mode, Options, Push, WireExpr
from wire.zenoh.values_transport import write_network

LAYOUTS = ("zenoh/network-message", "pathfinder/message", "rai/envelope", "urbit/packet")
FINAL = write_network(Declare(DeclareFinal()))
ASKS = write_network(Interest(1, Mode.CURRENT, Options(2)))

who = st.sampled_from("abc")
data = st.lists(st.binary(max_size=12) | st.sampled_from((FINAL, ASKS, b'{"a":"\\n\n\t\x00"}')), max_size=3).map(tuple)
moves: st.SearchStrategy[FuzzMove] = st.one_of(
    st.builds(Opens, who, st.sampled_from(("", "", "peer"))),
    st.builds(Says, who, data, st.sampled_from(("message", "message", "frame", "raw")), st.sampled_from((0, 0, 1, 7))),
    st.builds(Listens, who),
    st.builds(WaitsAWhile, st.sampled_from((0.001, 0.01, 1e-07, 0.0))),
    st.builds(EndsSession, who, st.sampled_from(("close", "drop", "abort"))),
    st.builds(GivesCommand, st.text(max_size=5), st.lists(st.text(max_size=5), max_size=2).map(tuple)),
)
tests: st.SearchStrategy[NetworkTest] = st.lists(moves, max_size=12).map(tuple)
symptoms = st.builds(
    Symptom,
    st.sampled_from(("crash", "growth")),
    st.text(max_size=20) | st.sampled_from(('"""', 'says "', "C:\\new", "\0", "a\r\nb")),
    about=st.lists(st.text(max_size=8), max_size=2).map(tuple),
)
DIED = Symptom("crash", "x")


def finding(test: NetworkTest, symptom: Symptom = DIED, layout: str = LAYOUTS[0], times: int = 1) -> NetworkFinding:
    return NetworkFinding(
        signature=symptom.digest,
        protocol="zenoh",
        role="a-router",
        iut="peer:",
        version="",
        transport="tcp",
        profile="document",
        layout=layout,
        symptom=symptom,
        test=test,
        found=test,
        times=times,
        options=("--defect", "all"),
        origin=NetworkOrigin(0, 0, 1, 1.0, ""),
    )


class Listener:
    """Stands in for a node: what real sessions tell it is noted down as moves, and nothing is played."""

    def __init__(self) -> None:
        self.told: list[FuzzMove] = []
        self.opened = 0
        self.asked: list[int] = []
        self.checks = 0
        self.tests = 0

    def session(self, how: str = "") -> FuzzedNodeSession:
        self.opened += 1
        self.do(Opens(f"session{self.opened}", how))
        return FuzzedNodeSession(cast(FuzzedNode, self), f"session{self.opened}")

    def do(self, move: FuzzMove) -> None:
        self.told.append(move)

    def pause(self, seconds: float) -> None:
        self.do(WaitsAWhile(seconds))

    def command(self, verb: str, *arguments: str) -> None:
        self.do(GivesCommand(verb, arguments))

    def times(self, count: int) -> Iterator[int]:
        self.asked.append(count)
        yield 0

    def is_well(self) -> None:
        self.checks += 1


def run(source: str) -> Listener:
    """Run a regression as pytest would, and return what it told the node."""
    node = Listener()

    @contextmanager
    def fuzzed_node(*words: Any, **more: Any) -> Iterator[Listener]:
        yield node

    names: dict[str, Any] = {}
    exec(compile(source, "test_regression.py", "exec"), names)
    (function,) = (each for name, each in names.items() if name.startswith("test_"))
    with mock.patch.object(goldwire, "fuzzed_node", fuzzed_node):
        function()
    return node


def one_name_each(test: NetworkTest) -> NetworkTest:
    """Return a test whose sessions are called by the order in which they are opened, each by another name."""
    names: dict[str, str] = {}
    made: list[FuzzMove] = []
    for move in test:
        if isinstance(move, Opens):
            names[move.who] = f"session{sum(isinstance(each, Opens) for each in made) + 1}"
        made += renamed((move,), names)
    return tuple(made)


@given(tests, symptoms, st.sampled_from(LAYOUTS), st.sampled_from((1, 30)))
@example((), Symptom("growth", "grows"), LAYOUTS[0], 30)
@example((Opens("a"), Says("a", (b'{"a":"\n"}',))), DIED, "pathfinder/message", 1)
@example((Says("a", (FINAL,)), Opens("a"), Opens("a"), Listens("b")), DIED, LAYOUTS[0], 1)
def test_every_regression_is_python_and_tells_the_node_what_the_test_does(
    test: NetworkTest, symptom: Symptom, layout: str, times: int
) -> None:
    source = regression(finding(test, symptom, layout, times))
    source.encode()
    ast.parse(source)
    node = run(source)
    assert tuple(node.told) == one_name_each(spelled_out(test))
    assert (node.checks, node.asked) == (1, [times] if times > 1 else [])


@given(tests)
def test_what_is_spelled_out_opens_each_session_before_it_does_anything(test: NetworkTest) -> None:
    spelled = spelled_out(test)
    there: set[str] = set()
    opened: set[str] = set()
    for move in spelled:
        match move:
            case Opens(who):
                assert who not in there
                there.add(who)
                opened.add(who)
            case Says(who) | Listens(who):
                assert who in opened
            case EndsSession(who):
                assert who in opened
                there.discard(who)
    assert sessions_of(spelled) == sessions_of(test)
    assert spelled_out(spelled) == spelled


@given(st.lists(tests, min_size=1, max_size=3))
def test_tests_that_are_joined_do_what_each_of_them_does(several: list[NetworkTest]) -> None:
    """Moves of a session that its own test does not open are none of another's."""
    said = [move.data for test in several for move in spelled_out(test) if isinstance(move, Says)]
    assert [move.data for move in spelled_out(joined(several)) if isinstance(move, Says)] == said


@pytest.mark.parametrize(
    "test",
    [
        (Says("a", (ASKS,)), Opens("a"), Says("a", (ASKS,)), Opens("a", "peer"), Says("a", (FINAL,)), Listens("b")),
        (Opens("a"), EndsSession("a", "close"), EndsSession("a", "drop"), Says("a", (ASKS,)), Opens("a"), Opens("a")),
    ],
)
def test_what_is_spelled_out_is_played_just_so(test: NetworkTest) -> None:
    def done(test: NetworkTest) -> list[tuple[int, str, int]]:
        suite = Suite("zenoh")
        transport = suite.harness.usual_transport
        instance = suite.harness.world(suite.harness.roles["router"].of, "router")
        played = TestPlayer(load("zenoh")["router"], instance, "zenoh", transport).play(test)
        links: dict[Any, int] = {}

        def told(entry: Entry) -> tuple[int, str, int]:
            return links.setdefault(entry.link, len(links)), entry.what.value, len(entry.data)

        return [told(entry) for entry in played.trace if entry.direction is Direction.SENT]

    assert spelled_out(test) != test
    assert done(spelled_out(test)) == done(test)


@pytest.mark.slow(seconds=8)  # it is made small
def test_what_was_made_small_has_no_moves_of_sessions_that_nobody_opens() -> None:
    kills = Says("b", (write_network(Push(WireExpr("a"), b"x", (Extension(9, bytes(256)),))),))
    test: NetworkTest = (
        *(Says("c", (ASKS,)), Opens("a"), Says("a", (ASKS,)), Opens("b"), Listens("c")),
        *(EndsSession("c", "close"), Opens("b"), kills, Listens("a")),
    )
    with goldwire.fuzzed_node("zenoh", "peer:", options=("--defect", "dies-of-a-large-extension")) as trial:
        node = trial.node
        shown = reproduce(node, test)
        assert shown is not None
        found = confirm(node, [test], shown.symptom)
        assert found is not None
        for thorough in (0.0, 1.0):
            small = made_small(node, found, thorough=thorough)
            assert small.symptom.rough == shown.symptom.rough
            assert small.test == spelled_out(small.test)
            assert run(regression(finding(small.test))).checks == 1
        assert len(small.test) <= 3
        assert reproduce(node, small.test) is not None
