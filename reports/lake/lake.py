"""Lakes: folders of tables that grow by batches, each of which is there as a whole or not at all.

::

    LAKE/
      batches/capture-3f2a….json                                    what is committed: the files of each batch
      frames/protocol=zenoh/layout=zenoh%2Fbatch/capture-….parquet  the rows
      staging/                                                      what is being written, or was when a job was killed

A batch is named after where its rows come from, so that what is added twice is there once. Readers see the files that
batches name, and nothing else. Nothing here needs Spark.

In an object store nothing can be renamed: rows are put at their place, and those that Spark writes into
``TABLE/batch=NAME-…/``, where nobody sees them before the batch is committed.
"""

import hashlib
import re
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from harness.errors import HarnessError
from reports.lake.files import SUFFIX, Files
from reports.lake.schemas import LOSSES, RUNS, TABLES, VERSION, BadFile, LakeTable
from reports.lake.stores import BROKEN, STAGING, Folder, NoStore, Store, Stored, store

BATCHES = "batches"
CHUNK = 1 << 20
NAME = re.compile(r"[a-z]+-[0-9a-z-]+")


class NoLake(Exception):
    """A folder or a store is no lake; the message names it, and says what to do."""


class LakeFailed(HarnessError):
    """A lake could not be written, or its batches not be listed: a full disk, a store that does not answer."""


class Damage(msgspec.Struct, frozen=True):
    """A file of a lake that is left out, and why."""

    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"


class BatchFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a batch: ``file`` is relative to the lake, ``crc`` the CRC-32 of its bytes, where it is known."""

    table: str
    file: str
    version: int
    rows: int
    bytes: int
    crc: int | None
    partition: dict[str, str]


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What was added at once, by which ``job``, out of which other batches (``of``), and how (``settings``)."""

    id: str
    job: str
    time: str
    goldwire: str
    of: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    pieces: tuple[BatchFile, ...] = ()

    @property
    def rows(self) -> dict[str, int]:
        """The rows by table."""
        counted: dict[str, int] = {}
        for piece in self.pieces:
            # From the manifest: nobody has to open a file to know how much there is.
            counted[piece.table] = counted.get(piece.table, 0) + piece.rows
        return counted


def batch_name(job: str, settings: Mapping[str, str], of: Iterable[str]) -> str:
    """Return the name of the batch that a job makes in some manner, of batches or whatever else it is made of."""
    # Sorted: the same settings and sources make the same name, in whatever order they were given.
    words = [job, *(f"{name}={value}" for name, value in sorted(settings.items())), *sorted(of)]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    return f"{job}-{digest[:16]}"


class Lake:
    """A lake in a folder, or in an object store by its URI. ``damage`` collects what reading has left out."""

    def __init__(self, where: Path | str, *, create: bool = False) -> None:
        """Open a lake; NoLake when there is none, unless it is to be created."""
        self.damage: dict[str, Damage] = {}
        try:
            self.store: Store = store(where)
            if create:
                self.store.make(BATCHES, STAGING)
            # Asked first: a wrong path would otherwise be an empty lake, and every answer "nothing is wrong".
            elif not self.store.has_folder(BATCHES):
                raise NoLake(f"{where} is no lake: it has no folder {BATCHES!r}; goldwire pipeline ingest makes one")
        except NoStore as error:
            raise NoLake(str(error)) from None
        except BROKEN as error:
            what = "no lake can be made there" if create else "cannot be read"
            raise NoLake(f"{where}: {what}: {reason_of(error)}") from None

    @property
    def name(self) -> str:
        """By which another process opens it: an absolute path, or a URI."""
        return self.store.name

    @property
    def path(self) -> Path:
        """The folder of a lake that is in one; NoLake for one in an object store."""
        if isinstance(self.store, Folder):
            return self.store.path
        raise NoLake(f"{self.name} is an object store, and this needs a lake in a folder")

    def __contains__(self, batch: str) -> bool:
        with self.raising_lake_failed("cannot be read"):
            return _manifest(batch) in self.store

    def batches(self) -> list[Batch]:
        """Return what is committed, by name; a manifest that cannot be read is damage. Raises LakeFailed."""
        found = []
        # Made once: a lake has thousands of manifests.
        decoder = msgspec.json.Decoder(Batch)
        with self.raising_lake_failed("cannot be read"):
            files = list(self.store.found(BATCHES))
        for each in files:
            if not each.file.endswith(".json"):
                continue
            try:
                found.append(decoder.decode(self.store.read(each.file)))
            except (*BROKEN, msgspec.MsgspecError) as error:
                self._leave_out(each.file, str(error))
        return found

    def batch(self, name: str) -> Batch | None:
        """Return a batch that is committed, if it and all of its files are whole, or a newer goldwire's; else None."""
        try:
            found = msgspec.json.decode(self.store.read(_manifest(name)), type=Batch)
        except (*BROKEN, msgspec.MsgspecError):
            return None
        # What a newer goldwire has added is not ours to judge.
        ours = [
            piece for piece in found.pieces if (table := TABLES.get(piece.table)) and piece.version <= table.version
        ]
        return found if all(self._is_sound(piece, TABLES[piece.table]) for piece in ours) else None

    def discard(self, name: str) -> None:
        """Take a batch out of the lake, so that it can be added anew; nobody sees its files any more."""
        with self.raising_lake_failed("cannot be written"):
            self.store.remove(_manifest(name))
        # What was left out because of this batch is gone with it.
        self.damage = {file: damage for file, damage in self.damage.items() if f"/{name}-" not in file}

    def stage(
        self, batch: str, job: str, *, of: Sequence[str] = (), settings: Mapping[str, str] | None = None
    ) -> "Staging":
        """Begin a batch; nobody sees it before it is committed. LakeFailed when it cannot be begun."""
        if not NAME.fullmatch(batch):
            # A name becomes part of paths and of Hive partitions, and cleaning knows files by it.
            raise ValueError(f"{batch!r} is no name of a batch: expected KIND-WORD of small letters and digits")
        about = Batch(
            id=batch,
            job=job,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            goldwire=version("goldwire"),
            of=tuple(sorted(of)),
            settings=dict(settings or {}),
        )
        with self.raising_lake_failed("cannot be written"):
            return Staging(self, about)

    def has(self, protocol: str) -> bool:
        """Tell whether there is anything of a protocol, in whichever table, also if it cannot be read.

        That a recording was taken in which has nothing of the protocol is not anything.
        """
        about = (RUNS.name, LOSSES.name)
        pieces = (piece for batch in self.batches() for piece in batch.pieces if piece.table not in about)
        return any(piece.partition.get("protocol") == protocol for piece in pieces)

    def pieces(self, table: LakeTable, batches: Sequence[Batch] | None = None, **partition: str) -> list[BatchFile]:
        """Return the files of a table that can be read, those of some batches and of a partition only."""
        return [
            piece
            for batch in (self.batches() if batches is None else batches)
            for piece in batch.pieces
            if piece.table == table.name
            and all(piece.partition.get(name) == value for name, value in partition.items())
            and self._is_sound(piece, table)
        ]

    def read(self, table: LakeTable, batches: Sequence[Batch] | None = None, **partition: str) -> pa.Table:
        """Return the rows of a table; a file that cannot be read is damage, and costs only its own."""
        parts = list(self.parts(table, batches, **partition))
        return pa.concat_tables(parts) if parts else table.schema.empty_table()

    def parts(self, table: LakeTable, batches: Sequence[Batch] | None = None, **partition: str) -> Iterator[pa.Table]:
        """Yield the rows of a table, file by file."""
        for piece in self.pieces(table, batches, **partition):
            try:
                part = self._rows(piece, table)
            except BadFile as error:
                self._leave_out(piece.file, str(error))
            else:
                yield part

    def _rows(self, piece: BatchFile, table: LakeTable) -> pa.Table:
        try:
            with pq.ParquetFile(self.store.open(piece.file)) as file:
                found = int((file.schema_arrow.metadata or {}).get(VERSION, b"%d" % piece.version))
                rows = file.read()
        except BROKEN as error:
            raise BadFile(f"cannot be read: {error}") from None
        for name, value in piece.partition.items():
            rows = rows.append_column(name, pa.repeat(value, len(rows)))
        return table.fit(rows, max(found, piece.version))

    def _is_sound(self, piece: BatchFile, table: LakeTable) -> bool:
        """Tell whether a file is the one that was committed, and of a version that is known."""
        if piece.file in self.damage:
            return False
        why = ""
        try:
            if piece.version > table.version:
                table.fit(table.schema.empty_table(), piece.version)
            # From the cheapest look to the dearest: size, checksum where the file is local, footer.
            size = self.store.size(piece.file)
            if size != piece.bytes:
                why = f"has {size} bytes, {piece.bytes} were written"
            # Only where files are near: for an object store it would fetch every file twice.
            elif isinstance(self.store, Folder) and piece.crc not in (None, size_and_crc(self.path / piece.file)[1]):
                why = "is not what was written: its checksum differs"
            else:
                self._check_footer(piece, table)
        except OSError as error:
            why = f"cannot be read: {reason_of(error)}"
        except BadFile as error:
            why = str(error)
        except BROKEN as error:
            why = f"cannot be read: {error}"
        if why:
            self._leave_out(piece.file, f"{why} ({piece.rows} rows left out)")
        return not why

    def _check_footer(self, piece: BatchFile, table: LakeTable) -> None:
        """Read a file's footer; BadFile for columns of other types and newer versions, BROKEN when there is none."""
        schema = pq.read_schema(self.store.open(piece.file))
        rows = schema.empty_table()
        for name in piece.partition:
            rows = rows.append_column(name, pa.array([], pa.string()))
        table.fit(rows, max(piece.version, int((schema.metadata or {}).get(VERSION, b"0"))))

    @contextmanager
    def raising_lake_failed(self, complaint: str) -> Iterator[None]:
        """Raise LakeFailed for what goes wrong between the store and here."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise LakeFailed(f"{self.name} {complaint}: {reason_of(error)}") from error

    def _leave_out(self, file: str, why: str) -> None:
        self.damage[file] = Damage(file, why)


class Staging:
    """A batch that is being written, in a folder of its own: ``folder(table)`` has a table's files.

    Leaving the context without ``commit`` throws it away.
    """

    def __init__(self, lake: Lake, about: Batch) -> None:
        self.lake = lake
        self.batch = about
        # Two processes may make the same batch at once: each attempt has files and folders of its own.
        self.attempt = secrets.token_hex(4)
        self.path = lake.store.draft(f"{about.id}-{self.attempt}")
        self._files = Files(self.path)
        self._targets: list[str] = []

    def folder(self, table: LakeTable) -> Path:
        """Return where the files of a table go, below the folders of its partitions (``protocol=zenoh``)."""
        return self.path / table.name

    def target(self, table: LakeTable) -> str:
        """Return where Spark writes the files of a table, from whatever machine; in a store that is their place."""
        if isinstance(self.lake.store, Folder):
            return str(self.folder(table).resolve())
        self._targets.append(f"{table.name}/batch={self.batch.id}-{self.attempt}")
        return self.lake.store.url(self._targets[-1])

    def write(self, table: LakeTable, rows: pa.Table) -> None:
        """Append rows of one partition or of several; they become row groups of one file for each partition.

        LakeFailed when they cannot be written.
        """
        with self.lake.raising_lake_failed("cannot be written"):
            self._files.write(table, rows)

    def commit(self) -> Batch | None:
        """Make the batch visible; return it, or None when it was there already (and this one is thrown away).

        LakeFailed when it cannot be written; then it is not there.
        """
        with self.lake.raising_lake_failed("cannot be written"):
            return self._commit()

    def _commit(self) -> Batch | None:
        self._files.finish()
        store, pieces = self.lake.store, list[BatchFile]()
        for name, table in TABLES.items():
            # What Spark has written stands below as well, in files of its own naming.
            for path in sorted((self.path / name).rglob(f"*{SUFFIX}")):
                if _is_whole(path.relative_to(self.path).as_posix()):
                    pieces.append(self._move_into_place(path, table, len(pieces)))
        for each in (each for target in self._targets for each in store.found(target)):
            if each.file.endswith(SUFFIX) and _is_whole(each.file):
                pieces.append(self._found(each))
        batch = msgspec.structs.replace(self.batch, pieces=tuple(pieces))
        # Last of all: every file is at its place before the manifest names it, so a reader sees all of a batch or
        # nothing.
        manifest = self.path / "manifest.json"
        manifest.write_bytes(msgspec.json.format(msgspec.json.encode(batch), indent=1) + b"\n")
        is_new = store.publish(manifest, _manifest(batch.id))
        # Somebody was faster, with the same rows: ours are removed, as no manifest will ever name them.
        if not is_new:
            for piece in pieces:
                store.remove(piece.file)
        # What was written there belongs to the batch now, and leaving the context must not remove it.
        self._targets.clear()
        # What cannot be removed is found by ``goldwire pipeline clean``; the batch is there.
        shutil.rmtree(self.path, ignore_errors=True)
        return batch if is_new else None

    def _move_into_place(self, path: Path, table: LakeTable, number: int) -> BatchFile:
        """Bring a file to its place in the lake, where nobody sees it yet."""
        folders = path.parent.relative_to(self.path / table.name).as_posix()
        file = "/".join([table.name, folders, f"{self.batch.id}-{self.attempt}-{number}{SUFFIX}"])
        rows = pq.read_metadata(path).num_rows
        size, crc = size_and_crc(path)
        self.lake.store.place(path, file)
        return _piece(file, table, rows, size, crc)

    def _found(self, each: Stored) -> BatchFile:
        """Take a file that Spark has written where it stays."""
        table = TABLES[each.file.partition("/")[0]]
        rows = pq.read_metadata(self.lake.store.open(each.file)).num_rows
        return _piece(each.file, table, rows, each.size, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with suppress(*BROKEN):
            self._files.close()
        shutil.rmtree(self.path, ignore_errors=True)
        # In an object store Spark writes to the final place, so a batch that was not committed is removed there.
        for target in self._targets:
            with suppress(*BROKEN):
                self.lake.store.remove_folder(target)


def size_and_crc(path: Path) -> tuple[int, int]:
    """Return size and CRC-32 of a file."""
    size = crc = 0
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            size, crc = size + len(data), zlib.crc32(data, crc)
    return size, crc


def reason_of(error: Exception) -> str:
    """Return what is wrong in one line."""
    return (getattr(error, "strerror", None) or str(error)).partition("\n")[0]


def _is_whole(file: str) -> bool:
    """Tell whether a file is complete: what tasks of Spark have begun and not finished is below ``_temporary``."""
    return not any(part.startswith(("_", ".")) for part in file.split("/"))


def _manifest(batch: str) -> str:
    return f"{BATCHES}/{batch}.json"


def _piece(file: str, table: LakeTable, rows: int, size: int, crc: int | None) -> BatchFile:
    folders = (each.partition("=") for each in file.split("/")[1:-1])
    return BatchFile(
        table=table.name,
        file=file,
        version=table.version,
        rows=rows,
        bytes=size,
        crc=crc,
        partition={name: unquote(value) for name, _, value in folders if name in table.partitions},
    )
