"""What got worse, and what better, from one version of an implementation to the next."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec
import pyarrow.compute as pc  # type: ignore[import-untyped]

from conformance.verdicts import Outcome, worst
from reports.jobs import spark as sparks
from reports.jobs.summary import BY, RuleRow, wilson
from reports.jobs.versions import ordered
from reports.lake.lake import Lake
from reports.lake.schemas import VERDICTS

THRESHOLDS = (Outcome.CRASH, Outcome.VIOLATION, Outcome.DEVIATION)
"""Shares of judgements at least as bad as these are compared, the gravest first."""

UNSAID = {Outcome.ERROR, Outcome.INCONCLUSIVE}
"""What says nothing of the implementation."""

OF_PLAY = (*BY, "case", "source", "outcome")

ACCUSING = THRESHOLDS[-1]
"""What is at least as bad accuses."""

Change = Literal["worse", "better", "flaky"]

Cases = Mapping[tuple[str, ...], Mapping[str, Mapping[str, int]]]
"""Outcomes by rule (the columns ``BY``) and case."""

Pairs = Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]]
"""Outcomes of the cases that were judged in two versions, before and after."""


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that came to something else in a version (``after``) than in the one ``before`` that judged it.

    ``change`` is ``flaky`` when the worst outcome differs, and too few judgements say so, or cases say the contrary of
    each other. ``hits`` of the ``judgements`` before and after are at least as bad as ``outcome``, with the Wilson
    intervals of their shares. Where both versions were played, a judgement is what a case of a run came to at worst,
    of the cases that were played against both. ``cases`` are those that came to something else.
    """

    change: Change
    protocol: str
    rule: str
    name: str
    role: str
    profile: str
    before: str
    after: str
    worst: tuple[Outcome, Outcome]
    outcome: Outcome
    hits: tuple[int, int]
    judgements: tuple[int, int]
    between: tuple[tuple[float, float], tuple[float, float]]
    cases: tuple[str, ...] = ()


def regressions(rows: Iterable[RuleRow], cases: Cases) -> list[Regression]:
    """Return what changed between versions that follow each other, of each rule, implementation, role and profile.

    What is worse comes first. Versions are those that judged the rule; rows without a version are left out, and so are
    judgements that are the tester's own errors. ``cases`` are those of runs, by rule (``by_case``).
    """
    by_version: dict[tuple[str, ...], dict[str, RuleRow]] = {}
    for row in rows:
        # What has no version is neither before nor after another.
        if row.version:
            key = row.protocol, row.name, row.role, row.profile, row.rule
            by_version.setdefault(key, {})[row.version] = row
    found = []
    for _, versions in sorted(by_version.items()):
        # A version that never judged the rule is passed over, so that the ones around it are compared.
        judged = [versions[version] for version in ordered(versions) if _judged(versions[version].outcomes)]
        found += [change for pair in pairwise(judged) if (change := compared(*pair, cases))]
    return sorted(found, key=lambda each: ("worse", "flaky", "better").index(each.change))


def compared(before: RuleRow, after: RuleRow, cases: Cases) -> Regression | None:
    """Return how a rule changed from one version to another; None if it did not, as far as can be told.

    It did when the intervals (95 %) of the shares do not overlap, or when none was so bad in one version, and all are
    in the other: of all judgements, or of those in a case that was played against both while no case says the
    contrary. It did perhaps, when its worst outcome is another. Inconclusive is neither better nor worse than kept.
    Where both versions were played, only cases that were played against both count: others may be of a part of the
    suite.
    """
    then, now = (cases.get(tuple(getattr(row, name) for name in BY), {}) for row in (before, after))
    both = [case for case in sorted(then.keys() & now.keys()) if _judged(then[case]) and _judged(now[case])]
    pairs = {case: (then[case], now[case]) for case in both}
    # Cases of both versions: with ``-k`` somebody may have played the bad half only, which would look like a
    # regression.
    if then and now:
        if not pairs:
            return None
        before, after = (_of(row, [pair[side] for pair in pairs.values()]) for side, row in enumerate((before, after)))
    worse, better = _changed(pairs)
    found = _compared(before, after, pairs)
    if found is not None and found.change != "flaky":
        return msgspec.structs.replace(found, cases=worse if found.change == "worse" else better)
    if not (worse or better):
        return found
    # One case got worse and another better: together they may look like no change at all.
    change: Change = "flaky" if worse and better else "worse" if worse else "better"
    found = found or _made(before, after, ACCUSING, change)
    return msgspec.structs.replace(found, change=change, cases=tuple(sorted(worse + better)))


def _of(row: RuleRow, played: Iterable[Mapping[str, int]]) -> RuleRow:
    """Return a row with what cases came to instead of all judgements."""
    total: Counter[str] = Counter()
    for outcomes in played:
        total.update(outcomes)
    return msgspec.structs.replace(row, outcomes=dict(total), worst=worst(map(Outcome, total)))


def _changed(pairs: Pairs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cases that never accused before and always do now, and those of which it is the other way round."""
    worse, better = [], []
    for case, pair in pairs.items():
        (hits, later_hits), (tries, later_tries) = (_hits(each, ACCUSING) for each in pair), map(_judged, pair)
        # Always against never: for a single case there are too few plays for statistics, and none are needed.
        if not hits and later_hits == later_tries:
            worse.append(case)
        elif hits == tries and not later_hits:
            better.append(case)
    return tuple(worse), tuple(better)


def _compared(before: RuleRow, after: RuleRow, pairs: Pairs) -> Regression | None:
    """Return how the shares changed: worse if at any threshold, and at the gravest of those that say the same."""
    # At each threshold: a crash instead of a violation is worse, though both are failures.
    found = [change for outcome in THRESHOLDS if (change := _compared_at(outcome, before, after, pairs))]
    return min(found, key=lambda each: ("worse", "better", "flaky").index(each.change), default=None)


def _compared_at(outcome: Outcome, before: RuleRow, after: RuleRow, pairs: Pairs) -> Regression | None:
    made = _made(before, after, outcome, "flaky")
    (hits, later_hits), (tries, later_tries) = made.hits, made.judgements
    # Shares compared without division: exact, and no zero to look out for.
    grows = later_hits * tries > hits * later_tries
    if _apart(made.between) or (hits, later_hits) in ((0, later_tries), (tries, 0)):
        # If a case was only played more often than before, the share of all changes, and that of no case.
        if not pairs or any(_grows(outcome, *(pair if grows else pair[::-1])) for pair in pairs.values()):
            return msgspec.structs.replace(made, change="worse" if grows else "better")
        return None
    return made if bool(hits) != bool(later_hits) else None


def _grows(outcome: Outcome, then: Mapping[str, int], now: Mapping[str, int]) -> bool:
    return _hits(now, outcome) * _judged(then) > _hits(then, outcome) * _judged(now)


def _made(before: RuleRow, after: RuleRow, outcome: Outcome, change: Change) -> Regression:
    hits = _hits(before.outcomes, outcome), _hits(after.outcomes, outcome)
    tries = _judged(before.outcomes), _judged(after.outcomes)
    return Regression(
        change=change,
        protocol=after.protocol,
        rule=after.rule,
        name=after.name,
        role=after.role,
        profile=after.profile,
        before=before.version,
        after=after.version,
        worst=(before.worst, after.worst),
        outcome=outcome,
        hits=hits,
        judgements=tries,
        between=(wilson(hits[0], tries[0]), wilson(hits[1], tries[1])),
    )


def _apart(between: Sequence[tuple[float, float]]) -> bool:
    (low, high), (other_low, other_high) = between
    return high < other_low or other_high < low


def _hits(outcomes: Mapping[str, int], outcome: Outcome) -> int:
    """Return how many judgements are at least as bad, the tester's own errors aside."""
    bad = [each.value for each in Outcome if each.rank >= outcome.rank and each is not Outcome.ERROR]
    return sum(count for name, count in outcomes.items() if name in bad)


def _judged(outcomes: Mapping[str, int]) -> int:
    """Return how many judgements say something of the implementation."""
    return sum(count for name, count in outcomes.items() if Outcome(name) not in UNSAID)


def by_case(lake: Lake, spark: Any) -> Cases:
    """Return what the cases of the runs in a lake came to, by rule: for each run the worst, as one judgement.

    Cases whose plays differed are left out.
    """
    outcomes_by_run: dict[tuple[tuple[str, ...], str], dict[str, set[Outcome]]] = {}
    flaky = set()
    for row in _by_case_on_spark(lake, spark) if spark is not None else _by_case(lake):
        key = tuple(row[name] or "" for name in BY), row["case"]
        # One judgement for each run, its worst: a case that is tried again within a run says nothing new.
        outcomes_by_run.setdefault(key, {}).setdefault(row["source"], set()).add(Outcome(row["outcome"]))
        if row["flaky"]:
            flaky.add(key)
    found: dict[tuple[str, ...], dict[str, dict[str, int]]] = {}
    for (rule, case), runs in outcomes_by_run.items():
        if (rule, case) not in flaky:
            found.setdefault(rule, {})[case] = Counter(
                worst(outcomes - UNSAID or outcomes).value for outcomes in runs.values()
            )
    return found


def _by_case(lake: Lake) -> Iterator[dict[str, Any]]:
    for part in lake.parts(VERDICTS):
        live = pc.and_(pc.equal(part["kind"], "run"), pc.not_equal(part["origin"], "judged"))
        # Only live runs: what is judged later has the same cases in it.
        rows = part.filter(live).select([*OF_PLAY, "flaky"])
        differed = pc.fill_null(pc.not_equal(rows["flaky"], ""), False)
        rows = rows.select(OF_PLAY).append_column("flaky", differed)
        yield from rows.group_by([*OF_PLAY, "flaky"]).aggregate([]).to_pylist()


def _by_case_on_spark(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, VERDICTS, lake.pieces(VERDICTS))
    rows = rows.where((rows.kind == "run") & (rows.origin != "judged"))
    differed = functions.coalesce(rows.flaky != "", functions.lit(False))
    rows = rows.select(*OF_PLAY, differed.alias("flaky")).distinct()
    return [row.asDict() for row in rows.collect()]
