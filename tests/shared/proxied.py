"""A recording proxy that runs in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager

from harness.captures.proxy import Proxy
from harness.captures.writer import PcapngWriter
from harness.links.addresses import free_port
from harness.links.transports import parse_address


@contextmanager
def proxied(address, path):
    """Run a recording proxy before a server."""
    listen = f"tcp/127.0.0.1:{free_port()}"
    ready = threading.Event()
    running = {}

    async def serve():
        running["loop"], running["over"] = asyncio.get_running_loop(), asyncio.Event()
        with PcapngWriter(path, live=True) as dump:
            proxy = running["proxy"] = Proxy(parse_address(address), dump)
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
