"""What a lake says altogether: what each rule came to, what changed between versions, and how much was seen."""

from typing import Any

import msgspec

from conformance.verdicts import Outcome
from reports.jobs import runner as jobs
from reports.jobs.coverage import LakeCoverage, coverage
from reports.jobs.regressions import Cases, Regression, by_case, regressions
from reports.jobs.summary import BY, RuleRow, wilson
from reports.lake.lake import Lake


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The summary of a lake."""

    rules: tuple[RuleRow, ...]
    regressions: tuple[Regression, ...]
    coverage: LakeCoverage


def overview(lake: Lake, spark: Any) -> Overview:
    """Sum up a lake; nothing of it depends on where that is done, or on how the work is split."""
    rows, cases = jobs.summary(lake, spark), by_case(lake, spark)
    return Overview(
        rules=tuple(between_runs(row, cases) for row in rows),
        regressions=tuple(regressions(rows, cases)),
        coverage=coverage(lake, rows, spark),
    )


def between_runs(row: RuleRow, cases: Cases) -> RuleRow:
    """Return a row with how many of the cases that several runs judged came to something else in one of them."""
    played = cases.get(tuple(getattr(row, name) for name in BY), {}).values()
    # Our own errors are no sign that the implementation wavers.
    cases_played = [{name: runs for name, runs in each.items() if name != Outcome.ERROR.value} for each in played]
    # One run alone cannot differ from itself.
    repeated = [each for each in cases_played if sum(each.values()) > 1]
    unsteady = sum(len(each) > 1 for each in repeated)
    return msgspec.structs.replace(
        row, repeated=len(repeated), unsteady=unsteady, unsteady_between=wilson(unsteady, len(repeated))
    )
