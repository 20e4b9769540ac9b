"""The embedded reference: a node served over real sockets by a thread of the tester's own process."""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from harness.accepting import open_more_files
from harness.addresses import free_addresses
from harness.control import Control, Request, answer, parse, write
from harness.errors import BadDescription, NotInstalled, StartFailed
from harness.framing import Framings
from harness.iut import Description
from harness.nodes import Node, is_dialler
from harness.serving import Server

START_PATIENCE = 10.0


class EmbeddedNode:
    """A running implementation (``harness.running.Running``) that is our own node.

    ``make`` makes the node; it is called with ``scenario`` and ``servers`` (their number) once ``begin`` was.
    ``connect`` holds the addresses to dial, with commas between. ``tempo`` is the pace of the node's time.
    """

    exit_status: int | None = None

    def __init__(
        self,
        description: Description,
        make: Callable[..., Node],
        framings: Framings,
        connect: str = "",
        *,
        tempo: float = 1.0,
    ) -> None:
        self.description = description
        self.tempo = tempo
        self.control: Control | None = None
        self._make = make
        self._options: dict[str, object] = {}
        self._framings = framings
        self._connect = connect
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
        """Tell whether the node has not died."""
        return self._server.death is None

    def output_tail(self) -> str:
        """Return what the node died of."""
        return "" if self._server.death is None else f"{type(self._server.death).__name__}: {self._server.death}"

    def events(self) -> list[str]:
        """Return what the node's application was told since the start."""
        return list(self._events)

    def begin(self, connect: str, scenario: str) -> None:
        """Begin anew with a fresh node, to dial other addresses and play another scenario."""
        self._connect = connect
        self._options = {"scenario": scenario, "servers": len(connect.split(","))}
        self.restart()

    def restart(self) -> None:
        """Begin anew with a fresh node, on new ports."""
        self.stop()
        self._events: list[str] = []
        self._missing: dict[str, str] = {}
        ready = threading.Event()
        failure: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(ready, failure), name="goldwire-peer", daemon=True)
        self._thread.start()
        if not ready.wait(START_PATIENCE):
            raise StartFailed(f"{self.description.label} has not started within {START_PATIENCE:g} s")
        if failure:
            raise failure[0]
        self.control = Control(self._ask)

    def stop(self) -> None:
        """End it; once is enough."""
        thread: threading.Thread | None = getattr(self, "_thread", None)
        if thread is not None and thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            thread.join()

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
            self._server = Server(self._make(**self._options), self._framings, scale=self.tempo)
            self._server.on_event = self._events.append
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
            asyncio.run(main())
        except Exception as error:  # raised where the start was asked for
            failure.append(error)
            ready.set()

    async def _dial(self, addresses: list[str]) -> None:
        if is_dialler(self._server.node):
            self._server.dial_at_will(addresses)
            return
        for address in addresses:
            await self._server.dial(address)

    async def _listen(self) -> None:
        for where in free_addresses(self.description.transports):
            try:
                await self._server.listen([str(where)])
            except NotInstalled as error:
                self._missing[where.transport] = str(error)

    def _ask(self, line: str) -> None:
        self._loop.call_soon_threadsafe(self._obey, line)

    def _obey(self, line: str) -> None:
        request = parse(line)
        if request is not None and self.control is not None:
            verbs = dict.fromkeys(self._server.node.verbs, self._handle)
            self.control.feed(write(answer(request, verbs)))

    def _handle(self, request: Request) -> str:
        return self._server.command(request.verb, list(request.args))
