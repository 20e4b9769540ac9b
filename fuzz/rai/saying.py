"""How a message of a test becomes one of its session: what is made anew each time is put in, and it is signed.

A message of a test is an envelope with the members of a message beyond its header, and words stand in it for what
nobody knows before the play (``WORDS``)::

    _INBOX.$node.dict  {"dictionary":"d","return":1}
    _INBOX.paul.NONCE.dict  {"session":"tess.NONCE","seqno":7,"digest":"…","dictionary":"d","return":1}

The header is put in behind the first brace, as bytes: what follows need be no JSON. What begins with no brace has no
place for it, and is sent as it is.
"""

import re
from collections.abc import Callable, Collection, Mapping

import msgspec

from wire import envelope
from wire.errors import WireError
from wire.rai.relaxed import Members, canonical, parse
from wire.rai.values import owner_of, read, user_of

WORDS = ("me", "node", "now", "asked", "seen", "cnonce", "returned", "before")
"""The session that speaks; the node's; the time; the times of the node's last auth message to it and of its own last
greeting; a fresh cnonce; to a subscriber also the return under which it has asked something last, and the time before.
"""

HEADER = frozenset({"session", "seqno", "digest"})

LONGEST_SUBJECT = 3900
"""Bytes: brokers end the link of who says a longer one, and all that follows would say nothing."""

_WORD = re.compile(rb"\$(" + "|".join(WORDS).encode() + rb")\b")


def filled(data: bytes, values: Mapping[str, Callable[[], object]]) -> bytes:
    """Return bytes with each word replaced by what it stands for."""
    if b"$" not in data:
        return data
    return _WORD.sub(lambda found: str(values[found[1].decode()]()).encode(), data)


def signed_part(members: bytes) -> bytes:
    """Return what the digest of a message is about that has these members: as it is, where it is no JSON."""
    try:
        if msgspec.json.encode(msgspec.json.decode(members)) == members:
            return members
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        found = parse(members)
        if isinstance(found, Members):
            return canonical(Members((name, value) for name, value in found if name not in HEADER))
    except WireError:
        pass
    return members


def with_header(members: bytes, session: str, seqno: int, digest: str) -> bytes:
    """Return the payload of a message that has these members behind its header."""
    header = msgspec.json.encode({"session": session, "seqno": seqno, "digest": digest})
    rest = members[1:]
    comma = b"" if rest.lstrip()[:1] in (b"}", b"") else b","
    return header[:-1] + comma + rest


def without_header(subject: str, payload: bytes, session: str, node: str) -> bytes:
    """Return a message as a test would have it that was said by a session, to a node.

    Raises ``WireError`` when it is no object.
    """
    found = parse(payload)
    members = b"{}"
    if isinstance(found, Members):
        members = canonical(Members((name, value) for name, value in found if name not in HEADER))
    for known, word in ((session, "$me"), (node, "$node")):
        if known:
            subject = subject.replace(known, word)
            members = members.replace(known.encode(), word.encode())
    return envelope.data(subject, members)


def said_in(frame: bytes, users: Collection[str]) -> bytes | None:
    """Return the message of a test that a frame is made of; ``None`` where it is none.

    ``users`` are those whose nodes may be under test: their sessions stand for the node's.
    """
    try:
        said = envelope.read(frame)
        if said.operation != envelope.DATA:
            return None
        session, owner = read(said.subject, said.payload).session, owner_of(said.subject)
        return without_header(said.subject, said.payload, session, owner if user_of(owner) in users else "")
    except WireError:
        return None
