"""A path for real datagrams: a relay between the tester and a node, which loses, doubles, delays and moves them.

It runs in a thread of the tester's process, on loopback. To both ends it is an address like any other.
"""

import heapq
import itertools
import selectors
import socket
import threading
import time
from collections import deque
from contextlib import suppress

import msgspec

from harness.links.addresses import LOOPBACK, Address
from harness.links.network_path import Fates, NetworkPath
from harness.links.transports import free_addresses, parse_address

_LARGEST = 1 << 16
_BUFFER = 1 << 20
_LEFT = 64
"""Addresses of before that still send: many more than a path has moved while a datagram was under way."""

_IDLE = 0.5
"""Seconds after which the thread looks whether it is to end, should nobody wake it."""

Remote = tuple[str, int]


class _Front:
    """An address that leads to another one; each that speaks to it has a socket of its own behind it."""

    def __init__(self, opened: socket.socket, target: Remote) -> None:
        self.socket = opened
        self.target = target
        self.behind: dict[Remote, _Behind] = {}


class _Behind(msgspec.Struct):
    """The socket from which the other end hears what one address has sent; ``number`` is what its fates go by."""

    socket: socket.socket
    number: int
    front: _Front
    client: Remote


class UdpPath:
    """Relays datagrams over a network path, between any number of addresses."""

    def __init__(self, path: NetworkPath) -> None:
        self._fates = Fates(path)
        self._selector = selectors.DefaultSelector()
        self._fronts: dict[str, tuple[str, _Front]] = {}
        self._under_way: list[tuple[float, int, socket.socket, bytes, Remote]] = []
        self._left = deque[socket.socket]()
        self._order = itertools.count()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._over = False
        self._awake, self._wake = socket.socketpair()
        self._awake.setblocking(False)
        self._selector.register(self._awake, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, name="goldwire-path", daemon=True)
        self._thread.start()

    def to(self, address: str) -> str:
        """Return an address of this machine that leads over the path to a UDP address."""
        with self._lock:
            if address not in self._fronts:
                target = parse_address(address)
                [where] = free_addresses([target.transport])
                opened = self._open(where.port)
                self._fronts[address] = (
                    str(Address(target.transport, LOOPBACK, where.port)),
                    _Front(opened, (target.host, target.port)),
                )
                self._selector.register(opened, selectors.EVENT_READ, self._fronts[address][1])
                self._rouse()
            return self._fronts[address][0]

    def forget(self) -> None:
        """Lose whatever is under way: who has sent it is no more, and is not to be taken for who comes next."""
        with self._lock:
            for _, front in self._fronts.values():
                _all_of(front.socket)
                for behind in front.behind.values():
                    self._leave(behind)
                front.behind.clear()
            self._under_way.clear()

    def close(self) -> None:
        """End the path; once is enough."""
        with self._lock:
            if self._over:
                return
            self._over = True
            self._rouse()
        self._thread.join()
        for key in [*self._selector.get_map().values()]:
            self._selector.unregister(key.fileobj)
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        for each in self._left:
            each.close()
        self._selector.close()
        self._wake.close()

    def _open(self, port: int = 0) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((LOOPBACK, port))
        made.setblocking(False)
        # It is the path that loses, and not this end of it.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        return made

    def _rouse(self) -> None:
        with suppress(BlockingIOError):
            self._wake.send(b"\0")

    def _run(self) -> None:
        while not self._over:
            due = self._under_way[0][0] - time.monotonic() if self._under_way else _IDLE
            for key, _ in self._selector.select(max(0.0, due)):
                with self._lock:
                    if isinstance(key.data, _Front):
                        self._from_client(key.data)
                    elif isinstance(key.data, _Behind):
                        self._from_target(key.data)
                    else:
                        self._awake.recv(_LARGEST)
            self._send_what_is_due()

    def _from_client(self, front: _Front) -> None:
        for data, client in _all_of(front.socket):
            behind = front.behind.get(client)
            if behind is None:
                behind = front.behind[client] = self._behind(front, client)
            elif self._fates.moves():
                self._leave(behind)
                behind = front.behind[client] = self._behind(front, client)
            self._relay(behind.number, False, behind.socket, data, front.target)

    def _from_target(self, behind: _Behind) -> None:
        for data, _ in _all_of(behind.socket):
            self._relay(behind.number, True, behind.front.socket, data, behind.client)

    def _behind(self, front: _Front, client: Remote) -> _Behind:
        made = _Behind(self._open(), next(self._numbers), front, client)
        self._selector.register(made.socket, selectors.EVENT_READ, made)
        return made

    def _leave(self, behind: _Behind) -> None:
        """Hear no more at an address: whoever still sends there sends in vain."""
        self._selector.unregister(behind.socket)
        # Not closed at once: what it has sent may be under way.
        self._left.append(behind.socket)
        if len(self._left) > _LEFT:
            self._left.popleft().close()

    def _relay(self, number: int, outgoing: bool, sender: socket.socket, data: bytes, to: Remote) -> None:
        for at in self._fates.arrivals(number, outgoing, time.monotonic()):
            heapq.heappush(self._under_way, (at, next(self._order), sender, data, to))

    def _send_what_is_due(self) -> None:
        while (due := self._next_due()) is not None:
            _, _, sender, data, to = due
            # What cannot be sent is lost, as it may be on any path; so is what leaves from an address that is no more.
            with suppress(OSError):
                sender.sendto(data, to)

    def _next_due(self) -> tuple[float, int, socket.socket, bytes, Remote] | None:
        with self._lock:
            is_due = self._under_way and self._under_way[0][0] <= time.monotonic()
            return heapq.heappop(self._under_way) if is_due else None


def _all_of(opened: socket.socket) -> list[tuple[bytes, Remote]]:
    """Return what has come; that a port is shut is nothing to a relay."""
    found: list[tuple[bytes, Remote]] = []
    with suppress(BlockingIOError):
        while True:
            with suppress(ConnectionError):
                found.append(opened.recvfrom(_LARGEST))
    return found
