"""A gateway: RESP over WebSocket to a Redis behind it, of which each client has a connection of its own.

Each message of a client is one command as a RESP array of texts; each answer of Redis, and each message that it pushes,
is a text message of JSON: ``["pmessage","A.*","A.B","{…}"]``, ``1``, ``"OK"``, ``"-ERR …"``. Bytes that are no UTF-8
are spelt as Python's ``surrogateescape`` does. What is no command gets an error, in its turn, and the client stays.

    python -m harness.links.gateway 127.0.0.1 20003 127.0.0.1:6379    # or the path of a socket in the place of the last
"""

import asyncio
import contextlib
import http
import json
import secrets
import sys
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from harness.links.acceptor import open_more_files
from harness.links.resp import LARGEST_TEXT, ErrorReply, RespReader, StatusReply, Value, spell

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response
    from websockets.typing import Subprotocol

PROTOCOLS: Final[list[Any]] = ["resp", "json", "term"]
"""The sub-protocols, all of which say the same; a client may ask for none as well."""

COMMANDS: Final = frozenset({b"PING", b"PUBLISH", b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE"})
"""What a client may ask: to publish and to listen. Others might stop the Redis, or this connection."""

MOST_CLIENTS = 1000
"""How many clients it has at once: fewer than a Redis takes."""

# A command with the sizes of its texts.
_LONGEST = LARGEST_TEXT + 1024
_CHUNK = 1 << 16


def command_of(message: str | bytes) -> list[bytes]:
    """Return the command in a client's message; ValueError says what is wrong with it."""
    reader = RespReader()
    found = reader.feed(message.encode() if isinstance(message, str) else message)
    if reader.fault:
        raise ValueError(f"Protocol error: {reader.fault}")
    if len(found) != 1 or not reader.is_between:
        raise ValueError("Protocol error: a message is one command as a RESP array")
    [command] = found
    if not (isinstance(command, list) and command and all(isinstance(each, bytes) for each in command)):
        raise ValueError("Protocol error: a command is an array of texts")
    if command[0].upper() not in COMMANDS:
        raise ValueError(f"unknown command {command[0][:80]!r}")
    return command


def spelt(value: Value) -> str:
    """Return a reply as JSON."""
    # ASCII, so that what is no UTF-8 can stand there at all.
    return json.dumps(_plain(value), separators=(",", ":")) + "\r\n"


def _plain(value: Value) -> object:
    match value:
        case ErrorReply():
            return f"-{value}"
        case StatusReply():
            return str(value)
        case bytes():
            return value.decode(errors="surrogateescape")
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {str(_plain(key)): _plain(each) for key, each in value.items()}
        # JSON has no number that is infinite, or none.
        case float() if value - value != 0:
            return str(value)
    return value


class _Relay:
    """One client's connection and the one to Redis that stands behind it."""

    def __init__(self, client: "ServerConnection", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._client = client
        self._reader = reader
        self._writer = writer
        # An answer of our own stands in the place of an echo that Redis is asked for, so that it takes its turn.
        self._own: deque[tuple[bytes, ErrorReply]] = deque()

    async def run(self) -> None:
        """Relay until either side has ended."""
        tasks = [asyncio.create_task(self._ask()), asyncio.create_task(self._answer())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self) -> None:
        async for message in self._client:
            try:
                command = command_of(message)
            except ValueError as error:
                echo = secrets.token_bytes(16)
                self._own.append((echo, ErrorReply(f"ERR {error}")))
                command = [b"ECHO", echo]
            self._writer.write(spell(command))
            await self._writer.drain()

    async def _answer(self) -> None:
        values = RespReader()
        is_greeted = False
        while data := await self._reader.read(_CHUNK):
            for value in values.feed(data):
                # The first is the greeting's.
                if is_greeted:
                    await self._client.send(spelt(self._answered(value)))
                is_greeted = True
            if values.fault:
                return

    def _answered(self, value: Value) -> Value:
        if self._own and value == self._own[0][0]:
            return self._own.popleft()[1]
        return value


class Gateway:
    """The clients of one Redis, which is at ``HOST:PORT`` or at a path."""

    def __init__(self, behind: str) -> None:
        self._behind = behind
        self._clients = 0

    async def serve(self, host: str, port: int) -> None:
        """Serve for ever; OSError when the port is taken."""
        from websockets.asyncio.server import serve

        open_more_files()
        async with serve(
            self._welcome,
            host,
            port,
            process_request=self._admit,
            select_subprotocol=_choose,
            max_size=_LONGEST,
            compression=None,
            # A client that is being debugged may be silent for as long as it likes.
            ping_interval=None,
        ) as server:
            await server.serve_forever()

    def _admit(self, client: "ServerConnection", request: "Request") -> "Response | None":
        if self._clients < MOST_CLIENTS:
            return None
        return client.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, f"there are {MOST_CLIENTS} clients\n")

    async def _welcome(self, client: "ServerConnection") -> None:
        from websockets.exceptions import ConnectionClosed

        self._clients += 1
        try:
            reader, writer = await self._connected()
            try:
                writer.write(spell([b"HELLO", b"3"]))
                await _Relay(client, reader, writer).run()
            finally:
                writer.transport.abort()
        # Without its Redis a gateway is none.
        except OSError as error:
            with contextlib.suppress(ConnectionClosed):
                await client.close(1011, f"no Redis: {error}"[:_REASON])
        finally:
            self._clients -= 1

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if "/" in self._behind:
            return await asyncio.open_unix_connection(self._behind)
        host, _, port = self._behind.rpartition(":")
        return await asyncio.open_connection(host.strip("[]"), int(port))


# Bytes of the reason of a close (RFC 6455, 5.5): a control frame has 125.
_REASON = 120


def _choose(client: "ServerConnection", offered: "Sequence[Subprotocol]") -> "Subprotocol | None":
    return next((each for each in PROTOCOLS if each in offered), None)


def main() -> None:
    """Serve on HOST PORT, before the Redis at HOST:PORT or PATH."""
    try:
        host, port, behind = sys.argv[1:]
        asyncio.run(Gateway(behind).serve(host, int(port)))
    except ValueError:
        sys.exit("usage: python -m harness.links.gateway HOST PORT REDIS (HOST:PORT, or the path of a socket)")
    except OSError as error:
        sys.exit(f"cannot listen: {error}")
    except ImportError:
        sys.exit("the gateway needs the package websockets: pip install websockets")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
