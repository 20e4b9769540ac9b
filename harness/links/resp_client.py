"""Clients of a Redis server, whatever carries its commands and replies."""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence

import msgspec

from harness.links.broker_client import BrokerClient, Listening, read_envelope
from harness.links.globs import glob_of, matcher
from harness.links.resp import ErrorReply, Pushed, Value
from wire import envelope
from wire.subjects import is_wildcard

# What stands before a channel's name, or a glob, as the client's own name for what it listens to.
_CHANNEL, _GLOB = b"=", b"*"
_WORDS = {_CHANNEL: (b"SUBSCRIBE", b"UNSUBSCRIBE"), _GLOB: (b"PSUBSCRIBE", b"PUNSUBSCRIBE")}


class Awaited(msgspec.Struct):
    """A command whose reply has not come.

    One that listens has a subject, and the name for it; one that publishes a channel, and a copy for each of some
    names.
    """

    word: bytes
    subject: str = ""
    name: bytes = b""
    channel: bytes = b""
    payload: bytes = b""
    copies: set[bytes] = msgspec.field(default_factory=set)


class _Copy(msgspec.Struct, frozen=True):
    """A message as it came for one of the names that are listened to."""

    name: bytes
    channel: bytes
    payload: bytes


class RespClient(BrokerClient):
    """One connection with Redis, over which it both publishes and listens (RESP 3).

    Redis sends a client what it has published itself, for each name that it listens to, right before its reply to that
    (before 7.2) or right behind it. That is how these are told from equal ones that others publish: the server does one
    command after the other, so nothing comes in between. What is equal to what is being published therefore waits for
    the reply. Should the server be one that sends copies behind the reply, then copies of others may be left out in
    their place: there is nothing between the two, so it makes no difference.
    """

    def __init__(self) -> None:
        super().__init__()
        # What the server was told, and of that what it has confirmed: only from then on is it heard. Two wildcards may
        # have one glob, and what was sent for the one is none of the other's.
        self._told: dict[str, Awaited] = {}
        self._listening = Listening()
        self._awaited: deque[Awaited] = deque()
        self._held: list[_Copy] = []
        self._own: Awaited | None = None

    @abstractmethod
    def _spell(self, command: Sequence[bytes]) -> bytes:
        """Return what carries a command."""

    def encode(self, frame: bytes) -> bytes:
        said = read_envelope(frame)
        subject = said.subject.encode()
        if said.operation == envelope.DATA:
            return self._publish(subject, said.payload)
        kind, spelt = (_GLOB, glob_of(said.subject)) if is_wildcard(said.subject) else (_CHANNEL, subject)
        if said.operation == envelope.LISTEN:
            return self._listen(said.subject, kind, spelt)
        return self._cancel(said.subject, kind, spelt)

    def _listen(self, subject: str, kind: bytes, spelt: bytes) -> bytes:
        if subject in self._told:
            return b""
        awaited = self._told[subject] = Awaited(_WORDS[kind][0], subject, kind + spelt)
        return self._command(awaited, spelt)

    def _cancel(self, subject: str, kind: bytes, spelt: bytes) -> bytes:
        told = self._told.pop(subject, None)
        if told is None:
            return b""
        self._listening.remove(told.name, subject)
        if any(each.name == told.name for each in self._told.values()):
            return b""
        return self._command(Awaited(_WORDS[kind][1]), spelt)

    def _publish(self, channel: bytes, payload: bytes) -> bytes:
        if len(payload) > envelope.LARGEST:
            raise ValueError(f"a payload of {len(payload)} bytes does not fit: {envelope.LARGEST} are the most")
        awaited = Awaited(b"PUBLISH", channel=channel, payload=payload, copies=self._copies(channel))
        return self._command(awaited, channel, payload)

    def _copies(self, channel: bytes) -> set[bytes]:
        """Return the names for each of which a message of a channel comes."""
        return {
            each
            for each in {told.name for told in self._told.values()}
            if (each[1:] == channel if each[:1] == _CHANNEL else matcher(each[1:]).fullmatch(channel))
        }

    def _command(self, awaited: Awaited, *words: bytes) -> bytes:
        self._awaited.append(awaited)
        return self._spell([awaited.word, *words])

    def ask(self) -> None:
        self.unconfirmed += 1
        self._outgoing += self._command(Awaited(b"PING"))

    def _heard(self, value: Value) -> list[bytes]:
        """Take what the server says and return the frames that are to be handed on."""
        if not isinstance(value, Pushed):
            return self._replied(value)
        match value:
            case [b"message", bytes(channel), bytes(payload)]:
                return self._came(_Copy(_CHANNEL + channel, channel, payload))
            case [b"pmessage", bytes(glob), bytes(channel), bytes(payload)]:
                return self._came(_Copy(_GLOB + glob, channel, payload))
            case [b"subscribe" | b"psubscribe" | b"unsubscribe" | b"punsubscribe", *_]:
                return self._replied(value)
        return []

    def _came(self, copy: _Copy) -> list[bytes]:
        own = self._own
        if own is not None and _is_of(copy, own):
            own.copies.discard(copy.name)
            return []
        self._own = None
        published = next((each for each in self._awaited if each.word == b"PUBLISH"), None)
        if published is not None and _is_of(copy, published):
            self._held.append(copy)
            return []
        return [*self._released(), *self._passed(copy)]

    def _replied(self, value: Value) -> list[bytes]:
        self._own = None
        if not self._awaited:
            raise ConnectionAbortedError(f"the broker answers what nobody asked: {str(value)[:80]}")
        answered = self._awaited.popleft()
        if answered.word == b"PUBLISH":
            while self._held and _is_of(self._held[-1], answered):
                answered.copies.discard(self._held.pop().name)
            # The rest of them comes next, if this server sends them behind the reply.
            self._own = answered
        if answered.word == b"PING":
            self.unconfirmed -= 1
        if isinstance(value, ErrorReply):
            self._refused(answered, value)
        elif not self.is_ready:
            self._welcomed(value)
        # It may have been cancelled since, and asked for anew.
        elif self._told.get(answered.subject) is answered:
            self._listening.add(answered.name, answered.subject)
        return self._released()

    def _welcomed(self, value: Value) -> None:
        """Take the first reply."""
        self.is_ready = True

    def _refused(self, command: Awaited, why: str) -> None:
        if not self.is_ready:
            raise ConnectionRefusedError(f"the broker says: {why}")
        self.refusals.append(why)
        if self._told.get(command.subject) is command:
            del self._told[command.subject]

    def _released(self) -> list[bytes]:
        held, self._held = self._held, []
        return [frame for each in held for frame in self._passed(each)]

    def _passed(self, copy: _Copy) -> list[bytes]:
        try:
            subject = copy.channel.decode()
            if self._listening.wants(copy.name, subject, raw=self.raw):
                return [envelope.data(subject, copy.payload)]
        except ValueError:
            pass  # no envelope can name it: it is no UTF-8, or too long
        return []


def _is_of(copy: _Copy, published: Awaited) -> bool:
    """Tell whether a copy may be one of what the client has published itself."""
    return copy.name in published.copies and copy.channel == published.channel and copy.payload == published.payload
