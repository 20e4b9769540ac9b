"""RESP over WebSocket: clients of a gateway to Redis; and a broker of our own, which is a Redis and our gateway.

Each command is a text message with a RESP array, each reply one of JSON (``harness.links.gateway``).
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import NotInstalled
from harness.links import redis
from harness.links.addresses import LOOPBACK, Address, free_port
from harness.links.broker import Command
from harness.links.broker_transport import BrokerTransport
from harness.links.gateway import PROTOCOLS
from harness.links.resp import LARGEST_TEXT, ErrorReply, Pushed, Value, spell
from harness.links.resp_client import RespClient

if TYPE_CHECKING:
    from websockets.client import ClientProtocol
    from websockets.frames import Frame

_ROOT = str(Path(__file__).parents[2])
# Also where this is not installed, but runs from a checkout.
_GATEWAY = f"import sys; sys.path.insert(0, {_ROOT!r}); from harness.links.gateway import main; main()"

# JSON may take six bytes for one.
_LONGEST = 6 * LARGEST_TEXT + 1024


class WebSocketClient(RespClient):
    """One connection with a gateway."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._socket = _protocol(address)
        self._message = b""
        self._socket.send_request(self._socket.connect())
        self._outgoing += self._written()

    @property
    def rest(self) -> bytes:
        return self._message

    def feed(self, data: bytes) -> list[bytes]:
        from websockets.frames import Frame

        self._socket.receive_data(data)
        frames: list[bytes] = []
        for event in self._socket.events_received():
            if self._socket.handshake_exc is not None:
                break
            # The first event is the answer to the request; it is no frame.
            frames += self._framed(event) if isinstance(event, Frame) else self._opened()
        # Pings are answered, and so is a close.
        self._outgoing += self._written()
        wrong = self._socket.handshake_exc or self._socket.parser_exc
        # What has only ended is no mistake.
        if wrong is not None and not isinstance(wrong, EOFError):
            raise ConnectionAbortedError(f"this is no gateway: {wrong}") from wrong
        return frames

    def _opened(self) -> list[bytes]:
        # Any answer will do: that the gateway has reached its Redis.
        self.ask()
        return []

    def _framed(self, frame: "Frame") -> list[bytes]:
        from websockets.frames import Opcode

        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return []
        self._message += frame.data
        if not frame.fin:
            return []
        message, self._message = self._message, b""
        try:
            value = _value(json.loads(message))
        except (ValueError, RecursionError) as error:
            raise ConnectionAbortedError(f"this is no gateway: it says {message[:80]!r}") from error
        return self._heard(value)

    def _spell(self, command: Sequence[bytes]) -> bytes:
        said = spell(command)
        try:
            said.decode()
        except UnicodeDecodeError:
            self._socket.send_binary(said)  # no text
        else:
            self._socket.send_text(said)
        return self._written()

    def _written(self) -> bytes:
        return b"".join(self._socket.data_to_send())


def _protocol(address: Address) -> "ClientProtocol":
    try:
        from websockets.client import ClientProtocol
        from websockets.uri import parse_uri
    except ImportError:
        raise NotInstalled("WebSocket is spoken with the package websockets: pip install websockets") from None
    host = f"[{address.host}]" if ":" in address.host else address.host
    return ClientProtocol(parse_uri(f"ws://{host}:{address.port}/"), subprotocols=PROTOCOLS[:1], max_size=_LONGEST)


def _value(told: object) -> Value:
    """Return the reply that a text of JSON stands for."""
    if isinstance(told, list):
        return Pushed(_value(each) for each in told)
    if not isinstance(told, str):
        return told
    if told.startswith("-"):
        return ErrorReply(told[1:])
    return told.encode(errors="surrogateescape")


class WebSocket(BrokerTransport):
    """RESP over WebSocket."""

    def _client(self, address: Address) -> WebSocketClient:
        return WebSocketClient(address)

    def commands(self, address: Address, folder: Path) -> Sequence[Command]:
        behind = free_port()
        # -P: a folder of the user's may be called as a room of ours is.
        gateway = [sys.executable, "-P", "-c", _GATEWAY, address.host, str(address.port), f"{LOOPBACK}:{behind}"]
        return [redis.server(folder, "--bind", LOOPBACK, "--port", str(behind)), gateway]
