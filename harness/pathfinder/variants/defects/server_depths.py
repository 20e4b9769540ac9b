"""Defects of servers that show in a state to which several steps of several clients lead: what feedback is for.

Each is what comes of a table that is too small for what clients can have at once. Much that is alike fills none of
them: what a client has taken over, somebody else has published before.
"""

from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.defects.server_states import end_oldest_beside
from harness.pathfinder.variants.registry import defect
from wire.pathfinder.values import Message


class TakingOver(Server):
    """A server that knows how much a client has, and how many services it has taken over from others."""

    def has(self, session: Session, subscriptions: int, services: int, taken: int) -> bool:
        """Tell whether a client has so many subscriptions and services at least, and has taken so many over."""
        owned = 0 if session.client_id is None else self.directory.count_owned(session.client_id)
        return len(session.live) >= subscriptions and owned >= services and vars(session).get("taken", 0) >= taken

    def is_beside(self, session: Session, subscriptions: int) -> bool:
        """Tell whether another client has so many subscriptions, and a service, and has taken one over."""
        return any(self.has(each, subscriptions, 1, 1) for each in self.clients.values() if each is not session)

    def on_publish(self, session: Session, request: Message) -> None:
        known = self.directory.get(request["service-id"])
        super().on_publish(session, request)
        if known is not None and known.owner != session.client_id:
            vars(session)["taken"] = vars(session).get("taken", 0) + 1


@defect(
    "depth",
    does="dies when who has two services, one taken over, ends a subscription, and another taker has two of them",
)
class DiesOfAnEndBesideOthers(TakingOver):
    def on_unsubscribe(self, session: Session, request: Message) -> None:
        is_live = request["subscription-id"] in {each.id for each in session.live.values()}
        if is_live and self.has(session, 1, 2, 1) and self.is_beside(session, 2):
            raise BufferError("who is told of what was taken over")
        super().on_unsubscribe(session, request)


@defect(
    "depth",
    does="dies of a subscription of who has two, and a service that it took over, and another taker has three",
)
class DiesOfOneMoreBesideOthers(TakingOver):
    def on_subscribe(self, session: Session, request: Message) -> None:
        if self.has(session, 2, 1, 1) and self.is_beside(session, 3):
            raise BufferError("what clients have")
        super().on_subscribe(session, request)


@defect(
    "depth", does="ends the oldest session when one leaves who has two subscriptions, and has taken over three services"
)
class EndsTheOldestWithATaker(TakingOver):
    def leave(self, session: Session) -> None:
        if self.has(session, 2, 2, 3):
            end_oldest_beside(self, session)
        super().leave(session)
