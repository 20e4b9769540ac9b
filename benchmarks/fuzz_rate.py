"""How fast the fuzzing target of a layout runs under Atheris, against Construct alone under Atheris, in one run.

::

    python benchmarks/fuzz_rate.py zenoh/network-message --for 10s --rounds 3

Both begin with the same corpus (the golden vectors, and what a short campaign adds to them) and keep all of it, mutate
with the same mutator and the same seed, and take turns. Construct alone: every input is decoded by the reference
engine, and what it accepts is encoded; Construct and the grammars are instrumented. The rate counts inputs after the
corpus was read, per second of wall time and per second of processor time, which neighbours cannot take away.
"""

import os
import statistics
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import click
import msgspec

from fuzz.atheris_process import TARGET, AtherisProcess, require_atheris, wait
from fuzz.corpus import folder as kept_in
from fuzz.corpus import keep, kept
from fuzz.limits import InputLimits
from fuzz.target import COUNTERS, LAYOUT, NOTES, REPORT_EVERY, SEED, STATUS, NextInput, mutator
from vectors.durations import read_time

CONSTRUCT = ("-P", str(Path(__file__).resolve()), "--construct-alone")
SUBJECTS = {"differential": TARGET, "construct": CONSTRUCT}


class Rate(msgspec.Struct, frozen=True):
    """Inputs per second of wall time and of processor time, and the share of them that was accepted."""

    wall: float
    processor: float
    accepted: float


def measure(layout: str, subject: str, frames: list[bytes], seconds: float, seed: int) -> Rate:
    """Let one target run for some seconds, from a corpus."""
    with tempfile.TemporaryDirectory(prefix="goldwire-rate-") as place:
        corpus = Path(place) / "kept"
        keep(corpus, frames)
        work = Path(place) / "work"
        work.mkdir()
        run = AtherisProcess(work, layout, corpus, InputLimits(), seed, SUBJECTS[subject])
        run.fuzz(seconds + 30, "-keep_seed=1", "-reduce_inputs=0")
        try:
            while run.running and b"INITED" not in run.read_log():
                wait(run, 0.05)
            assert run.process is not None
            if not run.running:
                raise click.ClickException(run.read_log(3000).decode(errors="replace"))
            first, wall, processor = run.counters, time.monotonic(), used(run.process.pid)
            wait(run, seconds)
            if not run.running:
                raise click.ClickException(run.read_log(3000).decode(errors="replace"))
            last, wall, processor = run.counters, time.monotonic() - wall, used(run.process.pid) - processor
        finally:
            run.end()
    inputs = last[0] - first[0]
    return Rate(inputs / wall, inputs / processor, (last[1] - first[1]) / max(inputs, 1))


def used(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def warmed(layout: str, seconds: float, seed: int) -> list[bytes]:
    """Return what is kept of a layout, and what a short campaign adds."""
    with tempfile.TemporaryDirectory(prefix="goldwire-rate-") as place:
        corpus = Path(place) / "kept"
        keep(corpus, kept(kept_in(layout)).values())
        work = Path(place) / "work"
        work.mkdir()
        run = AtherisProcess(work, layout, corpus, InputLimits(), seed)
        run.fuzz(seconds)
        try:
            wait(run, seconds + 30)
        finally:
            run.end()
        return list(kept(corpus).values())


def construct_alone() -> None:
    """Be the target that Atheris drives: Construct interpreted, and nothing else."""
    atheris = import_module("atheris")
    layout, status = os.environ[LAYOUT], Path(os.environ[NOTES]) / STATUS
    mutate = mutator(layout, int(os.environ[SEED]), NextInput())
    for name in [name for name in sys.modules if name.partition(".")[0] in ("construct", "wire")]:
        del sys.modules[name]  # the mutator has them without Atheris
    with atheris.instrument_imports(include=["construct", "wire"]):
        from wire.errors import DecodeError
        from wire.reference import decode, encode
    inputs = accepted = 0

    def test(data: bytes) -> None:
        nonlocal inputs, accepted
        inputs += 1
        if not inputs % REPORT_EVERY:
            status.write_bytes(COUNTERS.pack(inputs, accepted, 0))
        try:
            value = decode(layout, data)
        except DecodeError:
            return
        accepted += 1
        encode(layout, value)

    atheris.Setup([os.environ["GOLDWIRE_FUZZ_PROGRAM"], *sys.argv[2:]], test, custom_mutator=mutate)
    atheris.Fuzz()


@click.command()
@click.argument("layout", default="zenoh/network-message")
@click.option(
    "--for", "seconds", callback=read_time, default="10s", show_default=True, help="Of each target, each round."
)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--warm", callback=read_time, default="10s", show_default=True, help="Of the campaign that makes a corpus."
)
@click.option("--seed", type=int, default=1, show_default=True)
def main(layout: str, seconds: float, rounds: int, warm: float, seed: int) -> None:
    """Measure both targets of LAYOUT, and print the ratio of their rates."""
    require_atheris()
    frames = warmed(layout, warm, seed)
    click.echo(f"{layout}: {len(frames)} inputs beside the golden vectors; {rounds} rounds of {seconds:g} s")
    click.echo("target        inputs/s  inputs/s of processor time  accepted")
    rates: dict[str, list[Rate]] = {subject: [] for subject in SUBJECTS}
    for number in range(rounds):
        for subject in SUBJECTS:
            rate = measure(layout, subject, frames, seconds, seed + number)
            rates[subject].append(rate)
            click.echo(f"{subject:12}  {rate.wall:8,.0f}  {rate.processor:26,.0f}  {rate.accepted:8.1%}")
    for kind in ("wall", "processor"):
        pairs = zip(rates["differential"], rates["construct"], strict=True)
        ratios = sorted(getattr(fast, kind) / getattr(slow, kind) for fast, slow in pairs)
        click.echo(f"ratio, {kind} time: {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})")


if __name__ == "__main__":
    if "--construct-alone" in sys.argv:
        construct_alone()
    else:
        main()
