"""A worker of a network campaign: one implementation on trial, tests without end, and what they bring to light."""

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec

from conformance.catalogue.rules import Profile
from conformance.suite import Suite
from fuzz.net.confirming import LAST
from fuzz.net.coverage import CoverageMap
from fuzz.net.drawing import TestDrawer
from fuzz.net.expected_findings import ExpectedFindings
from fuzz.net.explaining import without
from fuzz.net.feedback import PayingWay, TestPool
from fuzz.net.finding import NetworkOrigin, moment
from fuzz.net.growth_search import SHORT_LIVED, SUSPICIONS, TRIALS, growing_test, played_many_times, seconds_for
from fuzz.net.growth_watch import SuspectedGrowth
from fuzz.net.investigation import Investigation
from fuzz.net.kept_tests import KeptLine, KeptTests
from fuzz.net.known_findings import KnownFindings
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import SUSPICION, NodeOnTrial
from fuzz.net.symptoms import GROWS, Symptom
from fuzz.net.targets import FuzzTarget
from harness.errors import StartFailed
from harness.iuts.description import PEER, Description, resolve
from harness.iuts.peer_process import as_process
from harness.iuts.versions import with_version
from harness.links.transports import framing_of
from wire.files import write_file

CALMER = 0.99
"""How much of the past counts for how often tests do harm."""

TIRESOME = 10
"""One in how many tests a known finding may be met by, before what it is about is left out."""

NEWS = 5.0
"""Seconds after which it is looked what other workers have come to."""

STARTS = 3
"""How often in a row an implementation may fail to come up, which a busy machine can be the reason of."""

WORKERS = "workers"
"""In the folder of findings: how far each worker came, a file each."""


class FuzzJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is to do: against which implementation, for how long, from which seed, into which folder.

    ``name`` is the worker's among all that ever write into that folder, ``number`` among the ``workers`` of its
    campaign.
    ``options`` are for our own peer's process, which tells what code of it runs only where ``coverage`` is asked for;
    without ``feedback`` all tests are made anew. ``expect`` is the file of what is ``expected``, where the user has
    named one. ``suspects`` are files of workers that were killed.
    """

    protocol: str
    iut: str
    role: str
    seconds: float
    seed: int
    out: str
    name: str = "0"
    number: int = 0
    workers: int = 1
    transport: str = ""
    profile: Profile = "document"
    feedback: bool = True
    coverage: bool = False
    options: tuple[str, ...] = ()
    expected: ExpectedFindings = ExpectedFindings()
    expect: str = ""
    suspects: tuple[str, ...] = ()


class FuzzProgress(msgspec.Struct):
    """How far a worker is."""

    worker: str = ""
    seed: int = 0
    version: str = ""
    seconds: float = 0.0
    tests: int = 0
    moves: int = 0
    kept: int = 0
    features: int = 0
    places: int = 0
    """Of its code, as far as the implementation tells."""
    found: int = 0
    again: int = 0
    unconfirmed: int = 0
    expected: int = 0
    restarts: int = 0
    new_at: float = 0.0
    """When something new was come to last, in seconds of the campaign."""
    new: str = ""
    """What that was."""
    doing: str = ""


OnFuzzProgress = Callable[[FuzzProgress], None]


class NetworkWorker:
    """Plays tests until its time is over; ``on_progress`` is called about once a second."""

    def __init__(self, job: FuzzJob, target: FuzzTarget, on_progress: OnFuzzProgress = lambda progress: None) -> None:
        self.job, self.target = job, target
        self.out = Path(job.out)
        self.suite = Suite(job.protocol)
        self.description, self.transport = on_trial(job, self.suite)
        self.random = Random(f"{job.seed}/{job.number}")
        framings = self.suite.harness.framings
        # At a broker nobody but the broker reads the bytes of a stream.
        is_stream = self.transport in framings and not self.suite.harness.is_brokered
        framing = framing_of(framings, self.transport) if is_stream else None
        self.drawer = TestDrawer(target, self.random, framing)
        self.pool = TestPool(self.random)
        self.progress = FuzzProgress(worker=job.name, seed=job.seed)
        # Others have decided by themselves whether they tell; our own peer is traced, and plays fewer tests for it.
        is_asked = job.coverage or self.description.name != PEER
        self.coverage = CoverageMap() if job.feedback and is_asked else None
        self.known = KnownFindings(self.out, job.protocol, self.description.role)
        self._kept = KeptTests(self.out, job.name)
        self._on_progress = on_progress
        self._last: deque[NetworkTest] = deque(maxlen=LAST)
        self._waiting: list[NetworkTest] = []
        self._anew, self._changed = PayingWay(), PayingWay()
        self._way: PayingWay | None = None
        """In which of them the test was made that is played."""
        self._seeds = 0
        self._usual = 0.0
        """Seconds that a test takes, as the last hundred did."""
        self._trials_took = 0.0
        """Seconds of tests that were played many times without a suspicion."""
        self._suspicions_took = 0.0
        """Seconds of those that were suspected."""
        self._told = self._heard = float("-inf")
        self._began = time.monotonic()

    def run(self) -> FuzzProgress:
        """Fuzz until the time is over; ``StartFailed`` when the implementation does not come up."""
        job = self.job
        self.node = NodeOnTrial(
            self.suite,
            self.description,
            self.target,
            profile=job.profile,
            transport=self.transport,
            coverage=self.coverage,
            expected=job.expected,
        )
        self.progress.version = self.node.instance.version
        self.investigation = Investigation(
            self.node,
            self.known,
            self.out,
            self.random,
            iut=job.iut,
            seconds=job.seconds,
            options=job.options,
            expect=job.expect,
            origin=lambda: NetworkOrigin(job.seed, job.number, self.progress.tests, round(self.elapsed, 1), moment()),
            doing=self._doing,
        )
        try:
            self.node.prove_service()
            suspects = [Path(each) for each in job.suspects]
            self._although_starts_fail(lambda: self.investigation.look_into_files(suspects))
            # One at least, however long it took to begin: a campaign without any would say that nothing was found.
            while self.elapsed < job.seconds or not self.progress.tests:
                self._although_starts_fail(self._one_test)
        finally:
            self.node.stop()
            self._tell(force=True)
            if self.coverage is not None:
                self.coverage.close()
        return self.progress

    @property
    def elapsed(self) -> float:
        """Seconds since the worker began."""
        return time.monotonic() - self._began

    def _although_starts_fail(self, step: Callable[[], None]) -> None:
        """Take a step, again where the implementation did not come up in it; ``StartFailed`` when it never does."""
        for failures in range(1, STARTS + 1):
            try:
                step()
                break
            except StartFailed:
                if failures == STARTS:
                    raise
                threading.Event().wait(failures)

    # --- one test ---------------------------------------------------------------------------------------------

    def _one_test(self) -> None:
        test = self._next()
        self._last.append(test)
        self.node.patience = self.node.hurried(SUSPICION)
        began, known, expected = time.monotonic(), self.node.known_rules, self.node.expected_rules
        played, symptom = self.node.play(test)
        took = time.monotonic() - began
        # Not when it is played again, to look into something.
        self.investigation.counts.again += self.node.known_rules - known
        self.investigation.counts.expected += self.node.expected_rules - expected
        self._usual = CALMER * self._usual + (1 - CALMER) * took if self.progress.tests else took
        self.progress.tests += 1
        self.progress.moves += len(test)
        is_well = symptom is None or symptom.kind == "rule"
        self.drawer.harmful = CALMER * self.drawer.harmful + (1 - CALMER) * (not is_well)
        # Who goes on with what harms would be harmed again and again.
        new = self.pool.take(played.moves, played.features) if played is not None and is_well else []
        if self._way is not None:
            self._way.note(len(new), took)
        if played is not None and new:
            self.progress.new_at, self.progress.new = self.elapsed, played.names.get(new[0], "")
            if self.job.feedback:
                self._kept.add([KeptLine(played.moves, tuple(played.features))])
        if symptom is not None:
            self._look_into(list(self._last), symptom)
        elif (grown := self.node.grown(test)) is not None:
            self._look_into_growth(grown)
        elif self.drawer.harmful > SHORT_LIVED and self._trials_took < TRIALS * self.elapsed:
            self._try_for_growth(test)
        self._tell()

    def _next(self) -> NetworkTest:
        if self.job.feedback:
            self._hear()
        self._way = None
        if self._waiting:
            return self._waiting.pop()
        is_anew = self.random.random() < self._anew.share(self._changed)
        if not self.job.feedback or not self.pool.kept or is_anew:
            self._way, test = self._anew, self.drawer.test()
        else:
            self._way, test = self._changed, self.drawer.changed(self.pool.choose().test, self.pool.any())
        # What is known and met again and again would hide what is not: it is mostly left out.
        for finding in self.known:
            often = TIRESOME * self.known.met[finding.symptom.key] / (1 + self.progress.tests)
            if finding.symptom.about and self.random.random() < min(0.9, often):
                # Any part of it: what is said last may do the same whatever it is.
                about = self.random.choice(finding.symptom.about)
                test = without(self.node, test, {about}) or test
        return test

    def _hear(self) -> None:
        """Take what other workers, and campaigns before this one, have come to."""
        if self.elapsed - self._heard < NEWS:
            return
        self._heard = self.elapsed
        self.known.look()
        for line in self._kept.others():
            if line.features:
                self.pool.take(line.test, line.features)
                continue
            # Of those that nobody has played each worker takes its part.
            self._seeds += 1
            if self._seeds % self.job.workers == self.job.number:
                self._waiting.append(line.test)

    # --- what shows -------------------------------------------------------------------------------------------

    def _look_into(self, last: list[NetworkTest], symptom: Symptom, *, is_new: bool = False) -> None:
        restarts = self.node.restarts
        self.investigation.look_into(last, symptom, is_new=is_new)
        if self.node.restarts != restarts:
            self._last.clear()

    def _look_into_growth(self, grown: SuspectedGrowth) -> None:
        symptom = Symptom("growth", GROWS.format(grown.what))
        # It goes on to grow, and is looked into once there is time for it again.
        if self._suspicions_took > SUSPICIONS * self.elapsed or self.investigation.is_known(symptom):
            return
        unexplained = self.investigation.unexplained(grown.tests, symptom)
        if explained := set(grown.tests).difference(unexplained):
            # Looked at again once it has grown as much with others.
            self.node.growth.forget(grown.what, explained)
            return
        self._doing(f"looking for what lets it take more {grown.what}")
        began = time.monotonic()
        search = growing_test(self.node, grown, self._usual)
        self._suspicions_took += time.monotonic() - began
        if search.test:
            self._look_into([search.test], symptom, is_new=True)
            # Whatever came of it, it is not to be the worst again.
            self.node.growth.forget(grown.what, {search.test})
        elif search.tried:
            # Next time others come first, and until then it is allowed no more.
            self.node.growth.forget(grown.what, set(search.tried))
        else:
            self.node.growth.in_vain(grown.what)

    def _try_for_growth(self, test: NetworkTest) -> None:
        if not self.investigation.unexplained([test], Symptom("growth", GROWS.format("memory"))):
            return
        self._doing("looking for what lets it grow")
        began = time.monotonic()
        shown = played_many_times(self.node, test, began + seconds_for(self._usual))
        self._trials_took += time.monotonic() - began
        if shown is None:
            return
        if shown.symptom.kind != "growth":
            # That comes of playing it again and again.
            self._look_into([test] * LAST, shown.symptom)
        elif not self.investigation.is_known(shown.symptom):
            self._look_into([test], shown.symptom, is_new=True)

    # --- progress ---------------------------------------------------------------------------------------------

    def _doing(self, what: str) -> None:
        self.progress.doing = what
        self._tell(force=True)
        self.progress.doing = ""

    def _tell(self, *, force: bool = False) -> None:
        now = self.elapsed
        if not force and now - self._told < 1.0:
            return
        self._told = now
        progress, counts = self.progress, self.investigation.counts
        progress.seconds = now
        progress.kept, progress.features = len(self.pool.kept), self.pool.features
        progress.places = self.coverage.places if self.coverage is not None else 0
        progress.restarts = self.node.restarts
        progress.found, progress.again = counts.found, counts.again
        progress.unconfirmed = counts.unconfirmed
        progress.expected = counts.expected
        # Each time, so that who is killed is counted as well.
        (self.out / WORKERS).mkdir(parents=True, exist_ok=True)
        write_file(self.out / WORKERS / f"{self.job.name}.json", msgspec.json.encode(progress))
        self._on_progress(progress)


def on_trial(job: FuzzJob, suite: Suite) -> tuple[Description, str]:
    """Return the implementation as it is put on trial, and over which transport."""
    description = with_version(resolve(job.iut, job.protocol))
    transport = job.transport or usual_transport(description)
    return as_process(description, transport, suite.harness.tempo, *job.options), transport


def usual_transport(description: Description) -> str:
    """Return the transport of an implementation over which it is fuzzed where nobody says which: a real one."""
    # In memory nothing can die, hang, or take more than it should.
    return next((each for each in description.transports if each != "memory"), description.transports[0])
