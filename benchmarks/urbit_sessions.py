"""What a packet costs a publisher of Urbit's notifications, and a session in memory, as sessions grow more.

::

    python benchmarks/urbit_sessions.py --rounds 5

The reference publisher itself, without sockets, in virtual time. Each session has ten interests, in paths that ten
sessions share. What is timed are packets of sessions in no order, as they come over the wire and with all checks of
checksums and signatures; the packets are made before. Beside each figure stands the ratio to that of the fewest
sessions: what grows with the number of sessions would show there.
"""

import gc
import itertools
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence

import click
import msgspec

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import Session
from harness.urbit.peers.times import HEARTBEAT, LEASE
from harness.urbit.ships import PUBLISHER, key_of
from wire.urbit.signatures import cancellation_input, request_input
from wire.urbit.values import Body, Cancellation, HeartbeatRequest, Packet, ScryRequest, Ship, write

INTERESTS = 10
"""Of each session."""
SHARING = 10
"""Sessions that are interested in the same paths."""
SAMPLE = 300
"""Packets of each kind in a round."""
FIRST_SHIP = 1 << 20


class Population:
    """A publisher with so many sessions, and what their subscribers say."""

    def __init__(self, count: int, seed: int = 20240) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.publisher = Publisher(draw=lambda: self.random.getrandbits(64))
        self.ships = [Ship.of(FIRST_SHIP + number) for number in range(count)]
        self.memory = traced(self._open)
        self._fresh = itertools.count()

    def _open(self) -> None:
        # As requests do it, without their signatures: a million of these would take an hour to make.
        for number, ship in enumerate(self.ships):
            session = Session(self.publisher.fresh_id(), ship, (1, 1), number, self.now + LEASE)
            self.publisher.sessions.open(session)
            # Spread over the time between two heartbeats, as subscribers that came one after the other are.
            session.expires += self.random.random() * HEARTBEAT
            self.publisher.time(session)
            for path in range(INTERESTS):
                self.publisher.sessions.promise(session, (b"/news/%d/%d" % (number // SHARING, path), 1))

    def session(self) -> Session:
        """Return one of the sessions."""
        return self.publisher.sessions.of_ship[self.random.choice(self.ships)]

    def heartbeats(self) -> Iterable[Packet]:
        """Yield heartbeats that are answered."""
        for number, session in enumerate(self._sample(), 1):
            yield self._packet(HeartbeatRequest(session.id, session.number + number), session.ship)

    def requests(self) -> Iterable[Packet]:
        """Yield requests that are promised."""
        for session in self._sample():
            path = b"/new/%d" % next(self._fresh)
            signature = key_of(session.ship).sign(request_input(path, 1))
            yield self._packet(ScryRequest(path, 1, signature), session.ship)

    def cancellations(self) -> Iterable[Packet]:
        """Yield cancellations of what is promised."""
        for session in self._sample():
            path, fragment = next(iter(session.interests))
            signature = key_of(session.ship).sign(cancellation_input(path, fragment))
            yield self._packet(Cancellation(path, fragment, signature), session.ship)

    def _sample(self) -> list[Session]:
        return [self.session() for _ in range(SAMPLE)]

    def _packet(self, body: Body, sender: Ship) -> Packet:
        return Packet(body, sender, PUBLISHER)

    def give(self, frames: Sequence[tuple[int, bytes]]) -> None:
        """Have packets come, each from its subscriber's address."""
        for link, frame in frames:
            self.publisher.received(link, frame, self.now)
            for _ in self.publisher.drain(self.now):
                pass

    def grow(self) -> int:
        """Have a value exist that ten sessions wait for; returns how many were told."""
        path = next(iter(self.session().interests))[0]
        self.publisher.values.pop(path, None)
        self.publisher.grow(path, b"a value", self.now)
        return sum(1 for _ in self.publisher.drain(self.now))

    def look(self) -> None:
        """Have the timer of a lease be due, which is set anew as the session lives."""
        self.publisher.timers.set(self.now, self.session())
        self.publisher.tick(self.now)


class Figure(msgspec.Struct, frozen=True):
    """Microseconds of the processor for a packet (or a notification), median of the rounds, and the spread in %."""

    what: str
    sessions: int
    microseconds: float
    spread: float


def traced(make: Callable[[], None]) -> int:
    """Return how many bytes of memory are held after something that were not before."""
    gc.collect()
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def frames_of(population: Population, packets: Iterable[Packet]) -> list[tuple[int, bytes]]:
    """Return packets as they come: the link, and the bytes."""
    of_ship = population.publisher.sessions.of_ship
    return [(of_ship[packet.sender].link, write(packet)) for packet in packets]


def timed(act: Callable[[], object]) -> float:
    """Return the seconds of the processor that something takes."""
    gc.disable()
    began = time.process_time()
    act()
    took = time.process_time() - began
    gc.enable()
    return took


def one_round(population: Population) -> dict[str, float]:
    """Return the microseconds that a packet of each kind takes."""
    kinds = {
        "heartbeat, answered": population.heartbeats,
        "request, promised": population.requests,
        "cancellation": population.cancellations,
    }
    found: dict[str, float] = {}
    for what, make in kinds.items():
        frames = frames_of(population, make())
        found[what] = timed(lambda frames=frames: population.give(frames)) / len(frames) * 1e6  # type: ignore[misc]
    told = 0

    def grow() -> None:
        nonlocal told
        told = sum(population.grow() for _ in range(SAMPLE // SHARING))

    took = timed(grow)
    found["notification"] = took / max(told, 1) * 1e6
    found["timer"] = timed(lambda: [population.look() for _ in range(SAMPLE)]) / SAMPLE * 1e6
    return found


@click.command()
@click.option("--rounds", default=7, show_default=True, help="Rounds; the figures are their medians.")
@click.option("--sessions", multiple=True, type=int, default=(1_000, 10_000, 100_000), help="How many live sessions.")
def main(rounds: int, sessions: tuple[int, ...]) -> None:
    """Print what packets and sessions cost, at several numbers of sessions."""
    populations = [Population(count) for count in sessions]
    seen: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds + 1):
        # In turns, so that a slow moment of the machine falls on all sizes.
        for population in populations:
            for what, value in one_round(population).items():
                seen.setdefault((what, len(population.ships)), []).append(value)
    click.echo("| a packet | sessions | interests | µs | spread % | ratio |")
    click.echo("|---|---|---|---|---|---|")
    for what in dict.fromkeys(what for what, _ in seen):
        figures = [figure(what, count, seen[what, count][1:]) for count in sessions]  # the first round warms up
        for each in figures:
            ratio = each.microseconds / figures[0].microseconds
            count = each.sessions
            size = f"{count:,} | {count * INTERESTS:,}"
            click.echo(f"| {what} | {size} | {each.microseconds:.1f} | {each.spread:.0f} | {ratio:.2f} |")
    click.echo()
    click.echo("| sessions | interests | bytes of a session with its ten interests |")
    click.echo("|---|---|---|")
    for population in populations:
        count = len(population.ships)
        click.echo(f"| {count:,} | {count * INTERESTS:,} | {population.memory // count:,} |")


def figure(what: str, sessions: int, values: Sequence[float]) -> Figure:
    """Return the median and the spread of some rounds."""
    quarters = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    median = statistics.median(values)
    return Figure(what, sessions, median, (quarters[2] - quarters[0]) / median * 100)


if __name__ == "__main__":
    main()
