"""What a message is about, for those who look for the messages that matter in a trace."""

from zlib import crc32

from harness.protocol import FrameTopic
from harness.rai.tester.conversation import decode
from harness.rai.tester.events import ListenChange
from wire.rai.values import SNAP, START, STOP, Auth, Hello, Message, Published, Reply, SnapRequest, SubStart, SubStop


def topic(frame: bytes) -> FrameTopic:
    """Return the subject that a message asks about or tells of; that a session lives is routine."""
    message = decode(frame)
    if not isinstance(message, Message):
        return FrameTopic()
    match message.body:
        case Hello() | Auth():
            return FrameTopic(is_routine=True)
        case SubStart():
            return _about(message.subject.removeprefix(START))
        case SubStop():
            return _about(message.subject.removeprefix(STOP))
        case SnapRequest():
            return _about(message.subject.removeprefix(SNAP))
        case Reply(subject=str(subject)):
            return _about(subject, is_granting=True)
        case Published():
            return _about(message.subject, is_granting=True)
        case _:
            return FrameTopic()


def is_telling(frame: bytes) -> bool:
    """Tell whether a frame is more than the beginning or the end of listening, which is of any client of a broker's."""
    return not isinstance(decode(frame), ListenChange)


def _about(subject: str, *, is_granting: bool = False) -> FrameTopic:
    return FrameTopic(questions=frozenset({crc32(subject.encode())}), is_granting=is_granting)
