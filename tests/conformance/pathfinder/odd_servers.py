"""Servers that are right in an unusual way, as others planted them who had not read the cases."""

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.pathfinder.peers.server import Server
from harness.peers.peer import HANG_UP
from wire.pathfinder.values import SINGLE, Message

TENFOLD = re.compile(rb"(?<=[:\[, ])(?=-?[0-9]{1,15}[,}\]])(-?[1-9][0-9]*?)(0+)(?=[,}\]])")
"""A whole number that ends in zeros, where a value stands; not beyond what a double holds."""


class WritesExponents(Server):
    """Writes whole numbers that end in zeros with an exponent: 1e1 for 10."""

    def encode_message(self, message: Message) -> bytes:
        # As the first bytes of a string look alike, strings are taken out of the way.
        pieces = re.split(rb'("(?:[^"\\]|\\.)*")', super().encode_message(message))
        pieces[::2] = [TENFOLD.sub(lambda number: b"%be%d" % (number[1], len(number[2])), each) for each in pieces[::2]]
        return b"".join(pieces)


class AnswersFromBehind(Server):
    """Answers single requests that come together in the reverse order, some moments later; it obeys them in theirs."""

    LATER = 0.05

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.held: list[tuple[int, bytes]] = []
        self.due: float | None = None

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        for link, frame in super().drain(now):
            message = {} if frame is HANG_UP else json.loads(frame)
            if message.get("ta-cmd") in SINGLE and message["ta-cmd"] == "ping" and frame is not HANG_UP:
                self.held.append((link, frame))
                self.due = self.due or now + self.LATER
            else:
                if frame is HANG_UP:
                    self.held = [each for each in self.held if each[0] != link]
                yield link, frame
        if self.due is not None and now >= self.due:
            yield from reversed(self.held)
            self.held, self.due = [], None

    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self.held = [each for each in self.held if each[0] != link]

    def next_tick(self) -> float | None:
        return min((each for each in (super().next_tick(), self.due) if each is not None), default=None)
