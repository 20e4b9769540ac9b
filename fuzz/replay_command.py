"""The command ``goldwire replay``: whether a finding still happens."""

from pathlib import Path

import click
import msgspec

from conformance.contract.expectations import BadExpectations
from fuzz import findings
from fuzz.findings import FATAL, NETWORK, BadFinding, KeptFinding
from fuzz.isolation import IsolatedOutcome, IsolatedRun, IsolationFailed, run_isolated
from fuzz.net.finding import read_finding
from fuzz.net.replaying import DIFFERENT, FIXED, verdict
from fuzz.net.replaying import replayed as replayed_moves
from harness.errors import BadDescription
from vectors.checks.differential import KINDS, Difference
from wire.catalogue import grammar
from wire.engines import MissingEngine, engine
from wire.errors import UnknownLayout

GONE, STILL = 0, 1


@click.command()
@click.argument("finding", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--iut", metavar="NAME|FILE|ADDRESS", help="Try it with another implementation, such as a newer version.")
@click.option(
    "--expect", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What is known of the implementation. Default: what the campaign took, or the gate's expectations.",
)  # fmt: skip
@click.pass_context
def replay(context: click.Context, finding: Path, iut: str | None, expect: Path | None) -> None:
    """Try a finding of goldwire fuzz again: the moves in FOLDER, or the input with the engines it was found with.

    FIXED: it does not happen any more; STILL THERE; or DIFFERENT: something else is wrong now.

    Exit status: 0 fixed; 1 still there, or different; 2 FOLDER holds no finding, or what it needs is not here; 3 the
    implementation could not be started.

    \b
    Examples:
      goldwire replay findings/FINDING
      goldwire replay findings/FINDING --iut eclipse-zenoh==1.10.2
    """
    if findings.kind(finding) == NETWORK:
        context.exit(_replay_moves(finding, iut or "", expect))
    for option, value in (("--iut", iut), ("--expect", expect)):
        if value is not None:
            raise click.UsageError(f"{finding} is about codecs, and no implementation: leave out {option}")
    try:
        kept = findings.read(finding)
        grammar(kept.finding.layout)
        # All engines that it was found with: with fewer of them there may be nothing that differs.
        for name in kept.finding.engines:
            engine(name).codec(kept.finding.layout)
        outcome = replayed(kept)
    except (BadFinding, UnknownLayout, MissingEngine, IsolationFailed, KeyError) as error:
        raise click.UsageError(str(error)) from None
    for line in result_lines(kept, outcome.difference):
        click.echo(line)
    context.exit(GONE if outcome.difference is None else STILL)


def _replay_moves(folder: Path, iut: str, expect: Path | None) -> int:
    try:
        found = read_finding(folder)
        seen = replayed_moves(found, iut, expect)
    except (BadFinding, BadDescription, BadExpectations) as error:
        raise click.UsageError(str(error)) from None
    said = verdict(found, seen, elsewhere=iut not in ("", found.iut))
    click.echo(f"{said}  {found.protocol} {found.role} {iut or found.iut}: {found.sentence}")
    if said == DIFFERENT and seen is not None:
        click.echo(f"   now: {seen.symptom.kind}: {seen.symptom.what}")
    return GONE if said == FIXED else STILL


def replayed(kept: KeptFinding) -> IsolatedOutcome:
    """Try the smallest input of a finding, and if nothing happens the one that was found, in a process of its own."""
    finding = kept.finding
    fatal = findings.fatal(finding.difference)
    outcome = IsolatedOutcome(None)
    # A repair may cover the small input alone: then the one that was found still shows what is left.
    for data in dict.fromkeys((kept.minimised, kept.data)):
        task = IsolatedRun(
            finding.layout,
            finding.engines,
            data or b"",
            finding.value,
            fatal=fatal,
            seconds=finding.seconds,
            megabytes=finding.megabytes,
        )
        outcome = run_isolated(task)
        if outcome.difference is None and fatal:  # it may no longer end the process, and still be read differently
            outcome = run_isolated(msgspec.structs.replace(task, fatal=False))
        if outcome.difference is not None:
            break
    return outcome


def result_lines(kept: KeptFinding, difference: Difference | None) -> list[str]:
    """Say what came of a trial."""
    finding = kept.finding
    what = f"{finding.layout}: {finding.difference.kind} at {finding.difference.place}"
    if difference is None:
        return [f"FIXED  {what}: {', '.join(finding.engines)} agree"]
    same = findings.signature(finding.layout, difference) == finding.signature
    said = [f"STILL THERE  {what}" if same else f"DIFFERENT  {what}: now {difference.kind} at {difference.place}"]
    said.append(f"      {(KINDS | FATAL)[difference.kind]}")
    said += [f"      {who}: {line}" for who, lines in difference.says for line in lines]
    return said
