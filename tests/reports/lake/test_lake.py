"""Lakes: what is committed is there as a whole and once; what is damaged, or of another time, costs only itself."""

import os
import subprocess
import sys
from math import isclose
from pathlib import Path

import msgspec
import pytest

pa = pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from reports.jobs.summary import wilson  # noqa: E402
from reports.lake import lake as lakes  # noqa: E402
from reports.lake.lake import Lake, LakeFailed, NoLake  # noqa: E402
from reports.lake.schemas import DECODED, FRAMES, RUNS, TABLES, BadFile, LakeTable  # noqa: E402


def runs(*names, protocol="zenoh"):
    return RUNS.rows({"source": name, "frames": 7, "protocol": protocol} for name in names)


def add(lake, batch, rows, table=RUNS):
    with lake.stage(batch, "test") as staging:
        staging.write(table, rows)
        return staging.commit()


def sources(lake, **partition):
    return sorted(lake.read(RUNS, **partition)["source"].to_pylist())


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "lake", create=True)


def leftovers(lake):
    return [path for path in lake.path.rglob("*.parquet") if "staging" in path.parts]


# --- appending --------------------------------------------------------------------------------------------


def test_rows_come_back_as_they_were_written(lake):
    rows = FRAMES.rows(
        {
            "session": "a/b#1",
            "seq": seq,
            "data": bytes([seq]),
            "sound": True,
            "protocol": "zenoh",
            "layout": "zenoh/batch",
        }
        for seq in range(5)
    )
    committed = add(lake, "capture-1", rows, FRAMES)
    assert committed.rows == {"frames": 5}
    assert Lake(lake.path).read(FRAMES) == rows
    assert [piece.partition for piece in committed.pieces] == [{"protocol": "zenoh", "layout": "zenoh/batch"}]


def test_rows_of_several_partitions_keep_their_order_in_each(lake):
    protocols = ["zenoh", "pathfinder", "zenoh", "rai", "pathfinder"]
    rows = RUNS.rows({"source": str(number), "protocol": each} for number, each in enumerate(protocols))
    assert len(add(lake, "run-1", rows).pieces) == 3
    assert lake.read(RUNS, protocol="zenoh")["source"].to_pylist() == ["0", "2"]
    assert lake.read(RUNS, protocol="pathfinder")["source"].to_pylist() == ["1", "4"]


def test_what_is_added_twice_is_there_once(lake):
    assert add(lake, "run-1", runs("a")) is not None
    assert "run-1" in lake
    files = sorted(lake.path.rglob("*"))
    assert add(lake, "run-1", runs("a")) is None
    assert sources(lake) == ["a"]
    assert sorted(lake.path.rglob("*")) == files, "nothing is left behind by the second"


def test_the_first_of_two_that_commit_at_once_wins(lake):
    with lake.stage("run-1", "test") as one, lake.stage("run-1", "test") as two:
        one.write(RUNS, runs("one"))
        two.write(RUNS, runs("two"))
        assert two.commit() is not None
        assert one.commit() is None
    assert sources(lake) == ["two"]


def test_nothing_is_seen_before_it_is_committed(lake):
    with lake.stage("run-1", "test") as staging:
        staging.write(RUNS, runs("a"))
        assert sources(lake) == []
        assert "run-1" not in lake
    assert sources(lake) == []
    assert leftovers(lake) == [], "what is not committed is thrown away"


KILLED = """
import os, sys
from pathlib import Path
from reports.lake.lake import Lake
from reports.lake.schemas import RUNS
lake = Lake(Path(sys.argv[1]))
staging = lake.stage("run-2", "test")
staging.write(RUNS, RUNS.rows([{"source": "b", "protocol": "zenoh"}]))
if sys.argv[2] == "placed":
    os.link = lambda *names: os._exit(9)
    staging.commit()
os._exit(9)
"""


@pytest.mark.parametrize("when", ["written", "placed"])
def test_a_job_killed_half_way_leaves_a_lake_that_can_be_read_and_the_job_repeated(lake, when):
    add(lake, "run-1", runs("a"))
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, lake.path, when], env=os.environ | {"PYTHONPATH": paths}, timeout=60, check=False
    )
    assert ended.returncode == 9
    assert sources(lake) == ["a"]
    add(lake, "run-2", runs("b"))
    assert sources(lake) == ["a", "b"]
    assert not lake.damage


def test_a_name_that_is_no_batch_is_refused(lake):
    with pytest.raises(ValueError, match="no name of a batch"):
        lake.stage("../run-1", "test")


def test_a_lake_that_cannot_be_written_is_named(lake):
    (lake.path / "staging").rmdir()
    (lake.path / "staging").write_bytes(b"")
    with pytest.raises(LakeFailed, match=r"lake cannot be written: Not a directory"):
        lake.stage("run-1", "test")


def test_a_folder_that_is_no_lake_is_named(tmp_path):
    with pytest.raises(NoLake, match=r"no lake: it has no folder 'batches'"):
        Lake(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NoLake, match="no lake can be made there"):
        Lake(tmp_path / "file", create=True)


# --- pruning and damage -----------------------------------------------------------------------------------


def test_files_of_other_partitions_are_not_touched(lake):
    add(lake, "run-1", runs("a"))
    other = add(lake, "run-2", runs("b", protocol="pathfinder"))
    (lake.path / other.pieces[0].file).unlink()
    assert sources(lake, protocol="zenoh") == ["a"]
    assert not lake.damage
    assert sources(lake) == ["a"]
    assert list(lake.damage) == [other.pieces[0].file]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0x40
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (truncate, "bytes"),
        (flip, "checksum"),
        (Path.unlink, "No such file"),
        (lambda path: path.write_bytes(b""), "bytes"),
    ],
)
def test_a_damaged_file_is_named_and_costs_only_itself(lake, damage, why):
    bad = add(lake, "run-1", runs("a", "b")).pieces[0]
    add(lake, "run-2", runs("c"))
    damage(lake.path / bad.file)
    assert sources(lake) == ["c"]
    assert list(lake.damage) == [bad.file]
    assert why in str(lake.damage[bad.file])
    assert "2 rows left out" in str(lake.damage[bad.file])


def test_a_file_that_is_no_parquet_though_its_checksum_is_right_costs_only_itself(lake):
    add(lake, "run-2", runs("c"))
    bad = add(lake, "run-1", runs("a")).pieces[0]
    (lake.path / bad.file).write_bytes(b"PAR1 this is none PAR1")
    size, crc = lakes.size_and_crc(lake.path / bad.file)
    manifest = lake.path / "batches" / "run-1.json"
    batch = msgspec.json.decode(manifest.read_bytes(), type=lakes.Batch)
    piece = msgspec.structs.replace(batch.pieces[0], bytes=size, crc=crc)
    manifest.write_bytes(msgspec.json.encode(msgspec.structs.replace(batch, pieces=(piece,))))
    assert sources(lake) == ["c"]
    assert "cannot be read" in lake.damage[bad.file].why


def test_a_manifest_that_cannot_be_read_is_named(lake):
    add(lake, "run-1", runs("a"))
    add(lake, "run-2", runs("b"))
    manifest = lake.path / "batches" / "run-2.json"
    manifest.write_bytes(manifest.read_bytes()[:50])
    assert sources(lake) == ["a"]
    assert list(lake.damage) == ["batches/run-2.json"]


# --- evolution --------------------------------------------------------------------------------------------

OLD = LakeTable("runs", 1, pa.schema([("source", pa.string()), ("protocol", pa.string())]))
NEW = LakeTable("runs", 2, OLD.schema.append(pa.field("mood", pa.string())))


def test_columns_that_an_older_file_lacks_are_null(lake):
    add(lake, "run-1", OLD.rows([{"source": "a", "protocol": "zenoh"}]), OLD)
    assert lake.read(NEW).to_pylist() == [{"source": "a", "protocol": "zenoh", "mood": None}]
    assert lake.read(RUNS).select(["source", "frames"]).to_pylist() == [{"source": "a", "frames": None}]
    assert not lake.damage


def test_a_newer_version_is_refused_by_name_and_costs_only_its_file(lake, monkeypatch):
    monkeypatch.setitem(TABLES, "runs", OLD)
    add(lake, "run-1", OLD.rows([{"source": "a", "protocol": "zenoh"}]), OLD)
    monkeypatch.setitem(TABLES, "runs", NEW)  # what a newer goldwire would write
    newer = add(lake, "run-2", NEW.rows([{"source": "b", "protocol": "zenoh", "mood": "fine"}]), NEW)
    assert len(lake.read(NEW)) == 2
    monkeypatch.setitem(TABLES, "runs", OLD)
    assert lake.read(OLD)["source"].to_pylist() == ["a"]
    assert "version 2 of the table runs, and this goldwire knows 1" in lake.damage[newer.pieces[0].file].why


def test_a_column_of_another_type_is_refused(lake):
    wrong = LakeTable("runs", 1, pa.schema([("source", pa.int64()), ("protocol", pa.string())]))
    bad = add(lake, "run-1", wrong.rows([{"source": 5, "protocol": "zenoh"}]), wrong)
    add(lake, "run-2", runs("b"))
    assert sources(lake) == ["b"]
    assert "int64 in the column source, where string belongs" in lake.damage[bad.pieces[0].file].why
    with pytest.raises(BadFile):
        OLD.fit(wrong.schema.empty_table(), 1)


def test_tables_are_what_their_names_say():
    for name, table in TABLES.items():
        assert table.name == name
        assert set(table.partitions) < set(table.schema.names)
        assert not set(table.partitions) & set(table.stored.names)
    assert "layout" in DECODED.partitions


# --- figures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    # After no hit the upper end is z^2 / (n + z^2); the others are in every table of the interval.
    [(0, 10, 0.0, 0.27753), (1, 10, 0.01788, 0.40415), (5, 10, 0.23659, 0.76341), (10, 10, 0.72247, 1.0), (0, 0, 0, 1)],
)
def test_wilson_interval(hits, tries, low, high):
    found = wilson(hits, tries)
    assert isclose(found[0], low, abs_tol=1e-5)
    assert isclose(found[1], high, abs_tol=1e-5)
