"""``goldwire selfcheck --mutants``: the score of each reference peer, and the survivors as diffs."""

from collections import Counter
from collections.abc import Iterator

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from conformance.catalogue.rules import Profile
from conformance.selfcheck.mutation.listed import BadList
from conformance.selfcheck.mutation.loading import modules_of
from conformance.selfcheck.mutation.page import page
from conformance.selfcheck.mutation.playing import PlayedMutant
from conformance.selfcheck.mutation.score import MutantSample, Score, compute_score
from harness.protocol import load


def check_mutants(
    protocol: str, roles: tuple[str, ...], profile: Profile, workers: int, sample: MutantSample | None
) -> tuple[bool, str]:
    """Play the mutants of a protocol's peers and print what becomes of them.

    Returns whether all are killed or explained, and the scores as Markdown.
    """
    scores = []
    for role in roles or tuple(load(protocol).roles):
        try:
            score = _compute(protocol, role, profile, workers, sample)
        except BadList as error:
            raise click.UsageError(str(error)) from error
        for line in lines_of(score):
            click.echo(line)
        scores.append(score)
    return all(score.is_sound for score in scores), page(protocol, profile, scores)


def _compute(protocol: str, role: str, profile: Profile, workers: int, sample: MutantSample | None) -> Score:
    console = Console(stderr=True)
    columns = (SpinnerColumn(), *Progress.get_default_columns()[:3], TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"{protocol} {role}", total=None)
        for item in compute_score(protocol, role, profile=profile, workers=workers, sample=sample):
            match item:
                case Score():
                    return item
                case int():
                    progress.update(task, total=item)
                case PlayedMutant():
                    progress.update(task, advance=1)
    raise AssertionError("the score comes last")


def lines_of(score: Score) -> Iterator[str]:
    """Return what is printed of a score: survivors nobody has explained, then stale entries, then the counts."""
    files = modules_of(score.protocol, score.role)
    for each in (*score.stumbled, *score.unexplained):
        mutant = each.mutant
        old, new = mutant.lines(files[mutant.module].read_bytes())
        yield f"{each.fate}: {mutant.place}, line {mutant.line} ({mutant.operator})"
        yield from (f"  -{line}" for line in old)
        yield from (f"  +{line}" for line in new)
        if each.by:
            yield f"  {each.by}"
    for entry in score.stale:
        yield f"stale: {entry}"
    why = Counter(entry.why for _, entry in score.excused)
    yield (
        f"{score.protocol} {score.role}: {len(score.killed)} of {score.counted} mutants killed, {score.score:.1%}; "
        f"{why['equivalent']} equivalent, {why['legal']} legal, {why['open']} open, "
        f"{len(score.unexplained)} unexplained, {len(score.stumbled)} errors of the tester, "
        f"{len(score.stale)} stale entries"
    )
