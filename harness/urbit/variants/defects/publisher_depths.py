"""Defects of publishers that show in a state to which several steps lead: to come by them is what feedback is for.

Each is what comes of a table that is too small for what a subscriber can have at once.
"""

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.variants.registry import defect


def kept(session: Session) -> int:
    """Return how many promises of a session were kept, and not cancelled yet."""
    return sum(each.gap > 0 for each in session.interests.values())


@defect("depth", does="tells nobody more once who has a kept promise, and counts beyond a byte, is to be told another")
class TellsNobodyMore(Publisher):
    def keep(self, interest: PromisedDatum, now: float) -> None:
        if kept(interest.session) and interest.session.number > 0xFF:
            vars(self)["has_lost_count"] = True
        if not vars(self).get("has_lost_count"):
            super().keep(interest, now)


@defect("depth", does="dies when a session cancels what was not kept yet, while something is that it has not cancelled")
class DiesOfAnEarlyCancellation(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        if kept(interest.session) and not interest.gap and not interest.session.is_dead:
            raise BufferError("what is to be told again")
        super().release(interest)


@defect("depth", does="forgets what all were promised when one cancels who has sent a heartbeat, of two that were kept")
class ForgetsWithOne(Publisher):
    def release(self, interest: PromisedDatum) -> None:
        super().release(interest)
        if kept(interest.session) and interest.gap and interest.session.number:
            for waiting in list(self.sessions.waiting.values()):
                for each in list(waiting):
                    self.sessions.release(each)
