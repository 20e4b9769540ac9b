"""How long the gate takes over real sockets with a node that is far away (``far_node.py``).

::

    python benchmarks/far_gate.py                               # every protocol and role at 400 ms
    python benchmarks/far_gate.py zenoh client --round-trip 1   # or one of them, further away
    python benchmarks/far_gate.py zenoh router -n 4             # with as many workers as you say
    python benchmarks/far_gate.py --in-memory                   # how long it waits in all, whatever the machine does

Ends with status 1 when a gate does not end as expected: nobody is accused who is only far away.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from harness.links.network_path import NetworkPath
from harness.protocol import known, load
from harness.timing import Timing

NODE = Path(__file__).with_name("far_node.py")


def description(protocol: str, role: str, round_trip: float) -> str:
    """Return how the gate starts such a node."""
    dials = role in load(protocol).dials
    command = [sys.executable, str(NODE.resolve()), "--round-trip", str(round_trip), protocol, role]
    lines = [
        'name = "far"',
        f'protocol = "{protocol}"',
        f'roles = ["{role}"]',
        *([f'dials = ["{role}"]', 'capabilities = ["control"]'] if dials else []),
        "[process]",
        f"command = {json.dumps([*command, '{connect}' if dials else '{listen}'])}",
        *(["control = true"] if dials else []),
    ]
    return "\n".join([*lines, ""])


def seconds_in_memory(protocol: str, role: str, round_trip: float) -> str:
    """Return how long all cases wait for such a node, one after the other, in virtual time."""
    suite = Suite(protocol)
    world = suite.harness.world(load(protocol).roles[role].of, role, path=NetworkPath(round_trip))
    world.timing = Timing()  # as over sockets
    took = {}
    for number, case in enumerate((each for each in fitting(suite, role) if not each.marks.is_history), 1):
        began = world.clock.now()
        with without_shrinking():
            play(case, world, suite, profile="document", number=number)
        took[case.name] = world.clock.now() - began
    longest = max(took, key=lambda name: took[name])
    return f"{len(took)} cases wait {sum(took.values()):.0f} s in all; {took[longest]:.0f} s in {longest}"


def seconds_over_sockets(protocol: str, role: str, round_trip: float, options: Sequence[str]) -> tuple[str, bool]:
    """Play the gate; returns how long it took, with what it came to, and whether that was as expected."""
    with TemporaryDirectory() as folder:
        iut = Path(folder, "far.toml")
        iut.write_text(description(protocol, role, round_trip))
        began = time.monotonic()
        words = [sys.executable, "-m", "goldwire", "test", protocol, "--iut", str(iut), *options]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE, text=True)
        took = time.monotonic() - began
    if done.returncode:
        click.echo(done.stdout, err=True)
    last = re.sub(r"\s+", " ", (done.stdout.strip().splitlines() or ["nothing"])[-1])
    return f"{took:.0f} s: {last}", done.returncode == 0


@click.command()
@click.argument("protocol", required=False)
@click.argument("role", required=False)
@click.option("--round-trip", type=float, default=0.4, show_default=True, metavar="SECONDS")
@click.option("-n", "workers", metavar="N", help="As for goldwire test.")
@click.option("-k", "keyword", help="As for goldwire test.")
@click.option("--in-memory", is_flag=True, help="Only say how long it waits, in virtual time.")
def main(
    protocol: str | None,
    role: str | None,
    round_trip: float,
    workers: str | None,
    keyword: str | None,
    in_memory: bool,
) -> None:
    """Play the gate with our own peer, far away, and print how long it took."""
    fine = True
    options = [*(["-n", workers] if workers else []), *(["-k", keyword] if keyword else [])]
    for each in [protocol] if protocol else known():
        for one in [role] if role else load(each).roles:
            text = seconds_in_memory(each, one, round_trip)
            if not in_memory:
                took, as_expected = seconds_over_sockets(each, one, round_trip, options)
                text, fine = f"{text}; played in {took}", fine and as_expected
            click.echo(f"{each} {one}, {round_trip * 1000:.0f} ms away: {text}")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
