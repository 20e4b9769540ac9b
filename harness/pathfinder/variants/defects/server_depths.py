"""Defects of servers that show in a state to which several steps of several clients lead: what feedback is for.

Each is what comes of a table that is too small for what two clients can have at once. Much that is alike fills none of
them: what a client has taken over, somebody else has published before.
"""

from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.defects.server_states import end_oldest_beside
from harness.pathfinder.variants.registry import defect
from wire.pathfinder.values import Message


class TakingOver(Server):
    """A server that knows how much a client has, and whether it has taken services over from others."""

    def is_taker(self, session: Session, subscriptions: int = 2, services: int = 2) -> bool:
        """Tell whether a client has so many of both at least, and has ever taken a service over from another."""
        owned = 0 if session.client_id is None else self.directory.count_owned(session.client_id)
        return len(session.live) >= subscriptions and owned >= services and "taken" in vars(session)

    def is_beside_a_taker(self, session: Session) -> bool:
        """Tell whether another client has two of each, and has ever taken a service over."""
        return any(self.is_taker(each) for each in self.clients.values() if each is not session)

    def on_publish(self, session: Session, request: Message) -> None:
        known = self.directory.get(request["service-id"])
        super().on_publish(session, request)
        if known is not None and known.owner != session.client_id:
            vars(session)["taken"] = True


@defect(
    "depth",
    does="dies when who has two of each, and took a service over, ends a subscription beside another who has as much",
)
class DiesOfAnEndBesideATaker(TakingOver):
    def on_unsubscribe(self, session: Session, request: Message) -> None:
        is_live = request["subscription-id"] in {each.id for each in session.live.values()}
        if is_live and self.is_taker(session) and self.is_beside_a_taker(session):
            raise BufferError("who is told of what was taken over")
        super().on_unsubscribe(session, request)


@defect(
    "depth",
    does="dies of a fourth subscription of who has taken a service over, beside another taker who has two of each",
)
class DiesOfOneMoreBesideATaker(TakingOver):
    def on_subscribe(self, session: Session, request: Message) -> None:
        if self.is_taker(session, 3, 1) and self.is_beside_a_taker(session):
            raise BufferError("what clients have")
        super().on_subscribe(session, request)


@defect(
    "depth",
    does="ends the oldest session when who has two of each, and took one over, leaves beside another with as much",
)
class EndsTheOldestBesideATaker(TakingOver):
    def leave(self, session: Session) -> None:
        if self.is_taker(session) and self.is_beside_a_taker(session):
            end_oldest_beside(self, session)
        super().leave(session)
