"""The search for what lets a process grow: what is tried, of whom, and what for."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.suite import Suite
from fuzz.net import growth_search
from fuzz.net.confirming import LAST, confirm
from fuzz.net.growth_search import SECONDS, SHORT_LIVED, SUSPICIONS, TRIALS, GrowthSearch, growing_test, seconds_for
from fuzz.net.growth_watch import LOOKS, SUSPICIOUS, WARMING_UP, GrowthWatch, SuspectedGrowth
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens
from fuzz.net.node_on_trial import NodeOnTrial, Reproduced
from fuzz.net.resources import Resources
from fuzz.net.symptoms import GROWS, Symptom
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, NetworkWorker, on_trial


@pytest.mark.slow(seconds=4)  # a test is played dozens of times
def test_a_publisher_keeps_what_it_is_told_to_publish() -> None:
    """A regression: a healthy publisher of Urbit was accused, as its application had it publish more and more."""
    suite, target = Suite("urbit"), load("urbit")["publisher"]
    job = FuzzJob(protocol="urbit", iut="peer:publisher", role="publisher", seconds=0, seed=0, out="")
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(suite, description, target, profile="document", transport=transport)
    grows: NetworkTest = (Opens("a"), GivesCommand("grow", ("/0000000/x", "x" * 60_000)), Listens("a"))
    try:
        assert growing_test(node, SuspectedGrowth("memory", (grows,)), 0.1) == GrowthSearch()
        assert confirm(node, [grows], Symptom("growth", "each time the test is played, it takes more memory")) is None
    finally:
        node.stop()


def idle_worker(out: Path) -> Any:
    """Return a worker whose node bears everything, with an investigation of which nothing comes."""
    job = FuzzJob(protocol="zenoh", iut="peer:router", role="router", seconds=0, seed=0, out=str(out))
    worker: Any = NetworkWorker(job, load("zenoh")["router"])
    worker.node = SimpleNamespace(
        restarts=0,
        expected_rules=0,
        known_rules=0,
        hurried=lambda seconds: seconds,
        play=lambda test: (None, None),
        grown=lambda test: None,
    )
    worker.investigation = SimpleNamespace(
        counts=SimpleNamespace(found=0, again=0, unconfirmed=0, expected=0),
        is_known=lambda symptom: False,
        unexplained=lambda tests, symptom: tests,
    )
    return worker


def test_a_test_that_was_looked_into_is_not_the_worst_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: what was known once it was small was looked into again, for seconds, with each suspicion."""
    worker = idle_worker(tmp_path)
    watch, looked_into = GrowthWatch(), list[NetworkTest]()

    def suspected_after(tests: int) -> SuspectedGrowth | None:
        for number in range(tests):
            taken = Resources(memory=1, descriptors=2 * SUSPICIOUS.descriptors if number > WARMING_UP else 1)
            if (suspected := watch.note((Opens(f"t{number}"),), taken)) is not None:
                return suspected
        return None

    worker.node.growth = watch
    worker.investigation.look_into = lambda last, symptom, is_new: looked_into.append(last[-1])
    monkeypatch.setattr("fuzz.net.worker.growing_test", lambda node, grown, usual: GrowthSearch(grown.tests[0]))
    grown = suspected_after(WARMING_UP + 2 * LOOKS)
    assert grown is not None
    worker._look_into_growth(grown)
    assert looked_into == [(Opens(f"t{WARMING_UP + 1}"),)]
    watch.begin()
    assert suspected_after(WARMING_UP) is None


GROWING = Reproduced(Symptom("growth", GROWS.format("descriptors")), None)


@pytest.mark.parametrize(
    ("harmful", "is_explained", "is_known", "tests"),
    [(0.5, False, False, 1), (SHORT_LIVED / 2, False, False, 0), (0.5, True, False, 0), (0.5, False, True, 0)],
)
def test_who_dies_of_every_few_tests_plays_some_many_times(
    harmful: float,
    is_explained: bool,
    is_known: bool,
    tests: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A regression: who was never warm before it died was not seen growing, whatever it kept of each test."""
    worker = idle_worker(tmp_path)
    looked_into = list[tuple[int, bool]]()
    worker.investigation.unexplained = lambda tests, symptom: () if is_explained else tests
    worker.investigation.is_known = lambda symptom: is_known
    worker.investigation.look_into = lambda last, symptom, is_new: looked_into.append((len(last), is_new))
    monkeypatch.setattr("fuzz.net.worker.played_many_times", lambda node, test, deadline: GROWING)
    worker.drawer.harmful = harmful
    # Whatever share of the time that may take, there was time.
    worker._began -= 1000
    worker._one_test()
    assert looked_into == [(1, True)] * tests


def test_most_of_the_time_is_kept_for_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = idle_worker(tmp_path)
    tried = list[NetworkTest]()
    monkeypatch.setattr("fuzz.net.worker.played_many_times", lambda node, test, deadline: tried.append(test))
    worker.drawer.harmful = 0.5
    worker._began -= 1000
    worker._trials_took = 1000 * TRIALS - 1
    worker._one_test()
    assert len(tried) == 1
    worker._trials_took = 1000 * TRIALS + 1
    worker._one_test()
    assert len(tried) == 1


def test_of_suspicions_without_end_some_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: where much leaks, a third of the time went into looking for what does."""
    worker = idle_worker(tmp_path)
    tried, vain = list[SuspectedGrowth](), list[str]()
    worker.node.grown = lambda test: SuspectedGrowth("memory", (test,))
    worker.node.growth = SimpleNamespace(in_vain=vain.append)
    monkeypatch.setattr(
        "fuzz.net.worker.growing_test", lambda node, grown, usual: tried.append(grown) or GrowthSearch()
    )
    worker._began -= 1000
    worker._suspicions_took = 1000 * SUSPICIONS - 1
    worker._one_test()
    assert len(tried) == len(vain) == 1
    worker._suspicions_took = 1000 * SUSPICIONS + 1
    worker._one_test()
    assert len(tried) == len(vain) == 1


def test_what_shows_otherwise_of_many_plays_is_looked_into_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = idle_worker(tmp_path)
    looked_into = list[tuple[int, str, bool]]()
    worker.investigation.look_into = lambda last, symptom, is_new: looked_into.append((len(last), symptom.kind, is_new))
    hang = Reproduced(Symptom("hang", "nobody is answered"), None)
    monkeypatch.setattr("fuzz.net.worker.played_many_times", lambda node, test, deadline: hang)
    worker._try_for_growth((Opens("a"),))
    assert looked_into == [(LAST, "hang", False)], "as many plays as a confirmation may take"


def test_who_takes_long_for_a_test_is_looked_at_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: where ninety plays took more than eight seconds nobody was ever seen to grow."""
    assert seconds_for(0.01) == SECONDS
    assert seconds_for(2.0) > 30 * 2.0
    worker = idle_worker(tmp_path)
    usual, forgotten, vain = list[float](), list[set[NetworkTest]](), list[str]()
    worker.node.play = lambda test: (threading.Event().wait(0.02), None)[1:] * 2
    worker.node.grown = lambda test: SuspectedGrowth("memory", (test,))
    worker.node.growth = SimpleNamespace(in_vain=vain.append, forget=lambda what, tests: forgotten.append(tests))

    def search(node: NodeOnTrial, grown: SuspectedGrowth, seconds: float) -> GrowthSearch:
        usual.append(seconds)
        return GrowthSearch(tried=grown.tests)

    monkeypatch.setattr("fuzz.net.worker.growing_test", search)
    worker._one_test()
    assert usual[0] >= 0.02
    assert len(forgotten) == 1, "others come first, and it may not take more by that"
    assert vain == []


def test_for_what_there_is_no_time_is_told_apart_from_what_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    tests: tuple[NetworkTest, ...] = tuple((Opens(name),) for name in "abc")
    node: Any = None
    now = 0.0

    def played(node: NodeOnTrial, test: NetworkTest, deadline: float) -> Reproduced | None:
        nonlocal now
        now += 0.6 * SECONDS
        return GROWING if test == grows else None

    monkeypatch.setattr(growth_search, "played_many_times", played)
    monkeypatch.setattr(growth_search.time, "monotonic", lambda: now)
    grows: NetworkTest = ()
    assert growing_test(node, SuspectedGrowth("memory", tests), 0.0) == GrowthSearch(tried=tests[:2])
    assert growing_test(node, SuspectedGrowth("memory", tests[:1]), 0.0) == GrowthSearch()
    grows = tests[1]
    assert growing_test(node, SuspectedGrowth("memory", tests), 0.0) == GrowthSearch(tests[1])
