"""A recording proxy that runs in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager

from harness.captures.record_command import PROXIES
from harness.captures.writer import PcapngWriter
from harness.links.addresses import free_port
from harness.links.transports import TRANSPORTS, parse_address


@contextmanager
def proxied(address, path):
    """Run a recording proxy before a server."""
    target = parse_address(address)
    kind = TRANSPORTS[target.transport].kind
    listen = f"{target.transport}/127.0.0.1:{free_port(kind)}"
    ready = threading.Event()
    running = {}

    async def serve():
        running["loop"], running["over"] = asyncio.get_running_loop(), asyncio.Event()
        with PcapngWriter(path, live=True) as dump:
            proxy = running["proxy"] = PROXIES[kind](target, dump)
            await proxy.listen(parse_address(listen))
            ready.set()
            await running["over"].wait()
            await proxy.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(20)
    try:
        yield listen
    finally:
        running["loop"].call_soon_threadsafe(running["over"].set)
        thread.join()
        assert running["proxy"].trouble is None
