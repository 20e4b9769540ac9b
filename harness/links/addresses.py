"""Addresses of nodes: ``tcp/127.0.0.1:7447``, ``udp/[::1]:7447``, ``ux/name``; and ports nobody else takes.

How a transport's addresses are spelt is the transport's own matter (``harness.links.transport``).
"""

import atexit
import random
import socket
from collections import deque

import msgspec

from harness.errors import HarnessError

LOOPBACK = "127.0.0.1"

OTHER_LOOPBACK = "127.0.0.2"
"""This machine as well, where all of 127/8 is: who connects from here comes from another address."""

SocketAddress = tuple[int, str | tuple[object, ...]]
"""A family of addresses, and an address as the sockets of that family take it."""

# Below the kernel's ephemeral range (32768 and up), where any outgoing connection may land on the port first.
_PORTS = range(20000, 32000)
# Names of abstract sockets are this machine's own, and vanish with the process that holds them.
_claims: deque[socket.socket] = deque()
# A claim is needed until whoever asked for the port has bound it; each is an open file, so they are not kept for ever.
_CLAIMS_KEPT = 64
# Ports that are tried before there is taken to be none: most are free, on any machine that does something else too.
_TRIES = 1000


class Address(msgspec.Struct, frozen=True):
    """Where a node listens: the transport's name, a host (a name, or an IP address without brackets) and a port.

    Where a transport has names instead, the host is the name, and the port 0.
    """

    transport: str
    host: str
    port: int = 0

    def __str__(self) -> str:
        if not self.port:
            return f"{self.transport}/{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport}/{host}:{self.port}"


class FreePorts:
    """Free loopback ports: the first for streams and the first for datagrams are the same number."""

    def __init__(self) -> None:
        shared = free_port(socket.SOCK_STREAM, socket.SOCK_DGRAM)
        self._ready = {socket.SOCK_STREAM: shared, socket.SOCK_DGRAM: shared}

    def take(self, kind: socket.SocketKind) -> int:
        """Return a port that is free for a kind of sockets, each once."""
        return self._ready.pop(kind, None) or free_port(kind)


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM, *others: socket.SocketKind) -> int:
    """Return a loopback port, below the ephemeral range, that is free for all the given kinds of sockets.

    The port is claimed against other goldwire processes of this machine until this process ends, or until
    64 more ports were asked for. HarnessError when no port is free.
    """
    # Not the module's own functions: Hypothesis seeds those, and all workers would walk the same ports.
    for port in random.SystemRandom().sample(_PORTS, _TRIES):
        claim = _claim(port)
        if claim is None:
            continue
        # A claim is known to goldwire only; any other program may have the port.
        if all(_is_free(each, port) for each in (kind, *others)):
            _claims.append(claim)
            if len(_claims) > _CLAIMS_KEPT:
                _claims.popleft().close()
            return port
        claim.close()
    raise HarnessError(f"no free loopback port between {_PORTS.start} and {_PORTS.stop}")


@atexit.register  # else Python complains of each as it ends, where ResourceWarning is shown, as by pytest
def _release() -> None:
    while _claims:
        _claims.pop().close()


def _claim(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0goldwire-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(kind: socket.SocketKind, port: int) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
