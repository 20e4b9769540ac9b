"""Faults against Pathfinder, "Ping Command"."""

from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-182", does="adds the time to what a ping is answered")
class PingWithTime(Lenient):
    def on_ping(self, session: Session, request: Message) -> None:
        self.complete(session, request, {"time": int(self.wall())})


@fault("PF-227", does="does not answer every hundredth ping")
class DropsEveryHundredth(Server):
    count = 0

    def on_ping(self, session: Session, request: Message) -> None:
        self.count += 1
        # One of those that the case sends; with fewer pings nothing is seen.
        if self.count % 100:
            super().on_ping(session, request)


@fault("PF-227", does="fails every hundredth ping, and says not why")
class FailsEveryHundredth(Server):
    count = 0

    def on_ping(self, session: Session, request: Message) -> None:
        # One of those that the case sends; with fewer pings nothing is seen.
        self.count += 1
        if self.count % 100 == 0:
            self.send(session, self.answer(request, "fail"))
        else:
            super().on_ping(session, request)
