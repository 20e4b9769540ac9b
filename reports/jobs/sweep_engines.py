"""Chunks of a sweep through goldwire's own engines, each compared with the first, and findings of them made small."""

import math
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from fuzz.findings import FindingOrigin, make
from fuzz.limits import InputLimits
from reports.jobs.sweep_plan import ENGINE, MOST_IN_A_CHUNK, TRIES, SmallFinding, SweepPlan, Tally, as_tally
from vectors.checks import check
from vectors.checks.differential import Panel
from vectors.checks.sweep import CHUNK, Found, Sweep, run, uninterrupted
from wire.engines import engine

PATIENCE = 600.0
"""Seconds after which a finding is kept as it was found: an engine hangs, as the tries take a few."""

FOREVER = 1 << 62
"""Processes that may be lost: what is swept does not depend on how many chunks a task has."""


def tallies(plan: SweepPlan, first: int, end: int) -> Generator[Tally, None, None]:
    """Compare the frames of the chunks ``first`` up to, not with, ``end``; yield what comes of each."""
    # Without a deadline: what a chunk comes to must not depend on the speed of the machine.
    sweep = Sweep(plan.layout, check.stream, plan.seed, end * CHUNK, None, plan.share, MOST_IN_A_CHUNK)
    # In a process of its own, as an engine may end it.
    with closing(run(sweep, _engines(plan), 1, first=first, restarts=FOREVER)) as chunks:
        for each in chunks:
            yield as_tally(plan.layout, each)


def _engines(plan: SweepPlan) -> Sequence[Any]:
    return [engine(name) for name in plan.engines]


def smallest(plan: SweepPlan, found: Found) -> SmallFinding:
    """Return a finding with the smallest frame or value on which the engines differ in the same way."""
    report = check.CheckReport(plan.layout, plan.engines, plan.seed)
    finding = _guarded(plan, found)
    origin = FindingOrigin(ENGINE, plan.seed, "", number=found.number, mutations=found.names)
    return SmallFinding(make(finding, report, origin, InputLimits(), 1), check.command(report, finding))


def _guarded(plan: SweepPlan, found: Found) -> check.EngineFinding:
    """Make a finding small in a process of its own, as an engine may end it; then it stays as it was found."""
    as_found = check.EngineFinding(found.difference, found, found.data, found.value)
    if found.difference.kind in check.FINAL:
        return as_found
    # Not fork: this may be a Python that Spark has started, with threads and sockets of its own.
    context = get_context("spawn")
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(target=_make_small, args=(plan, found, sends), daemon=True)
    # Started with signals put off, as those who start processes elsewhere: an interruption between start and ``try``
    # would leave one behind.
    with uninterrupted():
        process.start()
    try:
        sends.close()
        with suppress(EOFError):
            if receives.poll(PATIENCE):
                smaller: check.EngineFinding = receives.recv()
                return smaller
    finally:
        process.kill()
        process.join()
        receives.close()
    return as_found


def _make_small(plan: SweepPlan, found: Found, sends: Connection) -> None:
    # A number of tries and no time: the same finding is the same everywhere, on slow machines too.
    sends.send(check.smallest(Panel(plan.layout, _engines(plan)), found, math.inf, TRIES))
