"""The server of a peer: runs it over real sockets, on one asyncio loop."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from harness.errors import Unreachable
from harness.links.addresses import Address
from harness.links.asyncio_links import AsyncLink
from harness.links.framing import Framings
from harness.links.transport import Certificate, Closable
from harness.links.transports import TRANSPORTS, framing_of, parse_address
from harness.peers.peer import HANG_UP, Dialler, Peer

DIAL_TIMEOUT = 5.0
"""Seconds after which a dial that is not answered has failed."""

SLICE = 0.01
"""Seconds that the peer may spend on what one link has sent, before others have their turn."""


class PeerServer:
    """Runs one peer: listens, dials, keeps its timers, hangs up. ``scale`` makes its time run faster than ours.

    ``certificate`` and ``key`` are PEM files for TLS; without them a certificate is made fresh. ``patience`` is how
    many seconds of the peer's time a connection has for its TLS handshake.
    """

    def __init__(
        self,
        peer: Peer,
        framings: Framings,
        *,
        scale: float = 1.0,
        certificate: Path | None = None,
        key: Path | None = None,
        patience: float | None = None,
    ) -> None:
        self.peer = peer
        self.framings = framings
        self.scale = scale
        self.addresses: list[str] = []
        self.death: BaseException | None = None
        self.on_death: Callable[[], None] = lambda: None
        self.on_event: Callable[[str], None] = lambda text: None
        self.on_acted: Callable[[], None] = lambda: None
        self._certificate = Certificate(certificate, key, None if patience is None else patience / scale)
        self._loop = asyncio.get_running_loop()
        self._dialler = peer if isinstance(peer, Dialler) else None
        self._links: dict[int, AsyncLink] = {}
        self._leaving: dict[int, AsyncLink] = {}
        """Links that the peer has ended, and that are not closed."""
        self._speaking: dict[int, AsyncLink] = {}
        self._listening: list[Closable] = []
        self._servers: list[Address] = []
        self.dialled: list[str] = []
        """Where the peer was connected to, by a runner that dials for it."""
        self._dialling: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._count = 0
        self._is_over = False

    def now(self) -> float:
        """Return the peer's time in seconds."""
        # The loop's clock, as its timers go by it, and it never jumps as the wall clock does.
        return self._loop.time() * self.scale

    async def listen(self, addresses: Iterable[str]) -> None:
        """Listen on addresses; ``Unreachable`` names the one that is taken."""
        for text in addresses:
            where = parse_address(text)
            try:
                await self._listen(where)
            except OSError as error:
                raise Unreachable(f"cannot listen on {text}: {error.strerror or error}") from error
            self.addresses.append(str(where))

    async def _listen(self, where: Address) -> None:
        framing = framing_of(self.framings, where.transport)
        self._listening += await TRANSPORTS[where.transport].serve(where, framing, self, self._certificate)

    async def dial(self, address: str) -> None:
        """Connect the peer to an address, once; ``Unreachable`` when nobody is there."""
        where = parse_address(address)
        try:
            await self._connect(where, None)
        except OSError as error:
            raise Unreachable(f"cannot connect to {address}: {_why(error)}") from error
        if address not in self.dialled:
            self.dialled.append(address)

    def redial(self) -> None:
        """End all links, and begin to connect the peer again to where it was connected."""
        self.act(self._hang_up)
        for address in self.dialled:
            self._keep(self._loop.create_task(self._dial_again(address)))

    def _hang_up(self) -> None:
        for number in list(self._links):
            link = self._leaving[number] = self._links.pop(number)
            link.put(HANG_UP)
            link.flush()
            self.peer.disconnected(number, self.now())

    async def _dial_again(self, address: str) -> None:
        # Who is not there is dialled when that is asked for again.
        with suppress(Unreachable):
            await self.dial(address)

    def start_dialling(self, addresses: Sequence[str]) -> None:
        """Tell a peer that dials by itself where its servers are, and let it."""
        self._servers = [parse_address(address) for address in addresses]
        self.act(lambda: None)

    async def _connect(self, where: Address, server: int | None) -> None:
        framing = framing_of(self.framings, where.transport)
        async with asyncio.timeout(DIAL_TIMEOUT):
            await TRANSPORTS[where.transport].connect(where, framing, self, server)

    async def _try(self, dialler: Dialler, server: int) -> None:
        try:
            await self._connect(self._servers[server], server)
        # A time-out is one as well.
        except OSError:
            self.act(lambda: dialler.refused(server, self.now()))

    def command(self, verb: str, arguments: list[str]) -> str:
        """Tell the peer to act; raises what the peer raises."""
        try:
            return self.peer.command(verb, arguments, self.now())
        finally:
            # What the verb did before it failed is still to be sent.
            self.act(lambda: None)

    def stop(self) -> None:
        """Close every link and stop listening; the peer does not act any more."""
        self._cease()
        for link in list(self._leaving.values()):
            link.abort()

    def _cease(self) -> None:
        """Do the same, except for links that the peer has ended: what it said last is still on its way there."""
        self._is_over = True
        for each in self._listening:
            each.close()
        for task in self._dialling:
            task.cancel()
        for link in list(self._links.values()):
            link.abort()
        if self._timer is not None:
            self._timer.cancel()

    def link_opened(self, link: AsyncLink, address: str, *, dialled: bool = False, server: int | None = None) -> int:
        """Give a new link a number and tell the peer; ``server`` is the one that a peer dialled at will."""
        self._count += 1
        number = self._count
        # A connection may be made just when all ends; nobody would close it later.
        if self._is_over:
            link.abort()
            return number
        self._links[number] = link
        self.act(lambda: self._introduce(number, address, dialled, server))
        return number

    def _introduce(self, number: int, address: str, dialled: bool, server: int | None) -> None:
        if self._dialler is not None and server is not None:
            self._dialler.reached(server, number, self.now())
        else:
            self.peer.connected(number, self.now(), dialled=dialled, address=address)

    def received(self, number: int, frames: deque[bytes]) -> None:
        """Give the peer frames of one link, and take them away, until it ends that link or others have waited enough.

        That is so after ``SLICE`` seconds, or when much waits to be sent to them.
        """

        def take() -> None:
            # One time for all of them: they were there together.
            now = self.now()
            over = self._loop.time() + SLICE
            while frames and (link := self._links.get(number)) is not None:
                self.peer.received(number, frames.popleft(), now)
                self._drain(now)
                if link.is_full or self._loop.time() > over:
                    return

        self.act(take)

    def link_closed(self, number: int) -> None:
        """Report to the peer that a link has ended."""
        self._leaving.pop(number, None)
        if self._links.pop(number, None) is not None:
            self.act(lambda: self.peer.disconnected(number, self.now()))

    def act(self, action: Callable[[], None]) -> None:
        """Let the peer do something, then see to what it wants; a peer that raises has died."""
        # What a stopped peer wants, such as to dial again because its links have ended, nobody would end.
        if self._is_over:
            return
        try:
            action()
            self._apply_effects()
        except Exception as error:  # whatever the reason, the node is dead and its links with it
            self.death = error
            self._cease()
            self.on_death()
        else:
            self.on_acted()

    def _apply_effects(self) -> None:
        """Tell the peer's events, send what it puts out, dial where it wants to, and set its timer."""
        now = self.now()
        self._drain(now)
        # First, so that who has seen the frames finds the events there.
        for text in self.peer.take_events():
            self.on_event(text)
        speaking, self._speaking = self._speaking, {}
        for link in speaking.values():
            link.flush()
        if self._dialler is not None and self._servers:
            for server in self._dialler.dials(now):
                self._dial(self._dialler, server)
        self._set_timer(self.peer.next_tick())

    def _drain(self, now: float) -> None:
        for number, frame in self.peer.drain(now):
            link = self._links.get(number)
            if link is None:
                continue
            self._speaking[number] = link
            link.put(frame)
            if frame is HANG_UP:
                self._leaving[number] = self._links.pop(number)

    def _dial(self, dialler: Dialler, server: int) -> None:
        # Python would take a negative number for another server, and hide the peer's mistake.
        if not 0 <= server < len(self._servers):
            raise IndexError(f"the node dials server {server}, and there are {len(self._servers)}")
        self._keep(self._loop.create_task(self._try(dialler, server)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        # asyncio holds its tasks weakly: one that nobody else holds may vanish before it is done.
        self._dialling.add(task)
        task.add_done_callback(self._dialling.discard)

    def _set_timer(self, at: float | None) -> None:
        # Asked after every frame, and nearly always the same.
        if at == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = None if at is None else self._loop.call_at(at / self.scale, self._tick)

    def _tick(self) -> None:
        self._timer = self._timer_at = None
        self.act(lambda: self.peer.tick(self.now()))


def _why(error: OSError) -> str:
    """Return why a connection was not made; asyncio's own words for a refusal repeat the address."""
    if isinstance(error, TimeoutError):
        return "nobody answers"
    return (
        os.strerror(error.errno) if isinstance(error, ConnectionError) and error.errno else error.strerror or str(error)
    )
