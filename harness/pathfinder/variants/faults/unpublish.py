"""Faults against Pathfinder, "Unpublish Command": who may take a service back, and what follows."""

from harness.pathfinder.peers.answering import NON_EXISTENT_SERVICE_ID, NON_EXISTENT_SUBSCRIPTION_ID
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-166", does="completes an unpublish, and keeps the service")
class KeepsUnpublished(Server):
    def remove(self, service: ServiceRecord) -> None:
        if service.is_orphan:
            super().remove(service)


@fault("PF-166", does="remembers the generation of a service that was unpublished, and wants a higher one")
class RemembersGenerations(Server):
    def remove(self, service: ServiceRecord) -> None:
        self.past = {**getattr(self, "past", {}), service.id: service}
        super().remove(service)

    def on_publish(self, session: Session, request: Message) -> None:
        past = getattr(self, "past", {}).get(request["service-id"])
        if past is not None:
            self.check_republish(session, past, self.record(session, request, None))
        super().on_publish(session, request)


class OwnersOnly(Server):
    """Lets only the owner of a service unpublish it."""

    def may_unpublish(self, session: Session, service: ServiceRecord) -> bool:
        return service.owner == session.client_id


@fault("PF-167", does="refuses to unpublish another client's service, and removes it")
class RefusesAndRemoves(OwnersOnly):
    def may_unpublish(self, session: Session, service: ServiceRecord) -> bool:
        if service.owner != session.client_id:
            self.remove(service)
        return super().may_unpublish(session, service)


@fault("PF-167", does="completes the unpublish of another client's service, and keeps it")
class CompletesAndKeeps(Server):
    def on_unpublish(self, session: Session, request: Message) -> None:
        service = self.directory.get(request["service-id"])
        if service is not None and service.owner != session.client_id:
            self.complete(session, request)
        else:
            super().on_unpublish(session, request)


@fault("PF-169", does="repeats the service-id in what an unpublish is answered")
class UnpublishNamesTheService(Lenient):
    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        if request["ta-cmd"] == "unpublish":
            fields = {"service-id": request["service-id"]}
        super().complete(session, request, fields)


@fault("PF-171", does="says of a service that is not there what is said of a subscription")
class MistakesServicesForSubscriptions(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        wrong = reason == NON_EXISTENT_SERVICE_ID
        super().fail(session, request, NON_EXISTENT_SUBSCRIPTION_ID if wrong else reason)


@fault("PF-171", does="completes the unpublish of a service that is not there")
class UnpublishesWhatIsNotThere(Server):
    def on_unpublish(self, session: Session, request: Message) -> None:
        if self.directory.get(request["service-id"]) is None:
            self.complete(session, request)
        else:
            super().on_unpublish(session, request)
