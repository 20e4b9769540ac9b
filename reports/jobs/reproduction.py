"""Where what is in a lake comes from, and the command that shows it again."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.run.records import TRACES
from reports.lake.lake import Lake
from reports.lake.schemas import RUNS

JUDGE = {".dialling": "client"}
"""How ``goldwire audit --judge`` is told which side is meant, by the ending of what was judged."""


class Sources:
    """The sources of a lake: what was taken in, when it was made, and from where."""

    def __init__(self, lake: Lake) -> None:
        rows = lake.read(RUNS).select(["source", "kind", "time", "iut", "transport"]).to_pylist()
        self._runs: Mapping[str, dict[str, Any]] = {row["source"]: row for row in rows}
        self._paths = {batch.id: batch.settings["path"] for batch in lake.batches() if "path" in batch.settings}

    def time(self, source: str) -> str:
        """Return when a run began (ISO 8601 in UTC); empty for other sources."""
        return self._runs.get(source, {}).get("time") or ""

    def replay(self, source: str, folder: str) -> str:
        """Return the command that tries a finding again; empty when it was not taken from a folder."""
        path = self._paths.get(source)
        return shlex.join(["goldwire", "replay", str(Path(path) / folder)]) if path else ""

    def example(self, row: Mapping[str, Any]) -> str:
        """Return what a judgement is about: the case and its trace, or the recorded session, with the entry."""
        entry = f" at entry {row['entry']}" if row["entry"] >= 0 else ""
        if row["case"]:
            path = self._paths.get(row["source"], row["source"])
            trace = f" in {Path(path) / TRACES / row['trace']}.pcapng" if row["trace"] else ""
            return f"{row['case']}{trace}{entry}"
        # Of a finding, whose sessions are nowhere else.
        if row.get("folder"):
            return str(row["folder"])
        return f"{row['session'] or row['example']}{entry}"

    def repeat(self, row: Mapping[str, Any]) -> str:
        """Return the command that plays the case of a judgement again, or its finding, or judges its recording."""
        if row.get("repeat"):
            return str(row["repeat"])
        # Under the same profile: the other one may accept what this one calls a violation.
        more = ["--profile", row["profile"]] if row["profile"] not in ("", "document") else []
        run = self._runs.get(row["source"], {})
        if row["case"]:
            iut = run.get("iut") or row["name"]
            # With the words that the user typed for the implementation, where the run has kept them.
            return shlex.join(["goldwire", "test", row["protocol"], "--iut", iut, *more, "-k", row["case"]])
        path = self._paths.get(row["source"])
        # The session ends with the number of its first packet (``rows.SessionWriter``).
        number = row["session"].rpartition("#")[2]
        if path is None or not number:
            return ""
        side = next((side for ending, side in JUDGE.items() if row["example"].endswith(ending)), "")
        more += ["--judge", side] if side else []
        return shlex.join(["goldwire", "audit", row["protocol"], path, "--session", number, *more])
