"""Files: rows of tables as Parquet below a folder, one file for each partition that has any."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reports.lake.schemas import LakeTable

SUFFIX = ".parquet"


class Files:
    """Writes ``TABLE/PARTITIONS/NAME.parquet`` below a folder.

    Until ``finish`` the files have names of their own, and then take the place of any that is there already: of two
    that write the same rows under one name, at once or after each other, one is left.
    """

    def __init__(self, folder: Path, name: str = "rows") -> None:
        self._folder = folder
        self._name = f"{name}{SUFFIX}"
        # Two tasks may write under one name at once; each draft is its own, and the last rename wins with the same
        # rows.
        self._draft = f"{name}.{secrets.token_hex(4)}"
        self._writers: dict[Path, Any] = {}

    def write(self, table: LakeTable, rows: pa.Table) -> None:
        """Append rows of one partition or of several; they become row groups of the partitions' files."""
        for values, part in _split(table, rows):
            folder = (self._folder / table.name).joinpath(*map(_spelled, table.partitions, values))
            if folder not in self._writers:
                folder.mkdir(parents=True, exist_ok=True)
                # Opened with the first rows: a partition without any has no file.
                self._writers[folder] = pq.ParquetWriter(folder / self._draft, table.stored, compression="zstd")
            self._writers[folder].write_table(table.to_file(part))

    def close(self) -> None:
        """End the files as they are."""
        for writer in self._writers.values():
            writer.close()

    def finish(self) -> None:
        """End the files, and give them their names."""
        self.close()
        for folder in self._writers:
            (folder / self._draft).rename(folder / self._name)
        self._writers.clear()


def _spelled(name: str, value: str) -> str:
    """Spell a partition as Hive and Spark do."""
    # Layout names have slashes, which would be folders.
    return f"{name}={quote(value, safe='')}"


def _split(table: LakeTable, rows: pa.Table) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the rows of each partition, in their order."""
    # Mostly there is one partition, and the rows are written as they are, without a copy.
    keys = rows.select(table.partitions).group_by(table.partitions).aggregate([]).to_pylist()
    for key in keys:
        values = tuple(key[name] for name in table.partitions)
        if len(keys) == 1:
            yield values, rows
            continue
        mask = None
        for name, value in key.items():
            each = pc.equal(rows[name], value)
            mask = each if mask is None else pc.and_(mask, each)
        yield values, rows.filter(mask)
