"""The rate that a campaign shows: of the last moment, and none before one has passed."""

from fuzz.recent_rate import RATE_WINDOW, RecentRate


def test_no_rate_is_shown_at_the_first_tick() -> None:
    recently = RecentRate()
    # Ten seconds of loading, in which nothing is tried, and then a burst.
    assert recently.rate(10.0, 0) is None
    assert recently.rate(10.1, 50) is None
    assert recently.rate(10.0 + RATE_WINDOW, 500) == 500 / RATE_WINDOW


def test_the_rate_is_that_of_the_last_moment() -> None:
    recently = RecentRate()
    tenths = range(101)
    slow = [recently.rate(tenth / 10, tenth) for tenth in tenths][-1]
    assert slow is not None
    assert abs(slow - 10) < 0.1
    fast = [recently.rate(10 + tenth / 10, 100 + 1000 * tenth) for tenth in tenths][-1]
    assert fast is not None
    assert abs(fast - 10_000) < 100


def test_a_search_that_starts_again_has_no_rate_at_first() -> None:
    recently = RecentRate()
    assert recently.rate(0.0, 1) is None
    assert recently.rate(2.0, 1000) is not None
    assert recently.rate(2.5, 10) is None
