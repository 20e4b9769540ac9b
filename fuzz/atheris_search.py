"""Searching with Atheris: it runs beside us; what it keeps is compared with the reference engine; the corpus is merged.

Atheris compares two engines fast. It keeps what reached a branch, or a count of branches, that nothing had reached
before. That is little, so there is time to compare all engines on it thoroughly, in a process beside (a second core).
"""

import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz import corpus
from fuzz.atheris_process import Artifact, AtherisProcess, wait
from fuzz.campaign import RunningCampaign
from fuzz.comparison_process import ComparisonRequest
from harness.user_folders import made_folder

TICK = 0.2
"""Seconds between two looks at what Atheris has kept: what another campaign adds is seen within a second as well."""

RESTARTS = 20
"""Processes that are started anew after one was lost; who loses more has been seen enough of."""

SAME_CRASH = RESTARTS // 2
"""Restarts after which one more loss that shows nothing new ends the search: what crashes is what is searched."""

LEAST_LEFT = 1.0
"""Seconds below which Atheris is not started again: it takes about that long to read the corpus."""

MERGING = 0.5
LEAST_MERGING = 60.0
"""What merging may take: a share of what the campaign took, or so many seconds if that is more."""


def search(running: RunningCampaign) -> None:
    """Let Atheris search, compare what it keeps, and merge the corpus."""
    campaign, report = running.campaign, running.report
    place = made_folder(corpus.folder(campaign.layout, campaign.corpus), "--corpus (or GOLDWIRE_DATA)")
    before = corpus.kept(place)
    # Set before the search, so that the report of an interrupted one says where to look.
    report.corpus = place
    with TemporaryDirectory(prefix="goldwire-fuzz-") as folder:
        atheris = AtherisProcess(Path(folder), campaign.layout, place, campaign.limits, campaign.seed)
        try:
            _search(running, atheris, place)
            report.kept = len(before), len(corpus.names(place)), len(corpus.names(place))
            # Nothing was searched, or the search ended at bugs: there is little to merge, and merging would meet the
            # bugs again.
            if campaign.seconds is not None and not report.full:
                running.progress(report.inputs, report.kept[1], "merging")
                _merge(running, atheris, place)
        finally:
            atheris.end()
            report.inputs, report.accepted, report.differing = atheris.counters
            if not any(report.kept):  # interrupted before the search was over
                report.kept = len(before), len(corpus.names(place)), len(corpus.names(place))


def _search(running: RunningCampaign, atheris: AtherisProcess, place: Path) -> None:
    campaign, report = running.campaign, running.report
    pending = _PendingInputs(campaign.layout, place, campaign.limits.longest)
    begun = 0.0
    atheris.fuzz(campaign.seconds)
    while not report.full:
        # Asked before what it has left is read: a process that ends in between has left it all.
        alive = atheris.running
        for data in atheris.take_differences():
            running.compare(ComparisonRequest("atheris", atheris.counters[0], data, suspect=True))
        # Until Atheris has read its corpus, the core is its own.
        until, idle = time.monotonic() + TICK, not atheris.loaded
        while not (idle or report.full) and time.monotonic() < until:
            if (new := pending.next_kept()) is not None:
                running.compare(ComparisonRequest("corpus", atheris.counters[0], new))
                report.referred += 1
            elif (golden := pending.next_golden()) is not None and alive:
                running.compare(ComparisonRequest("vectors", report.golden, golden))
                report.golden += 1
            else:
                idle = True
        inputs = atheris.counters[0]
        if atheris.loaded and not begun:
            begun = running.elapsed
        running.progress(inputs, len(pending.done))
        if not alive and not _restart(running, atheris):
            break
        if idle:
            wait(atheris, TICK)
    # Before its last words are read: it has then written them.
    atheris.end()
    report.branches, report.features = atheris.reached
    report.searched = running.elapsed - begun if begun and campaign.seconds is not None else 0.0
    # What was kept last: everything in the corpus has been compared with the reference when a campaign ends.
    while not report.full and (new := pending.next_kept()) is not None:
        running.compare(ComparisonRequest("corpus", atheris.counters[0], new))
        report.referred += 1


class _PendingInputs:
    """What is kept and was not compared yet, and the golden frames for when there is nothing new."""

    def __init__(self, layout: str, place: Path, longest: int) -> None:
        self.place = place
        self.done: set[str] = set()
        self.waiting: list[str] = []
        # A golden frame of 65,536 bytes takes the reference engine seconds; goldwire codec check has the time.
        self._golden = [data for data in corpus.seeds(layout)[::-1] if len(data) <= longest]

    def next_kept(self) -> bytes | None:
        """Return an input that was kept, ``None`` if there is no further one."""
        if not self.waiting:
            # The folder is listed again only when all that was seen has been compared: it has thousands of files.
            self.waiting = [name for name in corpus.names(self.place) if name not in self.done]
        while self.waiting:
            name = self.waiting.pop()
            self.done.add(name)
            with suppress(FileNotFoundError):  # libFuzzer has found something smaller
                return (self.place / name).read_bytes()
        return None

    def next_golden(self) -> bytes | None:
        """Return a golden frame, ``None`` if there is no further one."""
        return self._golden.pop() if self._golden else None


def _restart(running: RunningCampaign, atheris: AtherisProcess) -> bool:
    """Keep what ended the process, and start it again unless it ended by itself; tell whether it was started."""
    artifact: Artifact | None = atheris.take_artifact()
    if artifact is None:
        return False
    report, seconds = running.report, running.campaign.seconds
    new = running.process_lost(artifact.kind, artifact.data, "atheris", atheris.counters[0])
    report.restarts += 1
    left = running.deadline - time.monotonic()
    if report.full or report.restarts > RESTARTS or (seconds is not None and left < LEAST_LEFT):
        return False
    if not new and report.restarts > SAME_CRASH:
        report.notes.append("the same crash again and again: the search was given up before its time")
        return False
    atheris.seed += 1  # else libFuzzer makes the very input that ended it
    atheris.fuzz(None if seconds is None else left)
    return True


def _merge(running: RunningCampaign, atheris: AtherisProcess, place: Path) -> None:
    """Keep of the corpus only what is needed to reach all that it reaches beside the golden vectors."""
    report = running.report
    before = corpus.kept(place)
    # Merging reads every input in a process of its own, so a slow layout may need longer than the search was given.
    inputs = atheris.merged(max(LEAST_MERGING, MERGING * (running.campaign.seconds or 0.0)))
    if inputs is None:
        report.notes.append("the corpus was not merged, and stays as it is")
        return
    # They are read at each start anyway; kept in the corpus as well, they would be there twice.
    golden = set(corpus.seeds(running.campaign.layout))
    corpus.replace(place, before, [data for data in inputs if data not in golden])
    report.kept = report.kept[0], len(before), len(corpus.kept(place))
