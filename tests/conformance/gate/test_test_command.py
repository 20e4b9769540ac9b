"""``goldwire test`` as a user runs it: exit statuses, one clear line for each mistake, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from planted_nodes import Gate
from terminals import seen_on_terminal
from watched_runs import processes, wait_for_cases

from conformance.run.journal import Journal, read
from conformance.run.records import CasePlayed, RunEnded
from harness.command import main

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
ONE = "test_current_future_interest_gets_one_final"
MODES = "test_modes and not test_histories"
"""Twenty cases; histories of the same name take twice as long as all of these, and have tests of their own."""
WORKERS = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]  # each begins by loading all that pytest has

JOURNAL = Path("rep/run.ndjson")
FAULTY = """
name = "faulty"
protocol = "zenoh"
roles = ["router"]

[process]
command = [
    "{python}", "-c", "from harness.command import main; main()",
    "peer", "zenoh", "--listen", "{listen}", "--fault", "two-finals",
]
env = { GOLDWIRE_TEST_MARK = "@name@" }
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test stands in a folder with a pytest.ini and a conftest.py that would break any other run."""
    monkeypatch.chdir(tmp_path)
    hostile(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--another-option")


def hostile(folder: Path) -> None:
    """Put into a folder what the user has there."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --not-an-option\n")
    (folder / "conftest.py").write_text("raise RuntimeError('the user has a conftest')\n")
    (folder / "faulty.toml").write_text(FAULTY.replace("@name@", folder.name))


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, Path]]:
    """One process for the tests of what is said, and nodes in memory: starting takes most of a run of one case."""
    folder = tmp_path_factory.mktemp("gate")
    hostile(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "--another-option")
        with Gate("zenoh", folder) as gate:
            yield gate, folder


def goldwire(*arguments: str, protocol: str = "zenoh", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command, environ = [GOLDWIRE, "test", protocol, *arguments], os.environ | environment
    return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120, check=False)


def last_line(out: str) -> str:
    return out.rstrip().splitlines()[-1]


@pytest.mark.takes(2)
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow(seconds=4))])
def test_the_reference_peer_is_as_expected(workers: tuple[str, ...]) -> None:
    done = goldwire("--report", "rep", "-k", MODES, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("zenoh: peer ")
    assert last_line(done.stdout).startswith("AS EXPECTED: ")
    summary = json.loads(Path("rep/summary.json").read_text())
    assert set(summary["rules"]["ZI-011"]) >= {"outcome", "verdict", "cases", "reading", "evidence"}
    assert summary["rules"]["ZI-011"]["verdict"] == "PASS"
    assert summary["rules"]["ZI-011"]["evidence"] > 0
    assert list(Path("rep/traces").iterdir()) == []


def test_a_run_leaves_nothing_behind() -> None:
    before = set(os.listdir())
    done = goldwire("-k", "test_any_text_that_is_almost_a_filter", protocol="pathfinder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(os.listdir()) == before


def test_a_fault_is_found_and_may_be_expected(gate: tuple[Gate, Path]) -> None:
    run, folder = gate
    told = run.run("two-finals", f"goldwire test zenoh --iut faulty.toml -k {ONE} --report found")
    assert told.status == 1, told.out
    # Told at once as well, in a line for each rule.
    assert [line.split("  ")[:2] for line in told.err.splitlines()] == [
        line.split("  ")[:2] for line in told.out.splitlines() if line.startswith("FAIL")
    ]
    assert told.err.splitlines()[0] == f"FAIL  ZI-015  more than one D_FINAL (test_modes.{ONE})"
    assert "FAIL  ZI-015" in told.out
    assert f"repeat    goldwire test zenoh --iut faulty.toml -k test_modes.{ONE}" in told.out
    assert last_line(told.out).startswith("NOT AS EXPECTED: ")
    assert {path.suffix for path in (folder / "found" / "traces").iterdir()} == {".ndjson", ".pcapng"}
    accepted = run.run("two-finals", f"goldwire test zenoh --iut faulty.toml -k {ONE} --accept")
    assert accepted.status == 0
    assert "known, violation: accepted on " in accepted.out
    assert "  repeat " not in accepted.out
    # One of the three rules has two findings: what the case came by, and what the monitor saw.
    assert "accepted: expectations/faulty.toml: 4 added, 0 changed, 0 removed, 4 entries now\n" in accepted.out
    whole = run.run("two-finals", f"goldwire test zenoh --iut faulty.toml -k {ONE} -v")
    assert whole.status == 0
    assert "  known     accepted on " in whole.out
    assert f"  repeat    goldwire test zenoh --iut faulty.toml -k test_modes.{ONE}" in whole.out
    assert 'rule = "ZI-015"' in (folder / "expectations" / "faulty.toml").read_text()


def test_a_run_ends_at_the_first_failure(gate: tuple[Gate, Path]) -> None:
    run, folder = gate
    # What another test has accepted would be no failure.
    (folder / "expectations" / "faulty.toml").unlink(missing_ok=True)
    told = run.run("two-finals", f"goldwire test zenoh --iut faulty.toml -k '{MODES}' -x --report first")
    assert told.status == 1
    assert "stopped at the first failure, so what is above is not the whole picture" in last_line(told.out)
    records, _ = read(folder / "first" / "run.ndjson")
    played = [each for each in records if isinstance(each, CasePlayed)]
    assert [each.outcome.value for each in played].count("violation") == 1
    assert played[-1].outcome.value == "violation"
    summary = json.loads((folder / "first" / "summary.json").read_text())
    assert "the run was stopped before its cases" in {rule["reason"] for rule in summary["rules"].values()}
    (folder / "none.toml").write_text("")
    line = f"goldwire test zenoh --iut faulty.toml -k '{MODES}' -x --accept --expectations none.toml"
    assert "--accept: nothing was written" in run.run("two-finals", line).out
    assert (folder / "none.toml").read_text() == ""


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("workers", WORKERS)
def test_a_run_ends_when_its_time_is_over(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = goldwire("--iut", "faulty.toml", "--max-time", "2", "--report", "rep", *workers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert last_line(done.stdout).startswith("NOT AS EXPECTED: ")
    assert "stopped after 2 s" in last_line(done.stdout)
    assert "Traceback" not in done.stdout + done.stderr
    records, torn = read(JOURNAL)
    assert torn == ""
    assert isinstance(records[-1], RunEnded)
    assert (records[-1].stopped, records[-1].interrupted) == ("after 2 s", False)
    assert processes(tmp_path.name) == []


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize("workers", WORKERS)
def test_a_run_whose_time_is_over_before_it_has_begun_is_reported(workers: tuple[str, ...]) -> None:
    """Where nobody has a core, it takes seconds until pytest and its workers have started."""
    done = goldwire("--iut", "faulty.toml", "--max-time", "0.001", "--report", "rep", *workers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "stopped after 0.001 s" in last_line(done.stdout)
    assert read(JOURNAL)[0][-1].stopped == "after 0.001 s"


def test_an_expectation_that_is_not_met_fails(gate: tuple[Gate, Path]) -> None:
    run, folder = gate
    (folder / "e.toml").write_text('[[expect]]\nrule = "ZI-011"\noutcome = "violation"\nreason = "known"\n')
    told = run.run("", "goldwire test zenoh -k ZI-011 --expectations e.toml")
    assert told.status == 1
    assert "e.toml, entry 1 (rule = 'ZI-011'): unexpected pass" in told.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--iut", "nobody"), "unknown implementation 'nobody'"),
        (("--iut", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("--expectations", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("-n", "many"), "-n: 'many' is neither"),
        (("--iut", "tcp/127.0.0.1:7447", "-n", "2"), "leave out -n"),
        (("-k", "(", "-n", "2"), "-k '('"),
        (("--report", "pytest.ini/rep"), "--report: cannot write to"),
        (("--proflie", "document"), "No such option"),
        (("--histories", "0"), "0 is not in the range x>=1"),
        (("--max-time", "soon"), "'soon' is not a time"),
        (("--for", "soon"), "'soon' is not a time"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["goldwire", "test", "zenoh", *arguments])
    with pytest.raises(SystemExit) as end:  # in this process, as nothing is played: it takes half a second to start one
        main()
    said = capfd.readouterr()
    assert (end.value.code, said.out) == (2, "")
    assert message in said.err
    assert "Traceback" not in said.err
    lines = [line for line in said.err.splitlines() if line and not line.startswith(("Usage", "Try"))]
    assert len(lines) == 1


def test_a_failure_of_pytest_itself_is_told() -> None:
    """A regression: what failed before the session had begun was said to pytest's own reporter, which is muted."""
    Path("failing.py").write_text("def pytest_sessionstart(session):\n    raise KeyError('mine')\n")
    done = goldwire("--", "-p", "failing", PYTHONPATH=".")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: pytest, which plays the cases, failed:\n")
    assert done.stderr.endswith("KeyError: 'mine'\n")


def test_an_unknown_protocol_is_wrong_usage() -> None:
    done = goldwire(protocol="telnet")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "unknown protocol 'telnet': known are" in done.stderr


def test_a_pattern_that_selects_nothing_fails(gate: tuple[Gate, Path]) -> None:
    told = gate[0].run("", "goldwire test zenoh -k ZI-999")
    assert told.status == 1
    assert told.err.startswith("Error: nothing was tested: -k 'ZI-999' selects none of the cases")
    assert told.err.count("\n") == 1


def test_what_does_not_start_is_status_3() -> None:
    text = Path("faulty.toml").read_text().replace("two-finals", "no-such-fault")
    Path("faulty.toml").write_text(text)
    done = goldwire("--iut", "faulty.toml")
    assert done.returncode == 3
    assert "NOT STARTED: " in done.stdout
    assert "no-such-fault" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_two_runs_into_one_folder_are_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("rep").mkdir()
    with Journal(Path("rep/run.ndjson")) as journal:
        journal.write(RunEnded(time="", interrupted=False, counts={}, exit=0))
        written = Path("rep/run.ndjson").read_bytes()
        monkeypatch.setattr(sys, "argv", ["goldwire", "test", "zenoh", "-k", ONE, "--report", "rep"])
        with pytest.raises(SystemExit) as end:
            main()
        assert Path("rep/run.ndjson").read_bytes() == written
    assert end.value.code == 2
    assert "--report: another run is writing to " in capfd.readouterr().err


def test_what_is_installed_is_told_and_why_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A regression: the gate let pytest catch that line, and the user saw nothing for a minute."""

    class NoVenv:
        def __init__(self, **_: object) -> None: ...

        def create(self, folder: Path) -> None:
            (folder / "bin").mkdir(parents=True)

    def pip(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 1, "", "ERROR: No matching distribution found for it\n")

    monkeypatch.setenv("GOLDWIRE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.iuts.environments.venv.EnvBuilder", NoVenv)
    monkeypatch.setattr("harness.iuts.environments.subprocess.run", pip)
    line = ["goldwire", "test", "zenoh", "--iut", "eclipse-zenoh==0.0.1", "--report", "rep"]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit) as end:
        main()
    said = capfd.readouterr()
    assert end.value.code == 3
    assert said.err == "installing eclipse-zenoh 0.0.1 (first use) …\n"
    assert last_line(said.out).startswith("NOT STARTED: no environment for eclipse-zenoh==0.0.1: No matching distr")
    assert json.loads(Path("rep/summary.json").read_text())["exit"] == 3


@pytest.mark.takes(4)
@pytest.mark.parametrize(
    ("workers", "tell"),
    [
        pytest.param((), os.killpg, id="one process"),
        pytest.param(("-n", "2"), os.killpg, marks=pytest.mark.slow, id="workers, all of which are told"),
        pytest.param(("-n", "2"), os.kill, marks=pytest.mark.slow, id="workers, none of which is told"),
    ],
)
def test_an_interrupt_leaves_a_partial_report_and_no_process(
    tmp_path: Path, workers: tuple[str, ...], tell: Callable[[int, int], None]
) -> None:
    command = [GOLDWIRE, "test", "zenoh", "--iut", "faulty.toml", "--report", "rep", *workers]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True) as running:
        wait_for_cases(JOURNAL, 1)
        assert processes(tmp_path.name), "the implementation is no longer there"
        tell(running.pid, signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "INTERRUPTED" in output
    assert "Traceback" not in output
    records, torn = read(JOURNAL)
    assert torn == ""
    assert isinstance(records[-1], RunEnded)
    assert records[-1].interrupted
    assert json.loads(Path("rep/summary.json").read_text())["interrupted"]
    assert processes(tmp_path.name) == []


def test_a_killed_run_leaves_a_readable_journal(tmp_path: Path) -> None:
    command = [GOLDWIRE, "test", "zenoh", "--report", "rep"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for_cases(JOURNAL, 2)
        running.kill()
    records, _ = read(JOURNAL)
    assert sum(isinstance(record, CasePlayed) for record in records) >= 2


def test_a_terminal_sees_progress_and_a_pipe_does_not() -> None:
    command = [GOLDWIRE, "test", "zenoh", "-k", ONE]
    terminal = {**os.environ, "TERM": "xterm"}
    status, seen = seen_on_terminal(command, terminal, columns=100)
    assert status == 0
    assert b"playing" in seen or b"pass" in seen
    assert b"AS EXPECTED" in seen
    assert b"test session starts" not in seen


@pytest.mark.slow(seconds=3)  # cases are played in pytest and in goldwire test, each in a process
def test_pytest_takes_the_same_cases() -> None:
    Path("pytest.ini").unlink()
    Path("conftest.py").unlink()
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    command = [sys.executable, "-m", "pytest", "--goldwire-iut", "peer:", "--pyargs", "conformance.zenoh.cases"]
    done = subprocess.run(
        [*command, "-k", ONE], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "AS EXPECTED: " in done.stdout


def test_histories_are_cases_by_seed(gate: tuple[Gate, Path]) -> None:
    """``-k`` names any seed, beyond those that are played without it."""
    told = gate[0].run("", "goldwire test zenoh --iut peer: -k test_histories.test_modes[117]")
    assert told.status == 0, told.out
    assert "1 case played" in told.out


def test_number_of_histories_and_their_time(gate: tuple[Gate, Path]) -> None:
    # Of aliases: the shortest histories.
    told = gate[0].run("", "goldwire test zenoh --iut peer: -k test_histories.test_aliases --histories 2")
    assert "2 cases played" in told.out
    told = gate[0].run("", "goldwire test zenoh --iut peer: -k test_histories.test_aliases --for 3s")
    assert "6 cases played" in told.out


def test_history_that_fails_is_told_in_a_few_moves(gate: tuple[Gate, Path]) -> None:
    told = gate[0].run("undeclared-by-key", "goldwire test zenoh --iut faulty.toml -k test_histories.test_entities[2]")
    assert told.status == 1
    assert " = node.session()\n" in told.out
    assert "undeclare_subscriber(" in told.out
    assert "seed 2; alone: -k 'test_histories.test_entities[2]'" in told.out


@pytest.mark.slow(seconds=6)  # the whole gate in memory, and most of it waits in virtual time
def test_a_node_that_shakes_hands_and_nothing_more_is_told_so_once(gate: tuple[Gate, Path]) -> None:
    """That it is told so soon, over sockets, is seen where every node is that lacks something."""
    run, folder = gate
    told = run.run("MuteRouter", "goldwire test zenoh --iut peer:router --report mute")
    assert told.status == 1
    assert [line.split()[1] for line in told.out.splitlines() if line.startswith("FAIL")] == ["ZI-070"]
    assert "blocked by ZI-070" in last_line(told.out)
    page = (folder / "mute" / "index.html").read_text()
    assert page.count("<article") == 1
    # What was not played has no trace.
    assert len(list((folder / "mute" / "traces").glob("*.pcapng"))) == 1
    part = run.run("MuteRouter", "goldwire test zenoh --iut peer:router -k test_histories")
    assert part.status == 1
    assert "\nNot played:\n  test_histories." in part.out
    assert "selects none" not in part.err
