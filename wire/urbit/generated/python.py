# mypy: disable-error-code="assignment, no-any-return, no-redef, union-attr, var-annotated"
"""Codecs of urbit: generated from wire/urbit by ``python -m wire.emit``. Do not edit."""

from collections.abc import Mapping
from typing import Any

from wire.errors import EncodeError, Reason
from wire.runtime import (
    BIT_0,
    BIT_1,
    BIT_2,
    BIT_3,
    BIT_4,
    BIT_5,
    BIT_6,
    CONTINUED,
    OCTET,
    VARINT,
    Codec,
    Refusal,
    blanks,
    dispatch,
    encode_refusal,
    flags_table,
    named_bits,
    refuse_unknown,
    refusing,
    spell_bits,
    spell_flags,
    spell_varint,
    varint,
)

TRUNCATED, BAD_TEXT, BAD_VALUE, RESERVED = Reason.TRUNCATED, Reason.BAD_TEXT, Reason.BAD_VALUE, Reason.RESERVED
UNKNOWN_ID, TOO_LONG, TRAILING = Reason.UNKNOWN_ID, Reason.TOO_LONG, Reason.TRAILING
ENCODE_FAILURES = (EncodeError, TypeError, ValueError, LookupError, AttributeError, OverflowError)


header_bits = (
    ("type", 0x7, 0),
    ("not_ames", 0x1, 3),
    ("version", 0x7, 4),
    ("sender_rank", 0x3, 7),
    ("receiver_rank", 0x3, 9),
    ("checksum", 0xFFFFF, 11),
    ("direct", 0x1, 31),
)

packet_ticks_bits = (
    ("receiver", 0xF, 4),
    ("sender", 0xF, 0),
)
packet_ticks_bits_table = flags_table(packet_ticks_bits)

beat_back_live_bits = (
    ("live", 0x1, 0),
    ("X", 0xFE, 0),
)
beat_back_live_bits_table = flags_table(beat_back_live_bits)


def read_origin(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_address = int.from_bytes(data[at : at + 4], "little")
    at += 4
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_port = int.from_bytes(data[at : at + 2], "little")
    at += 2
    value = {"address": v_address, "port": v_port}
    return value, at


def write_origin(value: Any) -> bytes:
    v_address = value["address"]
    v_port = value["port"]
    return v_address.to_bytes(4, "little") + v_port.to_bytes(2, "little")


def read_scry_fore(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    end = at + 64
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_signature = data[at:end]
    at = end
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_fragment = int.from_bytes(data[at : at + 4], "little")
    at += 4
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path_length = int.from_bytes(data[at : at + 2], "little")
    at += 2
    end = at + v_path_length
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path = data[at:end]
    at = end
    value = {"type": "scry_fore", "signature": v_signature, "fragment": v_fragment, "path_length": v_path_length, "path": v_path}
    return value, at


def write_scry_fore(value: Any) -> bytes:
    v_signature = value["signature"]
    if not isinstance(v_signature, bytes):
        raise EncodeError(f"{v_signature!r} is not bytes")
    if len(v_signature) != 64:
        raise EncodeError("bytes of another length than announced")
    v_fragment = value["fragment"]
    v_path_length = value["path_length"]
    v_path = value["path"]
    if not isinstance(v_path, bytes):
        raise EncodeError(f"{v_path!r} is not bytes")
    if len(v_path) != v_path_length:
        raise EncodeError("bytes of another length than announced")
    return v_signature + v_fragment.to_bytes(4, "little") + v_path_length.to_bytes(2, "little") + v_path


def read_scry_back(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_fragment = int.from_bytes(data[at : at + 4], "little")
    at += 4
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path_length = int.from_bytes(data[at : at + 2], "little")
    at += 2
    end = at + v_path_length
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path = data[at:end]
    at = end
    end = at + 64
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_signature = data[at:end]
    at = end
    v_content = data[at:]
    at = len(data)
    value = {"type": "scry_back", "fragment": v_fragment, "path_length": v_path_length, "path": v_path, "signature": v_signature, "content": v_content}
    return value, at


def write_scry_back(value: Any) -> bytes:
    v_fragment = value["fragment"]
    v_path_length = value["path_length"]
    v_path = value["path"]
    if not isinstance(v_path, bytes):
        raise EncodeError(f"{v_path!r} is not bytes")
    if len(v_path) != v_path_length:
        raise EncodeError("bytes of another length than announced")
    v_signature = value["signature"]
    if not isinstance(v_signature, bytes):
        raise EncodeError(f"{v_signature!r} is not bytes")
    if len(v_signature) != 64:
        raise EncodeError("bytes of another length than announced")
    v_content = value["content"]
    if not isinstance(v_content, bytes):
        raise EncodeError(f"{v_content!r} is not bytes")
    return v_fragment.to_bytes(4, "little") + v_path_length.to_bytes(2, "little") + v_path + v_signature + v_content


def read_ames_fore(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    v_data = data[at:]
    at = len(data)
    value = {"type": "ames_fore", "data": v_data}
    return value, at


def write_ames_fore(value: Any) -> bytes:
    v_data = value["data"]
    if not isinstance(v_data, bytes):
        raise EncodeError(f"{v_data!r} is not bytes")
    return v_data


def read_ames_back(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    v_data = data[at:]
    at = len(data)
    value = {"type": "ames_back", "data": v_data}
    return value, at


def write_ames_back(value: Any) -> bytes:
    v_data = value["data"]
    if not isinstance(v_data, bytes):
        raise EncodeError(f"{v_data!r} is not bytes")
    return v_data


def read_beat_fore(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 8 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_session = int.from_bytes(data[at : at + 8], "little")
    at += 8
    if at + 8 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_number = int.from_bytes(data[at : at + 8], "little")
    at += 8
    value = {"type": "beat_fore", "session": v_session, "number": v_number}
    return value, at


def write_beat_fore(value: Any) -> bytes:
    v_session = value["session"]
    v_number = value["number"]
    return v_session.to_bytes(8, "little") + v_number.to_bytes(8, "little")


def read_beat_back(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 8 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_session = int.from_bytes(data[at : at + 8], "little")
    at += 8
    if at + 8 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_number = int.from_bytes(data[at : at + 8], "little")
    at += 8
    b_live = data[at]
    v_live = beat_back_live_bits_table[b_live]
    at += 1
    value = {"type": "beat_back", "session": v_session, "number": v_number, "live": v_live}
    return value, at


def write_beat_back(value: Any) -> bytes:
    v_session = value["session"]
    v_number = value["number"]
    v_live = value["live"]
    try:
        b_live = v_live.byte
    except AttributeError:
        b_live = spell_flags(v_live, beat_back_live_bits, {}, beat_back_live_bits_table)
    else:
        if beat_back_live_bits_table[b_live] is not v_live:
            b_live = spell_flags(v_live, beat_back_live_bits, {}, beat_back_live_bits_table)
    return v_session.to_bytes(8, "little") + v_number.to_bytes(8, "little") + OCTET[b_live]


def read_bond_fore(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    end = at + 64
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_signature = data[at:end]
    at = end
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_fragment = int.from_bytes(data[at : at + 4], "little")
    at += 4
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path_length = int.from_bytes(data[at : at + 2], "little")
    at += 2
    end = at + v_path_length
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path = data[at:end]
    at = end
    value = {"type": "bond_fore", "signature": v_signature, "fragment": v_fragment, "path_length": v_path_length, "path": v_path}
    return value, at


def write_bond_fore(value: Any) -> bytes:
    v_signature = value["signature"]
    if not isinstance(v_signature, bytes):
        raise EncodeError(f"{v_signature!r} is not bytes")
    if len(v_signature) != 64:
        raise EncodeError("bytes of another length than announced")
    v_fragment = value["fragment"]
    v_path_length = value["path_length"]
    v_path = value["path"]
    if not isinstance(v_path, bytes):
        raise EncodeError(f"{v_path!r} is not bytes")
    if len(v_path) != v_path_length:
        raise EncodeError("bytes of another length than announced")
    return v_signature + v_fragment.to_bytes(4, "little") + v_path_length.to_bytes(2, "little") + v_path


def read_bond_back(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 8 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_session = int.from_bytes(data[at : at + 8], "little")
    at += 8
    end = at + 64
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_signature = data[at:end]
    at = end
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_fragment = int.from_bytes(data[at : at + 4], "little")
    at += 4
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path_length = int.from_bytes(data[at : at + 2], "little")
    at += 2
    end = at + v_path_length
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_path = data[at:end]
    at = end
    value = {"type": "bond_back", "session": v_session, "signature": v_signature, "fragment": v_fragment, "path_length": v_path_length, "path": v_path}
    return value, at


def write_bond_back(value: Any) -> bytes:
    v_session = value["session"]
    v_signature = value["signature"]
    if not isinstance(v_signature, bytes):
        raise EncodeError(f"{v_signature!r} is not bytes")
    if len(v_signature) != 64:
        raise EncodeError("bytes of another length than announced")
    v_fragment = value["fragment"]
    v_path_length = value["path_length"]
    v_path = value["path"]
    if not isinstance(v_path, bytes):
        raise EncodeError(f"{v_path!r} is not bytes")
    if len(v_path) != v_path_length:
        raise EncodeError("bytes of another length than announced")
    return v_session.to_bytes(8, "little") + v_signature + v_fragment.to_bytes(4, "little") + v_path_length.to_bytes(2, "little") + v_path


def read_packet(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    if at + 4 > len(data):
        raise Refusal(TRUNCATED, len(data))
    b_header = int.from_bytes(data[at : at + 4], "little")
    v_header = named_bits(b_header, header_bits)
    at += 4
    v_origin: Any = None
    if not b_header & 0x80000000:
        v_origin, at = read_origin(data, at, refuse)
    b_ticks = data[at]
    v_ticks = packet_ticks_bits_table[b_ticks]
    at += 1
    key = b_header >> 7 & 0x3
    if key == 0:
        if at + 2 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_sender = int.from_bytes(data[at : at + 2], "little")
        at += 2
    elif key == 1:
        if at + 4 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_sender = int.from_bytes(data[at : at + 4], "little")
        at += 4
    elif key == 2:
        if at + 8 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_sender = int.from_bytes(data[at : at + 8], "little")
        at += 8
    elif key == 3:
        end = at + 16
        if end < at:
            raise Refusal(BAD_VALUE, at)
        if end > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_sender = data[at:end]
        at = end
    else:
        v_sender = None
    key = b_header >> 9 & 0x3
    if key == 0:
        if at + 2 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_receiver = int.from_bytes(data[at : at + 2], "little")
        at += 2
    elif key == 1:
        if at + 4 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_receiver = int.from_bytes(data[at : at + 4], "little")
        at += 4
    elif key == 2:
        if at + 8 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_receiver = int.from_bytes(data[at : at + 8], "little")
        at += 8
    elif key == 3:
        end = at + 16
        if end < at:
            raise Refusal(BAD_VALUE, at)
        if end > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_receiver = data[at:end]
        at = end
    else:
        v_receiver = None
    key = b_header & 0x7
    if key == 0:
        v_body, at = read_scry_fore(data, at, refuse)
    elif key == 1:
        v_body, at = read_scry_back(data, at, refuse)
    elif key == 2:
        v_body, at = read_ames_fore(data, at, refuse)
    elif key == 3:
        v_body, at = read_ames_back(data, at, refuse)
    elif key == 4:
        v_body, at = read_beat_fore(data, at, refuse)
    elif key == 5:
        v_body, at = read_beat_back(data, at, refuse)
    elif key == 6:
        v_body, at = read_bond_fore(data, at, refuse)
    elif key == 7:
        v_body, at = read_bond_back(data, at, refuse)
    else:
        raise Refusal(UNKNOWN_ID, at)
    value = {"header": v_header, "origin": v_origin, "ticks": v_ticks, "sender": v_sender, "receiver": v_receiver, "body": v_body}
    return value, at


def write_packet(value: Any) -> bytes:
    v_header = value["header"]
    b_header = spell_bits(v_header, header_bits, {})
    out = b_header.to_bytes(4, "little")
    if not b_header & 0x80000000:
        v_origin = value["origin"]
        out += write_origin(v_origin)
    v_ticks = value["ticks"]
    try:
        b_ticks = v_ticks.byte
    except AttributeError:
        b_ticks = spell_flags(v_ticks, packet_ticks_bits, {}, packet_ticks_bits_table)
    else:
        if packet_ticks_bits_table[b_ticks] is not v_ticks:
            b_ticks = spell_flags(v_ticks, packet_ticks_bits, {}, packet_ticks_bits_table)
    v_sender = value.get("sender")
    key = b_header >> 7 & 0x3
    if key == 0:
        w_sender = v_sender.to_bytes(2, "little")
    elif key == 1:
        w_sender = v_sender.to_bytes(4, "little")
    elif key == 2:
        w_sender = v_sender.to_bytes(8, "little")
    elif key == 3:
        if not isinstance(v_sender, bytes):
            raise EncodeError(f"{v_sender!r} is not bytes")
        if len(v_sender) != 16:
            raise EncodeError("bytes of another length than announced")
        w_sender = v_sender
    else:
        w_sender = b""
    v_receiver = value.get("receiver")
    key = b_header >> 9 & 0x3
    if key == 0:
        w_receiver = v_receiver.to_bytes(2, "little")
    elif key == 1:
        w_receiver = v_receiver.to_bytes(4, "little")
    elif key == 2:
        w_receiver = v_receiver.to_bytes(8, "little")
    elif key == 3:
        if not isinstance(v_receiver, bytes):
            raise EncodeError(f"{v_receiver!r} is not bytes")
        if len(v_receiver) != 16:
            raise EncodeError("bytes of another length than announced")
        w_receiver = v_receiver
    else:
        w_receiver = b""
    v_body = value["body"]
    key = b_header & 0x7
    if key == 0 and v_body["type"] == "scry_fore":
        w_body = write_scry_fore(v_body)
    elif key == 1 and v_body["type"] == "scry_back":
        w_body = write_scry_back(v_body)
    elif key == 2 and v_body["type"] == "ames_fore":
        w_body = write_ames_fore(v_body)
    elif key == 3 and v_body["type"] == "ames_back":
        w_body = write_ames_back(v_body)
    elif key == 4 and v_body["type"] == "beat_fore":
        w_body = write_beat_fore(v_body)
    elif key == 5 and v_body["type"] == "beat_back":
        w_body = write_beat_back(v_body)
    elif key == 6 and v_body["type"] == "bond_fore":
        w_body = write_bond_fore(v_body)
    elif key == 7 and v_body["type"] == "bond_back":
        w_body = write_bond_back(v_body)
    else:
        raise EncodeError("no such message has the number that is announced")
    return out + OCTET[b_ticks] + w_sender + w_receiver + w_body


def decode_packet(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``urbit/packet``."""
    try:
        if len(data) > 2048:
            raise Refusal(TOO_LONG, 2048)
        value, at = read_packet(data, 0, refuse)
        if at != len(data):
            raise Refusal(TRAILING, at)
    except (IndexError, Refusal) as error:
        raise refusing(error, "urbit/packet", data, refuse) from None
    return value


def encode_packet(value: Any) -> bytes:
    """Encode one ``urbit/packet``."""
    try:
        out: bytes = write_packet(value)
        if len(out) > 2048:
            raise EncodeError("more than 2048 bytes")
    except ENCODE_FAILURES as error:
        raise encode_refusal(error, "urbit/packet", value) from None
    return out


CODECS = {
    "packet": Codec(decode_packet, encode_packet),
}
