"""Instances: an implementation that runs, as a play needs it: links to it, control over it, a fresh start."""

import time
from typing import Protocol

from harness.clock import Clock, RealClock
from harness.control import Control
from harness.errors import Deadline, Unsupported
from harness.framing import Framing
from harness.iut import Description
from harness.link import Link
from harness.links import Listener, dial
from harness.running import Embedding, Probe, start
from harness.trace import Trace

DIAL_PATIENCE = 20.0
PATIENCE = 2.5


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

    def link(self, trace: Trace, label: str, transport: str = "tcp") -> Link:
        """Make a link to it, or wait for it to dial; ``Unreachable`` or ``Deadline`` when that fails."""
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
        framing: Framing,
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
        self._framing = framing
        self._listener = Listener("tcp", framing, self.clock) if self.dials else None
        self._running = start(
            description,
            probe=probe,
            connect=self._listener.address if self._listener else "",
            scenario=scenario,
            embedded=embedded,
        )

    def link(self, trace: Trace, label: str, transport: str = "tcp") -> Link:
        """Dial it, or wait until it dials."""
        if self._listener is not None:
            return self._listener.accept(time.monotonic() + DIAL_PATIENCE, label, trace)
        return dial(self._running.address(transport), self._framing, self.clock, label=label, trace=trace)

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

    def _forget_dials(self) -> None:
        while self._listener is not None:
            try:
                self._listener.accept(time.monotonic()).close()
            except Deadline:
                return

    def stop(self) -> None:
        """End it."""
        self._running.stop()
        if self._listener is not None:
            self._listener.close()
