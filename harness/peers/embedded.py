"""The embedded reference: a peer served over real sockets by a thread of the tester's own process."""

import asyncio
import threading
from types import TracebackType
from typing import Self

import msgspec

from harness.clock import epoch
from harness.errors import BadDescription, NotInstalled, StartFailed
from harness.iuts.control import Control
from harness.iuts.description import Description
from harness.links.acceptor import open_more_files
from harness.links.framing import Framings
from harness.links.transports import free_addresses
from harness.peers.peer import Dialler, PeerMaker, PeerSettings
from harness.peers.peer_control import PeerControl
from harness.peers.peer_server import PeerServer

START_TIMEOUT = 10.0
"""Seconds for a thread to listen: it needs milliseconds, and has hung if it needs this."""

_PLAIN = PeerSettings()


class EmbeddedImplementation:
    """A started implementation (``harness.iuts.implementation.Implementation``) that is our own peer.

    ``make`` makes a fresh peer at each start. ``connect`` holds the addresses to dial, with commas between. ``tempo``
    is the pace of the peer's time.
    """

    exit_status: int | None = None
    pid: int | None = None

    def __init__(
        self,
        description: Description,
        make: PeerMaker,
        framings: Framings,
        connect: str = "",
        settings: PeerSettings = _PLAIN,
        *,
        tempo: float = 1.0,
    ) -> None:
        self.description = description
        self.tempo = tempo
        self.control: Control | None = None
        self._make = make
        self._settings = settings
        self._framings = framings
        self._connect = connect
        self._thread: threading.Thread | None = None
        # The tester has the other end of every link in the same process, so it needs twice as many files.
        open_more_files()
        self.restart()

    def address(self, transport: str = "tcp") -> str:
        """Return where it listens; BadDescription when it does not, over that transport."""
        for text in self._server.addresses:
            if text.startswith(f"{transport}/"):
                return text
        if transport in self._missing:
            raise BadDescription(f"{self.description.label}: {self._missing[transport]}")
        raise BadDescription(f"{self.description.label} does not listen over {transport}")

    def alive(self) -> bool:
        """Tell whether the peer has not died."""
        return self._server.death is None

    def output_tail(self) -> str:
        """Return what the peer died of."""
        return "" if self._server.death is None else f"{type(self._server.death).__name__}: {self._server.death}"

    def events(self) -> list[str]:
        """Return the notifications to the peer's application since the start."""
        # A copy: the peer's thread appends to it.
        return list(self._events)

    def begin(self, connect: str, scenario: str) -> None:
        """Restart with a fresh peer, to dial other addresses and play another scenario."""
        self._connect = connect
        self._settings = PeerSettings(self._settings.profile, scenario)
        self.restart()

    def restart(self) -> None:
        """Restart with a fresh peer, on new ports."""
        self.stop()
        self._events: list[str] = []
        self._missing: dict[str, str] = {}
        ready = threading.Event()
        failure: list[BaseException] = []
        # daemon: a peer that hangs must not keep the tester from ending.
        self._thread = threading.Thread(target=self._run, args=(ready, failure), name="goldwire-peer", daemon=True)
        self._thread.start()
        if not ready.wait(START_TIMEOUT):
            raise StartFailed(f"{self.description.label} has not started within {START_TIMEOUT:g} s")
        if failure:
            # Raised here, in the thread that asked: a thread's own exception would only be printed.
            raise failure[0]
        self.control = Control(self._ask)

    def stop(self) -> None:
        """End it; once is enough."""
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, ready: threading.Event, failure: list[BaseException]) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._over = asyncio.Event()
            settings = msgspec.structs.replace(
                self._settings,
                servers=len(self._connect.split(",")),
                epoch=epoch(self.tempo),
            )
            self._server = PeerServer(self._make(settings), self._framings, scale=self.tempo)
            self._server.on_event = self._events.append
            self._lines = PeerControl(self._server, self._answered)
            try:
                if self._connect:
                    await self._dial(self._connect.split(","))
                else:
                    await self._listen()
                ready.set()
                await self._over.wait()
            finally:
                self._server.stop()

        try:
            # A loop of its own: the tester's side waits in plain calls, and must not hold up the peer.
            asyncio.run(main())
        except Exception as error:  # raised where the start was asked for
            failure.append(error)
            ready.set()

    async def _dial(self, addresses: list[str]) -> None:
        if isinstance(self._server.peer, Dialler):
            self._server.start_dialling(addresses)
            return
        for address in addresses:
            await self._server.dial(address)

    async def _listen(self) -> None:
        for where in free_addresses(self.description.transports):
            try:
                await self._server.listen([str(where)])
            # TLS lacks a package to make certificates with; the other transports do without.
            except NotInstalled as error:
                self._missing[where.transport] = str(error)

    # From the tester's thread to the peer's: no machine is called by two threads.
    def _ask(self, line: str) -> None:
        self._loop.call_soon_threadsafe(self._lines.take, line)

    def _answered(self, line: str) -> None:
        if self.control is not None:
            self.control.feed(line)
