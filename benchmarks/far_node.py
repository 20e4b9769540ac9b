"""How long the gate takes over real sockets with a node that is far away.

::

    python benchmarks/far_node.py zenoh --round-trip 0.4 -n 16

A relay stands between the tester and our own peer, and holds everything back for half a
round trip each way. Ends with the status of the gate: nobody is accused who is only far away.
"""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

import goldwire
from harness.links.transports import free_addresses

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


@contextmanager
def relayed(target: str, round_trip: float) -> Iterator[str]:
    """Listen at an address that is a round trip away from another one, and yield it."""
    (where,) = free_addresses(("tcp",))
    host, _, port = target.partition("/")[2].rpartition(":")
    loop = asyncio.new_event_loop()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            ways = ((reader, far_writer), (far_reader, writer))
            await asyncio.gather(*(_relay(*way, round_trip / 2) for way in ways))

    server = loop.run_until_complete(asyncio.start_server(connected, where.host, where.port, backlog=1024))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield str(where)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()


@click.command()
@click.argument("protocol")
@click.option("--round-trip", type=float, default=0.4, show_default=True, metavar="SECONDS")
@click.option("-n", "workers", type=int, default=16, show_default=True, help="Cases that are played at a time.")
@click.option("-k", "keyword", help="As for goldwire test.")
def main(protocol: str, round_trip: float, workers: int, keyword: str | None) -> None:
    """Play the gate with our own peer behind a relay, and print how long it took."""
    with goldwire.peer(protocol) as peer, relayed(peer.address(), round_trip) as address:
        began = time.monotonic()
        command = [sys.executable, "-m", "goldwire", "test", protocol, "--iut", address, "-n", str(workers)]
        status = subprocess.run([*command, *(["-k", keyword] if keyword else [])], check=False).returncode
        click.echo(f"{time.monotonic() - began:.0f} s with a round trip of {round_trip:g} s")
    sys.exit(status)


if __name__ == "__main__":
    main()
