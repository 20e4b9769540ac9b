"""Faults against Pathfinder, "Domains": one space of services, and everybody sees it."""

from typing import Any

from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.registry import fault
from wire.json.strict import MOST
from wire.pathfinder.values import Message


@fault("PF-034", does="keeps the services of each client apart")
class ServicesOfEach(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.outer: dict[int, int] = {}

    def execute(self, session: Session, request: Message) -> None:
        id = request.get("service-id")
        known = None if id is None else self.directory.get(id)
        if id is not None and known is not None and known.owner != session.client_id:
            # Another number for each client's own record, always the same one.
            inner = (id ^ hash((session.client_id, id))) & MOST
            self.outer[inner] = id
            request = {**request, "service-id": inner}
        super().execute(session, request)

    def notify(self, session: Session, request: Message, fields: Message) -> None:
        if "service-id" in fields:
            fields = {**fields, "service-id": self.outer.get(fields["service-id"], fields["service-id"])}
        super().notify(session, request, fields)


@fault("PF-035", does="lists a client's own subscriptions only")
class OwnSubscriptions(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        if request["ta-cmd"] == "subscriptions":
            found = [fields for fields in found if fields["client-id"] == session.client_id]
        super().enumerate(session, request, found)
