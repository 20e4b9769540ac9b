"""Questions to a lake in SQL: committed rows only, in types and names that need no thought."""

from datetime import datetime
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from harness.command import WrongUsage
from reports.commands.pipeline import pipeline
from reports.lake.analysis import connected
from reports.lake.lake import Lake
from reports.lake.rows import ends
from reports.lake.schemas import TABLES, LakeTable

pytestmark = [
    pytest.mark.skipif(find_spec("duckdb") is None, reason="questions in SQL need duckdb"),
    pytest.mark.slow,  # it takes 30 MB, and whoever loads it keeps them
]


def call(*words):
    return CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)


MOMENT = "2026-01-01T12:30:00.250+00:00"
HALF_A_SECOND = datetime(1970, 1, 1, microsecond=500_000)
KEYS = ("tcp 10.0.0.1:4000 to 10.0.0.2:7447", "udp [fd00::1]:4000 to [fd00::2]:7447", "link a")


def before(table: LakeTable) -> LakeTable:
    """A table as it was when columns stood in files as we work with them."""
    later = ("dialler", "dialler_port", "listener", "listener_port")
    schema = pa.schema([field for field in table.schema if field.name not in later])
    return LakeTable(table.name, table.since - 1, schema, table.partitions)


@pytest.fixture(params=["of today", "of before"])
def lake(request, tmp_path, monkeypatch):
    made = Lake(tmp_path / "lake", create=True)
    if request.param == "of before":
        for name, table in list(TABLES.items()):
            monkeypatch.setitem(TABLES, name, before(table))
    sessions = [
        {"source": "s", "session": f"a#{number}", "key": key, "protocol": "pathfinder" if number == 3 else "zenoh"}
        | ends(key) | ({"frames": 3, "began": 1_700_000_000.25} if number == 1 else {})
        for number, key in enumerate(KEYS, 1)
    ]  # fmt: skip
    write_sample(made, sessions)
    monkeypatch.undo()
    return made


def write_sample(made: Lake, sessions: list[dict[str, object]]) -> None:
    in_sessions, in_vectors = TABLES["sessions"], TABLES["vectors"]
    with made.stage("test-1", "test") as staging:
        staging.write(in_sessions, in_sessions.rows(sessions))
        vector = {"id": "v", "group": "it's", "rules": "ZI-001 ZI-002", "protocol": "zenoh", "layout": "zenoh/batch"}
        staging.write(in_vectors, in_vectors.rows([vector | {"flags": ""}]))
        staging.write(TABLES["runs"], TABLES["runs"].rows([{"source": "r", "protocol": "zenoh", "time": MOMENT}]))
        staging.commit()
    with made.stage("test-2", "test") as staging:  # killed before it was committed
        staging.write(in_sessions, in_sessions.rows([{"session": "a#9", "protocol": "zenoh"}]))


def asked(lake, question):
    with connected(lake) as connection:
        return connection.execute(question).fetchall()


def test_committed_rows_only(lake):
    assert asked(lake, "SELECT count(*) FROM sessions") == [(3,)]
    assert asked(lake, "SELECT protocol, count(*) FROM sessions GROUP BY ALL ORDER BY ALL") == [
        ("pathfinder", 1),
        ("zenoh", 2),
    ]


def test_times_ends_and_lists_are_what_they_are(lake):
    columns = "strftime(began, '%Y-%m-%d %H:%M:%S.%g'), dialler, dialler_port, listener, listener_port"
    assert asked(lake, f"SELECT {columns} FROM sessions ORDER BY session") == [
        ("2023-11-14 22:13:20.250", "10.0.0.1", 4000, "10.0.0.2", 7447),
        (None, "fd00::1", 4000, "fd00::2", 7447),
        (None, None, None, None, None),
    ]
    assert asked(lake, "SELECT vector_group, unnest(rules), layout FROM vectors") == [
        ("it's", "ZI-001", "zenoh/batch"),
        ("it's", "ZI-002", "zenoh/batch"),
    ]
    types = {
        (row[0], row[1]): row[2]
        for row in asked(lake, "SELECT table_name, column_name, data_type FROM duckdb_columns()")
    }
    assert types["sessions", "began"] == types["runs", "time"] == types["findings", "time"] == "TIMESTAMP"
    lists = [("decoded", "types"), ("findings", "engines"), ("sweeps", "engines"), ("vectors", "flags")]
    assert {types[each] for each in lists} == {"VARCHAR[]"}


def test_what_is_read_is_what_was_written(lake):
    (vector,) = lake.read(TABLES["vectors"]).to_pylist()
    assert (vector["group"], vector["rules"], vector["flags"]) == ("it's", "ZI-001 ZI-002", "")
    assert sorted(lake.read(TABLES["sessions"])["began"].to_pylist(), key=str) == [1_700_000_000.25, None, None]
    assert lake.read(TABLES["runs"])["time"].to_pylist() == [MOMENT]
    assert not lake.damage


def test_files_need_no_view(tmp_path):
    """What any tool sees that reads Parquet: moments, lists, names that SQL takes as they are."""
    made = Lake(tmp_path / "lake", create=True)
    write_sample(made, [{"session": "a#1", "protocol": "zenoh", "began": 0.5} | ends(KEYS[1])])
    (session,) = pq.read_table(next((made.path / "sessions").rglob("test-1-*.parquet"))).to_pylist()
    assert (session["began"], session["dialler"], session["listener_port"]) == (HALF_A_SECOND, "fd00::1", 7447)
    (vector,) = pq.read_table(next((made.path / "vectors").rglob("*.parquet"))).to_pylist()
    assert (vector["vector_group"], vector["rules"], vector["flags"]) == ("it's", ["ZI-001", "ZI-002"], [])
    with connected(made) as connection:
        for table in TABLES.values():
            names = [row[0] for row in connection.execute(f"DESCRIBE {table.name}").fetchall()]
            assert names == [*table.stored.names, *table.partitions]


def test_no_column_must_be_quoted(lake):
    with connected(lake) as connection:
        for table in TABLES:
            names = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
            connection.execute(f"SELECT {', '.join(names)} FROM {table}")


def test_the_command(lake):
    done = call("sql", "SELECT session, frames FROM sessions ORDER BY 1 LIMIT 1", "--lake", lake.path)
    assert done.return_value == 0, done.output
    assert "a#1" in done.stdout
    done = call("sql", "SELECT session, frames FROM sessions ORDER BY 1", "--lake", lake.path, "--format", "csv")
    assert done.stdout.split() == ["session,frames", "a#1,3", "a#2,", "a#3,"]
    done = call("sql", "SELECT nothing FROM sessions", "--lake", lake.path)
    assert isinstance(done.exception, WrongUsage)
    assert "nothing" in done.exception.message
    done = call("sql", " ", "--lake", lake.path)
    assert isinstance(done.exception, WrongUsage)
    assert "there is no question" in done.exception.message
