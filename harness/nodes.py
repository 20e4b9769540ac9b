"""Nodes: reference peers as machines without sockets. Batches and time go in; batches and hang-ups come out."""

import inspect
from collections.abc import Iterator
from typing import Protocol, TypeGuard

HANG_UP = None
"""What a node puts out to end a link, in the place of a frame."""


class Node(Protocol):
    """A peer that some runner drives: over sockets (``harness.serving``) or in memory (``harness.memory``).

    A node may have ``events``, a list of texts that its application is told: the runner takes them out.
    """

    verbs: tuple[str, ...]
    """The control verbs that ``command`` knows."""

    def connected(self, link: int, now: float, *, dialled: bool = False) -> None:
        """Take note of a new link; ``dialled`` when the node's own side made it."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one frame."""

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone; not told of links that the node itself ended."""

    def tick(self, now: float) -> None:
        """Let time pass."""

    def next_tick(self) -> float | None:
        """Return when time matters next, in seconds of the clock; ``None`` when it does not."""

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, in order, and forget it: frames by link, or ``HANG_UP``."""

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Do what a control line asks and return the answer; ``ControlFailed`` otherwise."""


class Dialler(Node, Protocol):
    """A node that dials by itself, again and again if it likes; its servers are numbered from 0."""

    def dials(self, now: float) -> list[int]:
        """Return the servers that it wants to be connected to now, and forget them."""

    def refused(self, server: int, now: float) -> None:
        """Take note that a dial has failed."""

    def connected(self, link: int, now: float, *, dialled: bool = False, server: int = 0) -> None:
        """Take note of a new link, and of the server that was dialled."""


def is_dialler(node: Node) -> TypeGuard[Dialler]:
    """Tell whether a node dials by itself."""
    return hasattr(node, "dials")


class Host(Node, Protocol):
    """A node that wants to know where links come from."""

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of a new link; ``address`` is the other side's, as ``tcp:127.0.0.1:44854``, if it is known."""


def is_host(node: Node) -> TypeGuard[Host]:
    """Tell whether a node wants to know where links come from."""
    return "address" in inspect.signature(node.connected).parameters


def take_events(node: Node) -> list[str]:
    """Return what a node's application was told, and forget it."""
    events: list[str] = getattr(node, "events", None) or []
    taken = events[:]
    events.clear()
    return taken
