"""Times of plays in memory: sums of floating points, of which none is exactly what it stands for."""

from conformance.engine.play import play
from conformance.suite import Suite
from harness.rai.peers.publisher import Publisher


def test_who_is_on_time_is_so_whatever_the_clock_says() -> None:
    """A subscription of 25 seconds ends after 24.999999999999986 of them, where a clock began at 109.05."""
    suite = Suite("rai")
    [(number, case)] = [
        (number, case) for number, case in enumerate(suite.cases) if case.name.endswith("test_reassert.test_expires")
    ]
    world = suite.harness.world(Publisher.of, "publisher")
    world.clock.time = 109.0539298264605
    judgements = play(case, world, suite, profile="document", number=number).judgements
    assert judgements
    assert not [each for each in judgements if each.outcome.accuses]
