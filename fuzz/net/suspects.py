"""Suspects: what was seen and is not confirmed yet, on disk before anything else is done with it."""

import fcntl
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from fuzz.net.moves import NetworkTest
from fuzz.net.symptoms import Symptom
from wire.files import write_file

FOLDER = "suspects"
"""In the folder of findings: those of workers that were killed are looked into by who goes on there."""

UNCONFIRMED = "unconfirmed"
"""Beside it: what no fresh instance showed again, for who wants to look at it."""

MOST = 50
"""Files there at most."""


class SuspectFile(msgspec.Struct, frozen=True):
    """The last tests before a symptom, and the symptom."""

    tests: tuple[NetworkTest, ...]
    symptom: Symptom


class Suspects:
    """The suspects in a folder of findings."""

    def __init__(self, out: Path) -> None:
        self._folder = out / FOLDER
        self._unconfirmed = out / UNCONFIRMED
        self._held: dict[Path, IO[bytes]] = {}
        """Files of suspects that are looked into here: the kernel lets go of them when this process has ended."""

    def write(self, tests: Sequence[NetworkTest], symptom: Symptom) -> Path:
        """Write a suspect, and return its file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{symptom.kind}-{secrets.token_hex(4)}.json"
        write_file(path, msgspec.json.encode(SuspectFile(tuple(tests), symptom)))
        held = self._held[path] = path.open("rb")
        # Somebody may just be trying whether it is held.
        fcntl.flock(held, fcntl.LOCK_EX)
        return path

    def others_look_into(self, symptom: Symptom) -> bool:
        """Tell whether somebody else is at what looks the same: who is not has better things to do meanwhile."""
        return any(
            path not in self._held
            and (suspect := self.read(path)) is not None
            and suspect.symptom.rough == symptom.rough
            and _is_held(path)
            for path in self.left()
        )

    def read(self, path: Path) -> SuspectFile | None:
        """Return a suspect; ``None`` where the file is gone or says nothing."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=SuspectFile)
        except (OSError, msgspec.DecodeError):
            return None

    def done(self, path: Path, *, confirmed: bool) -> None:
        """Forget a suspect that was looked into; what could not be confirmed is put aside."""
        if (held := self._held.pop(path, None)) is not None:
            held.close()
        with suppress(OSError):
            if confirmed or (self._unconfirmed.is_dir() and len(list(self._unconfirmed.iterdir())) >= MOST):
                path.unlink()
                return
            self._unconfirmed.mkdir(parents=True, exist_ok=True)
            path.rename(self._unconfirmed / path.name)

    def left(self) -> list[Path]:
        """Return the files of those that nobody has looked into."""
        # But for the draft of who was killed while writing one.
        return sorted(path for path in self._folder.glob("*.json") if not path.name.startswith("."))


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
