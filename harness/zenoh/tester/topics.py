"""What a frame of Zenoh is about, for those who look for the messages that matter in a trace."""

from harness.protocol import FrameTopic
from harness.zenoh.batches import read
from harness.zenoh.tester.session import BARRIER
from wire.zenoh.values import Declare, Interest, InterestFinal, NetworkMessage
from wire.zenoh.values_transport import Fragment, Frame


def topic(frame: bytes) -> FrameTopic:
    """Return the interests that a batch is about; barriers, leases and handshakes are routine."""
    batch = read(frame)
    if batch.error is not None or any(isinstance(each, Fragment) for each in batch.messages):
        return FrameTopic()
    inner = [each for message in batch.messages if isinstance(message, Frame) for each in message.messages]
    ids = [interest_of(each) for each in inner]
    return FrameTopic(all(id is not None and id > BARRIER for id in ids), frozenset(id for id in ids if id is not None))


def interest_of(message: NetworkMessage) -> int | None:
    """Return the id of the interest that a message asks, ends or answers."""
    match message:
        case Interest(id=id) | InterestFinal(id=id):
            return id
        case Declare(interest_id=id):
            return id
        case _:
            return None
