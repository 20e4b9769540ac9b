"""What the transports have in common whose nodes meet at a broker: both sides dial it, and nobody serves it."""

import asyncio
import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from harness.clock import Clock
from harness.errors import BadDescription
from harness.links.addresses import Address
from harness.links.asyncio_links import LinkOwner
from harness.links.broker import Broker, Command
from harness.links.broker_client import BrokerClient
from harness.links.broker_listener import BrokerListener, Dial, RunningBroker
from harness.links.bus_link import BrokerLink, BrokerStream, greet, greet_async
from harness.links.framing import Framing
from harness.links.tcp import Tcp
from harness.links.transport import Certificate, Closable
from harness.trace import Trace


class BrokerTransport(Tcp):
    """A kind of broker, over TCP. Its frames are envelopes (``wire.envelope``), whatever the framing for recordings."""

    is_broker = True
    client: ClassVar[type[BrokerClient]]
    """What speaks with it."""

    @abstractmethod
    def commands(self, address: Address, folder: Path) -> Sequence[Command]:
        """Return what is started for a broker at an address, first things first; NotInstalled names what is missing.

        The folder is for a program that wants one; it is gone when the program has started.
        """

    def _client(self, address: Address) -> BrokerClient:
        return self.client()

    # --- the tester's ends --------------------------------------------------------------------------------

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
    ) -> BrokerLink:
        return self._link(address, clock, label, trace, timeout, source)

    def _link(
        self, address: Address, clock: Clock, label: str, trace: Trace | None, timeout: float, source: str = ""
    ) -> BrokerLink:
        client, deadline = self._client(address), time.monotonic() + timeout
        connection = self._connected(address, timeout, source)
        try:
            greet(connection, client, address, deadline)
            return BrokerLink(connection, client, clock, label, trace, self.name)
        except BaseException:
            connection.close()
            raise

    def listen(self, address: Address, framing: Framing, clock: Clock) -> BrokerListener:
        """Start a broker."""
        broker = Broker(str(address), lambda folder: self.commands(address, folder))
        return BrokerListener(address, clock, self._dial(address, clock), broker)

    def reach(self, address: Address, clock: Clock) -> RunningBroker:
        return RunningBroker(address, clock, self._dial(address, clock))

    def _dial(self, address: Address, clock: Clock) -> Dial:
        return lambda timeout, label, trace: self._link(address, clock, label, trace, timeout)

    # --- our own peers' ends ------------------------------------------------------------------------------

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        raise BadDescription(f"nobody listens over {self.name}: nodes dial a broker, so say where it is, to connect to")

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        client, connection = self._client(address), await self._reached(address)
        try:
            await greet_async(connection, client, address)
        except BaseException:
            connection.close()
            raise
        await asyncio.get_running_loop().create_connection(
            lambda: BrokerStream(owner, self.peername, client, server), sock=connection
        )
