"""Watching growth: what is kept adds up over instances that die young; what is given back again does not."""

from collections.abc import Callable

from fuzz.net.growth_watch import LOOKS, SETTLING, SUSPICIOUS, WARMING_UP, GrowthWatch, SuspectedGrowth
from fuzz.net.moves import NetworkTest, Opens
from fuzz.net.resources import Resources


def numbered(number: int) -> NetworkTest:
    return (Opens(f"t{number}"),)


def first_suspicion(
    watch: GrowthWatch, takes: Callable[[int, int], int], *, dies_after: int, tests: int = 400
) -> SuspectedGrowth | None:
    """Play tests; each instance takes so many descriptors after its n-th, which is the m-th of all."""
    for number in range(tests):
        if number and number % dies_after == 0:
            watch.begin()
        now = Resources(descriptors=20 + takes(number % dies_after, number))
        if (suspected := watch.note(numbered(number), now)) is not None:
            return suspected
    return None


def test_who_keeps_something_with_each_test_is_suspected_however_soon_it_dies() -> None:
    for dies_after in (400, 2 * LOOKS + WARMING_UP, WARMING_UP):
        suspected = first_suspicion(GrowthWatch(), lambda n, _: n, dies_after=dies_after)
        assert suspected is not None, dies_after
        assert suspected.what == "descriptors"
        assert len(suspected.tests) > SUSPICIOUS.descriptors


def test_who_gives_back_what_it_takes_is_not() -> None:
    for dies_after in (400, WARMING_UP):
        assert first_suspicion(GrowthWatch(), lambda n, _: 5 * (n % 2), dies_after=dies_after) is None


def test_what_was_taken_last_may_be_given_back_still() -> None:
    """An instance that dies in the middle of what it is told has kept nothing by that."""
    late = WARMING_UP + 2 * SETTLING
    assert first_suspicion(GrowthWatch(), lambda n, _: 3 * (n >= late - SETTLING + 1), dies_after=late) is None


def test_those_tests_are_named_after_which_it_grew_and_those_forgotten_that_are_explained() -> None:
    def takes(number: int) -> int:
        return sum(1 for each in range(number + 1) if each % 3 == 0)

    watch = GrowthWatch()
    suspected = first_suspicion(watch, lambda n, _: takes(n), dies_after=400)
    assert suspected is not None
    assert {int(test[0].who[1:]) % 3 for test in suspected.tests if isinstance(test[0], Opens)} == {0}
    watch.forget(suspected.what, suspected.tests)
    assert watch.note(numbered(0), Resources(descriptors=20)) is None


def test_what_else_they_took_is_not_forgotten() -> None:
    """A regression: who kept memory with most tests was never seen keeping descriptors with some of them."""
    watch, memory = GrowthWatch(), SUSPICIOUS.memory // LOOKS
    for number in range(WARMING_UP + 2 * LOOKS):
        more = max(0, number - WARMING_UP)
        suspected = watch.note(numbered(number), Resources(memory=1 + more * memory, descriptors=20 + more // 2))
    assert suspected is not None
    assert suspected.what == "memory"
    watch.forget("memory", suspected.tests)
    for number in range(LOOKS):
        suspected = watch.note(numbered(number), Resources(memory=1, descriptors=1))
    assert suspected is None, "as many as are allowed were not passed"
    for number in range(LOOKS):
        suspected = watch.note(numbered(number), Resources(memory=1, descriptors=1 + 2 * number))
    assert suspected is not None
    assert suspected.what == "descriptors"
    assert numbered(WARMING_UP + 2) in suspected.tests
