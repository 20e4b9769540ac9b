"""Addresses of nodes: ``tcp/127.0.0.1:7447``, ``udp/[::1]:7447`` and ports nobody else takes."""

import random
import re
import socket
from collections import deque
from typing import Literal, cast

import msgspec

from harness.errors import BadDescription, HarnessError

Transport = Literal["tcp", "udp"]
TRANSPORTS: tuple[Transport, ...] = ("tcp", "udp")
LOOPBACK = "127.0.0.1"

# Below the kernel's ephemeral range (32768 and up), where any outgoing connection may land on the port first.
_PORTS = range(20000, 32000)
_KINDS = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
_SHAPE = re.compile(r"(?P<transport>[a-z]+)/(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/\[\]]*)):(?P<port>\d+)")
# Names of abstract sockets are this machine's own, and vanish with the process that holds them.
_claims: deque[socket.socket] = deque()
_CLAIMS_KEPT = 64


class Address(msgspec.Struct, frozen=True):
    """Where a node listens: transport, host (a name, or an IP address without brackets) and port."""

    transport: Transport
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport}/{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read an address, ``tcp/127.0.0.1:7447`` or ``udp/[::1]:7447``; BadDescription when it is none."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise BadDescription(
            f"{text!r} is not an address: expected TRANSPORT/HOST:PORT, such as tcp/127.0.0.1:7447"
            " (an IPv6 host stands in brackets: tcp/[::1]:7447)"
        )
    transport, port = match["transport"], int(match["port"])
    host = match["six"] or match["host"]
    if transport not in TRANSPORTS:
        raise BadDescription(f"unknown transport {transport!r} in {text!r}: known are {', '.join(TRANSPORTS)}")
    if not host:
        raise BadDescription(f"the host is missing in {text!r}")
    if not 1 <= port <= 65535:
        raise BadDescription(f"port {port} in {text!r} is not between 1 and 65535")
    return Address(cast(Transport, transport), host, port)


def free_port(transport: str = "tcp", *others: str) -> int:
    """Return a loopback port, below the ephemeral range, that is free for all the given transports.

    The port is claimed against other goldwire processes of this machine until this process ends, or until
    64 more ports were asked for. HarnessError when no port is free.
    """
    # Not the module's own functions: Hypothesis seeds those, and all workers would walk the same ports.
    for port in random.SystemRandom().sample(_PORTS, 1000):
        claim = _claim(port)
        if claim is None:
            continue
        if all(_is_free(each, port) for each in (transport, *others)):
            _claims.append(claim)
            if len(_claims) > _CLAIMS_KEPT:
                _claims.popleft().close()
            return port
        claim.close()
    raise HarnessError(f"no free loopback port between {_PORTS.start} and {_PORTS.stop}")


def _claim(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0goldwire-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(transport: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, _KINDS[transport]) as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
