"""Known findings: what a folder of findings holds already, from this worker, others, or earlier campaigns."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz.findings import FINDING, BadFinding
from fuzz.net.finding import NetworkFinding, finding_name, read_finding
from fuzz.net.symptoms import Symptom


class KnownFindings:
    """The findings about one role of a protocol's implementation, in a folder that several processes write."""

    def __init__(self, out: Path, protocol: str, role: str) -> None:
        self._out, self._protocol, self._role = out, protocol, role
        self._by_folder: dict[str, NetworkFinding] = {}
        self.met: Counter[str] = Counter()
        """How often each was met again here, by its key."""
        self.look()

    def __iter__(self) -> Iterator[NetworkFinding]:
        return iter(self._by_folder.values())

    def look(self) -> None:
        """Read what others have written since."""
        for path in self._out.glob(f"{self._protocol}-{self._role}-*/{FINDING}"):
            if path.parent.name not in self._by_folder:
                self.add_folder(path.parent)

    def add_folder(self, folder: Path) -> None:
        """Read a finding, unless its folder holds none of this kind."""
        try:
            self._by_folder[folder.name] = read_finding(folder)
        except BadFinding:
            return

    def has(self, symptom: Symptom) -> bool:
        """Tell whether a symptom is known; of one that does not say where it happens, its test must be small."""
        name = finding_name(self._protocol, self._role, symptom)
        if name not in self._by_folder and (self._out / name / FINDING).exists():
            self.add_folder(self._out / name)
        return name in self._by_folder

    def alike(self, symptom: Symptom) -> list[NetworkFinding]:
        """Return the known findings that show in the same way, whatever was said."""
        return [each for each in self._by_folder.values() if each.symptom.rough == symptom.rough]
