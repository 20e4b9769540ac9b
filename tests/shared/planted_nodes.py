"""``goldwire`` as a user types it, with a node that a fault was planted in, whatever ``--iut`` names.

It runs in memory and virtual time, or is served over sockets on this machine, as our own peers are.

As a program it reads lines of JSON, each with a fault and a command line, and answers each with what that came to. In a
process of its own, as the gate lets pytest import the cases, whose files are called like tests of ours; and with a hash
seed of its own, as a user has who types a command later.
"""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

import msgspec
from lacking_nodes import NODES

from conformance.verdicts import Verdict
from harness import command
from harness.errors import Unsupported
from harness.iuts.description import Description
from harness.iuts.instance import Instance
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.peer import PeerMaker
from harness.protocol import WireProtocol
from harness.zenoh.peers.client import Client

MEMORY, SOCKETS = "memory", "sockets"
"""Where nodes run."""


class Told(msgspec.Struct, frozen=True):
    """What a command came to: its exit status, what it printed, and the seconds that it took, of processor time too."""

    status: int
    out: str
    err: str
    seconds: float
    wall: float

    @property
    def trouble(self) -> list[str]:
        """What stands on standard error beside the line for each rule that is not kept, which is told as it happens."""
        news = tuple(f"{each.value}  " for each in Verdict)
        return [line for line in self.err.splitlines() if not line.startswith(news)]


class Gate:
    """A process that runs commands against planted nodes of one protocol, in a folder."""

    def __init__(self, protocol: str, folder: Path, *, hash_seed: int = 0, over: str = MEMORY) -> None:
        environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "NO_COLOR": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, protocol, over],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment,
        )

    def run(self, fault: str, line: str) -> Told:
        """Run a command line, cut into words as a shell does, against a node with a fault, or none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([fault, line]) + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=Told)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the process: it reads until nobody writes."""
        with self._process as process:
            if error is not None:
                process.kill()


@contextlib.contextmanager
def planted(make: Callable[[WireProtocol, Description], PeerMaker]) -> Iterator[None]:
    """Let every implementation that is started meanwhile be a peer in memory, of those that ``make`` makes."""

    def instance(
        self: WireProtocol,
        description: Description,
        *,
        profile: str = "document",
        transport: str = "",
        path: None = None,
    ) -> Instance:
        return self.world(make(self, description), description.role, profile=profile)

    with mock.patch.object(WireProtocol, "instance", instance):
        yield


@contextlib.contextmanager
def served(make: Callable[[WireProtocol, Description], PeerMaker]) -> Iterator[None]:
    """Let every peer of ours that is served over sockets meanwhile be one of those that ``make`` makes."""

    def embedded(self: WireProtocol, description: Description, **settings: Any) -> EmbeddedImplementation:
        return before(self, description, **settings, make=make(self, description))

    before = WireProtocol.embedded
    with mock.patch.object(WireProtocol, "embedded", embedded):
        yield


def run(words: list[str]) -> Told:
    """Run a command in this process, by the way that the script ``goldwire`` takes."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    began, status = (time.process_time(), time.monotonic()), 0
    sys.argv = words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            command.main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.argv = before
    seconds, wall = time.process_time() - began[0], time.monotonic() - began[1]
    return Told(status, out.getvalue(), err.getvalue(), seconds, wall)


class Tokenless(Client):
    """A client that cannot be told to declare tokens, as those that have none."""

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb == "declare" and arguments[0] == "token":
            raise Unsupported("kind 'token'")
        return super().command(verb, arguments, now)


LACKING = {make.__name__: make for _, make, _, _ in NODES}
"""The nodes that lack something basic, by their names."""


def peer(fault: str, role: str, definition: WireProtocol) -> PeerMaker:
    """Return what makes a peer with a fault."""
    if fault == "tokenless":
        return Tokenless.of
    if fault in LACKING:
        return LACKING[fault].of
    return definition.faults.all[fault].peer.of if fault else definition.roles[role].of


def main(protocol: str, over: str) -> None:
    """Answer lines until there are no more."""
    plant = {MEMORY: planted, SOCKETS: served}[over]
    for line in sys.stdin:
        fault, text = json.loads(line)
        with plant(lambda definition, described, fault=fault: peer(fault, described.role, definition)):  # type: ignore[misc]
            told = run(shlex.split(text))
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
