"""A stage: a folder in which a line of the command line is played, with what it names put there under its name."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from console_examples import ROOT

from conformance.cases import cases
from conformance.engine.play import PlayResult, play
from conformance.run.journal import Journal
from conformance.run.records import JOURNAL, TRACES, CasePlayed, RunEnded, RunStarted
from conformance.suite import Suite
from fuzz.findings import FindingOrigin
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

SCRIPTS = Path(sys.executable).parent
NOW = "2026-01-01T00:00:00+00:00"
LISTENING = {"zenoh": "router", "pathfinder": "server"}
FAULT, CASE = "two-finals", "test_current_future_interest_gets_one_final"
"""Of the router whose runs and captures show something, and what shows it."""


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

    def untrue(self) -> None:
        """Expectations that do not come true."""
        entry = f'[[expect]]\ncase = "test_modes.{CASE}"\noutcome = "violation"\nreason = "{"long " * 30}"\n'
        (self.folder / "e.toml").write_text(f"# {'Kept. ' * 30}\n\n{entry}")

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

    def zenoh_capture(self) -> None:
        """A capture of a Zenoh play."""
        self._record("zenoh", "capture.pcapng", CASE)

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
        origin = FindingOrigin("random", 0, NOW, 1.0, 1, report.findings[0].found.origin)
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

    def play(
        self, line: str, serves: str = "", *, most: int | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Play a line as a shell does; what serves a protocol is spoken to, and then interrupted.

        No file may get longer than ``most`` bytes, which is to the program as a disk that is full.
        """
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
        environ["PATH"] = f"{SCRIPTS}:{self.folder}:{environ['PATH']}"
        if most is not None:
            environ["PYTHONDONTWRITEBYTECODE"] = "1"  # what is cut off would break whoever reads it later
        environ |= environment
        limit = None if most is None else partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        with subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limit,
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
