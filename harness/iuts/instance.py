"""Instances: an implementation that runs, as a play needs it: links to it, control over it, a fresh start."""

import textwrap
from collections.abc import Callable
from typing import Protocol

from harness.clock import Clock, RealClock, epoch
from harness.errors import Deadline, NeverDialled, Unsupported
from harness.iuts.control import Control
from harness.iuts.description import Description, Launched, Remote
from harness.iuts.implementation import Embedding, Probe, start
from harness.links.framing import Framings
from harness.links.link import Link
from harness.links.listener import Listener
from harness.links.network_path import NetworkPath
from harness.links.transports import dial, known_transport, listen, other_hosts, reach
from harness.links.udp import UdpLink
from harness.links.udp_path import UdpPath
from harness.timing import Timing
from harness.trace import Trace

# How soon it is seen that who should dial has died: a play then need not wait for all of its patience.
_DEATH_POLL = 0.25


class Instance(Protocol):
    """An implementation that runs; ``dials`` when it comes to the tester instead of listening."""

    role: str
    dials: bool
    version: str
    not_offered: frozenset[str]
    """What it is not asked to do, as its description says."""
    timing: Timing
    """How long to wait for what, as far as it is known before a play."""
    has_served: bool | None
    """Whether it was ever seen to answer what it is asked between plays; ``None``: it was not asked since its start.

    Who never did cannot have stopped to.
    """

    @property
    def clock(self) -> Clock:
        """The clock that its links keep."""
        ...

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one second of the clock."""
        ...

    @property
    def epoch(self) -> float:
        """Seconds of the protocol from 1970 to the zero of the clock: both sides can say what time it is."""
        ...

    def begin(
        self, scenario: str, servers: int = 1, transport: str = "", meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Restart one that dials: how many servers of which transport it finds, and what it is to play.

        All servers accept. ``meanwhile`` is called when it has ended, and all that it will find is there: who wants to
        hear its first words at a broker makes a link then. ``StartFailed`` when it does not come up.
        """
        ...

    def link(
        self,
        trace: Trace,
        label: str,
        transport: str = "tcp",
        server: int = 0,
        patience: float | None = None,
        source: str = "",
    ) -> Link:
        """Make a link to it, or wait for it to dial; ``Unreachable`` or ``Deadline`` when that fails.

        ``server`` is the one that it dials (from 0), ``patience`` how many seconds of the clock it has for that;
        ``source`` is the host that it is dialled from, one of ``other_hosts``.
        """
        ...

    def strange_link(self, trace: Trace, label: str, beside: Link) -> Link:
        """Make a link to where another leads, from an address that it has not met; ``Unsupported`` on connections."""
        ...

    @property
    def loses(self) -> bool:
        """Whether what is sent to it once may not arrive, or an answer."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether what is sent to it once may arrive twice, or an answer."""
        ...

    def other_hosts(self, transport: str = "tcp") -> tuple[str, ...]:
        """Return other hosts of this machine that it can be dialled from."""
        ...

    def refuse(self, server: int = 0) -> None:
        """Refuse dials to a server; links that were accepted stay."""
        ...

    def admit(self, server: int = 0) -> None:
        """Accept dials to a server again, at the same address."""
        ...

    def events(self) -> list[str]:
        """Return the notifications to its application that it has printed since it began."""
        ...

    def command(self, verb: str, *arguments: str) -> str:
        """Tell it to act; ``Unsupported`` or ``ControlFailed`` when it cannot."""
        ...

    @property
    def process(self) -> int | None:
        """The number of its process, which leads a group of its own; None where it has none that we know."""
        ...

    def alive(self) -> bool:
        """Tell whether it still runs, as far as one can know."""
        ...

    def last_output(self) -> str:
        """Return the last that was heard of it, if it has died."""
        ...

    def restart(self) -> None:
        """Restart it; ``StartFailed`` when it does not come up."""
        ...

    def stop(self) -> None:
        """End it; once is enough."""
        ...


class SocketInstance:
    """An implementation behind real sockets: a process, our embedded peer, or an address.

    One that dials finds so many ``servers``, until ``begin`` says otherwise.
    """

    def __init__(
        self,
        description: Description,
        framings: Framings,
        *,
        probe: Probe | None = None,
        embedded: Embedding | None = None,
        scenario: str = "",
        path: NetworkPath | None = None,
        servers: int = 1,
    ) -> None:
        self.description = description
        self._path = path
        self._relay = None if path is None else UdpPath(path)
        self.role = description.role
        self.version = description.version
        self.not_offered = description.not_offered
        self.dials = description.is_dialling
        self.clock = RealClock()
        self.has_served: bool | None = None
        self._framings = framings
        self._begun = self.clock.now()
        self._has_dialled = False
        self._listeners: list[Listener] = []
        # Before the start: whoever dials finds somebody there.
        self._listen(servers if self.dials else 0, description.transports[0])
        self._running = start(
            description,
            probe=probe,
            connect=self._connect(),
            scenario=scenario,
            embedded=embedded,
        )
        self.timing = Timing(scale=description.time_scale, tempo=self._running.tempo)

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one of the clock: more than 1 where our own peer runs fast."""
        return self._running.tempo

    @property
    def epoch(self) -> float:
        """Seconds of the protocol from 1970 to the zero of the clock."""
        return epoch(self.tempo)

    def begin(
        self, scenario: str, servers: int = 1, transport: str = "", meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Restart it, to dial a number of servers and play a scenario."""
        self._running.stop()
        if self.dials:
            known = known_transport(transport or self.description.transports[0])
            assert known is not None
            self._listen(servers, known)
        meanwhile()
        self._running.begin(self._connect(), scenario)

    def link(
        self,
        trace: Trace,
        label: str,
        transport: str = "tcp",
        server: int = 0,
        patience: float | None = None,
        source: str = "",
    ) -> Link:
        """Dial it, or wait until it dials."""
        if self.dials:
            awaited = self.timing.dialling if patience is None else patience
            link = self._accept(self._listeners[server], awaited, label, trace)
        else:
            where, timeout = self._way_to(self._running.address(transport)), self.timing.connecting
            link = dial(where, self._framings, self.clock, timeout=timeout, label=label, trace=trace, source=source)
        link.sending = self.timing.sending
        return link

    def strange_link(self, trace: Trace, label: str, beside: Link) -> Link:
        """Make a link to where another leads, from another address of this machine."""
        if not isinstance(beside, UdpLink):
            raise Unsupported("nobody can speak on a connection but those who made it")
        return beside.beside(label, trace)

    @property
    def loses(self) -> bool:
        """Whether what is sent to it once may not arrive."""
        return self._path is not None and self._path.loses

    @property
    def repeats(self) -> bool:
        """Whether what is sent to it once may arrive twice."""
        return self._path is not None and self._path.repeats

    def _way_to(self, address: str) -> str:
        """Return the address at which another is reached, over the path if there is one."""
        return address if self._relay is None else self._relay.to(address)

    def other_hosts(self, transport: str = "tcp") -> tuple[str, ...]:
        """Return other hosts of this machine that it can be dialled from."""
        return () if self.dials else other_hosts(self._running.address(transport))

    def _accept(self, listener: Listener, patience: float, label: str, trace: Trace) -> Link:
        give_up = self.clock.now() + patience
        while True:
            alive = self._running.alive()
            try:
                link = listener.accept(min(give_up, self.clock.now() + _DEATH_POLL), label, trace)
            except Deadline:
                # The dead dial no more; what they dialled while they lived was looked for once more.
                if not alive or self.clock.now() >= give_up:
                    self._require_one_dial(listener, alive=alive)
                    raise
            else:
                self._has_dialled = True
                return link

    def _require_one_dial(self, listener: Listener, *, alive: bool) -> None:
        """Raise NeverDialled for a program that had its time to start, or has ended, and has never dialled."""
        source, waited = self.description.source, self.clock.now() - self._begun
        if self._has_dialled or not isinstance(source, Launched):
            return
        if alive and waited < source.program.start_timeout * self.description.time_scale:
            return
        printed = self.last_output()
        what = f"has not dialled {listener.address} within {waited:.0f} s" if alive else "ended before it dialled once"
        last = "; it printed last:\n" + textwrap.indent(printed, "  ") if printed else "; it printed nothing"
        raise NeverDialled(f"{self.description.label} {what}{last}")

    def refuse(self, server: int = 0) -> None:
        """Refuse its dials to a server; those that were not accepted are reset."""
        self._listeners[server].shut()

    def admit(self, server: int = 0) -> None:
        """Let its dials to a server in again."""
        self._listeners[server].open()

    def events(self) -> list[str]:
        """Return what it printed as events."""
        return self._running.events()

    def command(self, verb: str, *arguments: str) -> str:
        """Tell it to act, by a control line."""
        control: Control | None = self._running.control
        if control is None:
            raise Unsupported(f"{self.description.label} takes no control lines")
        return control.request(verb, *arguments, timeout=self.timing.control)

    @property
    def process(self) -> int | None:
        """The number of its process."""
        return self._running.pid

    def alive(self) -> bool:
        """Tell whether its process runs."""
        return self._running.alive()

    def last_output(self) -> str:
        """Return the last lines that it printed."""
        status = self._running.exit_status
        ended = "" if status is None else f"it ended with status {status}; "
        return f"{ended}{self._running.output_tail()}".strip()

    def restart(self) -> None:
        """Restart it; what it dialled before is forgotten."""
        self._running.stop()
        self.has_served = self.has_served or None
        # Between the two: what is dialled from here on is the new one's.
        if self._relay is not None and self.dials:
            self._relay.forget()
        self._forget_dials()
        self._running.restart()

    def stop(self) -> None:
        """End it."""
        self._running.stop()
        for each in self._listeners:
            each.close()
        if self._relay is not None:
            self._relay.close()

    def _connect(self) -> str:
        return ",".join(self._way_to(each.address) for each in self._listeners)

    def _listen(self, servers: int, transport: str) -> None:
        """Listen for a number of servers; listeners that fit already stay where they are."""
        fitting = [each for each in self._listeners if each.transport == transport][:servers]
        for each in self._listeners:
            if each not in fitting:
                each.close()
        self._listeners = fitting
        self._forget_dials()
        while len(self._listeners) < servers:
            self._listeners.append(self._listener(transport))

    def _listener(self, transport: str) -> Listener:
        source = self.description.source
        if not isinstance(source, Remote):
            return listen(transport, self._framings, self.clock)
        if self._listeners:
            raise Unsupported(
                f"{source.address} is one broker, and {self.description.label} was asked to use another too"
            )
        return reach(str(source.address), self.clock)

    def _forget_dials(self) -> None:
        for each in self._listeners:
            # A play may have left it shut.
            each.open()
            each.forget()
