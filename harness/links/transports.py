"""The transports: a new one (a broker, a path that loses packets) is a file of its own, and one line here.

Addresses, links and listeners are asked for here; what they are like is the transport's own matter.
"""

import re
from collections.abc import Iterable

from harness.clock import Clock
from harness.errors import BadDescription, Unreachable
from harness.links.addresses import LOOPBACK, Address, FreePorts
from harness.links.framing import Framing, Framings, NoFraming
from harness.links.link import Link
from harness.links.listener import Listener
from harness.links.memory import Memory
from harness.links.nats import Nats
from harness.links.redis import Redis
from harness.links.tcp import Tcp
from harness.links.tls import Tls
from harness.links.transport import Transport, no_address
from harness.links.udp import Udp
from harness.links.ux import Ux
from harness.links.websocket import WebSocket
from harness.timing import CONNECT
from harness.trace import Trace

TRANSPORTS: dict[str, Transport] = {
    each.name: each
    for each in (
        Tcp("tcp", "tcp-framed"),
        Udp("udp"),
        Tcp("tcp-stream"),  # TCP, where a protocol has a second framing
        Ux("ux"),
        Tls("tls"),
        Nats("nats"),
        Redis("redis"),
        WebSocket("websocket"),
        Memory("memory"),
    )
}
"""All transports by name, in the order in which they are listed."""

DIRECT: tuple[str, ...] = tuple(name for name, each in TRANSPORTS.items() if not each.is_broker)
"""Those where one node dials the other; over all others both dial a broker."""

SPELLINGS: dict[str, str] = {spelling: name for name, each in TRANSPORTS.items() for spelling in each.spellings}
"""Other spellings of transports."""

# What has a port was meant as an address, so it is the transport that is misspelt.
_LOOKS_LIKE_ONE = re.compile(r"(?P<transport>[a-z-]+)/.*:\d+")


def known_transport(text: str) -> str | None:
    """Return the name of a transport, of its name or of another spelling; None when there is none."""
    name = SPELLINGS.get(text, text)
    return name if name in TRANSPORTS else None


def parse_address(text: str) -> Address:
    """Read an address: ``tcp/127.0.0.1:7447``, ``udp/[::1]:7447``, ``ux/name``; BadDescription when it is none."""
    name, _, rest = text.partition("/")
    known = known_transport(name)
    if known is not None:
        return TRANSPORTS[known].parse(text, rest)
    if match := _LOOKS_LIKE_ONE.fullmatch(text):
        raise BadDescription(f"unknown transport {match['transport']!r} in {text!r}: known are {', '.join(TRANSPORTS)}")
    raise BadDescription(no_address(text))


def free_addresses(transports: Iterable[str]) -> tuple[Address, ...]:
    """Return an address of this machine that is free for each transport.

    UDP and the first of the others that has a port share one; the rest get ports, and names, of their own.
    """
    ports = FreePorts()
    return tuple(TRANSPORTS[each].free_address(ports) for each in transports)


def framing_of(framings: Framings, transport: str) -> Framing:
    """Return a protocol's framing for a transport; BadDescription when it needs one and has none."""
    found = framings.get(transport)
    if found is not None:
        return found
    if TRANSPORTS[transport].has_packets:
        return NoFraming()
    raise BadDescription(f"this protocol has no framing for {transport}: it has {', '.join(framings)}")


def dial(
    address: str,
    framings: Framings,
    clock: Clock,
    timeout: float = CONNECT,
    label: str = "a",
    trace: Trace | None = None,
    source: str = "",
) -> Link:
    """Connect to an address, within ``timeout`` seconds; from a host ``source`` of this machine, if one is given.

    Unreachable when nobody is there, BadDescription when the address is misspelt or has no framing.
    """
    target = parse_address(address)
    framing = framing_of(framings, target.transport)
    try:
        return TRANSPORTS[target.transport].dial(
            target, framing, clock, label=label, trace=trace, timeout=timeout, source=source
        )
    except OSError as error:
        raise Unreachable(f"{address}: {error}") from error


def other_hosts(address: str) -> tuple[str, ...]:
    """Return hosts of this machine that may be the ``source`` from which an address is dialled."""
    target = parse_address(address)
    return TRANSPORTS[target.transport].other_hosts(target)


def listen(transport: str, framings: Framings, clock: Clock, host: str = LOOPBACK) -> Listener:
    """Listen at a free address of this machine, for implementations that dial."""
    [where] = free_addresses([transport])
    # Transports without ports have names, and no host.
    if where.port:
        where = Address(transport, host, where.port)
    return TRANSPORTS[transport].listen(where, framing_of(framings, transport), clock)


def reach(address: str, clock: Clock) -> Listener:
    """Return a listening end that leads to a broker which runs already; BadDescription when it is no broker's address.

    Nothing is dialled before somebody accepts.
    """
    where = parse_address(address)
    return TRANSPORTS[where.transport].reach(where, clock)
