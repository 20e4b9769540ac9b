"""Addresses of nodes: ``tcp/127.0.0.1:7447``, ``udp/[::1]:7447``, ``ux/name``; and ports nobody else takes."""

import random
import re
import secrets
import socket
from collections import deque
from collections.abc import Iterable
from typing import Literal

import msgspec

from harness.errors import BadDescription, HarnessError

Transport = Literal["tcp", "udp", "tcp-stream", "ux", "tls"]
"""How frames travel: over TCP, UDP, TCP with another framing, AF_UNIX packets in the abstract namespace, TLS."""

TRANSPORTS: tuple[Transport, ...] = ("tcp", "udp", "tcp-stream", "ux", "tls")
SPELLINGS: dict[str, Transport] = {"tcp-framed": "tcp"}
"""Other spellings of transports."""

LOOPBACK = "127.0.0.1"

Place = tuple[int, str | tuple[object, ...]]
"""A family of addresses, and an address as its sockets take it."""

# Below the kernel's ephemeral range (32768 and up), where any outgoing connection may land on the port first.
_PORTS = range(20000, 32000)
_SHAPE = re.compile(r"(?P<transport>[a-z-]+)/(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/\[\]]*)):(?P<port>\d+)")
# Commas stand between addresses, colons before roles; the kernel takes names of up to 107 bytes.
_NAMED = re.compile(r"ux/(?P<name>[^\0\s,:]+)")
_LONGEST_NAME = 107
# Names of abstract sockets are this machine's own, and vanish with the process that holds them.
_claims: deque[socket.socket] = deque()
_CLAIMS_KEPT = 64


class Address(msgspec.Struct, frozen=True):
    """Where a node listens: transport, host (a name, or an IP address without brackets) and port.

    For ``ux`` the host is the socket's name in the abstract namespace, and the port 0.
    """

    transport: Transport
    host: str
    port: int = 0

    def __str__(self) -> str:
        if self.transport == "ux":
            return f"ux/{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport}/{host}:{self.port}"


def known_transport(text: str) -> Transport | None:
    """Return the transport of a name or of another spelling of it; None when there is none."""
    return SPELLINGS.get(text) or next((each for each in TRANSPORTS if each == text), None)


def parse_address(text: str) -> Address:
    """Read an address: ``tcp/127.0.0.1:7447``, ``udp/[::1]:7447``, ``ux/name``; BadDescription when it is none."""
    if text.startswith("ux/"):
        return _parse_named(text)
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise BadDescription(
            f"{text!r} is not an address: expected TRANSPORT/HOST:PORT, such as tcp/127.0.0.1:7447"
            " (an IPv6 host stands in brackets: tcp/[::1]:7447), or ux/NAME"
        )
    transport, port = known_transport(match["transport"]), int(match["port"])
    host = match["six"] or match["host"]
    if transport is None:
        raise BadDescription(f"unknown transport {match['transport']!r} in {text!r}: known are {', '.join(TRANSPORTS)}")
    if not host:
        raise BadDescription(f"the host is missing in {text!r}")
    if not 1 <= port <= 65535:
        raise BadDescription(f"port {port} in {text!r} is not between 1 and 65535")
    return Address(transport, host, port)


def _parse_named(text: str) -> Address:
    match = _NAMED.fullmatch(text)
    if match is None:
        raise BadDescription(f"{text!r} is not an address: expected ux/NAME, a name without spaces, commas and colons")
    if len(match["name"].encode()) > _LONGEST_NAME:
        raise BadDescription(f"the name in {text!r} is longer than {_LONGEST_NAME} bytes")
    return Address("ux", match["name"])


def places(target: Address) -> list[Place]:
    """Return the families and the places that an address stands for; OSError when its host is not known."""
    if target.transport == "ux":
        return [(socket.AF_UNIX, f"\0{target.host}")]
    found = socket.getaddrinfo(target.host, target.port, type=socket_kind(target.transport))
    return list(dict.fromkeys((family, place) for family, _, _, _, place in found))


def free_addresses(transports: Iterable[Transport]) -> tuple[Address, ...]:
    """Return a loopback address that is free for each transport.

    UDP and the first of the others that has a port share one; the rest get ports, and names, of their own.
    """
    shared = free_port("tcp", "udp")
    ready = {"tcp": [shared], "udp": [shared]}
    places = []
    for transport in transports:
        if transport == "ux":
            places.append(Address("ux", f"goldwire-{secrets.token_hex(8)}"))
            continue
        kind = "udp" if transport == "udp" else "tcp"
        places.append(Address(transport, LOOPBACK, ready[kind].pop() if ready[kind] else free_port(kind)))
    return tuple(places)


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


def socket_kind(transport: str) -> socket.SocketKind:
    """Return the kind of socket that a transport runs over."""
    return {"udp": socket.SOCK_DGRAM, "ux": socket.SOCK_SEQPACKET}.get(transport, socket.SOCK_STREAM)


def _claim(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0goldwire-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(transport: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket_kind(transport)) as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
