"""How long the gate takes over real sockets with a node that is far away.

::

    python benchmarks/far_node.py zenoh --round-trip 0.4 -n 16

A relay stands between each worker of the tester and a node of its own, our peer, and holds everything back for half a
round trip each way. Ends with the status of the gate: nobody is accused who is only far away.
"""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import goldwire
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


def serve(protocol: str, where: str, round_trip: float) -> None:
    """Serve our own peer, a round trip away from an address, until the process is ended."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(*_end(peer.address()))
            ways = ((reader, far_writer), (far_reader, writer))
            await asyncio.gather(*(_relay(*way, round_trip / 2) for way in ways))

    async def listening() -> None:
        server = await asyncio.start_server(connected, *_end(where), backlog=1024)
        await server.serve_forever()

    with goldwire.peer(protocol) as peer:
        asyncio.run(listening())


def _end(address: str) -> tuple[str, int]:
    host, _, port = address.partition("/")[2].rpartition(":")
    return host, int(port)


@click.command()
@click.argument("protocol")
@click.option("--round-trip", type=float, default=0.4, show_default=True, metavar="SECONDS")
@click.option("-n", "workers", type=int, default=16, show_default=True, help="Workers, each with a node of its own.")
@click.option("-k", "keyword", help="As for goldwire test.")
@click.option("--listen", metavar="ADDRESS", help="Be such a node; this is how the gate starts it.")
def main(protocol: str, round_trip: float, workers: int, keyword: str | None, listen: str | None) -> None:
    """Play the gate with our own peer behind a relay, and print how long it took."""
    if listen:
        serve(protocol, listen, round_trip)
        return
    role = next(iter(load(protocol).roles))
    with TemporaryDirectory() as folder:
        iut = Path(folder, "far.toml")
        command = [sys.executable, str(Path(__file__).resolve()), protocol, "--round-trip", str(round_trip)]
        iut.write_text(
            f'name = "far"\nprotocol = "{protocol}"\nroles = ["{role}"]\n'
            f"[process]\ncommand = {json.dumps([*command, '--listen', '{listen}'])}\n"
        )
        began = time.monotonic()
        words = [sys.executable, "-m", "goldwire", "test", protocol, "--iut", str(iut), "-n", str(workers)]
        status = subprocess.run([*words, *(["-k", keyword] if keyword else [])], check=False).returncode
        click.echo(f"{time.monotonic() - began:.0f} s with a round trip of {round_trip:g} s")
    sys.exit(status)


if __name__ == "__main__":
    main()
