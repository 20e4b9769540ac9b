"""Faults of a publisher: what wildcards match, when they end, and patterns that are none."""

import re
from typing import Any

from msgspec.structs import replace

from harness.rai.peers.interests import WildTerms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.errors import WireError
from wire.rai.matcher import Matcher
from wire.rai.values import Published, WildStart
from wire.rai.wildcards import pattern_of_rv
from wire.subjects import is_wildcard

LONG = 64


@fault("RAI-122", does="serves no wildcards")
class ServesNoWildcards(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        """Pass it over."""


@fault("RAI-122", does="goes by the subject of a wildcard start, not by its pattern")
class GoesByTheSubject(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if is_wildcard(body.subject):
            super().start_wild(replace(body, pattern=pattern_of_rv(body.subject)), other, now)


@fault("RAI-122", does="goes by the prefix of a wildcard alone")
class GoesByThePrefix(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        prefix = body.subject.split("*")[0].removesuffix(">")
        super().start_wild(replace(body, pattern=pattern_of_rv(f"{prefix}>") if prefix else body.pattern), other, now)


@fault("RAI-122", does="has the wildcard of a session replace the one before")
class OneWildcardForEach(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        for wildcard in list(self.interests.wild.get(other.session, ())):
            self.interests.remove_wild(other.session, wildcard)
        super().start_wild(body, other, now)


@fault("RAI-122", does="subscribes the subjects that there are when a wildcard starts")
class SubscribesWhatThereIs(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        self.there |= set(self.records)
        super().start_wild(body, other, now)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if subject in self.there or self.interests.sessions_of(subject):
            super().publish_if_wanted(subject, body)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.there: set[str] = set()


class Patterns(Publisher):
    """What takes a pattern for another is made of this."""

    def pattern_for(self, pattern: str) -> str:
        """Return the pattern that is matched."""
        return pattern

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        try:
            matcher = Matcher.of_pcre(self.pattern_for(body.pattern))
        except WireError:
            return
        subscription = WildTerms(body.pattern, matcher, body.expires)
        self.interests.add_wild(other.session, (body.subject, body.pattern), subscription)


@fault("RAI-122", does="takes a star for any number of segments")
class StarsCrossDots(Patterns):
    def pattern_for(self, pattern: str) -> str:
        return pattern.replace("[^.]+", ".+")


@fault("RAI-122", does="takes > for one segment")
class RestIsOneSegment(Patterns):
    def pattern_for(self, pattern: str) -> str:
        return pattern + r"[^.]+\z" if pattern.endswith(".") else pattern


@fault("RAI-122", does="does not look at where a pattern ends")
class PatternsWithoutEnd(Patterns):
    def pattern_for(self, pattern: str) -> str:
        return pattern.removesuffix(r"\z")


@fault("RAI-122", does="searches a pattern anywhere in a subject")
class PatternsWithoutBeginning(Patterns):
    def pattern_for(self, pattern: str) -> str:
        return pattern.replace(r"\A", "", 1)


@fault("RAI-122", does="matches patterns whatever the case")
class PatternsWithoutCase(Patterns):
    def pattern_for(self, pattern: str) -> str:
        begin, rest = pattern[: len(r"(?s)\A")], pattern[len(r"(?s)\A") :]
        letters = re.sub(r"(?<!\\)([a-z])(?![^\[]*\])", lambda found: f"[{found[1]}{found[1].upper()}]", rest)
        return begin + letters if pattern.startswith(r"(?s)\A") else pattern


@fault("RAI-122", does="takes every dot of a pattern as a dot")
class DotsAreDots(Patterns):
    def pattern_for(self, pattern: str) -> str:
        return re.sub(r"(?<![\\^\[])\.(?![*+?])", r"\\.", pattern)


@fault("RAI-122", does="matches subjects without a colon alone")
class WildcardsWithoutColons(Publisher):
    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if ":" not in subject or self.interests.sessions_of(subject):
            super().publish_if_wanted(subject, body)


@fault("RAI-122", does="ends the wildcards of a session with a plain stop")
class StopsEndWildcards(Publisher):
    def end_subscription(self, other: KnownSession, subject: str) -> None:
        super().end_subscription(other, subject)
        for wildcard, its in list(self.interests.wild.get(other.session, {}).items()):
            if its.matcher.matches(subject):
                self.interests.remove_wild(other.session, wildcard)


@fault("RAI-123", does="passes over wildcard stops")
class StopsNoWildcards(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        """Go on."""


@fault("RAI-123", does="ends all wildcards of a session with one stop")
class StopsAllWildcards(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        for each in list(self.interests.wild.get(other.session, ())):
            super().end_wild(other, each)


@fault("RAI-123", does="ends wildcards by their prefix")
class StopsByThePrefix(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        for each in list(self.interests.wild.get(other.session, ())):
            if each[0][:-1] == wildcard[0][:-1]:
                super().end_wild(other, each)


@fault("RAI-123", does="ends all wildcards that begin with the prefix of one")
class StopsBelowThePrefix(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        for each in list(self.interests.wild.get(other.session, ())):
            if each[0].startswith(wildcard[0][:-1]):
                super().end_wild(other, each)


@fault("RAI-123", does="ends a wildcard for all sessions")
class StopsForAll(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        for each in [*self.others.values()]:
            super().end_wild(each, wildcard)


@fault("RAI-123", does="ends a wildcard of another session with the stop of one that has none")
class StopsOneOfAnother(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        if wildcard not in self.interests.wild.get(other.session, ()):
            for each in [*self.others.values()]:
                super().end_wild(each, wildcard)
        super().end_wild(other, wildcard)


@fault("RAI-123", does="ends plain subscriptions below a wildcard that is stopped")
class StopsWhatIsBelow(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        ended = self.interests.wild.get(other.session, {}).get(wildcard)
        super().end_wild(other, wildcard)
        for subject in list(self.interests.of_session.get(other.session, ())):
            if ended is not None and ended.matcher.matches(subject):
                self.end_subscription(other, subject)


@fault("RAI-123", does="drops all that a wildcard matched when it is stopped")
class DropsWhatMatched(Publisher):
    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        ended = self.interests.remove_wild(other.session, wildcard)
        for subject in self.records if ended is not None else ():
            if ended is not None and ended.matcher.matches(subject):
                self.publish(subject, Published(type="drop", status="nosubscribers"))


@fault("RAI-123", does="starts a wildcard once")
class ServesWildcardsOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.stopped: set[tuple[str, str]] = set()

    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        super().end_wild(other, wildcard)
        self.stopped.add(wildcard)

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if (body.subject, body.pattern) not in self.stopped:
            super().start_wild(body, other, now)


@fault("RAI-123", does="goes by expires in wildcard stops")
class StopsByExpires(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        super().start_wild(body, other, now)
        if body.expires is not None:
            self.with_expires.add((body.subject, body.pattern))

    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        if wildcard not in self.with_expires:
            super().end_wild(other, wildcard)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.with_expires: set[tuple[str, str]] = set()


@fault("RAI-219", does="dies of a pattern that is none")
class DiesOfPatterns(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        Matcher.of_pcre(body.pattern)
        super().start_wild(body, other, now)


@fault("RAI-219", does="publishes nothing while there is a pattern that is none")
class DumbWithPatterns(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.is_dumb = False

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        try:
            Matcher.of_pcre(body.pattern)
        except WireError:
            self.is_dumb = True
        super().start_wild(body, other, now)

    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        self.is_dumb = False
        super().end_wild(other, wildcard)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if not self.is_dumb:
            super().publish_if_wanted(subject, body)


@fault("RAI-219", does="loses itself in patterns with repetitions within repetitions")
class TriesEveryWay(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.is_deep = False

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        # As if each way to match were tried: a pattern such as (x+x+)+y takes longer than anybody waits.
        self.is_deep = bool(re.search(r"[*+]\)[*+]", body.pattern))
        super().start_wild(body, other, now)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        if not (self.is_deep and len(subject) >= LONG):
            super().publish_if_wanted(subject, body)


@fault("RAI-219", does="answers a session no more that has sent a pattern that is none")
class DeafAfterPatterns(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        try:
            Matcher.of_pcre(body.pattern)
        except WireError:
            other.is_trusted = False
        super().start_wild(body, other, now)
