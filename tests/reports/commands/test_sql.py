"""Questions to a lake in SQL: committed rows only, in types and names that need no thought."""

from importlib.util import find_spec

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from harness.command import WrongUsage
from reports.commands.pipeline import pipeline
from reports.lake.analysis import connected
from reports.lake.lake import Lake
from reports.lake.schemas import SESSIONS, TABLES, VECTORS

pytestmark = [
    pytest.mark.skipif(find_spec("duckdb") is None, reason="questions in SQL need duckdb"),
    pytest.mark.slow,  # it takes 30 MB, and whoever loads it keeps them
]


def call(*words):
    return CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)


@pytest.fixture
def lake(tmp_path):
    made = Lake(tmp_path / "lake", create=True)
    sessions = [
        {"source": "s", "session": "a#1", "key": "tcp 10.0.0.1:4000 to 10.0.0.2:7447", "began": 1_700_000_000.25,
         "protocol": "zenoh", "frames": 3},
        {"source": "s", "session": "a#2", "key": "udp [fd00::1]:4000 to [fd00::2]:7447", "protocol": "zenoh"},
        {"source": "s", "session": "a#3", "key": "link a", "protocol": "pathfinder"},
    ]  # fmt: skip
    with made.stage("test-1", "test") as staging:
        staging.write(SESSIONS, SESSIONS.rows(sessions))
        vector = {"id": "v", "group": "it's", "rules": "ZI-001 ZI-002", "protocol": "zenoh", "layout": "zenoh/batch"}
        staging.write(VECTORS, VECTORS.rows([vector]))
        staging.commit()
    with made.stage("test-2", "test") as staging:  # killed before it was committed
        staging.write(SESSIONS, SESSIONS.rows([{"session": "a#9", "protocol": "zenoh"}]))
    return made


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
