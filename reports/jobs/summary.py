"""The job ``summary``: what each rule came to, by implementation, version and profile, and how flaky that is."""

from collections.abc import Sequence
from math import sqrt

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from conformance.verdicts import Outcome, worst
from reports.lake.schemas import VERDICTS

BY = ("protocol", "rule", "name", "version", "role", "profile")
READ = (*BY, "kind", "origin", "outcome", "flaky")
"""The columns of verdicts that the summary takes."""

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals are of 95 %."""


class RuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of one version of an implementation, under one profile.

    ``outcomes`` counts judgements; ``flaky`` is how many of the ``judgements`` came from plays whose attempts
    differed on the rule, and ``flaky_between`` the Wilson interval (95 %) of their share. ``unsteady`` is how many of
    the cases that several runs of the version judged (``repeated``) did not come to the same in all of them, those left
    out whose plays differed in a run; ``overview`` counts them.
    """

    protocol: str
    rule: str
    name: str
    version: str
    role: str
    profile: str
    outcomes: dict[str, int]
    worst: Outcome
    judgements: int
    flaky: int
    flaky_between: tuple[float, float]
    repeated: int
    unsteady: int
    unsteady_between: tuple[float, float]


def counted(verdicts: pa.Table) -> pa.Table:
    """Return how often each outcome stands in verdicts (the columns ``READ``), and how often it was flaky."""
    # What monitors said while a run was live is not counted again when its traces are judged.
    again = pc.and_(pc.equal(verdicts["kind"], "run"), pc.equal(verdicts["origin"], "judged"))
    kept = verdicts.filter(pc.invert(pc.fill_null(again, False)))
    flaky = pc.cast(pc.fill_null(pc.not_equal(kept["flaky"], ""), False), pa.int64())
    # Counted by Arrow, file by file: a lake has millions of judgements, and some hundred rules.
    rows = kept.select([*BY, "outcome"]).append_column("flaky", flaky)
    return rows.group_by([*BY, "outcome"]).aggregate([("outcome", "count"), ("flaky", "sum")])


def summarised(counts: Sequence[dict[str, object]]) -> list[RuleRow]:
    """Return the summary of counts: mappings with ``BY``, ``outcome``, ``outcome_count`` and ``flaky_sum``."""
    found: dict[tuple[str, ...], dict[str, tuple[int, int]]] = {}
    for row in counts:
        key = tuple(str(row[name] or "") for name in BY)
        outcome = found.setdefault(key, {}).setdefault(str(row["outcome"]), (0, 0))
        found[key][str(row["outcome"])] = (
            outcome[0] + int(str(row["outcome_count"])),
            outcome[1] + int(str(row["flaky_sum"])),
        )
    return [_row(key, outcomes) for key, outcomes in sorted(found.items())]


def _row(key: tuple[str, ...], outcomes: dict[str, tuple[int, int]]) -> RuleRow:
    judgements = sum(count for count, _ in outcomes.values())
    flaky = sum(count for _, count in outcomes.values())
    # In the order of gravity, whichever came first.
    ordered = [each.value for each in Outcome if each.value in outcomes]
    return RuleRow(
        **dict(zip(BY, key, strict=True)),
        outcomes={name: outcomes[name][0] for name in ordered},
        worst=worst(Outcome(name) for name in outcomes),
        judgements=judgements,
        flaky=flaky,
        flaky_between=wilson(flaky, judgements),
        repeated=0,
        unsteady=0,
        unsteady_between=wilson(0, 0),
    )


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """Return the Wilson score interval (95 %) of a share; everything is possible after no tries.

    Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    if not tries:
        return 0.0, 1.0
    share, spread = hits / tries, Z * Z / tries
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / tries + spread / (4 * tries)) / (1 + spread)
    # Exact at the ends, where rounding would give an interval that begins at 1e-17.
    return (0.0 if hits == 0 else max(0.0, middle - half)), (1.0 if hits == tries else min(1.0, middle + half))


assert set(READ) <= set(VERDICTS.schema.names)
