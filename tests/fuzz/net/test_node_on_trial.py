"""Who cannot be tried is told so before the first test, and accused of nothing."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import DEFAULT, Mock

import pytest
from brokers import need_broker
from investigated import described_router

import goldwire
from conformance.suite import Suite
from fuzz.net import node_on_trial, starvation
from fuzz.net.expected_findings import ExpectedFinding, ExpectedFindings
from fuzz.net.fuzzed_node import UnwellNode
from fuzz.net.moves import Listens, NetworkTest, Opens, Says, WaitsAWhile
from fuzz.net.node_on_trial import DEATH, UNHEARD, NodeOnTrial, reproduce
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from harness.errors import StartFailed
from harness.timing import ANSWER
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    EntityKind,
    Extension,
    Interest,
    InterestFinal,
    Mode,
    Options,
    WireExpr,
)
from wire.zenoh.values_transport import Close, Frame, write_batch, write_network

MUTE = """
name = "mute"
protocol = "zenoh"
roles = ["client"]
dials = ["client"]
[process]
command = ["{python}", "-m", "goldwire", "peer", "zenoh", "--role", "client", "--connect", "{connect}"]
ready = "line"
"""


def put_on_trial(iut: str, role: str, *options: str, expected: ExpectedFindings | None = None) -> Iterator[NodeOnTrial]:
    suite = Suite("zenoh")
    job = FuzzJob(protocol="zenoh", iut=iut, role=role, seconds=0, seed=0, out="", options=options)
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(
        suite, description, load("zenoh")[role], profile="document", transport=transport, expected=expected
    )
    try:
        yield node
    finally:
        node.stop()


def test_who_takes_no_control_lines_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "mute.toml").write_text(MUTE)
    for node in put_on_trial(str(tmp_path / "mute.toml"), "client"):
        with pytest.raises(StartFailed, match="mute:client takes no control lines: without them nothing"):
            node.prove_service()


@pytest.mark.slow(seconds=5)  # an answer that never comes is waited for
def test_who_serves_nobody_even_when_fresh_is_no_finding() -> None:
    for node in put_on_trial("peer:router", "router", "--fault", "no-final"):
        with pytest.raises(StartFailed, match="does not work on a fresh instance"):
            node.prove_service()


TOKEN = Declare(DeclareEntity(EntityKind.TOKEN, 1, WireExpr("a/b")))
ABOUT_IT = Interest(1, Mode.CURRENT, Options.T | Options.R, WireExpr("a/**"))
TOLD: NetworkTest = (
    *(Opens("a"), Says("a", (write_network(TOKEN),)), Listens("a")),
    *(Opens("b"), Says("b", (write_network(ABOUT_IT),)), Listens("b")),
)


@pytest.mark.parametrize("expected", ["ZD-012", "ZD-013", ""])
def test_a_broken_rule_shows_unless_it_is_expected(expected: str) -> None:
    """A regression: where one was expected, in half of all tests, nobody looked for growth."""
    entry = ExpectedFinding(kind="rule", signature=expected or "none", reason="known for long")
    known = ExpectedFindings(findings=(entry,))
    for node in put_on_trial("peer:router", "router", "--fault", "qos-as-buffer", expected=known):
        _, symptom = node.play(TOLD)
        is_expected = expected == "ZD-012"
        assert node.expected_rules == is_expected
        assert (symptom.rule if symptom is not None else "") == ("" if is_expected else "ZD-012")


@pytest.mark.parametrize(("about", "is_well"), [("", True), ("ZD-013", True), ("ZD-012", False)])
def test_a_test_passes_over_what_is_expected_but_for_what_it_is_about(
    about: str, is_well: bool, tmp_path: Path
) -> None:
    """A regression: a finding's test judged what was expected, or was green as soon as that was."""
    known = tmp_path / "known.toml"
    known.write_text('[[expect]]\nrule = "ZD-012"\noutcome = "violation"\nreason = "known for long"\n')
    options = ("--fault", "qos-as-buffer")
    with goldwire.fuzzed_node("zenoh", "peer:", expectations=known, about=about, options=options) as node:
        for move in TOLD:
            node.do(move)
        with nullcontext() if is_well else pytest.raises(UnwellNode, match="ZD-012"):
            node.is_well()


def test_a_rule_that_is_known_to_be_broken_hides_nothing() -> None:
    """A regression: who broke a rule in each test was never seen to grow, nor to break another rule."""
    for node in put_on_trial("peer:router", "router", "--fault", "qos-as-buffer"):
        node.is_known = lambda symptom: symptom.rule == "ZD-012"
        assert node.play(TOLD)[1] is None
        assert (node.known_rules, node.expected_rules) == (1, 0)


def test_who_says_its_version_is_expected_to_break_what_that_does(tmp_path: Path) -> None:
    """A regression: a program was not asked, and what is known of one version was expected of all."""
    asked = MUTE.replace("[process]", '[process]\nversion_command = ["echo", "mute 2.7.1"]')
    (tmp_path / "mute.toml").write_text(asked)
    job = FuzzJob(protocol="zenoh", iut=str(tmp_path / "mute.toml"), role="client", seconds=0, seed=0, out="")
    assert on_trial(job, Suite("zenoh"))[0].version == "2.7.1"


def test_a_sanitizers_report_is_a_crash_also_where_the_program_goes_on(tmp_path: Path) -> None:
    """A regression: UBSan goes on by default, and without ``crash_signs`` in the description nobody was told."""
    iut = described_router(tmp_path, "echo 'a/b.c:7:9: runtime error: shift exponent 64' >&2")
    for node in put_on_trial(str(iut), "router"):
        with pytest.raises(StartFailed, match=r"b\.c:7:9: runtime error: shift exponent"):
            node.prove_service()


def test_who_is_told_what_is_wrong_is_not_accused_of_the_same() -> None:
    """A regression: what one session had said wrong was handed on to another, and the node was accused (of ZI-049)."""
    wrong = Declare(DeclareEntity(EntityKind.SUBSCRIBER, 9, WireExpr("c")), extensions=(Extension(1, b"\0"),))
    told: NetworkTest = (Opens("c"), Says("c", (write_network(wrong),)), Listens("c"))
    for node in put_on_trial("peer:router", "router", "--fault", "qos-as-buffer"):
        _, symptom = node.play(TOLD)
        assert symptom is not None
        assert symptom.rule == "ZD-012"
        assert node.play((*told, *TOLD))[1] is None


def test_who_passes_over_a_frame_of_another_number_is_not_accused() -> None:
    """A regression: a Final came in a frame under a number that had been, and was taken for said."""
    asked = write_network(Interest(1, Mode.CURRENT_FUTURE, Options.T))
    late = write_batch([Frame(0, (InterestFinal(1),))])
    told: NetworkTest = (
        *(Opens("a"), Says("a", (asked,)), Listens("a"), Says("a", (late,), "frame"), Listens("a")),
        *(Opens("b"), Says("b", (write_network(TOKEN),)), Listens("b"), Listens("a")),
    )
    for node in put_on_trial("peer:router", "router"):
        assert node.play(told)[1] is None


PING = b'{"ta-cmd":"ping","ta-id":77,"msg-type":"request"%b}'


@pytest.mark.parametrize(
    ("protocol", "role", "moves", "broken"),
    [
        ("zenoh", "router", TOLD, set()),
        ("pathfinder", "server", (Opens("a"), Says("a", (PING % b"",))), set()),
        ("pathfinder", "server", (Opens("a"), Says("a", (PING % b',"x":1',))), {"PF-081", "PF-181"}),
        ("urbit", "publisher", (Opens("a"), Listens("a")), set()),
        ("rai", "publisher", (Opens("a"), Listens("a")), set()),
        ("rai", "subscriber", (Opens("a"), Listens("a")), set()),
    ],
)
def test_the_tester_is_judged_as_others_are(protocol: str, role: str, moves: NetworkTest, broken: set[str]) -> None:
    suite, target = Suite(protocol), load(protocol)[role]
    job = FuzzJob(protocol=protocol, iut=f"peer:{role}", role=role, seconds=0, seed=0, out="")
    description, transport = on_trial(job, suite)
    if transport == "nats":
        need_broker(transport)
    node = NodeOnTrial(suite, description, target, profile="document", transport=transport)
    try:
        played, symptom = node.play(moves)
        assert symptom is None
        assert played is not None
        judged = list(node.judged_of_tester(played))
    finally:
        node.stop()
    assert judged, "there is no evidence of anything"
    assert {each.rule for each in judged if each.outcome.accuses} == broken


@pytest.mark.slow(seconds=8)  # a node is not listened to for longer than it need put up with
@pytest.mark.parametrize(("waited", "seen"), [(0.01, "harm"), (UNHEARD + 0.1, "")])
def test_who_cuts_off_somebody_who_did_not_listen_for_long_harms_nobody(waited: float, seen: str) -> None:
    """A regression: tests took long on a busy machine, and a router was accused that had waited for seconds."""
    closes_strangely = Says("a", (write_batch([Close(255, True)]),), "frame")
    for node in put_on_trial("peer:router", "router", "--defect", "ends-all-sessions"):
        _, symptom = node.play((Opens("a"), WaitsAWhile(waited), closes_strangely))
        assert (symptom.kind if symptom is not None else "") == seen
        # Whoever was cut off is there again: what comes next is not passed over.
        _, symptom = node.play((Opens("a"), closes_strangely))
        assert symptom is not None
        assert symptom.kind == "harm"


def test_a_healthy_router_is_served() -> None:
    for node in put_on_trial("peer:router", "router"):
        node.prove_service()


@pytest.mark.parametrize(("failures", "seen"), [(1, ""), (2, "hang")])
def test_a_start_that_failed_is_tried_once_more(failures: int, seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: on a busy machine a router took 20 s to start, once, and was said not to start any more."""
    for node in put_on_trial("peer:router", "router"):
        starts = [*([StartFailed("has not answered within 20 s")] * failures), DEFAULT]
        monkeypatch.setattr(node, "restart", Mock(wraps=node.restart, side_effect=starts))
        shown = reproduce(node, TOLD)
        assert (shown.symptom.kind if shown is not None else "") == seen


class _Clock:
    """A clock that goes on by a hundredth of a second each time it is read."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        self.at += 0.01
        return self.at


def test_who_is_slow_at_first_has_as_long_for_the_first_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has to get warm was judged by how quick he was before he was started anew."""
    for node in put_on_trial("peer:router", "router"):
        clock = _Clock()
        monkeypatch.setattr(node.instance, "clock", clock)
        monkeypatch.setattr(node, "_begin_service", lambda: setattr(clock, "at", clock.at + 1.0))  # noqa: B023
        node.patience, answers = 0.1, list[float]()
        for node.played in (0, 1):
            assert node._ready() is None
            answers.append(node.instance.timing.answer)
        assert answers == [pytest.approx(1.0, abs=0.05), 0.1]


def test_who_has_no_core_to_die_on_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: on a busy machine a connection ended half a second before its process, and that was harm."""
    for node in put_on_trial("peer:router", "router"):
        clock = _Clock()
        monkeypatch.setattr(node.instance, "clock", clock)
        monkeypatch.setattr(node_on_trial, "members_of", lambda process: ["1"])
        monkeypatch.setattr(starvation, "delays", lambda pid: {pid: clock.at / 2})  # noqa: B023
        began = clock.at
        monkeypatch.setattr(node.instance, "alive", lambda: clock.at < began + 0.5)  # noqa: B023
        assert node._died(began) is not None
        # And who never has a core is not waited for without end.
        monkeypatch.setattr(node_on_trial, "UNTOLD", 1.0)
        monkeypatch.setattr(starvation, "delays", lambda pid: {pid: clock.at})  # noqa: B023
        monkeypatch.setattr(node.instance, "alive", lambda: clock.at < began + 30)  # noqa: B023
        looked = clock.at
        assert node._died(looked) is None
        assert clock.at - looked == pytest.approx(1.0 + DEATH, abs=0.1)


@pytest.mark.parametrize(("tried_for", "waited"), [(0.05, 0.25), (0.4, 0.1), (2.6, 0.06)])
def test_who_dies_is_waited_for_less_where_nobody_has_answered_for_long(
    tried_for: float, waited: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection ends before its process does: where none has ended, each try of a hang waited for a death."""
    for node in put_on_trial("peer:router", "router"):
        clock = _Clock()
        began = clock.at
        monkeypatch.setattr(node.instance, "clock", clock)
        # Nobody waits for a core: the machine that plays this may be busy.
        monkeypatch.setattr(node_on_trial, "members_of", lambda process: [])
        monkeypatch.setattr(node.instance, "alive", lambda: True)
        node.instance.timing.answer = ANSWER
        clock.at += tried_for
        looked = clock.at
        assert node._died(began) is None
        assert clock.at - looked == pytest.approx(waited, abs=0.03)
