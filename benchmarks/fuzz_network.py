"""How fast Zenoh's router is fuzzed over the network, against boofuzz on the same router in the same run.

::

    python benchmarks/fuzz_network.py --for 10s --rounds 3

boofuzz is installed from PyPI into an environment of its own. All fuzz the reference router as the process that
`goldwire fuzz net` starts, over loopback TCP, with the same handshake; they take turns, and medians are printed.

* boofuzz, `baselines/zenoh/boofuzz_session.py`: a test dials, shakes hands and sends one fuzzed message. By default it
  looks at nothing then (`blind`). It sees answers where it is told to receive after what it has fuzzed (`reads`), and
  waits for them until a timeout, its default of 5 s or a short one, as most messages have no answer. Or it tries after
  each test whether the router still answers, on a fresh session (`probes`). No web page, no console, no pauses.
* goldwire: a worker of a campaign, with feedback. A test is several sessions and many fuzzed messages, between which it
  looks at what is answered; after each test the service is tried, and the monitors look at what was said.
* goldwire with tests as small as boofuzz's (`alike`): a session is opened, says one fuzzed message and is answered, and
  ends; with the same look at the service and the monitors behind it.

So a test is not a test: tests are to be compared with those that are alike, and messages are printed as well. They are
those of a test's sessions alone, not those that try whether the router is still there.

The flood: messages of the generator, those that no router ends a session for, one in a frame and one frame after the
other on one session. Nothing is waited for but the answer to a last question, by which all of them were taken.
"""

import json
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from conformance.suite import Suite
from fuzz.net.drawing import NAMES, TestDrawer
from fuzz.net.moves import Level, Listens, NetworkTest, Opens, Says
from fuzz.net.targets import FuzzedSession, FuzzTarget, load
from fuzz.net.worker import FuzzJob, FuzzProgress, NetworkWorker
from harness.clock import RealClock
from harness.iuts.description import Description, resolve
from harness.iuts.environments import environment
from harness.iuts.implementation import start
from harness.iuts.peer_process import as_process
from harness.trace import Trace
from vectors.durations import read_time

BOOFUZZ = "0.4.2"
SCRIPT = Path(__file__).parent / "baselines" / "zenoh" / "boofuzz_session.py"
USUAL = 5.0
"""Seconds that boofuzz waits for an answer, where nobody says otherwise."""

DIFFERENT = 2_000
"""Messages of the flood; they are said again and again, as to make them takes as long as to say them."""
TURNS = 100
"""Frames of the flood between two looks at what has come: who never reads is not sent to any more in the end."""
PATIENCE = 60.0
"""Seconds for the last answer of the flood."""


class Pace(msgspec.Struct, frozen=True):
    """Tests, and fuzzed messages, per second; ``found`` are failures or findings, of which there should be none."""

    tests: float
    messages: float
    found: int = 0


# --- boofuzz ------------------------------------------------------------------------------------------------------


def boofuzz(router: Description, mode: str, timeout: float, seconds: float) -> Pace:
    """Let boofuzz fuzz a fresh router for some seconds."""
    python = environment("boofuzz", BOOFUZZ)
    with start(router) as running:
        where = running.address("tcp").partition("/")[2]
        told = ["--seconds", f"{seconds:g}", "--mode", mode, "--timeout", f"{timeout:g}"]
        done = subprocess.run([python, SCRIPT, where, *told], capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(done.stderr)
    said = json.loads(done.stdout)
    rate = said["tests"] / said["seconds"]
    return Pace(rate, rate, said["failed"] + said["broken"])


# --- goldwire -----------------------------------------------------------------------------------------------------


class CountingSession:
    """A session that counts the messages which are said on it; all else is the session's."""

    def __init__(self, session: FuzzedSession, count: Callable[[int], None]) -> None:
        self._session, self._count = session, count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        """Say something, and count it."""
        self._count(len(data))
        self._session.say(data, level, cut)


class CountingTarget:
    """A target whose sessions count; all else is the target's."""

    def __init__(self, target: FuzzTarget) -> None:
        self._target = target
        self.said = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def session(self, node: Any, how: str) -> CountingSession:
        """Open a session that counts."""
        return CountingSession(self._target.session(node, how), self._count)

    def _count(self, messages: int) -> None:
        self.said += messages


class SmallestTests(TestDrawer):
    """Draws tests as small as boofuzz's: one session says one message, and waits for what it is answered."""

    def test(self) -> NetworkTest:
        """Return such a test."""
        self.temper = 1.0
        return Opens(NAMES[0]), Says(NAMES[0], (self.message(),)), Listens(NAMES[0])

    def changed(self, test: NetworkTest, other: NetworkTest) -> NetworkTest:
        """Return another such test."""
        return self.test()


def goldwire(seconds: float, seed: int, *, alike: bool = False) -> Pace:
    """Let a worker fuzz a fresh router for some seconds, with tests like boofuzz's where they are to be ``alike``."""
    target: Any = CountingTarget(load("zenoh")["router"])
    seen: list[tuple[float, int, int]] = []

    def note(progress: FuzzProgress) -> None:
        # From the first test on: the start of the router is in none of the rates.
        if progress.tests:
            seen.append((progress.seconds, progress.tests, target.said))

    with tempfile.TemporaryDirectory(prefix="goldwire-fuzz-") as out:
        job = FuzzJob(protocol="zenoh", iut="peer:router", role="router", seconds=seconds + 1, seed=seed, out=out)
        worker = NetworkWorker(job, target, note)
        if alike:
            worker.drawer = SmallestTests(target, worker.random, None)
        progress = worker.run()
    (began, tests, said), (ended, all_tests, all_said) = seen[0], seen[-1]
    took = ended - began
    return Pace((all_tests - tests) / took, (all_said - said) / took, progress.found)


# --- the flood ----------------------------------------------------------------------------------------------------


def flood(router: Description, suite: Suite, frames: int, seed: int) -> float:
    """Return the frames per second through one connection of a fresh router."""
    target = load("zenoh")["router"]
    instance = suite.harness.instance(router, profile="document", transport="tcp")
    clock = RealClock()
    try:
        messages = harmless(target, instance, suite, seed)
        trace = Trace("zenoh", "tcp", instance.clock)
        node = target.node(instance, trace)
        session = target.session(node, "")
        began = clock.now()
        for number in range(frames):
            session.say((messages[number % len(messages)],), "message", 0)
            if number % TURNS == 0:
                session.catch_up()
        session.ask()
        answered = session.listen(instance.clock.now() + PATIENCE)
        took = clock.now() - began
        if not answered or session.is_over:
            raise click.ClickException("the flood's last question was not answered")
        node.close()
    finally:
        instance.stop()
    return frames / took


def harmless(target: FuzzTarget, instance: Any, suite: Suite, seed: int) -> list[bytes]:
    """Return messages of the generator that no session ends for, each tried."""
    random = Random(seed)
    node = target.node(instance, Trace("zenoh", "tcp", instance.clock))
    session = target.session(node, "")
    kept: list[bytes] = []
    while len(kept) < DIFFERENT:
        message = target.message(random)
        session.say((message,), "message", 0)
        session.ask()
        session.listen(instance.clock.now() + PATIENCE)
        if session.is_over:
            session = target.session(node, "")
        else:
            kept.append(message)
    node.close()
    return kept


# --- rounds -------------------------------------------------------------------------------------------------------


@click.command()
@click.option("--for", "seconds", callback=read_time, default="10s", show_default=True, help="Of each, in each round.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--timeout", default=0.1, show_default=True, help="The short one of boofuzz's receives, in seconds.")
@click.option("--frames", default=20_000, show_default=True, help="Of the flood.")
@click.option("--seed", default=1, show_default=True)
def main(seconds: float, rounds: int, timeout: float, frames: int, seed: int) -> None:
    """Print how many tests and messages per second there are, and the ratios to boofuzz."""
    suite = Suite("zenoh")
    router = as_process(resolve("peer:router", "zenoh"), "tcp", suite.harness.tempo)
    runs: dict[str, Callable[[int], Pace]] = {
        "goldwire": lambda number: goldwire(seconds, seed + number),
        "goldwire, alike": lambda number: goldwire(seconds, seed + number, alike=True),
        f"boofuzz, reads ({USUAL:g} s)": lambda number: boofuzz(router, "looks", USUAL, seconds),
        f"boofuzz, reads ({timeout:g} s)": lambda number: boofuzz(router, "looks", timeout, seconds),
        "boofuzz, probes": lambda number: boofuzz(router, "probes", USUAL, seconds),
        "boofuzz, blind": lambda number: boofuzz(router, "blind", USUAL, seconds),
    }
    paces: dict[str, list[Pace]] = {name: [] for name in runs}
    floods = []
    for number in range(rounds):
        for name, run in runs.items():
            paces[name].append(run(number))
        floods.append(flood(router, suite, frames, seed + number))
    ours_tests, ours_messages = median(paces["goldwire, alike"], "tests"), median(paces["goldwire"], "messages")
    click.echo(
        f"{rounds} rounds of {seconds:g} s; ratios: how many times as many goldwire's tests (alike) and messages are\n"
    )
    click.echo(f"{'':24}{'tests/s':>9}{'spread':>8}{'messages/s':>12}{'tests':>8}{'messages':>10}  found")
    for name, those in paces.items():
        tests, messages = median(those, "tests"), median(those, "messages")
        found = max(each.found for each in those)
        ratios = "" if name.startswith("goldwire") else f"{ours_tests / tests:8.1f}{ours_messages / messages:10.1f}"
        click.echo(f"{name:24}{tests:9,.1f}{spread(those):8.0%}{messages:12,.0f}{ratios:18}{found:7}")
    click.echo(f"\nthe flood: {statistics.median(floods):,.0f} frames/s through one connection, none waited for")


def median(paces: Sequence[Pace], kind: str) -> float:
    """Return the median of one kind of rate."""
    return float(statistics.median(getattr(each, kind) for each in paces))


def spread(paces: Sequence[Pace]) -> float:
    """Return from the slowest to the fastest round, as a share of the median."""
    rates = [each.tests for each in paces]
    return (max(rates) - min(rates)) / statistics.median(rates)


if __name__ == "__main__":
    main()
