"""Cleaning: what jobs that were killed have left in a lake, and no batch names."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from reports.lake.lake import BATCHES, Lake
from reports.lake.schemas import TABLES
from reports.lake.stores import STAGING, Folder, Stored

DAY = 86_400.0
"""Seconds."""

# Attempts are named like batches with eight hex digits behind: anything else in the folder is a user's and stays.
PLACED = re.compile(r"(?P<attempt>[a-z]+-[0-9a-z-]+-[0-9a-f]{8})-\d+\.parquet")
"""A file of rows at its place: the attempt that put it there, and a number."""

WRITTEN = re.compile(r"batch=(?P<attempt>[a-z]+-[0-9a-z-]+-[0-9a-f]{8})")
"""A folder in which an attempt of Spark has its files at their place."""


class UnreadableManifest(Exception):
    """A manifest cannot be read, and so nobody knows what it names."""


class Cleaned(msgspec.Struct, frozen=True, kw_only=True):
    """What was removed, and how many files are left that may still become a batch."""

    attempts: int = 0
    files: int = 0
    bytes: int = 0
    left: int = 0


def clean(lake: Lake, age: float = DAY) -> Cleaned:
    """Remove what no batch names, of attempts that have written nothing for ``age`` seconds.

    Raises Unsure when a manifest cannot be read.
    """
    attempts: dict[str, list[Stored]] = {}
    # By attempt: a job writes for hours, and its oldest file says nothing; only if its newest is old, it is dead.
    for attempt, each in _attempt_files(lake):
        attempts.setdefault(attempt, []).append(each)
    # Manifests are read after the files, as an attempt may be committed meanwhile.
    named = {piece.file for batch in lake.batches() for piece in batch.pieces}
    # Its manifest may name any file, so none can be called a stray.
    if lake.damage:
        raise UnreadableManifest("; ".join(map(str, lake.damage.values())))
    before = time.time() - age
    done, left = Cleaned(), 0
    for attempt, found in attempts.items():
        files = found
        if any(each.file in named for each in found):
            # It was committed; what Spark has put beside its files is small, and for Spark.
            files = [each for each in found if each.file.startswith(f"{STAGING}/")]
        if not files:
            continue
        if max(each.time for each in found) > before:
            left += len(files)
            continue
        for each in files:
            with suppress(FileNotFoundError):  # its job was slow, and not dead
                lake.store.remove(each.file)
        lake.store.remove_folder(f"{STAGING}/{attempt}")
        done = Cleaned(
            attempts=done.attempts + 1,
            files=done.files + len(files),
            bytes=done.bytes + sum(each.size for each in files),
        )
    _remove_empty(lake, before)
    return msgspec.structs.replace(done, left=left)


def _remove_empty(lake: Lake, before: float) -> None:
    """Remove the folders of attempts that have not written anything."""
    if isinstance(lake.store, Folder):
        for folder in (lake.path / STAGING).glob("*"):
            with suppress(FileNotFoundError):  # its job has just ended
                if (
                    folder.is_dir()
                    and folder.stat().st_mtime <= before
                    and not any(lake.store.found(f"{STAGING}/{folder.name}"))
                ):
                    lake.store.remove_folder(f"{STAGING}/{folder.name}")


def _attempt_files(lake: Lake) -> Iterator[tuple[str, Stored]]:
    """Yield the files that attempts have written, named or not; what goldwire does not write is not among them."""
    for each in lake.store.found(STAGING):
        _, attempt, *inner = each.file.split("/")
        if inner:
            yield attempt, each
    for each in lake.store.found(BATCHES):
        name, _, draft = each.file.rpartition(".")
        # A manifest that was written beside its place, and never renamed.
        if name.endswith(".json") and re.fullmatch("[0-9a-f]{8}", draft):
            yield each.file, each
    for table in TABLES:
        for each in lake.store.found(table):
            folder, name = each.file.split("/")[1], each.file.rpartition("/")[2]
            match = WRITTEN.fullmatch(folder) or PLACED.fullmatch(name)
            if match is not None:
                yield match["attempt"], each
