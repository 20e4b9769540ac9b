"""What a transport is: how its addresses are spelt, how the tester dials and listens, how our own peers do.

Each transport is one class in one file, its dialling and its listening ends side by side, for both sides: ``tcp.py``,
``tls.py``, ``udp.py``, ``ux.py``. All of them stand in ``harness.links.transports``; nobody else asks which is which.
"""

import re
import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from harness.clock import Clock
from harness.errors import BadDescription
from harness.links.addresses import LOOPBACK, OTHER_LOOPBACK, Address, FreePorts, SocketAddress
from harness.links.asyncio_links import LinkOwner
from harness.links.framing import Framing
from harness.links.link import Link
from harness.links.listener import Listener
from harness.trace import Trace

_HOST_AND_PORT = re.compile(r"(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/\[\]]*)):(?P<port>\d+)")


class Certificate(msgspec.Struct, frozen=True):
    """PEM files for a listening end that shows a certificate; without them one is made fresh.

    ``patience`` is how many seconds of the clock whoever dials has for the handshake, where somebody wants to say that.
    """

    file: Path | None = None
    key: Path | None = None
    patience: float | None = None


class Closable(Protocol):
    """A listening end of a peer."""

    def close(self) -> None:
        """Stop listening; connections that were made stay."""
        ...


class Transport(ABC):
    """One way for frames to travel, under a name and other spellings of that."""

    kind: ClassVar[socket.SocketKind]
    """The kind of socket that it runs over."""

    has_ports: ClassVar[bool] = True
    """Whether its addresses have hosts and ports; else they have names."""

    has_packets: ClassVar[bool] = False
    """Whether it carries packets: then a packet is a frame, where a protocol has no framing of its own for it."""
    is_broker: ClassVar[bool] = False
    """Whether it leads to a broker, where nodes meet: then both sides dial, and frames are envelopes."""
    captured_as: ClassVar[Literal["tcp", "udp", ""]] = ""
    """What captures show its frames in; empty where they cannot be read there."""

    def __init__(self, name: str, *spellings: str) -> None:
        self.name = name
        self.spellings = spellings

    # --- addresses ----------------------------------------------------------------------------------------

    @abstractmethod
    def parse(self, text: str, rest: str) -> Address:
        """Read an address, whose part behind the transport's name is ``rest``; BadDescription when it is none."""

    @abstractmethod
    def free_address(self, ports: FreePorts) -> Address:
        """Return an address of this machine at which nobody listens."""

    @abstractmethod
    def socket_addresses(self, address: Address) -> list[SocketAddress]:
        """Return what an address stands for, as sockets take it; OSError when its host is not known."""

    def peername(self, raw: Any) -> str:
        """Spell the other side's address, as a socket gives it; one that has none is called by the transport alone."""
        match raw:
            # With IPv6, flow and scope come behind the port.
            case (str(host), int(port), *_):
                return f"{self.name}:[{host}]:{port}" if ":" in host else f"{self.name}:{host}:{port}"
            # AF_UNIX in the abstract namespace: the name begins with NUL.
            case bytes(name):
                return f"{self.name}:{name.decode(errors='replace').strip(chr(0))}"
            case _:
                return self.name

    # --- the tester's ends --------------------------------------------------------------------------------

    @abstractmethod
    def dial(
        self,
        address: Address,
        framing: Framing,
        clock: Clock,
        *,
        label: str,
        trace: Trace | None,
        timeout: float,
        source: str = "",
    ) -> Link:
        """Connect within ``timeout`` seconds; Unreachable or OSError when nobody is there.

        ``source`` is the host to connect from, one of ``other_hosts``.
        """

    def other_hosts(self, address: Address) -> tuple[str, ...]:
        """Return hosts of this machine from which an address can be dialled, beside the one that is used otherwise."""
        return ()

    @abstractmethod
    def listen(self, address: Address, framing: Framing, clock: Clock) -> Listener:
        """Listen for implementations that dial."""

    def reach(self, address: Address, clock: Clock) -> Listener:
        """Return a listening end that leads to a broker which runs already; BadDescription where there are none."""
        raise BadDescription(f"{address}: there are no brokers over {self.name}")

    # --- our own peers' ends, on an asyncio loop ----------------------------------------------------------

    @abstractmethod
    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        """Listen for connections; OSError when the address is taken."""

    @abstractmethod
    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        """Connect the owner, to the ``server`` of that number if it has such; OSError when nobody is there."""


class IpTransport(Transport):
    """A transport whose addresses are hosts and ports."""

    def parse(self, text: str, rest: str) -> Address:
        match = _HOST_AND_PORT.fullmatch(rest)
        if match is None:
            raise BadDescription(no_address(text))
        host, port = match["six"] or match["host"], int(match["port"])
        if not host:
            raise BadDescription(f"the host is missing in {text!r}")
        # 0 asks a socket for any port: nobody can dial it.
        if not 1 <= port <= 65535:
            raise BadDescription(f"port {port} in {text!r} is not between 1 and 65535")
        return Address(self.name, host, port)

    def free_address(self, ports: FreePorts) -> Address:
        return Address(self.name, LOOPBACK, ports.take(self.kind))

    def socket_addresses(self, address: Address) -> list[SocketAddress]:
        found = socket.getaddrinfo(address.host, address.port, type=self.kind)
        # The resolver's order is its preference, and it may list an address more than once.
        return list(dict.fromkeys((family, where) for family, _, _, _, where in found))

    def other_hosts(self, address: Address) -> tuple[str, ...]:
        # All of 127/8 is this machine, on systems that have more of it than the one address.
        family, where = self.socket_addresses(address)[0]
        if family != socket.AF_INET or where[0] != LOOPBACK:
            return ()
        with socket.socket(family, self.kind) as trial:
            try:
                trial.bind((OTHER_LOOPBACK, 0))
            except OSError:
                return ()
        return (OTHER_LOOPBACK,)


def no_address(text: str) -> str:
    """Say that a text is no address, and what one looks like."""
    return (
        f"{text!r} is not an address: expected TRANSPORT/HOST:PORT, such as tcp/127.0.0.1:7447"
        " (an IPv6 host stands in brackets: tcp/[::1]:7447), or ux/NAME"
    )
