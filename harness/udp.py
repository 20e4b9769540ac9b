"""Links over UDP: a datagram is a frame."""

import errno
import select
import socket
from collections import deque
from collections.abc import Callable

from harness.addresses import Address
from harness.clock import Clock
from harness.errors import Deadline, LinkClosed, LinkError
from harness.link import SEND_PATIENCE, SocketLink, wait
from harness.trace import Direction, Happening, Trace

Remote = tuple[str, int]

_LARGEST = 1 << 16
_STRANGERS_KEPT = 1024


class Door:
    """One UDP socket with the links behind it; it closes when the listener and the last link have left."""

    def __init__(self, shared: socket.socket) -> None:
        shared.setblocking(False)
        self.socket = shared
        self._rooms: dict[Remote, Callable[[bytes], None]] = {}
        self._strangers: deque[tuple[Remote, bytes]] = deque(maxlen=_STRANGERS_KEPT)
        self._listening = False

    def pump(self) -> bool:
        """Hand out one datagram, without waiting; False when there is none, OSError when the port is shut."""
        try:
            data, sender = self.socket.recvfrom(_LARGEST)
        except BlockingIOError:
            return False
        remote = (sender[0], sender[1])
        room = self._rooms.get(remote)
        if room is None:
            self._strangers.append((remote, data))
        else:
            room(data)
        return True

    def stranger(self) -> Remote | None:
        """Return the first sender that has no link yet."""
        return self._strangers[0][0] if self._strangers else None

    def enter(self, remote: Remote, room: Callable[[bytes], None]) -> None:
        """Give the datagrams of a sender, also those that came already, to its link."""
        self._rooms[remote] = room
        waiting = [entry for entry in self._strangers if entry[0] == remote]
        for entry in waiting:
            self._strangers.remove(entry)
            room(entry[1])

    def leave(self, remote: Remote) -> None:
        """Forget a link."""
        self._rooms.pop(remote, None)
        self._close_when_left()

    def listen(self) -> None:
        """Stay open, links or none, until ``close``."""
        self._listening = True

    def close(self) -> None:
        """Stop listening; the socket is closed once no link uses it."""
        self._listening = False
        self._strangers.clear()
        self._close_when_left()

    def _close_when_left(self) -> None:
        if not self._listening and not self._rooms:
            self.socket.close()


class UdpLink(SocketLink):
    """A UDP association: a datagram is a frame; a port where nobody listens ends it with ``reset``."""

    def __init__(
        self,
        door: Door,
        remote: tuple[str, int],
        clock: Clock,
        label: str = "a",
        trace: Trace | None = None,
        opened: Direction = Direction.SENT,
    ) -> None:
        self._door = door
        self._remote = remote
        peername = str(Address("udp", remote[0], remote[1]))
        super().__init__(label, clock, trace, peername, (door.socket.getsockname()[1], remote[1]), opened)
        door.enter(remote, self._arrived)

    def send(self, frame: bytes) -> None:
        """Send one datagram; LinkError when it is too long for one."""
        self._push(frame)
        self._record(Happening.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> None:
        self.send(data)

    def close(self) -> None:
        """End the link; what has arrived by then is still recorded."""
        if self._how is None:
            self._drain()
        self._end("closed")
        self._how = "closed"
        self._door.leave(self._remote)

    def _handle(self) -> socket.socket:
        return self._door.socket

    def _fill(self) -> bool:
        try:
            return self._door.pump()
        except OSError:
            self._end("reset")
            return True

    def _push(self, data: bytes) -> None:
        if self._how is not None:
            raise LinkClosed(self._how)
        try:
            self._door.socket.sendto(data, self._remote)
        except BlockingIOError:
            if not wait(self._door.socket, select.POLLOUT, SEND_PATIENCE):
                raise Deadline(f"{self.peername} took no bytes for {SEND_PATIENCE:g} s") from None
            self._push(data)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise LinkError(f"{len(data)} bytes are too many for one datagram") from error
            self._drain()
            self._end("reset")
            raise LinkClosed("reset") from error
