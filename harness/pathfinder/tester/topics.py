"""What a frame of Pathfinder is about, for those who look for the messages that matter in a trace."""

from harness.pathfinder.tester.events import decode_message
from harness.protocol import FrameTopic


def topic(frame: bytes) -> FrameTopic:
    """Return the transaction that a message belongs to; a hello that went well and a ping are routine."""
    message = decode_message(frame)
    if message.ta is None:
        return FrameTopic()
    routine = message.error is None and message.command in ("hello", "ping") and message.type in ("request", "complete")
    return FrameTopic(routine, frozenset((message.ta,)))
