"""The journal: the file to which a run's records are written, line by line, and from which they are read again."""

import fcntl
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from conformance.run.records import Record
from harness.captures.reader import CHUNK, LONGEST_LINE, bounded_lines


class TornLine(Exception):
    """A line that is no record; the message names file and line."""


class JournalInUse(Exception):
    """Another run is writing to the file that is named."""


class Journal:
    """Writes the records of a run to a file, each at once: what a killed run leaves behind can be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Without a buffer: a record is in the file when ``write`` returns, and survives a kill of this process. And not
        # emptied before it is known that no other run is writing to it.
        self._file: BinaryIO = path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise JournalInUse(str(path)) from None
        except OSError:
            pass  # a file system without locks
        if path.is_file():  # and no device
            self._file.truncate(0)

    def write(self, record: Record) -> None:
        """Append one record; OSError when the disk does not take all of it."""
        line = msgspec.json.encode(record) + b"\n"
        # An unbuffered file may take a part only, as on a disk that is nearly full; the next attempt says why.
        while line:
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Close the file; once is enough."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def read(path: Path) -> tuple[list[Record], str]:
    """Return the records of a journal, and what is wrong with its last line (empty if nothing).

    Raises TornLine for any other line that is no record, OSError when the file cannot be read.
    """
    # Only the last line may be torn: that is what a kill or a full disk leaves. Anything else is no journal of ours.
    decoder = msgspec.json.Decoder(Record)
    records: list[Record] = []
    complaint = ""
    with path.open("rb") as file:
        for number, line in enumerate(bounded_lines(partial(file.read, CHUNK)), 1):
            if complaint:
                raise TornLine(complaint)
            if len(line) > LONGEST_LINE:
                complaint = f"{path}, line {number}: longer than {LONGEST_LINE} bytes, as no record is"
            elif not line.endswith(b"\n"):
                complaint = f"{path}, line {number}: cut off after {len(line)} bytes"
            else:
                try:
                    records.append(decoder.decode(line))
                except (msgspec.MsgspecError, RecursionError) as error:
                    complaint = f"{path}, line {number}: {error}"
    return records, complaint
