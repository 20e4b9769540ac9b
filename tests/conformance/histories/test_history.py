"""A history as a case: made from its seed, made small when it fails, confirmed by all of it."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import pytest
from hypothesis import given, settings

from conformance.cases import SEEDS, NotPlayed, RuleBroken, RulesBroken
from conformance.histories import history, shrinking
from conformance.histories.budget import Budget
from conformance.histories.drawing import Chooser, Seeded, generate, histories
from conformance.histories.history import LENGTH, play_abilities, play_history
from conformance.histories.mismatch import Mismatch
from harness.clock import Clock, RealClock, VirtualClock
from harness.errors import Unreachable
from harness.timing import Timing


class Counting:
    """A history of numbers; what the node adds up has to be their sum."""

    def __init__(self, node: "Adder") -> None:
        self.node = node
        self.sum = 0
        self.judged: Counter[str] = Counter()

    def begin(self) -> None:
        self.node.sum = 0

    def fits(self, move: int) -> bool:
        return move > 0

    def do(self, move: int) -> None:
        self.node.played.append(move)
        self.sum += move
        self.judged["R-1"] += 1
        if self.node.add(move) != self.sum:
            raise Mismatch("R-2", f"{self.node.sum} is not {self.sum}")


class Numbers:
    """Draws numbers up to nine."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self.chooser = chooser

    def opening(self) -> list[int]:
        return [1]

    def move(self) -> int | None:
        return self.chooser.randint(0, 9) or None

    def closing(self) -> list[int]:
        return []


class AdderAbilities:
    """What an adder cannot do."""

    blocked = ""

    def __init__(self, complaints: Sequence[tuple[str, str]]) -> None:
        self.complaints = complaints


class AdderHistories:
    """Histories of adders."""

    tried = frozenset({"R-1"})
    generator = Numbers

    def abilities(self, node: "Adder") -> AdderAbilities:
        return AdderAbilities(node.complaints)

    @contextmanager
    def scene(self, node: "Adder", abilities: AdderAbilities) -> Iterator[Counting]:
        yield Counting(node)

    def simpler(self, move: int) -> Sequence[int]:
        return [move - 1] if move > 1 else []


class Adder:
    """A node that adds; ``wrong`` is a number that it cannot add to more than ten."""

    def __init__(self, wrong: int = 0) -> None:
        self.instance = self
        self.clock: Clock = RealClock()
        self.timing = Timing()
        self.wrong = wrong
        self.sum = 0
        self.played = self.trace = list[int]()
        self.complaints: list[tuple[str, str]] = []
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1

    def add(self, number: int) -> int:
        self.sum += number - (number == self.wrong and self.sum > 10)
        return self.sum


def play(node: Adder, seed: int = 1) -> frozenset[str]:
    return play_history(node, AdderHistories(), "sums", seed)


class Waiting(Adder):
    """An adder that is waited for where it adds wrongly."""

    def __init__(self, wrong: int) -> None:
        super().__init__(wrong)
        self.waits: list[float] = []

    def add(self, number: int) -> int:
        is_wrong = number == self.wrong and self.sum > 10
        if is_wrong:
            self.waits.append(self.timing.patience_for("R-2"))
            self.timing.waited(self.waits[-1])
            self.timing.showed("R-2")
        return super().add(number)


def test_what_a_history_shows_by_waiting_in_full_its_parts_show_in_a_window() -> None:
    node = Waiting(wrong=7)
    with pytest.raises(RuleBroken):
        play(node)
    first, *others = node.waits
    assert first == node.timing.patience
    assert set(others) == {node.timing.window}


def test_who_keeps_to_the_model_is_judged_by_what_was_compared() -> None:
    assert play(Adder()) == {"R-1"}


def test_a_seed_makes_the_same_history_again() -> None:
    one, two = Adder(), Adder()
    play(one, 5)
    play(two, 5)
    assert one.played == two.played
    assert len(one.played) == LENGTH
    play(three := Adder(), 6)
    assert three.played != one.played


def test_a_difference_is_made_small_and_told_with_its_rule() -> None:
    with pytest.raises(RuleBroken) as caught:
        play(Adder(wrong=7))
    assert caught.value.ids == ("R-2",)
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(" is not " + str(int(lines[0].split()[0]) + 1))
    assert lines[-2].endswith(". 7")
    assert len(lines) < 8
    assert lines[-1] == "seed 1; alone: -k 'test_histories.test_sums[1]'"


@pytest.mark.parametrize(("clock", "is_small"), [(RealClock(), False), (VirtualClock(), True)])
def test_how_busy_the_machine_is_changes_nothing_in_virtual_time(
    clock: Clock, is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = count(0.0, 3600.0)
    monkeypatch.setattr(shrinking, "time", SimpleNamespace(monotonic=lambda: next(hours)))
    node = Adder(wrong=7)
    node.clock = clock
    with pytest.raises(RuleBroken) as caught:
        play(node)
    assert (len(str(caught.value).splitlines()) < 8) is is_small


def test_what_shows_a_difference_is_where_the_smallest_history_failed() -> None:
    node = Adder(wrong=7)
    with pytest.raises(RuleBroken) as caught:
        play(node)
    until = caught.value.until
    moves = [int(line.split()[-1]) for line in str(caught.value).splitlines()[1:-1]]
    assert node.trace[until - len(moves) : until] == moves
    assert until < len(node.trace), "smaller ones were tried behind it, which did not fail"


def test_what_is_tried_first_leaves_nothing_behind_for_histories() -> None:
    node = Adder()
    play(node)
    play(node, 2)
    assert node.restarts == 1


def test_all_of_it_is_played_to_confirm_it() -> None:
    """As whoever repeats it alone plays it: what is made small may fail where the whole does not, and the reverse."""
    alone, node = Adder(wrong=7), Adder(wrong=7)
    with pytest.raises(RuleBroken):
        play(node)
    node.played.clear()
    with pytest.raises(RuleBroken) as caught:
        play(node)
    with pytest.raises(RuleBroken) as repeated:
        play(alone)
    assert node.played == alone.played[: len(node.played)]
    assert caught.value.ids == repeated.value.ids


def test_a_history_that_is_not_made_small_says_which_one_is() -> None:
    node = Adder(wrong=7)
    with pytest.raises(RuleBroken) as first:
        play(node, 2)
    with pytest.raises(RuleBroken) as second:
        play(node, 1)
    assert (first.value.shown_by, second.value.shown_by) == ("", "test_histories.test_sums[2]")


def test_what_is_not_seen_again_is_judged_as_not_seen() -> None:
    node = Adder(wrong=7)
    with pytest.raises(RuleBroken):
        play(node)
    node.wrong = 0
    assert play(node) == {"R-1", "R-2"}


def test_what_a_node_cannot_do_is_told_rule_by_rule() -> None:
    node = Adder()
    node.complaints = [("R-3", "no"), ("R-4", "nor this"), ("R-3", "never")]
    with pytest.raises(RulesBroken) as caught:
        play_abilities(node, AdderHistories())
    assert [(each.ids, str(each)) for each in caught.value.each] == [(("R-3",), "no\nnever"), (("R-4",), "nor this")]
    node.complaints = []
    assert play_abilities(node, AdderHistories()) == {"R-1"}


def test_nothing_is_played_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "BUDGET", Budget(0.0))
    with pytest.raises(NotPlayed, match="the time for histories is over"):
        play(Adder())


def test_a_node_that_is_too_far_away_for_the_time_plays_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Adder()
    far.timing = Timing(round_trip=0.4)
    monkeypatch.setattr(history, "BUDGET", Budget(10.0))
    with pytest.raises(NotPlayed, match=r"400 ms away.*--for 480s"):
        play(far)
    monkeypatch.setattr(history, "BUDGET", Budget(480.0))
    assert play(far) == {"R-1"}


def test_the_same_moves_confirm_a_history_also_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Monitors may have accused in it: nobody else could confirm that."""
    node = Adder()
    play(node)
    first = list(node.played)
    node.played.clear()
    monkeypatch.setattr(history, "BUDGET", Budget(0.0))
    assert play(node) == {"R-1"}
    assert node.played == first


class Refusing(AdderHistories):
    """Histories of an adder that answers nothing."""

    tries = 0

    def abilities(self, node: Adder) -> AdderAbilities:
        self.tries += 1
        raise Unreachable("nobody there")


def test_a_node_whose_abilities_cannot_be_tried_is_asked_once() -> None:
    node, histories = Adder(), Refusing()
    with pytest.raises(Unreachable):
        play_history(node, histories, "sums", 1)
    for seed in (1, 2):
        with pytest.raises(NotPlayed, match="what the node does could not be tried: nobody there"):
            play_history(node, histories, "sums", seed)
    assert histories.tries == 1


def test_time_goes_by_for_histories_while_one_is_played_and_not_beside_that(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0, 10)  # each look at it takes ten seconds
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    budget = Budget(1000.0)
    assert budget.left() == budget.left() == 1000
    with budget.spending():
        assert budget.left() == 990
        assert budget.left() == 980
    assert budget.left() == 970
    with budget.spending():
        with budget.aside():
            assert budget.left() == float("inf")
        assert budget.left() == 950
    with budget.aside():
        assert budget.left() == float("inf")
    assert budget.left() == 940
    budget.begin(5.0)
    assert budget.left() == 5


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(histories(Numbers, "sums", 8))
def test_hypothesis_draws_histories_too(moves: tuple[int, ...]) -> None:
    assert moves[0] == 1
    assert all(0 < move <= 9 for move in moves)
    assert len(moves) <= 9


def test_histories_are_as_long_as_they_are_to_be() -> None:
    assert len(generate(Numbers, "sums", 3, 12)) == 12


def test_what_is_dealt_comes_first_in_one_of_the_histories_of_a_run() -> None:
    options = range(43)
    decks = [Seeded("sums", seed).dealt(options) for seed in range(1, SEEDS + 1)]
    assert all(sorted(deck) == list(options) for deck in decks)
    least = len(options) // SEEDS + 1
    assert {option for deck in decks for option in deck[:least]} == set(options)
    assert Seeded("sums", 3).dealt(options) == decks[2]
    assert Seeded("products", 3).dealt(options) != decks[2]
