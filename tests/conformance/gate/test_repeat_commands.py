"""The command that is printed below a non-pass brings the same verdict again, typed into another shell.

A few faults by seed, with the cases of their own rules; all faults with whole runs are an hour of processor time:
``GOLDWIRE_REPEATS=all`` (tox -e selfcheck), or so many of each protocol, ``GOLDWIRE_REPEATS=20``.
"""

import os
import re
import shlex
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from planted_nodes import Gate
from repeats import check, printed

from conformance.suite import Suite
from harness.peers.variants import Variant
from harness.protocol import load

QUICK = 2
"""Faults of each protocol that are played by default."""

WANTED = os.environ.get("GOLDWIRE_REPEATS", "")
SEED = int(os.environ.get("GOLDWIRE_REPEATS_SEED", "1"))

COUNTING = {"loses-updates", "drops-every-hundredth", "fails-every-hundredth"}
"""Faults that count from their start on: what they come to at first depends on what was played before."""


def chosen(protocol: str) -> list[Variant]:
    """Return the faults of a protocol that are played."""
    faults = list(load(protocol).faults.all.values())
    if not WANTED:
        # Of those that cases of their own rules can accuse: others fall to monitors alone, in any case.
        asked = {rule for case in Suite(protocol).cases for rule in case.marks.rules}
        faults = [each for each in faults if set(each.rules) <= asked]
    return faults if WANTED == "all" else Random(SEED).sample(faults, min(int(WANTED or QUICK), len(faults)))


@pytest.mark.slow(seconds=4)  # the whole gate for each of some faults, and each printed command
@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder"])
def test_what_is_printed_repeats_what_came(protocol: str, tmp_path: Path) -> None:
    # A name that a shell would take apart.
    described = tmp_path / "my nodes, all" / "it's one.toml"
    described.parent.mkdir()
    described.write_text(files("harness").joinpath(protocol, "iuts", "peer.toml").read_text())
    named = described.relative_to(tmp_path)
    findings = 0
    wrong: dict[str, tuple[str, ...]] = {}
    # With hash seeds of their own, as two processes that a user starts.
    with Gate(protocol, tmp_path, hash_seed=1) as first, Gate(protocol, tmp_path, hash_seed=2) as again:
        for fault in chosen(protocol):
            command = ["goldwire", "test", protocol, "--iut", f"{named}:{fault.role}", "--histories", "1"]
            played = [] if WANTED else ["-k", f"({' or '.join(fault.rules)}) and not test_histories"]
            report = tmp_path / fault.name
            repeats = check(fault.name, shlex.join([*command, *played]), first, again, report)
            findings += repeats.printed
            if repeats.differences and fault.name not in COUNTING:
                wrong[fault.name] = repeats.differences
    assert not wrong, "\n".join(each for differences in wrong.values() for each in differences)
    assert findings


@pytest.mark.slow(seconds=4)
def test_a_history_is_repeated_by_its_seed(tmp_path: Path) -> None:
    """As it was made small, and not as one of those that another shows in fewer moves."""
    command = "goldwire test zenoh --iut peer:router -k test_histories.test_modes --histories 4"
    with Gate("zenoh", tmp_path, hash_seed=1) as gate:
        told = gate.run("represents-nothing", command)
        (finding,) = [each for each in printed(told.out) if each.repeat]
        again = gate.run("represents-nothing", finding.repeat)
    assert "shows the same in fewer" not in told.out
    assert re.fullmatch(r"goldwire test zenoh --iut peer:router -k 'test_histories\.test_modes\[\d\]'", finding.repeat)
    assert finding in printed(again.out)
