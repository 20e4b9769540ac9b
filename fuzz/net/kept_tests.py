"""Kept tests on disk: what each worker came to, for the others, and for who goes on later or elsewhere.

A file of lines per worker, which only grows: whoever is killed while writing leaves half a line, which nobody reads.
Folders of several campaigns become one by putting the files together.
"""

import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from fuzz.net.moves import NetworkTest

FOLDER = "kept"
SEEDS = "seeds"
"""The file of tests that nobody has played yet: those a campaign begins with."""


class KeptLine(msgspec.Struct, frozen=True):
    """A test, and the digests of what it came to; none where it was not played yet."""

    test: NetworkTest
    features: tuple[int, ...] = ()


class KeptTests:
    """The kept tests of a folder of findings; ``name`` is that of the file which this one writes."""

    def __init__(self, out: Path, name: str = "") -> None:
        self._folder = out / FOLDER
        self._own = self._folder / f"{name or secrets.token_hex(4)}.ndjson"
        self._read: dict[Path, int] = {}

    def add(self, lines: Iterable[KeptLine]) -> None:
        """Write tests behind those that are there."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._own.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    def others(self) -> Iterator[KeptLine]:
        """Yield what others have written since this was called last."""
        for path in sorted(self._folder.glob("*.ndjson")) if self._folder.is_dir() else ():
            if path == self._own:
                continue
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                data = file.read()
            # Up to the last whole line: somebody may just be writing the next one.
            whole = data.rfind(b"\n") + 1
            self._read[path] = self._read.get(path, 0) + whole
            yield from _lines(data[:whole])


def _lines(data: bytes) -> Iterator[KeptLine]:
    for line in data.splitlines():
        try:
            yield msgspec.json.decode(line, type=KeptLine)
        except msgspec.DecodeError:
            # Half a line of who was killed, behind which another one went on.
            continue
