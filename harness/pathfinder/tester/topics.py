"""What a frame of Pathfinder is about, for those who look for the messages that matter in a trace."""

from harness.pathfinder.tester.events import decode_message
from harness.protocol import FrameTopic


def topic(frame: bytes) -> FrameTopic:
    """Return the transaction that a message belongs to; a hello that went well and a ping are routine.

    What a server accepts or completes it grants.
    """
    message = decode_message(frame)
    if message.ta is None:
        return FrameTopic()
    routine = message.error is None and message.command in ("hello", "ping") and message.type in ("request", "complete")
    granting = message.error is None and message.type in ("accept", "complete")
    return FrameTopic(routine, frozenset((message.ta,)), granting)
