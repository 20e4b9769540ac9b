"""Zenoh's transport messages as frozen values, and batches of them from and to bytes.

Values are immutable, so batches are remembered: one that several readers look at is decoded once.
"""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Any

from wire.engines import live
from wire.errors import DecodeError
from wire.reference import decode, plain
from wire.zenoh.grammar_transport import VERSION, network_messages
from wire.zenoh.values import (
    Extension,
    Extensions,
    NetworkMessage,
    Value,
    Wire,
    chain,
    extensions_of,
    from_wire,
    to_wire,
)

BATCH, NETWORK = "zenoh/batch", "zenoh/network-message"

MOST_IN_A_FRAGMENT = 60_000
"""Bytes with which a FRAGMENT fits in a batch, whatever its header."""


class WhatAmI(IntEnum):
    """What a node says that it is."""

    ROUTER = 0
    PEER = 1
    CLIENT = 2


class Sizes(Value, frozen=True):
    """The sizes that INIT negotiates: 2-bit classes of sequence numbers and request ids, bytes of a batch."""

    frame_sn: int = 2
    request_id: int = 2
    batch_size: int = 65535


class Init(Value, frozen=True):
    """INIT: SYN when ``cookie`` is ``None``, else ACK."""

    whatami: int
    zid: bytes
    sizes: Sizes | None = None
    cookie: bytes | None = None
    extensions: Extensions = ()
    version: int = VERSION


class Open(Value, frozen=True):
    """OPEN: SYN with the cookie that INIT brought, ACK without; ``lease`` is in milliseconds."""

    lease: int
    initial_sn: int
    cookie: bytes | None = None
    extensions: Extensions = ()


class Close(Value, frozen=True):
    """CLOSE of the session or of one link."""

    reason: int
    session: bool = True
    extensions: Extensions = ()


class KeepAlive(Value, frozen=True):
    """KEEP_ALIVE: nothing to say, still here."""

    extensions: Extensions = ()


class Frame(Value, frozen=True):
    """FRAME: network messages under one sequence number."""

    sn: int
    messages: tuple[NetworkMessage, ...]
    reliable: bool = True
    extensions: Extensions = ()


class Fragment(Value, frozen=True):
    """FRAGMENT: a part of network messages that do not fit in one batch."""

    sn: int
    data: bytes
    more: bool
    reliable: bool = True
    extensions: Extensions = ()


class TransportOam(Value, frozen=True):
    """OAM of the transport; passed over."""

    id: int


TransportMessage = Init | Open | Close | KeepAlive | Frame | Fragment | TransportOam


# In memory both ends read the same batch, one after the other.
@lru_cache(maxsize=64)
def read_batch(data: bytes) -> tuple[TransportMessage, ...]:
    """Decode one batch; raises ``DecodeError``."""
    return tuple([_read(value) for value in live(BATCH).codec(BATCH).decode(data)])


def read_beginning(data: bytes) -> tuple[NetworkMessage, ...]:
    """Return the network messages of a batch that stand before the place where it cannot be decoded."""
    try:
        frames = live(BATCH).decode(BATCH, data)
    except DecodeError as error:
        return read_before(error)
    return _network_messages(frames, [])


def read_before(error: DecodeError) -> tuple[NetworkMessage, ...]:
    """Return the network messages of a batch before what an error is about, by the error alone."""
    if not error.before:
        return ()
    return _network_messages(plain(error.before[-1]), plain(error.before[0]) if len(error.before) > 1 else [])


def _network_messages(frames: list[Wire], rest: list[Wire]) -> tuple[NetworkMessage, ...]:
    """Return what stands in the FRAMEs of a batch, and behind it the ``rest``, of one that was not read to its end."""
    values = [value for each in frames if each["type"] == "FRAME" for value in each["messages"]]
    return tuple(from_wire(value) for value in values + rest)


def write_batch(messages: Iterable[TransportMessage]) -> bytes:
    """Encode one batch."""
    match messages:
        case [Fragment(data=data) as fragment] if len(data) <= MOST_IN_A_FRAGMENT:
            return _fragment_header(fragment.sn, fragment.more, fragment.reliable, fragment.extensions) + data
        case [Init() | Open() | Close() | KeepAlive() as message]:
            return _write_one(message)
        case _:
            return live(BATCH).encode(BATCH, [_write(message) for message in messages])


# Sessions begin alike, end alike, and number what they send from the same number on.
@lru_cache(maxsize=1024)
def _write_one(message: TransportMessage) -> bytes:
    return live(BATCH).encode(BATCH, [_write(message)])


@lru_cache(maxsize=4096)
def _fragment_header(sn: int, more: bool, reliable: bool, extensions: Extensions) -> bytes:
    return _write_one(Fragment(sn, b"", more, reliable, extensions))


@lru_cache(maxsize=4096)
def write_network(message: NetworkMessage) -> bytes:
    """Encode one network message."""
    return live(NETWORK).encode(NETWORK, to_wire(message))


def read_network(data: bytes) -> tuple[NetworkMessage, ...]:
    """Decode network messages in a row, as a chain of fragments has them; raises ``DecodeError``."""
    # What a FRAME may hold, so the live engine reads them as one. Where that is not all of a batch, or is too large for
    # one, the grammar of such a row says what they are.
    try:
        batch = read_batch(frame_header(0) + data)
    except DecodeError:
        batch = ()
    match batch:
        case [Frame(messages=messages)]:
            return messages
        case _:
            return tuple(from_wire(value) for value in decode(network_messages, data))


# Sessions begin at 0, one after the other, with the same few thousand numbers.
@lru_cache(maxsize=4096)
def frame_header(sn: int, *, reliable: bool = True) -> bytes:
    """Return the bytes of a FRAME up to its first network message."""
    return write_batch([Frame(sn, (), reliable)])


def _read(value: Wire) -> TransportMessage:
    header = value["header"]
    extensions = extensions_of(value)
    match value["type"]:
        case "FRAME":
            messages = tuple([from_wire(message) for message in value["messages"]])
            return Frame(value["sn"], messages, bool(header["R"]), extensions)
        case "INIT":
            node, sizes = value["node"], None
            if header["S"]:
                bits = value["resolution"]
                sizes = Sizes(bits["frame_sn"], bits["request_id"], value["batch_size"])
            return Init(node["whatami"], value["zid"], sizes, value["cookie"], extensions, value["version"])
        case "OPEN":
            lease = value["lease"] * (1000 if header["T"] else 1)
            return Open(lease, value["initial_sn"], value["cookie"], extensions)
        case "CLOSE":
            return Close(value["reason"], bool(header["S"]), extensions)
        case "KEEP_ALIVE":
            return KeepAlive(extensions)
        case "FRAGMENT":
            return Fragment(value["sn"], value["data"], bool(header["M"]), bool(header["R"]), extensions)
        case _:
            return TransportOam(value["id"])


def _write(message: TransportMessage) -> Wire:
    extensions: Extensions = getattr(message, "extensions", ())
    header: dict[str, int] = {"Z": int(bool(extensions))}
    value: dict[str, Any] = {"header": header, "extensions": chain(extensions)}
    match message:
        case Init():
            header |= {"A": int(message.cookie is not None), "S": int(message.sizes is not None)}
            sizes = message.sizes or Sizes()
            return value | {
                "type": "INIT",
                "version": message.version,
                "node": {"zid_length": len(message.zid) - 1, "whatami": message.whatami},
                "zid": message.zid,
                "resolution": {"frame_sn": sizes.frame_sn, "request_id": sizes.request_id},
                "batch_size": sizes.batch_size,
                "cookie": message.cookie,
            }
        case Open():
            seconds = message.lease % 1000 == 0
            header |= {"A": int(message.cookie is None), "T": int(seconds)}
            lease = message.lease // 1000 if seconds else message.lease
            return value | {
                "type": "OPEN",
                "lease": lease,
                "initial_sn": message.initial_sn,
                "cookie": message.cookie,
            }
        case Close():
            header |= {"S": int(message.session)}
            return value | {"type": "CLOSE", "reason": message.reason}
        case KeepAlive():
            return value | {"type": "KEEP_ALIVE"}
        case Frame():
            header |= {"R": int(message.reliable)}
            messages = [to_wire(inner) for inner in message.messages]
            return value | {"type": "FRAME", "sn": message.sn, "messages": messages}
        case Fragment():
            header |= {"R": int(message.reliable), "M": int(message.more)}
            return value | {"type": "FRAGMENT", "sn": message.sn, "data": message.data}
        case TransportOam():
            return value | {"type": "T_OAM", "id": message.id, "body": {}}


PATCH_1 = Extension(0x7, 1)
"""The INIT extension that says that fragments carry First and Drop."""
