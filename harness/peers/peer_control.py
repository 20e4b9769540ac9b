"""Control lines for a peer over sockets: obeyed one after the other, and held while the peer cannot obey yet."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress

from harness.errors import HarnessError, NotYet
from harness.iuts.control import ControlRequest, answer, parse, write
from harness.peers.peer_server import PeerServer

CLOSE, REOPEN = "close", "reopen"
"""The verbs of peers that have one session: to end it, and to begin another one."""


class PeerControl:
    """The control lines of the peer that a server runs; ``say`` takes each answer, a line without its end."""

    def __init__(self, server: PeerServer, say: Callable[[str], None]) -> None:
        self._server = server
        self._say = say
        self._waiting: deque[ControlRequest] = deque()
        self._is_obeying = False
        # What a line waits for, a frame brings.
        server.on_acted = self._obey

    def take(self, line: str) -> None:
        """Take a line; what is no request is passed over."""
        request = parse(line)
        if request is not None:
            self._waiting.append(request)
            self._obey()

    def _obey(self) -> None:
        # Called again by what the peer does while it obeys: answers come in the order of the requests.
        if self._is_obeying:
            return
        self._is_obeying = True
        try:
            while self._waiting:
                said = answer(self._waiting[0], self._handlers())
                self._waiting.popleft()
                self._say(write(said))
        except NotYet:
            pass
        finally:
            self._is_obeying = False

    def _handlers(self) -> dict[str, Callable[[ControlRequest], str]]:
        handlers: dict[str, Callable[[ControlRequest], str]] = dict.fromkeys(self._server.peer.verbs, self._handle)
        # Whoever dials for a peer that does not do so by itself can do it again.
        return handlers | {REOPEN: self._reopen} if CLOSE in handlers and self._server.dialled else handlers

    def _reopen(self, request: ControlRequest) -> str:
        # Where nothing is open there is nothing to say goodbye to.
        with suppress(HarnessError):
            self._server.command(CLOSE, [])
        self._server.redial()
        return ""

    def _handle(self, request: ControlRequest) -> str:
        return self._server.command(request.verb, list(request.args))
