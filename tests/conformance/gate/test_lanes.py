"""Lanes: cases are played side by side, and each comes to what it would have come to alone."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conformance.cases import Case, Marks
from conformance.engine import tester
from conformance.engine.confirmation import ConfirmedPlay
from conformance.engine.play import PlayResult
from conformance.gate.lanes import MOST, LaneLost, Lanes, lanes_for
from conformance.gate.messages import ImplementationNotStarted, Message, Played
from conformance.gate.player import Player
from conformance.run.records import CasePlayed
from conformance.run.settings import gather
from conformance.verdicts import Judgement, Outcome
from harness.timing import Timing
from harness.trace import Trace

PATIENCE = 20.0
"""Seconds for what takes milliseconds, on a machine that is busy."""


def case(name: str, function: Callable[..., object] = lambda node: None) -> Case:
    return Case(name, function, Marks(("ZI-011",)))


def played(name: str, error: str = "") -> Played:
    return Played(CasePlayed(case=name, sentence="", file="", line=1, rules=(), outcome=Outcome.PASS, error=error))


class Playing:
    """A player that says who played, and does what is done to it."""

    def __init__(self, progress: Callable[[str], None], act: Callable[[str], None] = lambda name: None) -> None:
        self.progress = progress
        self.act = act

    def play(self, one: Case) -> Message:
        self.progress(f"plays {one.name}")
        self.act(one.name)
        return played(one.name, str(os.getpid()))

    def close(self) -> None:
        pass


@contextmanager
def lanes(
    make: Callable[[Callable[[str], None]], object], cases: Sequence[Case], count: int, said: list[str] | None = None
) -> Iterator[Lanes]:
    found = Lanes(make, cases, count, (said if said is not None else []).append)  # type: ignore[arg-type]
    try:
        yield found
    finally:
        found.close()


def test_there_are_as_many_as_the_way_is_long_but_not_more_than_some_or_than_cases():
    assert [lanes_for(seconds, 500) for seconds in (0.0, 0.001, 0.012)] == [1, 1, 1]
    assert 1 < lanes_for(0.05, 500) < lanes_for(0.2, 500) < lanes_for(0.4, 500) <= MOST == lanes_for(60.0, 500)
    assert lanes_for(0.4, 3) == 3
    assert lanes_for(0.4, 0) == 1


def test_all_cases_are_played_by_several_and_asked_for_in_any_order():
    names, said = [f"test_a.test_{number}" for number in range(12)], []
    cases = [case(name) for name in names]
    with lanes(Playing, cases, 3, said) as beside:
        found = [beside.play(each) for each in reversed(cases)]
    assert [each.record.case for each in found if isinstance(each, Played)] == [*reversed(names)]
    assert str(os.getpid()) not in {each.record.error for each in found if isinstance(each, Played)}
    assert sorted(said) == sorted(f"plays {name}" for name in names)


def test_they_play_at_the_same_time(tmp_path: Path):
    """Two cases that end only once both have begun."""

    def meet(name: str) -> None:
        Path(tmp_path, name).touch()
        end = time.monotonic() + PATIENCE
        while len([*tmp_path.iterdir()]) < 2 and time.monotonic() < end:
            os.sched_yield()
        assert len([*tmp_path.iterdir()]) == 2

    cases = [case("one"), case("other")]
    with lanes(lambda progress: Playing(progress, meet), cases, 2) as beside:
        assert [beside.play(each) for each in cases]


def test_what_plays_many_examples_begins_first():
    def of_many(node: object) -> None: ...

    of_many.is_hypothesis_test = True  # type: ignore[attr-defined]
    said: list[str] = []
    cases = [case("quick"), case("long", of_many)]
    with lanes(Playing, cases, 1, said) as beside:
        for each in cases:
            beside.play(each)
    assert said == ["plays long", "plays quick"]


def test_a_lane_that_dies_takes_its_case_alone_with_it():
    def die(name: str) -> None:
        if name == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)

    cases = [case("fine"), case("deadly"), case("last")]
    with lanes(lambda progress: Playing(progress, die), cases, 2) as beside:
        assert isinstance(beside.play(cases[0]), Played)
        with pytest.raises(LaneLost, match="status -9"):
            beside.play(cases[1])
        assert isinstance(beside.play(cases[2]), Played)


def test_when_all_lanes_have_died_the_cases_that_are_left_are_lost():
    def die(name: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    cases = [case(name) for name in ("a", "b", "c")]
    with lanes(lambda progress: Playing(progress, die), cases, 2) as beside:
        for each in cases:
            with pytest.raises(LaneLost):
                beside.play(each)


class NotStarting(Playing):
    """A player whose implementation starts once, if at all: for whoever comes first."""

    room: int
    folder: Path

    def play(self, one: Case) -> Message:
        mine = Path(self.folder, "taken")
        if self.room:
            with suppress(FileExistsError), mine.open("x") as file:
                file.write(str(os.getpid()))
        if not mine.exists() or mine.read_text() != str(os.getpid()):
            return ImplementationNotStarted("no room")
        return super().play(one)


@pytest.mark.parametrize("room", [0, 1])
def test_who_does_not_start_so_often_is_played_by_those_that_run(tmp_path: Path, room: int):
    NotStarting.room, NotStarting.folder = room, tmp_path
    cases = [case(name) for name in "abcd"]
    with lanes(NotStarting, cases, 3) as beside:
        found = [beside.play(each) for each in cases[: 4 if room else 1]]
    assert {type(each) for each in found} == {Played if room else ImplementationNotStarted}


def test_a_case_that_comes_back_late_is_played_by_who_was_done(tmp_path: Path):
    go = tmp_path / "go"

    class Late(Playing):
        """Plays the first case; whoever has not done that turns out not to start, once the first was heard of."""

        here = False

        def play(self, one: Case) -> Message:
            self.here = self.here or one.name == "first"
            end = time.monotonic() + PATIENCE
            while not self.here and not go.exists() and time.monotonic() < end:
                os.sched_yield()
            return super().play(one) if self.here else ImplementationNotStarted("no room")

    cases = [case("first"), case("other")]
    with lanes(Late, cases, 2) as beside:
        assert isinstance(beside.play(cases[0]), Played)
        go.touch()
        assert isinstance(beside.play(cases[1]), Played)


def test_the_end_waits_for_nobody(tmp_path: Path):
    closed = tmp_path / "closed"

    class Endless(Playing):
        def play(self, one: Case) -> Message:
            if one.name == "endless":
                signal.pause()
            return super().play(one)

        def close(self) -> None:
            closed.touch()

    cases = [case("endless"), case("quick")]
    with lanes(Endless, cases, 2) as beside:
        beside.play(cases[1])
    # Its instance was stopped all the same.
    assert closed.exists()


class FarTester:
    """A tester of a node that is far away, or near."""

    round_trip = 0.4
    made: list[Timing | None] = []

    def __init__(self, *_: object, known: Timing | None = None, **__: object) -> None:
        FarTester.made.append(known)

    def measured(self) -> Timing:
        return Timing(round_trip=self.round_trip)

    def play(self, one: Case) -> ConfirmedPlay:
        judgement = Judgement("ZI-011", Outcome.PASS, one.name, what=str(os.getpid()))
        return ConfirmedPlay(PlayResult(one.name, (judgement,), Trace("zenoh"), 0.0))

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("round_trip", "beside"), [(0.4, True), (0.001, False)])
def test_only_a_node_that_is_far_away_is_played_side_by_side(
    monkeypatch: pytest.MonkeyPatch, round_trip: float, beside: bool
):
    monkeypatch.setattr(tester, "Tester", FarTester)
    monkeypatch.setattr(FarTester, "round_trip", round_trip)
    monkeypatch.setattr(FarTester, "made", [])
    said: list[str] = []
    player = Player(gather("peer:", "zenoh"), said.append)
    cases = [case(f"test_a.test_{number}", test_the_end_waits_for_nobody) for number in range(4)]
    player.ahead = cases
    try:
        found = [player.play(each) for each in cases]
    finally:
        player.close()
    players = {each.record.judgements[0].what for each in found if isinstance(each, Played)}
    assert [each.record.case for each in found if isinstance(each, Played)] == [each.name for each in cases]
    assert (str(os.getpid()) not in players) is beside
    assert FarTester.made == [None], "what plays in this process is started once"
    assert [line for line in said if "at once" in line] == (["400 ms away: 4 cases at once"] if beside else [])


def test_who_plays_beside_knows_what_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tester, "Tester", FarTester)
    monkeypatch.setattr(FarTester, "made", [])
    known = Timing(round_trip=0.3)
    player = Player(gather("peer:", "zenoh"), lambda line: None, known)
    player.play(case("test_a.test_b", test_the_end_waits_for_nobody))
    assert FarTester.made == [known]
