"""Findings and failures that are the same, counted: by Arrow in this process, or by Spark, with the same rows.

A finding of codecs is the same by its signature; a failure of an implementation by its rule and by what came, without
what varies in it (``similarity.VARYING``). One of a network campaign is the same only as a copy of itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from conformance.verdicts import Outcome
from fuzz.findings import NETWORK
from reports.jobs import spark as sparks
from reports.jobs.similarity import replacements
from reports.lake.lake import Lake
from reports.lake.schemas import FINDINGS, VERDICTS

ACCUSING = [each.value for each in Outcome if each.accuses]

OF_SIGNATURE = ("protocol", "layout", "signature", "kind", "place", "trait", "apart", "engines")
OF_CAMPAIGN = ("goldwire", "python", "origin", "seed")
"""What is counted apart, of findings with one signature."""

SMALLEST = ("size", "digest", "source", "what", "folder", "value", "repeat")
"""The example of findings, in the order in which the least is taken: the smallest input."""

OF_NETWORK = (
    *("source", "digest", "signature", "kind", "rule", "outcome", "what", "place", "about", "time", "folder", "repeat"),
    *("protocol", "name", "version", "role", "profile"),
)
"""What is known of a finding over the network, as far as it tells two of them apart, or is shown."""

OF_FAILURE = ("protocol", "name", "version", "role", "profile", "rule", "outcome", "shape", "source", "case")
FIRST = ("session", "example", "entry", "what", "trace")
"""The example of failures of one source, in the order in which the least is taken."""


def findings(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    """Return findings of codecs by ``OF_SIGNATURE`` and ``OF_CAMPAIGN``: ``count``, ``first``, ``last``, ``SMALLEST``.

    ``first`` and ``last`` are times. A finding that came into the lake more than once counts once.
    """
    if spark is not None:
        return _findings_on_spark(lake, spark)
    parts = [_sized(part.filter(pc.not_equal(_searcher(part), NETWORK))) for part in lake.parts(FINDINGS)]
    if not any(map(len, parts)):
        return []
    single = _least(pa.concat_tables(parts), ("digest",), ("source",))
    keys = (*OF_SIGNATURE, *OF_CAMPAIGN)
    rows = _counted(single, keys, SMALLEST)
    by_time = [_least(single, keys, ("time", "digest"), order).select([*keys, "time"]) for order in ORDERS]
    # The least and the greatest time by sorting: Arrow has neither for texts within groups.
    times = [{tuple(row[name] for name in keys): row["time"] for row in part.to_pylist()} for part in by_time]
    found: list[dict[str, Any]] = rows.to_pylist()
    for row in found:
        key = tuple(row[name] for name in keys)
        row["first"], row["last"] = times[0][key], times[1][key]
    return found


ORDERS = ("ascending", "descending")


def _searcher(rows: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(rows["origin"], "")


def _sized(rows: pa.Table) -> pa.Table:
    """Return rows of findings without inputs, but with the ``size`` of the smallest; nulls become empty."""
    # The smallest input there is: the minimised one, else as it was found, else the JSON of a value.
    sizes = [pc.binary_length(rows[name]) for name in ("minimised", "input", "value")]
    # Findings of the first version of the table have no digest: source and signature stand for it.
    instead = pc.binary_join_element_wise(rows["source"], rows["signature"], "/")
    digests = pc.coalesce(rows["digest"], instead)
    rows = rows.set_column(rows.schema.get_field_index("digest"), "digest", digests)
    rows = rows.append_column("size", pc.fill_null(pc.coalesce(*sizes), 0))
    names = dict.fromkeys((*OF_SIGNATURE, *OF_CAMPAIGN, *SMALLEST, "time"))
    return _filled(rows.select(list(names)))


def _findings_on_spark(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, FINDINGS, lake.pieces(FINDINGS))
    rows = rows.where(functions.coalesce("origin", functions.lit("")) != NETWORK)
    # As in ``_sized``, in Spark's words: whatever is changed here has to be changed there, and a test compares the
    # rows.
    size = functions.coalesce(
        *(functions.octet_length(name) for name in ("minimised", "input", "value")), functions.lit(0)
    )
    digest = functions.coalesce("digest", functions.concat_ws("/", "source", "signature"))
    keys = (*OF_SIGNATURE, *OF_CAMPAIGN)
    others = [name for name in dict.fromkeys((*keys, *SMALLEST, "time")) if name not in ("digest", "source")]
    rows = rows.withColumn("size", size.cast("long")).withColumn("digest", digest)
    rows = _filled_on_spark(rows.select("digest", "source", *others))
    least = rows.groupBy("digest").agg(functions.min(functions.struct("source", *others)).alias("least"))
    single = least.select("digest", "least.*")
    counts = single.groupBy(*keys).agg(
        functions.count("*").alias("count"),
        functions.min("time").alias("first"),
        functions.max("time").alias("last"),
        functions.min(functions.struct(*SMALLEST)).alias("least"),
    )
    return [row.asDict() for row in counts.select(*keys, "count", "first", "last", "least.*").collect()]


def network_findings(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    """Return the findings of network campaigns, each once, with its ``shape``: what came, without what varies in it.

    In the order of their digests. There are as many as folders, so the rest is done in this process.
    """
    if spark is not None:
        rows = sparks.rows_of(spark, lake, FINDINGS, lake.pieces(FINDINGS))
        rows = rows.where(rows.origin == NETWORK).select(*OF_NETWORK)
        found = [row.asDict() for row in rows.collect()]
    else:
        parts = (part.filter(pc.equal(_searcher(part), NETWORK)) for part in lake.parts(FINDINGS))
        found = [row for part in parts for row in part.select(OF_NETWORK).to_pylist()]
    # Of one that came into the lake more than once, the least: rows come in any order.
    single = {row["digest"]: row for row in sorted(found, key=lambda row: row["source"], reverse=True)}
    rows = [{name: row[name] or "" for name in OF_NETWORK} for _, row in sorted(single.items())]
    shapes = _without_varying(pa.array((row["what"] for row in rows), pa.string())).to_pylist()
    return [row | {"shape": shape} for row, shape in zip(rows, shapes, strict=True)]


def failures(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    """Return the judgements that accuse an implementation by ``OF_FAILURE``: ``count`` and ``FIRST``.

    ``case`` is the case of a run, and empty for recordings; ``example`` the case, or what was recorded. The judgements
    on the traces of runs are left out: they were made when the runs were live.
    """
    if spark is not None:
        return _failures_on_spark(lake, spark)
    return _merged(row for part in lake.parts(VERDICTS) for row in _failed(part).to_pylist())


def _failed(rows: pa.Table) -> pa.Table:
    # What monitors said live is judged again when the traces of the run are: one failure would count twice.
    again = pc.and_(pc.equal(rows["kind"], "run"), pc.equal(rows["origin"], "judged"))
    accusing = pc.is_in(rows["outcome"], pa.array(ACCUSING))
    # Nulls become empty before grouping: Arrow and Spark treat null keys differently, and both have to give the same
    # rows.
    rows = _filled(rows.filter(pc.and_not(accusing, pc.fill_null(again, False))))
    live = pc.equal(rows["kind"], "run")
    rows = rows.append_column("shape", _without_varying(rows["what"])).append_column("example", rows["case"])
    rows = rows.set_column(rows.schema.get_field_index("case"), "case", pc.if_else(live, rows["case"], ""))
    return _counted(rows.select([*OF_FAILURE, *FIRST]), OF_FAILURE, FIRST)


def _without_varying(texts: Any) -> Any:
    for pattern, instead in replacements("\\"):
        texts = pc.replace_substring_regex(texts, pattern, instead)
    return texts


def _merged(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of which some have the same key as one."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in OF_FAILURE)
        before = found.get(key)
        if before is None:
            found[key] = row
            continue
        count = before["count"] + row["count"]
        found[key] = min(before, row, key=lambda each: tuple(each[name] for name in FIRST)) | {"count": count}
    return list(found.values())


def _failures_on_spark(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, VERDICTS, lake.pieces(VERDICTS))
    rows = rows.where(rows.outcome.isin(ACCUSING))
    again = (rows.kind == "run") & (rows.origin == "judged")
    rows = rows.where(~functions.coalesce(again, functions.lit(False)))
    text = functions.coalesce("what", functions.lit(""))
    for pattern, instead in replacements("$"):
        # The same patterns as Arrow's, with Java's sign for groups (``similarity.VARYING``).
        text = functions.regexp_replace(text, pattern, instead)
    rows = rows.withColumn("shape", text).withColumn("example", rows.case)
    live = functions.when(rows.kind == "run", rows.case).otherwise("")
    rows = _filled_on_spark(rows.withColumn("case", live).select(*OF_FAILURE, *FIRST))
    counts = rows.groupBy(*OF_FAILURE).agg(
        functions.count("*").alias("count"), functions.min(functions.struct(*FIRST)).alias("least")
    )
    return [row.asDict() for row in counts.select(*OF_FAILURE, "count", "least.*").collect()]


def _counted(rows: pa.Table, keys: Sequence[str], least: Sequence[str]) -> pa.Table:
    """Return how many rows there are of each key, with the columns ``least`` of the least of them."""
    # Arrow has no first-by-order within groups: rows are sorted and numbered, and the least number of a group is its
    # first.
    ordered = _numbered(rows.sort_by([(name, "ascending") for name in least]))
    groups = ordered.group_by(list(keys)).aggregate([("row", "min"), ("row", "count")])
    firsts = ordered.take(groups["row_min"]).select([*keys, *(name for name in least if name not in keys)])
    return firsts.append_column("count", groups["row_count"])


def _least(rows: pa.Table, keys: Sequence[str], order: Sequence[str], direction: str = "ascending") -> pa.Table:
    """Return of the rows of each key the first in an order."""
    ordered = _numbered(rows.sort_by([(name, direction) for name in order]))
    return ordered.take(ordered.group_by(list(keys)).aggregate([("row", "min")])["row_min"]).drop_columns(["row"])


def _numbered(rows: pa.Table) -> pa.Table:
    return rows.append_column("row", pa.array(range(len(rows)), pa.int64()))


def _filled(rows: pa.Table) -> pa.Table:
    """Return rows in which what is null is empty, or -1."""
    columns = [_without_nulls(column) for column in rows.columns]
    return pa.table(columns, rows.column_names)


def _without_nulls(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        return pc.fill_null(column, "")
    return pc.fill_null(column, -1) if pa.types.is_integer(column.type) else column


def _filled_on_spark(rows: Any) -> Any:
    return rows.fillna("").fillna(-1)


def inputs(lake: Lake, wanted: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Give the smallest inputs of findings, by source and digest; of those that are values there is none."""
    keys = set(wanted)
    sources = pa.array(sorted({source for source, _ in keys}), pa.string())
    for part in lake.parts(FINDINGS):
        rows = part.filter(pc.is_in(part["source"], sources))
        for row in rows.select(["source", "digest", "minimised", "input"]).to_pylist():
            key = row["source"], row["digest"]
            data = row["input"] if row["minimised"] is None else row["minimised"]
            # Inputs are large and findings many: only those of the examples are read into memory.
            if key in keys and data is not None:
                keys.discard(key)
                yield key, data
