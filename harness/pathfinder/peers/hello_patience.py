"""The patience of a server with connections on which nobody says hello, as whoever starts it wants it."""

from typing import Self

from msgspec.structs import replace

from harness.pathfinder.peers.limits import Limits
from harness.peers.peer import Peer, PeerSettings


class HelloPatience(Peer):
    """A peer that ends such connections after ``Limits.hello_patience``."""

    bounds_hello = True
    limits: Limits

    @classmethod
    def of(cls, settings: PeerSettings) -> Self:
        """Return a fresh server, as patient as it is told to be."""
        server = super().of(settings)
        if settings.hello_patience is not None:
            server.limits = replace(server.limits, hello_patience=settings.hello_patience)
        return server
