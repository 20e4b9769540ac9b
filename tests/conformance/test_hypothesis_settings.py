"""Property cases: what fails is found all the same where nobody wants it small."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from conformance import hypothesis_constants, hypothesis_settings
from conformance.hypothesis_settings import FEWEST, SHRINKING, searched, without_shrinking
from harness.errors import NotAnswered
from harness.timing import ANSWER, Timing

MOST = 1000


def made(bound: int, seen: list[int], *, shrinks: bool = True) -> Callable[[], None]:
    """Make a property case that fails for numbers beyond a bound."""

    @searched(shrinks=shrinks, number=st.integers(0, MOST))
    def case(number: int) -> None:
        seen.append(number)
        assert number <= bound

    found: Callable[[], None] = case
    return found


def examples(bound: int, *, shrinks: bool = True) -> list[int]:
    seen: list[int] = []
    with pytest.raises(AssertionError):
        made(bound, seen, shrinks=shrinks)()
    return seen


def test_what_fails_is_made_small() -> None:
    assert examples(5)[-1] == 6


def test_what_fails_is_found_without_making_it_small() -> None:
    thorough = examples(5)
    with without_shrinking():
        brief = examples(5)
    # The search is the same, up to the first that fails; that one is played once more, to be shown.
    first = next(place for place, number in enumerate(thorough) if number > 5)
    assert brief[: first + 1] == thorough[: first + 1]
    assert len(brief) < len(thorough)
    assert examples(5) == thorough


class FarNode:
    """A node with a round trip to it, whose clock goes on with every play."""

    def __init__(self, seconds: float = 0.0, *, round_trip: float = 0.0) -> None:
        self.instance = SimpleNamespace(timing=Timing(round_trip=round_trip), clock=SimpleNamespace(now=self.now))
        self.seconds = seconds
        self.plays = 0

    def now(self) -> float:
        return self.plays * self.seconds


def failing(node: FarNode) -> list[int]:
    """Return the numbers that a property case fails for, which says the smallest of them."""
    seen: list[int] = []

    @searched(number=st.integers(0, MOST))
    def case(node: FarNode, number: int) -> None:
        node.plays += 1
        seen.append(number)
        assert number <= 5, number

    with pytest.raises(AssertionError) as error:
        case(node=node)
    found = [each for each in seen if each > 5]
    assert error.value.args[0].startswith(f"{min(found)}\n")
    return found


def test_what_fails_is_made_small_for_some_time_and_no_longer() -> None:
    assert len(failing(FarNode(SHRINKING / 8))) < len(failing(FarNode(0.0)))


def test_what_fails_is_made_small_in_so_many_tries_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """In virtual time nothing takes long: without a bound it would go on for minutes, and end where the machine is."""
    monkeypatch.setattr(hypothesis_settings, "TRIES", 20)
    tries: list[bool] = []

    @searched(numbers=st.lists(st.integers(0, MOST), min_size=8))
    def case(numbers: list[int]) -> None:
        fails = len({number % 64 for number in numbers}) > 4
        tries.extend([fails] if fails or tries else [])
        assert not fails

    with pytest.raises(AssertionError):
        case()
    assert len(tries) == 1 + 20


def test_what_shows_by_silence_is_not_made_small() -> None:
    """A failure that is waited for in vain would be waited for in each of a hundred smaller ones."""
    assert len(set(failing(FarNode(ANSWER)))) == 1


def test_what_does_not_let_an_example_be_judged_is_waited_for_once() -> None:
    seen: list[int] = []

    @searched(number=st.integers(0, MOST))
    def case(number: int) -> None:
        seen.append(number)
        raise NotAnswered("silence")

    for _ in range(2):
        with pytest.raises(NotAnswered):
            case()
    # Once for each time that it is asked: the next play may be answered.
    assert len(seen) == 2


def test_a_case_may_never_shrink() -> None:
    with without_shrinking():
        brief = examples(5)
    assert examples(5, shrinks=False) == brief


def test_what_holds_is_searched_as_long_either_way() -> None:
    thorough: list[int] = []
    made(MOST, thorough)()
    brief: list[int] = []
    with without_shrinking():
        made(MOST, brief)()
    assert brief == thorough


def test_examples_are_drawn_once_and_played_against_each_peer_as_they_were_drawn() -> None:
    drawn: list[int] = []
    seen: list[list[int]] = []

    @searched(shrinks=False, numbers=st.lists(st.integers(0, MOST).map(lambda one: drawn.append(one) or one)))
    def case(peer: int, numbers: list[int]) -> None:
        seen.append([peer, *numbers])
        numbers.append(peer)

    case(1)
    once = len(drawn)
    case(2)
    assert len(drawn) == once > 0
    half = len(seen) // 2
    assert [one[1:] for one in seen[:half]] == [one[1:] for one in seen[half:]]
    assert {one[0] for one in seen[:half]} == {1}


def test_examples_do_not_depend_on_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis would draw constants of modules, where goldwire is installed for development: not ``CONSTANT``."""

    def drawn() -> list[list[str]]:
        seen: list[list[str]] = []

        @searched(texts=st.lists(st.text(max_size=30), min_size=30))
        def case(texts: list[str]) -> None:
            seen.append(texts)

        case()
        return seen

    before = drawn()
    (tmp_path / "of_constants.py").write_text("".join(f"A{n} = 'CONSTANT {n}'\n" for n in range(100)))
    monkeypatch.syspath_prepend(tmp_path)
    import_module("of_constants")
    assert drawn() == before
    del sys.modules["of_constants"]


def test_what_fails_once_is_flaky_without_being_made_small() -> None:
    failures = iter([True])

    @searched(shrinks=False, number=st.integers(0, MOST))
    def case(number: int) -> None:
        assert not next(failures, False)

    with pytest.raises(Flaky):
        case()


def played(round_trip: float) -> list[int]:
    """Return the examples that are played with a node so far away."""
    seen: list[int] = []

    @searched(number=st.integers(0, MOST))
    def case(node: FarNode, number: int) -> None:
        seen.append(number)

    case(node=FarNode(round_trip=round_trip))
    return seen


def test_with_a_node_that_is_far_away_fewer_examples_are_played_and_they_are_the_first() -> None:
    near = played(0.0)
    for round_trip, number in ((0.005, len(near)), (0.04, len(near) // 4), (2.0, FEWEST)):
        for shrinking in (nullcontext, without_shrinking):
            with shrinking():
                assert played(round_trip) == near[:number]


def test_what_fails_far_away_is_made_small_all_the_same() -> None:
    seen: list[int] = []

    @searched(number=st.integers(0, MOST))
    def case(node: FarNode, number: int) -> None:
        seen.append(number)
        assert number < 0

    with pytest.raises(AssertionError):
        case(node=FarNode(round_trip=2.0))
    assert seen[-1] == 0


@pytest.mark.parametrize(("name", "value"), [("WHERE", "hypothesis.nowhere"), ("_NAMES", ("a", "b", "c"))])
def test_a_release_of_hypothesis_without_such_constants_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(hypothesis_constants, name, value)
    assert hypothesis_constants._patches() == {}
