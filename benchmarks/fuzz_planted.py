"""How long a campaign takes to find a bug that was planted in a rare branch of the generated Python engine.

::

    python benchmarks/fuzz_planted.py --seeds 5 --for 60s

Each campaign begins with the golden vectors and nothing else, and ends with the first finding.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from fuzz.planted_bugs import PlantedBug, plant
from vectors.durations import read_time

TOKEN = """
    body = value["declaration"] if value["type"] == "DECLARE" else None
    if body and body["type"] == "D_TOKEN" and {when}:
        {then}
"""
LARGE = 'body["extensions"] and any(type(each["value"]) is int and each["value"] >> 32 for each in body["extensions"])'

PLANTS = {
    "extension": PlantedBug(
        "a Z64 extension above 2**32 in the chain of a D_TOKEN: the last one is lost",
        "zenoh/network-message",
        TOKEN.format(when=LARGE, then='del body["extensions"][-1]'),
    ),
    "together": PlantedBug(
        "the same, but only behind a suffix and a token id above 2**24",
        "zenoh/network-message",
        TOKEN.format(
            when=f'body["key_suffix"] and body["token_id"] >> 24 and {LARGE}', then='del body["extensions"][-1]'
        ),
    ),
    "mandatory": PlantedBug(
        "a mandatory extension with id 13 behind another one is lost",
        "zenoh/network-message",
        """
        for each in (value["extensions"] or ())[1:]:
            if each["header"]["M"] and each["header"]["id"] == 13:
                value["extensions"].remove(each)
                break
        """,
    ),
    "writer": PlantedBug(
        "a D_TOKEN with a suffix and a key scope between 2**13 and 2**14 is written with a byte too many",
        "zenoh/network-message",
        encoded=TOKEN.format(
            when='body["key_suffix"] is not None and body["key_scope"] >> 13 == 1', then='out += b"\\0"'
        ),
    ),
}


def found(bug: PlantedBug, seed: int, seconds: float, *more: str) -> tuple[float | None, str]:
    """Run a campaign against a planted bug; return after how many seconds it was found, and how it was reported."""
    with tempfile.TemporaryDirectory(prefix="goldwire-plant-") as place:
        folder = Path(place)
        (folder / "bug").mkdir()
        environment = plant(bug, folder / "bug")
        environment["GOLDWIRE_DATA"] = str(folder / "data")
        command = [sys.executable, "-P", "-c", "from fuzz.fuzz_command import fuzz; fuzz()", "codec", bug.layout]
        command += ["--for", f"{seconds:g}s", "--seed", str(seed), "--most", "1", "--out", str(folder / "out"), *more]
        begun = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        took = time.monotonic() - begun
        findings = list((folder / "out").glob("*/finding.json"))
        if done.returncode != 1 or not findings:
            return None, (done.stdout + done.stderr).strip()
        finding = json.loads(findings[0].read_text())
        minimised = findings[0].parent / "minimised.bin"
        return (
            took,
            f"{finding['difference']['kind']} at {finding['difference']['place']}: {minimised.read_bytes().hex()}",
        )


@click.command()
@click.option("--plant", "only", type=click.Choice(tuple(PLANTS)), multiple=True, help="Only this bug.")
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--for", "seconds", callback=read_time, default="60s", show_default=True, help="Of each campaign.")
@click.option("--engine", type=click.Choice(("atheris", "hypothesis", "random")), default="atheris", show_default=True)
@click.pass_context
def main(context: click.Context, only: tuple[str, ...], seeds: int, seconds: float, engine: str) -> None:
    """Plant bugs, and say after how many seconds each was found."""
    missed = 0
    for name in only or PLANTS:
        click.echo(f"{name}: {PLANTS[name].what}")
        for seed in range(1, seeds + 1):
            took, said = found(PLANTS[name], seed, seconds, "--engine", engine)
            missed += took is None
            click.echo(f"   seed {seed}: {'NOT FOUND' if took is None else f'{took:.1f} s'}   {said}")
    context.exit(min(missed, 1))


if __name__ == "__main__":
    main()
