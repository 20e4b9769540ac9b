# mypy: disable-error-code="assignment, no-any-return, no-redef, union-attr, var-annotated"
"""Codecs of zenoh: generated from wire/zenoh by ``python -m wire.emit``. Do not edit."""

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
    refuse_unknown,
    refusing,
    spell_flags,
    spell_varint,
    varint,
)

TRUNCATED, BAD_TEXT, BAD_VALUE, RESERVED = Reason.TRUNCATED, Reason.BAD_TEXT, Reason.BAD_VALUE, Reason.RESERVED
UNKNOWN_ID, TOO_LONG, TRAILING = Reason.UNKNOWN_ID, Reason.TOO_LONG, Reason.TRAILING
ENCODE_FAILURES = (EncodeError, TypeError, ValueError, LookupError, AttributeError, OverflowError)


interest_final_header_bits = (
    ("Z", 0x1, 7),
    ("Mod", 0x3, 5),
    ("id", 0x1F, 0),
)
interest_final_header_bits_begins = (0x19, 0x99,)
interest_final_header_bits_table = flags_table(interest_final_header_bits, interest_final_header_bits_begins)

extensions_item_header_bits = (
    ("Z", 0x1, 7),
    ("encoding", 0x3, 5),
    ("M", 0x1, 4),
    ("id", 0xF, 0),
)
extensions_item_header_bits_table = flags_table(extensions_item_header_bits)

interest_header_bits = (
    ("Z", 0x1, 7),
    ("Mod", 0x3, 5),
    ("id", 0x1F, 0),
)
interest_header_bits_begins = (0x39, 0x59, 0x79, 0xB9, 0xD9, 0xF9,)
interest_header_bits_table = flags_table(interest_header_bits, interest_header_bits_begins)

interest_options_bits = (
    ("A", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("R", 0x1, 4),
    ("T", 0x1, 3),
    ("Q", 0x1, 2),
    ("S", 0x1, 1),
    ("K", 0x1, 0),
)
interest_options_bits_table = flags_table(interest_options_bits)

declare_header_bits = (
    ("Z", 0x1, 7),
    ("I", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
declare_header_bits_begins = (0x1E, 0x3E, 0x5E, 0x7E, 0x9E, 0xBE, 0xDE, 0xFE,)
declare_header_bits_table = flags_table(declare_header_bits, declare_header_bits_begins)

d_keyexpr_header_bits = (
    ("Z", 0x1, 7),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
d_keyexpr_header_bits_begins = (0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0,)
d_keyexpr_header_bits_table = flags_table(d_keyexpr_header_bits, d_keyexpr_header_bits_begins)

u_keyexpr_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
u_keyexpr_header_bits_begins = (0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1,)
u_keyexpr_header_bits_table = flags_table(u_keyexpr_header_bits, u_keyexpr_header_bits_begins)

d_subscriber_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
d_subscriber_header_bits_begins = (0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2,)
d_subscriber_header_bits_table = flags_table(d_subscriber_header_bits, d_subscriber_header_bits_begins)

u_subscriber_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
u_subscriber_header_bits_begins = (0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3,)
u_subscriber_header_bits_table = flags_table(u_subscriber_header_bits, u_subscriber_header_bits_begins)

d_queryable_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
d_queryable_header_bits_begins = (0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4,)
d_queryable_header_bits_table = flags_table(d_queryable_header_bits, d_queryable_header_bits_begins)

u_queryable_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
u_queryable_header_bits_begins = (0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5,)
u_queryable_header_bits_table = flags_table(u_queryable_header_bits, u_queryable_header_bits_begins)

d_token_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
d_token_header_bits_begins = (0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6,)
d_token_header_bits_table = flags_table(d_token_header_bits, d_token_header_bits_begins)

u_token_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
u_token_header_bits_begins = (0x07, 0x27, 0x47, 0x67, 0x87, 0xA7, 0xC7, 0xE7,)
u_token_header_bits_table = flags_table(u_token_header_bits, u_token_header_bits_begins)

d_final_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
d_final_header_bits_begins = (0x1A, 0x3A, 0x5A, 0x7A, 0x9A, 0xBA, 0xDA, 0xFA,)
d_final_header_bits_table = flags_table(d_final_header_bits, d_final_header_bits_begins)

push_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
push_header_bits_begins = (0x1D, 0x3D, 0x5D, 0x7D, 0x9D, 0xBD, 0xDD, 0xFD,)
push_header_bits_table = flags_table(push_header_bits, push_header_bits_begins)

put_header_bits = (
    ("Z", 0x1, 7),
    ("E", 0x1, 6),
    ("T", 0x1, 5),
    ("id", 0x1F, 0),
)
put_header_bits_begins = (0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1,)
put_header_bits_table = flags_table(put_header_bits, put_header_bits_begins)

del_header_bits = (
    ("Z", 0x1, 7),
    ("T", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
del_header_bits_begins = (0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2,)
del_header_bits_table = flags_table(del_header_bits, del_header_bits_begins)

request_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
request_header_bits_begins = (0x1C, 0x3C, 0x5C, 0x7C, 0x9C, 0xBC, 0xDC, 0xFC,)
request_header_bits_table = flags_table(request_header_bits, request_header_bits_begins)

query_header_bits = (
    ("Z", 0x1, 7),
    ("P", 0x1, 6),
    ("C", 0x1, 5),
    ("id", 0x1F, 0),
)
query_header_bits_begins = (0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3,)
query_header_bits_table = flags_table(query_header_bits, query_header_bits_begins)

response_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("N", 0x1, 5),
    ("id", 0x1F, 0),
)
response_header_bits_begins = (0x1B, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0xDB, 0xFB,)
response_header_bits_table = flags_table(response_header_bits, response_header_bits_begins)

reply_header_bits = (
    ("Z", 0x1, 7),
    ("C", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
reply_header_bits_begins = (0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4,)
reply_header_bits_table = flags_table(reply_header_bits, reply_header_bits_begins)

err_header_bits = (
    ("Z", 0x1, 7),
    ("E", 0x1, 6),
    ("id", 0x1F, 0),
    ("X", 0x20, 0),
)
err_header_bits_begins = (0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5,)
err_header_bits_table = flags_table(err_header_bits, err_header_bits_begins)

oam_header_bits = (
    ("Z", 0x1, 7),
    ("encoding", 0x3, 5),
    ("id", 0x1F, 0),
)
oam_header_bits_begins = (0x1F, 0x3F, 0x5F, 0x7F, 0x9F, 0xBF, 0xDF, 0xFF,)
oam_header_bits_table = flags_table(oam_header_bits, oam_header_bits_begins)

t_oam_header_bits = (
    ("Z", 0x1, 7),
    ("encoding", 0x3, 5),
    ("id", 0x1F, 0),
)
t_oam_header_bits_begins = (0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0,)
t_oam_header_bits_table = flags_table(t_oam_header_bits, t_oam_header_bits_begins)

init_header_bits = (
    ("Z", 0x1, 7),
    ("S", 0x1, 6),
    ("A", 0x1, 5),
    ("id", 0x1F, 0),
)
init_header_bits_begins = (0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1,)
init_header_bits_table = flags_table(init_header_bits, init_header_bits_begins)

init_node_bits = (
    ("zid_length", 0xF, 4),
    ("whatami", 0x3, 0),
    ("X", 0x0C, 0),
)
init_node_bits_table = flags_table(init_node_bits)

init_resolution_bits = (
    ("request_id", 0x3, 2),
    ("frame_sn", 0x3, 0),
    ("X", 0xF0, 0),
)
init_resolution_bits_table = flags_table(init_resolution_bits)

open_header_bits = (
    ("Z", 0x1, 7),
    ("T", 0x1, 6),
    ("A", 0x1, 5),
    ("id", 0x1F, 0),
)
open_header_bits_begins = (0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2,)
open_header_bits_table = flags_table(open_header_bits, open_header_bits_begins)

close_header_bits = (
    ("Z", 0x1, 7),
    ("S", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
close_header_bits_begins = (0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3,)
close_header_bits_table = flags_table(close_header_bits, close_header_bits_begins)

keep_alive_header_bits = (
    ("Z", 0x1, 7),
    ("id", 0x1F, 0),
    ("X", 0x60, 0),
)
keep_alive_header_bits_begins = (0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4,)
keep_alive_header_bits_table = flags_table(keep_alive_header_bits, keep_alive_header_bits_begins)

frame_header_bits = (
    ("Z", 0x1, 7),
    ("R", 0x1, 5),
    ("id", 0x1F, 0),
    ("X", 0x40, 0),
)
frame_header_bits_begins = (0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5,)
frame_header_bits_table = flags_table(frame_header_bits, frame_header_bits_begins)

fragment_header_bits = (
    ("Z", 0x1, 7),
    ("M", 0x1, 6),
    ("R", 0x1, 5),
    ("id", 0x1F, 0),
)
fragment_header_bits_begins = (0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6,)
fragment_header_bits_table = flags_table(fragment_header_bits, fragment_header_bits_begins)

extensions_item_blank = blanks({"header": None, "value": None}, "header", extensions_item_header_bits_table)

interest_final_blank = blanks({"type": "INTEREST_FINAL", "header": None, "id": None, "extensions": None}, "header", interest_final_header_bits_table)

interest_blank = blanks({"type": "INTEREST", "header": None, "id": None, "options": None, "key_scope": None, "key_suffix": None, "extensions": None}, "header", interest_header_bits_table)

d_keyexpr_blank = blanks({"type": "D_KEYEXPR", "header": None, "expr_id": None, "key_scope": None, "key_suffix": None, "extensions": None}, "header", d_keyexpr_header_bits_table)

u_keyexpr_blank = blanks({"type": "U_KEYEXPR", "header": None, "expr_id": None, "extensions": None}, "header", u_keyexpr_header_bits_table)

d_subscriber_blank = blanks({"type": "D_SUBSCRIBER", "header": None, "subs_id": None, "key_scope": None, "key_suffix": None, "extensions": None}, "header", d_subscriber_header_bits_table)

u_subscriber_blank = blanks({"type": "U_SUBSCRIBER", "header": None, "subs_id": None, "extensions": None}, "header", u_subscriber_header_bits_table)

d_queryable_blank = blanks({"type": "D_QUERYABLE", "header": None, "qbls_id": None, "key_scope": None, "key_suffix": None, "extensions": None}, "header", d_queryable_header_bits_table)

u_queryable_blank = blanks({"type": "U_QUERYABLE", "header": None, "qbls_id": None, "extensions": None}, "header", u_queryable_header_bits_table)

d_token_blank = blanks({"type": "D_TOKEN", "header": None, "token_id": None, "key_scope": None, "key_suffix": None, "extensions": None}, "header", d_token_header_bits_table)

u_token_blank = blanks({"type": "U_TOKEN", "header": None, "token_id": None, "extensions": None}, "header", u_token_header_bits_table)

d_final_blank = blanks({"type": "D_FINAL", "header": None, "extensions": None}, "header", d_final_header_bits_table)

declare_blank = blanks({"type": "DECLARE", "header": None, "interest_id": None, "extensions": None, "declaration": None}, "header", declare_header_bits_table)

put_blank = blanks({"type": "PUT", "header": None, "timestamp": None, "encoding": None, "schema": None, "extensions": None, "payload": None}, "header", put_header_bits_table)

del_blank = blanks({"type": "DEL", "header": None, "timestamp": None, "extensions": None}, "header", del_header_bits_table)

push_blank = blanks({"type": "PUSH", "header": None, "key_scope": None, "key_suffix": None, "extensions": None, "body": None}, "header", push_header_bits_table)

query_blank = blanks({"type": "QUERY", "header": None, "consolidation": None, "parameters": None, "extensions": None}, "header", query_header_bits_table)

request_blank = blanks({"type": "REQUEST", "header": None, "id": None, "key_scope": None, "key_suffix": None, "extensions": None, "body": None}, "header", request_header_bits_table)

reply_blank = blanks({"type": "REPLY", "header": None, "consolidation": None, "extensions": None, "body": None}, "header", reply_header_bits_table)

err_blank = blanks({"type": "ERR", "header": None, "encoding": None, "schema": None, "extensions": None, "payload": None}, "header", err_header_bits_table)

response_blank = blanks({"type": "RESPONSE", "header": None, "id": None, "key_scope": None, "key_suffix": None, "extensions": None, "body": None}, "header", response_header_bits_table)

response_final_blank = blanks({"type": "RESPONSE_FINAL", "header": None, "id": None, "extensions": None}, "header", d_final_header_bits_table)

oam_blank = blanks({"type": "OAM", "header": None, "id": None, "extensions": None, "body": None}, "header", oam_header_bits_table)

t_oam_blank = blanks({"type": "T_OAM", "header": None, "id": None, "extensions": None, "body": None}, "header", t_oam_header_bits_table)

init_blank = blanks({"type": "INIT", "header": None, "version": None, "node": None, "zid": None, "resolution": None, "batch_size": None, "cookie": None, "extensions": None}, "header", init_header_bits_table)

open_blank = blanks({"type": "OPEN", "header": None, "lease": None, "initial_sn": None, "cookie": None, "extensions": None}, "header", open_header_bits_table)

close_blank = blanks({"type": "CLOSE", "header": None, "reason": None, "extensions": None}, "header", close_header_bits_table)

keep_alive_blank = blanks({"type": "KEEP_ALIVE", "header": None, "extensions": None}, "header", keep_alive_header_bits_table)

frame_blank = blanks({"type": "FRAME", "header": None, "sn": None, "extensions": None, "messages": None}, "header", frame_header_bits_table)

fragment_blank = blanks({"type": "FRAGMENT", "header": None, "sn": None, "extensions": None, "data": None}, "header", fragment_header_bits_table)


def read_extensions(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    values: list[Any] = []
    while True:
        b_header = data[at]
        value = extensions_item_blank[b_header].copy()
        at += 1
        key = b_header >> 5 & 0x3
        if key == 0:
            pass
        elif key == 1:
            v_value = data[at]
            at += 1
            if v_value > 0x7F:
                more = data[at]
                if 0 < more < 0x80:
                    v_value += more * 0x80 - 0x80
                    at += 1
                elif more and 0 < (last := data[at + 1]) < 0x80:
                    v_value += more * 0x80 + last * 0x4000 - 0x4080
                    at += 2
                else:
                    v_value, at = varint(data, at, v_value, 64, refuse)
            value["value"] = v_value
        elif key == 2:
            start = at
            count = data[at]
            at += 1
            if count > 0x7F:
                more = data[at]
                if 0 < more < 0x80:
                    count += more * 0x80 - 0x80
                    at += 1
                elif more and 0 < (last := data[at + 1]) < 0x80:
                    count += more * 0x80 + last * 0x4000 - 0x4080
                    at += 2
                else:
                    count, at = varint(data, at, count, 32, refuse)
            end = at + count
            if end > len(data):
                raise Refusal(TRUNCATED, start)
            v_value = data[at:end]
            at = end
            value["value"] = v_value
        else:
            raise Refusal(RESERVED, at - 1)
        values.append(value)
        if not b_header > 0x7F:
            return values, at
        if len(values) == 65535:
            raise Refusal(TOO_LONG, at)


def write_extensions(value: Any) -> bytes:
    if not (isinstance(value, list) or isinstance(value, tuple)) or len(value) > 65535:
        raise EncodeError("not a list of at most 65535 items")
    more = len(value)
    if not more:
        raise EncodeError("Z is set, so there has to be at least one")
    out = b""
    for each in value:
        v_header = each["header"]
        try:
            b_header = v_header.byte
        except AttributeError:
            b_header = spell_flags(v_header, extensions_item_header_bits, {}, extensions_item_header_bits_table)
        else:
            if extensions_item_header_bits_table[b_header] is not v_header:
                b_header = spell_flags(v_header, extensions_item_header_bits, {}, extensions_item_header_bits_table)
        more -= 1
        if more:
            out += OCTET[b_header | 0x80]
        else:
            out += OCTET[b_header & 0x7F]
        v_value = each.get("value")
        key = b_header >> 5 & 0x3
        if key == 0:
            w_value = b""
        elif key == 1:
            w_value = (VARINT[v_value] if 0 <= v_value < 0x4000 else CONTINUED[v_value & 0x3FFF] + VARINT[v_value >> 14] if 0 < v_value < 0x10000000 else spell_varint(v_value, 64))
        elif key == 2:
            if not isinstance(v_value, bytes):
                raise EncodeError(f"{v_value!r} is not bytes")
            t_value = v_value
            n_value = len(t_value)
            w_value = (VARINT[n_value] if n_value < 0x4000 else spell_varint(n_value, 32)) + t_value
        else:
            raise EncodeError("extension encoding 0b11 is reserved")
        out += w_value
    return out


def read_interest_final(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = interest_final_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_id, at = varint(data, at, v_id, 32, refuse)
    value["id"] = v_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_interest_final(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, interest_final_header_bits, {"id": 25, "Mod": 0}, interest_final_header_bits_table)
    else:
        if interest_final_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, interest_final_header_bits, {"id": 25, "Mod": 0}, interest_final_header_bits_table)
    v_id = value["id"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else CONTINUED[v_id & 0x3FFF] + VARINT[v_id >> 14] if 0 < v_id < 0x10000000 else spell_varint(v_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_interest(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = interest_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_id, at = varint(data, at, v_id, 32, refuse)
    value["id"] = v_id
    b_options = data[at]
    v_options = interest_options_bits_table[b_options]
    value["options"] = v_options
    at += 1
    if BIT_4[b_options]:
        v_key_scope = data[at]
        at += 1
        if v_key_scope > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_key_scope += more * 0x80 - 0x80
                at += 1
            else:
                v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
        value["key_scope"] = v_key_scope
    if b_options & 0x30 == 0x30:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_interest(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, interest_header_bits, {"id": 25}, interest_header_bits_table)
    else:
        if interest_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, interest_header_bits, {"id": 25}, interest_header_bits_table)
    v_id = value["id"]
    v_options = value["options"]
    try:
        b_options = v_options.byte
    except AttributeError:
        b_options = spell_flags(v_options, interest_options_bits, {}, interest_options_bits_table)
    else:
        if interest_options_bits_table[b_options] is not v_options:
            b_options = spell_flags(v_options, interest_options_bits, {}, interest_options_bits_table)
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else CONTINUED[v_id & 0x3FFF] + VARINT[v_id >> 14] if 0 < v_id < 0x10000000 else spell_varint(v_id, 32)) + OCTET[b_options]
    if BIT_4[b_options]:
        v_key_scope = value["key_scope"]
        out += (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if b_options & 0x30 == 0x30:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_d_keyexpr(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = d_keyexpr_blank[b_header].copy()
    v_expr_id = data[at + 1]
    at += 2
    if v_expr_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_expr_id += more * 0x80 - 0x80
            at += 1
        else:
            v_expr_id, at = varint(data, at, v_expr_id, 16, refuse)
    value["expr_id"] = v_expr_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_d_keyexpr(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_keyexpr_header_bits, {"id": 0}, d_keyexpr_header_bits_table)
    else:
        if d_keyexpr_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_keyexpr_header_bits, {"id": 0}, d_keyexpr_header_bits_table)
    v_expr_id = value["expr_id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_expr_id] if 0 <= v_expr_id < 0x4000 else spell_varint(v_expr_id, 16)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_u_keyexpr(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = u_keyexpr_blank[b_header].copy()
    v_expr_id = data[at + 1]
    at += 2
    if v_expr_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_expr_id += more * 0x80 - 0x80
            at += 1
        else:
            v_expr_id, at = varint(data, at, v_expr_id, 16, refuse)
    value["expr_id"] = v_expr_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_u_keyexpr(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, u_keyexpr_header_bits, {"id": 1}, u_keyexpr_header_bits_table)
    else:
        if u_keyexpr_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, u_keyexpr_header_bits, {"id": 1}, u_keyexpr_header_bits_table)
    v_expr_id = value["expr_id"]
    out = OCTET[b_header] + (VARINT[v_expr_id] if 0 <= v_expr_id < 0x4000 else spell_varint(v_expr_id, 16))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_d_subscriber(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = d_subscriber_blank[b_header].copy()
    v_subs_id = data[at + 1]
    at += 2
    if v_subs_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_subs_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_subs_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_subs_id, at = varint(data, at, v_subs_id, 32, refuse)
    value["subs_id"] = v_subs_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_d_subscriber(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_subscriber_header_bits, {"id": 2}, d_subscriber_header_bits_table)
    else:
        if d_subscriber_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_subscriber_header_bits, {"id": 2}, d_subscriber_header_bits_table)
    v_subs_id = value["subs_id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_subs_id] if 0 <= v_subs_id < 0x4000 else CONTINUED[v_subs_id & 0x3FFF] + VARINT[v_subs_id >> 14] if 0 < v_subs_id < 0x10000000 else spell_varint(v_subs_id, 32)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_u_subscriber(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = u_subscriber_blank[b_header].copy()
    v_subs_id = data[at + 1]
    at += 2
    if v_subs_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_subs_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_subs_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_subs_id, at = varint(data, at, v_subs_id, 32, refuse)
    value["subs_id"] = v_subs_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_u_subscriber(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, u_subscriber_header_bits, {"id": 3}, u_subscriber_header_bits_table)
    else:
        if u_subscriber_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, u_subscriber_header_bits, {"id": 3}, u_subscriber_header_bits_table)
    v_subs_id = value["subs_id"]
    out = OCTET[b_header] + (VARINT[v_subs_id] if 0 <= v_subs_id < 0x4000 else CONTINUED[v_subs_id & 0x3FFF] + VARINT[v_subs_id >> 14] if 0 < v_subs_id < 0x10000000 else spell_varint(v_subs_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_d_queryable(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = d_queryable_blank[b_header].copy()
    v_qbls_id = data[at + 1]
    at += 2
    if v_qbls_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_qbls_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_qbls_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_qbls_id, at = varint(data, at, v_qbls_id, 32, refuse)
    value["qbls_id"] = v_qbls_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_d_queryable(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_queryable_header_bits, {"id": 4}, d_queryable_header_bits_table)
    else:
        if d_queryable_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_queryable_header_bits, {"id": 4}, d_queryable_header_bits_table)
    v_qbls_id = value["qbls_id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_qbls_id] if 0 <= v_qbls_id < 0x4000 else CONTINUED[v_qbls_id & 0x3FFF] + VARINT[v_qbls_id >> 14] if 0 < v_qbls_id < 0x10000000 else spell_varint(v_qbls_id, 32)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_u_queryable(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = u_queryable_blank[b_header].copy()
    v_qbls_id = data[at + 1]
    at += 2
    if v_qbls_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_qbls_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_qbls_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_qbls_id, at = varint(data, at, v_qbls_id, 32, refuse)
    value["qbls_id"] = v_qbls_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_u_queryable(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, u_queryable_header_bits, {"id": 5}, u_queryable_header_bits_table)
    else:
        if u_queryable_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, u_queryable_header_bits, {"id": 5}, u_queryable_header_bits_table)
    v_qbls_id = value["qbls_id"]
    out = OCTET[b_header] + (VARINT[v_qbls_id] if 0 <= v_qbls_id < 0x4000 else CONTINUED[v_qbls_id & 0x3FFF] + VARINT[v_qbls_id >> 14] if 0 < v_qbls_id < 0x10000000 else spell_varint(v_qbls_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_d_token(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = d_token_blank[b_header].copy()
    v_token_id = data[at + 1]
    at += 2
    if v_token_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_token_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_token_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_token_id, at = varint(data, at, v_token_id, 32, refuse)
    value["token_id"] = v_token_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_d_token(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_token_header_bits, {"id": 6}, d_token_header_bits_table)
    else:
        if d_token_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_token_header_bits, {"id": 6}, d_token_header_bits_table)
    v_token_id = value["token_id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_token_id] if 0 <= v_token_id < 0x4000 else CONTINUED[v_token_id & 0x3FFF] + VARINT[v_token_id >> 14] if 0 < v_token_id < 0x10000000 else spell_varint(v_token_id, 32)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_u_token(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = u_token_blank[b_header].copy()
    v_token_id = data[at + 1]
    at += 2
    if v_token_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_token_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_token_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_token_id, at = varint(data, at, v_token_id, 32, refuse)
    value["token_id"] = v_token_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_u_token(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, u_token_header_bits, {"id": 7}, u_token_header_bits_table)
    else:
        if u_token_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, u_token_header_bits, {"id": 7}, u_token_header_bits_table)
    v_token_id = value["token_id"]
    out = OCTET[b_header] + (VARINT[v_token_id] if 0 <= v_token_id < 0x4000 else CONTINUED[v_token_id & 0x3FFF] + VARINT[v_token_id >> 14] if 0 < v_token_id < 0x10000000 else spell_varint(v_token_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_d_final(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = d_final_blank[b_header].copy()
    at += 1
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_d_final(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_final_header_bits, {"id": 26}, d_final_header_bits_table)
    else:
        if d_final_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_final_header_bits, {"id": 26}, d_final_header_bits_table)
    out = OCTET[b_header]
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


read_declaration = dispatch(
    (read_d_keyexpr, d_keyexpr_header_bits_begins),
    (read_u_keyexpr, u_keyexpr_header_bits_begins),
    (read_d_subscriber, d_subscriber_header_bits_begins),
    (read_u_subscriber, u_subscriber_header_bits_begins),
    (read_d_queryable, d_queryable_header_bits_begins),
    (read_u_queryable, u_queryable_header_bits_begins),
    (read_d_token, d_token_header_bits_begins),
    (read_u_token, u_token_header_bits_begins),
    (read_d_final, d_final_header_bits_begins),
)


write_declaration = {
    "D_KEYEXPR": write_d_keyexpr,
    "U_KEYEXPR": write_u_keyexpr,
    "D_SUBSCRIBER": write_d_subscriber,
    "U_SUBSCRIBER": write_u_subscriber,
    "D_QUERYABLE": write_d_queryable,
    "U_QUERYABLE": write_u_queryable,
    "D_TOKEN": write_d_token,
    "U_TOKEN": write_u_token,
    "D_FINAL": write_d_final,
}


def read_declare(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = declare_blank[b_header].copy()
    at += 1
    if BIT_5[b_header]:
        v_interest_id = data[at]
        at += 1
        if v_interest_id > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_interest_id += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                v_interest_id += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                v_interest_id, at = varint(data, at, v_interest_id, 32, refuse)
        value["interest_id"] = v_interest_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_declaration, at = read_declaration[data[at]](data, at, refuse)
    value["declaration"] = v_declaration
    return value, at


def write_declare(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, declare_header_bits, {"id": 30}, declare_header_bits_table)
    else:
        if declare_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, declare_header_bits, {"id": 30}, declare_header_bits_table)
    out = OCTET[b_header]
    if BIT_5[b_header]:
        v_interest_id = value["interest_id"]
        out += (VARINT[v_interest_id] if 0 <= v_interest_id < 0x4000 else CONTINUED[v_interest_id & 0x3FFF] + VARINT[v_interest_id >> 14] if 0 < v_interest_id < 0x10000000 else spell_varint(v_interest_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_declaration = value["declaration"]
    return out + write_declaration[v_declaration["type"]](v_declaration)


def read_timestamp(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    v_time = data[at]
    at += 1
    if v_time > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_time += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_time += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_time, at = varint(data, at, v_time, 64, refuse)
    start = at
    count = data[at]
    at += 1
    if count > 0x7F:
        count, at = varint(data, at, count, 8, refuse)
    if count > 16:
        raise Refusal(TOO_LONG, start)
    if count < 1:
        raise Refusal(BAD_VALUE, start)
    end = at + count
    if end > len(data):
        raise Refusal(TRUNCATED, start)
    v_clock_id = data[at:end]
    at = end
    value = {"time": v_time, "clock_id": v_clock_id}
    return value, at


def write_timestamp(value: Any) -> bytes:
    v_time = value["time"]
    v_clock_id = value["clock_id"]
    if not isinstance(v_clock_id, bytes):
        raise EncodeError(f"{v_clock_id!r} is not bytes")
    t_clock_id = v_clock_id
    n_clock_id = len(t_clock_id)
    if not 1 <= n_clock_id <= 16:
        raise EncodeError(f"{n_clock_id} bytes, not 1 to 16")
    return (VARINT[v_time] if 0 <= v_time < 0x4000 else CONTINUED[v_time & 0x3FFF] + VARINT[v_time >> 14] if 0 < v_time < 0x10000000 else spell_varint(v_time, 64)) + (VARINT[n_clock_id] if n_clock_id < 0x100 else spell_varint(n_clock_id, 8)) + t_clock_id


def read_put(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = put_blank[b_header].copy()
    at += 1
    if BIT_5[b_header]:
        v_timestamp, at = read_timestamp(data, at, refuse)
        value["timestamp"] = v_timestamp
    if BIT_6[b_header]:
        v_encoding = data[at]
        at += 1
        if v_encoding > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_encoding += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                v_encoding += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                v_encoding, at = varint(data, at, v_encoding, 32, refuse)
        value["encoding"] = v_encoding
    if BIT_6[b_header]:
        key = v_encoding & 1
        if key == 1:
            start = at
            count = data[at]
            at += 1
            if count > 0x7F:
                count, at = varint(data, at, count, 8, refuse)
            end = at + count
            if end > len(data):
                raise Refusal(TRUNCATED, start)
            v_schema = data[at:end]
            at = end
            value["schema"] = v_schema
        else:
            pass
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    start = at
    count = data[at]
    at += 1
    if count > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            count += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            count += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            count, at = varint(data, at, count, 32, refuse)
    end = at + count
    if end > len(data):
        raise Refusal(TRUNCATED, start)
    v_payload = data[at:end]
    at = end
    value["payload"] = v_payload
    return value, at


def write_put(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, put_header_bits, {"id": 1}, put_header_bits_table)
    else:
        if put_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, put_header_bits, {"id": 1}, put_header_bits_table)
    out = OCTET[b_header]
    if BIT_5[b_header]:
        v_timestamp = value["timestamp"]
        out += write_timestamp(v_timestamp)
    if BIT_6[b_header]:
        v_encoding = value["encoding"]
        out += (VARINT[v_encoding] if 0 <= v_encoding < 0x4000 else CONTINUED[v_encoding & 0x3FFF] + VARINT[v_encoding >> 14] if 0 < v_encoding < 0x10000000 else spell_varint(v_encoding, 32))
    if BIT_6[b_header]:
        v_schema = value.get("schema")
        key = v_encoding & 1
        if key == 1:
            if not isinstance(v_schema, bytes):
                raise EncodeError(f"{v_schema!r} is not bytes")
            t_schema = v_schema
            n_schema = len(t_schema)
            w_schema = (VARINT[n_schema] if n_schema < 0x100 else spell_varint(n_schema, 8)) + t_schema
        else:
            w_schema = b""
        out += w_schema
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_payload = value["payload"]
    if not isinstance(v_payload, bytes):
        raise EncodeError(f"{v_payload!r} is not bytes")
    t_payload = v_payload
    n_payload = len(t_payload)
    return out + (VARINT[n_payload] if n_payload < 0x4000 else spell_varint(n_payload, 32)) + t_payload


def read_del(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = del_blank[b_header].copy()
    at += 1
    if BIT_5[b_header]:
        v_timestamp, at = read_timestamp(data, at, refuse)
        value["timestamp"] = v_timestamp
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_del(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, del_header_bits, {"id": 2}, del_header_bits_table)
    else:
        if del_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, del_header_bits, {"id": 2}, del_header_bits_table)
    out = OCTET[b_header]
    if BIT_5[b_header]:
        v_timestamp = value["timestamp"]
        out += write_timestamp(v_timestamp)
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


read_body = dispatch(
    (read_put, put_header_bits_begins),
    (read_del, del_header_bits_begins),
)


write_body = {
    "PUT": write_put,
    "DEL": write_del,
}


def read_push(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = push_blank[b_header].copy()
    v_key_scope = data[at + 1]
    at += 2
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_body, at = read_body[data[at]](data, at, refuse)
    value["body"] = v_body
    return value, at


def write_push(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, push_header_bits, {"id": 29}, push_header_bits_table)
    else:
        if push_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, push_header_bits, {"id": 29}, push_header_bits_table)
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value["body"]
    return out + write_body[v_body["type"]](v_body)


def read_query(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = query_blank[b_header].copy()
    at += 1
    if BIT_5[b_header]:
        v_consolidation = data[at]
        at += 1
        if v_consolidation > 0x7F:
            v_consolidation, at = varint(data, at, v_consolidation, 8, refuse)
        value["consolidation"] = v_consolidation
    if BIT_6[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                count += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                count, at = varint(data, at, count, 32, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_parameters = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["parameters"] = v_parameters
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_query(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, query_header_bits, {"id": 3}, query_header_bits_table)
    else:
        if query_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, query_header_bits, {"id": 3}, query_header_bits_table)
    out = OCTET[b_header]
    if BIT_5[b_header]:
        v_consolidation = value["consolidation"]
        out += (VARINT[v_consolidation] if 0 <= v_consolidation < 0x100 else spell_varint(v_consolidation, 8))
    if BIT_6[b_header]:
        v_parameters = value["parameters"]
        t_parameters = v_parameters.encode()
        n_parameters = len(t_parameters)
        out += (VARINT[n_parameters] if n_parameters < 0x4000 else spell_varint(n_parameters, 32)) + t_parameters
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


read_body_2 = dispatch(
    (read_query, query_header_bits_begins),
)


write_body_2 = {
    "QUERY": write_query,
}


def read_request(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = request_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_id, at = varint(data, at, v_id, 32, refuse)
    value["id"] = v_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_body, at = read_body_2[data[at]](data, at, refuse)
    value["body"] = v_body
    return value, at


def write_request(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, request_header_bits, {"id": 28}, request_header_bits_table)
    else:
        if request_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, request_header_bits, {"id": 28}, request_header_bits_table)
    v_id = value["id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else CONTINUED[v_id & 0x3FFF] + VARINT[v_id >> 14] if 0 < v_id < 0x10000000 else spell_varint(v_id, 32)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value["body"]
    return out + write_body_2[v_body["type"]](v_body)


def read_reply(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = reply_blank[b_header].copy()
    at += 1
    if BIT_5[b_header]:
        v_consolidation = data[at]
        at += 1
        if v_consolidation > 0x7F:
            v_consolidation, at = varint(data, at, v_consolidation, 8, refuse)
        value["consolidation"] = v_consolidation
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_body, at = read_body[data[at]](data, at, refuse)
    value["body"] = v_body
    return value, at


def write_reply(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, reply_header_bits, {"id": 4}, reply_header_bits_table)
    else:
        if reply_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, reply_header_bits, {"id": 4}, reply_header_bits_table)
    out = OCTET[b_header]
    if BIT_5[b_header]:
        v_consolidation = value["consolidation"]
        out += (VARINT[v_consolidation] if 0 <= v_consolidation < 0x100 else spell_varint(v_consolidation, 8))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value["body"]
    return out + write_body[v_body["type"]](v_body)


def read_err(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = err_blank[b_header].copy()
    at += 1
    if BIT_6[b_header]:
        v_encoding = data[at]
        at += 1
        if v_encoding > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_encoding += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                v_encoding += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                v_encoding, at = varint(data, at, v_encoding, 32, refuse)
        value["encoding"] = v_encoding
    if BIT_6[b_header]:
        key = v_encoding & 1
        if key == 1:
            start = at
            count = data[at]
            at += 1
            if count > 0x7F:
                count, at = varint(data, at, count, 8, refuse)
            end = at + count
            if end > len(data):
                raise Refusal(TRUNCATED, start)
            v_schema = data[at:end]
            at = end
            value["schema"] = v_schema
        else:
            pass
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    start = at
    count = data[at]
    at += 1
    if count > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            count += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            count += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            count, at = varint(data, at, count, 32, refuse)
    end = at + count
    if end > len(data):
        raise Refusal(TRUNCATED, start)
    v_payload = data[at:end]
    at = end
    value["payload"] = v_payload
    return value, at


def write_err(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, err_header_bits, {"id": 5}, err_header_bits_table)
    else:
        if err_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, err_header_bits, {"id": 5}, err_header_bits_table)
    out = OCTET[b_header]
    if BIT_6[b_header]:
        v_encoding = value["encoding"]
        out += (VARINT[v_encoding] if 0 <= v_encoding < 0x4000 else CONTINUED[v_encoding & 0x3FFF] + VARINT[v_encoding >> 14] if 0 < v_encoding < 0x10000000 else spell_varint(v_encoding, 32))
    if BIT_6[b_header]:
        v_schema = value.get("schema")
        key = v_encoding & 1
        if key == 1:
            if not isinstance(v_schema, bytes):
                raise EncodeError(f"{v_schema!r} is not bytes")
            t_schema = v_schema
            n_schema = len(t_schema)
            w_schema = (VARINT[n_schema] if n_schema < 0x100 else spell_varint(n_schema, 8)) + t_schema
        else:
            w_schema = b""
        out += w_schema
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_payload = value["payload"]
    if not isinstance(v_payload, bytes):
        raise EncodeError(f"{v_payload!r} is not bytes")
    t_payload = v_payload
    n_payload = len(t_payload)
    return out + (VARINT[n_payload] if n_payload < 0x4000 else spell_varint(n_payload, 32)) + t_payload


read_body_3 = dispatch(
    (read_reply, reply_header_bits_begins),
    (read_err, err_header_bits_begins),
)


write_body_3 = {
    "REPLY": write_reply,
    "ERR": write_err,
}


def read_response(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = response_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_id, at = varint(data, at, v_id, 32, refuse)
    value["id"] = v_id
    v_key_scope = data[at]
    at += 1
    if v_key_scope > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_key_scope += more * 0x80 - 0x80
            at += 1
        else:
            v_key_scope, at = varint(data, at, v_key_scope, 16, refuse)
    value["key_scope"] = v_key_scope
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        try:
            v_key_suffix = data[at:end].decode()
        except UnicodeDecodeError:
            raise Refusal(BAD_TEXT, start) from None
        at = end
        value["key_suffix"] = v_key_suffix
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_body, at = read_body_3[data[at]](data, at, refuse)
    value["body"] = v_body
    return value, at


def write_response(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, response_header_bits, {"id": 27}, response_header_bits_table)
    else:
        if response_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, response_header_bits, {"id": 27}, response_header_bits_table)
    v_id = value["id"]
    v_key_scope = value["key_scope"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else CONTINUED[v_id & 0x3FFF] + VARINT[v_id >> 14] if 0 < v_id < 0x10000000 else spell_varint(v_id, 32)) + (VARINT[v_key_scope] if 0 <= v_key_scope < 0x4000 else spell_varint(v_key_scope, 16))
    if BIT_5[b_header]:
        v_key_suffix = value["key_suffix"]
        t_key_suffix = v_key_suffix.encode()
        n_key_suffix = len(t_key_suffix)
        out += (VARINT[n_key_suffix] if n_key_suffix < 0x4000 else spell_varint(n_key_suffix, 16)) + t_key_suffix
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value["body"]
    return out + write_body_3[v_body["type"]](v_body)


def read_response_final(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = response_final_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_id += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_id, at = varint(data, at, v_id, 32, refuse)
    value["id"] = v_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_response_final(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, d_final_header_bits, {"id": 26}, d_final_header_bits_table)
    else:
        if d_final_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, d_final_header_bits, {"id": 26}, d_final_header_bits_table)
    v_id = value["id"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else CONTINUED[v_id & 0x3FFF] + VARINT[v_id >> 14] if 0 < v_id < 0x10000000 else spell_varint(v_id, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_body_4(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    value = {}
    return value, at


def write_body_4(value: Any) -> bytes:
    if value is not None and not isinstance(value, Mapping):
        raise EncodeError(f"{value!r} is not a record")
    return b""


def read_oam(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = oam_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        else:
            v_id, at = varint(data, at, v_id, 16, refuse)
    value["id"] = v_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    key = b_header >> 5 & 0x3
    if key == 1:
        v_body = data[at]
        at += 1
        if v_body > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_body += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                v_body += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                v_body, at = varint(data, at, v_body, 64, refuse)
        value["body"] = v_body
    elif key == 2:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                count += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                count, at = varint(data, at, count, 32, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        v_body = data[at:end]
        at = end
        value["body"] = v_body
    elif key == 0:
        v_body, at = read_body_4(data, at, refuse)
        value["body"] = v_body
    else:
        raise Refusal(RESERVED, at - 1)
    return value, at


def write_oam(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, oam_header_bits, {"id": 31}, oam_header_bits_table)
    else:
        if oam_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, oam_header_bits, {"id": 31}, oam_header_bits_table)
    v_id = value["id"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else spell_varint(v_id, 16))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value.get("body")
    key = b_header >> 5 & 0x3
    if key == 1:
        w_body = (VARINT[v_body] if 0 <= v_body < 0x4000 else CONTINUED[v_body & 0x3FFF] + VARINT[v_body >> 14] if 0 < v_body < 0x10000000 else spell_varint(v_body, 64))
    elif key == 2:
        if not isinstance(v_body, bytes):
            raise EncodeError(f"{v_body!r} is not bytes")
        t_body = v_body
        n_body = len(t_body)
        w_body = (VARINT[n_body] if n_body < 0x4000 else spell_varint(n_body, 32)) + t_body
    elif key == 0:
        w_body = write_body_4(v_body)
    else:
        raise EncodeError("OAM encoding 0b11 is reserved")
    return out + w_body


read_network_message = dispatch(
    (read_interest_final, interest_final_header_bits_begins),
    (read_interest, interest_header_bits_begins),
    (read_declare, declare_header_bits_begins),
    (read_push, push_header_bits_begins),
    (read_request, request_header_bits_begins),
    (read_response, response_header_bits_begins),
    (read_response_final, d_final_header_bits_begins),
    (read_oam, oam_header_bits_begins),
)


write_network_message = {
    "INTEREST_FINAL": write_interest_final,
    "INTEREST": write_interest,
    "DECLARE": write_declare,
    "PUSH": write_push,
    "REQUEST": write_request,
    "RESPONSE": write_response,
    "RESPONSE_FINAL": write_response_final,
    "OAM": write_oam,
}


def read_t_oam(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = t_oam_blank[b_header].copy()
    v_id = data[at + 1]
    at += 2
    if v_id > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_id += more * 0x80 - 0x80
            at += 1
        else:
            v_id, at = varint(data, at, v_id, 16, refuse)
    value["id"] = v_id
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    key = b_header >> 5 & 0x3
    if key == 1:
        v_body = data[at]
        at += 1
        if v_body > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                v_body += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                v_body += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                v_body, at = varint(data, at, v_body, 64, refuse)
        value["body"] = v_body
    elif key == 2:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            elif more and 0 < (last := data[at + 1]) < 0x80:
                count += more * 0x80 + last * 0x4000 - 0x4080
                at += 2
            else:
                count, at = varint(data, at, count, 32, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        v_body = data[at:end]
        at = end
        value["body"] = v_body
    elif key == 0:
        v_body, at = read_body_4(data, at, refuse)
        value["body"] = v_body
    else:
        raise Refusal(RESERVED, at - 1)
    return value, at


def write_t_oam(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, t_oam_header_bits, {"id": 0}, t_oam_header_bits_table)
    else:
        if t_oam_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, t_oam_header_bits, {"id": 0}, t_oam_header_bits_table)
    v_id = value["id"]
    out = OCTET[b_header] + (VARINT[v_id] if 0 <= v_id < 0x4000 else spell_varint(v_id, 16))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_body = value.get("body")
    key = b_header >> 5 & 0x3
    if key == 1:
        w_body = (VARINT[v_body] if 0 <= v_body < 0x4000 else CONTINUED[v_body & 0x3FFF] + VARINT[v_body >> 14] if 0 < v_body < 0x10000000 else spell_varint(v_body, 64))
    elif key == 2:
        if not isinstance(v_body, bytes):
            raise EncodeError(f"{v_body!r} is not bytes")
        t_body = v_body
        n_body = len(t_body)
        w_body = (VARINT[n_body] if n_body < 0x4000 else spell_varint(n_body, 32)) + t_body
    elif key == 0:
        w_body = write_body_4(v_body)
    else:
        raise EncodeError("OAM encoding 0b11 is reserved")
    return out + w_body


def read_init(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = init_blank[b_header].copy()
    v_version = data[at + 1]
    value["version"] = v_version
    b_node = data[at + 2]
    v_node = init_node_bits_table[b_node]
    value["node"] = v_node
    at += 3
    end = at + ((b_node >> 4) + 1)
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_zid = data[at:end]
    at = end
    value["zid"] = v_zid
    if BIT_6[b_header]:
        b_resolution = data[at]
        v_resolution = init_resolution_bits_table[b_resolution]
        at += 1
        value["resolution"] = v_resolution
    if BIT_6[b_header]:
        if at + 2 > len(data):
            raise Refusal(TRUNCATED, len(data))
        v_batch_size = int.from_bytes(data[at : at + 2], "little")
        at += 2
        value["batch_size"] = v_batch_size
    if BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        v_cookie = data[at:end]
        at = end
        value["cookie"] = v_cookie
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_init(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, init_header_bits, {"id": 1}, init_header_bits_table)
    else:
        if init_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, init_header_bits, {"id": 1}, init_header_bits_table)
    v_version = value["version"]
    v_node = value["node"]
    try:
        b_node = v_node.byte
    except AttributeError:
        b_node = spell_flags(v_node, init_node_bits, {}, init_node_bits_table)
    else:
        if init_node_bits_table[b_node] is not v_node:
            b_node = spell_flags(v_node, init_node_bits, {}, init_node_bits_table)
    v_zid = value["zid"]
    if not isinstance(v_zid, bytes):
        raise EncodeError(f"{v_zid!r} is not bytes")
    if len(v_zid) != ((b_node >> 4) + 1):
        raise EncodeError("bytes of another length than announced")
    out = OCTET[b_header] + bytes((v_version,)) + OCTET[b_node] + v_zid
    if BIT_6[b_header]:
        v_resolution = value["resolution"]
        try:
            b_resolution = v_resolution.byte
        except AttributeError:
            b_resolution = spell_flags(v_resolution, init_resolution_bits, {}, init_resolution_bits_table)
        else:
            if init_resolution_bits_table[b_resolution] is not v_resolution:
                b_resolution = spell_flags(v_resolution, init_resolution_bits, {}, init_resolution_bits_table)
        out += OCTET[b_resolution]
    if BIT_6[b_header]:
        v_batch_size = value["batch_size"]
        out += v_batch_size.to_bytes(2, "little")
    if BIT_5[b_header]:
        v_cookie = value["cookie"]
        if not isinstance(v_cookie, bytes):
            raise EncodeError(f"{v_cookie!r} is not bytes")
        t_cookie = v_cookie
        n_cookie = len(t_cookie)
        out += (VARINT[n_cookie] if n_cookie < 0x4000 else spell_varint(n_cookie, 16)) + t_cookie
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_open(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = open_blank[b_header].copy()
    v_lease = data[at + 1]
    at += 2
    if v_lease > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_lease += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_lease += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_lease, at = varint(data, at, v_lease, 64, refuse)
    value["lease"] = v_lease
    v_initial_sn = data[at]
    at += 1
    if v_initial_sn > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_initial_sn += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_initial_sn += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_initial_sn, at = varint(data, at, v_initial_sn, 32, refuse)
    value["initial_sn"] = v_initial_sn
    if not BIT_5[b_header]:
        start = at
        count = data[at]
        at += 1
        if count > 0x7F:
            more = data[at]
            if 0 < more < 0x80:
                count += more * 0x80 - 0x80
                at += 1
            else:
                count, at = varint(data, at, count, 16, refuse)
        end = at + count
        if end > len(data):
            raise Refusal(TRUNCATED, start)
        v_cookie = data[at:end]
        at = end
        value["cookie"] = v_cookie
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_open(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, open_header_bits, {"id": 2}, open_header_bits_table)
    else:
        if open_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, open_header_bits, {"id": 2}, open_header_bits_table)
    v_lease = value["lease"]
    v_initial_sn = value["initial_sn"]
    out = OCTET[b_header] + (VARINT[v_lease] if 0 <= v_lease < 0x4000 else CONTINUED[v_lease & 0x3FFF] + VARINT[v_lease >> 14] if 0 < v_lease < 0x10000000 else spell_varint(v_lease, 64)) + (VARINT[v_initial_sn] if 0 <= v_initial_sn < 0x4000 else CONTINUED[v_initial_sn & 0x3FFF] + VARINT[v_initial_sn >> 14] if 0 < v_initial_sn < 0x10000000 else spell_varint(v_initial_sn, 32))
    if not BIT_5[b_header]:
        v_cookie = value["cookie"]
        if not isinstance(v_cookie, bytes):
            raise EncodeError(f"{v_cookie!r} is not bytes")
        t_cookie = v_cookie
        n_cookie = len(t_cookie)
        out += (VARINT[n_cookie] if n_cookie < 0x4000 else spell_varint(n_cookie, 16)) + t_cookie
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_close(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = close_blank[b_header].copy()
    v_reason = data[at + 1]
    value["reason"] = v_reason
    at += 2
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_close(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, close_header_bits, {"id": 3}, close_header_bits_table)
    else:
        if close_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, close_header_bits, {"id": 3}, close_header_bits_table)
    v_reason = value["reason"]
    out = OCTET[b_header] + bytes((v_reason,))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_keep_alive(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = keep_alive_blank[b_header].copy()
    at += 1
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    return value, at


def write_keep_alive(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, keep_alive_header_bits, {"id": 4}, keep_alive_header_bits_table)
    else:
        if keep_alive_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, keep_alive_header_bits, {"id": 4}, keep_alive_header_bits_table)
    out = OCTET[b_header]
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    return out


def read_messages(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    values: list[Any] = []
    size = len(data)
    while at < size and read_network_message[data[at]] is not refuse_unknown:
        if len(values) == 65535:
            raise Refusal(TOO_LONG, at)
        value, at = read_network_message[data[at]](data, at, refuse)
        values.append(value)
    return values, at


def write_messages(value: Any) -> bytes:
    if not (isinstance(value, list) or isinstance(value, tuple)) or len(value) > 65535:
        raise EncodeError("not a list of at most 65535 items")
    return b"".join([write_network_message[each["type"]](each) for each in value])


def read_frame(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = frame_blank[b_header].copy()
    v_sn = data[at + 1]
    at += 2
    if v_sn > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_sn += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_sn += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_sn, at = varint(data, at, v_sn, 32, refuse)
    value["sn"] = v_sn
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_messages, at = read_messages(data, at, refuse)
    value["messages"] = v_messages
    return value, at


def write_frame(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, frame_header_bits, {"id": 5}, frame_header_bits_table)
    else:
        if frame_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, frame_header_bits, {"id": 5}, frame_header_bits_table)
    v_sn = value["sn"]
    out = OCTET[b_header] + (VARINT[v_sn] if 0 <= v_sn < 0x4000 else CONTINUED[v_sn & 0x3FFF] + VARINT[v_sn >> 14] if 0 < v_sn < 0x10000000 else spell_varint(v_sn, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_messages = value["messages"]
    return out + write_messages(v_messages)


def read_fragment(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    b_header = data[at]
    value = fragment_blank[b_header].copy()
    v_sn = data[at + 1]
    at += 2
    if v_sn > 0x7F:
        more = data[at]
        if 0 < more < 0x80:
            v_sn += more * 0x80 - 0x80
            at += 1
        elif more and 0 < (last := data[at + 1]) < 0x80:
            v_sn += more * 0x80 + last * 0x4000 - 0x4080
            at += 2
        else:
            v_sn, at = varint(data, at, v_sn, 32, refuse)
    value["sn"] = v_sn
    if b_header > 0x7F:
        v_extensions, at = read_extensions(data, at, refuse)
        value["extensions"] = v_extensions
    v_data = data[at:]
    at = len(data)
    value["data"] = v_data
    return value, at


def write_fragment(value: Any) -> bytes:
    v_header = value["header"]
    try:
        b_header = v_header.byte
    except AttributeError:
        b_header = spell_flags(v_header, fragment_header_bits, {"id": 6}, fragment_header_bits_table)
    else:
        if fragment_header_bits_table[b_header] is not v_header:
            b_header = spell_flags(v_header, fragment_header_bits, {"id": 6}, fragment_header_bits_table)
    v_sn = value["sn"]
    out = OCTET[b_header] + (VARINT[v_sn] if 0 <= v_sn < 0x4000 else CONTINUED[v_sn & 0x3FFF] + VARINT[v_sn >> 14] if 0 < v_sn < 0x10000000 else spell_varint(v_sn, 32))
    if b_header > 0x7F:
        v_extensions = value["extensions"]
        out += write_extensions(v_extensions)
    v_data = value["data"]
    if not isinstance(v_data, bytes):
        raise EncodeError(f"{v_data!r} is not bytes")
    return out + v_data


read_transport_message = dispatch(
    (read_t_oam, t_oam_header_bits_begins),
    (read_init, init_header_bits_begins),
    (read_open, open_header_bits_begins),
    (read_close, close_header_bits_begins),
    (read_keep_alive, keep_alive_header_bits_begins),
    (read_frame, frame_header_bits_begins),
    (read_fragment, fragment_header_bits_begins),
)


write_transport_message = {
    "T_OAM": write_t_oam,
    "INIT": write_init,
    "OPEN": write_open,
    "CLOSE": write_close,
    "KEEP_ALIVE": write_keep_alive,
    "FRAME": write_frame,
    "FRAGMENT": write_fragment,
}


def read_batch(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    values: list[Any] = []
    size = len(data)
    while at < size:
        if len(values) == 65535:
            raise Refusal(TOO_LONG, at)
        value, at = read_transport_message[data[at]](data, at, refuse)
        values.append(value)
    return values, at


def write_batch(value: Any) -> bytes:
    if not (isinstance(value, list) or isinstance(value, tuple)) or len(value) > 65535:
        raise EncodeError("not a list of at most 65535 items")
    return b"".join([write_transport_message[each["type"]](each) for each in value])


def decode_network_message(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``zenoh/network-message``."""
    try:
        value, at = read_network_message[data[0]](data, 0, refuse)
        if at != len(data):
            raise Refusal(TRAILING, at)
    except (IndexError, Refusal) as error:
        raise refusing(error, "zenoh/network-message", data, refuse) from None
    return value


def encode_network_message(value: Any) -> bytes:
    """Encode one ``zenoh/network-message``."""
    try:
        out: bytes = write_network_message[value["type"]](value)
    except ENCODE_FAILURES as error:
        raise encode_refusal(error, "zenoh/network-message", value) from None
    return out


def decode_transport_message(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``zenoh/transport-message``."""
    try:
        if len(data) > 65535:
            raise Refusal(TOO_LONG, 65535)
        value, at = read_transport_message[data[0]](data, 0, refuse)
        if at != len(data):
            raise Refusal(TRAILING, at)
    except (IndexError, Refusal) as error:
        raise refusing(error, "zenoh/transport-message", data, refuse) from None
    return value


def encode_transport_message(value: Any) -> bytes:
    """Encode one ``zenoh/transport-message``."""
    try:
        out: bytes = write_transport_message[value["type"]](value)
        if len(out) > 65535:
            raise EncodeError("more than 65535 bytes")
    except ENCODE_FAILURES as error:
        raise encode_refusal(error, "zenoh/transport-message", value) from None
    return out


def decode_batch(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``zenoh/batch``."""
    try:
        if len(data) > 65535:
            raise Refusal(TOO_LONG, 65535)
        value, at = read_batch(data, 0, refuse)
        if at != len(data):
            raise Refusal(TRAILING, at)
    except (IndexError, Refusal) as error:
        raise refusing(error, "zenoh/batch", data, refuse) from None
    return value


def encode_batch(value: Any) -> bytes:
    """Encode one ``zenoh/batch``."""
    try:
        out: bytes = write_batch(value)
        if len(out) > 65535:
            raise EncodeError("more than 65535 bytes")
    except ENCODE_FAILURES as error:
        raise encode_refusal(error, "zenoh/batch", value) from None
    return out


CODECS = {
    "network-message": Codec(decode_network_message, encode_network_message),
    "transport-message": Codec(decode_transport_message, encode_transport_message),
    "batch": Codec(decode_batch, encode_batch),
}
