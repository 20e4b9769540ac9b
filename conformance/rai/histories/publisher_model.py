"""What is known of a publisher in a history: its values, who has subscribed to what, and how sure that is."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.rai.tester.driver import TestSession
from harness.rai.users import SERVED
from wire.rai.values import GetSubs, Message
from wire.subjects import matches

BAD = ("stale", "feed_down")
"""Statuses of what cannot be relied on, one as good as the other."""

SHORTEST = 20
"""Seconds without a heartbeat in which a session is not forgotten, whatever it takes for a missed one (R15, R16)."""

LATE = 10
"""Seconds by which the end of a subscription may be noticed late."""

Fields = dict[str, Any]


class KnownValue(msgspec.Struct):
    """A value in the cache; ``state`` is ``ok``, ``bad``, or ``up``: whole again, or stale until an image comes.

    ``older`` are values that fields had before, where it is open which of them is shown (``MISSING`` among them).
    """

    fields: Fields
    state: str = "ok"
    changed: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """The earliest and the latest time that may be taken for the last change of each field."""
    older: dict[str, list[Any]] = msgspec.field(default_factory=dict)
    is_new: bool = False
    """Whether it may be that there is no value yet."""

    def allows(self, fields: Fields, *, whole: bool) -> bool:
        """Tell whether fields may be shown: of an image all of them."""
        for name, shown in fields.items():
            if not (name in self.fields and same(shown, self.fields[name])) and shown not in self.older.get(name, ()):
                return False
        return not whole or all(name in fields or MISSING in self.older.get(name, ()) for name in self.fields)


MISSING = "(no such field)"


def same(shown: object, known: object) -> bool:
    """Tell whether a field has a value: a number may be written as a text."""
    return (type(shown) is type(known) and shown == known) or shown == str(known)


class KnownInterest(msgspec.Struct):
    """A subscription: ``sure`` where there is no doubt about it, ``firm`` where its end has to be told."""

    begun: float
    expires: set[int | None]
    sure: bool = True
    firm: bool = True

    @property
    def least(self) -> float:
        """Seconds after the last heartbeat for which it lives for certain."""
        return min(SHORTEST if each is None else each for each in self.expires)

    @property
    def longest(self) -> float:
        """Seconds after which it is over for certain, but for how late that is noticed."""
        return float("inf") if None in self.expires else max(each or 0 for each in self.expires)


class AskedFor(msgspec.Struct):
    """What a session has asked for under a return."""

    name: str
    kind: str
    ack: bool = False
    image: bool = False


class KnownGuest(msgspec.Struct):
    """A session of the tester's; ``heard`` is when its last heartbeat was said, ``spoke`` when anything was."""

    who: str
    driver: TestSession
    heard: float
    spoke: float
    is_here: bool = True
    is_sure: bool = True
    """Whether it is trusted for certain."""
    asked: dict[str, AskedFor] = msgspec.field(default_factory=dict)
    said: dict[tuple[str, str], Message] = msgspec.field(default_factory=dict)
    """Its last message of each kind about each subject."""
    last: Message | None = None
    question: GetSubs | None = None
    started: dict[str, int] = msgspec.field(default_factory=dict)
    """When it has started each subject last, by the time that it tells."""


class PublisherModel(msgspec.Struct):
    """All of it."""

    values: dict[str, KnownValue] = msgspec.field(default_factory=dict)
    warm: dict[str, Fields] = msgspec.field(default_factory=dict)
    named: dict[tuple[str, str], KnownInterest] = msgspec.field(default_factory=dict)
    wild: dict[tuple[str, str], KnownInterest] = msgspec.field(default_factory=dict)
    counts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """How often a session has started a subject more than stopped it."""
    blocked: set[str] = msgspec.field(default_factory=set)
    retired: set[str] = msgspec.field(default_factory=set)
    denied: set[str] = msgspec.field(default_factory=set)
    is_down: bool = False
    held: dict[str, list[Fields]] | None = None
    dictionary: str = ""
    version: int = 0
    checksums: dict[int, Any] = msgspec.field(default_factory=dict)
    names: dict[int, str] = msgspec.field(default_factory=dict)
    """The name of the dictionary in each version."""

    def holders(self, name: str, *, sure: bool = False) -> list[str]:
        """Return who has subscribed a subject by its name, or may have."""
        return [who for (who, each), its in self.named.items() if each == name and (its.sure or not sure)]

    def watchers(self, name: str, *, sure: bool = False) -> list[str]:
        """Return who has subscribed it by a wildcard, or may have."""
        subject = SERVED + name
        return [who for (who, each), its in self.wild.items() if (its.sure or not sure) and matches(each, subject)]

    def has_takers(self, name: str) -> bool:
        """Tell whether somebody has subscribed to a subject, or may have."""
        return bool(self.holders(name) or self.watchers(name))

    def is_wanted(self, name: str) -> bool:
        """Tell whether somebody has subscribed to a subject, for certain."""
        return bool(self.holders(name, sure=True) or self.watchers(name, sure=True))

    def interests_of(self, who: str) -> Iterator[KnownInterest]:
        """Yield all that a session has subscribed to."""
        for interests in (self.named, self.wild):
            for (each, _), its in interests.items():
                if each == who:
                    yield its

    def forget(self, who: str) -> None:
        """End all that a session has subscribed to."""
        for interests in (self.named, self.wild):
            for key in [key for key in interests if key[0] == who]:
                del interests[key]
