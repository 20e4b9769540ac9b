"""Control lines for a peer over sockets: obeyed one after the other, and held while the peer cannot obey yet."""

from collections import deque
from collections.abc import Callable

from harness.errors import NotYet
from harness.iuts.control import ControlRequest, answer, parse, write
from harness.peers.peer_server import PeerServer


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
                said = answer(self._waiting[0], dict.fromkeys(self._server.peer.verbs, self._handle))
                self._waiting.popleft()
                self._say(write(said))
        except NotYet:
            pass
        finally:
            self._is_obeying = False

    def _handle(self, request: ControlRequest) -> str:
        return self._server.command(request.verb, list(request.args))
