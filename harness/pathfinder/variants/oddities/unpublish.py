"""Unusual, legal ways to take services back, and to end subscriptions."""

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message


@oddity("PF-216", does="says that there is no such subscription when it is another client's")
class NothingOfOthers(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        hides = request["ta-cmd"] == "unsubscribe" and reason == "permission-denied"
        super().fail(session, request, "non-existent-subscription-id" if hides else reason)


@oddity("PF-166", "PF-167", does="unpublishes first, and answers then")
class DoneThenSaid(Server):
    def on_unpublish(self, session: Session, request: Message) -> None:
        held, self.outbox = self.outbox, []
        super().on_unpublish(session, request)
        mine = [each for each in self.outbox if each[0] == session.link]
        others = [each for each in self.outbox if each[0] != session.link]
        # What goes to others first, then what the asking client is told, its answer last.
        self.outbox = [*held, *others, *mine[1:], *mine[:1]]


@oddity("PF-166", does="tells of a removed service once, without its change of owner")
class GoneAtOnce(Server):
    def take_over(self, session: Session, service: ServiceRecord) -> ServiceRecord:
        return service
