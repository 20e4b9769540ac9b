"""Which tests are gone on with: energy goes to what few others came to."""

from collections import Counter
from random import Random

import pytest

from fuzz.net import feedback
from fuzz.net.feedback import LEAST, PayingWay, TestPool
from fuzz.net.moves import NetworkTest, Opens

RARE = 99


def a_test(name: str) -> NetworkTest:
    return (Opens(name),)


def test_what_comes_to_something_new_is_kept_and_nothing_else() -> None:
    pool = TestPool(Random(1))
    assert sorted(pool.take(a_test("a"), [1, 2])) == [1, 2]
    assert pool.take(a_test("b"), [1, 2, 1]) == []
    assert pool.take(a_test("c"), [2, 3]) == [3]
    assert [kept.test for kept in pool.kept] == [a_test("a"), a_test("c")]
    assert pool.features == 3


def test_what_was_come_to_seldom_is_chosen_more_often() -> None:
    pool = TestPool(Random(1))
    for number in range(30):
        # Each came to something new once, which all come to by now.
        pool.take(a_test(f"common{number}"), [number])
        for _ in range(50):
            pool.take(a_test("others"), [number])
    pool.take(a_test("rare"), [RARE])
    chosen = Counter(pool.choose().test for _ in range(200))
    assert chosen[a_test("rare")] > 5 * (200 - chosen[a_test("rare")]) / 30


def test_who_was_gone_on_with_often_makes_place_for_others() -> None:
    pool = TestPool(Random(1))
    pool.take(a_test("a"), [1])
    pool.take(a_test("b"), [2])
    pool.kept[0].tried = 10_000
    chosen = Counter(pool.choose().test for _ in range(100))
    assert chosen[a_test("b")] > chosen[a_test("a")]
    assert sum(kept.tried for kept in pool.kept) == 10_100


def test_the_pool_is_bounded_and_lets_go_of_what_says_least(monkeypatch) -> None:
    monkeypatch.setattr(feedback, "MOST", 40)
    pool = TestPool(Random(1))
    pool.take(a_test("rare"), range(-20, 0))
    for number in range(200):
        pool.take(a_test(f"t{number}"), [number])
        pool.take(a_test("again"), [number])
    assert len(pool.kept) <= 40
    there = [kept.test for kept in pool.kept]
    assert a_test("t199") in there
    assert a_test("rare") in there
    assert pool.features == 220, "what was come to is not forgotten"


def test_an_empty_pool_has_nothing_to_splice_with() -> None:
    assert TestPool(Random(1)).any() == ()


def test_the_way_that_pays_more_is_gone_more_often() -> None:
    anew, changed = PayingWay(), PayingWay()
    assert anew.share(changed) == 0.5
    for _ in range(100):
        anew.note(3, 0.5)
        changed.note(3, 1.0)  # as much, in twice the time
    assert 0.6 < anew.share(changed) < 0.7
    assert anew.share(changed) + changed.share(anew) == pytest.approx(1.0)


def test_no_way_is_forgotten_and_what_a_way_paid_long_ago_is() -> None:
    anew, changed = PayingWay(), PayingWay()
    for _ in range(300):
        anew.note(10, 0.1)
        changed.note(0, 0.1)
    assert changed.share(anew) == LEAST
    for _ in range(300):
        anew.note(0, 0.1)
        changed.note(1, 0.1)
    assert anew.share(changed) == LEAST
