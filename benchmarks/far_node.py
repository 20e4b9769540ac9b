"""A node that is far away: our own peer behind a relay that holds everything back for half a round trip each way.

::

    python benchmarks/far_node.py zenoh router tcp/127.0.0.1:7447 --round-trip 0.4
    python benchmarks/far_node.py zenoh client tcp/127.0.0.1:7447      # the address that it dials

``far_gate.py`` plays the gate against it.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress

import click

from harness.links.transports import free_addresses
from harness.peer_command import peer
from harness.protocol import load

CHUNK = 1 << 16


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Write what comes so many seconds later, and its end."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def read() -> None:
        data = b"?"
        while data:
            try:
                data = await reader.read(CHUNK)
            except OSError:
                data = b""  # a reset: told as an end
            waiting.put_nowait((loop.time() + seconds, data))

    reading = asyncio.create_task(read())
    while True:
        due, data = await waiting.get()
        await asyncio.sleep(max(0.0, due - loop.time()))
        with suppress(OSError):
            if not data:
                writer.close()
                break
            writer.write(data)
    await reading


def begin_relay(ways: Sequence[tuple[str, str]], round_trip: float) -> None:
    """Let whoever dials the first address of a pair come to the second one, a round trip away, until this ends."""
    begun: Future[None] = Future()

    async def relay() -> None:
        for here, there in ways:

            async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, there: str = there) -> None:
                try:
                    far_reader, far_writer = await asyncio.open_connection(*_end(there))
                except OSError:
                    writer.transport.abort()  # nobody is there, or refuses
                    return
                both = ((reader, far_writer), (far_reader, writer))
                await asyncio.gather(*(_relay(*way, round_trip / 2) for way in both))

            await asyncio.start_server(connected, *_end(here), backlog=1024)
        begun.set_result(None)
        await asyncio.Event().wait()

    threading.Thread(target=asyncio.run, args=(relay(),), daemon=True).start()
    begun.result()


def _end(address: str) -> tuple[str, int]:
    host, _, port = address.partition("/")[2].rpartition(":")
    return host, int(port)


def _free(count: int) -> list[str]:
    return [str(each) for each in free_addresses(["tcp"] * count)]


def be_far(protocol: str, role: str, where: str, round_trip: float) -> None:
    """Be our own peer, a round trip away from those who dial an address, or from those that it dials itself."""
    dialled = where.split(",")
    if role in load(protocol).dials:
        near = _free(len(dialled))
        begin_relay([*zip(near, dialled, strict=True)], round_trip)
        option, addresses = "--connect", near
    else:
        option, addresses = "--listen", _free(1)
        begin_relay([(where, addresses[0])], round_trip)
    peer.main([protocol, "--role", role, *(word for each in addresses for word in (option, each))])


@click.command()
@click.argument("protocol")
@click.argument("role")
@click.argument("where", metavar="ADDRESS")
@click.option("--round-trip", type=float, default=0.4, show_default=True, metavar="SECONDS")
def main(protocol: str, role: str, where: str, round_trip: float) -> None:
    """Be such a node, until this is interrupted; several addresses with commas between."""
    be_far(protocol, role, where, round_trip)


if __name__ == "__main__":
    main()
