"""The command ``goldwire replay``: whether a finding still happens."""

from pathlib import Path

import click
import msgspec

from fuzz import findings
from fuzz.findings import FATAL, BadFinding, KeptFinding
from fuzz.isolation import IsolatedOutcome, IsolatedRun, IsolationFailed, run_isolated
from vectors.checks.differential import KINDS, Difference
from wire.catalogue import grammar
from wire.engines import MissingEngine, engine
from wire.errors import UnknownLayout

GONE, STILL = 0, 1


@click.command()
@click.argument("finding", metavar="FOLDER", type=click.Path(path_type=Path))
@click.pass_context
def replay(context: click.Context, finding: Path) -> None:
    """Try a finding of goldwire fuzz again: the input in FOLDER, with the engines that it was found with.

    Exit status: 0 it does not happen any more; 1 it still happens; 2 FOLDER holds no finding, or what it needs is
    not here.

    \b
    Examples:
      goldwire replay findings/FINDING
    """
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
        return [f"GONE  {what}: {', '.join(finding.engines)} agree"]
    same = findings.signature(finding.layout, difference) == finding.signature
    said = [f"STILL {what}" if same else f"STILL {what}, but differently: {difference.kind} at {difference.place}"]
    said.append(f"      {(KINDS | FATAL)[difference.kind]}")
    said += [f"      {who}: {line}" for who, lines in difference.says for line in lines]
    return said
