"""``goldwire init``: what it asks, what it writes, and that this works at once."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from brokers import need_broker
from click.testing import CliRunner, Result
from terminals import seen_on_terminal

from conformance.contract.expectations import load_expectations
from conformance.init.init_command import init
from harness.command import main

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
PEER = f"{sys.executable} -P -m goldwire peer"
ROLES = {
    ("zenoh", "router"): ("--listen {listen}", "test_current_future_interest_gets_one_final"),
    ("zenoh", "client"): ("--role client --connect {connect}", "test_node_that_asks_again"),
    ("pathfinder", "server"): ("--listen {listen}", "test_a_ping"),
    ("pathfinder", "client"): ("--role client --connect {connect}", "test_services_that_are_published"),
    ("urbit", "publisher"): ("--listen {listen}", "test_some_heartbeat_is_answered"),
    ("rai", "publisher"): ("--role publisher --connect {connect}", "test_some_greeting_is_said"),
}
"""How our own peer is started in each role, and what is played to it."""

CONTROLLED = {("zenoh", "client"), ("urbit", "publisher"), ("rai", "publisher")}
"""Those that are told to act."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which each test stands."""
    folder = tmp_path / "my project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def goldwire_init(*words: str) -> Result:
    return CliRunner().invoke(init, words)


def written(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_program_that_meets_others_at_a_broker_speaks_over_one(project: Path) -> None:
    """A regression: it was described as run inside the tester, where our own publisher was played in its place."""
    done = goldwire_init("rai", "--role", "publisher", "--command", "./build/publisher --broker {connect}", "--control")
    assert done.exit_code == 0, done.output
    assert tomllib.loads(Path("my-project.toml").read_text())["transports"] == ["redis"]


@pytest.mark.slow(seconds=4)  # each plays a gate against a process
@pytest.mark.parametrize(("protocol", "role"), ROLES)
def test_what_it_writes_works_at_once(protocol: str, role: str, project: Path) -> None:
    where, cases = ROLES[protocol, role]
    control = ["--control"] if (protocol, role) in CONTROLLED else []
    if protocol == "rai":
        need_broker("redis")
    done = goldwire_init(
        protocol, "--role", role, "--command", f"{PEER} {protocol} {where}", "--ci", "github", *control
    )
    assert done.exit_code == 0, done.output
    next_line = next(line for line in done.stdout.splitlines() if line.startswith("next: "))
    words = [GOLDWIRE, *next_line.split()[2:], "-k", cases]
    for more in ([], ["--accept"]) if role == "router" else ([],):
        played = subprocess.run([*words, *more], capture_output=True, text=True, timeout=120, check=False)
        assert played.returncode == 0, played.stdout + played.stderr
        assert "\nAS EXPECTED" in played.stdout


def test_it_writes_three_files_and_says_so(project: Path) -> None:
    done = goldwire_init("zenoh", "--command", "./build/router --port {port}", "--ci", "gitlab")
    assert done.stdout == (
        "wrote my-project.toml\n"
        "wrote expectations/my-project.toml\n"
        "wrote .gitlab-ci.yml\n"
        "\n"
        "next: goldwire test zenoh --iut ./my-project.toml\n"
        "then: goldwire test zenoh --iut ./my-project.toml --accept    "
        "# what is wrong and known; the reasons are yours\n"
    )
    assert written(project) == {"my-project.toml", "expectations/my-project.toml", ".gitlab-ci.yml"}
    described = tomllib.loads(Path("my-project.toml").read_text())
    assert described == {
        "name": "my-project",
        "protocol": "zenoh",
        "roles": ["router"],
        "transports": ["tcp"],
        "process": {"command": ["{here}/build/router", "--port", "{port}"]},
    }
    assert load_expectations(Path("expectations/my-project.toml")).entries == ()
    ci = Path(".gitlab-ci.yml").read_text()
    assert "- goldwire test zenoh --iut ./my-project.toml --report out" in ci
    assert "files: [my-project.toml]" in ci
    assert "mine" not in ci


def test_a_node_that_runs_already_needs_no_description(project: Path) -> None:
    done = goldwire_init("pathfinder", "--command", "tcp/127.0.0.1:4711", "--ci", "github")
    assert written(project) == {"expectations/tcp_127.0.0.1_4711.toml", ".github/workflows/goldwire.yml"}
    assert "next: goldwire test pathfinder --iut tcp/127.0.0.1:4711:server\n" in done.stdout
    assert (
        "goldwire test pathfinder --iut tcp/127.0.0.1:4711:server" in Path(".github/workflows/goldwire.yml").read_text()
    )
    assert "it has to run at tcp/127.0.0.1:4711" in done.stdout


def test_it_asks_on_a_terminal(project: Path) -> None:
    answers = "\n".join(["zenoh", "./router --client {connect}", "client", "y", "mine", "github", ""])
    environ = os.environ | {"TERM": "xterm"}
    status, seen = seen_on_terminal([GOLDWIRE, "init"], environ, columns=80, typed=answers.encode())
    assert status == 0, seen.decode()
    for asked in (
        b"Protocol (",
        b"Command or address",
        b"Role (",
        b"control lines",
        b"Name [my-project]",
        b"Continuous",
    ):
        assert asked in seen
    described = tomllib.loads(Path("mine.toml").read_text())
    assert (described["dials"], described["process"]["control"]) == (["client"], True)
    assert written(project) == {"mine.toml", "expectations/mine.toml", ".github/workflows/goldwire.yml"}


def test_without_a_terminal_it_says_what_is_missing(project: Path) -> None:
    done = goldwire_init()
    assert done.exit_code == 2
    assert "there is no terminal to ask on: say PROTOCOL (pathfinder, rai, urbit, zenoh) and --command\n" in done.stderr
    assert written(project) == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense", "--command", "./a {port}"], "unknown protocol 'nonsense'"),
        (["zenoh", "--command", "./a {port}", "--role", "king"], "--role: 'king' is none of router, client"),
        (["zenoh", "--command", "tcp/127.0.0.1:1", "--role", "client"], "--role: 'client' is none of router"),
        (["zenoh", "--command", "./a 'b"], 'the command "./a \'b" cannot be read: No closing quotation'),
        (["zenoh", "--command", " "], "the command is empty"),
        (["zenoh", "--command", "./a {prot}"], "{prot}"),
        (["zenoh", "--command", "./a {port}", "--name", "a b"], "name: 'a b' is not made of letters"),
    ],
)
def test_wrong_answers_write_nothing(
    words: list[str], said: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["goldwire", "init", *words])
    with pytest.raises(SystemExit) as end:
        main()
    error = capsys.readouterr().err
    assert (end.value.code, error.count("\n")) == (2, 1)
    assert said in error
    assert written(project) == set()


def test_what_is_there_is_never_written_over(project: Path) -> None:
    Path("expectations").mkdir()
    Path("expectations/mine.toml").write_text("# ours\n")
    Path(".gitlab-ci.yml").write_text("ours: {}\n")
    words = ("zenoh", "--command", "./a {port}", "--name", "mine")
    done = goldwire_init(*words)
    assert done.exit_code == 0
    assert (
        "kept  expectations/mine.toml: it was there already\nkept  .gitlab-ci.yml: it was there already\n"
        in done.stdout
    )
    assert Path("expectations/mine.toml").read_text() == "# ours\n"
    assert Path(".gitlab-ci.yml").read_text() == "ours: {}\n"
    again = goldwire_init(*words)
    assert (again.exit_code, again.stderr) == (2, "Error: mine.toml is there already: --name says another name\n")


@pytest.mark.parametrize(
    ("role", "command", "note"),
    [
        ("router", "./a", "the command has no {listen} or {port}: so the program has to read"),
        ("client", "./a {port}", "GOLDWIRE_CONNECT"),
    ],
)
def test_a_command_that_is_not_told_where_is_noticed(role: str, command: str, note: str) -> None:
    assert note in goldwire_init("zenoh", "--command", command, "--role", role).stdout
