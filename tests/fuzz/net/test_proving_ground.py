"""The proving ground: planted defects are of all kinds, and fuzzing alone comes by them, no case of the suite does."""

import os
import runpy
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from conformance.verdicts import Outcome
from fuzz.net.targets import load as load_targets
from fuzz.net.worker import WORKERS
from harness.errors import BadDescription
from harness.peers.peer import Peer
from harness.peers.variants import Variant, together
from harness.protocol import known, load

KINDS = ("parser", "state", "text", "resource", "hang", "harm", "service", "depth")
LEAST = 12
"""Defects of a protocol."""


def fuzzed() -> Iterator[str]:
    """The protocols that bring targets."""
    for protocol in known():
        try:
            load_targets(protocol)
        except BadDescription:
            continue
        yield protocol


FUZZED = tuple(fuzzed())


def planted(protocol: str) -> list[Variant]:
    """The defects of a protocol's peers."""
    defects = load(protocol).defects
    return [] if defects is None else list(defects.all.values())


ROLES = [(protocol, role) for protocol in FUZZED for role in dict.fromkeys(each.role for each in planted(protocol))]


@pytest.mark.parametrize("protocol", FUZZED)
def test_there_are_enough_of_all_kinds(protocol: str) -> None:
    defects = planted(protocol)
    kinds = {kind for each in defects for kind in each.rules}
    assert len(defects) >= LEAST
    assert kinds == set(KINDS)
    assert all(len(each.rules) == 1 for each in defects)


@pytest.mark.parametrize(("protocol", "role"), ROLES)
def test_they_are_in_roles_that_are_fuzzed_and_each_is_told_in_its_own_words(protocol: str, role: str) -> None:
    assert role in load_targets(protocol)
    sentences = [each.sentence for each in planted(protocol) if each.role == role]
    assert len(set(sentences)) == len(sentences)
    for each in planted(protocol):
        if each.role == role:
            assert issubclass(each.peer, load(protocol).roles[role])


Outcomes = dict[str, list[tuple[str, str]]]
"""By case: each rule that was judged, and how."""


def outcomes(protocol: str, role: str, peer: type[Peer]) -> Outcomes:
    """Play all cases in memory against a peer."""
    suite, found = Suite(protocol), Outcomes()
    world = suite.harness.world(peer.of, role)
    for number, case in enumerate(fitting(suite, role), 1):
        # Histories are drawn at random, as a fuzzer's tests are: they may come by the same states.
        if case.marks.is_history:
            continue
        if not world.alive():
            world.restart()
        with without_shrinking():
            result = play(case, world, suite, profile="document", number=number)
        found[case.name] = sorted({(each.rule, each.outcome.value) for each in result.judgements})
    return found


@cache
def of_a_healthy_peer(protocol: str, role: str) -> Outcomes:
    return outcomes(protocol, role, load(protocol).roles[role])


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long defects have slept, which is not waited for."""
    seconds: list[float] = []
    for protocol in FUZZED:
        planted(protocol)
        package = getattr(load(protocol).defects, "package", "")
        for name, module in list(sys.modules.items()):
            if package and name.startswith(f"{package}.") and hasattr(module, "time"):
                monkeypatch.setattr(module, "time", SimpleNamespace(sleep=seconds.append))
    return seconds


@pytest.mark.slow(seconds=3)  # all cases of a suite
@pytest.mark.parametrize(("protocol", "role"), ROLES)
def test_no_case_comes_by_any_of_them(protocol: str, role: str, slept: list[float]) -> None:
    """On a peer that has them all: whichever a case comes by, it comes by it there."""
    defects = load(protocol).defects
    assert defects is not None
    healthy = of_a_healthy_peer(protocol, role)
    assert len(healthy) > 30
    seen = {Outcome(outcome) for each in healthy.values() for _, outcome in each}
    assert not any(each.accuses or each is Outcome.ERROR for each in seen)
    differing = different(outcomes(protocol, role, together(defects.of_role(role))), healthy)
    assert not differing
    assert not slept


@pytest.mark.slow
@pytest.mark.sweep  # all cases of a suite, once for each defect
@pytest.mark.parametrize(
    ("protocol", "defect"), [(protocol, each) for protocol in FUZZED for each in planted(protocol)],
    ids=[f"{protocol}-{each.name}" for protocol in FUZZED for each in planted(protocol)],
)  # fmt: skip
def test_no_case_comes_by_one_of_them(protocol: str, defect: Variant, slept: list[float]) -> None:
    assert not different(outcomes(protocol, defect.role, defect.peer), of_a_healthy_peer(protocol, defect.role))
    assert not slept


def different(seen: Outcomes, healthy: Outcomes) -> dict[str, object]:
    """Return the cases that came out otherwise."""
    return {name: (seen[name], healthy[name]) for name in healthy if seen[name] != healthy[name]}


PROVING_GROUND = Path(__file__).parents[3] / "benchmarks" / "fuzz_proving_ground.py"
PATIENCE = 120.0


@pytest.mark.slow(seconds=8)  # a campaign that is ended once it has played a test
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_campaign_that_is_cut_short_is_not_taken_for_a_whole_one(end: signal.Signals, tmp_path: Path) -> None:
    """A regression: the benchmark went on with what there was, and kept it as what such a campaign finds."""
    played = tmp_path / "played.ndjson"
    options = ["zenoh", "--role", "router", "--for", "600s", "--seeds", "1", "--workers", "1", "--feedback", "with"]
    command = [sys.executable, str(PROVING_GROUND), *options, "--results", str(played)]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.glob(f"*/{WORKERS}/*.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(end)
        assert process.wait(PATIENCE) != 0
    assert not played.exists()


def test_what_a_healthy_peer_shows_is_no_defect_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: a crash of every peer counted for each defect, and a role with one as if all had been found."""
    ground = runpy.run_path(str(PROVING_GROUND))
    explained = ground["explained"]
    planted = ground["defects_of"]("zenoh", "router")
    names = [each.name for each in planted]
    origin = SimpleNamespace(seconds=7.0)
    findings = [SimpleNamespace(signature=each, sentence=each, origin=origin) for each in ("all", "one", "none")]
    showing = {"all": {"", *names}, "one": {names[3]}, "none": set()}
    monkeypatch.setitem(
        explained.__globals__,
        "shown",
        lambda protocol, role, name, findings: [each for each, by in showing.items() if name in by],
    )
    assert explained("zenoh", "router", findings, planted) == ({names[3]: 7.0}, ("none",), ("all",))


def test_what_shows_now_and_then_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: what went by which of two datagrams came first was often said to be about no defect."""
    ground = runpy.run_path(str(PROVING_GROUND))
    explained, planted = ground["explained"], ground["defects_of"]("zenoh", "router")
    found = SimpleNamespace(signature="sometimes", sentence="sometimes", origin=SimpleNamespace(seconds=7.0))
    asked = Counter[str]()

    def shown(protocol: str, role: str, name: str, findings: list[Any]) -> list[str]:
        asked[name] += 1
        return ["sometimes"] if name == "tells-nobody" and asked[name] == 2 else []

    monkeypatch.setitem(explained.__globals__, "shown", shown)
    assert explained("zenoh", "router", [found], planted) == ({"tells-nobody": 7.0}, (), ())
    assert set(asked.values()) == {2}, "what is known is not tried any more"
