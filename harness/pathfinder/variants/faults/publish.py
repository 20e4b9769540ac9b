"""Faults against Pathfinder, "Publish Command": when a service may be published anew, and what is known of it then."""

from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.answering import OLD_GENERATION, SAME_GENERATION_BUT_DIFFERENT
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-157", does="lists no service that was published since the last list")
class SecondListOnly(Server):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.fresh: set[int] = set()

    def on_publish(self, session: Session, request: Message) -> None:
        if self.directory.get(request["service-id"]) is None:
            self.fresh.add(request["service-id"])
        super().on_publish(session, request)

    def on_services(self, session: Session, request: Message) -> None:
        super().on_services(session, request)
        self.fresh.clear()

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        return [service for service in super().snapshot(selection) if service.id not in self.fresh]


@fault("PF-157", does="keeps thirty services of those that are published at once")
class ThirtyAtOnce(Server):
    def on_publish(self, session: Session, request: Message) -> None:
        # Fewer than the case publishes at once, which is fifty.
        if len(self.directory) >= 30:
            self.complete(session, request)
        else:
            super().on_publish(session, request)


@fault("PF-158", does="wants each generation to be one higher than the last")
class OneByOne(Server):
    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.generation <= new.generation <= known.generation + 1


@fault("PF-158", does="refuses a service that is published again as it is")
class NothingTwice(Server):
    def contradicts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return known.generation == new.generation


@fault("PF-159", does="takes another TTL in the same generation")
class TakesAnotherTtl(Server):
    def contradicts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return super().contradicts(known, replace(new, ttl=known.ttl))


@fault("PF-159", does="refuses other properties in the same generation, and takes them")
class RefusesAndTakes(Server):
    def contradicts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        contradicts = super().contradicts(known, new)
        if contradicts:
            self.directory.put(new)
        return contradicts


class WrongPublishReasons(Server):
    """Gives one reason for every refused publish."""

    only = ""

    def fail(self, session: Session, request: Message, reason: str) -> None:
        wrong = request["ta-cmd"] == "publish" and reason in (OLD_GENERATION, SAME_GENERATION_BUT_DIFFERENT)
        super().fail(session, request, self.only if wrong else reason)


@fault("PF-164", does="says old-generation of any refused publish")
class AlwaysOld(WrongPublishReasons):
    only = OLD_GENERATION


@fault("PF-164", does="says same-generation-but-different of any refused publish")
class AlwaysDifferent(WrongPublishReasons):
    only = SAME_GENERATION_BUT_DIFFERENT


@fault("PF-165", does="completes an older generation, and keeps what it has")
class SilentlyKeepsNewer(Server):
    def check_republish(self, session: Session, known: ServiceRecord, new: ServiceRecord) -> None:
        if new.generation >= known.generation:
            super().check_republish(session, known, new)

    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        new = super().record(session, request, known)
        return known if known is not None and new.generation < known.generation else new


@fault("PF-165", does="takes an older generation for a newer one")
class TakesOlder(Server):
    def accepts_generation(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        return True


@fault("PF-162", does="repeats the service-id in what a publish is answered")
class PublishNamesTheService(Lenient):
    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        if request["ta-cmd"] == "publish":
            fields = {"service-id": request["service-id"]}
        super().complete(session, request, fields)


@fault("PF-193", does="drops a property in which a value stands twice")
class DropsRepetitions(Server):
    def record(self, session: Session, request: Message, known: ServiceRecord | None) -> ServiceRecord:
        props = {name: values for name, values in request["service-props"].items() if len(set(values)) == len(values)}
        return super().record(session, {**request, "service-props": props}, known)


@fault("PF-193", does="takes what is published again for a change when a value stands twice in it")
class CountsRepetitions(Server):
    def contradicts(self, known: ServiceRecord, new: ServiceRecord) -> bool:
        repeats = any(len(set(values)) < len(values) for values in new.props.values())
        return super().contradicts(known, new) or (repeats and known.generation == new.generation)
