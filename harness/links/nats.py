"""NATS: clients of it, which are both ends of a protocol whose nodes meet at a broker; and a broker of our own."""

import json
from collections.abc import Sequence
from pathlib import Path

from harness.errors import Oversized
from harness.links.addresses import Address
from harness.links.broker import Command, installed
from harness.links.broker_client import BrokerClient, Listening, read_envelope
from harness.links.broker_transport import BrokerTransport
from harness.links.nats_stream import Operation, OperationReader, spell, spell_with, subject_of
from wire import envelope

# `echo`: nobody gets what he publishes himself. Without `headers` the server leaves those of others out.
_CONNECT = {
    "verbose": False,
    "pedantic": False,
    "tls_required": False,
    "echo": False,
    "headers": False,
    "name": "goldwire",
    "lang": "python",
    "version": "1",
    "protocol": 1,
}


class NatsClient(BrokerClient):
    """One connection with a NATS server."""

    def __init__(self) -> None:
        super().__init__()
        self._operations = OperationReader()
        self._listening = Listening()
        self._sids: dict[str, bytes] = {}
        self._count = 0
        self._is_greeted = False
        self._most = envelope.LARGEST

    @property
    def rest(self) -> bytes:
        return self._operations.rest

    def encode(self, frame: bytes) -> bytes:
        said = read_envelope(frame)
        subject = subject_of(said.subject)
        if said.operation == envelope.DATA:
            if len(said.payload) > self._most:
                raise ValueError(f"a payload of {len(said.payload)} bytes does not fit: the broker takes {self._most}")
            return spell_with(said.payload, b"PUB", subject)
        if said.operation == envelope.LISTEN:
            return self._listen(said.subject, subject)
        return self._cancel(said.subject)

    def _listen(self, subject: str, spelt: bytes) -> bytes:
        if subject in self._sids:
            return b""
        self._count += 1
        sid = self._sids[subject] = b"%d" % self._count
        self._listening.add(sid, subject)
        return spell(b"SUB", spelt, sid)

    def _cancel(self, subject: str) -> bytes:
        sid = self._sids.pop(subject, None)
        if sid is None:
            return b""
        self._listening.remove(sid, subject)
        return spell(b"UNSUB", sid)

    def ask(self) -> None:
        self.unconfirmed += 1
        self._outgoing += spell(b"PING")

    def feed(self, data: bytes) -> list[bytes]:
        frames = [frame for each in self._operations.feed(data) if (frame := self._heard(each)) is not None]
        if self._operations.excess:
            raise Oversized(self._operations.excess, frames)
        return frames

    def _heard(self, said: Operation) -> bytes | None:
        match said.verb, said.words:
            case b"MSG", (subject, sid, *_):
                return self._message(subject, sid, said.payload)
            case b"PING", ():
                self._outgoing += spell(b"PONG")
            case b"PONG", ():
                self.is_ready = True
                self.unconfirmed -= 1
            case b"INFO", ():
                self._greet(said.payload)
            case b"-ERR", ():
                self._refused(said.payload.decode(errors="replace").strip("'"))
            case b"+OK", ():
                pass
            case _:
                raise ConnectionAbortedError(f"this is no NATS server: it says {said.payload[:80]!r}")
        return None

    def _message(self, name: bytes, sid: bytes, payload: bytes) -> bytes | None:
        try:
            subject = name.decode()
        except UnicodeDecodeError:
            return None  # no envelope can name it
        return envelope.data(subject, payload) if self._listening.wants(sid, subject, raw=self.raw) else None

    def _greet(self, told: bytes) -> None:
        try:
            info = json.loads(told)
            self._most = min(int(info.get("max_payload", self._most)), envelope.LARGEST)
        except (ValueError, AttributeError, TypeError) as error:
            raise ConnectionAbortedError(f"this is no NATS server: {error}") from None
        if self._is_greeted:
            return  # it tells what has changed
        if info.get("tls_required"):
            raise ConnectionAbortedError("the NATS server wants TLS")
        self._is_greeted = True
        self._outgoing += spell(b"CONNECT", json.dumps(_CONNECT).encode())
        self.ask()

    def _refused(self, why: str) -> None:
        if not self.is_ready:
            raise ConnectionRefusedError(f"the NATS server says: {why}")
        self.refusals.append(why)


class Nats(BrokerTransport):
    """NATS."""

    client = NatsClient

    def commands(self, address: Address, folder: Path) -> Sequence[Command]:
        program = installed("nats-server", "nats-server")
        return [(program, "--addr", address.host, "--port", str(address.port))]
