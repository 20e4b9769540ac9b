"""Campaigns against the engines of a layout: what is searched with, what is compared, and what came of it.

::

    atheris     Atheris drives the watched Python engine against the native one, or in JSON against the reference
                (fuzz.target, a process of its own); what it keeps, because it reached something new, is compared here
                with the reference as well
    hypothesis  rounds of Hypothesis, in a process of its own; all engines
    random      frames from the layout's sampler and mutator, in processes (vectors.sweep); all engines

Whatever differs goes to one ``vectors.check.Check``, which makes it small and drops what it has seen before.
"""

import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from fuzz import corpus, findings
from fuzz.driving import Artifact, Limits, Run, installed, wait
from fuzz.examples import rounds
from fuzz.findings import CodecFinding
from fuzz.referee import Lost, Question, Referee
from fuzz.trial import Task, ended, tried
from vectors import check
from vectors.check import MOST, Check
from vectors.check import Finding as Checked
from vectors.sweep import Found, Sweep
from wire.catalogue import layout as find
from wire.engines import Engine, present

ENGINES = ("atheris", "hypothesis", "random")

TICK = 0.2
"""Seconds between two looks at what Atheris has kept."""

RESTARTS = 20
"""Processes that are started anew after one was lost; who loses more has been seen enough of."""

MERGING = 0.5
LEAST_MERGING = 60.0
"""What merging may take: a share of what the campaign took, or so many seconds if that is more."""

SHARE = 0.1
"""Of random frames, how many the slow reference engine sees if two others are compared."""


class Progress(msgspec.Struct, frozen=True):
    """How far a campaign is: inputs per second are those of the last moment."""

    seconds: float
    inputs: int
    rate: float
    kept: int
    found: int
    doing: str = ""


class Written(msgspec.Struct, frozen=True):
    """A finding, its folder, and whether it is new there."""

    folder: Path
    new: bool
    finding: CodecFinding


class Report(msgspec.Struct):
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
    findings: list[Written] = []
    notes: list[str] = []
    full: bool = False
    interrupted: bool = False

    @property
    def rate(self) -> float:
        """Inputs per second of searching."""
        return self.inputs / self.searched if self.searched else 0.0


Tell = Callable[[Progress], None]


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
    limits: Limits = Limits()


def is_text(layout: str) -> bool:
    """Tell whether frames are texts, which no C reads."""
    tree = find(layout)
    return tree.is_json or tree.is_text


class _Work:
    """One campaign that runs."""

    def __init__(self, campaign: Campaign, tell: Tell | None) -> None:
        self.campaign = campaign
        self.engines: list[Engine] = list(present(campaign.layout))
        self.check = Check(campaign.layout, self.engines, seed=campaign.seed, most=campaign.most)
        self.referee = Referee(campaign.layout, campaign.seed, campaign.limits.seconds, campaign.limits.megabytes)
        names = self.check.panel.names
        self.report = Report(campaign.layout, campaign.engine, names, campaign.seed)
        self.tell = tell
        self.begun = time.monotonic()
        self.written = 0
        self.last = (0.0, 0)
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

    def ask(self, question: Question) -> None:
        """Let the referee compare all engines, and keep what it finds."""
        try:
            found = self.referee.asked(question)
        except Lost as lost:
            data = question.data if question.found is None else question.found.data or b""
            self.lost(lost.kind, data, question.source, question.number)
            return
        for each in found:
            self.keep(each)

    def keep(self, found: Checked) -> bool:
        """Keep a finding, and write it; tell whether there was none like it."""
        if self.check.report.full or found.difference.signature in self.check.seen:
            return False
        self.check.seen.add(found.difference.signature)
        self.check.report.findings.append(found)
        self.check.report.full = len(self.check.report.findings) >= self.check.most
        self.write()
        return True

    def write(self) -> None:
        """Write the findings that are new."""
        for found in self.check.report.findings[self.written :]:
            self.written += 1
            origin = findings.Origin(
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
            self.report.findings.append(Written(folder, new, kept.finding))
        self.report.full = self.check.report.full

    def lost(self, kind: str, data: bytes, source: str, number: int = 0) -> bool:
        """Keep an input that ended a process; tell whether there was none like it."""
        said = {"crash": "ends the process", "hang": "does not come to an end", "memory": "takes too much memory"}
        limits = self.campaign.limits
        task = Task(
            self.campaign.layout,
            self.report.engines,
            data,
            fatal=True,
            smaller=True,
            seconds=limits.seconds,
            megabytes=limits.megabytes,
        )
        outcome = tried(task)
        # None ended alone: then it takes all of them, or what was there before it.
        difference = outcome.difference or ended(kind, {", ".join(self.report.engines): said[kind]})
        smallest = outcome.data if outcome.difference is not None else data
        return self.keep(Checked(difference, Found(difference, source, number, (), data), smallest))

    def progress(self, inputs: int, kept: int = 0, doing: str = "") -> None:
        """Tell how far the campaign is."""
        self.report.inputs = inputs
        if self.tell is not None:
            before, then = self.last
            now = self.elapsed
            rate = (inputs - then) / (now - before) if now > before else 0.0
            if now - before > 1.0:
                self.last = now, inputs
            self.tell(Progress(now, inputs, max(rate, 0.0), kept, len(self.report.findings), doing))


def run(campaign: Campaign, tell: Tell | None = None) -> Report:
    """Run a campaign and return what came of it, also when it is interrupted (``KeyboardInterrupt``).

    ``tell`` is told how far it is. Raises ``NotInstalled`` if Atheris is wanted and not there, ``Broken`` if it does
    not run, and ``UnknownLayout``.
    """
    if campaign.engine == "atheris":
        installed()
    work = _Work(campaign, tell)
    try:
        {"atheris": _atheris, "hypothesis": _hypothesis, "random": _random}[campaign.engine](work)
    except KeyboardInterrupt:
        work.report.interrupted = True
    finally:
        work.referee.end()
    work.report.differing = max(work.report.differing, work.check.report.differing)
    work.report.seconds = work.elapsed
    return work.report


def _random(work: _Work) -> None:
    """Compare frames of the layout's sampler and mutator."""
    campaign = work.campaign
    if campaign.seconds is None:
        return
    share = SHARE if len(work.engines) > 2 else 1.0
    sweep = Sweep(campaign.layout, check.stream, campaign.seed, None, work.deadline, share, campaign.most)

    def told(inputs: int, total: int | None, found: int) -> None:
        work.write()
        work.progress(inputs)

    try:
        work.check.sweep(sweep, campaign.jobs, told)
    finally:
        _counted(work)


def _hypothesis(work: _Work) -> None:
    """Compare what Hypothesis makes of the layout, round after round, each with a seed of its own."""
    campaign, limits = work.campaign, work.campaign.limits
    if campaign.seconds is None:
        return
    with closing(rounds(campaign.layout, campaign.seed, work.deadline, limits.seconds, limits.megabytes)) as going:
        try:
            for each in going:
                if each.lost:
                    work.lost(each.lost, each.data, "hypothesis", each.number)
                for found in each.found:
                    work.ask(Question("hypothesis", found.number, found=found))
                work.check.report.examples += each.examples
                work.check.report.differing += each.differing
                work.progress(work.check.report.examples)
                if work.report.full:
                    return
        finally:
            _counted(work)


def _counted(work: _Work) -> None:
    report = work.check.report
    work.report.inputs = report.examples + report.frames
    work.report.accepted = report.accepted
    work.report.searched = work.elapsed


def _atheris(work: _Work) -> None:
    """Let Atheris search, compare what it keeps, and merge the corpus."""
    campaign, report = work.campaign, work.report
    place = corpus.folder(campaign.layout, campaign.corpus)
    before = corpus.kept(place)
    report.corpus = place
    with TemporaryDirectory(prefix="goldwire-fuzz-") as folder:
        atheris = Run(Path(folder), campaign.layout, place, campaign.limits, campaign.seed)
        try:
            _searched(work, atheris, place)
            report.kept = len(before), len(corpus.names(place)), len(corpus.names(place))
            if campaign.seconds is not None and not report.full:
                work.progress(report.inputs, report.kept[1], "merging")
                _merged(work, atheris, place)
        finally:
            atheris.end()
            report.inputs, report.accepted, report.differing = atheris.counters
            if not any(report.kept):
                report.kept = len(before), len(corpus.names(place)), len(corpus.names(place))


def _searched(work: _Work, atheris: Run, place: Path) -> None:
    campaign, report = work.campaign, work.report
    arrivals = _Arrivals(campaign.layout, place, campaign.limits.longest)
    begun = 0.0
    atheris.fuzz(campaign.seconds)
    while not report.full:
        alive = atheris.running
        for data in atheris.differing():
            work.ask(Question("atheris", atheris.counters[0], data, suspect=True))
        until, idle = time.monotonic() + TICK, not atheris.loaded
        while not (idle or report.full) and time.monotonic() < until:
            if (new := arrivals.new()) is not None:
                work.ask(Question("corpus", atheris.counters[0], new))
                report.referred += 1
            elif (golden := arrivals.golden()) is not None and alive:
                work.ask(Question("vectors", report.golden, golden))
                report.golden += 1
            else:
                idle = True
        inputs = atheris.counters[0]
        if atheris.loaded and not begun:
            begun = work.elapsed
        work.progress(inputs, len(arrivals.done))
        if not alive and not _gone_on(work, atheris):
            break
        if idle:
            wait(atheris, TICK)
    atheris.end()
    report.branches, report.features = atheris.reached
    report.searched = work.elapsed - begun if begun and campaign.seconds is not None else 0.0
    while not report.full and (new := arrivals.new()) is not None:
        work.ask(Question("corpus", atheris.counters[0], new))
        report.referred += 1


class _Arrivals:
    """What is kept and was not compared yet, and the golden frames for when there is nothing new."""

    def __init__(self, layout: str, place: Path, longest: int) -> None:
        self.place = place
        self.done: set[str] = set()
        self.waiting: list[str] = []
        # A golden frame of 65,536 bytes takes the reference engine seconds; goldwire codec check has the time.
        self._golden = [data for data in corpus.seeds(layout)[::-1] if len(data) <= longest]

    def new(self) -> bytes | None:
        """Return an input that was kept, ``None`` if there is no further one."""
        if not self.waiting:
            self.waiting = [name for name in corpus.names(self.place) if name not in self.done]
        while self.waiting:
            name = self.waiting.pop()
            self.done.add(name)
            with suppress(FileNotFoundError):  # libFuzzer has found something smaller
                return (self.place / name).read_bytes()
        return None

    def golden(self) -> bytes | None:
        """Return a golden frame, ``None`` if there is no further one."""
        return self._golden.pop() if self._golden else None


def _gone_on(work: _Work, atheris: Run) -> bool:
    """Say what ended the process, and start it again if it did not end by itself."""
    artifact: Artifact | None = atheris.ended()
    if artifact is None:
        return False
    new = work.lost(artifact.kind, artifact.data, "atheris", atheris.counters[0])
    work.report.restarts += 1
    left = work.deadline - time.monotonic()
    if work.report.full or work.report.restarts > RESTARTS or (work.campaign.seconds is not None and left < 1):
        return False
    if not new and work.report.restarts > RESTARTS // 2:
        work.report.notes.append("the same crash again and again: the search was given up before its time")
        return False
    atheris.seed += 1
    atheris.fuzz(None if work.campaign.seconds is None else left)
    return True


def _merged(work: _Work, atheris: Run, place: Path) -> None:
    """Keep of the corpus only what is needed to reach all that it reaches beside the golden vectors."""
    report = work.report
    before = corpus.kept(place)
    inputs = atheris.merged(max(LEAST_MERGING, MERGING * (work.campaign.seconds or 0.0)))
    if inputs is None:
        report.notes.append("the corpus was not merged, and stays as it is")
        return
    golden = set(corpus.seeds(work.campaign.layout))
    corpus.replace(place, before, [data for data in inputs if data not in golden])
    report.kept = report.kept[0], len(before), len(corpus.kept(place))
