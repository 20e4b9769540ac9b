"""The examples of README.md and docs/ci are played as they stand there, with real things for their placeholders.

The files that they name are put where they are played (``Stage``), under those very names. What cannot have the name
that it has there (an address, a version, ten minutes) is replaced, as the table says, which also says what makes a long
one short. A line without an entry fails, and so does an entry without its line.
"""

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from console_examples import ALL_PAGES, ROOT, complaint_about, examples_of

from conformance.cases import cases
from conformance.engine.play import PlayResult, play
from conformance.run.journal import Journal
from conformance.run.records import JOURNAL, TRACES, CasePlayed, RunEnded, RunStarted
from conformance.suite import Suite
from fuzz.findings import Origin
from fuzz.findings import make as make_finding
from fuzz.findings import write as write_finding
from fuzz.limits import InputLimits
from harness.captures.traces import write_pcapng
from harness.iuts.description import resolve
from harness.links.addresses import free_port
from harness.protocol import load
from harness.trace import write_ndjson
from vectors.checks.check import check_only
from wire.engines import engine
from wire.errors import DecodeError, Reason
from wire.runtime import Codec

PAGES = ("README.md", "docs/ci/README.md")
SCRIPTS = Path(sys.executable).parent
NOW = "2026-01-01T00:00:00+00:00"
LISTENING = {"zenoh": "router", "pathfinder": "server"}


class How(NamedTuple):
    """How a line is played."""

    needs: str = ""
    """What the stage makes for it, by the names of the stage's functions."""
    instead: dict[str, str] = {}
    """What of it is replaced, by what; in braces stands what the stage has."""
    also: str = ""
    """What makes it short."""
    status: int = 0
    says: str = ""
    """A regular expression that is found in what it prints."""
    serves: str = ""
    """A protocol: it runs until it is interrupted, which it is when it was spoken to at the address that it prints."""
    marks: tuple[pytest.MarkDecorator, ...] = ()


ROUTER, SERVER = {"tcp/127.0.0.1:7447": "{zenoh}"}, {"tcp/127.0.0.1:4711": "{pathfinder}"}
HERE = {"tcp/127.0.0.1:7447": "{free}", "tcp/127.0.0.1:4711": "{free}", "listen …": "listen {free}"}
RUN = "goldwire test zenoh --iut … --report out"
FAULT, CASE = "two-finals", "test_current_future_interest_gets_one_final"
"""Of the router whose runs and captures show something, and what shows it."""
ONE, PING = f"-k {CASE}", "-k test_a_ping"

EXAMPLES: dict[str, How] = {
    "goldwire init zenoh --command './build/router --port {port}'": How(says="next: goldwire test zenoh --iut "),
    "goldwire test zenoh --iut tcp/127.0.0.1:7447": How("zenoh", ROUTER, ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut ./mine.toml": How("mine", also=ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut peer:": How(also=ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut … -k ZI-011": How("mine", {"…": "./mine.toml"}, says="AS EXPECTED"),
    "goldwire test zenoh --iut … --for 10m -k test_histories": How(
        instead={"…": "peer:", "10m": "1s"}, says="AS EXPECTED"
    ),
    "goldwire test zenoh --iut … -x": How("mine", {"…": "./mine.toml"}, ONE, says="AS EXPECTED"),
    RUN: How(instead={"…": "peer:"}, also=ONE, says=r"out/index\.html"),
    "goldwire diff main/out branch/out": How("runs", status=1, says=r"Broken.*\n +ZI-"),
    "pytest --pyargs conformance.zenoh.cases --goldwire-iut peer:": How(also=ONE, says=r"\d passed"),
    "goldwire test pathfinder --iut tcp/127.0.0.1:4711": How("pathfinder", SERVER, PING, says="AS EXPECTED"),
    "goldwire test pathfinder --iut paf": How("pafd", also=PING, says="AS EXPECTED"),
    "goldwire test pathfinder --iut ./my-client.toml": How("my_client", also="-k publish", says="AS EXPECTED"),
    "goldwire audit pathfinder capture.pcapng": How("capture", says="AS EXPECTED"),
    "goldwire record tcp/127.0.0.1:4711 --listen tcp/127.0.0.1:4712 --out capture.pcapng": How(
        "pathfinder", SERVER | {"tcp/127.0.0.1:4712": "{free}"}, says="1 connections", serves="pathfinder"
    ),
    "goldwire codec check zenoh/network-message -- ./my-codec": How("my_codec"),
    "goldwire codec check zenoh/network-message --frames 10000 -- ./my-codec": How("my_codec", {"10000": "500"}),
    "goldwire pipeline ingest zenoh out captures/*.pcapng findings --lake lake": How("out captures findings"),
    "goldwire pipeline judge zenoh --lake lake --master 'local[2]'": How("lake", marks=(pytest.mark.spark,)),
    "goldwire pipeline summary --lake lake": How("lake", says="ZI-015"),
    "goldwire pipeline triage --lake lake": How("lake", says="ZI-015"),
    "goldwire explain ZI-015": How(says="ZI-015"),
    "goldwire rules zenoh": How(says="ZI-015"),
    "goldwire decode zenoh/network-message 3eac0222020003612f62": How(says="a/b"),
    "goldwire peer zenoh --listen tcp/127.0.0.1:7447": How(instead=HERE, serves="zenoh"),
    "goldwire peer zenoh --listen … --fault ZI-011": How(instead=HERE, serves="zenoh"),
    "goldwire peer pathfinder --listen tcp/127.0.0.1:4711": How(instead=HERE, serves="pathfinder"),
    "goldwire dissector zenoh > goldwire_zenoh.lua": How(),
    "goldwire test zenoh --iut ./mine.toml --report out --max-time 15m": How("mine", also=ONE, says="AS EXPECTED"),
    "goldwire report out": How("out"),
}

IN_CI = ("goldwire test zenoh --iut eclipse-zenoh==1.5.1", "goldwire selfcheck zenoh")
"""Minutes each, or a router from PyPI: continuous integration plays them as they stand, outside of these tests."""


class Refusing:
    """The Python engine, which refuses every frame."""

    name = "python"

    def codec(self, layout: str) -> Codec:
        def refuse(data: bytes, refuse: bool = False) -> object:
            raise DecodeError(Reason.TRUNCATED, 0, "(frame)", "nothing follows")

        return Codec(refuse, engine(self.name).codec(layout).encode)


class Stage:
    """Where one line is played: a folder, and what can be put there, by the names of these methods."""

    def __init__(self, folder: Path, until: ExitStack) -> None:
        self.folder = folder
        self.addresses: dict[str, str] = {"free": f"tcp/127.0.0.1:{free_port()}"}
        self._until = until

    def zenoh(self) -> None:
        """A router at an address."""
        self._serve("zenoh")

    def pathfinder(self) -> None:
        """A Pathfinder server at an address."""
        self._serve("pathfinder")

    def _serve(self, protocol: str) -> None:
        self.addresses[protocol] = self._until.enter_context(
            load(protocol).embedded(resolve("peer:", protocol))
        ).address()

    def mine(self) -> None:
        """A description of a router that goldwire starts."""
        self._describe("mine", "zenoh", "router", "--listen", "{listen}")

    def my_client(self) -> None:
        """A description of a Pathfinder client."""
        for path in (ROOT / "docs/examples").glob("pathfinder*client.*"):
            (self.folder / path.name.replace("pathfinder-client", "my-client")).write_text(path.read_text())

    def _describe(self, name: str, protocol: str, role: str, *where: str) -> None:
        command = ["{python}", "-P", "-m", "goldwire", "peer", protocol, "--role", role, *where]
        (self.folder / f"{name}.toml").write_text(
            f'name = "{name}"\nprotocol = "{protocol}"\nroles = ["{role}"]\n\n[process]\ncommand = {command}\n'
        )

    def pafd(self) -> None:
        """A program called pafd, with those of its options that goldwire gives it; it is our own server."""
        self._script(
            "pafd",
            'if [ "$1" = -v ]; then echo 1.1.3; exit; fi\n'
            f'exec {SCRIPTS}/goldwire peer pathfinder --profile deployed --listen "tcp/${{3#tcp:}}"',
        )

    def my_codec(self) -> None:
        """A program behind the pipe."""
        self._script("my-codec", f"exec {sys.executable} {ROOT}/examples/codecs/python/adapter.py")

    def _script(self, name: str, text: str) -> None:
        (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.folder / name).chmod(0o755)

    def capture(self) -> None:
        """A capture of a Pathfinder play."""
        self._record("pathfinder", "capture.pcapng", "test_a_ping")

    def captures(self) -> None:
        """A folder of captures, one of them of a router with a fault."""
        (self.folder / "captures").mkdir()
        self._record("zenoh", "captures/good.pcapng", CASE)
        self._record("zenoh", "captures/bad.pcapng", CASE, FAULT)

    def _record(self, protocol: str, name: str, case: str, fault: str = "") -> None:
        write_pcapng(self._played(protocol, case, fault).trace, self.folder / name, load(protocol).framings)

    @staticmethod
    def _played(protocol: str, name: str, fault: str) -> PlayResult:
        suite, role = Suite(protocol), LISTENING[protocol]
        maker = suite.harness.faults.all[fault].peer if fault else suite.harness.roles[role]
        case = next(each for each in cases(protocol) if each.name.endswith(f".{name}"))
        return play(case, suite.harness.world(maker.of, role), suite, profile="document", number=1)

    def findings(self) -> None:
        """A folder of findings, as a campaign leaves it."""
        layout, frame = "zenoh/network-message", bytes.fromhex("190000")
        report = check_only(layout, [engine("reference"), Refusing()], frames=[frame], seed=0)
        origin = Origin("random", 0, NOW, 1.0, 1, report.findings[0].found.origin)
        write_finding(self.folder / "findings", make_finding(report.findings[0], report, origin, InputLimits(), 1))

    def out(self) -> None:
        """The report of a run against a router with a fault."""
        self._run("out", FAULT)

    def runs(self) -> None:
        """The reports of two runs; what the second is about has a fault."""
        self._run("main/out")
        self._run("branch/out", FAULT)

    def _run(self, report: str, fault: str = "") -> None:
        trace = self.folder / report / TRACES / "1.ndjson"
        trace.parent.mkdir(parents=True)
        played = self._played("zenoh", CASE, fault)
        write_ndjson(played.trace, trace)
        about = {"name": "node", "version": "1", "role": "router", "profile": "document", "transport": "tcp"}
        with Journal(self.folder / report / JOURNAL) as journal:
            journal.write(RunStarted(run="1", time=NOW, protocol="zenoh", iut="node", goldwire="1", **about))
            journal.write(
                CasePlayed(
                    case=f"test_modes.{CASE}",
                    sentence="Ask.",
                    file="test_modes.py",
                    line=1,
                    rules=("ZI-015",),
                    outcome=played.outcome,
                    judgements=played.judgements,
                    trace="1",
                )
            )
            journal.write(RunEnded(time=NOW, interrupted=False, counts={}, exit=int(bool(fault))))

    def lake(self) -> None:
        """A lake with a run and captures, judged."""
        self.out()
        self.captures()
        for words in ("ingest zenoh out captures/*", "judge zenoh"):
            done = self.play(f"goldwire pipeline {words} --lake lake")
            assert done.returncode == 0, done.stdout + done.stderr

    def play(self, line: str, serves: str = "") -> subprocess.CompletedProcess[str]:
        """Play a line as a shell does; what serves a protocol is spoken to, and then interrupted."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
        environ["PATH"] = f"{SCRIPTS}:{self.folder}:{environ['PATH']}"
        with subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                if serves:
                    assert process.stdout is not None
                    said = process.stdout.readline().split()
                    assert said[:1] == ["ready"], said
                    load(serves).probe(said[1], 5.0)
                    process.send_signal(signal.SIGINT)
                out, error = process.communicate(timeout=120)
            finally:
                process.kill()
        return subprocess.CompletedProcess(line, process.returncode, out, error)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An empty one."""
    with ExitStack() as until:
        yield Stage(tmp_path, until)


def of_goldwire() -> list[str]:
    lines = [line for page in PAGES for line in examples_of(page)]
    return [line for line in lines if not line.startswith("pip install")]


def test_every_example_is_played_and_nothing_else() -> None:
    lines = set(of_goldwire())
    assert len(lines) > 30
    assert {*EXAMPLES, *IN_CI} == lines
    script = (ROOT / ".ci/run").read_text()
    assert [line for line in IN_CI if f"{line.removeprefix('goldwire ')}" not in script] == []


def test_what_pip_is_asked_for_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    lines = [line for page in PAGES for line in examples_of(page) if line.startswith("pip install")]
    asked = [name for line in lines for name in re.findall(r"\[([\w,]+)\]", line)]
    assert asked
    assert set(asked) <= set(extras)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_commands_and_options_of_every_page_are_known(page: str) -> None:
    wrong = {line: complaint_about(line) for line in examples_of(page) if line.startswith("goldwire ")}
    assert {line: complaint for line, complaint in wrong.items() if complaint} == {}


@pytest.mark.slow(seconds=3)  # each: it starts a goldwire, some also a node
@pytest.mark.parametrize("line", [pytest.param(line, marks=how.marks) for line, how in EXAMPLES.items()])
def test_examples_are_green(line: str, stage: Stage) -> None:
    how = EXAMPLES[line]
    for name in how.needs.split():
        make: Callable[[], None] = getattr(stage, name)
        make()
    for old, new in how.instead.items():
        line = line.replace(old, new.format(**stage.addresses))
    done = stage.play(f"{line} {how.also}".rstrip(), how.serves)
    said = done.stdout + done.stderr
    assert done.returncode == how.status, said
    assert "Traceback" not in said
    assert re.search(how.says, said), said
