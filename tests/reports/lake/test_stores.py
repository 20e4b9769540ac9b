"""Lakes in object stores: over S3's own protocol to a simulated store, and by URI on Spark; and what clean removes."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import quiet, taken
from pyarrow.fs import S3FileSystem

from harness.links.addresses import free_port
from reports.commands.pipeline import pipeline
from reports.jobs import runner as jobs
from reports.jobs import spark
from reports.jobs.ingest import IngestOptions
from reports.lake import cleaning
from reports.lake.lake import Lake, LakeFailed, NoLake
from reports.lake.schemas import DECODED, RUNS, TABLES, VERDICTS

pytestmark = pytest.mark.spark

BUCKET = "s3a://bucket"


def runs(*names):
    return RUNS.rows({"source": name, "protocol": "zenoh"} for name in names)


def rows(lake, table, **partition):
    return sorted(map(repr, lake.read(table, **partition).to_pylist()))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server that speaks S3's protocol over HTTP; what it stores is in its memory."""
    pytest.importorskip("moto", reason="simulates S3: pip install flask flask-cors 'moto[s3]'")
    port = free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        if not any("Running on" in line for line in process.stderr):
            pytest.fail("the simulated store does not start")
        try:
            reader = threading.Thread(target=process.stderr.read)  # it says every request, and waits to be heard
            reader.start()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            reader.join()


@pytest.fixture(scope="module")
def bucket(server):
    """The URI of an empty bucket."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": server,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(name, value)
        S3FileSystem(
            endpoint_override=server.removeprefix("http://"), scheme="http", allow_bucket_creation=True
        ).create_dir("bucket")
        yield BUCKET


@pytest.fixture(params=["s3", "file", "folder"])
def where(request, tmp_path):
    """Where a lake may be: a path or a URI, new for each test."""
    if request.param == "s3":
        return f"{request.getfixturevalue('bucket')}/{tmp_path.name}"
    return (tmp_path / "lake").as_uri() if request.param == "file" else tmp_path / "lake"


def add(lake, batch, table_rows):
    with lake.stage(batch, "test") as staging:
        staging.write(RUNS, table_rows)
        return staging.commit()


def sources(lake):
    return sorted(lake.read(RUNS)["source"].to_pylist())


def files(lake):
    """Names of all files but those that mark folders."""
    return sorted(each.file for name in ("batches", "staging", *TABLES) for each in lake.store.found(name))


# --- stores -----------------------------------------------------------------------------------------------


def test_the_jobs_do_the_same_wherever_the_lake_is(where, captured, filled):
    lake = Lake(where, create=True)
    assert not [each.trouble for each in taken(lake, captured["zenoh"], "zenoh") if each.trouble]
    assert not any(each.is_new for each in taken(lake, captured["zenoh"], "zenoh"))
    again = Lake(where)
    assert jobs.decode(again, "zenoh", None, quiet).of == len(captured["zenoh"])
    jobs.judge(again, "zenoh", "document", None, quiet)
    for table in TABLES.values():
        assert rows(Lake(where), table) == rows(filled, table, protocol="zenoh")
    assert jobs.decode(again, "zenoh", None, quiet) == jobs.JobResult()
    assert not lake.damage
    assert not again.damage


def test_what_is_added_twice_is_there_once(where):
    lake = Lake(where, create=True)
    assert add(lake, "run-1", runs("a")) is not None
    before = files(lake)
    assert add(lake, "run-1", runs("a")) is None
    assert files(lake) == before
    assert "run-1" in lake
    assert "run-2" not in lake
    assert sources(lake) == ["a"]


def test_nothing_is_seen_and_nothing_left_of_what_is_not_committed(where):
    lake = Lake(where, create=True)
    with lake.stage("run-1", "test") as staging:
        staging.write(RUNS, runs("a"))
        assert sources(Lake(where)) == []
    assert files(lake) == []
    assert not staging.path.exists()


def test_damage_costs_only_itself(where, tmp_path):
    lake = Lake(where, create=True)
    bad, gone = (add(lake, name, runs(name)).pieces[0] for name in ("run-1", "run-2"))
    add(lake, "run-3", runs("c"))
    replaced(lake, bad.file, lake.store.read(bad.file)[:-5], tmp_path)
    lake.store.remove(gone.file)
    assert sources(lake) == ["c"]
    assert set(lake.damage) == {bad.file, gone.file}
    assert "bytes" in lake.damage[bad.file].why
    assert "No such file" in lake.damage[gone.file].why


def replaced(lake, file, data, folder):
    """Put other bytes in the place of a file."""
    other = folder / "other"
    other.write_bytes(data)
    lake.store.remove(file)
    lake.store.place(other, file)


def test_a_place_without_a_lake_is_named(where):
    with pytest.raises(NoLake, match=r"is no lake: it has no folder 'batches'"):
        Lake(where)


@pytest.mark.parametrize(
    ("uri", "said"), [("gopher://host/lake", "no store that pyarrow reaches"), ("s3://", "it names no place")]
)
def test_what_is_no_store_is_named(uri, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(NoLake, match=said):
        Lake(uri, create=True)
    assert not list(tmp_path.iterdir())


def test_captures_in_a_store_are_refused_with_a_remedy(tmp_path):
    words = ["ingest", "zenoh", "s3://bucket/a.pcap", "--lake", str(tmp_path / "lake")]
    whole = [sys.executable, "-c", "from harness.command import main; main()", "pipeline", *words]
    ran = subprocess.run(whole, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 2
    assert "copy this to a folder first" in ran.stderr
    assert not (tmp_path / "lake").exists()


def call(*words):
    done = CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done


def test_the_commands_take_uris(bucket, captured, tmp_path):
    lake = f"{bucket}/commands"
    assert call("ingest", "zenoh", captured["zenoh"][0], "--lake", lake).return_value == 0
    assert call("decode", "zenoh", "--lake", lake, "--master", "none").return_value == 0
    assert len(Lake(lake).read(DECODED)) > 0


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from harness.command import main
main()
"""


def test_a_disk_that_is_full_is_said_in_a_line(tmp_path, captured):
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, captured["zenoh"][:3], "zenoh")
    words = [sys.executable, "-c", FULL, "pipeline", "decode", "zenoh", "--lake", str(lake.path), "--master", "none"]
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert re.fullmatch(r"Error: .*/lake cannot be written: .*File too large.*\n", ended.stderr)
    assert not list((lake.path / "staging").iterdir())
    assert [each.job for each in lake.batches()] == ["ingest"] * 3


def test_a_store_that_has_gone_is_said_in_a_line(tmp_path):
    lake = Lake((tmp_path / "lake").as_uri(), create=True)
    with lake.stage("run-1", "test") as staging:
        staging.write(RUNS, runs("a"))
        (tmp_path / "lake").rename(tmp_path / "away")
        (tmp_path / "lake").write_bytes(b"no folder")
        with pytest.raises(LakeFailed, match=r"file:.*/lake cannot be written"):
            staging.commit()


# --- Spark ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session():
    pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")
    with spark.started("local[2]", memory=1024) as running:
        yield running


def test_spark_reads_and_writes_by_uri(session, captured, filled, tmp_path):
    """Also what this process has written, and what Spark has, side by side."""
    where = (tmp_path / "lake").as_uri()
    lake = Lake(where, create=True)
    first, rest = captured["zenoh"][:3], captured["zenoh"][3:]
    list(jobs.ingest(lake, first, IngestOptions(protocol="zenoh"), None, quiet))
    jobs.decode(lake, "zenoh", None, quiet)
    done = list(jobs.ingest(lake, rest, IngestOptions(protocol="zenoh"), session, quiet))
    assert [each.trouble for each in done] == [""] * len(rest)
    jobs.decode(lake, "zenoh", session, quiet)
    jobs.judge(lake, "zenoh", "document", session, quiet)
    for table in TABLES.values():
        assert rows(lake, table) == rows(filled, table, protocol="zenoh")
    assert not lake.damage
    assert any("/batch=judge-" in piece.file for piece in lake.pieces(VERDICTS))
    read = spark.rows_of(session, lake, DECODED, lake.pieces(DECODED))
    assert read.count() == len(lake.read(DECODED))
    assert cleaning.clean(lake, 0).files == 0, "everything is named by a batch"


def test_what_spark_wrote_is_gone_when_it_is_not_committed(session, tmp_path):
    lake = Lake((tmp_path / "lake").as_uri(), create=True)
    one = session.range(3).selectExpr("'a' as session", "id as seq", "null as refused", "null as refused_at",
        "'' as types", "'zenoh' as protocol", "'zenoh/batch' as layout")  # fmt: skip
    with lake.stage("decode-1", "test") as staging:
        spark.write(one, staging, DECODED)
        assert len(files(lake)) > 0
    assert files(lake) == []


# --- what killed jobs leave -------------------------------------------------------------------------------


def test_files_of_tasks_that_did_not_finish_are_not_committed(where):
    """Such as a task of a lost worker writes that is still there when the job is over."""
    lake = Lake(where, create=True)
    with lake.stage("decode-1", "test") as staging:
        staging.write(RUNS, runs("a"))
        for lost in (
            "_temporary/0/_temporary/attempt_1/protocol=zenoh/part-1.parquet",
            "protocol=zenoh/.part-2.parquet",
        ):
            path = staging.folder(RUNS) / lost
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"half a file")
        assert len(staging.commit().pieces) == 1
    assert sources(lake) == ["a"]


KILLED = """
import os, sys
from reports.lake.lake import Lake
from reports.lake.schemas import RUNS
staging = Lake(sys.argv[1]).stage("run-2", "test")
staging.write(RUNS, RUNS.rows([{"source": "b", "protocol": "zenoh"}]))
if sys.argv[2] == "placed":
    staging.lake.store.publish = lambda *names: os._exit(9)
    staging.commit()
os._exit(9)
"""


@pytest.mark.parametrize("when", ["written", "placed"])
def test_clean_removes_what_a_killed_job_left_once_it_is_old(where, when, tmp_path):
    lake = Lake(where, create=True)
    add(lake, "run-1", runs("a"))
    before = files(lake)
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-c", KILLED, lake.name, when]
    ended = subprocess.run(words, env=os.environ | {"PYTHONPATH": paths, "TMPDIR": str(tmp_path)}, check=False)
    assert ended.returncode == 9
    strays = len(files(lake)) - len(before)
    if isinstance(where, Path):
        (where / "staging" / "judge-1-00000000" / "verdicts").mkdir(parents=True)  # of a job that came to no row
    assert cleaning.clean(lake) == cleaning.Cleaned(left=strays)
    done = call("clean", "--lake", where, "--older", "0")
    assert done.return_value == 0
    assert files(lake) == before
    assert sources(lake) == ["a"]
    assert f"{strays} files" in done.stdout
    if isinstance(where, Path):
        assert not list((where / "staging").iterdir())


def test_clean_leaves_alone_what_it_does_not_know(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    add(lake, "run-1", runs("a"))
    mine = [lake.path / "runs" / "mine.parquet", lake.path / "notes" / "batch=x" / "a.parquet", lake.path / "read.me"]
    for path in mine:
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(b"")
    assert cleaning.clean(lake, 0) == cleaning.Cleaned()
    assert all(path.exists() for path in mine)


def test_clean_removes_nothing_when_a_manifest_cannot_be_read(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    add(lake, "run-1", runs("a"))
    add(lake, "run-2", runs("b"))
    manifest = lake.path / "batches" / "run-2.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:9])
    done = call("clean", "--lake", lake.path, "--older", "0")
    assert done.return_value == 1
    assert "batches/run-2.json" in done.stderr
    manifest.write_bytes(whole)
    assert sources(Lake(lake.path)) == ["a", "b"]
