"""Defects of publishers that show in a state of one session to which several steps lead.

Each is what comes of a table that is too small for what a session can have at once.
"""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import defect
from wire.rai.values import SubStop


def has(publisher: Publisher, session: str, subjects: int, wildcards: int) -> bool:
    """Tell whether a session has subscribed to so many subjects and wildcards at least."""
    interests = publisher.interests
    return len(interests.of_session.get(session, ())) >= subjects and len(interests.wild.get(session, ())) >= wildcards


@defect("state", does="dies when a session ends that has five subjects and four wildcards")
class DiesOfAnEnd(Publisher):
    def left(self, other: KnownSession, now: float) -> None:
        if has(self, other.session, 5, 4):
            raise BufferError("what a session has")
        super().left(other, now)


@defect("state", does="forgets everybody's wildcards when who has three stops one of five subjects")
class ForgetsWildcardsWithOne(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        if subject in self.interests.of_session.get(other.session, ()) and has(self, other.session, 5, 3):
            self.interests.wild.clear()
        super().stop(subject, body, other)
