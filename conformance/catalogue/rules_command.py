"""``goldwire rules``: the catalogue of a protocol, and how much of its documents it covers."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from conformance.catalogue.coverage import coverage
from conformance.catalogue.documents import closest
from conformance.catalogue.loading import CatalogueError, load_catalogue, protocols
from conformance.catalogue.rules import Catalogue, Rule, Way
from conformance.suite import Suite
from conformance.verdicts import Strength
from harness.protocol import IncompleteProtocol
from wire import completion

HEADERS = ("id", "strength", "binds", "verified", "section", "gist")
WAYS: tuple[Way, ...] = get_args(Way)


@click.command()
@click.argument("protocol", required=False, shell_complete=completion.protocols)
@click.option(
    "--documents",
    "directory",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Compare the catalogue with the documents in DIR, whatever the files are called.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rules(protocol: str | None, directory: Path | None, as_json: bool) -> None:
    """Show the rules of PROTOCOL, or all protocols that have rules.

    \b
    Examples:
      goldwire rules
      goldwire rules zenoh --json
    """
    known = protocols()
    if protocol is not None and protocol not in known:
        raise click.UsageError(f"unknown protocol {protocol!r}: known are {', '.join(known)}")
    try:
        catalogues = [load_catalogue(name) for name in ([protocol] if protocol else known)]
    except CatalogueError as error:
        raise click.ClickException(str(error)) from None
    differences = {c.protocol: compare(c, directory) if directory else {} for c in catalogues}
    if as_json:
        summaries = [summary(c, differences[c.protocol], full=protocol is not None) for c in catalogues]
        click.echo(msgspec.json.encode(summaries[0] if protocol else summaries))
    else:
        for catalogue in catalogues:
            if protocol:
                show(catalogue, exercised(protocol))
            else:
                click.echo(line(catalogue))
            for name, changes in differences[catalogue.protocol].items():
                for change in changes or ["as in the catalogue"]:
                    click.echo(f"{name}: {change}")
    different = any(changes for by_name in differences.values() for changes in by_name.values())
    # Status 1 for a maintainer's CI: a line that nobody cites is a rule that nobody has written down.
    if different or any(c.uncovered() or unverified(c) for c in catalogues):
        sys.exit(1)


def unverified(catalogue: Catalogue) -> list[str]:
    """Return the ids of the rules that no way of verification is named for."""
    return [rule.id for rule in catalogue.rules.values() if not rule.verified]


def compare(catalogue: Catalogue, directory: Path) -> dict[str, list[str]]:
    """Return, for each document, how the text in a folder differs from the catalogue, if it does."""
    differences = {}
    for name, document in catalogue.documents.items():
        found = closest(document, directory)
        if found is None:
            differences[name] = [f"no file in {directory} has its SHA-256 {document.sha256}, or most of its lines"]
        else:
            path, text = found
            differences[name] = [f"{path.name}: {change}" for change in catalogue.check_text(name, text)]
    return differences


def exercised(protocol: str) -> dict[str, dict[str, int]]:
    """Return how many vectors, cases and monitors exercise each rule; empty where only the rules are written yet."""
    try:
        return coverage(Suite(protocol))
    except IncompleteProtocol as error:
        click.echo(f"not counted: {error}", err=True)
        return {}


def summary(catalogue: Catalogue, differences: dict[str, list[str]], *, full: bool) -> dict[str, Any]:
    """Return what ``--json`` prints: counts, coverage, and with ``full`` the rules and readings."""
    result: dict[str, Any] = {
        "protocol": catalogue.protocol,
        "count": len(catalogue.rules),
        "strength": strengths(catalogue),
        "verified": ways(catalogue),
        "unverified": unverified(catalogue),
        "normative": normative(catalogue),
        "uncovered": [{"document": name, "line": number} for name, number in catalogue.uncovered()],
        "differences": differences,
    }
    if full:
        result["rules"] = list(catalogue.rules.values())
        result["readings"] = list(catalogue.readings.values())
        result["exercised"] = exercised(catalogue.protocol)
    return result


def strengths(catalogue: Catalogue) -> dict[str, int]:
    """Return the number of rules of each strength that occurs."""
    counts = Counter(rule.strength for rule in catalogue.rules.values())
    return {strength.value: counts[strength] for strength in Strength if counts[strength]}


def ways(catalogue: Catalogue) -> dict[str, int]:
    """Return the number of rules that are verified in each way; a rule may be verified in several."""
    counts = Counter(way for rule in catalogue.rules.values() for way in rule.verified)
    return {way: counts[way] for way in WAYS if counts[way]}


def normative(catalogue: Catalogue) -> int:
    """Return the number of normative lines in all documents of a catalogue."""
    return sum(len(document.normative) for document in catalogue.documents.values())


def coverage_line(catalogue: Catalogue) -> str:
    """Return how many of the normative lines are cited by a rule, in words."""
    total = normative(catalogue)
    return f"{total - len(catalogue.uncovered())} of {total} normative lines covered"


def line(catalogue: Catalogue) -> str:
    """Return a protocol in one line."""
    missing = unverified(catalogue)
    rest = f", {len(missing)} unverified" if missing else ""
    return f"{catalogue.protocol}: {len(catalogue.rules)} rules{rest}, {coverage_line(catalogue)}"


def row(rule: Rule, counts: dict[str, dict[str, int]]) -> list[str]:
    """Return the cells of one rule; each way shows how many vectors, cases or monitors there are, if that is known."""
    known = counts.get(rule.id, {})
    verified = [f"{way}:{known.get(way, 0)}" if counts and way != "paper" else way for way in rule.verified]
    return [rule.id, rule.weight, rule.binds, " ".join(verified) or "-", rule.section, rule.gist]


def show(catalogue: Catalogue, counts: dict[str, dict[str, int]]) -> None:
    """Print the rules as a table and what they come to: with rich on a terminal, aligned text in a pipe."""
    rows = [row(rule, counts) for rule in catalogue.rules.values()]
    # Aligned text in a pipe: rich would cut the gist at the width of a terminal that is not there.
    if sys.stdout.isatty():
        table = Table(*HEADERS[:-1], box=box.SIMPLE_HEAD, header_style="bold")
        table.add_column(HEADERS[-1], ratio=1)
        table.columns[0].no_wrap = True
        for cells in rows:
            table.add_row(*cells)
        Console().print(table, markup=False)
    else:
        widths = [max(map(len, column)) for column in zip(HEADERS, *rows, strict=True)]
        for cells in [list(HEADERS), *rows]:
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
            click.echo("  ".join(padded).rstrip())
    click.echo()
    click.echo(f"{len(rows)} rules: " + ", ".join(f"{n} {name}" for name, n in strengths(catalogue).items()))
    click.echo("verified by: " + ", ".join(f"{name} {n}" for name, n in ways(catalogue).items()))
    click.echo(coverage_line(catalogue))
    for name, number in catalogue.uncovered():
        click.echo(f"uncovered: {name}, line {number}")
    for rule_id in unverified(catalogue):
        click.echo(f"unverified: {rule_id}")
    for rule in catalogue.rules.values():
        if rule.follows or rule.taste:
            click.echo(f"{rule.weight}: {rule.id}: {rule.follows or rule.taste}")
    for rule in catalogue.rules.values():
        if rule.reason:
            click.echo(f"on paper: {rule.id}: {rule.reason}")
