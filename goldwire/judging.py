"""The rules of a protocol, and the gate that plays them: what ``import goldwire`` offers of conformance."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec

from conformance.catalogue.loading import load_catalogue
from conformance.catalogue.loading import protocols as catalogued
from conformance.catalogue.rules import Rule
from conformance.run.records import SUMMARY
from conformance.run.summary import RunSummary
from goldwire.rooms import WRONG_USAGE
from harness.errors import BadDescription


class BadRun(Exception):
    """A run that came to no summary: the message is what the command said, ``status`` how it ended (2: wrong usage)."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def protocols() -> list[str]:
    """Return the names of the protocols."""
    return catalogued()


def rules(protocol: str) -> dict[str, Rule]:
    """Return the rules of a protocol's documents by their ids; ``BadDescription`` names the protocols."""
    if protocol not in catalogued():
        raise BadDescription(f"unknown protocol {protocol!r}: known are {', '.join(catalogued())}")
    return load_catalogue(protocol).rules


def gate(
    protocol: str,
    iut: str = "peer:",
    *,
    select: str = "",
    profile: Literal["document", "deployed"] = "document",
    strict: bool = False,
    lenient: bool = False,
    link: str | None = None,
    workers: int | None = None,
    expectations: Path | None = None,
    report: Path | None = None,
) -> RunSummary:
    """Play the rules of a protocol against an implementation; ``exit`` of what is returned is 0 if all is as expected.

    ``iut`` is what ``goldwire test --iut`` takes (docs/iut.md): a name, a file or an address; our own reference peer
    by default. ``select`` is a pattern of rule ids and case names (``-k``), ``strict`` makes warnings fail, ``lenient``
    lets them pass, also where the expectations lack them. ``workers`` play at the same time, each with an instance of
    its own. ``report`` is a folder for the journal, the summary, the page and the traces.

    Raises ``BadRun`` where there is nothing to sum up: wrong usage, or an implementation that does not exist. One that
    could not be started is in the summary (``not_started``, exit 3).
    """
    words = ["test", protocol, "--iut", iut, "--profile", profile]
    words += ["--strict"] if strict else []
    words += ["--lenient"] if lenient else []
    words += ["--link", link] if link else []
    words += ["-k", select] if select else []
    words += ["-n", str(workers)] if workers else []
    words += ["--expectations", str(expectations)] if expectations else []
    with TemporaryDirectory(prefix="goldwire-") as folder:
        kept = report or Path(folder)
        written = kept / SUMMARY
        written.unlink(missing_ok=True)  # an earlier run's is not to be taken for this one's
        # In a process of its own: pytest, which plays the cases, leaves its marks on a process (imported cases, their
        # rewritten assertions, hooks) and may be what the caller runs in. -P: no folder of the caller's hides a room.
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "goldwire", *words, "--report", str(kept)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode == WRONG_USAGE or not written.is_file():
            raise BadRun(ended.returncode, ended.stderr.strip() or ended.stdout.strip())
        return msgspec.json.decode(written.read_bytes(), type=RunSummary)
