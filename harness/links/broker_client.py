"""Clients of brokers as machines without sockets: frames and the broker's bytes go in, bytes and frames come out.

A frame is an envelope (``wire.envelope``). A client knows one connection, and is the framing of it and its only reader
at once: what encodes frames has to know what was listened to, and what reads has to answer.
"""

from abc import ABC, abstractmethod
from typing import Self

from wire import envelope
from wire.envelope import Envelope
from wire.errors import DecodeError
from wire.subjects import matches


class BrokerClient(ABC):
    """One connection with a broker.

    Who owns the socket writes what ``take`` returns after each call, and hands on no frames before ``is_ready``.

    The broker sends no client what it has published itself, or the client leaves that out. Where several subjects that
    it listens to match one message, the broker sends it for each of them; the client passes the one for the first that
    was listened to, or all of them if it is ``raw``.
    """

    lua = ""
    """Nothing dissects one end of a connection."""

    def __init__(self) -> None:
        self.raw = False
        self.is_ready = False
        self.unconfirmed = 0
        """How many confirmations that were asked for have not come."""
        self.refusals: list[str] = []
        """What the broker complained of."""
        self._outgoing = bytearray()

    def take(self) -> bytes:
        """Return the bytes to be written, once."""
        taken = bytes(self._outgoing)
        self._outgoing.clear()
        return taken

    def reader(self) -> Self:
        """Return itself."""
        return self

    @property
    @abstractmethod
    def rest(self) -> bytes:
        """What came and is not whole yet."""

    @abstractmethod
    def encode(self, frame: bytes) -> bytes:
        """Return what says a frame to the broker; ValueError when it is no envelope, or this broker cannot carry it."""

    @abstractmethod
    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes of the broker and return the frames that they complete.

        Oversized as any reader; ConnectionError when the broker refuses the client, or what came is of none.
        """

    @abstractmethod
    def ask(self) -> None:
        """Ask for a confirmation that all before it has been done; ``unconfirmed`` tells when it has come."""


def read_envelope(frame: bytes) -> Envelope:
    """Return what a frame says; ValueError when it is no envelope."""
    try:
        return envelope.read(frame)
    except DecodeError as error:
        raise ValueError(f"the frame is no envelope: {error}") from None


MOST_REMEMBERED = 1 << 16
"""Subjects of which it is remembered whether somebody listens to them."""


class Listening:
    """What a client listens to, in the order in which it began to.

    Each subject or wildcard stands under the broker's name for it; one name may stand for several wildcards, where the
    broker knows less of them.
    """

    def __init__(self) -> None:
        self._wanted: dict[bytes, list[str]] = {}
        self._passed: dict[str, bytes | None] = {}
        """By subject the name for which a message is passed, remembered until something else is listened to."""

    def add(self, name: bytes, subject: str) -> None:
        """Listen to a subject; once is enough."""
        known = self._wanted.setdefault(name, [])
        if subject not in known:
            known.append(subject)
            self._passed.clear()

    def remove(self, name: bytes, subject: str) -> None:
        """End that; once is enough."""
        known = self._wanted.get(name, [])
        if subject in known:
            known.remove(subject)
            self._passed.clear()
            if not known:
                del self._wanted[name]

    def wants(self, name: bytes, subject: str, *, raw: bool) -> bool:
        """Tell whether to pass a message that the broker has sent for a name of its own: each is passed once.

        If ``raw`` is asked for, each that is listened to.
        """
        if raw:
            return any(matches(one, subject) for one in self._wanted.get(name, ()))
        if subject not in self._passed:
            if len(self._passed) >= MOST_REMEMBERED:
                self._passed.clear()
            self._passed[subject] = self._first(subject)
        return self._passed[subject] == name

    def _first(self, subject: str) -> bytes | None:
        """Return the first name under which a subject is listened to."""
        return next(
            (each for each, wanted in self._wanted.items() if any(matches(one, subject) for one in wanted)), None
        )
