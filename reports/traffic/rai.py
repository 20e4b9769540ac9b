"""What may differ from one session of Rai to the next: the nonces of sessions, times, numbers, and subjects.

What was right stays right: who has signed signs anew, with the keys of the database, an auth message with what it
answers. What was forged or damaged stays so.
"""

from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec.structs import replace

from harness.rai.tester.conversation import key_of
from harness.rai.tester.driver import draw_nonces_with
from harness.rai.users import DATABASE, PROFILE
from reports.traffic.variation import SessionDraw, VariableFields
from wire import envelope
from wire.errors import DecodeError, WireError
from wire.rai import digests, values
from wire.rai.values import (
    SNAP,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Auth,
    GetSubs,
    Hello,
    Message,
    Subs,
    Told,
    Wild,
    nonce_of,
    owner_of,
    tail_of,
    user_of,
)
from wire.rai.wildcards import pattern_of_rv, published_prefix

SEED = "nonces"
SETTINGS: dict[str, Any] = {}
"""With what the peers are made beside their usual settings, by which a play is the same each time."""

MOST_SEQNO, MOST_TIME = (1 << 63) - 1, (1 << 53) - 1
"""The largest numbers that all readers of JSON take for what they are."""
YEARS = 1 << 47
"""By how many microseconds times are put forward from session to session, at most."""

_PREFIXES = (START, STOP, SNAP)
_asked: dict[tuple[str, int], str] = {}
"""The cnonce that came with each time of a session: what is answered is looked up when its answer is read."""


def begin() -> None:
    """Have the next play draw the nonces that the one before drew."""
    draw_nonces_with(Random(SEED).randbytes)


def read(frame: bytes) -> Any:
    """Return a message with what may differ in it beside it; ValueError when it is none."""
    try:
        said = envelope.read(frame)
        message = values.read(said.subject, said.payload)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    body = message.body
    if isinstance(body, Hello | Auth):
        _asked[message.session, body.time] = body.cnonce
    answered = _asked.get((owner_of(message.subject), body.auth_time)) if isinstance(body, Auth) else None
    key = _key(message.session, body, answered)
    return {
        "message": message,
        "is_genuine": key is not None and _is_genuine(message, key),
        "session": message.session,
        "subject": message.subject,
        "seqno": message.seqno,
        "answered": answered,
        "body": {name: getattr(body, name) for name in _varied(body)},
    }


def write(value: Any) -> bytes:
    """Return the frame of a message; ValueError when it does not fit."""
    message = value["message"]
    body = replace(message.body, **value["body"]) if value["body"] else message.body
    # A body as it came may be spelt in other ways than ours, or hold members that nobody knows.
    made = values.of(value["subject"], value["session"], value["seqno"], body)
    if not value["body"]:
        made = replace(made, signed=message.signed)
    digest = message.digest
    if value["is_genuine"]:
        key = _key(made.session, body, value["answered"])
        if key is None:
            raise ValueError(f"{made.session} has no key")
        digest = PROFILE.digest(key, made.seqno, made.subject, made.signed)
    return envelope.data(made.subject, values.write(replace(made, digest=digest)))


def _key(session: str, body: values.Body, answered: str | None) -> bytes | None:
    if not isinstance(body, Auth):
        return key_of(session)
    secret = DATABASE.get(user_of(session))
    if secret is None or answered is None:
        return None
    return PROFILE.auth_key(secret, nonce_of(session), body.auth_time, answered)


def _is_genuine(message: Message, key: bytes) -> bool:
    return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


def _varied(body: values.Body) -> Iterator[str]:
    """Yield the members of a body that may differ."""
    match body:
        case Hello():
            yield from ("time", "cnonce")
        case Auth():
            yield from ("time", "auth_time", "cnonce")
        case GetSubs():
            yield "last_seen"
        case Subs():
            yield from ("last_seen", "subs")
        case Wild() if _is_plain(body):
            yield from ("subject", "pattern")
        case Told():
            yield from ("subject", "text")


def _is_plain(body: Wild) -> bool:
    """Tell whether a wildcard and its pattern say the same, as we spell them."""
    try:
        return body.pattern == pattern_of_rv(body.subject)
    except WireError:
        return False


def places(value: Any, by_dialler: bool, found: VariableFields) -> None:
    """Name the session of a message, its seqno, its subject, and what is varied of its body."""
    message, body = value["message"], value["body"]
    found.built(value, "session", (), lambda draw: _session(message.session, draw))
    found.number(value, "seqno", "seqno", MOST_SEQNO)
    if (answered := value["answered"]) is not None:
        found.built(value, "answered", (), lambda draw: _nonce(answered, draw))
    if "cnonce" in body:
        cnonce = body["cnonce"]
        found.built(body, "cnonce", (), lambda draw: _nonce(cnonce, draw))
    for name in ("time", "auth_time", "last_seen"):
        if name in body:
            _time(body, name, found)
    if "subs" in body:
        subs = list(body["subs"])
        found.built(body, "subs", subs, lambda draw: [draw.text(each) for each in subs])
    if "pattern" in body:
        _wild(value, found)
        return
    for name in ("subject", "text"):
        if name in body:
            found.text(body, name)
    _subject(value, found)


def _subject(value: Any, found: VariableFields) -> None:
    """Name the subject of a message, whose beginning may say what the message is."""
    subject = value["subject"]
    if owner := owner_of(subject):
        tail = tail_of(subject)
        found.built(value, "subject", (), lambda draw: values.inbox(_session(owner, draw), tail))
    elif not subject.startswith("_"):
        found.text(value, "subject")
    elif prefix := next((each for each in _PREFIXES if subject.startswith(each)), ""):
        rest = subject.removeprefix(prefix)
        found.built(value, "subject", (rest,), lambda draw: prefix + draw.text(rest))


def _wild(value: Any, found: VariableFields) -> None:
    """Name a wildcard, its pattern, and the subject that both are published under, if that is theirs."""
    body, wildcard = value["body"], value["body"]["subject"]
    prefix = next((each for each in (WILD_START, WILD_STOP) if value["subject"].startswith(each)), "")
    found.text(body, "subject")
    found.built(body, "pattern", (wildcard,), lambda draw: pattern_of_rv(draw.text(wildcard)))
    if prefix and value["subject"] == prefix + published_prefix(wildcard):
        found.built(value, "subject", (wildcard,), lambda draw: prefix + published_prefix(draw.text(wildcard)))


def _time(holder: Any, key: str, found: VariableFields) -> None:
    value = holder[key]
    # All times of a session are put forward by as much; 0, or nonsense, stays what it is.
    if not 0 < value <= MOST_TIME - YEARS:
        return
    found.reserve("time", 0, YEARS)
    found.built(holder, key, (), lambda draw: value + draw.shift["time"])


def _session(session: str, draw: SessionDraw) -> str:
    user, dot, nonce = session.rpartition(".")
    return user + dot + _nonce(nonce, draw)


def _nonce(nonce: str, draw: SessionDraw) -> str:
    """Return what stands for a nonce; what is none as we spell them is left alone."""
    try:
        drawn = urlsafe_b64decode(nonce + "=" * (-len(nonce) % 4))
    except (Error, ValueError):
        return nonce
    return digests.text(draw.blob(drawn)) if drawn and digests.text(drawn) == nonce else nonce
