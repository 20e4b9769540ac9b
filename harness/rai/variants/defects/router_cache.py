"""Defects of router-caches. None shows in a case of the suite: each wants something that no document speaks of.

A defect is one of a half. Each calls what it overrides, and is put before the halves that there are, so that one
router-cache can have all of them.
"""

import os
import struct
import time
from typing import Any, TypeVar

from harness.rai.peers.cache import CachedValue
from harness.rai.peers.interests import Terms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.router_cache import RouterCache
from harness.rai.peers.router_halves import Back, Front
from harness.rai.peers.subscriber import Wanted
from harness.rai.variants.registry import defect
from wire.rai.values import Message, Published, Reply, Told, WildStart, tail_of
from wire.rai.wildcards import pattern_of_rv
from wire.subjects import matches

LONG = 60.0
"""Seconds for which a router-cache that hangs does nothing: longer than anybody waits."""

MARKS = "%$^{}[]?\\-"
"""What means something to shells, and stands in no word."""

OneHalf = TypeVar("OneHalf", Front, Back)


def before(half: type[OneHalf], others: type[OneHalf]) -> type[OneHalf]:
    """Return a half that does as one does, and else as others do."""
    made: type[OneHalf] = type(half.__name__, (half, others), {})
    return made


# --- parsers ----------------------------------------------------------------------------------------------------------


class _FrontOfChecksums(Front):
    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        if isinstance(body.dict_csum, int) and isinstance(body, Published):
            struct.pack(">I", body.dict_csum)
        super().note_dictionary(body, other)


@defect("parser", does="dies of the checksum of a dictionary, told to all, that is no number of 32 bits")
class CannotPackAChecksum(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.front_half = before(_FrontOfChecksums, self.front_half)
        super().__init__(**settings)


# --- states -----------------------------------------------------------------------------------------------------------


class _FrontOfAbsence(Front):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if subject in self.absent and body.kind not in ("update", "initial", "verify", "drop"):
            raise KeyError(subject)  # there is nothing that it could be compared to
        super().take_published(subject, body, other, now)


@defect("state", does="dies of a recap, or something stranger, of what its source has said that there is not")
class DiesOfARecapOfNothing(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.front_half = before(_FrontOfAbsence, self.front_half)
        super().__init__(**settings)


# --- texts ------------------------------------------------------------------------------------------------------------


class _BackOfMarks(Back):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if any(each in subject for each in MARKS):
            raise NameError(subject)  # it has a file for each, whose name a shell reads
        super().subscribe(subject, subscription, other, now)


@defect("text", does="dies of a subject that is subscribed in which is what means something to shells")
class DiesOfAMarkOfShells(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.back_half = before(_BackOfMarks, self.back_half)
        super().__init__(**settings)


# --- resources --------------------------------------------------------------------------------------------------------


class _BackOfPatterns(Back):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if body.pattern != pattern_of_rv(body.subject):
            vars(self).setdefault("opened", []).append(os.dup(2))
        super().start_wild(body, other, now)


@defect("resource", does="keeps a descriptor of each pattern that is not that of its wildcard")
class LeaksForPatterns(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.back_half = before(_BackOfPatterns, self.back_half)
        super().__init__(**settings)


class _FrontOfAnswers(Front):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        if tail_of(message.subject) not in self.asked:
            vars(self).setdefault("answers", []).append(b"\1" * (2 << 20))
        super().take_reply(message, body, other, now)


@defect("resource", does="keeps answers to what it has not asked")
class KeepsStrangeAnswers(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.front_half = before(_FrontOfAnswers, self.front_half)
        super().__init__(**settings)


# --- hangs ------------------------------------------------------------------------------------------------------------


class _BackOfRepetitions(Back):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if ")+" in body.pattern or ")*" in body.pattern:
            time.sleep(LONG)  # tries each way to take a text apart
        super().start_wild(body, other, now)


@defect("hang", does="hangs of a pattern in which what is repeated may be repeated")
class HangsOfRepetitions(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.back_half = before(_BackOfRepetitions, self.back_half)
        super().__init__(**settings)


# --- harm to others ---------------------------------------------------------------------------------------------------


class _BackOfWildcards(Back):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        super().end_wild(other, wildcard)
        spelt, pattern = wildcard
        if not spelt or pattern == pattern_of_rv(spelt):
            return
        for subject in [each for each in self.front.wanted if matches(spelt, each)]:
            # Of who leaves all is ended, and that is another matter.
            if self.others.get(other.session) is other and self.interests.wild.get(other.session):
                self.front.unsubscribe(subject)


@defect("harm", does="subscribes no more to what a wildcard has matched that ends, where its pattern was not its own")
class EndsWhatAWildcardMatches(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.back_half = before(_BackOfWildcards, self.back_half)
        super().__init__(**settings)


# --- service ----------------------------------------------------------------------------------------------------------


class _BackOfStates(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        if body.state in ("temp_unavail", "not_entitled"):
            vars(self)["is_stuck"] = True
        if not vars(self).get("is_stuck"):
            super().pass_on(subject, record, body)


@defect("service", does="passes no updates on any more once one of them had data and said that there is none")
class PassesNothingOn(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.back_half = before(_BackOfStates, self.back_half)
        super().__init__(**settings)


class _FrontOfDrops(Front):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        if body.state == "relocate" and subject in (body.text, body.subject):
            self.asked.clear()
            vars(self)["is_lost"] = True

    def subscribe(self, subject: str, now: float, *, with_image: bool = True) -> None:
        if not vars(self).get("is_lost"):
            super().subscribe(subject, now, with_image=with_image)


@defect("service", does="subscribes to nothing any more once a subject has become itself")
class SubscribesToNothing(RouterCache):
    def __init__(self, **settings: Any) -> None:
        self.front_half = before(_FrontOfDrops, self.front_half)
        super().__init__(**settings)
