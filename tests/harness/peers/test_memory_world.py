"""Peers in memory and virtual time, whatever they do."""

from harness.pathfinder.peers.server import Server
from harness.peers.memory import World


class IsNeverDone(Server):
    """Has something to do at once, and never does it."""

    def next_tick(self) -> float | None:
        return 0.0

    def tick(self, now: float) -> None:
        pass


def test_time_goes_on_though_a_peer_is_busy_with_nothing() -> None:
    world = World(IsNeverDone.of, "server")
    until = world.clock.now() + 5.0
    while world.wait(until):
        pass
    assert world.clock.now() >= until
