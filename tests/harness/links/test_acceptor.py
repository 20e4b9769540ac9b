"""Accepting on an asyncio loop."""

import asyncio
import socket

from harness.links.acceptor import Acceptor, listening_sockets
from harness.links.addresses import free_port


def test_a_connection_that_was_accepted_in_the_moment_of_the_end_is_closed() -> None:
    handled: list[socket.socket] = []

    async def handle(connection: socket.socket) -> None:
        handled.append(connection)

    async def main() -> None:
        (listening,) = listening_sockets([(socket.AF_INET, ("127.0.0.1", free_port()))], socket.SOCK_STREAM)
        acceptor = Acceptor(listening, handle)
        with socket.create_connection(listening.getsockname(), timeout=5) as dialled:
            # In the first turn of the loop the connection is accepted; in the second it would be handled.
            for _ in range(2):
                await asyncio.sleep(0)
            acceptor.close()
            assert await asyncio.to_thread(dialled.recv, 1) == b""

    asyncio.run(main())
    assert not handled
