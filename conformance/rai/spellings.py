"""Ways to spell one message: strict JSON with its members elsewhere and other white space, and relaxed JSON."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from wire.rai.values import Message

Member = tuple[str, bytes]
"""A name, and its value as strict JSON."""

Spelling = Callable[[Message], bytes]

_WORD = re.compile(r"(?!true|false|null)[A-Za-z_][A-Za-z0-9_.-]*")


def _header(message: Message) -> list[Member]:
    values = (("session", message.session), ("seqno", message.seqno), ("digest", message.digest))
    return [(name, msgspec.json.encode(value)) for name, value in values]


def _body(message: Message) -> list[Member]:
    members = msgspec.json.decode(message.signed, type=dict[str, msgspec.Raw])
    return [(name, bytes(value)) for name, value in members.items()]


def _strict(members: list[Member]) -> bytes:
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), value) for name, value in members) + b"}"


def header_last(message: Message) -> bytes:
    """Put the header behind all other members."""
    return _strict([*_body(message), *reversed(_header(message))])


def header_between(message: Message) -> bytes:
    """Put the members of the header between the others."""
    header, body = _header(message), _body(message)
    return _strict([header[2], *body[:1], header[0], *body[1:], header[1]])


def spacious(message: Message) -> bytes:
    """Put white space of all kinds wherever it may stand."""
    members = [b'\n"%b"\t:\r\n  %b ' % (name.encode(), value) for name, value in (*_header(message), *_body(message))]
    return b" \n{ " + b" ,".join(members) + b"\t}\r\n"


def pretty(message: Message) -> bytes:
    """Put a member on each line."""
    members = [*_header(message), *_body(message)]
    return json.dumps({name: json.loads(value) for name, value in members}, indent=4).encode()


def escaped(message: Message) -> bytes:
    """Write each letter of each text as its number."""

    def spelt(value: Any) -> bytes:
        if isinstance(value, str):
            return b'"' + b"".join(b"\\u%04x" % ord(each) for each in value) + b'"'
        if isinstance(value, list):
            return b"[" + b",".join(map(spelt, value)) + b"]"
        return msgspec.json.encode(value)

    return _strict([(name, spelt(json.loads(value))) for name, value in (*_header(message), *_body(message))])


def bare_names(message: Message) -> bytes:
    """Leave out the quotes of names."""
    return _relaxed(message, b'%b:"%b"', b"")


def bare_words(message: Message) -> bytes:
    """Leave out the quotes of names, and of values that are words."""
    return _relaxed(message, b"%b:%b", b"")


def trailing_comma(message: Message) -> bytes:
    """Put a comma behind the last member of strict JSON."""
    return _strict([*_header(message), *_body(message)])[:-1] + b",}"


def as_drawn(message: Message) -> bytes:
    """Write a message as the document draws it, with a comma behind its last member."""
    return _relaxed(message, b"\n    %b : %b", b",\n  ")


def _relaxed(message: Message, form: bytes, end: bytes) -> bytes:
    members = []
    for name, value in (*_header(message), *_body(message)):
        text = json.loads(value)
        if isinstance(text, str) and _WORD.fullmatch(text):
            members.append(form % (name.encode(), value[1:-1]))
        else:
            members.append(form.replace(b'"', b"") % (name.encode(), value))
    return b"{" + b",".join(members) + end + b"}"


STRICT: Mapping[str, Spelling] = {
    "the header last": header_last,
    "the header between other members": header_between,
    "white space": spacious,
    "a member on each line": pretty,
    "escapes": escaped,
}
RELAXED: Mapping[str, Spelling] = {
    "names without quotes": bare_names,
    "words without quotes": bare_words,
    "a comma behind the last member": trailing_comma,
    "all as it is drawn": as_drawn,
}
