"""Faults against Pathfinder, "Strings": which characters there are."""

from typing import Any
from unicodedata import category, normalize

from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.session import Subscription
from harness.pathfinder.variants.faults.services import RewritesProperties
from harness.pathfinder.variants.lenient import Fields, Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message

# A character for private use, which no case has.
_STAND_IN = "\ue000"


@fault("PF-004", does="takes NUL in strings, and gives it back")
class Nul(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        mended: Fields = _replaced(fields, "\0", _STAND_IN)
        return None if mended == fields else mended

    def describe(self, service: ServiceRecord) -> Message:
        fields: Message = _replaced(super().describe(service), _STAND_IN, "\0")
        return fields

    def describe_subscription(self, subscription: Subscription) -> Message:
        fields: Message = _replaced(super().describe_subscription(subscription), _STAND_IN, "\0")
        return fields


class Respelling(RewritesProperties):
    """Keeps other strings than were published."""

    def text(self, published: str) -> str:
        """Return the string that is kept."""
        return published

    def props(self, published: Fields, known: ServiceRecord | None) -> Fields:
        return {
            self.text(name): [self.text(each) if isinstance(each, str) else each for each in values]
            for name, values in published.items()
        }


@fault("PF-005", does="composes letters and their accents")
class Normalizing(Respelling):
    def text(self, published: str) -> str:
        return normalize("NFC", published)


@fault("PF-005", does="drops control characters")
class Cleaning(Respelling):
    def text(self, published: str) -> str:
        return "".join(each for each in published if category(each) != "Cc")


@fault("PF-005", does="drops characters beyond the first plane")
class FirstPlane(Respelling):
    def text(self, published: str) -> str:
        return "".join(each for each in published if ord(each) < 0x10000)


def _replaced(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return value.replace(old, new)
        case dict():
            return {_replaced(name, old, new): _replaced(each, old, new) for name, each in value.items()}
        case list():
            return [_replaced(each, old, new) for each in value]
        case _:
            return value
