"""Campaigns over the network as a user has them: what they leave behind, how they go on, and how they end."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from investigated import described_router

from fuzz.findings import FINDING, README
from fuzz.net import campaign_subject
from fuzz.net.campaign import BESIDE_FINDINGS, earlier_workers, findings_in, usual_workers
from fuzz.net.finding import LOG, REGRESSION, TRACE, VECTOR, read_finding
from fuzz.net.fuzzed_node import UnwellNode
from fuzz.net.kept_tests import FOLDER as KEPT
from fuzz.net.kept_tests import SEEDS, KeptLine, KeptTests
from fuzz.net.moves import Listens, NetworkTest, Opens, Says
from fuzz.net.suspects import FOLDER as SUSPECTS
from fuzz.net.suspects import UNCONFIRMED, Suspects
from fuzz.net.worker import WORKERS, FuzzProgress
from harness.captures.recordings import Recording
from wire.zenoh.values import Extension, Interest, Mode, Options, Push, WireExpr
from wire.zenoh.values_transport import Close, write_batch, write_network

pytestmark = pytest.mark.slow(seconds=10)  # each: campaigns, with what they confirm

PATIENCE = 120.0
"""Seconds until something has to be, on a machine that has much else to do."""

DIES, SHOWS = "dies-of-a-large-extension", Push(WireExpr("a"), b"x", (Extension(9, bytes(256)),))
ELSE, SHOWS_ELSE = (
    "dies-of-a-trailing-separator",
    Interest(1, Mode.CURRENT, Options.T | Options.R | Options.N, WireExpr("a/")),
)


def saying(message: Any) -> NetworkTest:
    """A test that says a message, among moves that have nothing to do with what it shows."""
    harmless = write_network(Push(WireExpr("b"), b"y"))
    return (Opens("b"), Opens("a"), Says("b", (harmless,)), Says("a", (harmless, write_network(message))), Listens("a"))


def begun(out: Path, *tests: NetworkTest) -> Path:
    """A campaign's folder that begins with some tests, and none else."""
    (out / KEPT).mkdir(parents=True)
    (out / KEPT / f"{SEEDS}.ndjson").touch()
    KeptTests(out, SEEDS).add(map(KeptLine, tests))
    return out


def command(out: Path, *more: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "goldwire", "fuzz", "net", "zenoh", "--out", *map(str, (out, *more))]


class Ended(msgspec.Struct):
    """What became of a command."""

    status: int
    out: str
    err: str


def run(*words: str) -> Ended:
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def fuzz(out: Path, *more: str | Path) -> Ended:
    return run(*command(out, *more))


def merge(*words: str | Path) -> Ended:
    return run(sys.executable, "-P", "-m", "goldwire", "fuzz", "merge", *map(str, words))


def eventually(holds: Callable[[], Any], what: str) -> Any:
    """Wait until something holds, and return what it is."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.002)  # a pause, so that what is waited for has the processor
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """The folder of a campaign that has found one defect, and what it said."""
    out = begun(tmp_path_factory.mktemp("found") / "out", saying(SHOWS))
    return out, fuzz(out, "--defect", DIES, "--for", "2s", "--workers", "2", "--seed", "7")


@pytest.fixture
def copy(found: tuple[Path, Ended], tmp_path: Path) -> Path:
    """A copy of that folder, to go on with."""
    return shutil.copytree(found[0], tmp_path / "copy")


def progress(out: Path) -> list[FuzzProgress]:
    """How far each worker came that has ever worked there."""
    return list(earlier_workers(out))


# --- what is found --------------------------------------------------------------------------------------------


def test_what_is_found_is_told(found: tuple[Path, Ended]) -> None:
    out, done = found
    assert done.status == 1, done.err
    (path,) = findings_in(out)
    sentence, read, again, total, *rest = done.out.splitlines()
    assert sentence.startswith("the implementation crashes: ValueError in on_message (router.py:")
    assert read.split() == ["read:", str(path.parent / README)]
    assert again.split() == ["try", "again:", "goldwire", "replay", str(path.parent)]
    assert re.match(r"FOUND 1 zenoh router peer: ?\S*: [1-9][\d,]* tests, ", total), total
    assert "2 workers, seed 7" in total
    assert re.search(r" moves; last new after \d+ s: .*; in " + re.escape(str(out)), rest[0]), rest
    assert re.match(r"after \d+ s: the implementation crashes", done.err)


def test_a_finding_is_whole(found: tuple[Path, Ended]) -> None:
    (path,) = findings_in(found[0])
    folder = path.parent
    assert {each.name for each in folder.iterdir()} == {FINDING, README, TRACE, LOG, REGRESSION, VECTOR}
    finding = read_finding(folder)
    assert folder.name == f"zenoh-router-crash-{finding.signature}" == finding.name
    assert (finding.origin.seed, finding.options, finding.transport) == (7, ("--defect", DIES), "tcp")
    assert finding.symptom.about == ("PUSH PUT",)
    assert finding.goldwire
    said = [move for move in finding.test if isinstance(move, Says)]
    assert len(finding.test) <= 3, "it is made small"
    assert any(bytes(256) in data for data in said[-1].data)
    assert "ValueError" in (folder / LOG).read_text()
    assert f"goldwire replay {folder}" in (folder / README).read_text()
    vector = json.loads((folder / VECTOR).read_text())
    assert vector["layout"] == "zenoh/network-message"
    assert [each["data"] for each in vector["messages"]] == [data.hex() for move in said for data in move.data]
    # Written by one of our own, and read by nobody else: as Wireshark would.
    sent = [entry.data for session in Recording(folder / TRACE, "zenoh") for entry in session.trace]
    assert any(bytes(256) in data for data in sent)


def test_its_regression_fails_on_whom_it_was_found_in_and_passes_on_a_healthy_one(
    found: tuple[Path, Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = findings_in(found[0])
    source = (path.parent / REGRESSION).read_text()
    ast.parse(source)
    names: dict[str, Any] = {}
    exec(compile(source, REGRESSION, "exec"), names)
    (regression,) = (each for name, each in names.items() if name.startswith("test_"))
    with pytest.raises(UnwellNode, match="ValueError in on_message"):
        regression()
    monkeypatch.setenv("GOLDWIRE_IUT", "peer:router")
    regression()


def test_nothing_is_left_to_be_looked_into(found: tuple[Path, Ended]) -> None:
    out, _ = found
    assert not list((out / SUSPECTS).iterdir())
    assert not (out / UNCONFIRMED).exists()
    beside = {KEPT, WORKERS, SUSPECTS, campaign_subject.FILE}
    assert {each.name for each in out.iterdir()} == beside | {findings_in(out)[0].parent.name}
    assert len(progress(out)) == 2
    assert sum(each.found for each in progress(out)) == 1


# --- going on -------------------------------------------------------------------------------------------------


def test_who_goes_on_tells_nothing_twice_and_takes_up_what_is_kept(copy: Path) -> None:
    (path,) = findings_in(copy)
    before = path.read_bytes()
    kept = [line for file in (copy / KEPT).glob("*.ndjson") for line in file.read_bytes().splitlines()]
    features = {each for line in kept for each in msgspec.json.decode(line, type=KeptLine).features}
    done = fuzz(copy, "--defect", DIES, "--for", "3s", "--workers", "1", "--seed", "8")
    assert done.status == 0, done.out + done.err
    assert "(known)" in done.out.splitlines()[0]
    assert "NOTHING NEW FOUND zenoh router" in done.out
    assert re.search(r"before: [\d,]+ tests by 2 workers .*, seeds 7$", done.out, re.MULTILINE)
    assert findings_in(copy)[0].read_bytes() == before
    assert len(findings_in(copy)) == 1
    (mine,) = (each for each in progress(copy) if each.seed == 8)
    assert mine.features >= len(features)
    assert mine.tests > 0


def test_what_is_expected_is_not_told(tmp_path: Path, found: tuple[Path, Ended]) -> None:
    signature = read_finding(findings_in(found[0])[0].parent).signature
    expected = tmp_path / "expected.toml"
    expected.write_text(f'[[finding]]\nkind = "crash"\nsignature = "{signature}"\nreason = "it is planted"\n')
    out = begun(tmp_path / "out", saying(SHOWS))
    done = fuzz(out, "--defect", DIES, "--for", "2s", "--workers", "1", "--expect", expected)
    assert done.status == 0, done.out + done.err
    assert re.search(r"expected ones [1-9]", done.out)
    assert findings_in(out) == []


def test_what_does_not_say_where_is_expected_by_what_it_is_about(tmp_path: Path) -> None:
    """A regression: the signature of harm, and of hangs, is known when the test is small, and was not asked again."""
    closing = (Opens("a"), Says("a", (write_batch([Close(255, True)]),), "frame"))
    options = ("--defect", "ends-all-sessions", "--for", "2s", "--workers", "1")
    before = begun(tmp_path / "before", closing)
    assert fuzz(before, *options).status == 1
    entries = [read_finding(each.parent) for each in findings_in(before)]
    assert {each.symptom.place for each in entries} == {""}
    expected = tmp_path / "expected.toml"
    expected.write_text(
        "".join(
            f'[[finding]]\nkind = "{each.symptom.kind}"\nsignature = "{each.signature}"\nreason = "it is planted"\n'
            for each in entries
        )
    )
    out = begun(tmp_path / "out", closing)
    done = fuzz(out, *options, "--expect", expected)
    known = {each.signature for each in entries}
    assert not known & {read_finding(each.parent).signature for each in findings_in(out)}
    assert re.search(r"expected ones [1-9]", done.out), done.out


def test_folders_are_put_together_each_finding_once(copy: Path, tmp_path: Path) -> None:
    other = begun(tmp_path / "other", saying(SHOWS_ELSE))
    assert fuzz(other, "--defect", ELSE, "--for", "2s", "--workers", "1").status == 1
    folders = [copy, other, copy]
    (copy / SUSPECTS / "crash-1.json").write_text("{}")
    out = tmp_path / "merged"
    done = merge(*folders, "--out", out)
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1].startswith(f"2 FINDINGS in {out}: ")
    assert "by 3 workers" in done.out
    assert [each.parent.name for each in findings_in(out)] == sorted(
        path.parent.name for folder in (copy, other) for path in findings_in(folder)
    )
    for part in BESIDE_FINDINGS:
        names = {path.name for folder in (copy, other) for path in (folder / part).glob("*")}
        assert {path.name for path in (out / part).glob("*")} == names
    again = merge(copy, "--out", out)
    assert again.out.count("(known)") == 2
    # Both began with tests that nobody had played: the first one's file is there, and so is what all have kept.
    done = fuzz(out, "--for", "1s", "--workers", "1")
    assert done.status == 0, done.out + done.err
    assert "NOTHING NEW FOUND" in done.out


def test_who_cannot_be_started_any_more_is_a_finding_and_not_the_end_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: the campaign ended with status 3 and no word of what it had found."""
    monkeypatch.chdir(tmp_path)
    iut = described_router(tmp_path, "[ -e begun ] && exit 1; touch begun", "--defect", DIES)
    tests = [saying(Push(WireExpr(f"a/{number}"), b"x")) for number in range(5)]
    out = begun(tmp_path / "out", saying(SHOWS), *tests)
    done = fuzz(out, "--iut", iut, "--for", "3s", "--workers", "1")
    assert done.status == 1, done.out + done.err
    assert "the implementation crashes: ValueError in on_message" in done.out, "it does not start, but that is not all"
    assert "could not go on: " in done.out
    found = [read_finding(each.parent) for each in findings_in(out)]
    # On a busy machine it is silent for a moment before it is dead: that it does not start is told as well then.
    assert all("it does not start any more" in each.symptom.what for each in found if each.symptom.kind != "crash")
    (crash,) = (each for each in found if each.symptom.kind == "crash")
    said = {data for move in crash.test if isinstance(move, Says) for data in move.data}
    assert write_network(SHOWS) in said, "what it died of is not cut away"


# --- the end --------------------------------------------------------------------------------------------------

MARK = "GOLDWIRE_TESTED_CAMPAIGN"
"""In the environment of a campaign, and of all that it starts."""


def living(mark: str, what: str = "") -> list[int]:
    """Return the numbers of the processes of a campaign that are still there, of some command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                words = (process / "cmdline").read_bytes().decode(errors="replace")
                found += [int(process.name)] if what in words else []
    return found


@contextmanager
def running(out: Path, *more: str) -> "Iterator[subprocess.Popen[str]]":
    """Run a campaign that would go on for long; what is left of it in the end is killed."""
    process = subprocess.Popen(
        command(out, "--for", "600s", "--workers", "2", *more),
        env={**os.environ, MARK: str(out)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for pid in living(str(out)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate()


def workers_of(out: Path) -> list[int]:
    return living(str(out), "fuzz.net.worker_process")


def all_are_gone(out: Path) -> None:
    eventually(lambda: not living(str(out)), "processes are left running")


def one_has_played(out: Path) -> bool:
    return any(each.tests for each in progress(out))


def test_ctrl_c_ends_a_campaign_with_its_report(tmp_path: Path) -> None:
    out = begun(tmp_path / "out", saying(SHOWS))
    with running(out, "--defect", DIES) as process:
        eventually(lambda: findings_in(out), "it finds what it begins with")
        assert len(workers_of(out)) == 2
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1, complaints
        all_are_gone(out)
    assert "FOUND 1 zenoh router peer:" in said
    assert "; interrupted" in said
    assert "Traceback" not in complaints


def test_ctrl_c_before_anything_is_found(tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    with running(out) as process:
        eventually(lambda: one_has_played(out), "it plays tests")
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, complaints
        all_are_gone(out)
    assert said.startswith("NOTHING FOUND zenoh router peer:")
    assert "; interrupted" in said


MOMENTS: dict[str, Callable[[Path], Any]] = {
    "begins": lambda out: len(workers_of(out)) == 2,
    "plays": one_has_played,
    "suspects": lambda out: Suspects(out).left(),
    "writes": lambda out: list(out.glob("zenoh-router-*")),
}
"""Until when a campaign is let alone."""


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("victim", ["campaign", "worker"])
def test_whatever_is_killed_nothing_is_lost_and_nothing_is_left_running(
    victim: str, moment: str, tmp_path: Path
) -> None:
    out = begun(tmp_path / "out", saying(SHOWS))
    with running(out, "--defect", DIES) as process:
        eventually(lambda: MOMENTS[moment](out), moment)
        if victim == "campaign":
            process.kill()
        else:
            # All of them: whoever is left would find it, and what shows then is not what was kept.
            for pid in workers_of(out):
                os.kill(pid, signal.SIGKILL)
        said, complaints = process.communicate(timeout=PATIENCE)
        all_are_gone(out)
    if victim == "worker":
        assert process.returncode == 1, said + complaints
        assert said.count("was killed by signal 9") == 2
        assert "Traceback" not in complaints
    suspected = Suspects(out).left()
    assert moment not in ("suspects", "writes") or suspected or findings_in(out)
    if suspected or findings_in(out):
        # What is found now comes of the suspect: nobody knows the test that has shown it.
        shutil.rmtree(out / KEPT)
        begun(out)
    done = fuzz(out, "--defect", DIES, "--for", "1s", "--workers", "1", "--seed", "5")
    assert len(findings_in(out)) == 1, done
    path = findings_in(out)[0]
    assert read_finding(path.parent).symptom.place.startswith("ValueError in on_message (router.py:")
    assert {each.name for each in path.parent.iterdir()} >= {README, TRACE, LOG, REGRESSION, VECTOR}
    assert not Suspects(out).left()
    assert ("FOUND 1" in done.out) is (done.status == 1)
    assert ("NOTHING NEW FOUND" in done.out) is (done.status == 0)


@pytest.mark.parametrize(("cores", "workers"), [(None, 3), (2, 6), (200, 256)])
def test_there_are_workers_for_all_cores(cores: int | None, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert usual_workers() == workers
