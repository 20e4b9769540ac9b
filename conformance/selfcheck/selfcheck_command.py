"""``goldwire selfcheck``: the kill matrix, as a table."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from conformance.catalogue.loading import protocols
from conformance.catalogue.rules import Profile
from conformance.selfcheck.history_check import check_histories
from conformance.selfcheck.matrix import Matrix, MatrixRow
from conformance.selfcheck.mutation.report import check_mutants
from conformance.selfcheck.mutation.score import MutantSample
from conformance.selfcheck.peers import PAIRS, compute_matrix, matrix_peers, some_faults
from harness.protocol import load
from wire import completion
from wire.files import write_file

LISTED = 4
"""Rules that a line names before it counts the rest: a fault that fells thirty would fill the screen."""


@click.command()
@click.argument("protocol", required=False, shell_complete=completion.protocols)
@click.option("--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True)
@click.option("-n", "workers", type=click.IntRange(min=1), help="Processes; one per core by default.")
@click.option("--brief", is_flag=True, help="Play a fault only until it is killed: what falls with it is not seen.")
@click.option("--mutants", is_flag=True, help="Change the reference peers' source instead: the mutation score.")
@click.option("--histories", is_flag=True, help="Play histories alone: which faults they find.")
@click.option("--role", "roles", multiple=True, help="The peers of this role only.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    help="So many, by --seed: of those who are slow or odd in two ways; with --mutants, of each peer's mutants.",
)
@click.option("--faults", type=click.IntRange(min=1), help="So many, by --seed, of the faults of the roles played.")
@click.option("--unlisted", is_flag=True, help="With --mutants: leave out those that the list explains.")
@click.option("--only", multiple=True, help="With --mutants: where the file and function (a/b.py:C.f) hold this text.")
@click.option(
    "--pairs", type=click.IntRange(min=0), default=PAIRS, show_default=True, help="Pairs of oddities, by --seed."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the pairs and the sample.")
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the matrix as Markdown.")
def selfcheck(
    protocol: str | None,
    profile: Profile,
    workers: int | None,
    brief: bool,
    mutants: bool,
    histories: bool,
    roles: tuple[str, ...],
    sample: int | None,
    faults: int | None,
    unlisted: bool,
    only: tuple[str, ...],
    pairs: int,
    seed: int,
    write: Path | None,
) -> int:
    """Prove the tester: every fault is caught, every rule is guarded, no oddity is accused.

    Nor is anybody who is only slow, or odd in two ways at once.

    Exit status 1 on a survivor, an unguarded rule, a false accusation or an error of the tester.

    \b
    Examples:
      goldwire selfcheck zenoh
      goldwire selfcheck zenoh --mutants --role router --sample 60 --seed 3
    """
    if protocol is not None and protocol not in protocols():
        raise click.UsageError(f"unknown protocol {protocol!r}; there are {', '.join(protocols())}")
    # One that only another protocol has would play nothing.
    there = list(dict.fromkeys(role for name in ([protocol] if protocol else protocols()) for role in load(name).roles))
    if unknown := set(roles) - set(there):
        raise click.UsageError(f"--role: there is no {', '.join(sorted(unknown))}; there are {', '.join(there)}")
    if not mutants and (unlisted or only):
        raise click.UsageError("--unlisted and --only belong to --mutants")
    if histories and (mutants or brief or sample or faults):
        raise click.UsageError("--histories: leave out --mutants, --brief, --sample and --faults")
    if mutants and (brief or faults):
        raise click.UsageError("--brief and --faults are about the kill matrix; leave out --mutants")
    if mutants and write is not None and (sample or only or roles):
        raise click.UsageError(
            "--write: the score that is written is the whole one; leave out --sample, --only and --role"
        )
    if (brief or sample or faults) and write is not None:
        raise click.UsageError(
            "--write: the matrix that is written is the whole one; leave out --brief, --sample and --faults"
        )
    sound = True
    for each in [protocol] if protocol else protocols():
        if mutants:
            chosen = MutantSample(sample or 0, seed, only, unlisted)
            is_sound, page = check_mutants(each, roles, profile, workers or 0, chosen)
            sound = is_sound and sound
            if write is not None:
                write_file(write, page)
            continue
        if histories:
            is_sound, page = check_histories(each, profile, workers or 0, roles)
            sound = is_sound and sound
            if write is not None:
                write_file(write, page)
            continue
        peers = matrix_peers(each, pairs=pairs, sample=sample, seed=seed)
        peers = [peer for peer in peers if peer.role in (roles or {peer.role})]
        if faults is not None:
            peers = some_faults(peers, faults, seed)
        rows = compute_matrix(each, peers, profile=profile, workers=workers or 0, brief=brief)
        whole = _with_progress(each, len(peers), rows)
        _show(whole)
        if write is not None:
            write_file(write, markdown(whole, profile))
        sound = sound and whole.is_sound
    return 0 if sound else 1


def _with_progress(protocol: str, todo: int, rows: Iterator[MatrixRow | Matrix]) -> Matrix:
    console = Console(stderr=True)
    whole = Matrix(protocol, (), ())
    # On standard error, so that the matrix itself can go into a file or a pipe.
    columns = (SpinnerColumn(), *Progress.get_default_columns()[:3], TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(protocol, total=todo)
        for item in rows:
            if isinstance(item, Matrix):
                whole = item
            else:
                progress.update(task, advance=1, description=f"{protocol} {item.name}")
    return whole


def _show(whole: Matrix) -> None:
    for row in whole.rows:
        if row.kind == "fault":
            verdict = "killed" if not row.survived else f"SURVIVED {', '.join(row.survived)}"
            fallen = f"; with it fell {listed(row.collateral)}" if row.collateral else ""
            click.echo(f"fault   {row.name}: {verdict} [{', '.join(row.killed)}]{fallen}")
        else:
            verdict = f"ACCUSED of {', '.join(row.accusers)}" if row.accusers else "passes"
            click.echo(f"{row.kind:7} {row.name}: {verdict}")
    for name, rule in whole.survivors:
        click.echo(f"survivor: fault {name} breaks {rule}, and no case or monitor of the rule sees it", err=True)
    for name, rule in whole.false_accusations:
        click.echo(f"false accusation: {name} keeps {rule} and is accused", err=True)
    for rule in whole.unguarded:
        click.echo(f"unguarded: no fault proves the cases and monitors of {rule}", err=True)
    for name, error in whole.errors:
        click.echo(f"error: playing against {name}: {error}", err=True)
    faults = [row for row in whole.rows if row.kind == "fault"]
    innocent = [row for row in whole.rows if row.kind != "fault"]
    click.echo(
        f"{whole.protocol}: {sum(not row.survived for row in faults)} of {len(faults)} faults killed, "
        f"{sum(not row.accusers for row in innocent)} of {len(innocent)} innocent peers pass, "
        f"{len(whole.unguarded)} rules unguarded, {len(whole.errors)} errors"
    )


def listed(rules: tuple[str, ...]) -> str:
    """Name the first few rules and count the rest."""
    more = f" and {len(rules) - LISTED} more" if len(rules) > LISTED else ""
    return ", ".join(rules[:LISTED]) + more


def markdown(whole: Matrix, profile: Profile) -> str:
    """Write the matrix as a page: faults with what kills them and what falls with them, then the innocent."""
    lines = [
        f"# The kill matrix of {whole.protocol}",
        "",
        f"Made by `goldwire selfcheck {whole.protocol} --profile {profile} --write FILE`. Each fault is one way in",
        "which a reference peer breaks the rules named; the cases and monitors of those rules must see it. What falls",
        "with it besides is listed. Oddities keep the rules in unusual ways; nobody may accuse them.",
        "",
        "| fault | role | what it does | rules | caught by | falls with it |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_fault_line(row) for row in whole.rows if row.kind == "fault"]
    lines += ["", "| innocent peer | role | what it does | accused of |", "|---|---|---|---|"]
    for row in whole.rows:
        # Those that are slow or odd in two ways are the same peers again: of interest only when they are accused.
        if row.kind in ("original", "oddity") or (row.kind != "fault" and row.accusers):
            accused = ", ".join(row.accusers) or "nothing"
            lines.append(f"| {row.name} | {row.role} | {row.sentence or 'the reference peer itself'} | {accused} |")
    for kind, what in (
        ("latency", "with a latency between them and the tester"),
        ("pair", "with two oddities at once"),
    ):
        rows = [row for row in whole.rows if row.kind == kind]
        passed = sum(not row.accusers for row in rows)
        lines += ["", f"{passed} of {len(rows)} peers {what} are accused of nothing."] if rows else []
    return "\n".join(lines) + "\n"


def _fault_line(row: MatrixRow) -> str:
    rules = ", ".join(row.rules)
    by = sorted({accuser for rule in row.killed for accuser in row.accusers[rule]})
    caught = ", ".join(by[:3]) + (f" and {len(by) - 3} more" if len(by) > 3 else "")
    fallen = ", ".join(row.collateral) or "nothing"
    return f"| {row.name} | {row.role} | {row.sentence} | {rules} | {caught or 'NOBODY'} | {fallen} |"
