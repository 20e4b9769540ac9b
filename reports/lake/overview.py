"""What a lake says altogether: what each rule came to, what changed between versions, and how much was seen."""

from typing import Any

import msgspec

from reports.lake import jobs
from reports.lake.coverage import Coverage, coverage
from reports.lake.lake import Lake
from reports.lake.regressions import Regression, by_case, regressions
from reports.lake.summary import RuleRow


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The summary of a lake."""

    rules: tuple[RuleRow, ...]
    regressions: tuple[Regression, ...]
    coverage: Coverage


def overview(lake: Lake, spark: Any) -> Overview:
    """Sum up a lake; nothing of it depends on where that is done, or on how the work is split."""
    rows = jobs.summary(lake, spark)
    return Overview(
        rules=tuple(rows),
        regressions=tuple(regressions(rows, by_case(lake, spark))),
        coverage=coverage(lake, rows, spark),
    )
