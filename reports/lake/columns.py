"""Columns that stand in a lake's files in another form than in which we work with them.

Files are for whoever reads Parquet: moments are timestamps, lists are lists, no name has to be quoted in SQL. We work
with texts and numbers, as Arrow groups by no lists, and dictionaries of rows have the names of ours.

::

    FileColumn   the same type, another name
    Words        a text of words with separators     <──►  a list
    Moment       ISO 8601 in UTC                     <──►  a timestamp
    Seconds      seconds since 1970                  <──►  a timestamp
"""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

TIMESTAMP = pa.timestamp("us")
"""In UTC; without a zone, which every tool shows in one of its own."""

LIST = pa.list_(pa.string())


class FileColumn(msgspec.Struct, frozen=True):
    """A column as it stands in files, under another name if it has one; null is null."""

    name: str = ""

    def type_of(self, ours: pa.DataType) -> pa.DataType:
        """Return its type in files."""
        return ours

    def to_file(self, column: pa.ChunkedArray) -> Any:
        """Return a column of ours as it stands in files."""
        return column

    def from_file(self, column: pa.ChunkedArray) -> Any:
        """Return a column of a file as ours."""
        return column


class Words(FileColumn, frozen=True, kw_only=True):
    """Words of a text, in files a list; no words are an empty one."""

    separator: str

    def type_of(self, ours: pa.DataType) -> pa.DataType:
        return LIST

    def to_file(self, column: pa.ChunkedArray) -> Any:
        nothing = pa.scalar([], LIST)
        return pc.if_else(pc.equal(column, ""), nothing, pc.split_pattern(column, self.separator))

    def from_file(self, column: pa.ChunkedArray) -> Any:
        return pc.binary_join(column, self.separator)


class Moment(FileColumn, frozen=True):
    """A text in ISO 8601, in files a timestamp; what is no such text is null."""

    def type_of(self, ours: pa.DataType) -> pa.DataType:
        return TIMESTAMP

    def to_file(self, column: pa.ChunkedArray) -> Any:
        return pa.array(map(_moment, column.to_pylist()), TIMESTAMP)

    def from_file(self, column: pa.ChunkedArray) -> Any:
        return pa.array((None if each is None else _told(each) for each in column.to_pylist()), pa.string())


class Seconds(FileColumn, frozen=True):
    """Seconds since 1970, in files a timestamp."""

    def type_of(self, ours: pa.DataType) -> pa.DataType:
        return TIMESTAMP

    def to_file(self, column: pa.ChunkedArray) -> Any:
        return pc.cast(pc.cast(pc.round(pc.multiply(column, 1e6)), pa.int64()), TIMESTAMP)

    def from_file(self, column: pa.ChunkedArray) -> Any:
        return pc.divide(pc.cast(pc.cast(column, pa.int64()), pa.float64()), 1e6)


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return (found if found.tzinfo is None else found.astimezone(UTC)).replace(tzinfo=None)


def _told(moment: datetime) -> str:
    """Spell a moment as we do: with no more digits than it has, seconds, milliseconds or microseconds."""
    spec = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return moment.replace(tzinfo=UTC).isoformat(timespec=spec)
