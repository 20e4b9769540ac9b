"""Conversations: what is said on one link to a broker, as events. The tester's sessions and every monitor read them.

A broker's link has many sessions behind it: the tester's own, and those of whoever else is there, among them the node
under test. A message says by itself whose it is.
"""

from functools import lru_cache

from harness.rai.tester.events import Event, ListenChange, RefusedMessage
from harness.rai.users import DATABASE, PROFILE
from harness.trace import Direction, Entry, EntryKind, Trace
from wire import envelope
from wire.errors import DecodeError
from wire.rai.values import Auth, Message, nonce_of, read, user_of

MOST_TRIED = 16
"""Digests that are looked at in vain before the keys of a network are taken to be others: each look takes its time."""

Decoded = Message | ListenChange | DecodeError
"""What a frame is: a message, the beginning or end of listening, or why it is none of these."""


class Conversation:
    """What is said on one link: feed it frames, read its events."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.events: list[Event] = []
        self.listening: list[tuple[float, Direction, ListenChange]] = []
        """What each side has begun and ended to listen to, with when."""
        self.refusals: list[RefusedMessage] = []
        self.ours: set[str] = set()
        """The sessions that the tester has spoken for, forged ones among them."""
        self._is_proper = True
        self._is_forged = False
        self._is_keyed = False
        self._tries = 0
        self._last: dict[tuple[str, str], Message] = {}

    @property
    def is_clean(self) -> bool:
        """Whether the tester published nothing but what the document lets a node publish."""
        return self._is_proper and not (self._is_forged and self.is_keyed)

    @property
    def is_keyed(self) -> bool:
        """Whether sessions sign with the keys of the database: those of a real network have others, or other users."""
        for event in self.events:
            if self._is_keyed or self._tries >= MOST_TRIED:
                break
            if event.direction is Direction.RECEIVED:
                self._try(event.message)
        return self._is_keyed

    def _try(self, message: Message) -> bool | None:
        """Tell whether a message's digest is its session's, as far as that can be told of this network."""
        if isinstance(message.body, Auth) or (not self._is_keyed and self._tries >= MOST_TRIED):
            return None
        found = is_genuine(message)
        self._is_keyed = self._is_keyed or found
        self._tries += not found
        return found

    @property
    def is_open(self) -> bool:
        """True: nobody shakes hands with a broker in this protocol."""
        return True

    def feed(self, entry: Entry, decoded: Decoded) -> Event | None:
        """Take one frame; return its event if it is a message."""
        if isinstance(decoded, DecodeError):
            self._refuse(entry, decoded)
            return None
        if isinstance(decoded, ListenChange):
            self.listening.append((entry.time, entry.direction, decoded))
            return None
        event = Event(entry.time, entry.direction, decoded, entry.index, type(decoded.body))
        self.events.append(event)
        if entry.direction is Direction.SENT:
            self.ours.add(decoded.session)
            self._is_proper = self._is_proper and self._is_new(decoded)
            self._is_forged = self._is_forged or self._try(decoded) is False
        return event

    def _refuse(self, entry: Entry, error: DecodeError) -> None:
        try:
            said = envelope.read(entry.data)
        except DecodeError:
            said = envelope.Envelope(envelope.DATA, "")
        refused = RefusedMessage(entry.time, entry.direction, error, entry.index, said.subject, said.payload)
        self.refusals.append(refused)
        self._is_proper = self._is_proper and entry.direction is not Direction.SENT

    def _is_new(self, message: Message) -> bool:
        """Tell whether a message is one that its session may say now."""
        key = (message.session, message.subject)
        last = self._last.get(key)
        if last is None or message.seqno > last.seqno:
            self._last[key] = message
            return True
        # Twice the same is what a broker does for a client that listens twice.
        return message == last

    def end(self, by: Direction, how: str) -> None:
        """Take note of nothing: the end of a link to a broker is told to nobody else."""


def decode(frame: bytes) -> Decoded:
    """Return what a frame is."""
    try:
        said = envelope.read(frame)
        if said.operation != envelope.DATA:
            return ListenChange(said.subject, said.operation == envelope.LISTEN)
        return read(said.subject, said.payload)
    except DecodeError as error:
        return error.without_traceback()


def conversations(trace: Trace) -> dict[str, Conversation]:
    """Read a whole trace: one conversation per link."""
    found: dict[str, Conversation] = {}
    for entry in trace:
        if entry.what is EntryKind.FRAME:
            conversation = found.get(entry.link)
            if conversation is None:
                conversation = found[entry.link] = Conversation(entry.link)
            conversation.feed(entry, decode(entry.data))
    return found


def is_genuine(message: Message) -> bool:
    """Tell whether a message has the digest of its session; one that is no auth message, which has another."""
    key = key_of(message.session)
    return key is not None and PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


@lru_cache(1 << 12)
def key_of(session: str) -> bytes | None:
    """Return the HA1 of a session; ``None`` where its user is in no database."""
    secret = DATABASE.get(user_of(session))
    return None if secret is None else PROFILE.session_key(secret, nonce_of(session))
