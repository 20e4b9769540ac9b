"""Whether the memory of the reference Pathfinder server grows under clients that come and go.

::

    python benchmarks/pathfinder_soak.py --for 3600

One server process, served over four kinds of links as ``goldwire peer`` serves it, in time that runs faster. In each
cycle a client of a new identifier connects, subscribes, publishes, and leaves in one of many ways; what it leaves
behind becomes an orphan and expires; another is told of all that. The resident memory is read whenever everything has
expired: after a warm-up, and then again and again. Ends with status 1 when it has grown by more than ``--most``.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from harness.clock import RealClock
from harness.errors import Deadline
from harness.links.transports import dial, free_addresses
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.driver import Driver, Service, new_id
from harness.timing import Timing
from harness.trace import Trace

TRANSPORTS: tuple[str, ...] = ("tcp", "tcp-stream", "ux", "tls")
PATIENCE = 30.0
CLOCK = RealClock()


class Server:
    """The server as a process."""

    def __init__(self, process: "subprocess.Popen[str]", addresses: list[str]) -> None:
        self.process = process
        self.addresses = addresses

    def resident(self) -> float:
        """Return the memory that it holds, in MiB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise click.ClickException("the server is gone")

    def connect(self, rng: random.Random, client_id: int | None = None) -> Driver:
        """Connect to one of its addresses."""
        trace = Trace("pathfinder")
        link = dial(rng.choice(self.addresses), FRAMINGS, CLOCK, timeout=PATIENCE, trace=trace)
        return Driver(link, trace, client_id=client_id, timing=Timing(answer=PATIENCE))

    def settle(self, rng: random.Random) -> None:
        """Wait until all that clients have left behind has expired."""
        last = self.connect(rng).open()
        deadline = time.monotonic() + PATIENCE
        while last.services().notifications or len(last.clients().notifications) > 1:
            if time.monotonic() > deadline:
                raise click.ClickException("something is left behind that does not expire")
        last.close()


@contextmanager
def server(scale: float) -> Iterator[Server]:
    """Serve the reference server in a process of its own."""
    addresses = [str(each) for each in free_addresses(TRANSPORTS)]
    goldwire = [sys.executable, "-c", "from harness.command import main; main()"]
    listen = [word for address in addresses for word in ("--listen", address)]
    command = [*goldwire, "peer", "pathfinder", "--time-scale", str(scale), *listen]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if not process.stdout.readline().startswith("ready"):
            raise click.ClickException("the server did not start")
        yield Server(process, addresses)
    finally:
        process.terminate()
        status = process.wait()
        process.stdout.close() if process.stdout is not None else None
    if status:
        raise click.ClickException(f"the server has ended with status {status}")


def cycle(server: Server, rng: random.Random) -> None:
    """Let one client come and go."""
    key, value = f"key-{rng.getrandbits(48)}", rng.getrandbits(48)
    client = server.connect(rng).open()
    watch = client.sure(client.subscribe(rng.choice((f"({key}={value})", f"({key}=*)", f"(!({key}>{value}))", None))))
    props = {key: [value, "x" * rng.choice((0, 10, 5_000))], "name": [f"service {value}"]}
    services = [Service(new_id(), props, ttl=rng.choice((0, 1, 1, 2))) for _ in range(5)]
    for service in services:
        client.sure(client.publish(service))
        if rng.random() < 0.3:
            client.sure(client.publish(service.newer(props={**props, "newer": [1]})))
        if rng.random() < 0.3:
            client.sure(client.unpublish(service.id))
    client.services(f"({key}=*{str(value)[2:5]}*)")
    client.publish(services[0])  # of an old generation, or unpublished and there again
    if rng.random() < 0.3:
        client.unsubscribe(watch.request.fields["subscription-id"])
    rng.choice(LEAVINGS)(server, client, rng)


def _close(server: Server, client: Driver, rng: random.Random) -> None:
    client.close()


def _reset(server: Server, client: Driver, rng: random.Random) -> None:
    client.begin("services")
    client.abort()


def _come_back(server: Server, client: Driver, rng: random.Random) -> None:
    client.close()
    again = server.connect(rng, client.client_id)
    while not again.hello().completed:  # the end of the one before has not been seen yet
        pass
    again.close()


def _lose_services(server: Server, client: Driver, rng: random.Random) -> None:
    heir = server.connect(rng).open()
    for service in client.published.values():
        heir.publish(service.newer(by=5, ttl=1))
    client.close()
    heir.close()


def _offend(server: Server, client: Driver, rng: random.Random) -> None:
    client.send_bytes(b'{"ta-cmd":"publish","ta-id":' + b"9" * rng.choice((1, 1_000, 100_000)))
    client.close()


def _be_silent(server: Server, client: Driver, rng: random.Random) -> None:
    strangers = [server.connect(rng) for _ in range(3)]
    client.close()
    for stranger in strangers:
        stranger.close()


LEAVINGS: tuple[Callable[[Server, Driver, random.Random], None], ...] = (
    _close,
    _reset,
    _come_back,
    _lose_services,
    _offend,
    _be_silent,
)


def churn(server: Server, rng: random.Random, cycles: int, until: float) -> int:
    """Let so many clients come and go, one after the other and one who is told of it; return how many did."""
    watcher = server.connect(rng).open()
    watcher.sure(watcher.subscribe())
    done = 0
    while done < cycles and time.monotonic() < until:
        cycle(server, rng)
        with suppress(Deadline):
            while True:
                watcher.link.receive(CLOCK.now())
        done += 1
    watcher.close()
    server.settle(rng)
    return done


@click.command()
@click.option(
    "--for", "seconds", type=click.FloatRange(1), default=60.0, show_default=True, help="How long, warmed up."
)
@click.option("--cycles", type=click.IntRange(1), help="How many cycles at most, warmed up.")
@click.option("--warm-up", type=click.IntRange(1), default=1_000, show_default=True, help="Cycles before that.")
@click.option("--time-scale", type=float, default=10.0, show_default=True)
@click.option("--most", type=float, default=4.0, show_default=True, help="MiB that it may grow by.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(seconds: float, cycles: int | None, warm_up: int, time_scale: float, most: float, seed: int) -> None:
    """Let clients come and go, and print the resident memory of the server as a Markdown table."""
    rng = random.Random(seed)
    click.echo("| seconds | cycles | resident MiB | growth MiB |\n|---:|---:|---:|---:|")
    with server(time_scale) as its:
        churn(its, rng, warm_up, time.monotonic() + 600)
        before = resident = its.resident()
        began, done = time.monotonic(), 0
        most_cycles = cycles or sys.maxsize
        piece = max(200, most_cycles // 10) if cycles else 1_000
        while done < most_cycles and time.monotonic() < began + seconds:
            done += churn(its, rng, min(piece, most_cycles - done), began + seconds)
            resident = its.resident()
            passed = time.monotonic() - began
            click.echo(f"| {passed:.1f} | {done} | {resident:.1f} | {resident - before:+.1f} |")
    if resident - before > most:
        raise click.ClickException(f"the server has grown by {resident - before:.1f} MiB: {most:g} are the most")


if __name__ == "__main__":
    main()
