"""What a task of the job ``sweep`` does: compare the frames of some chunks, and count what came of it."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial

from fuzz.findings import signature
from reports.jobs import sweep_engines, sweep_programs
from reports.jobs.sweep_plan import SmallFinding, SweepPlan, Tally, first_found
from vectors.checks.sweep import Found


def tallied(plan: SweepPlan, first: int, end: int, on_progress: Callable[[int], None] | None = None) -> Tally:
    """Compare the frames of the chunks ``first`` up to, not with, ``end``; ``on_progress`` is called for each chunk."""
    tally = Tally()
    # Closed also when it is interrupted: that ends the processes of the engines.
    with closing(_tallies(plan, first, end)) as parts:
        for part in parts:
            tally += part
            if on_progress is not None:
                on_progress(1)
    return tally


def _tallies(plan: SweepPlan, first: int, end: int) -> Generator[Tally, None, None]:
    return sweep_programs.tallies(plan, first, end) if plan.command else sweep_engines.tallies(plan, first, end)


def smallest(plan: SweepPlan, tally: Tally) -> list[SmallFinding]:
    """Make small what was found, in its order, and keep at most ``plan.most`` that differ in different ways."""
    small = sweep_programs.smallest if plan.command else sweep_engines.smallest
    return list(_different(plan, tally, partial(small, plan)))


def _different(plan: SweepPlan, tally: Tally, small: Callable[[Found], SmallFinding]) -> Iterator[SmallFinding]:
    seen: set[str] = set()
    known: set[str] = set()
    for found in sorted(tally.found.values(), key=first_found):
        name = signature(plan.layout, found.difference)
        if len(known) == plan.most:
            return
        # Before it is made small, which may take seconds; and after it, as two that were different may become one.
        if name in seen:
            continue
        each = small(found)
        seen |= {name, each.kept.finding.signature}
        if each.kept.finding.signature not in known:
            known.add(each.kept.finding.signature)
            yield each
