"""A campaign against the engines of a layout: what is wanted, how far it is, what it has found, and its report.

How inputs are searched for stands in ``fuzz.search`` and ``fuzz.atheris_search``. Whatever differs comes here: one
``vectors.checks.check.Check`` makes it small and drops what it has seen before, and it is written as a folder.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fuzz import findings
from fuzz.comparison_process import ComparisonProcess, ComparisonRequest, ProcessLost
from fuzz.findings import CodecFinding
from fuzz.isolation import IsolatedRun, fatal_difference, run_isolated
from fuzz.limits import InputLimits
from fuzz.recent_rate import RecentRate
from vectors.checks.check import MOST, Check
from vectors.checks.check import EngineFinding as Checked
from vectors.checks.sweep import Found
from wire.catalogue import layout as find
from wire.engines import Engine, present


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched, and how: ``seconds`` is ``None`` for no search, only what is kept already.

    ``corpus`` is where inputs are kept and ``out`` where findings are written; at most ``most`` findings, ``jobs``
    processes of ``random``.
    """

    layout: str
    engine: str
    seconds: float | None
    seed: int
    out: Path
    corpus: Path | None = None
    most: int = MOST
    jobs: int = 1
    limits: InputLimits = InputLimits()


class CampaignProgress(msgspec.Struct, frozen=True):
    """How far a campaign is: inputs per second are those of the last moment, None until one has passed."""

    seconds: float
    inputs: int
    rate: float | None
    kept: int
    found: int
    doing: str = ""


OnProgress = Callable[[CampaignProgress], None]


class WrittenFinding(msgspec.Struct, frozen=True):
    """A finding, its folder, and whether it is new there."""

    folder: Path
    new: bool
    finding: CodecFinding


class CampaignReport(msgspec.Struct):
    """What came of a campaign so far.

    ``kept`` are the inputs of the corpus before, with what was new, and after merging; ``branches`` and ``features``
    what Atheris reached; ``referred`` the inputs that the reference engine saw as well.
    """

    layout: str
    engine: str
    engines: tuple[str, ...]
    seed: int
    corpus: Path | None = None
    seconds: float = 0.0
    searched: float = 0.0
    inputs: int = 0
    accepted: int = 0
    differing: int = 0
    referred: int = 0
    golden: int = 0
    kept: tuple[int, int, int] = (0, 0, 0)
    branches: int = 0
    features: int = 0
    restarts: int = 0
    findings: list[WrittenFinding] = []
    notes: list[str] = []
    full: bool = False
    interrupted: bool = False

    @property
    def rate(self) -> float | None:
        """Inputs per second of searching; None where an interrupt has left nothing to divide by."""
        return self.inputs / self.searched if self.searched and not self.interrupted else None


def is_text(layout: str) -> bool:
    """Tell whether frames are texts, which no C reads."""
    tree = find(layout)
    return tree.is_json or tree.is_text


class RunningCampaign:
    """One campaign that runs: it takes what the search has found, and knows the time."""

    def __init__(self, campaign: Campaign, on_progress: OnProgress | None) -> None:
        self.campaign = campaign
        self.engines: list[Engine] = list(present(campaign.layout))
        self.check = Check(campaign.layout, self.engines, seed=campaign.seed, most=campaign.most)
        # Not here: an engine that crashes on what was found would take the campaign, and its findings, with it.
        self.comparisons = ComparisonProcess(
            campaign.layout, campaign.seed, campaign.limits.seconds, campaign.limits.megabytes
        )
        names = self.check.panel.names
        self.report = CampaignReport(campaign.layout, campaign.engine, names, campaign.seed)
        self.on_progress = on_progress
        self.begun = time.monotonic()
        self.written = 0
        self._recently = RecentRate()
        if "native" not in names and campaign.engine == "atheris" and not is_text(campaign.layout):
            self.report.notes.append(
                "the native engine is not built here: Python is compared with the reference, on what reaches "
                "something new, and with itself"
            )

    @property
    def elapsed(self) -> float:
        """Seconds since the campaign began."""
        return time.monotonic() - self.begun

    @property
    def deadline(self) -> float:
        """When the search ends, on the monotonic clock."""
        return self.begun + (self.campaign.seconds or 0.0)

    def compare(self, request: ComparisonRequest) -> None:
        """Compare all engines on an input, in a process of its own, and keep what is found."""
        try:
            found = self.comparisons.compare(request)
        except ProcessLost as lost:
            data = request.data if request.found is None else request.found.data or b""
            self.process_lost(lost.kind, data, request.source, request.number)
            return
        for each in found:
            self.keep(each)

    def keep(self, found: Checked) -> bool:
        """Keep a finding, and write it; tell whether there was none like it."""
        # What another process found has been made small there; here it is only looked at whether it is new.
        if self.check.report.full or found.difference.signature in self.check.seen:
            return False
        self.check.seen.add(found.difference.signature)
        self.check.report.findings.append(found)
        self.check.report.full = len(self.check.report.findings) >= self.check.most
        self.write()
        return True

    def write(self) -> None:
        """Write the findings that are new; at once, so that whoever is killed has lost none."""
        for found in self.check.report.findings[self.written :]:
            self.written += 1
            origin = findings.FindingOrigin(
                self.campaign.engine,
                self.campaign.seed,
                datetime.now(UTC).isoformat(timespec="seconds"),
                round(self.elapsed, 1),
                found.found.number,
                found.found.origin,
                found.found.names,
            )
            kept = findings.make(found, self.check.report, origin, self.campaign.limits, self.written)
            folder, new = findings.write(self.campaign.out, kept)
            self.report.findings.append(WrittenFinding(folder, new, kept.finding))
        self.report.full = self.check.report.full

    def process_lost(self, kind: str, data: bytes, source: str, number: int = 0) -> bool:
        """Keep an input that ended a process; tell whether there was none like it."""
        words = {"crash": "ends the process", "hang": "does not come to an end", "memory": "takes too much memory"}
        limits = self.campaign.limits
        # The process that was lost had read thousands of inputs: only alone can this one, and an engine, be proven
        # guilty.
        run = IsolatedRun(
            self.campaign.layout,
            self.report.engines,
            data,
            fatal=True,
            smaller=True,
            seconds=limits.seconds,
            megabytes=limits.megabytes,
        )
        outcome = run_isolated(run)
        # No engine ended alone: then it takes all of them together, or what the process had read before.
        difference = outcome.difference or fatal_difference(kind, {", ".join(self.report.engines): words[kind]})
        smallest = outcome.data if outcome.difference is not None else data
        return self.keep(Checked(difference, Found(difference, source, number, (), data), smallest))

    def progress(self, inputs: int, kept: int = 0, doing: str = "") -> None:
        """Report how far the campaign is, to whoever wants to know."""
        self.report.inputs = inputs
        if self.on_progress is not None:
            now = self.elapsed
            rate = None if doing else self._recently.rate(now, inputs)
            self.on_progress(CampaignProgress(now, inputs, rate, kept, len(self.report.findings), doing))
