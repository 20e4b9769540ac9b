# mypy: disable-error-code="assignment, no-any-return, no-redef, union-attr, var-annotated"
"""Codecs of rai: generated from wire/rai by ``python -m wire.emit``. Do not edit."""

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

from wire.json.runtime import (
    DOUBTS,
    Doubt,
    decide,
    read_json,
    spell_number,
    spell_text,
    spell_undecided,
    spell_within,
    strings_in,
    strings_within,
)



def read_envelope(data: bytes, at: int, refuse: bool) -> tuple[Any, int]:
    v_operation = data[at]
    at += 1
    if at + 2 > len(data):
        raise Refusal(TRUNCATED, len(data))
    v_length = int.from_bytes(data[at : at + 2], "big")
    at += 2
    start = at
    end = at + v_length
    if end < at:
        raise Refusal(BAD_VALUE, at)
    if end > len(data):
        raise Refusal(TRUNCATED, len(data))
    try:
        v_subject = data[at:end].decode()
    except UnicodeDecodeError:
        raise Refusal(BAD_TEXT, start) from None
    at = end
    v_payload = data[at:]
    at = len(data)
    value = {"operation": v_operation, "length": v_length, "subject": v_subject, "payload": v_payload}
    return value, at


def write_envelope(value: Any) -> bytes:
    v_operation = value["operation"]
    v_length = value["length"]
    v_subject = value["subject"]
    t_subject = v_subject.encode()
    if len(t_subject) != v_length:
        raise EncodeError("bytes of another length than announced")
    v_payload = value["payload"]
    if not isinstance(v_payload, bytes):
        raise EncodeError(f"{v_payload!r} is not bytes")
    return bytes((v_operation,)) + v_length.to_bytes(2, "big") + t_subject + v_payload


def decode_envelope(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/envelope``."""
    try:
        if len(data) > 1114114:
            raise Refusal(TOO_LONG, 1114114)
        value, at = read_envelope(data, 0, refuse)
        if at != len(data):
            raise Refusal(TRAILING, at)
    except (IndexError, Refusal) as error:
        raise refusing(error, "rai/envelope", data, refuse) from None
    return value


def encode_envelope(value: Any) -> bytes:
    """Encode one ``rai/envelope``."""
    try:
        out: bytes = write_envelope(value)
        if len(out) > 1114114:
            raise EncodeError("more than 1114114 bytes")
    except ENCODE_FAILURES as error:
        raise encode_refusal(error, "rai/envelope", value) from None
    return out


def check_hello(value: Any) -> int:
    strings = 9
    size = 6
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "ucast_url" in value:
        v = value["ucast_url"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    v = value["time"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["interval"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["cnonce"]
    if type(v) is not str:
        raise Doubt
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_hello(value: Any) -> str:
    size = 6
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    ucast_url = ''
    if "ucast_url" in value:
        ucast_url = value["ucast_url"]
        if type(ucast_url) is not str or "\0" in ucast_url:
            raise Doubt
        ucast_url = f',"ucast_url":{spell_text(ucast_url)}'
        size += 1
    time = value["time"]
    if type(time) is not int or not 0 <= time <= 0x7fffffffffffffff:
        raise Doubt
    interval = value["interval"]
    if type(interval) is not int or not 0 <= interval <= 0x7fffffffffffffff:
        raise Doubt
    cnonce = value["cnonce"]
    if type(cnonce) is not str or "\0" in cnonce:
        raise Doubt
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{ucast_url}'
        f',"time":{time}'
        f',"interval":{interval}'
        f',"cnonce":{spell_text(cnonce)}'
        '}'
    )


def decode_hello(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/hello``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_hello(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/hello", data)


def encode_hello(value: Any) -> bytes:
    """Encode one ``rai/hello``."""
    try:
        out = write_hello(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/hello", value)


def check_bye(value: Any) -> int:
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return 5


def write_bye(value: Any) -> str:
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        '}'
    )


def decode_bye(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/bye``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_bye(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/bye", data)


def encode_bye(value: Any) -> bytes:
    """Encode one ``rai/bye``."""
    try:
        out = write_bye(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/bye", value)


def check_auth(value: Any) -> int:
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["auth_time"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["time"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["cnonce"]
    if type(v) is not str:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return 9


def write_auth(value: Any) -> str:
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    auth_time = value["auth_time"]
    if type(auth_time) is not int or not 0 <= auth_time <= 0x7fffffffffffffff:
        raise Doubt
    time = value["time"]
    if type(time) is not int or not 0 <= time <= 0x7fffffffffffffff:
        raise Doubt
    cnonce = value["cnonce"]
    if type(cnonce) is not str or "\0" in cnonce:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"auth_time":{auth_time}'
        f',"time":{time}'
        f',"cnonce":{spell_text(cnonce)}'
        '}'
    )


def decode_auth(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/auth``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_auth(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/auth", data)


def encode_auth(value: Any) -> bytes:
    """Encode one ``rai/auth``."""
    try:
        out = write_auth(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/auth", value)


def check_sub_start(value: Any) -> int:
    strings = 5
    size = 3
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "return" in value:
        v = value["return"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "initial" in value:
        v = value["initial"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    if "ack" in value:
        v = value["ack"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    if "format" in value:
        v = value["format"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "expires" in value:
        v = value["expires"]
        if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_sub_start(value: Any) -> str:
    size = 3
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_return = ''
    if "return" in value:
        v_return = value["return"]
        if type(v_return) is str:
            if "\0" in v_return:
                raise Doubt
            spelled = f'{spell_text(v_return)}'
        elif type(v_return) is int:
            if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{v_return}'
        else:
            raise Doubt
        v_return = f',"return":{spelled}'
        size += 1
    initial = ''
    if "initial" in value:
        initial = value["initial"]
        if type(initial) is not bool:
            raise Doubt
        initial = f',"initial":{"true" if initial else "false"}'
        size += 1
    ack = ''
    if "ack" in value:
        ack = value["ack"]
        if type(ack) is not bool:
            raise Doubt
        ack = f',"ack":{"true" if ack else "false"}'
        size += 1
    format = ''
    if "format" in value:
        format = value["format"]
        if type(format) is not str or "\0" in format:
            raise Doubt
        format = f',"format":{spell_text(format)}'
        size += 1
    expires = ''
    if "expires" in value:
        expires = value["expires"]
        if type(expires) is not int or not 0 <= expires <= 0x7fffffffffffffff:
            raise Doubt
        expires = f',"expires":{expires}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{v_return}'
        f'{initial}'
        f'{ack}'
        f'{format}'
        f'{expires}'
        '}'
    )


def decode_sub_start(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/sub-start``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_sub_start(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/sub-start", data)


def encode_sub_start(value: Any) -> bytes:
    """Encode one ``rai/sub-start``."""
    try:
        out = write_sub_start(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/sub-start", value)


def check_sub_stop(value: Any) -> int:
    strings = 5
    size = 3
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "return" in value:
        v = value["return"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "ack" in value:
        v = value["ack"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_sub_stop(value: Any) -> str:
    size = 3
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_return = ''
    if "return" in value:
        v_return = value["return"]
        if type(v_return) is str:
            if "\0" in v_return:
                raise Doubt
            spelled = f'{spell_text(v_return)}'
        elif type(v_return) is int:
            if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{v_return}'
        else:
            raise Doubt
        v_return = f',"return":{spelled}'
        size += 1
    ack = ''
    if "ack" in value:
        ack = value["ack"]
        if type(ack) is not bool:
            raise Doubt
        ack = f',"ack":{"true" if ack else "false"}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{v_return}'
        f'{ack}'
        '}'
    )


def decode_sub_stop(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/sub-stop``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_sub_stop(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/sub-stop", data)


def encode_sub_stop(value: Any) -> bytes:
    """Encode one ``rai/sub-stop``."""
    try:
        out = write_sub_stop(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/sub-stop", value)


def check_psub(value: Any) -> int:
    strings = 9
    size = 5
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "expires" in value:
        v = value["expires"]
        if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
            raise Doubt
        strings += 1
        size += 1
    v = value["subject"]
    if type(v) is not str:
        raise Doubt
    v = value["pattern"]
    if type(v) is not str:
        raise Doubt
    if "return" in value:
        v = value["return"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "ack" in value:
        v = value["ack"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_psub(value: Any) -> str:
    size = 5
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    expires = ''
    if "expires" in value:
        expires = value["expires"]
        if type(expires) is not int or not 0 <= expires <= 0x7fffffffffffffff:
            raise Doubt
        expires = f',"expires":{expires}'
        size += 1
    subject = value["subject"]
    if type(subject) is not str or "\0" in subject:
        raise Doubt
    pattern = value["pattern"]
    if type(pattern) is not str or "\0" in pattern:
        raise Doubt
    v_return = ''
    if "return" in value:
        v_return = value["return"]
        if type(v_return) is str:
            if "\0" in v_return:
                raise Doubt
            spelled = f'{spell_text(v_return)}'
        elif type(v_return) is int:
            if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{v_return}'
        else:
            raise Doubt
        v_return = f',"return":{spelled}'
        size += 1
    ack = ''
    if "ack" in value:
        ack = value["ack"]
        if type(ack) is not bool:
            raise Doubt
        ack = f',"ack":{"true" if ack else "false"}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{expires}'
        f',"subject":{spell_text(subject)}'
        f',"pattern":{spell_text(pattern)}'
        f'{v_return}'
        f'{ack}'
        '}'
    )


def decode_psub(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/psub``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_psub(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/psub", data)


def encode_psub(value: Any) -> bytes:
    """Encode one ``rai/psub``."""
    try:
        out = write_psub(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/psub", value)


def check_get_subs(value: Any) -> int:
    strings = 7
    size = 5
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["return"]
    if type(v) is str:
        strings += 1
    elif type(v) is int:
        if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
            raise Doubt
    else:
        raise Doubt
    v = value["last_seen"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "wildcard" in value:
        v = value["wildcard"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_get_subs(value: Any) -> str:
    size = 5
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_return = value["return"]
    if type(v_return) is str:
        if "\0" in v_return:
            raise Doubt
        spelled = f'{spell_text(v_return)}'
    elif type(v_return) is int:
        if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
            raise Doubt
        spelled = f'{v_return}'
    else:
        raise Doubt
    last_seen = value["last_seen"]
    if type(last_seen) is not int or not 0 <= last_seen <= 0x7fffffffffffffff:
        raise Doubt
    wildcard = ''
    if "wildcard" in value:
        wildcard = value["wildcard"]
        if type(wildcard) is not str or "\0" in wildcard:
            raise Doubt
        wildcard = f',"wildcard":{spell_text(wildcard)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"return":{spelled}'
        f',"last_seen":{last_seen}'
        f'{wildcard}'
        '}'
    )


def decode_get_subs(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/get-subs``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_get_subs(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/get-subs", data)


def encode_get_subs(value: Any) -> bytes:
    """Encode one ``rai/get-subs``."""
    try:
        out = write_get_subs(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/get-subs", value)


def check_subs_subs(value: Any) -> int:
    if type(value) is not list:
        raise Doubt
    strings = 0
    for each in value:
        if type(each) is not str:
            raise Doubt
        strings += 1
    return strings


def check_subs_subs_return(value: Any) -> int:
    if type(value) is not list:
        raise Doubt
    strings = 0
    for each in value:
        if type(each) is str:
            strings += 1
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
    return strings


def check_subs(value: Any) -> int:
    strings = 7
    size = 5
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["last_seen"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "wildcard" in value:
        v = value["wildcard"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "initial" in value:
        v = value["initial"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    if "ack" in value:
        v = value["ack"]
        if type(v) is not bool:
            raise Doubt
        strings += 1
        size += 1
    v = value["subs"]
    strings += check_subs_subs(v)
    if "subs_return" in value:
        v = value["subs_return"]
        strings += check_subs_subs_return(v)
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_subs_subs(value: Any) -> str:
    if type(value) is not list:
        raise Doubt
    pieces = []
    for each in value:
        if type(each) is not str or "\0" in each:
            raise Doubt
        pieces.append(f'{spell_text(each)}')
    return '[' + ','.join(pieces) + ']'


def write_subs_subs_return(value: Any) -> str:
    if type(value) is not list:
        raise Doubt
    pieces = []
    for each in value:
        if type(each) is str:
            if "\0" in each:
                raise Doubt
            spelled = f'{spell_text(each)}'
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{each}'
        else:
            raise Doubt
        pieces.append(f'{spelled}')
    return '[' + ','.join(pieces) + ']'


def write_subs(value: Any) -> str:
    size = 5
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    last_seen = value["last_seen"]
    if type(last_seen) is not int or not 0 <= last_seen <= 0x7fffffffffffffff:
        raise Doubt
    wildcard = ''
    if "wildcard" in value:
        wildcard = value["wildcard"]
        if type(wildcard) is not str or "\0" in wildcard:
            raise Doubt
        wildcard = f',"wildcard":{spell_text(wildcard)}'
        size += 1
    initial = ''
    if "initial" in value:
        initial = value["initial"]
        if type(initial) is not bool:
            raise Doubt
        initial = f',"initial":{"true" if initial else "false"}'
        size += 1
    ack = ''
    if "ack" in value:
        ack = value["ack"]
        if type(ack) is not bool:
            raise Doubt
        ack = f',"ack":{"true" if ack else "false"}'
        size += 1
    subs = value["subs"]
    subs_return = ''
    if "subs_return" in value:
        subs_return = value["subs_return"]
        subs_return = f',"subs_return":{write_subs_subs_return(subs_return)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"last_seen":{last_seen}'
        f'{wildcard}'
        f'{initial}'
        f'{ack}'
        f',"subs":{write_subs_subs(subs)}'
        f'{subs_return}'
        '}'
    )


def decode_subs(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/subs``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_subs(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/subs", data)


def encode_subs(value: Any) -> bytes:
    """Encode one ``rai/subs``."""
    try:
        out = write_subs(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/subs", value)


def check_snap(value: Any) -> int:
    strings = 5
    size = 3
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "return" in value:
        v = value["return"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "format" in value:
        v = value["format"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_snap(value: Any) -> str:
    size = 3
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_return = ''
    if "return" in value:
        v_return = value["return"]
        if type(v_return) is str:
            if "\0" in v_return:
                raise Doubt
            spelled = f'{spell_text(v_return)}'
        elif type(v_return) is int:
            if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{v_return}'
        else:
            raise Doubt
        v_return = f',"return":{spelled}'
        size += 1
    format = ''
    if "format" in value:
        format = value["format"]
        if type(format) is not str or "\0" in format:
            raise Doubt
        format = f',"format":{spell_text(format)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{v_return}'
        f'{format}'
        '}'
    )


def decode_snap(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/snap``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_snap(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/snap", data)


def encode_snap(value: Any) -> bytes:
    """Encode one ``rai/snap``."""
    try:
        out = write_snap(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/snap", value)


def check_reply_data(value: Any) -> int:
    if type(value) is not dict:
        raise Doubt
    strings = len(value)
    for each in value.values():
        strings += strings_within(each)
    return strings


def check_reply(value: Any) -> int:
    strings = 9
    size = 5
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["type"]
    if type(v) is not str:
        raise Doubt
    v = value["subject"]
    if type(v) is not str:
        raise Doubt
    if "status" in value:
        v = value["status"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "format" in value:
        v = value["format"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "dictionary" in value:
        v = value["dictionary"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "dict_csum" in value:
        v = value["dict_csum"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not 0 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "text" in value:
        v = value["text"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "data" in value:
        v = value["data"]
        strings += check_reply_data(v)
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_reply_data(value: Any) -> str:
    if type(value) is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f'{spell_text(name)}:{spell_within(each)}')
    return '{' + ','.join(pieces) + '}'


def write_reply(value: Any) -> str:
    size = 5
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_type = value["type"]
    if type(v_type) is not str or "\0" in v_type:
        raise Doubt
    subject = value["subject"]
    if type(subject) is not str or "\0" in subject:
        raise Doubt
    status = ''
    if "status" in value:
        status = value["status"]
        if type(status) is not str or "\0" in status:
            raise Doubt
        status = f',"status":{spell_text(status)}'
        size += 1
    format = ''
    if "format" in value:
        format = value["format"]
        if type(format) is not str or "\0" in format:
            raise Doubt
        format = f',"format":{spell_text(format)}'
        size += 1
    dictionary = ''
    if "dictionary" in value:
        dictionary = value["dictionary"]
        if type(dictionary) is not str or "\0" in dictionary:
            raise Doubt
        dictionary = f',"dictionary":{spell_text(dictionary)}'
        size += 1
    dict_csum = ''
    if "dict_csum" in value:
        dict_csum = value["dict_csum"]
        if type(dict_csum) is str:
            if "\0" in dict_csum:
                raise Doubt
            spelled = f'{spell_text(dict_csum)}'
        elif type(dict_csum) is int:
            if not 0 <= dict_csum <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{dict_csum}'
        else:
            raise Doubt
        dict_csum = f',"dict_csum":{spelled}'
        size += 1
    text = ''
    if "text" in value:
        text = value["text"]
        if type(text) is not str or "\0" in text:
            raise Doubt
        text = f',"text":{spell_text(text)}'
        size += 1
    data = ''
    if "data" in value:
        data = value["data"]
        data = f',"data":{write_reply_data(data)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"type":{spell_text(v_type)}'
        f',"subject":{spell_text(subject)}'
        f'{status}'
        f'{format}'
        f'{dictionary}'
        f'{dict_csum}'
        f'{text}'
        f'{data}'
        '}'
    )


def decode_reply(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/reply``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_reply(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/reply", data)


def encode_reply(value: Any) -> bytes:
    """Encode one ``rai/reply``."""
    try:
        out = write_reply(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/reply", value)


def check_publish_data(value: Any) -> int:
    if type(value) is not dict:
        raise Doubt
    strings = len(value)
    for each in value.values():
        strings += strings_within(each)
    return strings


def check_publish(value: Any) -> int:
    strings = 5
    size = 3
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    if "type" in value:
        v = value["type"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "subject" in value:
        v = value["subject"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "status" in value:
        v = value["status"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "format" in value:
        v = value["format"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "dictionary" in value:
        v = value["dictionary"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "dict_csum" in value:
        v = value["dict_csum"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not 0 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "text" in value:
        v = value["text"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if "data" in value:
        v = value["data"]
        strings += check_publish_data(v)
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_publish_data(value: Any) -> str:
    if type(value) is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f'{spell_text(name)}:{spell_within(each)}')
    return '{' + ','.join(pieces) + '}'


def write_publish(value: Any) -> str:
    size = 3
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    v_type = ''
    if "type" in value:
        v_type = value["type"]
        if type(v_type) is not str or "\0" in v_type:
            raise Doubt
        v_type = f',"type":{spell_text(v_type)}'
        size += 1
    subject = ''
    if "subject" in value:
        subject = value["subject"]
        if type(subject) is not str or "\0" in subject:
            raise Doubt
        subject = f',"subject":{spell_text(subject)}'
        size += 1
    status = ''
    if "status" in value:
        status = value["status"]
        if type(status) is not str or "\0" in status:
            raise Doubt
        status = f',"status":{spell_text(status)}'
        size += 1
    format = ''
    if "format" in value:
        format = value["format"]
        if type(format) is not str or "\0" in format:
            raise Doubt
        format = f',"format":{spell_text(format)}'
        size += 1
    dictionary = ''
    if "dictionary" in value:
        dictionary = value["dictionary"]
        if type(dictionary) is not str or "\0" in dictionary:
            raise Doubt
        dictionary = f',"dictionary":{spell_text(dictionary)}'
        size += 1
    dict_csum = ''
    if "dict_csum" in value:
        dict_csum = value["dict_csum"]
        if type(dict_csum) is str:
            if "\0" in dict_csum:
                raise Doubt
            spelled = f'{spell_text(dict_csum)}'
        elif type(dict_csum) is int:
            if not 0 <= dict_csum <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{dict_csum}'
        else:
            raise Doubt
        dict_csum = f',"dict_csum":{spelled}'
        size += 1
    text = ''
    if "text" in value:
        text = value["text"]
        if type(text) is not str or "\0" in text:
            raise Doubt
        text = f',"text":{spell_text(text)}'
        size += 1
    data = ''
    if "data" in value:
        data = value["data"]
        data = f',"data":{write_publish_data(data)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f'{v_type}'
        f'{subject}'
        f'{status}'
        f'{format}'
        f'{dictionary}'
        f'{dict_csum}'
        f'{text}'
        f'{data}'
        '}'
    )


def decode_publish(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/publish``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_publish(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/publish", data)


def encode_publish(value: Any) -> bytes:
    """Encode one ``rai/publish``."""
    try:
        out = write_publish(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/publish", value)


def check_dict_request(value: Any) -> int:
    strings = 7
    size = 4
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["dictionary"]
    if type(v) is not str:
        raise Doubt
    if "dict_csum" in value:
        v = value["dict_csum"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not 0 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "return" in value:
        v = value["return"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not -0x8000000000000000 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_dict_request(value: Any) -> str:
    size = 4
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    dictionary = value["dictionary"]
    if type(dictionary) is not str or "\0" in dictionary:
        raise Doubt
    dict_csum = ''
    if "dict_csum" in value:
        dict_csum = value["dict_csum"]
        if type(dict_csum) is str:
            if "\0" in dict_csum:
                raise Doubt
            spelled = f'{spell_text(dict_csum)}'
        elif type(dict_csum) is int:
            if not 0 <= dict_csum <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{dict_csum}'
        else:
            raise Doubt
        dict_csum = f',"dict_csum":{spelled}'
        size += 1
    v_return = ''
    if "return" in value:
        v_return = value["return"]
        if type(v_return) is str:
            if "\0" in v_return:
                raise Doubt
            spelled = f'{spell_text(v_return)}'
        elif type(v_return) is int:
            if not -0x8000000000000000 <= v_return <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{v_return}'
        else:
            raise Doubt
        v_return = f',"return":{spelled}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"dictionary":{spell_text(dictionary)}'
        f'{dict_csum}'
        f'{v_return}'
        '}'
    )


def decode_dict_request(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/dict-request``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_dict_request(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/dict-request", data)


def encode_dict_request(value: Any) -> bytes:
    """Encode one ``rai/dict-request``."""
    try:
        out = write_dict_request(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/dict-request", value)


def check_dict_data(value: Any) -> int:
    if type(value) is not dict:
        raise Doubt
    strings = len(value)
    for each in value.values():
        strings += strings_within(each)
    return strings


def check_dict(value: Any) -> int:
    strings = 7
    size = 4
    v = value["session"]
    if type(v) is not str:
        raise Doubt
    v = value["seqno"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["digest"]
    if type(v) is not str:
        raise Doubt
    v = value["dictionary"]
    if type(v) is not str:
        raise Doubt
    if "dict_csum" in value:
        v = value["dict_csum"]
        if type(v) is str:
            strings += 1
        elif type(v) is int:
            if not 0 <= v <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
        strings += 1
        size += 1
    if "data" in value:
        v = value["data"]
        strings += check_dict_data(v)
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def write_dict_data(value: Any) -> str:
    if type(value) is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f'{spell_text(name)}:{spell_within(each)}')
    return '{' + ','.join(pieces) + '}'


def write_dict(value: Any) -> str:
    size = 4
    session = value["session"]
    if type(session) is not str or "\0" in session:
        raise Doubt
    seqno = value["seqno"]
    if type(seqno) is not int or not 0 <= seqno <= 0x7fffffffffffffff:
        raise Doubt
    digest = value["digest"]
    if type(digest) is not str or "\0" in digest:
        raise Doubt
    dictionary = value["dictionary"]
    if type(dictionary) is not str or "\0" in dictionary:
        raise Doubt
    dict_csum = ''
    if "dict_csum" in value:
        dict_csum = value["dict_csum"]
        if type(dict_csum) is str:
            if "\0" in dict_csum:
                raise Doubt
            spelled = f'{spell_text(dict_csum)}'
        elif type(dict_csum) is int:
            if not 0 <= dict_csum <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{dict_csum}'
        else:
            raise Doubt
        dict_csum = f',"dict_csum":{spelled}'
        size += 1
    data = ''
    if "data" in value:
        data = value["data"]
        data = f',"data":{write_dict_data(data)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        f'{{"session":{spell_text(session)}'
        f',"seqno":{seqno}'
        f',"digest":{spell_text(digest)}'
        f',"dictionary":{spell_text(dictionary)}'
        f'{dict_csum}'
        f'{data}'
        '}'
    )


def decode_dict(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``rai/dict``."""
    try:
        if len(data) <= 1048576:
            value = read_json(data)
            if check_dict(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("rai/dict", data)


def encode_dict(value: Any) -> bytes:
    """Encode one ``rai/dict``."""
    try:
        out = write_dict(value).encode()
        if len(out) <= 1048576:
            return out
    except DOUBTS:
        pass
    return spell_undecided("rai/dict", value)


CODECS = {
    "envelope": Codec(decode_envelope, encode_envelope),
    "hello": Codec(decode_hello, encode_hello),
    "bye": Codec(decode_bye, encode_bye),
    "auth": Codec(decode_auth, encode_auth),
    "sub-start": Codec(decode_sub_start, encode_sub_start),
    "sub-stop": Codec(decode_sub_stop, encode_sub_stop),
    "psub": Codec(decode_psub, encode_psub),
    "get-subs": Codec(decode_get_subs, encode_get_subs),
    "subs": Codec(decode_subs, encode_subs),
    "snap": Codec(decode_snap, encode_snap),
    "reply": Codec(decode_reply, encode_reply),
    "publish": Codec(decode_publish, encode_publish),
    "dict-request": Codec(decode_dict_request, encode_dict_request),
    "dict": Codec(decode_dict, encode_dict),
}
