"""A lake as an analyst asks it: committed rows as tables of DuckDB, in types and names that SQL takes as they are.

Only files that a committed batch names are read: what a job has left behind that was killed is no row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from reports.lake.lake import BatchFile, Lake
from reports.lake.schemas import TABLES, LakeTable

_ENDS = r"^\S+ \[?([^\]\s]+?)\]?:(\d+) to \[?([^\]\s]+?)\]?:(\d+)$"
"""What the key of a session spells: its transport, the end that dialled, and the one that listened."""

_MICROSECONDS = 1_000_000

COLUMNS: dict[str, dict[str, str]] = {
    "runs": {"time": "CAST(time AS TIMESTAMP)"},
    "sessions": {
        "began": f"make_timestamp(CAST(round(began * {_MICROSECONDS}) AS BIGINT))",
        "dialler": f"nullif(regexp_extract(key, '{_ENDS}', 1), '')",
        "dialler_port": f"TRY_CAST(regexp_extract(key, '{_ENDS}', 2) AS INTEGER)",
        "listener": f"nullif(regexp_extract(key, '{_ENDS}', 3), '')",
        "listener_port": f"TRY_CAST(regexp_extract(key, '{_ENDS}', 4) AS INTEGER)",
    },
    "verdicts": {"case_name": '"case"', "judged_by": '"by"', "case": "", "by": ""},
    "decoded": {"types": "string_split(nullif(types, ''), ' ')"},
    "findings": {
        "time": "CAST(time AS TIMESTAMP)",
        "engines": "string_split(nullif(engines, ''), ', ')",
        "apart": "string_split(nullif(apart, ''), ', ')",
        "about": "string_split(nullif(about, ''), ' + ')",
    },
    "sweeps": {
        "engines": "string_split(nullif(engines, ''), ', ')",
        "first_chunk": "first",
        "end_chunk": '"end"',
        "first": "",
        "end": "",
    },
    "vectors": {
        "rules": "string_split(nullif(rules, ''), ' ')",
        "flags": "string_split(nullif(flags, ''), ' ')",
        "vector_group": '"group"',
        "group": "",
    },
}
"""By table the columns that files of before had otherwise: how those of today are made; empty for what has gone."""


@contextmanager
def connected(lake: Lake) -> Iterator[Any]:
    """Give a connection of DuckDB with the tables of a lake; ImportError without DuckDB, NoLake in an object store."""
    import duckdb

    lake.path  # noqa: B018 - an object store has none: DuckDB would need keys of its own for it
    connection = duckdb.connect()
    try:
        batches = lake.batches()
        for table in TABLES.values():
            connection.register(f"empty_{table.name}", _of_today(table))
            connection.register(f"before_{table.name}", table.schema.empty_table())
            connection.execute(_view(lake, table, lake.pieces(table, batches)))
        yield connection
    finally:
        connection.close()


def _view(lake: Lake, table: LakeTable, pieces: list[BatchFile]) -> str:
    groups: dict[tuple[bool, tuple[tuple[str, str], ...]], list[str]] = {}
    for piece in pieces:
        is_old = piece.version < table.since
        files = groups.setdefault((is_old, tuple(sorted(piece.partition.items()))), [])
        files.append(_text(lake.store.url(piece.file)))
    # The empty table first: its columns are those of today, and null in files that lack them.
    parts = [f"SELECT * FROM empty_{table.name}"]
    for (is_old, partition), names in groups.items():
        values = "".join(f", {_text(value)} AS {name}" for name, value in partition)
        read = (
            f"SELECT *{values} FROM read_parquet([{', '.join(names)}], union_by_name = true, hive_partitioning = false)"
        )
        parts.append(_renewed(table, read) if is_old else read)
    return f"CREATE VIEW {table.name} AS {' UNION ALL BY NAME '.join(parts)}"


def _of_today(table: LakeTable) -> pa.Table:
    partitions = [table.schema.field(name) for name in table.partitions]
    return pa.schema([*table.stored_in(table.version), *partitions]).empty_table()


def _renewed(table: LakeTable, read: str) -> str:
    """Return the rows of files in whose version columns stood as we work with them."""
    # All columns in their order, made anew or as they are, and behind them those that came later.
    made = {name: f'"{name}"' for name in table.schema.names} | COLUMNS.get(table.name, {})
    columns = [f'{how} AS "{name}"' for name, how in made.items() if how]
    return f"SELECT {', '.join(columns)} FROM (SELECT * FROM before_{table.name} UNION ALL BY NAME {read})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
