"""Defects of servers that show in a state of one client to which several steps lead.

Each is what comes of a table that is too small for what a client can have at once.
"""

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.registry import defect
from wire.pathfinder.values import Message


def end_oldest_beside(server: Server, session: Session) -> None:
    """End the session that began first, unless it is this one."""
    oldest = next(iter(server.clients.values()))
    if oldest is not session:
        server.close(oldest)


class Counting(Server):
    """A server that knows how much a client has."""

    def services(self, session: Session) -> int:
        return sum(each.owner == session.client_id for each in self.directory)

    def changes(self, session: Session) -> int:
        told: int = vars(session).get("told", 0)
        return told

    def notify_match(self, subscription: Subscription, what: str, service: ServiceRecord) -> None:
        vars(subscription.session)["told"] = self.changes(subscription.session) + 1
        super().notify_match(subscription, what, service)


@defect("state", does="dies when one of three subscriptions ends of who has three services, and was told three changes")
class DiesOfASubscriptionThatEnds(Counting):
    def on_unsubscribe(self, session: Session, request: Message) -> None:
        is_live = request["subscription-id"] in {each.id for each in session.live.values()}
        if is_live and len(session.live) > 2 and self.services(session) > 2 and self.changes(session) > 2:
            raise BufferError("what a client has")
        super().on_unsubscribe(session, request)


@defect("state", does="dies of a list for who has three subscriptions and two services, and was told six changes")
class DiesOfAListBehindChanges(Counting):
    def on_services(self, session: Session, request: Message) -> None:
        if self.changes(session) > 5 and len(session.live) > 2 and self.services(session) > 1:
            raise BufferError("changes that are not read yet")
        super().on_services(session, request)


@defect(
    "state", does="ends the oldest session when one leaves who has three subscriptions, two services, three changes"
)
class EndsTheOldestBehindAnEnd(Counting):
    def leave(self, session: Session) -> None:
        if len(session.live) > 2 and self.services(session) > 1 and self.changes(session) > 2:
            end_oldest_beside(self, session)
        super().leave(session)
