"""Nodes: reference peers as machines without sockets. Batches and time go in; batches and hang-ups come out."""

from collections.abc import Iterator
from typing import Protocol

HANG_UP = None
"""What a node puts out to end a link, in the place of a frame."""


class Node(Protocol):
    """A peer that some runner drives: over sockets (``harness.serving``) or in memory (``harness.memory``)."""

    verbs: tuple[str, ...]
    """The control verbs that ``command`` knows."""

    def connected(self, link: int, now: float, *, dialled: bool = False) -> None:
        """Take note of a new link; ``dialled`` when the node's own side made it."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one frame."""

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone."""

    def tick(self, now: float) -> None:
        """Let time pass."""

    def next_tick(self) -> float | None:
        """Return when time matters next, in seconds of the clock; ``None`` when it does not."""

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, in order, and forget it: frames by link, or ``HANG_UP``."""

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Do what a control line asks and return the answer; ``ControlFailed`` otherwise."""
