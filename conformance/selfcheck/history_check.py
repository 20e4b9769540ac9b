"""``goldwire selfcheck --histories``: which faults histories find alone, without the cases' help."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Literal

import click
import msgspec

import conformance
from conformance.catalogue.rules import Profile
from conformance.selfcheck.matrix import MatrixRow
from conformance.selfcheck.peers import by_history, compute_row, keep_out_of_the_way, matrix_peers
from conformance.suite import Suite
from harness.worker_pool import worker_pool


class FaultGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Faults that histories do not find for one and the same reason: ``about`` bytes, or time."""

    about: Literal["bytes", "time"]
    because: str
    faults: tuple[str, ...]


class FaultGroups(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in ``conformance/<protocol>/histories/not_found.toml``."""

    group: tuple[FaultGroup, ...] = ()

    def of(self, fault: str) -> FaultGroup | None:
        """Return the group of a fault, if it is in one."""
        return next((each for each in self.group if fault in each.faults), None)


def not_found(protocol: str) -> FaultGroups:
    """Return the faults of a protocol that histories are known not to find; none where there is no file."""
    file = Path(next(iter(conformance.__path__))) / protocol / "histories" / "not_found.toml"
    return msgspec.toml.decode(file.read_bytes(), type=FaultGroups) if file.exists() else FaultGroups()


def check_histories(protocol: str, profile: Profile, workers: int, roles: Collection[str] = ()) -> tuple[bool, str]:
    """Play histories alone against every peer, of some roles or of all, and print what they find.

    Returns whether all is as it should be, and the table as Markdown: no innocent peer is accused, nothing went wrong,
    and exactly those faults are missed that are known to be.
    """
    rows, known = [], not_found(protocol)
    for row in history_rows(protocol, profile, workers, roles):
        rows.append(row)
        click.echo(line(row, known))
    summary, wrong = summarised(protocol, rows, known)
    click.echo(summary)
    for each in wrong:
        click.echo(f"error: {each}", err=True)
    return not wrong, page(protocol, profile, rows, known, summary)


def summarised(protocol: str, rows: Sequence[MatrixRow], known: FaultGroups) -> tuple[str, list[str]]:
    """Return one sentence about all rows, and what is not as it should be."""
    faults = [row for row in rows if row.kind == "fault"]
    found = [row for row in faults if by_history(row.accusers)]
    seen = [row for row in faults if row not in found and row.accusers]
    missed = [row for row in faults if not row.accusers]
    groups = [known.of(row.name) for row in missed]
    about = Counter(group.about for group in groups if group is not None)
    accused = [row.name for row in rows if row.kind != "fault" and row.accusers]
    errors = [error for row in rows for error in row.errors]
    summary = (
        f"{protocol}: histories alone find {len(found)} of {len(faults)} faults, their monitors {len(seen)} more; "
        f"{about['bytes']} are about bytes, {about['time']} about time, {groups.count(None)} are not found; "
        f"{len(accused)} of {len(rows) - len(faults)} innocent peers are accused, {len(errors)} errors"
    )
    wrong = [*errors, *(f"{name} is innocent, and accused" for name in accused)]
    wrong += [f"{row.name} is not found" for row, group in zip(missed, groups, strict=True) if group is None]
    wrong += [f"{row.name} is found: take it out of not_found.toml" for row in (*found, *seen) if known.of(row.name)]
    return summary, wrong


def history_rows(protocol: str, profile: Profile, workers: int, roles: Collection[str] = ()) -> Iterator[MatrixRow]:
    """Yield a row for each peer whose role has histories, in the order of the declarations."""
    played = {role for case in Suite(protocol).cases if case.marks.is_history for role in case.marks.roles}
    todo = [peer for peer in matrix_peers(protocol) if peer.role in played and peer.role in (roles or played)]
    play = partial(compute_row, protocol, profile=profile, histories=True)
    with worker_pool(workers or cpu_count() or 1, keep_out_of_the_way) as pool:
        yield from pool.map(play, todo)


def line(row: MatrixRow, known: FaultGroups) -> str:
    """Return what histories made of one peer."""
    if row.kind != "fault":
        return f"{row.kind:7} {row.name}: {'ACCUSED of ' + ', '.join(row.accusers) if row.accusers else 'passes'}"
    return f"fault   {row.name}: {verdict(row, known)}"


def verdict(row: MatrixRow, known: FaultGroups) -> str:
    """Return whether a fault is found, and by what; or why one would not expect it."""
    if rules := by_history(row.accusers):
        first = next(name for name in row.accusers[rules[0]] if name.endswith("(case)"))
        return f"found as {rules[0]} by {first.removesuffix(' (case)')}"
    if row.accusers:
        return f"not found; seen by the monitors of {', '.join(row.accusers)}"
    group = known.of(row.name)
    return "NOT FOUND" if group is None else f"not found, about {group.about}: {group.because}"


def page(protocol: str, profile: Profile, rows: Sequence[MatrixRow], known: FaultGroups, summary: str) -> str:
    """Write the table as a page."""
    lines = [
        f"# What histories find of the faults of {protocol}",
        "",
        f"Made by `goldwire selfcheck {protocol} --profile {profile} --histories --write FILE`: histories alone are",
        "played, as many as in every run of the gate, against each peer of the kill matrix.",
        "",
        "*Found* is what a history itself accuses, by what its model rules out, and each such accusation has the moves",
        "that lead to it. *Seen by the monitors* is something else: the history notices nothing, but its conversation",
        "makes the node send a message that by itself breaks a rule; the monitors, which judge recordings too, say so.",
        "",
        f"{summary}.",
        "",
        "| fault | what it does | rules | histories |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.sentence} | {', '.join(row.rules)} | {verdict(row, known)} |"
        for row in rows
        if row.kind == "fault"
    ]
    return "\n".join(lines) + "\n"
