"""Defects of publishers that show in a state to which several steps lead: to come by them is what feedback is for.

Each is what comes of a table that is too small for what sessions can have at once. Much that is alike fills none of
them: it is said by one.
"""

from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import defect
from wire.rai.values import Published, SubStop


class Counting(Publisher):
    """A publisher that knows how much sessions have subscribed to."""

    def have(self, subjects: int, wildcards: int) -> set[str]:
        """Return the sessions that have subscribed to so many subjects and wildcards at least."""
        named, wild = self.interests.of_session, self.interests.wild
        return {each for each in named if len(named[each]) >= subjects and len(wild.get(each, ())) >= wildcards}


@defect("depth", does="dies when a session ends that has three subjects and two wildcards, as two others have")
class DiesOfAnEnd(Counting):
    def left(self, other: KnownSession, now: float) -> None:
        having = self.have(3, 2)
        if other.session in having and len(having) > 2:
            raise BufferError("what sessions have")
        super().left(other, now)


@defect(
    "depth",
    does="forgets all wildcards when who has two of them stops one of two subjects, and two others have as many",
)
class ForgetsWildcardsWithOne(Counting):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        having = self.have(2, 2)
        if other.session in having and len(having) > 2 and subject in self.interests.of_session[other.session]:
            self.interests.wild.clear()
        super().stop(subject, body, other)


@defect("depth", does="tells nobody of anything any more once four sessions have two subjects and two wildcards each")
class FallsMuteOfFourSessions(Counting):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if len(self.have(2, 2)) > 3:
            vars(self)["is_full"] = True

    def publish(self, subject: str, body: Published) -> None:
        if not vars(self).get("is_full"):
            super().publish(subject, body)
