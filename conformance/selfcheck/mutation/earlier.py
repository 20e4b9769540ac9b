"""What earlier runs have found out about mutants, so that a long run can be ended and gone on with.

Of the same sources all of it still holds. Where anything has changed since, what noticed a mutant is only asked first:
it nearly always notices it again, and whatever is said is said by a play of now.
"""

import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import msgspec

from conformance.catalogue.loading import protocols
from conformance.catalogue.rules import Profile
from conformance.selfcheck.mutation.operators import Mutant
from conformance.selfcheck.mutation.playing import Fate, PlayedMutant
from harness import user_folders
from wire.files import naming

ROOMS = ("wire", "harness", "conformance")
"""What a play depends on; nothing of it is read from elsewhere."""

AFTERWARDS = (
    "mutants.toml",
    *(f"selfcheck/mutation/{each}.py" for each in ("earlier", "listed", "page", "report", "score")),
)
"""What is done with the fate of a mutant, and decides nothing about it."""


class EarlierResult(msgspec.Struct, frozen=True):
    """What became of a mutant: ``sources`` is the digest of what it was played with, ``case`` what noticed it."""

    name: str
    sources: str
    fate: Fate
    by: str = ""
    case: str = ""


class EarlierResults:
    """The results of earlier runs for one role, in a file to which each new one is appended."""

    def __init__(self, path: Path, names: Mapping[Mutant, str], sources: str) -> None:
        self._path = path
        self._names = names
        self._sources = sources
        self._found: dict[str, EarlierResult] = {}
        if path.exists():
            # A line that was cut off when a run was killed is the last one, and of no other harm than being lost.
            for line in path.read_bytes().splitlines():
                try:
                    found = msgspec.json.decode(line, type=EarlierResult)
                except msgspec.DecodeError:
                    continue
                self._found[found.name] = found

    def result(self, mutant: Mutant) -> PlayedMutant | None:
        """Return what became of a mutant of the same sources; ``None`` where that is not known."""
        found = self._found.get(self._names[mutant])
        if found is None or found.sources != self._sources:
            return None
        return PlayedMutant(mutant, found.fate, found.by, found.case)

    def noticed_by(self, mutant: Mutant) -> str:
        """Return the case that noticed a mutant the last time; empty where none did."""
        found = self._found.get(self._names[mutant])
        return found.case if found is not None else ""

    def add(self, each: PlayedMutant) -> None:
        """Keep what became of a mutant."""
        name = self._names[each.mutant]
        self._found[name] = EarlierResult(name, self._sources, each.fate, each.by, each.case)
        with naming(self._path), self._path.open("ab") as file:
            file.write(msgspec.json.encode(self._found[name]) + b"\n")


def earlier_results(
    protocol: str, role: str, profile: Profile, mutants: Iterable[Mutant], sources: Mapping[str, bytes]
) -> EarlierResults:
    """Return what is known of the mutants of a role; ``sources`` are the texts of their modules."""
    path = user_folders.made_folder(user_folders.cache() / "mutants") / f"{protocol}-{role}-{profile}.ndjson"
    return EarlierResults(path, names_of(mutants, sources), digest_of_sources(protocol))


def names_of(mutants: Iterable[Mutant], sources: Mapping[str, bytes]) -> dict[Mutant, str]:
    """Return a name for each mutant that outlives changes elsewhere in its module: its function, line and change."""
    count: Counter[str] = Counter()
    found = {}
    for mutant in mutants:
        old, new = mutant.lines(sources[mutant.module])
        name = " | ".join((mutant.module, mutant.function, *map(str.strip, old), "becomes", *map(str.strip, new)))
        count[name] += 1
        found[mutant] = f"{name} | {count[name]}"
    return found


@cache
def digest_of_sources(protocol: str) -> str:
    """Return a digest of everything that decides what a play of a protocol says: of others it knows nothing."""
    others = set(protocols()) - {protocol}
    digest = hashlib.sha256(f"{platform.python_version()} {version('hypothesis')}".encode())
    for room in ROOMS:
        folder = Path(next(iter(import_module(room).__path__)))
        for path in sorted(folder.rglob("*")):
            if others.intersection(path.relative_to(folder).parts):
                continue
            if path.suffix in (".py", ".toml") and not str(path).endswith(AFTERWARDS):
                digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
