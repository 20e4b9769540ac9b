"""The one link to a subscriber under test: it dials one address, so tests and service say everything on the same one.

Whoever speaks there has a view of it, with a trace of its own; one view at a time reads what comes.
"""

from weakref import WeakKeyDictionary

from harness.iuts.instance import Instance
from harness.links.link import Link
from harness.trace import Direction, Entry, EntryKind, Trace


class ForgetfulTrace(Trace):
    """A trace that keeps nothing: that of a link whose users write traces of their own."""

    def record(self, link: str, what: EntryKind, direction: Direction, data: bytes = b"", note: str = "") -> Entry:
        return Entry(self.now(), link, what, direction, data, note)


class LinkView:
    """A link as one of several sees it who use it one after the other; to close it leaves the link open."""

    can_reset = False

    def __init__(self, link: Link, label: str, trace: Trace) -> None:
        self.label = label
        self.clock = link.clock
        self.peername, self.ports, self.sending = link.peername, link.ports, link.sending
        self._link, self._trace = link, trace
        trace.ports[label] = link.ports
        trace.record(label, EntryKind.OPENED, Direction.SENT, note=link.peername)

    def send(self, frame: bytes) -> Entry:
        self._link.send(frame)
        return self._trace.record(self.label, EntryKind.FRAME, Direction.SENT, frame)

    def send_raw(self, data: bytes) -> Entry:
        return self.send(data)

    def receive(self, deadline: float) -> Entry:
        data = self._link.receive(deadline).data
        return self._trace.record(self.label, EntryKind.FRAME, Direction.RECEIVED, data)

    def close(self) -> None:
        """Leave it open."""

    def abort(self) -> None:
        """Leave it open."""


class SharedSubscribers:
    """What tests and the service of one subscriber share: its link, the session it is in, the path that is held."""

    def __init__(self) -> None:
        self.link: Link | None = None
        self.session = 0
        self.sessions = 0
        self.root = b""
        self.held = b""

    def new_session(self) -> int:
        """Return the id of a session that there was not before, and have it be that of the publisher from now on."""
        self.sessions += 1
        self.session = (0x0123_4567_89AB_CDEF + self.sessions * 0x9E37_79B9_7F4A_7C15) % 2**64
        return self.session


_grounds: WeakKeyDictionary[Instance, SharedSubscribers] = WeakKeyDictionary()


def subscribers_ground(instance: Instance) -> SharedSubscribers:
    """Return what tests and service of an instance share."""
    if instance not in _grounds:
        _grounds[instance] = SharedSubscribers()
    return _grounds[instance]
