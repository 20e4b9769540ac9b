"""How fast the reference Pathfinder server is, and how that grows with services and subscriptions.

::

    python benchmarks/pathfinder_server.py --rounds 5

One server process, served over loopback TCP as ``goldwire peer`` serves it. Figures are medians of rounds; beside
each stands its spread (interquartile range in percent of the median) and the ratio to the first figure of its table.
Publishing is timed from the first request to the last answer, with a reader that takes every notification.
"""

import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from harness.links.addresses import free_port
from harness.links.framing import LengthPrefixed
from vectors.pathfinder.filter_samples import sample
from wire.pathfinder.filters import parse
from wire.pathfinder.grammar import LARGEST
from wire.pathfinder.matching import compiled
from wire.pathfinder.values import write

FRAMING = LengthPrefixed(4, "big", LARGEST)
SEED = 20240


class Figure(msgspec.Struct, frozen=True):
    """One line: what was done, at which size, how often per second, and the spread in percent."""

    what: str
    size: str
    per_second: float
    spread: float


class Connection:
    """A client that says what it is told, as fast as sockets go."""

    def __init__(self, port: int, client_id: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        # Without it small requests wait for the acknowledgement of those before, and that wait would be measured.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = FRAMING.reader()
        self.count = 0
        self.taken = 0
        fields = {"client-id": client_id, "protocol-minimum-version": 2, "protocol-maximum-version": 2}
        self.ask("hello", fields)

    def frame(self, command: str, fields: dict[str, Any] | None = None) -> bytes:
        """Spell one request, framed."""
        self.count += 1
        message = {"ta-cmd": command, "ta-id": self.count, "msg-type": "request", **(fields or {})}
        return FRAMING.encode(write(message))

    def take(self, frames: int) -> None:
        """Read so many messages."""
        self.taken -= frames
        while self.taken < 0:
            data = self.socket.recv(1 << 18)
            if not data:
                raise click.ClickException("the server has ended the connection")
            self.taken += len(self.reader.feed(data))

    def ask(self, command: str, fields: dict[str, Any] | None = None, answers: int = 1) -> None:
        """Send one request and read its answers."""
        self.socket.sendall(self.frame(command, fields))
        self.take(answers)

    def pipeline(self, frames: list[bytes], answers: int) -> None:
        """Send requests without waiting, and read all answers."""
        # Beside the reading: with both buffers full, a client that only sends and a server that only answers wait for
        # each other for ever.
        sender = threading.Thread(target=self.socket.sendall, args=(b"".join(frames),))
        sender.start()
        self.take(answers)
        sender.join()


@contextmanager
def server() -> Iterator[int]:
    """Serve the reference server in a process of its own and give its port."""
    port = free_port()
    goldwire = [sys.executable, "-c", "from harness.command import main; main()"]
    command = [*goldwire, "peer", "pathfinder", "--listen", f"tcp/127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        # The line says that it listens: a connection before that would be refused, and the interpreter's start is no
        # figure of the server's.
        if not process.stdout.readline().startswith("ready"):
            raise click.ClickException("the server did not start")
        yield port
    finally:
        process.terminate()
        process.wait()


def measured(what: str, size: str, rounds: int, deeds: int, deed: Callable[[], None]) -> Figure:
    """Time something that does ``deeds`` things per call; the first call warms up."""
    deed()
    rates = []
    for _ in range(rounds):
        began = time.perf_counter()
        deed()
        rates.append(deeds / (time.perf_counter() - began))
    middle = statistics.median(rates)
    low, _, high = statistics.quantiles(rates, n=4) if len(rates) > 1 else (middle, middle, middle)
    return Figure(what, size, middle, 100 * (high - low) / middle)


def service(id: int, generation: int, name: str) -> dict[str, Any]:
    """Return the fields of a publish."""
    props = {"name": [name], "address": [f"tcp:10.0.0.1:{id % 65536}"], "load": [id % 100]}
    return {"service-id": id, "generation": generation, "service-props": props, "ttl": 60}


def pings(rounds: int) -> Iterator[Figure]:
    """Measure pings, one after the other and pipelined."""
    with server() as port:
        client = Connection(port, 1)

        def alternately() -> None:
            for _ in range(2000):
                client.ask("ping")

        def pipelined() -> None:
            client.pipeline([client.frame("ping") for _ in range(10_000)], 10_000)

        yield measured("pings, one after the other", "", rounds, 2000, alternately)
        yield measured("pings, 10,000 pipelined", "", rounds, 10_000, pipelined)


def publishes(rounds: int, matching: int, others: int, services: int) -> Figure:
    """Measure republishing one service that ``matching`` subscriptions match and ``others`` do not."""
    with server() as port:
        publisher, subscriber = Connection(port, 1), Connection(port, 2)
        for first in range(0, services, 500):
            some = range(first, min(first + 500, services))
            frames = [publisher.frame("publish", service(1000 + n, 0, f"other-{n}")) for n in some]
            publisher.pipeline(frames, len(frames))
        for n in range(matching):
            subscriber.ask("subscribe", {"subscription-id": n, "filter": "(&(name=mine)(load<100))"})
        for n in range(others):
            subscriber.ask("subscribe", {"subscription-id": matching + n, "filter": f"(name=else-{n})"})
        publisher.ask("publish", service(100, 0, "mine"))
        subscriber.take(matching)
        count = max(20, 1000 // matching)
        generation = 0

        def republish() -> None:
            nonlocal generation
            frames = []
            for _ in range(count):
                generation += 1
                # A change of the generation alone need not be told.
                fields = service(100, generation, "mine")
                fields["service-props"]["load"] = [generation % 100]
                frames.append(publisher.frame("publish", fields))
            reader = threading.Thread(target=subscriber.take, args=(count * matching,))
            reader.start()
            publisher.pipeline(frames, count)
            reader.join()

        size = f"{matching} matching, {others} other subscriptions, {services} services"
        return measured("publishes", size, rounds, count, republish)


def listings(rounds: int, services: int, filter: str) -> Figure:
    """Measure listing one service among many."""
    with server() as port:
        client = Connection(port, 1)
        for first in range(0, services, 500):
            some = range(first, min(first + 500, services))
            client.pipeline([client.frame("publish", service(n, 0, f"s-{n}")) for n in some], len(some))
        text = filter.format(services // 2)

        def ask() -> None:
            for _ in range(20):
                client.ask("services", {"filter": text}, 3)

        return measured(f"services, filter {filter.format('N')}", f"{services} services", rounds, 20, ask)


def evaluations(rounds: int) -> Iterator[Figure]:
    """Measure filters alone, in this process: compiled once, held against many services."""
    services = [service(n, 0, f"s-{n}")["service-props"] for n in range(5000)]
    for text in ("(name=s-77)", "(&(name=s-77)(load>11))", "(|(name=s-1*)(!(load<50)))", "(name=*-*7*)"):
        predicate = compiled(parse(text))

        def evaluate(predicate: Callable[[Any], bool] = predicate) -> None:
            for props in services:
                predicate(props)

        yield measured("filter evaluations", text, rounds, len(services), evaluate)
    rng = random.Random(SEED)
    texts = [parse("(&(a=b)(|(c>1)(d=*))(!(e=f*)))")] + [sample(rng) for _ in range(99)]
    predicates = [compiled(tree) for tree in texts]

    def mixed() -> None:
        for predicate in predicates:
            for props in services[:50]:
                predicate(props)

    yield measured("filter evaluations", "100 random filters", rounds, 5000, mixed)


def show(title: str, figures: Iterator[Figure] | list[Figure]) -> None:
    """Print one table as Markdown, as its lines are measured."""
    click.echo(f"\n{title}\n\n| what | size | per second | to the first | spread |\n|---|---|---:|---:|---:|")
    first = 0.0
    for figure in figures:
        first = first or figure.per_second
        ratio = figure.per_second / first
        click.echo(
            f"| {figure.what} | {figure.size} | {figure.per_second:,.0f} | {ratio:.2f} | {figure.spread:.1f} % |"
        )


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
def main(rounds: int) -> None:
    """Measure the reference Pathfinder server and print Markdown tables."""
    show("Pings over one connection", pings(rounds))
    show("Publishes by matching subscriptions", (publishes(rounds, n, 0, 1000) for n in (1, 100, 1000)))
    show(
        "Publishes by subscriptions that cannot match",
        (publishes(rounds, 1, n, 1000) for n in (0, 100, 1000, 10_000)),
    )
    show("Publishes by services", (publishes(rounds, 1, 100, n) for n in (10, 100, 1000, 5000)))
    sizes = (100, 1000, 5000)
    show("Listing one service, by its name", (listings(rounds, n, "(name=s-{})") for n in sizes))
    show("Listing one service, by what no index helps with", (listings(rounds, n, "(name=s*-{})") for n in sizes))
    show("Filters alone", evaluations(rounds))


if __name__ == "__main__":
    main()
