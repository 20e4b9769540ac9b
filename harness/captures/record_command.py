"""``goldwire record``: a proxy in front of a server that writes what is said to a capture."""

import asyncio
import signal
import socket
from pathlib import Path

import click

from harness.captures.datagram_proxy import DatagramProxy
from harness.captures.proxy import Proxy
from harness.captures.writer import PcapngWriter
from harness.errors import BadDescription, Unreachable
from harness.links.acceptor import open_more_files
from harness.links.addresses import Address
from harness.links.transports import TRANSPORTS, parse_address

PROXIES: dict[socket.SocketKind, type[Proxy | DatagramProxy]] = {
    socket.SOCK_STREAM: Proxy,
    socket.SOCK_DGRAM: DatagramProxy,
}
"""What passes on and records, by the kind of the sockets."""


@click.command()
@click.argument("address")
@click.option("--listen", required=True, metavar="ADDRESS", help="Where those who dial come to: tcp/127.0.0.1:7448.")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The capture to write.",
)
def record(address: str, listen: str, out: Path) -> int:
    """Pass on connections to the server at ADDRESS, and write what is said to a capture (pcapng), until interrupted.

    Over UDP datagrams are passed on, and each address that sends some counts as a connection.

    Prints ``ready`` and where it listens. What was written can be read at any time, and is what ``goldwire audit``
    takes. Exit status 1 when the capture cannot be written any more.

    \b
    Examples:
      goldwire record tcp/127.0.0.1:7447 --listen tcp/127.0.0.1:7448 --out capture.pcapng
      goldwire record udp/127.0.0.1:7447 --listen udp/127.0.0.1:7448 --out capture.pcapng
      goldwire record nats/127.0.0.1:4222 --listen nats/127.0.0.1:4223 --out capture.pcapng
    """
    target, where = _recordable(address), _recordable(listen)
    kinds = [TRANSPORTS[each.transport].kind for each in (target, where)]
    if kinds[0] is not kinds[1]:
        raise click.UsageError(f"--listen: {listen}: what is said to {address} has to come in over the same transport")
    if out.is_file():
        raise click.UsageError(f"--out: {out} is there already; choose another name, or take it away first")
    is_new = not out.exists()  # a pipe or a device is nothing to take away again
    try:
        # Before anything listens: a path that cannot be written is found out while nobody has dialled.
        capture = PcapngWriter(out, live=True)
    except OSError as error:
        if is_new:
            out.unlink(missing_ok=True)
        raise click.UsageError(f"--out: cannot write {out}: {error.strerror}") from error
    open_more_files()
    with capture:
        proxy = PROXIES[kinds[0]](target, capture)
        try:
            asyncio.run(_run(proxy, where))
        except Unreachable:
            if is_new:
                out.unlink()
            raise
    click.echo(f"{out}: {proxy.connections} connections, {capture.packets} packets", err=True)
    if proxy.trouble is not None:
        click.echo(f"{out} is incomplete: {proxy.trouble}", err=True)
    return 1 if proxy.trouble is not None else 0


def _recordable(text: str) -> Address:
    try:
        address = parse_address(text)
    except BadDescription as error:
        raise click.UsageError(str(error)) from error
    if TRANSPORTS[address.transport].kind not in PROXIES:
        raise click.UsageError(f"{text}: only what goes over TCP or UDP is recorded here")
    return address


async def _run(proxy: Proxy | DatagramProxy, where: Address) -> None:
    over = asyncio.Event()
    proxy.on_trouble = over.set
    # By the loop, and not as KeyboardInterrupt: the capture ends behind a whole packet.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    await proxy.listen(where)
    click.echo(f"ready {where}")
    await over.wait()
    await proxy.stop()
