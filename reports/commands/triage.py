"""``goldwire pipeline triage`` and ``summary``: what a lake says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from reports.commands import options
from reports.progress import progress_bar

if TYPE_CHECKING:
    from reports.jobs.coverage import LakeCoverage
    from reports.jobs.overview import Overview
    from reports.jobs.regressions import Regression
    from reports.jobs.summary import RuleRow
    from reports.jobs.triage import Cluster

MOST_CLUSTERS = 20
MOST_STATES = 5
MOST_NAMES = 8
"""What is shown without --all."""

WIDTH = 160
"""Characters of what came, without --all."""

T = TypeVar("T")


@click.command()
@options.lake
@click.option("--all", "everything", is_flag=True, help="Show every cluster, and all of what came.")
@options.master(options.NO_SPARK)
@options.as_json
def triage(folder: Path | str, everything: bool, master: str, memory: int | None, as_json: bool) -> int:
    """Say what is wrong, each fault once: findings and failures without duplicates, in clusters, the gravest first.

    Exit status 1 when there are no findings and no verdicts.

    \b
    Examples:
      goldwire pipeline triage --lake lake
    """
    with options.requiring_arrow():
        from reports.jobs import triage as triaging
        from reports.lake.schemas import FINDINGS, VERDICTS
    lake = options.open_lake(folder)
    with progress_bar("triage") as on_progress, options.spark(master, memory, on_progress) as spark:
        clusters = triaging.triage(lake, spark)
    if as_json:
        options.print_json(clusters)
    else:
        for line in shown_clusters(clusters, everything):
            click.echo(line)
    damaged = options.print_damage(lake)
    # Nothing found and nothing looked at are two answers, and the second must not look like the first.
    there = any(piece.table in (FINDINGS.name, VERDICTS.name) for each in lake.batches() for piece in each.pieces)
    if not there:
        click.echo(f"Error: there are no findings and no verdicts in {folder}: goldwire pipeline ingest", err=True)
    elif not clusters and not damaged and not as_json:
        click.echo("nothing is wrong")
    return int(damaged or not there)


def shown_clusters(clusters: "Sequence[Cluster]", everything: bool) -> Iterator[str]:
    """Give the lines about clusters: what it is, how often and since when, and how it is repeated."""
    shown = clusters if everything else clusters[:MOST_CLUSTERS]
    for each in shown:
        what = each.what if everything or len(each.what) <= WIDTH else f"{each.what[:WIDTH]}…"
        # The usual profile goes without saying.
        profile = f", {each.profile}" if each.profile not in ("", "document") else ""
        where = ", ".join(dict.fromkeys((each.where, *each.rules)))
        yield f"{each.rank:3}. {each.gravity:9} {where}, {each.who}{profile}: {what}"
        yield "     " + "; ".join(part for part in _seen(each) if part)
        yield f"     {each.repeat or each.example}"
    if len(shown) < len(clusters):
        yield f"{len(clusters) - len(shown)} more; --all shows them"


def _seen(each: "Cluster") -> Iterator[str]:
    yield f"{each.count} times" + (f" in {each.different} forms" if each.different > 1 else "")
    yield f"{each.size} bytes" if each.size is not None else ""
    yield _few(each.cases, 3) if len(each.cases) > 1 else ""
    if each.versions:
        versions = each.versions[0] if len(each.versions) == 1 else f"{each.versions[0]} to {each.versions[-1]}"
        yield f"{'goldwire' if each.size is not None else 'version'} {versions}"
    yield f"since {each.first}" if each.first else ""


@click.command()
@options.lake
@click.option("--all", "everything", is_flag=True, help="Show rules that are kept as well, and all that is missing.")
@options.master(options.NO_SPARK)
@options.as_json
def summary(folder: Path | str, everything: bool, master: str, memory: int | None, as_json: bool) -> int:
    """Sum up a lake: rule by implementation, version and profile, with counts, and how flaky they are.

    And what got worse or better from version to version, which rules and messages were never seen, and the rarest
    frames. Exit status 1 when there is no verdict.

    \b
    Examples:
      goldwire pipeline summary --lake lake
    """
    with options.requiring_arrow():
        from reports.jobs.overview import overview
    lake = options.open_lake(folder)
    with progress_bar("summary") as on_progress, options.spark(master, memory, on_progress) as spark:
        found = overview(lake, spark)
    if as_json:
        options.print_json(found)
    else:
        for line in shown_overview(found, everything):
            click.echo(line)
    damaged = options.print_damage(lake)
    if not found.rules:
        click.echo(f"Error: there are no verdicts in {folder}: goldwire pipeline ingest, then judge", err=True)
    return int(damaged or not found.rules)


def shown_overview(found: "Overview", everything: bool) -> Iterator[str]:
    """Give the lines of a summary, section by section; of what is not there, none."""
    yield from _rules(found.rules, everything)
    yield from _changes(found.regressions, everything)
    yield from _coverage(found.coverage, everything)


def _rules(rows: "Iterable[RuleRow]", everything: bool) -> Iterator[str]:
    kept = 0
    for row in rows:
        # What is kept is the rule; a summary of a thousand lines that say so hides the ten that do not.
        if row.worst.rank <= 1 and not row.flaky and not row.unsteady and not everything:
            kept += 1
            continue
        counts = ", ".join(f"{count} {outcome}" for outcome, count in row.outcomes.items())
        counts += _share("flaky", row.flaky, row.judgements, row.flaky_between)
        counts += _share("unsteady", row.unsteady, row.repeated, row.unsteady_between)
        yield f"{row.rule or '-':8} {_who(row.name, row.version, row.role)}, {row.profile}: {counts}"
    if kept:
        yield f"{kept} more are kept; --all shows them"


def _share(what: str, hits: int, tries: int, between: tuple[float, float]) -> str:
    # The interval with the share, as two of three and two hundred of three hundred are not the same news.
    low, high = between
    return f"; {what} {hits}/{tries} ({low:.1%} to {high:.1%})" if hits else ""


def _changes(found: "Sequence[Regression]", everything: bool) -> Iterator[str]:
    # A change that chance may explain is no news until there are more runs.
    shown = found if everything else [each for each in found if each.change != "flaky"]
    yield from _section("between versions", shown, _regression)
    if len(shown) < len(found):
        yield f"{len(found) - len(shown)} more differ, and too few judgements say so; --all shows them"


def _regression(each: "Regression") -> str:
    who = f"{_who(each.name, '', each.role)}, {each.profile}"
    shares = [
        f"{version}: {hits}/{judgements} ({low:.0%} to {high:.0%})"
        for version, hits, judgements, (low, high) in zip(
            (each.before, each.after), each.hits, each.judgements, each.between, strict=True
        )
    ]
    cases = f"; {_few(each.cases, 3)}" if each.cases else ""
    return f"{each.change:6} {each.rule or '-':8} {who}: {each.outcome.value}: {', '.join(shares)}{cases}"


def _coverage(found: "LakeCoverage", everything: bool) -> Iterator[str]:
    most = None if everything else MOST_NAMES
    yield from _section(
        "rules that were judged, of those that a wire can show",
        found.rules,
        lambda each: (
            f"{each.protocol} {_who(each.name, each.version, each.role)}: {each.judged} of {each.of}"
            + (f"; never {_few(each.never, most)}" if each.never else "")
        ),
    )
    yield from _section(
        "messages that were seen",
        found.messages,
        lambda each: (
            f"{each.layout}: {len(each.seen)} in {each.frames} frames, {each.refused} of them refused"
            + (f"; never {_few(each.never, most)}" if each.never else "")
        ),
    )
    yield from _section(
        "the rarest frames",
        found.states if everything else found.states[:MOST_STATES],
        lambda each: (
            f"{each.frames:6}  {each.layout} {f'refused: {each.refused}' if each.refused else each.types}"
            f"  (the first: {each.session}, {each.seq})"
        ),
    )


def _section(title: str, items: Sequence[T], line: Callable[[T], str]) -> Iterator[str]:
    if items:
        yield f"-- {title}"
        yield from map(line, items)


def _few(names: Sequence[str], most: int | None) -> str:
    shown = names[:most]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _who(name: str, version: str, role: str) -> str:
    return " ".join(part for part in (name, version, role) if part) or "unnamed"
