"""Confirming and making small: what was shown once is not said of anybody, unless it is certain."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.suite import Suite
from fuzz.net import confirming, making_small
from fuzz.net.confirming import TIMES, ConfirmedSuspicion, confirm, shown_in_full
from fuzz.net.making_small import HURRY, QUICK_START, made_small
from fuzz.net.moves import NetworkTest, Opens, Says, joined
from fuzz.net.node_on_trial import DEATH, SUSPICION, Reproduced
from fuzz.net.resources import Resources
from fuzz.net.symptoms import KINDS, Symptom
from fuzz.net.targets import load
from harness.timing import ANSWER

TEST: NetworkTest = (Opens("a"), Says("a", (b"x", b"y")))


def play_so(reproduce: Callable[..., Reproduced | None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tests show what a function returns."""
    for module in (confirming, making_small):
        monkeypatch.setattr(module, "reproduce", reproduce)


def small(symptom: Symptom, monkeypatch: pytest.MonkeyPatch, *, shown: int) -> ConfirmedSuspicion | None:
    """Return what comes of a symptom that was shown once, and is shown again in so many of the tries."""
    left = [Reproduced(symptom, None)] * shown

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        return left.pop() if left and test == TEST else None

    play_so(reproduce, monkeypatch)
    node: Any = SimpleNamespace(
        hurried=lambda seconds: 0.0, restart_took=0.0, target=load("zenoh")["router"], suite=Suite("zenoh")
    )
    return made_small(node, ConfirmedSuspicion(TEST, 1, Reproduced(symptom, None)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_shown_again_is_said_of_nobody_unless_it_is_certain(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: a service that was missing once, when there was no core, was a finding."""
    found = small(Symptom(kind, "what"), monkeypatch, shown=0)
    assert (found is not None) == (kind in ("crash", "rule"))
    assert found is None or found.test == TEST


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_again_by_nothing_smaller_stays_as_it_is(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = small(Symptom(kind, "what"), monkeypatch, shown=2)
    assert found is not None
    assert found.test == TEST


@pytest.mark.parametrize("kind", ["hang", "service", "harm"])
def test_what_a_busy_machine_may_be_the_reason_of_is_shown_twice(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert small(Symptom(kind, "what"), monkeypatch, shown=1) is None


@pytest.mark.parametrize(("kept", "grows"), [(120, False), (1_000, True)])
def test_what_is_kept_up_to_a_bound_is_no_growth(kept: int, grows: bool) -> None:
    """A regression: a publisher was accused that kept the last 16,384 subjects, of which each test brought 129."""
    played = 0

    def restart() -> None:
        nonlocal played
        played = 0

    def play(test: NetworkTest) -> tuple[None, None]:
        nonlocal played
        played += 1
        return None, None

    takes = lambda: Resources(memory=(40_000 + 64 * min(played, kept)) << 10)  # noqa: E731
    shown = shown_in_full(SimpleNamespace(restart=restart, play=play, takes=takes), TEST, TIMES)  # type: ignore[arg-type]
    assert (shown is not None) == grows


def test_what_is_shown_by_one_test_of_many_and_one_message_of_it_is_no_more_than_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A regression: the last sixteen tests, which a hang took to show, were a finding of two thousand lines.

    Whom a hang meets first is as it comes.
    """
    fresh_ones = list[bool]()

    def reproduce(node: Any, test: NetworkTest, *, times: int = 1, fresh: bool = True) -> Reproduced | None:
        fresh_ones.append(fresh)
        said = {each for move in test if isinstance(move, Says) for each in move.data}
        symptom = Symptom("hang", "nobody is answered" if len(test) % 2 else "nobody is served")
        return Reproduced(symptom, None) if said >= {b"bad", b"worse"} else None

    play_so(reproduce, monkeypatch)
    harmless: NetworkTest = (Opens("a"), *(Says("a", (b"%d" % number,)) for number in range(60)))
    culprit: NetworkTest = (Opens("a"), Says("a", (b"bad",)), *harmless[1:], Says("a", (b"y", b"worse", b"z")))
    node: Any = SimpleNamespace(
        hurried=lambda seconds: 0.0, restart_took=0.0, target=load("zenoh")["router"], suite=Suite("zenoh")
    )
    tests = [harmless, culprit, *[harmless] * 12]
    # Suspected of growth, for which it was played thirty times.
    found = confirm(node, tests, Symptom("growth", "it takes more"))
    assert found is not None
    assert (len(found.tests), found.times) == (14, 1)
    small = made_small(node, found)
    assert small is not None
    # The session's opening may stand twice, as nobody is there to say that once is enough.
    assert len(small.test) <= 4
    # What stood behind the message that did it is gone, in the same move as well.
    assert [each for move in small.test if isinstance(move, Says) for each in move.data] == [b"bad", b"worse"]
    assert all(fresh_ones), "who has heard much may not show again what a fresh one does"


def confirmed(symptom: Symptom, test: NetworkTest) -> ConfirmedSuspicion:
    return ConfirmedSuspicion(test, 1, Reproduced(symptom, None))


def node_in_a_hurry() -> Any:
    return SimpleNamespace(
        hurried=lambda seconds: seconds / 10, restart_took=0.0, target=load("zenoh")["router"], suite=Suite("zenoh")
    )


# Of two, what was left out in vain is to be tried again, as the other moves are gone then: but not the same as before.
@pytest.mark.parametrize(("needed", "most"), [((b"4",), 19), ((b"4", b"7"), 24)])
def test_nothing_is_tried_twice_and_what_is_found_is_shown_in_full(
    needed: tuple[bytes, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: two seconds of a short campaign were spent on tests that had been tried before."""
    tried: list[tuple[float, NetworkTest]] = []
    node, harm = node_in_a_hurry(), Symptom("harm", "what")
    test: NetworkTest = (Opens("a"), *(Says("a", (b"%d" % number, b"x")) for number in range(9)))

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        tried.append((node.patience, test))
        said = {each for move in test if isinstance(move, Says) for each in move.data}
        return Reproduced(harm, None) if said.issuperset(needed) else None

    play_so(reproduce, monkeypatch)
    confirm(node, [test], harm)
    assert tried.pop()[0] == pytest.approx(SUSPICION / 10), "what shows is shown in full later"
    small = made_small(node, confirmed(harm, test))
    assert small is not None
    assert small.test == (Opens("a"), *(Says("a", (each,)) for each in needed))
    # Twice, as a busy machine may have been the reason.
    (*while_small, before, at_last) = tried
    assert before == at_last == (ANSWER, small.test)
    assert len(while_small) == len({each for _, each in while_small})
    assert len(while_small) <= most


def test_what_is_known_by_what_it_is_about_is_not_made_any_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[NetworkTest] = []

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        tried.append(test)
        return Reproduced(hang, None) if any(isinstance(move, Says) for move in test) else None

    hang = Symptom("hang", "nobody is answered")
    play_so(reproduce, monkeypatch)
    asked: list[tuple[str, ...]] = []

    def is_known(early: ConfirmedSuspicion) -> bool:
        asked.append(early.symptom.about)
        return True

    test: NetworkTest = (Opens("a"), Says("a", (b"\x1f" * 40,)))
    small = made_small(node_in_a_hurry(), confirmed(hang, test), is_known=is_known)
    assert small is not None
    assert asked == [("OAM",)] == [small.symptom.about]
    assert {len(move.data[0]) for each in tried for move in each if isinstance(move, Says)} <= {40}


def test_who_was_played_on_to_know_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: whoever starts slowly was gone on with, and had shown something already when he was asked."""
    tried: list[tuple[bool, bool]] = []

    def reproduce(node: Any, test: NetworkTest, *, times: int = 1, fresh: bool = True) -> Reproduced | None:
        said = [each for move in test if isinstance(move, Says) for each in move.data]
        shows = len(said) > 1
        tried.append((fresh, shows))
        return Reproduced(hang, None) if shows else None

    hang, node, before = Symptom("hang", "nobody is answered"), node_in_a_hurry(), list[int]()
    node.restart_took = 2 * QUICK_START
    play_so(reproduce, monkeypatch)

    def is_known(early: ConfirmedSuspicion) -> bool:
        before.append(len(tried))
        return False

    made_small(node, confirmed(hang, (Opens("a"), Says("a", (b"\x1f" * 40, b"\x1f" * 30)))), is_known=is_known)
    (place,) = before
    assert not tried[place - 1][1], "who has shown nothing is gone on with otherwise"
    assert tried[place][0]


@pytest.mark.parametrize(("in_full", "kind"), [(Symptom("crash", "at", place="at"), "crash"), (None, "")])
def test_who_takes_his_time_to_die_is_said_to_have_died(
    in_full: Symptom | None, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a hurry it hangs: a report of a sanitizer takes longer than an answer. A hang that shows then only is none."""
    node, hang = node_in_a_hurry(), Symptom("hang", "nobody is answered")

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        shown = in_full if node.patience == ANSWER else hang
        return None if shown is None else Reproduced(shown, None)

    play_so(reproduce, monkeypatch)
    small = made_small(node, confirmed(hang, TEST))
    assert (small.symptom.kind if small is not None else "") == kind
    assert small is None or small.test != TEST, "it dies of less as well"


@pytest.mark.parametrize(("kind", "hurried"), [("hang", HURRY / 10), ("crash", DEATH)])
def test_whoever_dies_is_waited_for_while_his_test_is_made_small(
    kind: str, hurried: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over UDP no connection ends: who takes his time to die would hang in each try, and nothing be made smaller."""
    node, patience = node_in_a_hurry(), list[float]()

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        patience.append(node.patience)
        return None

    play_so(reproduce, monkeypatch)
    made_small(node, confirmed(Symptom(kind, "what"), TEST))
    assert patience[0] == pytest.approx(hurried)


def test_what_is_suspected_of_growth_is_not_hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Played thirty times it would meet a busy moment, and hang."""
    node, patience = node_in_a_hurry(), list[float]()

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        patience.append(node.patience)
        return None

    monkeypatch.setattr(confirming, "reproduce", reproduce)
    confirm(node, [TEST], Symptom("growth", "it takes more"))
    assert patience == [ANSWER]


CRASH, HANG, BROKEN = (
    Symptom("crash", "at a.c:1", place="a.c:1"),
    Symptom("hang", "nobody is answered"),
    Symptom("rule", "it is broken", "ZI-018"),
)


@pytest.mark.parametrize(
    ("suspected", "alone", "found", "tests"),
    [
        (CRASH, BROKEN, CRASH, 4),
        (HANG, BROKEN, HANG, 4),
        (CRASH, HANG, CRASH, 4),
        (HANG, CRASH, CRASH, 1),
        (BROKEN, CRASH, BROKEN, 4),
        (CRASH, None, CRASH, 4),
    ],
)
def test_what_a_test_shows_alone_may_be_something_else(
    suspected: Symptom, alone: Symptom | None, found: Symptom, tests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: where a test broke a rule as well, what it took four tests to show was given up."""

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        shown = suspected if sum(isinstance(move, Says) for move in test) >= 4 else alone
        return None if shown is None else Reproduced(shown, None)

    play_so(reproduce, monkeypatch)
    confirmed = confirm(node_in_a_hurry(), [TEST] * 9, suspected)
    assert confirmed is not None
    assert (confirmed.symptom, len(confirmed.tests)) == (found, tests)


def test_where_only_something_else_shows_that_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    play_so(lambda node, test, **how: Reproduced(BROKEN, None), monkeypatch)
    confirmed = confirm(node_in_a_hurry(), [TEST] * 9, CRASH)
    assert confirmed is not None
    assert (confirmed.symptom, len(confirmed.tests)) == (BROKEN, 1)


def test_of_who_does_not_come_up_any_more_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: each smaller test "showed" it, as none was played, and what it died of was cut away."""
    gone = Symptom("hang", "it does not start any more: tcp/127.0.0.1:7447 does not answer")
    play_so(lambda node, test, **how: Reproduced(gone, None, is_unplayed=True), monkeypatch)
    tests = [(Opens(name), Says(name, (b"x",))) for name in "abc"]
    found = confirm(node_in_a_hurry(), tests, HANG)
    assert found is not None
    small = made_small(node_in_a_hurry(), found)
    assert small is not None
    assert small.test == joined(tests)
    assert small.symptom == gone, "and it is one finding whatever was said"
    # Who could not be started for a moment shows nothing of a test that does something else.
    one, left = confirmed(CRASH, TEST), [Reproduced(CRASH, None)] * 2
    play_so(
        lambda node, test, **how: left.pop() if test == TEST else Reproduced(gone, None, is_unplayed=True), monkeypatch
    )
    assert made_small(node_in_a_hurry(), one).test == TEST  # type: ignore[union-attr]


def test_who_does_not_come_up_for_a_moment_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: all last tests were a finding about nothing, by which everything like it was known afterwards."""
    gone = Symptom("hang", "it does not start any more: no port is free")
    tests = [(Opens(name), Says(name, (b"x",))) for name in "abc"]
    left = [Reproduced(gone, None, is_unplayed=True)]

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        return left.pop() if left else Reproduced(HANG, None)

    play_so(reproduce, monkeypatch)
    found = confirm(node_in_a_hurry(), tests, HANG)
    assert found is not None
    assert (found.symptom, len(found.tests)) == (HANG, 1)
    # Who comes up at last is looked into as ever.
    play_so(lambda node, test, **how: Reproduced(HANG, None), monkeypatch)
    unplayed = ConfirmedSuspicion(joined(tests), 1, Reproduced(gone, None, is_unplayed=True), tuple(tests))
    small = made_small(node_in_a_hurry(), unplayed)
    assert small is not None
    assert (small.symptom.what, len(small.test)) == (HANG.what, 1)


def test_who_has_died_and_does_not_come_up_again_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: where it had died, and what it had printed, was lost."""
    gone = Symptom("hang", "it does not start any more: no port is free")
    play_so(lambda node, test, **how: Reproduced(gone, None, is_unplayed=True), monkeypatch)
    found = confirm(node_in_a_hurry(), [TEST], CRASH)
    assert found is not None
    small = made_small(node_in_a_hurry(), found)
    assert small is not None
    assert small.symptom == CRASH
