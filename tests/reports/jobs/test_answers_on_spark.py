"""Triage and summary on Spark: the same answers as without it, whatever the number of partitions."""

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")

from lake_contents import taken
from test_runner_on_spark import session  # noqa: F401
from test_triage_job import OLD, TEXTS

from reports.jobs import deduplication as dedupe
from reports.jobs import runner as jobs
from reports.jobs.ingest import IngestOptions
from reports.jobs.overview import overview
from reports.jobs.triage import triage
from reports.lake.lake import Lake
from reports.lake.schemas import FINDINGS, LOSSES, VERDICTS

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("partitions", [1, 7])
def test_answers_are_the_same(session, triaged, partitions):  # noqa: F811
    session.conf.set("spark.sql.shuffle.partitions", partitions)
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    session.conf.set("spark.sql.files.maxPartitionBytes", "8k" if partitions > 1 else "128m")
    assert triage(triaged, session) == triage(triaged, None)
    assert overview(triaged, session) == overview(triaged, None)


def test_findings_are_taken_in_on_spark(session, found, tmp_path):  # noqa: F811
    here, there = (Lake(tmp_path / name, create=True) for name in ("here", "there"))
    for lake, spark in ((here, None), (there, session)):
        done = list(
            jobs.ingest(lake, [*found, tmp_path], IngestOptions(protocol="zenoh"), spark, lambda done, total: None)
        )
        assert [each.findings for each in done] == [9, 2, 2, 0]
        assert "holds no run" in done[-1].trouble
    assert here.read(LOSSES) == there.read(LOSSES)
    assert sorted(map(repr, here.read(FINDINGS).to_pylist())) == sorted(map(repr, there.read(FINDINGS).to_pylist()))
    assert triage(here, None) == triage(there, session)


def test_nulls_texts_and_older_files_are_the_same(session, found, tmp_path):  # noqa: F811
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, found[:1])
    with lake.stage("findings-1", "ingest") as staging:
        row_ = {"signature": "abc", "kind": "value", "engines": "reference, python", "protocol": "zenoh"}
        staging.write(OLD, OLD.rows([row_ | {"source": "findings-1", "layout": "zenoh/batch"}]))
        staging.commit()
    texts = [*TEXTS, *(f"{text} {number}" for text in TEXTS for number in range(3)), None]
    rows = [
        {"outcome": outcome, "what": text, "rule": rule, "kind": kind, "protocol": "zenoh", "name": "x", "case": "a"}
        for text in texts
        for rule in ("ZI-015", None)
        for kind, outcome in (("capture", "violation"), (None, "crash"), ("run", "deviation"), ("run", "pass"))
    ]
    with lake.stage("judge-1", "judge") as staging:
        staging.write(VERDICTS, VERDICTS.rows(rows))
        staging.commit()
    here = triage(lake, None)
    assert _sorted(dedupe.failures(lake, session)) == _sorted(dedupe.failures(lake, None))
    assert _sorted(dedupe.findings(lake, session)) == _sorted(dedupe.findings(lake, None))
    assert triage(lake, session) == here
    assert sum(each.count for each in here if each.size is None) == len(rows) * 3 // 4


def _sorted(rows):
    return sorted(tuple(sorted(row.items())) for row in rows)
