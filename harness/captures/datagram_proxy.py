"""The recording proxy for UDP: passes on datagrams between addresses and a server, and writes them to a capture."""

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from harness.captures.segmentation import datagram, packed_end
from harness.captures.writer import PcapngWriter
from harness.errors import Unreachable
from harness.links.acceptor import listening_sockets
from harness.links.addresses import Address
from harness.links.transports import TRANSPORTS

LARGEST = 1 << 16
"""Bytes that are read at once: no datagram has more."""

AT_ONCE = 64
"""Datagrams that are taken from a socket before the others have their turn."""

MOST = 4096
"""Addresses that have a socket of their own at the server's side. There is no end that would show who has left, so the
one that was heard least of late makes room; it gets another socket when it speaks again."""

End = tuple[str, int]
Sender = tuple[Any, ...]
"""An address as sockets have it: host and port, and more with IPv6."""


class _Association:
    """An address that has spoken, and the socket from which the server hears it."""

    def __init__(self, front: socket.socket, client: Sender, server: socket.socket) -> None:
        self.front = front
        self.client = client
        self.server = server


class DatagramProxy:
    """Passes on datagrams to ``target`` and back, and writes them to a ``capture``; as ``Proxy`` does with connections.

    Each address that speaks has one of its own at the server's side; ``connections`` counts them. When the capture
    cannot be written any more, ``trouble`` says why, and ``on_trouble`` is called, once.
    """

    def __init__(self, target: Address, capture: PcapngWriter) -> None:
        self.target = target
        self.capture = capture
        self.connections = 0
        self.trouble: OSError | None = None
        self.on_trouble: Callable[[], None] = lambda: None
        self._fronts: list[socket.socket] = []
        self._known: OrderedDict[tuple[socket.socket, End], _Association] = OrderedDict()

    async def listen(self, where: Address) -> None:
        """Listen at an address; ``Unreachable`` when it is taken, or nobody knows where the target is."""
        kind = socket.SOCK_DGRAM
        try:
            found = TRANSPORTS[self.target.transport].socket_addresses(self.target)[0]
        except OSError as error:
            raise Unreachable(f"cannot find {self.target}: {error.strerror or error}") from error
        self._family, self._where = found[0], cast(Sender, found[1])
        try:
            for each in listening_sockets(TRANSPORTS[where.transport].socket_addresses(where), kind):
                each.setblocking(False)
                self._fronts.append(each)
                asyncio.get_running_loop().add_reader(each, self._take, each, partial(self._asked, each))
        except OSError as error:
            raise Unreachable(f"cannot listen on {where}: {error.strerror or error}") from error

    async def stop(self) -> None:
        """Forget all addresses and stop listening."""
        while self._known:
            self._forget(self._known.popitem()[1])
        for each in self._fronts:
            asyncio.get_running_loop().remove_reader(each)
            each.close()

    # --- datagrams ----------------------------------------------------------------------------------------

    def _take(self, opened: socket.socket, take: Callable[[bytes, Sender], None]) -> None:
        """Take what has come to a socket."""
        for _ in range(AT_ONCE):
            try:
                data, sender = opened.recvfrom(LARGEST)
            except BlockingIOError:
                return
            except OSError:  # nobody listens there: to who sends a datagram that is as if it were lost
                continue
            try:
                take(data, sender)
            except OSError as error:
                # The capture's: what goes wrong in the network is a datagram that is lost.
                if self.trouble is None:
                    self.trouble = error
                    self.on_trouble()
                return

    def _asked(self, front: socket.socket, data: bytes, sender: Sender) -> None:
        client = _end(sender)
        known = self._known.get((front, client))
        if known is None:
            try:
                known = self._meet(front, client, sender)
            except OSError:  # there are no more sockets: the datagram is lost, and the next is tried again
                return
        self._known.move_to_end((front, client))
        # Written before it is passed on: no answer may stand before what it answers.
        self._write(client, _end(self._where), data)
        _send(known.server.send, data)

    def _answered(self, known: _Association, data: bytes, sender: Sender) -> None:
        self._write(_end(self._where), _end(known.client), data)
        _send(lambda data: known.front.sendto(data, known.client), data)

    def _meet(self, front: socket.socket, client: End, sender: Sender) -> _Association:
        if len(self._known) >= MOST:
            self._forget(self._known.popitem(last=False)[1])
        opened = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            opened.setblocking(False)
            # Connected, so that nobody but the server is heard on it.
            opened.connect(self._where)
        except OSError:
            opened.close()
            raise
        self.connections += 1
        known = self._known[front, client] = _Association(front, sender, opened)
        asyncio.get_running_loop().add_reader(opened, self._take, opened, partial(self._answered, known))
        return known

    def _forget(self, known: _Association) -> None:
        asyncio.get_running_loop().remove_reader(known.server)
        known.server.close()

    def _write(self, source: End, target: End, data: bytes) -> None:
        # The proxy may be spoken to over IPv4 and speak over IPv6; a packet has addresses of one kind.
        six = ":" in source[0] or ":" in target[0]
        self.capture.write(datagram(packed_end(*source, six=six), packed_end(*target, six=six), data), time.time_ns())


def _end(address: Sender) -> End:
    # With IPv6, flow and scope come behind the port: they do not say who it is.
    return address[0], address[1]


def _send(send: Callable[[bytes], int], data: bytes) -> None:
    """Send a datagram; what the kernel does not take is lost, as datagrams are."""
    with suppress(BlockingIOError):
        try:
            send(data)
        except OSError:
            # That nobody took the one before comes as an error of the next, which is not sent then.
            with suppress(OSError):
                send(data)
