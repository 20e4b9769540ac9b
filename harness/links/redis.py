"""Redis: clients of it, which are both ends of a protocol whose nodes meet at a broker; and a broker of our own."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import Oversized
from harness.links.addresses import Address
from harness.links.broker import Command, installed
from harness.links.broker_transport import BrokerTransport
from harness.links.resp import RespReader, Value, spell
from harness.links.resp_client import Awaited, RespClient


class RedisClient(RespClient):
    """One connection with a Redis server (6 or newer: over RESP 3 a client that listens may publish too)."""

    def __init__(self) -> None:
        super().__init__()
        self._reader = RespReader()
        self._outgoing += self._command(Awaited(b"HELLO"), b"3")

    @property
    def rest(self) -> bytes:
        return self._reader.rest

    def feed(self, data: bytes) -> list[bytes]:
        frames = [frame for value in self._reader.feed(data) for frame in self._heard(value)]
        if self._reader.is_excess:
            raise Oversized(self._reader.fault, frames)
        if self._reader.fault:
            raise ConnectionAbortedError(f"this is no Redis server: {self._reader.fault}")
        return frames

    def _spell(self, command: Sequence[bytes]) -> bytes:
        return spell(command)

    def _welcomed(self, value: Value) -> None:
        if not (isinstance(value, dict) and value.get(b"proto") == 3):
            raise ConnectionAbortedError("this is no Redis server of version 6 or newer")
        super()._welcomed(value)


class Redis(BrokerTransport):
    """Redis."""

    client = RedisClient

    def commands(self, address: Address, folder: Path) -> Sequence[Command]:
        return [server(folder, "--bind", address.host, "--port", str(address.port))]


def server(folder: Path, *where: str) -> Command:
    """Return the command of a server that keeps nothing."""
    program = installed("redis-server", "redis-server")
    # Without a file of settings no other settings of this machine come in.
    return [program, *where, "--dir", str(folder), "--save", "", "--appendonly", "no", "--daemonize", "no"]
