"""Faults against Pathfinder, "Integers": which numbers there are."""

from typing import Any

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.variants.faults.services import AnyProperties, RewritesProperties
from harness.pathfinder.variants.lenient import Fields, Lenient
from harness.pathfinder.variants.registry import fault
from wire.json.strict import LEAST, MOST
from wire.pathfinder.values import Message


@fault("PF-002", does="takes integers of any size in properties, and lists them")
class AnySize(AnyProperties):
    def mend(self, fields: Fields) -> Fields | None:
        mended = super().mend(fields)
        if mended is None:
            return None
        props = {
            name: [each for each in values if not isinstance(each, int) or LEAST <= each <= MOST]
            for name, values in mended["service-props"].items()
        }
        return {**mended, "service-props": props}


@fault("PF-003", does="takes a negative TTL, and lists it")
class TtlsBelowZero(Lenient):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.negative: dict[int, int] = {}

    def mend(self, fields: Fields) -> Fields | None:
        ttl = fields.get("ttl")
        if not isinstance(ttl, int) or ttl >= 0 or not isinstance(fields.get("service-id"), int):
            return None
        self.negative[fields["service-id"]] = ttl
        # 0, so that the reference takes it; what was said is listed instead.
        return {**fields, "ttl": 0}

    def describe(self, service: ServiceRecord) -> Message:
        fields = super().describe(service)
        return {**fields, "ttl": self.negative.get(service.id, service.ttl)}


@fault("PF-003", does="answers under a ta-id that is a text")
class TextualIdentifiers(Lenient):
    text: Any = None

    def mend(self, fields: Fields) -> Fields | None:
        if not isinstance(fields.get("ta-id"), str):
            return None
        self.text = fields["ta-id"]
        return {**fields, "ta-id": 0}

    def answer(self, request: Message, message_type: str) -> dict[str, Any]:
        fields = super().answer(request, message_type)
        if self.text is None:
            return fields
        text, self.text = self.text, None
        return {**fields, "ta-id": text}


@fault("PF-201", does="keeps the integers of properties in floating point")
class Floating(RewritesProperties):
    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        return {name: [_rounded(each) for each in values] for name, values in published.items()}


def _rounded(value: str | int) -> str | int:
    return value if isinstance(value, str) else min(int(float(value)), MOST)
