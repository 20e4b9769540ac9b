"""Stores: where the files of a lake lie. A folder, or an object store by its URI.

::

    lake, /shared/lake                       a folder: files are renamed into place, manifests are hard links
    s3://…, s3a://…, gs://…, abfs(s)://…,    a store, as far as pyarrow reaches it: files are put at their place,
    hdfs://…, file://…                       where nobody sees them before a manifest names them

Names of files are relative to the lake, with slashes.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import fs

STAGING = "staging"
URI = re.compile(r"[a-z][a-z0-9+.-]*://.*")

BROKEN = (pa.ArrowException, OSError, ValueError)
"""What Arrow raises over a file that is damaged, or a store that is not reached."""


class NoStore(Exception):
    """What is named is no store that can be reached; the message says why."""


class Stored(msgspec.Struct, frozen=True):
    """A file of a store: its size in bytes, and when it was last written (seconds since 1970)."""

    file: str
    size: int
    time: float


class Store(Protocol):
    """What a lake needs of the place where its files lie. Everything may raise what is in ``BROKEN``."""

    name: str
    """By which another process opens it, wherever that was started."""

    def make(self, *folders: str) -> None:
        """Make folders that are not there."""

    def has_folder(self, folder: str) -> bool:
        """Tell whether there is a folder."""

    def __contains__(self, file: str) -> bool:
        """Tell whether there is a file."""

    def size(self, file: str) -> int:
        """Return the size of a file in bytes; FileNotFoundError when there is none."""

    def read(self, file: str) -> bytes:
        """Return what is in a file."""

    def open(self, file: str) -> Any:
        """Return a file as Arrow's Parquet reader takes it."""

    def url(self, file: str) -> str:
        """Return a file as Spark takes it."""

    def found(self, folder: str) -> Iterator[Stored]:
        """Yield the files in a folder and below, in the order of their names; none when there is no folder."""

    def remove(self, file: str) -> None:
        """Remove a file that is there."""

    def remove_folder(self, folder: str) -> None:
        """Remove a folder and what is in it; nothing when there is none."""

    def draft(self, batch: str) -> Path:
        """Make and return a folder of this machine in which a batch is written."""

    def place(self, path: Path, file: str) -> None:
        """Bring a file of a draft to its place."""

    def publish(self, path: Path, file: str) -> bool:
        """Make a file of a draft visible as a whole under a name; False, and nothing done, when that is taken."""


def store(where: Path | str) -> Store:
    """Return the store of a path or a URI; NoStore when pyarrow has none of that kind, or it is not reached."""
    # Whatever has no SCHEME:// is a path.
    if isinstance(where, Path) or URI.fullmatch(where) is None:
        return Folder(Path(where))
    try:
        return Objects(where, *_filesystem(where))
    except BROKEN as error:
        raise NoStore(f"{where}: no store that pyarrow reaches: {error}") from None


def _filesystem(uri: str) -> tuple[Any, str]:
    scheme, rest = uri.split("://", 1)
    if not rest.strip("/"):
        raise ValueError("it names no place")
    # Spark says s3a, everybody else s3: the same address has to work for both.
    if scheme in ("s3", "s3a"):
        # pyarrow's constructor does not look at what every other client of S3 does; without this only Amazon's would
        # work.
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            parts = urlsplit(endpoint)
            return fs.S3FileSystem(endpoint_override=parts.netloc, scheme=parts.scheme), rest.rstrip("/")
        uri = f"s3://{rest}"
    filesystem, root = fs.FileSystem.from_uri(uri)
    return filesystem, root.rstrip("/")


class Folder:
    """A folder of this machine, or one that it shares."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path.resolve())

    def make(self, *folders: str) -> None:
        """Make folders that are not there."""
        for folder in folders:
            (self.path / folder).mkdir(parents=True, exist_ok=True)

    def has_folder(self, folder: str) -> bool:
        """Tell whether there is a folder."""
        return (self.path / folder).is_dir()

    def __contains__(self, file: str) -> bool:
        """Tell whether there is a file."""
        return (self.path / file).exists()

    def size(self, file: str) -> int:
        """Return the size of a file in bytes; FileNotFoundError when there is none."""
        return (self.path / file).stat().st_size

    def read(self, file: str) -> bytes:
        """Return what is in a file."""
        return (self.path / file).read_bytes()

    def open(self, file: str) -> Path:
        """Return a file as Arrow's Parquet reader takes it."""
        return self.path / file

    def url(self, file: str) -> str:
        """Return a file as Spark takes it."""
        return f"{self.name}/{file}"

    def found(self, folder: str) -> Iterator[Stored]:
        """Yield the files in a folder and below, in the order of their names; none when there is no folder."""
        # Not rglob, which says nothing of a folder that cannot be read: that would look like one without files.
        walked = os.walk(self.path / folder, onerror=_unless_gone)
        # In the order of names, as an object store lists them.
        for path in sorted(Path(where, name) for where, _, names in walked for name in names):
            try:
                status = path.stat()
            except FileNotFoundError:  # a job that is running has moved it meanwhile
                continue
            yield Stored(path.relative_to(self.path).as_posix(), status.st_size, status.st_mtime)

    def remove(self, file: str) -> None:
        """Remove a file that is there."""
        (self.path / file).unlink()

    def remove_folder(self, folder: str) -> None:
        """Remove a folder and what is in it; nothing when there is none."""
        shutil.rmtree(self.path / folder, ignore_errors=True)

    def draft(self, batch: str) -> Path:
        """Make and return a folder in which a batch is written: in the lake, so that it can be renamed into place."""
        path = self.path / STAGING / batch
        path.mkdir(parents=True)
        return path

    def place(self, path: Path, file: str) -> None:
        """Bring a file of a draft to its place; its time is that of now."""
        target = self.path / file
        target.parent.mkdir(parents=True, exist_ok=True)
        # Moving keeps the time of writing, which may be hours ago; cleaning goes by when it arrived.
        os.utime(path)
        os.rename(path, target)

    def publish(self, path: Path, file: str) -> bool:
        """Make a file of a draft visible as a whole under a name; False, and nothing done, when that is taken."""
        with path.open("rb") as written:
            # A manifest that survives a power cut without its content would be damage; one that is lost is only work to
            # do again.
            os.fsync(written.fileno())
        try:
            # Unlike a renaming, this fails when somebody else was faster.
            os.link(path, self.path / file)
        except FileExistsError:
            return False
        return True


def _unless_gone(error: OSError) -> None:
    """Raise what hinders listing a folder; one that is not there, or not any more, has no files."""
    if not isinstance(error, FileNotFoundError):
        raise error


class Objects:
    """A store behind a URI, through a filesystem of pyarrow and the ``root`` of the lake there."""

    def __init__(self, uri: str, filesystem: Any, root: str) -> None:
        self.name = uri.rstrip("/")
        self._files = filesystem
        self._root = root

    def _at(self, file: str) -> str:
        return f"{self._root}/{file}"

    def make(self, *folders: str) -> None:
        """Make folders that are not there."""
        for folder in folders:
            self._files.create_dir(self._at(folder), recursive=True)

    def has_folder(self, folder: str) -> bool:
        """Tell whether there is a folder."""
        return bool(self._files.get_file_info(self._at(folder)).type == fs.FileType.Directory)

    def __contains__(self, file: str) -> bool:
        """Tell whether there is a file."""
        return bool(self._files.get_file_info(self._at(file)).type == fs.FileType.File)

    def size(self, file: str) -> int:
        """Return the size of a file in bytes; FileNotFoundError when there is none."""
        info = self._files.get_file_info(self._at(file))
        if info.type != fs.FileType.File:
            raise FileNotFoundError(2, "No such file", file)
        return int(info.size)

    def read(self, file: str) -> bytes:
        """Return what is in a file."""
        with self._files.open_input_stream(self._at(file)) as stream:
            return bytes(stream.read())

    def open(self, file: str) -> Any:
        """Return a file as Arrow's Parquet reader takes it."""
        return self._files.open_input_file(self._at(file))

    def url(self, file: str) -> str:
        """Return a file as Spark takes it."""
        return f"{self.name}/{file}"

    def found(self, folder: str) -> Iterator[Stored]:
        """Yield the files in a folder and below, in the order of their names; none when there is no folder."""
        wanted = fs.FileSelector(self._at(folder), recursive=True, allow_not_found=True)
        for info in sorted(self._files.get_file_info(wanted), key=lambda info: info.path):
            if info.type == fs.FileType.File:
                # Some stores tell no time: then the file counts as new, and cleaning leaves it alone.
                time = info.mtime or datetime.now(UTC)
                yield Stored(info.path.removeprefix(f"{self._root}/"), int(info.size), time.timestamp())

    def remove(self, file: str) -> None:
        """Remove a file that is there."""
        self._files.delete_file(self._at(file))

    def remove_folder(self, folder: str) -> None:
        """Remove a folder and what is in it; nothing when there is none."""
        if self.has_folder(folder):
            self._files.delete_dir(self._at(folder))

    def draft(self, batch: str) -> Path:
        """Make and return a folder of this machine in which a batch is written: what is there is put to the store."""
        # Nothing can be renamed in a store, so a batch is made here and put there once it is whole.
        return Path(tempfile.mkdtemp(prefix=f"goldwire-{batch}-"))

    def place(self, path: Path, file: str) -> None:
        """Bring a file of a draft to its place."""
        self._files.create_dir(self._at(file).rpartition("/")[0], recursive=True)
        with path.open("rb") as source, self._files.open_output_stream(self._at(file)) as target:
            # A megabyte at a time: files may be larger than the memory.
            shutil.copyfileobj(source, target, 1 << 20)

    def publish(self, path: Path, file: str) -> bool:
        """Make a file of a draft visible as a whole under a name; False, and nothing done, when that is taken.

        Of two that do so at the same instant the later one's stays, and both are told True: what batches of one name
        hold are the same rows.
        """
        if file in self:
            return False
        draft = f"{file}.{token_hex(4)}"
        self.place(path, draft)
        # Written under another name first, so that a reader never sees half a manifest.
        self._files.move(self._at(draft), self._at(file))
        return True
