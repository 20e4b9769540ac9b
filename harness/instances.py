"""Instances: an implementation that runs, as a play needs it: links to it, control over it, a fresh start."""

from typing import Protocol

from harness.addresses import Transport, known_transport
from harness.clock import Clock, RealClock
from harness.control import Control
from harness.errors import Deadline, Unsupported
from harness.framing import Framings
from harness.iut import Description
from harness.link import Link
from harness.links import Listener, dial
from harness.running import Embedding, Probe, start
from harness.trace import Trace

DIAL_PATIENCE = 20.0
PATIENCE = 2.5

_DEATH_POLL = 0.25


class Instance(Protocol):
    """An implementation that runs; ``dials`` when it comes to the tester instead of listening."""

    role: str
    dials: bool
    version: str
    patience: float
    """Seconds after which an answer that did not come is taken not to come."""

    @property
    def clock(self) -> Clock:
        """The clock that its links keep."""
        ...

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one second of the clock."""
        ...

    def begin(self, scenario: str, servers: int = 1, transport: str = "") -> None:
        """Begin anew with one that dials: how many servers of which transport it finds, and what it is to play.

        All doors are open. ``StartFailed`` when it does not come up.
        """
        ...

    def link(
        self, trace: Trace, label: str, transport: str = "tcp", server: int = 0, patience: float | None = None
    ) -> Link:
        """Make a link to it, or wait for it to dial; ``Unreachable`` or ``Deadline`` when that fails.

        ``server`` is the one that it dials (from 0), ``patience`` how many seconds of the clock it has for that.
        """
        ...

    def refuse(self, server: int = 0) -> None:
        """Shut the door of a server: dials are refused, links that were accepted stay."""
        ...

    def admit(self, server: int = 0) -> None:
        """Open the door again, at the same address."""
        ...

    def events(self) -> list[str]:
        """Return what it has said that its application was told, since it began and up to now."""
        ...

    def command(self, verb: str, *arguments: str) -> str:
        """Tell it to act; ``Unsupported`` or ``ControlFailed`` when it cannot."""
        ...

    def alive(self) -> bool:
        """Tell whether it still runs, as far as one can know."""
        ...

    def epitaph(self) -> str:
        """Return the last that was heard of it, if it has died."""
        ...

    def restart(self) -> None:
        """Begin anew; ``StartFailed`` when it does not come up."""
        ...

    def stop(self) -> None:
        """End it; once is enough."""
        ...


class SocketInstance:
    """An implementation behind real sockets: a process, our embedded peer, or an address."""

    def __init__(
        self,
        description: Description,
        framings: Framings,
        *,
        probe: Probe | None = None,
        embedded: Embedding | None = None,
        scenario: str = "",
    ) -> None:
        self.description = description
        self.role = description.role
        self.version = description.version
        self.dials = description.is_dialling
        self.clock = RealClock()
        self.patience = PATIENCE * description.time_scale
        self._framings = framings
        self._doors: list[Listener] = []
        self._open_doors(1 if self.dials else 0, description.transports[0])
        self._running = start(
            description,
            probe=probe,
            connect=self._connect(),
            scenario=scenario,
            embedded=embedded,
        )

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one of the clock: more than 1 where our own peer runs fast."""
        return self._running.tempo

    def begin(self, scenario: str, servers: int = 1, transport: str = "") -> None:
        """Start it anew, to dial so many servers and play a scenario."""
        self._running.stop()
        if self.dials:
            known = known_transport(transport or self.description.transports[0])
            assert known is not None
            self._open_doors(servers, known)
        self._running.begin(self._connect(), scenario)

    def link(
        self, trace: Trace, label: str, transport: str = "tcp", server: int = 0, patience: float | None = None
    ) -> Link:
        """Dial it, or wait until it dials."""
        if self.dials:
            return self._accept(self._doors[server], DIAL_PATIENCE if patience is None else patience, label, trace)
        return dial(self._running.address(transport), self._framings, self.clock, label=label, trace=trace)

    def _accept(self, door: Listener, patience: float, label: str, trace: Trace) -> Link:
        give_up = self.clock.now() + patience
        while True:
            alive = self._running.alive()
            try:
                return door.accept(min(give_up, self.clock.now() + _DEATH_POLL), label, trace)
            except Deadline:
                # The dead dial no more; what they dialled while they lived was looked for once more.
                if not alive or self.clock.now() >= give_up:
                    raise

    def refuse(self, server: int = 0) -> None:
        """Refuse its dials to a server; those that were not accepted are reset."""
        self._doors[server].shut()

    def admit(self, server: int = 0) -> None:
        """Let its dials to a server in again."""
        self._doors[server].open()

    def events(self) -> list[str]:
        """Return what it printed as events."""
        return self._running.events()

    def command(self, verb: str, *arguments: str) -> str:
        """Tell it to act, by a control line."""
        control: Control | None = self._running.control
        if control is None:
            raise Unsupported(f"{self.description.label} takes no control lines")
        return control.request(verb, *arguments)

    def alive(self) -> bool:
        """Tell whether its process runs."""
        return self._running.alive()

    def epitaph(self) -> str:
        """Return the last lines that it printed."""
        status = self._running.exit_status
        ended = "" if status is None else f"it ended with status {status}; "
        return f"{ended}{self._running.output_tail()}".strip()

    def restart(self) -> None:
        """Stop it and start it anew; what it dialled before is forgotten."""
        self._running.stop()
        self._forget_dials()
        self._running.restart()

    def stop(self) -> None:
        """End it."""
        self._running.stop()
        for door in self._doors:
            door.close()

    def _connect(self) -> str:
        return ",".join(door.address for door in self._doors)

    def _open_doors(self, servers: int, transport: Transport) -> None:
        """Open so many doors; those that fit already stay where they are."""
        fitting = [door for door in self._doors if door.transport == transport][:servers]
        for door in self._doors:
            if door not in fitting:
                door.close()
        self._doors = fitting
        self._forget_dials()
        while len(self._doors) < servers:
            self._doors.append(Listener(transport, self._framings, self.clock))

    def _forget_dials(self) -> None:
        for door in self._doors:
            door.open()
            door.forget()
