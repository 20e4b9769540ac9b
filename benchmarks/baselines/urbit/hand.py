"""urbit/packet by hand: what somebody writes in plain Python who wants it fast and checks everything.

The values are those of the grammar. Malformed frames, and values that cannot be written, are ``ValueError``.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Any

from vectors.bench.throughput import Baseline

Fields = dict[str, Any]

LARGEST = 2048
TYPES = ("scry_fore", "scry_back", "ames_fore", "ames_back", "beat_fore", "beat_back", "bond_fore", "bond_back")
WIDTHS = (2, 4, 8, 16)

HEADER, ORIGIN = Struct("<I"), Struct("<IH")
ASKED, PROMISED, ANSWERED = Struct("<64sIH"), Struct("<Q64sIH"), Struct("<IH")
BEAT, LIVE = Struct("<QQ"), Struct("<QQB")
TICKS = [{"receiver": byte >> 4, "sender": byte & 0xF} for byte in range(256)]
FLAGS = [{"live": byte & 1, "X": byte & 0xFE} for byte in range(256)]


def decode(data: bytes) -> Fields:
    """Return what a packet is."""
    if len(data) > LARGEST:
        raise ValueError("more bytes than any packet has")
    try:
        (word,) = HEADER.unpack_from(data)
        at, origin = 4, None
        if not word >> 31:
            address, port = ORIGIN.unpack_from(data, 4)
            at, origin = 10, {"address": address, "port": port}
        ticks = TICKS[data[at]]
        sender, at = number(data, at + 1, word >> 7 & 3)
        receiver, at = number(data, at, word >> 9 & 3)
        body = READERS[word & 7](data, at)
    except (error, IndexError):
        raise ValueError("bytes are missing") from None
    header = {
        "type": word & 7,
        "not_ames": word >> 3 & 1,
        "version": word >> 4 & 7,
        "sender_rank": word >> 7 & 3,
        "receiver_rank": word >> 9 & 3,
        "checksum": word >> 11 & 0xFFFFF,
        "direct": word >> 31,
    }
    return {"header": header, "origin": origin, "ticks": ticks, "sender": sender, "receiver": receiver, "body": body}


def number(data: bytes, at: int, rank: int) -> tuple[int | bytes, int]:
    """Read the number of a ship."""
    end = at + WIDTHS[rank]
    if end > len(data):
        raise ValueError("bytes are missing")
    found = data[at:end]
    return found if rank == 3 else int.from_bytes(found, "little"), end


def whole(data: bytes, at: int, form: Struct) -> tuple[Any, ...]:
    """Read fields that fill the rest of a packet."""
    if len(data) != at + form.size:
        raise ValueError("bytes are missing, or left over")
    return form.unpack_from(data, at)


def last_path(data: bytes, at: int, length: int) -> bytes:
    """Read a path that fills the rest of a packet."""
    if len(data) != at + length:
        raise ValueError("bytes are missing, or left over")
    return data[at:]


def asked(name: str) -> Callable[[bytes, int], Fields]:
    """Return what reads a request or a cancellation."""

    def read(data: bytes, at: int) -> Fields:
        signature, fragment, length = ASKED.unpack_from(data, at)
        path = last_path(data, at + ASKED.size, length)
        return {"type": name, "signature": signature, "fragment": fragment, "path_length": length, "path": path}

    return read


def promised(data: bytes, at: int) -> Fields:
    """Read a promise."""
    session, signature, fragment, length = PROMISED.unpack_from(data, at)
    path = last_path(data, at + PROMISED.size, length)
    fields = {"signature": signature, "fragment": fragment, "path_length": length, "path": path}
    return {"type": "bond_back", "session": session, **fields}


def answered(data: bytes, at: int) -> Fields:
    """Read a response."""
    fragment, length = ANSWERED.unpack_from(data, at)
    path_end = at + ANSWERED.size + length
    end = path_end + 64
    if end > len(data):
        raise ValueError("bytes are missing")
    return {
        "type": "scry_back",
        "fragment": fragment,
        "path_length": length,
        "path": data[at + ANSWERED.size : path_end],
        "signature": data[path_end:end],
        "content": data[end:],
    }


def beat(data: bytes, at: int) -> Fields:
    """Read a heartbeat request."""
    session, count = whole(data, at, BEAT)
    return {"type": "beat_fore", "session": session, "number": count}


def live(data: bytes, at: int) -> Fields:
    """Read a heartbeat response."""
    session, count, flags = whole(data, at, LIVE)
    return {"type": "beat_back", "session": session, "number": count, "live": FLAGS[flags]}


READERS: tuple[Callable[[bytes, int], Fields], ...] = (
    asked("scry_fore"),
    answered,
    lambda data, at: {"type": "ames_fore", "data": data[at:]},
    lambda data, at: {"type": "ames_back", "data": data[at:]},
    beat,
    live,
    asked("bond_fore"),
    promised,
)


def encode(value: Fields) -> bytes:
    """Return the bytes of a packet."""
    try:
        return written(value)
    except (error, OverflowError, KeyError, TypeError) as problem:
        raise ValueError(f"no packet: {problem}") from None


def written(value: Fields) -> bytes:
    """Write a packet, with the errors of whatever does not fit."""
    header, origin, ticks, body = value["header"], value["origin"], value["ticks"], value["body"]
    if body["type"] != TYPES[header["type"]] or (origin is None) != bool(header["direct"]):
        raise ValueError("the header announces something else")
    word = (
        header["type"]
        | header["not_ames"] << 3
        | header["version"] << 4
        | header["sender_rank"] << 7
        | header["receiver_rank"] << 9
        | header["checksum"] << 11
        | header["direct"] << 31
    )
    parts = [HEADER.pack(word)]
    if origin is not None:
        parts.append(ORIGIN.pack(origin["address"], origin["port"]))
    parts.append((ticks["receiver"] << 4 | ticks["sender"]).to_bytes(1, "little"))
    for end in ("sender", "receiver"):
        rank, ship = header[f"{end}_rank"], value[end]
        parts.append(ship if rank == 3 else ship.to_bytes(WIDTHS[rank], "little"))
        if len(parts[-1]) != WIDTHS[rank]:
            raise ValueError("a comet has 16 bytes")
    parts.append(WRITERS[header["type"]](body))
    data = b"".join(parts)
    if len(data) > LARGEST:
        raise ValueError("more bytes than any packet has")
    return data


def spelled(body: Fields) -> bytes:
    """Write a request or a cancellation."""
    signature, path = body["signature"], body["path"]
    if len(signature) != 64 or len(path) != body["path_length"]:
        raise ValueError("the signature or the path has another length")
    return ASKED.pack(signature, body["fragment"], len(path)) + path


def response(body: Fields) -> bytes:
    """Write a response."""
    signature, path = body["signature"], body["path"]
    if len(signature) != 64 or len(path) != body["path_length"]:
        raise ValueError("the signature or the path has another length")
    written: bytes = ANSWERED.pack(body["fragment"], len(path)) + path + signature + body["content"]
    return written


def lived(body: Fields) -> bytes:
    """Write a heartbeat response."""
    flags = body["live"]
    return LIVE.pack(body["session"], body["number"], flags["live"] | flags["X"])


WRITERS: tuple[Callable[[Fields], bytes], ...] = (
    spelled,
    response,
    lambda body: bytes(body["data"]),
    lambda body: bytes(body["data"]),
    lambda body: BEAT.pack(body["session"], body["number"]),
    lived,
    spelled,
    lambda body: body["session"].to_bytes(8, "little") + spelled(body),
)


BASELINES = {"packet": Baseline("hand", decode, encode)}
