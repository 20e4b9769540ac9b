"""The embedded reference: a node served over real sockets by a thread of the tester's own process."""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from harness.addresses import LOOPBACK, Address, free_port
from harness.control import Control, Request, answer, parse, write
from harness.errors import BadDescription, HarnessError
from harness.framing import Framing
from harness.iut import Description
from harness.nodes import Node
from harness.serving import Server

START_PATIENCE = 10.0


class EmbeddedNode:
    """A running implementation (``harness.running.Running``) that is our own node."""

    exit_status: int | None = None

    def __init__(self, description: Description, make: Callable[[], Node], framing: Framing, connect: str = "") -> None:
        self.description = description
        self.control: Control | None = None
        self._make = make
        self._framing = framing
        self._connect = connect
        self.restart()

    def address(self, transport: str = "tcp") -> str:
        """Return where it listens; BadDescription when it does not, over that transport."""
        for text in self._server.addresses:
            if text.startswith(f"{transport}/"):
                return text
        raise BadDescription(f"{self.description.label} does not listen over {transport}")

    def alive(self) -> bool:
        """Tell whether the node has not died."""
        return self._server.death is None

    def output_tail(self) -> str:
        """Return what the node died of."""
        return "" if self._server.death is None else f"{type(self._server.death).__name__}: {self._server.death}"

    def restart(self) -> None:
        """Begin anew with a fresh node, on new ports."""
        self.stop()
        ready = threading.Event()
        failure: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(ready, failure), name="goldwire-peer", daemon=True)
        self._thread.start()
        ready.wait(START_PATIENCE)
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
            self._server = Server(self._make(), self._framing)
            try:
                if self._connect:
                    await self._server.dial(self._connect)
                else:
                    port = free_port(*self.description.transports)
                    await self._server.listen(
                        str(Address(each, LOOPBACK, port)) for each in self.description.transports
                    )
            except HarnessError as error:
                failure.append(error)
                return
            finally:
                ready.set()
            await self._over.wait()
            self._server.stop()

        asyncio.run(main())

    def _ask(self, line: str) -> None:
        self._loop.call_soon_threadsafe(self._obey, line)

    def _obey(self, line: str) -> None:
        request = parse(line)
        if request is not None and self.control is not None:
            verbs = dict.fromkeys(self._server.node.verbs, self._handle)
            self.control.feed(write(answer(request, verbs)))

    def _handle(self, request: Request) -> str:
        return self._server.command(request.verb, list(request.args))
