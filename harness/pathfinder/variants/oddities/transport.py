"""Unusual, legal ways to bear with sizes and with connections."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.limits import GENEROUS
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import oddity

SMALL = 4096
"""Bytes."""


@oddity("PF-064", does="has no room for a request of more than 4 KiB")
class SmallRequests(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits = replace(GENEROUS, message=SMALL)


@oddity("PF-064", does="ends the connection at a message of more than 4 KiB")
class IntolerantOfSize(Server):
    def take(self, session: Session, frame: bytes) -> None:
        if len(frame) > SMALL:
            self.close(session)
        else:
            super().take(session, frame)


@oddity("PF-215", does="has room for twenty connections without hello")
class FewStrangers(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits = replace(GENEROUS, awaiting_hello=20)
