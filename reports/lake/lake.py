"""Lakes: folders of tables that grow by batches, each of which is there as a whole or not at all.

::

    LAKE/
      batches/capture-3f2a….json                                    what is committed: the files of each batch
      frames/protocol=zenoh/layout=zenoh%2Fbatch/capture-….parquet  the rows
      staging/                                                      what is being written, or was when a job was killed

A batch is named after where its rows come from, so that what is added twice is there once. Readers see the files that
batches name, and nothing else. Nothing here needs Spark.
"""

import os
import re
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reports.lake.schemas import TABLES, VERSION, BadFile, Table

BATCHES, STAGING = "batches", "staging"
SUFFIX = ".parquet"
CHUNK = 1 << 20
NAME = re.compile(r"[a-z]+-[0-9a-z-]+")

BROKEN = (pa.ArrowException, OSError, ValueError)
"""What Arrow raises over a file that is damaged."""


class NoLake(Exception):
    """A folder is no lake; the message names it, and says what to do."""


class Damage(msgspec.Struct, frozen=True):
    """A file of a lake that is left out, and why."""

    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a batch: ``file`` is relative to the lake, ``crc`` the CRC-32 of its bytes."""

    table: str
    file: str
    version: int
    rows: int
    bytes: int
    crc: int
    partition: dict[str, str]


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What was added at once, by which ``job``, out of which other batches (``of``), and how (``settings``)."""

    id: str
    job: str
    time: str
    goldwire: str
    of: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    pieces: tuple[Piece, ...] = ()

    @property
    def rows(self) -> dict[str, int]:
        """The rows by table."""
        counted: dict[str, int] = {}
        for piece in self.pieces:
            counted[piece.table] = counted.get(piece.table, 0) + piece.rows
        return counted


class Lake:
    """A lake in a folder. ``damage`` collects what reading has left out."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open a lake; NoLake when there is none at ``path``, unless it is to be created."""
        self.path = path
        self.damage: dict[str, Damage] = {}
        batches = path / BATCHES
        if create:
            try:
                for folder in (batches, path / STAGING):
                    folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise NoLake(f"{path}: no lake can be made there: {error.strerror}") from None
        elif not batches.is_dir():
            raise NoLake(f"{path} is no lake: it has no folder {BATCHES!r}; goldwire pipeline ingest makes one")

    def __contains__(self, batch: str) -> bool:
        return self._manifest(batch).exists()

    def batches(self) -> list[Batch]:
        """Return what is committed, by name; a manifest that cannot be read is damage."""
        found = []
        decoder = msgspec.json.Decoder(Batch)
        for path in sorted((self.path / BATCHES).glob("*.json")):
            try:
                found.append(decoder.decode(path.read_bytes()))
            except (OSError, msgspec.MsgspecError) as error:
                self._leave_out(f"{BATCHES}/{path.name}", str(error))
        return found

    def stage(
        self, batch: str, job: str, *, of: Sequence[str] = (), settings: Mapping[str, str] | None = None
    ) -> "Staging":
        """Begin a batch; nobody sees it before it is committed."""
        if not NAME.fullmatch(batch):
            raise ValueError(f"{batch!r} is no name of a batch: expected KIND-WORD of small letters and digits")
        about = Batch(
            id=batch,
            job=job,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            goldwire=version("goldwire"),
            of=tuple(sorted(of)),
            settings=dict(settings or {}),
        )
        return Staging(self, about)

    def pieces(self, table: Table, batches: Sequence[Batch] | None = None, **partition: str) -> list[Piece]:
        """Return the files of a table that can be read, those of some batches and of a partition only."""
        return [
            piece
            for batch in (self.batches() if batches is None else batches)
            for piece in batch.pieces
            if piece.table == table.name
            and all(piece.partition.get(name) == value for name, value in partition.items())
            and self._is_sound(piece, table)
        ]

    def read(self, table: Table, batches: Sequence[Batch] | None = None, **partition: str) -> pa.Table:
        """Return the rows of a table; a file that cannot be read is damage, and costs only its own."""
        parts = list(self.parts(table, batches, **partition))
        return pa.concat_tables(parts) if parts else table.schema.empty_table()

    def parts(self, table: Table, batches: Sequence[Batch] | None = None, **partition: str) -> Iterator[pa.Table]:
        """Yield the rows of a table, file by file."""
        for piece in self.pieces(table, batches, **partition):
            try:
                part = self._rows(piece, table)
            except BadFile as error:
                self._leave_out(piece.file, str(error))
            else:
                yield part

    def _rows(self, piece: Piece, table: Table) -> pa.Table:
        try:
            with pq.ParquetFile(self.path / piece.file) as file:
                found = int((file.schema_arrow.metadata or {}).get(VERSION, b"%d" % piece.version))
                rows = file.read()
        except BROKEN as error:
            raise BadFile(f"cannot be read: {error}") from None
        for name, value in piece.partition.items():
            rows = rows.append_column(name, pa.repeat(value, len(rows)))
        return table.fit(rows, max(found, piece.version))

    def _is_sound(self, piece: Piece, table: Table) -> bool:
        """Tell whether a file is the one that was committed, and of a version that is known."""
        if piece.file in self.damage:
            return False
        why = ""
        try:
            if piece.version > table.version:
                table.fit(table.schema.empty_table(), piece.version)
            size, crc = checked(self.path / piece.file)
            if size != piece.bytes:
                why = f"has {size} bytes, {piece.bytes} were written"
            elif crc != piece.crc:
                why = "is not what was written: its checksum differs"
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
        except BadFile as error:
            why = str(error)
        if why:
            self._leave_out(piece.file, f"{why} ({piece.rows} rows left out)")
        return not why

    def _leave_out(self, file: str, why: str) -> None:
        self.damage[file] = Damage(file, why)

    def _manifest(self, batch: str) -> Path:
        return self.path / BATCHES / f"{batch}.json"


class Staging:
    """A batch that is being written, in a folder of its own: ``folder(table)`` has a table's files.

    Leaving the context without ``commit`` throws it away.
    """

    def __init__(self, lake: Lake, about: Batch) -> None:
        self.lake = lake
        self.about = about
        self.attempt = secrets.token_hex(4)
        self.path = lake.path / STAGING / f"{about.id}-{self.attempt}"
        self._writers: dict[Path, Any] = {}
        self.path.mkdir(parents=True)

    def folder(self, table: Table) -> Path:
        """Return where the files of a table go, below the folders of its partitions (``protocol=zenoh``)."""
        return self.path / table.name

    def write(self, table: Table, rows: pa.Table) -> None:
        """Append rows of one partition or of several; they become row groups of one file for each partition."""
        for values, part in _split(table, rows):
            folder = self.folder(table).joinpath(*map(_folder, table.partitions, values))
            if folder not in self._writers:
                folder.mkdir(parents=True, exist_ok=True)
                self._writers[folder] = pq.ParquetWriter(folder / f"rows{SUFFIX}", table.stored, compression="zstd")
            self._writers[folder].write_table(part.select(table.stored.names).cast(table.stored))

    def commit(self) -> Batch | None:
        """Make the batch visible; return it, or None when it was there already (and this one is thrown away)."""
        self._close()
        pieces: list[Piece] = []
        for name, table in TABLES.items():
            for path in sorted((self.path / name).rglob(f"*{SUFFIX}")):
                pieces.append(self._placed(path, table, len(pieces)))
        batch = msgspec.structs.replace(self.about, pieces=tuple(pieces))
        manifest = self.path / "manifest.json"
        with manifest.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(batch), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a renaming, this fails when somebody else was faster.
            os.link(manifest, self.lake.path / BATCHES / f"{batch.id}.json")
        except FileExistsError:
            for piece in pieces:
                (self.lake.path / piece.file).unlink()
            return None
        finally:
            shutil.rmtree(self.path, ignore_errors=True)
        return batch

    def _placed(self, path: Path, table: Table, number: int) -> Piece:
        """Move a file to its place in the lake, where nobody sees it yet."""
        folders = path.parent.relative_to(self.path / table.name).parts
        partition = {name: unquote(value) for name, _, value in (each.partition("=") for each in folders)}
        rows = pq.read_metadata(path).num_rows
        target = self.lake.path / table.name / Path(*folders) / f"{self.about.id}-{self.attempt}-{number}{SUFFIX}"
        target.parent.mkdir(parents=True, exist_ok=True)
        size, crc = checked(path)
        os.rename(path, target)
        return Piece(
            table=table.name,
            file=str(target.relative_to(self.lake.path)),
            version=table.version,
            rows=rows,
            bytes=size,
            crc=crc,
            partition=partition,
        )

    def _close(self) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with suppress(*BROKEN):
            self._close()
        shutil.rmtree(self.path, ignore_errors=True)


def checked(path: Path) -> tuple[int, int]:
    """Return size and CRC-32 of a file."""
    size = crc = 0
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            size, crc = size + len(data), zlib.crc32(data, crc)
    return size, crc


def _folder(name: str, value: str) -> str:
    """Spell a partition as Hive and Spark do."""
    return f"{name}={quote(value, safe='')}"


def _split(table: Table, rows: pa.Table) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the rows of each partition, in their order."""
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
