"""Sending: frames of a test as they are, in pieces, or as bytes of the stream."""

from harness.exchange import Exchange
from harness.links.framing import Framing, LengthPrefixed
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.events import DecodedMessage, Event

PIECES = 300
"""In so many pieces a message is cut at most: each is a packet."""

LONGER = LengthPrefixed(4, "big", (1 << 32) - 1)
"""How what is longer than anything that may be sent is announced all the same."""


class FrameSender:
    """Sends on one link; ``Deadline`` when the other side takes nothing."""

    def __init__(self, exchange: Exchange[DecodedMessage, Event], conversation: Conversation, framing: Framing) -> None:
        self._exchange = exchange
        self._conversation = conversation
        self._framing = framing

    def frame(self, frame: bytes, cut: int = 0) -> None:
        """Send a frame, in pieces of so many bytes where that is more than 0."""
        try:
            framed = self._framing.encode(frame)
        except ValueError:
            self.raw(LONGER.encode(frame), cut)
            return
        if not cut:
            self._exchange.send(frame)
            return
        last, size = None, max(cut, len(framed) // PIECES)
        for start in range(0, len(framed), size):
            last = self._exchange.send_raw(framed[start : start + size])
        if last is not None:
            self._exchange.record_sent(frame, last)

    def raw(self, data: bytes, cut: int = 0) -> None:
        """Send bytes without framing; nobody is judged by this link any more."""
        self._conversation.is_clean = False
        size = max(cut, len(data) // PIECES, 1) if cut else len(data) or 1
        for start in range(0, len(data), size):
            self._exchange.send_raw(data[start : start + size])
