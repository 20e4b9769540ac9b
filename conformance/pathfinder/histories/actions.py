"""Actions: what a client asks in a history, as values that print as the driver's verbs.

Services and subscriptions have small numbers here; which identifiers those stand for, each play decides.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from vectors.pathfinder.filter_samples import Properties
from wire.pathfinder.values import VERSION

LONGEST = 200
"""Characters of properties or of a filter that are printed."""


class HistoryNames(Protocol):
    """What the numbers of a history stand for in one play."""

    def service(self, number: int) -> int:
        """Return the identifier of a service."""
        ...

    def subscription(self, number: int) -> int:
        """Return the identifier of a subscription."""
        ...

    def props(self, props: Properties) -> Mapping[str, Any]:
        """Return properties with the one that all services of a play have."""
        ...

    def filter(self, filter: str) -> str:
        """Return a filter for those of the play's services that match another one; empty for all of them."""
        ...


class PublishRequest(msgspec.Struct, frozen=True):
    """A service is published; a ``bare`` one has no properties, also not the one that marks those of the play."""

    service: int
    generation: int = 0
    ttl: int = 60
    props: Properties = {}
    bare: bool = False
    ta: int | None = None

    command = "publish"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        return {
            "service-id": names.service(self.service),
            "generation": self.generation,
            "service-props": {} if self.bare else names.props(self.props),
            "ttl": self.ttl,
        }

    def __str__(self) -> str:
        props = "props={}" if self.bare else ", ".join(f"{name}={values}" for name, values in self.props.items())
        shown = [f"s{self.service}", f"generation={self.generation}", f"ttl={self.ttl}"]
        return f"publish({', '.join([*shown, *([cut(props)] if props else [])])}{under(self.ta)})"


class UnpublishRequest(msgspec.Struct, frozen=True):
    """A service is taken back."""

    service: int
    ta: int | None = None

    command = "unpublish"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        return {"service-id": names.service(self.service)}

    def __str__(self) -> str:
        return f"unpublish(s{self.service}{under(self.ta)})"


class SubscribeRequest(msgspec.Struct, frozen=True):
    """A subscription begins: to the play's services (that match a filter), or to all there are where it is ``None``.

    ``is_whole``: the filter is all of it, and says nothing of the play: it is no filter.
    """

    subscription: int
    filter: str | None = ""
    ta: int | None = None
    is_whole: bool = False

    command = "subscribe"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        id = names.subscription(self.subscription)
        return {"subscription-id": id, **filter_field(self.filter, names, is_whole=self.is_whole)}

    def __str__(self) -> str:
        return f"subscribe({shown_filter(self.filter, is_whole=self.is_whole)}id=w{self.subscription}{under(self.ta)})"


class UnsubscribeRequest(msgspec.Struct, frozen=True):
    """A subscription is ended."""

    subscription: int
    ta: int | None = None

    command = "unsubscribe"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        return {"subscription-id": names.subscription(self.subscription)}

    def __str__(self) -> str:
        return f"unsubscribe(w{self.subscription}{under(self.ta)})"


class ServicesRequest(msgspec.Struct, frozen=True):
    """The services are listed: those of the play (that match a filter), or all where it is ``None``.

    ``is_whole``: the filter is all of it, and says nothing of the play: it is no filter.
    """

    filter: str | None = ""
    ta: int | None = None
    is_whole: bool = False

    command = "services"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        return filter_field(self.filter, names, is_whole=self.is_whole)

    def __str__(self) -> str:
        shown = f"{shown_filter(self.filter, is_whole=self.is_whole)}{under(self.ta).removeprefix(', ')}"
        return f"services({shown.removesuffix(', ')})"


class PlainRequest(msgspec.Struct, frozen=True):
    """A request without fields of its own: ``ping``, ``subscriptions`` or ``clients``."""

    command: str
    ta: int | None = None

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        return {}

    def __str__(self) -> str:
        return f"{self.command}({under(self.ta).removeprefix(', ')})"


class HelloRequest(msgspec.Struct, frozen=True):
    """Hello is said once more, by a client that is known by the identifier ``client``."""

    client: int = 0
    ta: int | None = None

    command = "hello"

    def fields(self, names: HistoryNames) -> dict[str, Any]:
        """Return the fields of its own."""
        versions = {"protocol-minimum-version": VERSION, "protocol-maximum-version": VERSION}
        return {"client-id": self.client, **versions}

    def __str__(self) -> str:
        return f"hello({under(self.ta).removeprefix(', ')})"


HistoryRequest = (
    PublishRequest
    | UnpublishRequest
    | SubscribeRequest
    | UnsubscribeRequest
    | ServicesRequest
    | PlainRequest
    | HelloRequest
)


def under(ta: int | None) -> str:
    """Return how a transaction identifier is shown, if there is a special one."""
    return "" if ta is None else f", ta={ta}"


def cut(text: str) -> str:
    """Return a text, or the beginning of one that is long."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def filter_field(filter: str | None, names: HistoryNames, *, is_whole: bool) -> dict[str, str]:
    """Return the field that has a filter, if there is one."""
    if filter is None:
        return {}
    return {"filter": filter if is_whole else names.filter(filter)}


def shown_filter(filter: str | None, *, is_whole: bool) -> str:
    """Return how a filter is shown as an argument before others."""
    if filter is None:
        return ""
    if is_whole:
        return f"{cut(filter)!r}, "
    return f"node.narrow({cut(filter)!r}), " if filter else "node.mine, "
