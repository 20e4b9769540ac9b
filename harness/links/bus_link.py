"""Links that lead to a broker: the tester's, and those of our own peers, whichever broker it is."""

import asyncio
import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from harness.clock import Clock
from harness.errors import Deadline, LinkClosed, LinkError
from harness.links.addresses import Address
from harness.links.asyncio_links import LinkOwner, StreamLink
from harness.links.broker_client import BrokerClient, read_envelope
from harness.links.connected import CHUNK
from harness.links.link import wait
from harness.links.tcp import TcpLink
from harness.trace import Direction, Entry, Trace
from wire.envelope import DATA

# Seconds that a broker has to take in what was sent last, before the link to it is closed.
_FAREWELL = 1.0


class BrokerLink(TcpLink):
    """The tester's link to a broker, whose frames are envelopes; made of a connection on which both sides are ready.

    ``send`` of what listens, or ends that, returns when the broker has done it, so that nothing is missed which
    anybody publishes from then on. A link that is ``raw`` shows a message as often as the broker sends it, which may be
    once for each wildcard that matches it; otherwise once. What the tester publishes itself never comes back.
    """

    def __init__(
        self, connection: socket.socket, client: BrokerClient, clock: Clock, label: str, trace: Trace | None, name: str
    ) -> None:
        self._client = client
        self._has_unconfirmed = False
        super().__init__(connection, client, clock, label, trace, Direction.SENT, name)

    @property
    def raw(self) -> bool:
        """Whether messages are shown as often as the broker sends them."""
        return self._client.raw

    @raw.setter
    def raw(self, value: bool) -> None:
        self._client.raw = value

    def send(self, frame: bytes) -> Entry:
        """Send one frame; ValueError when it is none that this broker can carry, LinkError when the broker refuses."""
        operation = read_envelope(frame).operation
        entry = super().send(frame)
        if operation == DATA:
            self._has_unconfirmed = True
        else:
            self._client.refusals.clear()
            self._confirm(self.sending)
            if self._client.refusals:
                raise LinkError(f"{self.peername}: {self._client.refusals[0]}")
        return entry

    def close(self) -> None:
        """End the link; what was sent is published by then, as far as the broker lives."""
        if self._how is None and self._has_unconfirmed:
            # Unread messages would make the kernel end the connection with a reset, which takes with it what the
            # broker has not read.
            with contextlib.suppress(LinkError):
                self._confirm(min(self.sending, _FAREWELL))
        super().close()

    def abort(self) -> None:
        self._has_unconfirmed = False
        super().abort()

    def _confirm(self, seconds: float) -> None:
        """Wait until the broker has done all that it was told; what comes meanwhile is kept."""
        self._client.ask()
        self._answer()
        deadline = time.monotonic() + seconds
        while self._client.unconfirmed > 0:
            if self._how is not None:
                raise LinkClosed(self._how)
            if not self._fill() and not wait(self._socket, select.POLLIN, deadline - time.monotonic()):
                raise Deadline(f"{self.peername} has not confirmed within {seconds:g} s what it was told")
        self._has_unconfirmed = False

    def _fill(self) -> bool:
        has_come = super()._fill()
        if has_come and self._how is None:
            # That it cannot be answered is seen, and told, by whoever reads or sends next.
            with contextlib.suppress(LinkError):
                self._answer()
        return has_come

    def _answer(self) -> None:
        if answer := self._client.take():
            self._push(answer)


class BrokerStream(StreamLink):
    """A peer's link to a broker; made of a connection on which both sides are ready.

    A broker does what its client says in order: what a peer publishes is published when it listens already to what it
    has listened to before.
    """

    def __init__(
        self, owner: LinkOwner, format_address: Callable[[Any], str], client: BrokerClient, server: int | None
    ) -> None:
        super().__init__(owner, format_address, client, dialled=True, server=server)
        self._client = client

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except ConnectionError:  # it is no broker any more
            self.abort()
            return
        if (answer := self._client.take()) and not self._transport.is_closing():
            self._transport.write(answer)


def greet(connection: socket.socket, client: BrokerClient, address: Address, deadline: float) -> None:
    """Make both sides ready on a blocking socket, until ``time.monotonic()`` is ``deadline``; OSError when it fails."""
    while not client.is_ready:
        if said := client.take():
            connection.sendall(said)
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the broker does not answer in time")
        connection.settimeout(left)
        _heard(client, connection.recv(CHUNK), address)


async def greet_async(connection: socket.socket, client: BrokerClient, address: Address) -> None:
    """Make both sides ready on a socket that does not block; OSError when it fails."""
    loop = asyncio.get_running_loop()
    while not client.is_ready:
        if said := client.take():
            await loop.sock_sendall(connection, said)
        _heard(client, await loop.sock_recv(connection, CHUNK), address)


def _heard(client: BrokerClient, data: bytes, address: Address) -> None:
    if not data:
        raise ConnectionResetError(f"{address} has ended the connection instead of an answer")
    try:
        client.feed(data)
    except LinkError as error:
        raise ConnectionAbortedError(str(error)) from error
