"""Defects of publishers that show in a state to which many steps of a session lead: what feedback is for.

Each is what comes of a table in which places are given back wrongly: a session has to have stopped what it had started,
and to have enough beside it.
"""

from harness.rai.peers.interests import Wildcard
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import defect
from wire.rai.values import Published, Return, SubStop


class GivingBack(Publisher):
    """A publisher that knows how much a session has, and how much of it it has given back."""

    def has(self, other: KnownSession, each: int, subjects: int, wildcards: int) -> bool:
        """Tell whether a session has so many subjects and wildcards ``each``, and has stopped so many others."""
        interests, (first, second) = self.interests, vars(other).get("stopped", (0, 0))
        among = (interests.of_session.get(other.session, ()), interests.wild.get(other.session, ()))
        return all(len(its) >= each for its in among) and first >= subjects and second >= wildcards

    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        is_its = subject in self.interests.of_session.get(other.session, ())
        super().stop(subject, body, other)
        self._note(other, is_its, False)

    def end_wild(self, other: KnownSession, wildcard: Wildcard) -> None:
        is_its = wildcard in self.interests.wild.get(other.session, ())
        super().end_wild(other, wildcard)
        self._note(other, False, is_its)

    def _note(self, other: KnownSession, *stopped: bool) -> None:
        before = vars(other).get("stopped", (0, 0))
        vars(other)["stopped"] = tuple(one + more for one, more in zip(before, stopped, strict=True))


@defect("depth", does="dies when who has three of each, and has stopped two subjects and a wildcard, stops a subject")
class DiesOfAStopBehindStops(GivingBack):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        if subject in self.interests.of_session.get(other.session, ()) and self.has(other, 3, 2, 1):
            raise BufferError("places that were given back")
        super().stop(subject, body, other)


@defect(
    "depth",
    does="forgets all wildcards when who has three of each, and has stopped a subject and two wildcards, stops another",
)
class ForgetsWildcardsBehindTwo(GivingBack):
    def end_wild(self, other: KnownSession, wildcard: Wildcard) -> None:
        if wildcard in self.interests.wild.get(other.session, ()) and self.has(other, 3, 1, 2):
            self.interests.wild.clear()
        super().end_wild(other, wildcard)


@defect(
    "depth",
    does="tells nobody of anything once who has three of each, and has stopped a subject and two wildcards, asks",
)
class FallsMuteBehindStops(GivingBack):
    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        super().show(kind, subject, returned, other, now)
        if self.has(other, 3, 1, 2):
            vars(self)["is_full"] = True

    def publish(self, subject: str, body: Published) -> None:
        if not vars(self).get("is_full"):
            super().publish(subject, body)
