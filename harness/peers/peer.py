"""Peers: reference implementations as machines without sockets. Links, frames and time go in; frames and hang-ups out.

A runner drives one, over sockets (``peer_server``) or in memory and virtual time (``memory``).
It calls ``connected``, ``received``, ``disconnected`` and ``tick``, in whatever order things happen; after each call it
sends what ``drain`` returns, takes the events, and comes back at ``next_tick``. No call blocks, and none asks what time
it is: so a peer does the same in both worlds.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, Self

import msgspec

from harness.errors import ControlFailed

HANG_UP = None
# Not an empty frame, which UDP and ux can carry.
"""What a peer puts out to end a link, in the place of a frame."""


class PeerSettings(msgspec.Struct, frozen=True):
    """How a peer is made: the ``profile`` picks the reading where document and field differ.

    One that dials is told the ``scenario`` that it is to play, and how many ``servers`` it finds. ``hello_patience`` is
    how many seconds a connection may go without a hello, for one that bounds that; ``None`` is its own choice.
    ``epoch`` is how many seconds of the peer's time lie between the beginning of 1970 and the zero of its clock, for
    one that says what time it is; ``seed`` is what its chance comes from, the system's own if there is none.
    """

    profile: str = "document"
    scenario: str = ""
    servers: int = 1
    hello_patience: float | None = None
    epoch: float = 0.0
    seed: int | None = None


class Peer(ABC):
    """A reference implementation of one role of a protocol."""

    role: ClassVar[str]
    verbs: tuple[str, ...] = ()
    """The control verbs that ``command`` knows."""
    bounds_hello: ClassVar[bool] = False
    """Whether it ends connections on which nobody says hello, after ``PeerSettings.hello_patience``."""

    @abstractmethod
    def __init__(self, *, profile: str = "document") -> None:
        """What every peer can be made with; a subclass may take more."""

    @classmethod
    def of(cls, settings: PeerSettings) -> Self:
        """Return a fresh peer."""
        return cls(profile=settings.profile)

    @abstractmethod
    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of a new link; ``dialled`` when the peer's own side made it.

        ``address`` is the other side's, as ``tcp:127.0.0.1:44854``; empty where it has none.
        """

    @abstractmethod
    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one frame."""

    @abstractmethod
    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone; not told of links that the peer itself ended."""

    @abstractmethod
    def tick(self, now: float) -> None:
        """Let time pass."""

    @abstractmethod
    def next_tick(self) -> float | None:
        """Return when to call ``tick`` next, in seconds of the clock; ``None`` for never."""

    @abstractmethod
    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, in order and once: frames by link, or ``HANG_UP``."""

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Do what a control line asks and return the answer; ``ControlFailed`` otherwise.

        ``NotYet`` when it can be done only after something has come that is under way: the runner asks again.
        """
        raise ControlFailed(f"a {self.role} has no verb {verb!r}")

    def take_events(self) -> list[str]:
        """Return the notifications to the peer's application since the last call."""
        return []


class Dialler(Peer):
    """A peer that dials by itself, again and again if it likes; its servers are numbered from 0."""

    @abstractmethod
    def __init__(self, *, profile: str = "document", scenario: str = "", servers: int = 1) -> None:
        """What every peer that dials can be made with; a subclass may take more."""

    @classmethod
    def of(cls, settings: PeerSettings) -> Self:
        """Return a fresh peer that is to play a scenario."""
        return cls(profile=settings.profile, scenario=settings.scenario, servers=settings.servers)

    @abstractmethod
    def dials(self, now: float) -> list[int]:
        """Return the servers that it wants to be connected to now, and forget them."""

    @abstractmethod
    def refused(self, server: int, now: float) -> None:
        """Take note that a dial has failed."""

    @abstractmethod
    def reached(self, server: int, link: int, now: float) -> None:
        """Take note that a dial has succeeded: the new link leads to this server."""


PeerMaker = Callable[[PeerSettings], Peer]
"""What makes a fresh peer at each start: ``Peer.of``, or something that knows more."""
