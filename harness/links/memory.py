"""Memory: no network at all. Nothing is dialled; a world (``harness.peers.bus_world``) hands frames over itself."""

import socket
from collections.abc import Sequence
from typing import ClassVar, NoReturn

from harness.clock import Clock
from harness.errors import BadDescription, Unreachable
from harness.links.addresses import Address, FreePorts, SocketAddress
from harness.links.asyncio_links import LinkOwner
from harness.links.framing import Framing
from harness.links.link import Link
from harness.links.listener import Listener
from harness.links.transport import Certificate, Closable, Transport
from harness.trace import Trace


class Memory(Transport):
    """What our own peers speak over where nothing else is asked for, in a protocol of brokers."""

    kind: ClassVar[socket.SocketKind] = socket.SOCK_STREAM
    has_ports = False
    is_broker: ClassVar[bool] = True
    has_packets = True

    def parse(self, text: str, rest: str) -> Address:
        raise BadDescription(f"{text!r}: nobody outside the tester can be reached in memory")

    def free_address(self, ports: FreePorts) -> Address:
        return Address(self.name, "tester")

    def socket_addresses(self, address: Address) -> list[SocketAddress]:
        _nobody(address)

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
        _nobody(address)

    def listen(self, address: Address, framing: Framing, clock: Clock) -> Listener:
        _nobody(address)

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        _nobody(address)

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        _nobody(address)


def _nobody(address: Address) -> NoReturn:
    raise Unreachable(f"{address}: in memory there is nothing to connect to; name a broker's address")
