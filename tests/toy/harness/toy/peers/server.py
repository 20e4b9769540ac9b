"""The reference server: keeps the document to the letter, without sockets or threads.

A runner (``harness.peers.peer_server``, or ``harness.peers.memory`` in virtual time) hands in links, frames and time,
and sends what ``drain`` returns. Every decision that the document speaks of is a method of its own, so that a fault is
one override beside it.
"""

from collections.abc import Iterator

from harness.peers.peer import HANG_UP, Peer
from wire.errors import DecodeError
from wire.toy.values import Load, Message, Save, Value, read, write


class Server(Peer):
    """A Toy server; ``profile`` would pick the reading where the peer's own behaviour depends on one."""

    role = "server"

    def __init__(self, *, profile: str = "document") -> None:
        self.stored: dict[str, bytes] = {}
        self.outbox: list[tuple[int, bytes | None]] = []

    # --- the runner's side --------------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of a new link: there is nothing to do before it speaks."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one frame; who cannot be understood is hung up on."""
        try:
            message = read(frame)
        except DecodeError:
            self.outbox.append((link, HANG_UP))
            return
        match message:
            case Save():
                self.on_save(link, message)
            case Load():
                self.on_load(link, message)
            case Value():
                self.outbox.append((link, HANG_UP))  # only a server answers

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone: what was stored stays."""

    def tick(self, now: float) -> None:
        """Let time pass."""

    def next_tick(self) -> float | None:
        """Return when time matters next: never, nothing here waits."""
        return None

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, by link, in order, and forget it."""
        outbox, self.outbox = self.outbox, []
        yield from outbox

    # --- requests (section 3) -----------------------------------------------------------------------------

    def on_save(self, link: int, request: Save) -> None:
        """Store a value; the answer has F clear."""
        self.stored[request.key] = request.value
        self.answer(link, request)

    def on_load(self, link: int, request: Load) -> None:
        """Answer with what is stored, if anything is."""
        self.answer(link, request, self.stored.get(request.key))

    def answer(self, link: int, request: Message, value: bytes | None = None) -> None:
        """Answer a request under its ticket."""
        self.outbox.append((link, write(Value(request.ticket, value))))
