"""``goldwire selfcheck --histories``: which faults histories find alone, without the cases' help."""

from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import cpu_count

import click

from conformance.catalogue.rules import Profile
from conformance.selfcheck.matrix import MatrixRow
from conformance.selfcheck.peers import by_history, compute_row, keep_out_of_the_way, matrix_peers
from conformance.suite import Suite


def check_histories(protocol: str, profile: Profile, workers: int, roles: Collection[str] = ()) -> tuple[bool, str]:
    """Play histories alone against every peer, of some roles or of all, and print what they find.

    Returns whether no innocent peer was accused and nothing went wrong, and the table as Markdown.
    """
    rows = []
    for row in history_rows(protocol, profile, workers, roles):
        rows.append(row)
        click.echo(line(row, Suite(protocol)))
    faults = [row for row in rows if row.kind == "fault"]
    found = [row for row in faults if by_history(row.accusers)]
    seen = [row for row in faults if row not in found and row.accusers]
    accused = [row.name for row in rows if row.kind != "fault" and row.accusers]
    errors = [error for row in rows for error in row.errors]
    summary = (
        f"{protocol}: histories alone find {len(found)} of {len(faults)} faults, their monitors {len(seen)} more; "
        f"{len(accused)} of {len(rows) - len(faults)} innocent peers are accused, {len(errors)} errors"
    )
    click.echo(summary)
    for error in errors:
        click.echo(f"error: {error}", err=True)
    return not (accused or errors), page(protocol, profile, rows, summary)


def history_rows(protocol: str, profile: Profile, workers: int, roles: Collection[str] = ()) -> Iterator[MatrixRow]:
    """Yield a row for each peer whose role has histories, in the order of the declarations."""
    played = {role for case in Suite(protocol).cases if case.marks.is_history for role in case.marks.roles}
    todo = [peer for peer in matrix_peers(protocol) if peer.role in played and peer.role in (roles or played)]
    play = partial(compute_row, protocol, profile=profile, histories=True)
    with ProcessPoolExecutor(workers or cpu_count() or 1, initializer=keep_out_of_the_way) as pool:
        yield from pool.map(play, todo)


def line(row: MatrixRow, suite: Suite) -> str:
    """Return what histories made of one peer."""
    if row.kind != "fault":
        return f"{row.kind:7} {row.name}: {'ACCUSED of ' + ', '.join(row.accusers) if row.accusers else 'passes'}"
    return f"fault   {row.name}: {verdict(row, suite)}"


def verdict(row: MatrixRow, suite: Suite) -> str:
    """Return whether a fault is found, and by what; or why one would not expect it."""
    if rules := by_history(row.accusers):
        first = next(name for name in row.accusers[rules[0]] if name.endswith("(case)"))
        return f"found as {rules[0]} by {first.removesuffix(' (case)')}"
    if row.accusers:
        return f"seen by the monitors of {', '.join(row.accusers)}"
    # A rule that golden vectors prove is about how a message is spelled; histories spell all of theirs well.
    is_about_bytes = any("codec" in suite.catalogue.rules[rule].verified for rule in row.rules)
    return "not found: it is about bytes" if is_about_bytes else "NOT FOUND"


def page(protocol: str, profile: Profile, rows: list[MatrixRow], summary: str) -> str:
    """Write the table as a page."""
    suite = Suite(protocol)
    lines = [
        f"# What histories find of the faults of {protocol}",
        "",
        f"Made by `goldwire selfcheck {protocol} --profile {profile} --histories --write FILE`: histories alone are",
        "played, as many as in every run of the gate, against each peer of the kill matrix.",
        "",
        f"{summary}.",
        "",
        "| fault | what it does | rules | histories |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.sentence} | {', '.join(row.rules)} | {verdict(row, suite)} |"
        for row in rows
        if row.kind == "fault"
    ]
    return "\n".join(lines) + "\n"
