"""Messages as values: what is published under a subject, in its header and its body.

::

    payload ──read──► Message(subject, session, seqno, digest, body) ──write──► payload

A body is what the document draws, without the header. What a member may hold is read widely, as the document leaves it
open; ``layout_of`` names the layout that says exactly what belongs there.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from wire.errors import DecodeError, Reason
from wire.rai import relaxed

Return = int | str
"""The end of the subject, below a node's inbox, under which it is to be answered."""

Raw = msgspec.Raw
"""A value of JSON as it was written: 17.50 keeps its zero."""

NOTHING = Raw()
"""No value at all."""

HELLO, HB, BYE = "_SESSION.HELLO", "_SESSION.HB", "_SESSION.BYE"
START, STOP = "_SUB.START.", "_SUB.STOP."
WILD_START, WILD_STOP = "_PSUB.START.", "_PSUB.STOP."
SNAP = "_SNAP."
INBOX = "_INBOX."
AUTH, GET_SUBS, DICT = "auth", "get_subs", "dict"
"""Ends of inbox subjects that the document names."""


class Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a message says, beside its header."""

    layout: ClassVar[str]
    """What the layout of such a message is called."""


class Hello(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A session has begun; ``time`` in microseconds since 1970, ``interval`` in seconds."""

    layout: ClassVar[str] = "rai/hello"
    ucast_url: str | None = None
    time: int
    interval: int
    cnonce: str


class Heartbeat(Hello, frozen=True, omit_defaults=True, kw_only=True):
    """A session lives on."""


class Bye(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A session has ended."""

    layout: ClassVar[str] = "rai/bye"


class Auth(Body, frozen=True, omit_defaults=True, kw_only=True):
    """Who says this knows the password of its user: its digest is made with what ``auth_time`` came with."""

    layout: ClassVar[str] = "rai/auth"
    auth_time: int
    time: int
    cnonce: str


class SubStart(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A subscription begins."""

    layout: ClassVar[str] = "rai/sub-start"
    return_: Return | None = msgspec.field(default=None, name="return")
    initial: bool = False
    ack: bool = False
    format: str | None = None
    expires: int | None = None


class SubStop(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A subscription ends."""

    layout: ClassVar[str] = "rai/sub-stop"
    return_: Return | None = msgspec.field(default=None, name="return")
    ack: bool = False


class Wild(Body, frozen=True, omit_defaults=True, kw_only=True):
    """What both messages about wildcards hold: ``subject`` as RV spells it, ``pattern`` as PCRE does, which counts."""

    layout: ClassVar[str] = "rai/psub"
    expires: int | None = None
    subject: str
    pattern: str
    return_: Return | None = msgspec.field(default=None, name="return")
    ack: bool = False


class WildStart(Wild, frozen=True, omit_defaults=True, kw_only=True):
    """A subscription of all subjects that a pattern matches begins."""


class WildStop(Wild, frozen=True, omit_defaults=True, kw_only=True):
    """It ends."""


class GetSubs(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A publisher asks for a session's subscriptions: those made after ``last_seen``, a time of that session's."""

    layout: ClassVar[str] = "rai/get-subs"
    return_: Return = msgspec.field(name="return")
    last_seen: int
    wildcard: str = ">"


class Subs(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A session's subscriptions, and where each is to be answered."""

    layout: ClassVar[str] = "rai/subs"
    last_seen: int
    wildcard: str = ">"
    initial: bool = False
    ack: bool = False
    subs: list[str]
    subs_return: list[Return] = []


class SnapRequest(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A value is to be shown once."""

    layout: ClassVar[str] = "rai/snap"
    return_: Return | None = msgspec.field(default=None, name="return")
    format: str | None = None


class Told(Body, frozen=True, omit_defaults=True, kw_only=True):
    """What a publisher says of a subject, to one session or to all."""

    type: str | None = None
    subject: str | None = None
    status: str | None = None
    format: str | None = None
    dictionary: str | None = None
    dict_csum: int | str | None = None
    text: str | None = None
    data: Raw = NOTHING

    @property
    def kind(self) -> str:
        """Its type: an update, if it does not say."""
        return self.type or "update"

    @property
    def state(self) -> str:
        """Its status: ok, if it does not say."""
        return self.status or "ok"

    @property
    def has_data(self) -> bool:
        """Whether it has data, of whatever kind."""
        return self.data is not NOTHING

    @property
    def fields(self) -> dict[str, Raw] | None:
        """The fields of its data, each as it is written; ``None`` where there is none, or no object."""
        return fields_of(self.data)


class Reply(Told, frozen=True, omit_defaults=True, kw_only=True):
    """An ack, an image, a snapshot, or why there is none."""

    layout: ClassVar[str] = "rai/reply"


class Published(Told, frozen=True, omit_defaults=True, kw_only=True):
    """An update, a drop, or another state of a subject."""

    layout: ClassVar[str] = "rai/publish"


class DictRequest(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A dictionary is to be sent."""

    layout: ClassVar[str] = "rai/dict-request"
    dictionary: str
    dict_csum: int | str | None = None
    return_: Return | None = msgspec.field(default=None, name="return")


class Dict(Body, frozen=True, omit_defaults=True, kw_only=True):
    """A dictionary."""

    layout: ClassVar[str] = "rai/dict"
    dictionary: str
    dict_csum: int | str | None = None
    data: Raw = NOTHING


class Message(msgspec.Struct, frozen=True):
    """A message: ``signed`` is what its digest is about, beside subject and seqno: its body as strict JSON."""

    subject: str
    session: str
    seqno: int
    digest: str
    body: Body
    signed: bytes

    def signed_with(self, digest: str) -> "Message":
        """Return the same message with a digest."""
        return Message(self.subject, self.session, self.seqno, digest, self.body, self.signed)


class _Header(msgspec.Struct, frozen=True):
    session: str
    seqno: int
    digest: str


def of(subject: str, session: str, seqno: int, body: Body, digest: str = "") -> Message:
    """Return a message that is to be published; its digest, if it has one, comes last."""
    return Message(subject, session, seqno, digest, body, encoded(body))


def encoded(body: Body) -> bytes:
    """Return a body as strict JSON."""
    return msgspec.json.encode(body)


def write(message: Message) -> bytes:
    """Return the payload of a message, in strict JSON."""
    head = msgspec.json.encode(_Header(message.session, message.seqno, message.digest))
    return head if message.signed == b"{}" else head[:-1] + b"," + message.signed[1:]


def read(subject: str, payload: bytes) -> Message:
    """Read what was published under a subject; ``DecodeError`` where it is no message."""
    if (message := _as_written_here(subject, payload)) is not None:
        return message
    try:
        header, signed = _header(payload)
        body = _DECODERS[_form(subject, signed)].decode(signed)
    except msgspec.ValidationError as error:
        raise DecodeError(Reason.WRONG_TYPE, 0, "message", str(error)) from None
    except msgspec.DecodeError as error:
        # Numbers stand as they are spelled, in what is signed as well: 5. and 007 are none of strict JSON.
        raise DecodeError(Reason.BAD_SYNTAX, 0, "message", str(error)) from None
    return Message(subject, header.session, header.seqno, header.digest, body, signed)


# What we write ourselves, and whoever writes strict JSON with the header first, is read in a moment.
_PLAIN = re.compile(rb'\{"session":"([^"\\]*)","seqno":(0|[1-9]\d{0,18}),"digest":"([^"\\]*)"(?:,(.*))?\}', re.DOTALL)

# The same as far as its rest; and strict JSON with none of these stands as it is signed.
_HEAD = re.compile(rb'\{"session":"([!#-\[\]-~]*)","seqno":(0|[1-9]\d{0,18}),"digest":"([!#-\[\]-~]*)"(?=[,}])')
_TO_BE_LOOKED_AT = re.compile(rb"[^!-\[\]-~]")


def _as_written_here(subject: str, payload: bytes) -> Message | None:
    """Return a message whose text is the very one that ``write`` would make of it; ``None`` where it is not."""
    head = _HEAD.match(payload)
    if head is None or _TO_BE_LOOKED_AT.search(payload, head.end()):
        return None
    rest = payload[head.end() :]
    signed = b"{}" if rest == b"}" else b"{" + rest[1:]
    try:
        body = _DECODERS[_form(subject, signed)].decode(signed)
    except (msgspec.MsgspecError, RecursionError):
        return None  # how many values may stand within each other, is for the own reader to say
    # No member is there twice, then, and none that the form does not have.
    if encoded(body) != signed:
        return None
    session, seqno, digest = head.groups()
    return Message(subject, session.decode(), int(seqno), digest.decode(), body, signed)


def _header(payload: bytes) -> tuple[_Header, bytes]:
    """Return a message's header, and the rest of it as strict JSON: without white space, each member as it stands."""
    if plain := _PLAIN.fullmatch(payload):
        rest = b"{%b}" % (plain[4] or b"")
        # Only what JSON's own library writes just so is as it should be, without another header behind the first: all
        # else is looked at more closely.
        try:
            members: Any = msgspec.json.decode(rest)
            if msgspec.json.encode(members) == rest and members.keys().isdisjoint(_HEADER):
                return _Header(plain[1].decode(), int(plain[2]), plain[3].decode()), rest
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    members = relaxed.parse(payload)
    if not isinstance(members, relaxed.Members):
        raise DecodeError(Reason.WRONG_TYPE, 0, "message", "a message is an object")
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        raise DecodeError(Reason.DUPLICATE_NAME, 0, "message", "a name stands twice")
    rest = relaxed.canonical(relaxed.Members((name, value) for name, value in members if name not in _HEADER))
    head = relaxed.canonical(relaxed.Members((name, value) for name, value in members if name in _HEADER))
    return msgspec.json.decode(head, type=_Header, strict=False), rest


_HEADER = frozenset({"session", "seqno", "digest"})

_FORMS: Mapping[str, type[Body]] = {HELLO: Hello, HB: Heartbeat, BYE: Bye}
_BY_PREFIX: tuple[tuple[str, type[Body]], ...] = (
    (START, SubStart),
    (STOP, SubStop),
    (WILD_START, WildStart),
    (WILD_STOP, WildStop),
    (SNAP, SnapRequest),
)
_BY_TAIL: Mapping[str, type[Body]] = {AUTH: Auth, GET_SUBS: GetSubs, DICT: DictRequest}
_ALL: set[type[Body]] = {Published, Reply, Subs, Dict, *_FORMS.values(), *dict(_BY_PREFIX).values(), *_BY_TAIL.values()}
_DECODERS = {form: msgspec.json.Decoder(form, strict=False) for form in _ALL}


def _form(subject: str, body: bytes) -> type[Body]:
    """Return what is published under a subject; in an inbox some things are told apart by what they hold alone."""
    if not subject.startswith("_"):
        return Published
    if found := _FORMS.get(subject):
        return found
    for prefix, form in _BY_PREFIX:
        if subject.startswith(prefix):
            return form
    if not subject.startswith(INBOX):
        return Published
    if found := _BY_TAIL.get(tail_of(subject)):
        return found
    names = msgspec.json.decode(body, type=dict[str, Raw])
    if "subs" in names:
        return Subs
    return Dict if "dictionary" in names and not names.keys() & {"type", "subject", "status"} else Reply


def inbox(session: str, tail: Return) -> str:
    """Return the subject under which a session is told something."""
    return f"{INBOX}{session}.{tail}"


def tail_of(subject: str) -> str:
    """Return what stands behind the session in the subject of an inbox."""
    return subject.split(".", 3)[3] if subject.count(".") >= 3 else ""


def owner_of(subject: str) -> str:
    """Return the session whose inbox a subject is in; empty where it is in none."""
    parts = subject.split(".", 3)
    return f"{parts[1]}.{parts[2]}" if len(parts) == 4 and subject.startswith(INBOX) else ""


def user_of(session: str) -> str:
    """Return the user of a session."""
    return session.rpartition(".")[0]


def nonce_of(session: str) -> str:
    """Return the NONCE of a session."""
    return session.rpartition(".")[2]


def fields_of(data: bytes | Raw) -> dict[str, Raw] | None:
    """Return the fields of an object of JSON, each as it is written; ``None`` where it is none."""
    try:
        return _FIELDS.decode(data)
    except msgspec.DecodeError:
        return None


_FIELDS = msgspec.json.Decoder(dict[str, Raw])


def object_of(fields: Mapping[str, Any]) -> Raw:
    """Return fields as an object of JSON."""
    return Raw(msgspec.json.encode(fields))
