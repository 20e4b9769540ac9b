"""What a packet is about, for those who look for the messages that matter in a trace."""

from zlib import crc32

from harness.protocol import FrameTopic
from wire.errors import DecodeError
from wire.urbit.values import (
    Ames,
    HeartbeatRequest,
    HeartbeatResponse,
    Promise,
    ScryRequest,
    ScryResponse,
    read,
    type_of,
)


def topic(frame: bytes) -> FrameTopic:
    """Return the path that a packet asks for or answers; that a session lives is routine."""
    try:
        body = read(frame).body
    except DecodeError:
        return FrameTopic()
    match body:
        case HeartbeatRequest(session=session):
            return FrameTopic(is_routine=True, questions=frozenset({session}))
        case HeartbeatResponse(session=session, live=live):
            return FrameTopic(is_routine=live, questions=frozenset({session}), is_granting=live)
        case ScryRequest(path=path, fragment=fragment):
            return FrameTopic(questions=frozenset({question(path, fragment)}))
        case Promise(path=path, fragment=fragment) | ScryResponse(path=path, fragment=fragment):
            return FrameTopic(questions=frozenset({question(path, fragment)}), is_granting=True)
        case _:
            return FrameTopic()


def is_of_subscriber(frame: bytes) -> bool | None:
    """Tell whether a packet is one that subscribers send; None where it is none, or a command, which both send."""
    try:
        body = read(frame).body
    except DecodeError:
        return None
    return None if isinstance(body, Ames) else type_of(body).value % 2 == 0


def question(path: bytes, fragment: int) -> int:
    """Return a number for a fragment of a path, the same whenever it is asked."""
    return crc32(path, fragment)
