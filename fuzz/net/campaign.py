"""A network campaign: workers side by side, each a process with an instance of its own, and what they come to together.

A campaign's folder is all that it is: findings, kept tests, suspects, and how far each worker came. Who goes on with
the same folder goes on with the campaign; folders of several are put together by copying (``merged``).
"""

import contextlib
import os
import queue
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import msgspec

from conformance.catalogue.rules import Profile
from conformance.suite import Suite
from fuzz.findings import FINDING, BadFinding
from fuzz.net import campaign_subject, seeds
from fuzz.net.campaign_subject import CampaignSubject, begin_folder, subject_of
from fuzz.net.expected_findings import ExpectedFindings
from fuzz.net.finding import NetworkFinding, read_finding
from fuzz.net.kept_tests import FOLDER as KEPT
from fuzz.net.kept_tests import SEEDS, KeptLine, KeptTests
from fuzz.net.moves import NetworkTest
from fuzz.net.suspects import FOLDER as SUSPECTS
from fuzz.net.suspects import UNCONFIRMED, Suspects
from fuzz.net.targets import FuzzTarget
from fuzz.net.worker import WORKERS, FuzzJob, FuzzProgress
from fuzz.net.worker_process import NOT_STARTED, WorkerFailed, WorkerLine, WorkerProgress
from harness.errors import StartFailed
from harness.iuts.process import guarded
from harness.protocol import load as load_protocol

ENDING = 15.0
"""Seconds that a worker has to end in once it is told to, before it is killed: it ends its implementation first."""

PER_CORE, MOST_WORKERS = 3, 256
"""Workers for each core, where nobody says how many: each waits much of its time, for who starts, for who hangs, for
answers that do not come. With more of them hardly more tests are played (docs/proving-ground.md)."""

LOOK = 1.0
"""Seconds after which it is looked for new findings."""


class NetworkCampaign(msgspec.Struct, frozen=True, kw_only=True):
    """What is fuzzed, and how; the fields as in ``FuzzJob``. ``traces`` are recordings to begin with.

    ``implementation`` is what ``iut`` is called, whatever version it is of; nothing where only its address is known.
    """

    protocol: str
    iut: str
    role: str
    implementation: str = ""
    seconds: float
    seed: int
    workers: int
    out: Path
    transport: str = ""
    profile: Profile = "document"
    feedback: bool = True
    coverage: bool = False
    options: tuple[str, ...] = ()
    expected: ExpectedFindings = ExpectedFindings()
    expect: str = ""
    traces: tuple[Path, ...] = ()

    @property
    def subject(self) -> CampaignSubject:
        """What it is about."""
        return CampaignSubject(self.protocol, self.role, self.implementation)


class FoundFolder(msgspec.Struct, frozen=True):
    """A finding, its folder, and whether this campaign has found it."""

    folder: Path
    finding: NetworkFinding
    new: bool


class NetworkReport(msgspec.Struct):
    """What came of a campaign so far; ``workers`` are those of this run, ``before`` those of earlier ones.

    ``lost`` are those that have died, with their exit statuses, ``failed`` those whose implementation did not come up,
    and why; ``suspects`` so many that nobody has looked into yet.
    """

    campaign: NetworkCampaign
    seconds: float = 0.0
    workers: dict[str, FuzzProgress] = {}
    lost: dict[str, int] = {}
    failed: dict[str, str] = {}
    suspects: int = 0
    before: tuple[FuzzProgress, ...] = ()
    findings: tuple[FoundFolder, ...] = ()
    interrupted: bool = False

    @property
    def version(self) -> str:
        """What the implementation is, as far as it is known."""
        return next((each.version for each in self.workers.values() if each.version), "")

    def total(self, name: str) -> int:
        """Return the sum of a number over the workers of this run."""
        return sum(int(getattr(each, name)) for each in self.workers.values())

    @property
    def rate(self) -> float:
        """Tests per second, of all workers together."""
        return self.total("tests") / self.seconds if self.seconds else 0.0

    @property
    def features(self) -> int:
        """How many different things were come to: workers tell each other, so each knows nearly all."""
        return max((each.features for each in self.workers.values()), default=0)

    @property
    def places(self) -> int:
        """How many places of the implementation's code were come to, as far as it tells."""
        return max((each.places for each in self.workers.values()), default=0)

    @property
    def latest(self) -> tuple[float, str]:
        """When something new was come to last, in seconds of this run, and what."""
        return max(((each.new_at, each.new) for each in self.workers.values()), default=(0.0, ""))


BESIDE_FINDINGS = (KEPT, WORKERS, SUSPECTS, UNCONFIRMED)
"""What else stands in a folder of findings, by name: what a campaign needs to go on."""

OnNetworkProgress = Callable[[NetworkReport], None]


def usual_workers() -> int:
    """Return how many workers a campaign has where nobody says how many."""
    return min(MOST_WORKERS, PER_CORE * (os.cpu_count() or 1))


def run(
    campaign: NetworkCampaign, target: FuzzTarget, on_progress: OnNetworkProgress = lambda report: None
) -> NetworkReport:
    """Run a campaign; ``on_progress`` is called about once a second.

    Ctrl-C ends it early, with the report of what there is. ``StartFailed`` when nothing could be tried,
    ``OtherCampaign`` where the folder is that of another one.
    """
    is_new = begin_folder(campaign.out, campaign.subject)
    before = findings_in(campaign.out)
    report = NetworkReport(campaign, before=earlier_workers(campaign.out))
    names = {each.parent.name for each in before}
    report.findings = _found(before, names)
    began = time.monotonic()
    try:
        _begin(campaign, target)
        with _running(_jobs(campaign, began)) as lines:
            for name, line in lines:
                match line:
                    case WorkerFailed(why):
                        report.failed[name] = why
                    case WorkerProgress(progress):
                        report.workers[name] = progress
                    case WorkerDied(status):
                        report.lost[name] = status
                report.seconds = time.monotonic() - began
                report.findings = _found(findings_in(campaign.out), names)
                on_progress(report)
    except KeyboardInterrupt:
        report.interrupted = True
    report.seconds = time.monotonic() - began
    report.findings = _found(findings_in(campaign.out), names)
    report.suspects = len(Suspects(campaign.out).left())
    # What a worker said last may have been cut off with it: its file has it.
    for name in report.workers:
        report.workers[name] = _progress(campaign.out / WORKERS / f"{name}.json") or report.workers[name]
    # Where something was tried, one that does not come up any more is a loss, or what was found.
    if report.failed and not report.total("tests") and not any(each.new for each in report.findings):
        if is_new:
            # It may have been the wrong one.
            for path in (campaign.out / campaign_subject.FILE, campaign.out / KEPT / f"{SEEDS}.ndjson"):
                path.unlink(missing_ok=True)
        raise StartFailed(next(iter(report.failed.values())))
    return report


def _begin(campaign: NetworkCampaign, target: FuzzTarget) -> None:
    """Write the tests that a folder begins with, unless it has begun."""
    if not campaign.feedback:
        return
    random = Random(campaign.seed)
    tests: list[NetworkTest] = []
    if not (campaign.out / KEPT / f"{SEEDS}.ndjson").exists():
        tests += seeds.from_vectors(target, random)
        tests += seeds.from_cases(Suite(campaign.protocol), campaign.role, target)
        random.shuffle(tests)
    for path in campaign.traces:
        tests += seeds.from_capture(path, campaign.protocol, target)
    if tests:
        KeptTests(campaign.out, SEEDS).add(map(KeptLine, tests))


def _jobs(campaign: NetworkCampaign, began: float) -> list[FuzzJob]:
    left = [str(path) for path in Suspects(campaign.out).left()]
    mark = secrets.token_hex(3)
    return [
        FuzzJob(
            protocol=campaign.protocol,
            iut=campaign.iut,
            role=campaign.role,
            seconds=max(1.0, campaign.seconds - (time.monotonic() - began)),
            seed=campaign.seed,
            out=str(campaign.out),
            name=f"{campaign.seed}-{number}-{mark}",
            number=number,
            workers=campaign.workers,
            transport=campaign.transport,
            profile=campaign.profile,
            feedback=campaign.feedback,
            coverage=campaign.coverage,
            options=campaign.options,
            expected=campaign.expected,
            expect=campaign.expect,
            suspects=tuple(left[number :: campaign.workers]),
        )
        for number in range(campaign.workers)
    ]


# --- processes ------------------------------------------------------------------------------------------------------


class WorkerDied(msgspec.Struct, frozen=True):
    """A worker has ended by itself, as none should: with a status, minus the signal's number after a signal."""

    status: int


SaidByWorker = tuple[str, WorkerLine | WorkerDied | None]
"""A worker's name, and what it says, or what is to be said of it; ``None`` where nobody says anything."""


@contextlib.contextmanager
def _running(jobs: Sequence[FuzzJob]) -> "Iterator[Iterator[SaidByWorker]]":
    """Run workers; give what they say, and ``None`` about once a second. They have ended when the context ends."""
    said: queue.Queue[SaidByWorker] = queue.Queue()
    processes: list[subprocess.Popen[bytes]] = []
    readers: list[threading.Thread] = []
    try:
        for job in jobs:
            process = subprocess.Popen(
                # Whoever kills the campaign ends its workers, and with them the implementations.
                guarded([sys.executable, "-m", "fuzz.net.worker_process"]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            processes.append(process)
            assert process.stdin is not None
            # Who is killed before it has read that has died as well as who is later.
            with contextlib.suppress(BrokenPipeError), process.stdin as its_input:
                its_input.write(msgspec.json.encode(job) + b"\n")
            readers.append(threading.Thread(target=_read, args=[process, job.name, said], daemon=True))
            readers[-1].start()
        yield _told(said, readers)
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
        end = time.monotonic() + ENDING
        for process in processes:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # All that was said is read then.
        for process, reader in zip(processes, readers, strict=False):
            reader.join(max(0.1, end - time.monotonic()))
            if process.stdout is not None and not reader.is_alive():
                process.stdout.close()


def _read(process: "subprocess.Popen[bytes]", name: str, said: "queue.Queue[SaidByWorker]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        with contextlib.suppress(msgspec.DecodeError):
            said.put((name, msgspec.json.decode(line, type=WorkerLine)))
    if (status := process.wait()) not in (0, NOT_STARTED):
        said.put((name, WorkerDied(status)))


def _told(said: "queue.Queue[SaidByWorker]", readers: Sequence[threading.Thread]) -> "Iterator[SaidByWorker]":
    while True:
        try:
            yield said.get(timeout=LOOK)
        except queue.Empty:
            if not any(reader.is_alive() for reader in readers):
                return
            yield "", None


# --- folders --------------------------------------------------------------------------------------------------------


def findings_in(out: Path) -> list[Path]:
    """Return the files of the findings in a folder, in the order of their names."""
    return sorted(out.glob(f"*/{FINDING}"))


def _found(paths: Sequence[Path], before: "set[str]") -> tuple[FoundFolder, ...]:
    found = []
    for path in paths:
        with contextlib.suppress(BadFinding):
            found.append(FoundFolder(path.parent, read_finding(path.parent), path.parent.name not in before))
    return tuple(found)


def _whole_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder but for drafts, which those leave who are killed while writing one."""
    return (path for path in folder.glob("*") if not path.name.startswith("."))


def earlier_workers(out: Path) -> tuple[FuzzProgress, ...]:
    """Return how far all workers came that have ever worked on a folder."""
    each = (_progress(path) for path in sorted(_whole_files(out / WORKERS)) if path.suffix == ".json")
    return tuple(progress for progress in each if progress is not None)


def _progress(path: Path) -> FuzzProgress | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=FuzzProgress)
    except (OSError, msgspec.DecodeError):
        return None


def merged(folders: Sequence[Path], out: Path) -> tuple[tuple[FoundFolder, ...], tuple[FuzzProgress, ...]]:
    """Put the folders of several campaigns together; return all findings and workers, each once.

    Nothing that is in ``out`` already is changed: two findings of one name are the same one. ``OtherCampaign`` where
    they are about different protocols, roles or implementations, before anything is written.
    """
    about = [(subject, folder) for folder in folders if (subject := subject_of(folder)) is not None]
    # One that is about an address says less.
    about.sort(key=lambda each: not each[0].implementation)
    for subject, _ in about[1:]:
        about[0][0].check(subject, about[0][1])
    out.mkdir(parents=True, exist_ok=True)
    if about:
        begin_folder(out, about[0][0])
    before = {path.parent.name for path in findings_in(out)}
    for folder in folders:
        for path in findings_in(folder):
            if not (out / path.parent.name / FINDING).exists():
                shutil.copytree(path.parent, out / path.parent.name, dirs_exist_ok=True)
        for part in BESIDE_FINDINGS:
            for path in _whole_files(folder / part):
                (out / part).mkdir(exist_ok=True)
                if not (out / part / path.name).exists():
                    shutil.copy2(path, out / part / path.name)
    return _found(findings_in(out), before), earlier_workers(out)


def roles_of(protocol: str) -> list[str]:
    """Return the roles of a protocol, the usual one first."""
    return list(load_protocol(protocol).roles)
