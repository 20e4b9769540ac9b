"""Implementations that run: started, ready, watched, and gone when the tester is."""

import math
import os
import shutil
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from harness.errors import BadDescription, HarnessError, LinkError, StartFailed
from harness.iuts.control import Control
from harness.iuts.description import Description, Embedded, Launched, Remote
from harness.iuts.environments import environment
from harness.iuts.process import Process, forked_peer, started
from harness.links.addresses import Address
from harness.links.transports import free_addresses

Probe = Callable[[str, float], None]


class ProbeSession(Protocol):
    """What a probe speaks on: a driver, as far as it has to be ended."""

    def close(self) -> None:
        """End it."""
        ...


@contextmanager
def probing(session: ProbeSession) -> Iterator[None]:
    """Ask for an answer within, and end the session; raises ``LinkError`` whatever kept the answer from coming."""
    try:
        yield
    except LinkError:
        raise
    except HarnessError as error:
        # To who waits for a node it is all one whether nobody listens there or nobody answers.
        raise LinkError(str(error)) from error
    finally:
        session.close()


# Between two probes of a node that is starting: short against a start, long enough not to take its processor away.
_PROBE_PAUSE = 0.02
# Seconds for the first answer to a probe; each further try has twice as many, as nobody knows how far the node is.
_FIRST_TRY = 1.0
# A node that somebody else runs is there or not: it is not awaited as a start would be.
_REMOTE_TIMEOUT = 5.0
# And where the machine says that nobody listens, only the moment is awaited in which the node may be starting anew.
_REFUSED_TIMEOUT = 1.0


class Implementation(Protocol):
    """An implementation that was started; a context manager that stops it."""

    description: Description
    tempo: float
    """Seconds of the protocol that pass in one second: 1, unless its time is scaled."""

    @property
    def control(self) -> Control | None:
        """How to tell it to act; None when it does not listen to that."""
        ...

    @property
    def exit_status(self) -> int | None:
        """Its exit status, minus the signal's number after a signal; None while it runs."""
        ...

    @property
    def pid(self) -> int | None:
        """The number of its process, which leads a group, for those who watch what it takes; None where it has none."""
        ...

    def address(self, transport: str = "tcp") -> str:
        """Return where it listens; BadDescription when it does not, over that transport."""
        ...

    def alive(self) -> bool:
        """Return whether it runs, as far as one can know."""
        ...

    def output_tail(self) -> str:
        """Return the last lines that it printed."""
        ...

    def stop(self) -> None:
        """End it; once is enough."""
        ...

    def restart(self) -> None:
        """Restart it; its address may change."""
        ...

    def begin(self, connect: str, scenario: str) -> None:
        """Restart it, to dial other addresses and play another scenario."""
        ...

    def events(self) -> list[str]:
        """Return the texts of the lines ``event TEXT`` that it printed since it was started."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None: ...


Embedding = Callable[[Description, str], Implementation]


class _StopsOnExit(ABC):
    """The context manager that stops."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def stop(self) -> None:
        """End it; once is enough."""


class RemoteImplementation(_StopsOnExit):
    """A node that somebody else runs: nothing is known of it but its address."""

    tempo = 1.0
    control: Control | None = None
    exit_status: int | None = None
    pid: int | None = None

    def __init__(self, description: Description, where: Address, probe: Probe | None) -> None:
        self.description = description
        self._where = where
        self._probe = probe
        self.await_answer(_REFUSED_TIMEOUT)

    def await_answer(self, refused: float = _REMOTE_TIMEOUT) -> None:
        """Wait until it answers; ``StartFailed`` when it does not for long, or nobody listens for ``refused`` s."""
        if self._probe is None:
            return
        # What somebody else runs has no end that could be seen: the event never comes.
        patience = _REMOTE_TIMEOUT * self.description.time_scale
        complaint = _probed(self._probe, str(self._where), patience, threading.Event().wait, refused)
        if complaint is not None:
            raise StartFailed(f"{self._where} does not answer: {complaint}")

    def address(self, transport: str = "tcp") -> str:
        """Return its address; BadDescription when that is of another transport."""
        if transport != self._where.transport:
            raise BadDescription(f"{self._where} is not an address for {transport}")
        return str(self._where)

    def alive(self) -> bool:
        """Return True: only a probe can tell."""
        return True

    def output_tail(self) -> str:
        """Return nothing: what it prints is not seen here."""
        return ""

    def stop(self) -> None:
        """Leave it running."""

    def restart(self) -> None:
        """Leave it running: whoever runs it may start it anew when it has died; ``StartFailed`` when nobody does."""
        self.await_answer()

    def begin(self, connect: str, scenario: str) -> None:
        """Leave it running."""

    def events(self) -> list[str]:
        """Return nothing: what it prints is not seen here."""
        return []


class ProgramImplementation(_StopsOnExit):
    """A program that the tester runs; each start listens on new ports."""

    def __init__(
        self, description: Description, source: Launched, probe: Probe | None, connect: str, scenario: str
    ) -> None:
        self.description = description
        self.tempo = description.tempo
        self._source = source
        self._probe = probe
        self._connect = connect
        self._scenario = scenario
        self._python = self._interpreter()
        self._process = self._start()

    @property
    def control(self) -> Control | None:
        """How to tell it to act."""
        return self._process.control

    @property
    def exit_status(self) -> int | None:
        """Its exit status, minus the signal's number after a signal; None while it runs."""
        return self._process.exit_status

    @property
    def pid(self) -> int:
        """The number of its process, which leads a group of its own."""
        return self._process.pid

    def address(self, transport: str = "tcp") -> str:
        """Return where it listens; BadDescription when it does not, over that transport."""
        for each in self._addresses:
            # The addresses of a node that dials are what it would have, were it to listen: nobody is there.
            if each.transport == transport and not self.description.is_dialling:
                return str(each)
        raise BadDescription(f"{self.description.label} does not listen over {transport}")

    def alive(self) -> bool:
        """Return whether it runs and has printed no sign of a crash."""
        return self._process.alive() and not self._process.crash_line()

    def output_tail(self) -> str:
        """Return the last lines that it printed; of one that has died, its last words are waited for."""
        self._process.hear_out()
        if self._process.exit_status is not None:
            self._process.settle()
        return self._process.output_tail()

    def stop(self) -> None:
        """End it and all that it started; once is enough."""
        self._process.stop()

    def restart(self) -> None:
        """Restart it, on other ports."""
        self.stop()
        self._process = self._start()

    def begin(self, connect: str, scenario: str) -> None:
        """Restart it, to dial other addresses and play another scenario."""
        self._connect, self._scenario = connect, scenario
        self.restart()

    def events(self) -> list[str]:
        """Return the texts of the lines ``event TEXT`` that it printed since it was started."""
        return self._process.events()

    @property
    def _start_timeout(self) -> float:
        """Seconds to be ready in."""
        return self._source.program.start_timeout * self.description.time_scale

    def _interpreter(self) -> str:
        its = self._source.environment
        return sys.executable if its is None else str(environment(its.package, its.version))

    def _start(self) -> Process:
        program = self._source.program
        dialling = self.description.is_dialling
        # New ones each time: connections of the run before may still hold the old ports.
        self._addresses: tuple[Address, ...] = free_addresses(self.description.transports)
        values = self._placeholders()
        command = (program.client_command if dialling else ()) or program.command
        environ = {**os.environ, **self._variables(values)}
        environ |= {name: text.format_map(values) for name, text in program.env.items()}
        words = [part.format_map(values) for part in command]
        # Said here, in its own words: behind the guard it would only be a status of 127.
        if shutil.which(words[0], path=environ.get("PATH")) is None:
            raise StartFailed(f"{self.description.label}: cannot run {words[0]}: {_why_not_run(Path(words[0]))}")
        process = Process(
            words,
            environ,
            control=program.control,
            crash_signs=program.crash_signs,
            time_scale=self.description.time_scale,
            start=partial(forked_peer, self.description.protocol) if self._source.is_peer else started,
        )
        try:
            self._await(process)
        except BaseException:
            # Whatever came between, Ctrl-C too: nobody else would end it.
            process.stop()
            raise
        return process

    def _placeholders(self) -> dict[str, str]:
        listens = [str(each) for each in self._addresses]
        return {
            "python": self._python,
            "here": str(self._source.folder),
            "role": self.description.role,
            "listen": "" if self.description.is_dialling else ",".join(listens),
            "connect": self._connect,
            "port": str(next((each.port for each in self._addresses if each.port), 0)),
            "tempo": f"{self.tempo:g}",
        }

    def _variables(self, values: Mapping[str, str]) -> dict[str, str]:
        hints = {key: values[key] for key in ("role", "listen", "connect", "tempo")} | {"scenario": self._scenario}
        return {f"GOLDWIRE_{key.upper()}": value for key, value in hints.items()}

    def _await(self, process: Process) -> None:
        program, patience = self._source.program, self._start_timeout
        if program.ready == "line":
            if not process.wait_ready(patience):
                raise self._failure(process, "printed the line 'ready'")
        elif not self.description.is_dialling and self._probe is not None:
            # A node that dials shows that it is ready by dialling.
            complaint = _probed(self._probe, self.address(self.description.transports[0]), patience, process.wait)
            if complaint is not None:
                raise self._failure(process, f"answered ({complaint})")

    def _failure(self, process: Process, expected: str) -> StartFailed:
        ended = None if process.alive() else process.exit_status
        process.stop()
        what = f"ended with status {ended} before it" if ended is not None else "has not"
        within = "" if ended is not None else f" within {self._start_timeout:g} s"
        # As much as a traceback has.
        last = process.output_tail().splitlines()[-20:]
        printed = "\n".join(["; it printed last:", *(f"  {line}" for line in last)]) if last else ""
        return StartFailed(f"{self.description.label} {what} {expected}{within}{printed or '; it printed nothing'}")


def start(
    description: Description,
    *,
    probe: Probe | None = None,
    connect: str = "",
    scenario: str = "",
    embedded: Embedding | None = None,
) -> Implementation:
    """Start an implementation and return it once it is ready.

    ``probe`` speaks to an address and raises LinkError until that works; it is asked again and again, and not
    at all for roles that dial: these are given ``connect``, and are ready when they arrive there.
    ``scenario`` is handed on in the environment. ``embedded`` runs our own peer (description, connect).
    StartFailed carries the last lines.
    """
    if description.is_dialling and not connect:
        raise BadDescription(f"{description.label} dials: it needs an address to dial")
    match description.source:
        case Embedded():
            if embedded is None:
                raise BadDescription(f"{description.label}: no embedded peer is at hand here")
            return embedded(description, connect)
        case Remote(address=where):
            return RemoteImplementation(description, where, probe)
        case Launched() as source:
            return ProgramImplementation(description, source, probe, connect, scenario)


def _why_not_run(path: Path) -> str:
    """Say why a program cannot be run that was not found as one that may be."""
    if path.is_dir():
        return "it is a folder"
    if path.is_file():
        return f"it is no program that may be run (chmod +x {path}, if it should be)"
    return "there is no such program" + ("" if path.name != str(path) else " on the PATH")


def _probed(
    probe: Probe, address: str, patience: float, ended: Callable[[float], bool], refused: float = math.inf
) -> LinkError | None:
    """Probe until it works; the last complaint when ``patience`` seconds passed or the node has ended.

    ``ended`` waits so many seconds for the node's end and returns whether it came; nobody may listen for ``refused``
    seconds.
    """
    nobody = time.monotonic() + refused
    give_up, each_has = time.monotonic() + patience, min(_FIRST_TRY, patience)
    while True:
        try:
            probe(address, each_has)
        except LinkError as error:
            # Asked in this order: a node that has ended answers no more, however much time is left.
            is_refused = isinstance(error.__cause__, ConnectionRefusedError | FileNotFoundError)
            if ended(_PROBE_PAUSE) or time.monotonic() > (min(give_up, nobody) if is_refused else give_up):
                return error
            each_has = min(2 * each_has, patience)
        else:
            return None
