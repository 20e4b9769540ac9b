"""Faults of a subscriber: how it says what it wants, and how it asks for dictionaries."""

from typing import Any

from msgspec.structs import replace

from harness.errors import ControlFailed
from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import EXPIRES, Subscriber, Wanted
from harness.rai.variants.registry import fault
from wire.rai.values import (
    DICT,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Body,
    Dict,
    DictRequest,
    Published,
    SubStart,
    SubStop,
    Told,
    Wild,
    WildStart,
    WildStop,
    inbox,
)
from wire.rai.wildcards import pattern_of_rv, published_prefix
from wire.subjects import matches


@fault("RAI-001", does="starts nothing that it wants no image of")
class StartsImagesAlone(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        if wanted.with_image:
            super().start(subject, wanted)


@fault("RAI-001", does="starts a subject once in a session")
class StartsOnce(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        self.started: set[str] = getattr(self, "started", set())
        if subject not in self.started:
            self.started.add(subject)
            super().start(subject, wanted)


@fault("RAI-001", does="starts subjects by their first 128 letters")
class CutsSubjects(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        super().start(subject[:128], wanted)


@fault("RAI-001", does="starts subjects in small letters")
class StartsInSmallLetters(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        super().start(subject.lower(), wanted)


@fault("RAI-107", does="asks for images without a return")
class AsksWithoutReturn(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        self.say(START + subject, SubStart(initial=wanted.with_image, ack=True, expires=EXPIRES))


@fault("RAI-107", does="asks for acks without a return where it wants no image")
class AsksAcksWithoutReturn(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        if wanted.with_image:
            super().start(subject, wanted)
        else:
            self.say(START + subject, SubStart(ack=True, expires=EXPIRES))


@fault("RAI-107", does="has no return in the second start of a subject")
class AsksAgainWithoutReturn(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        self.started: set[str] = getattr(self, "started", set())
        if subject in self.started:
            self.say(START + subject, SubStart(initial=True, ack=True, expires=EXPIRES))
        else:
            self.started.add(subject)
            super().start(subject, wanted)


@fault("RAI-005", does="stops nothing")
class StopsNothing(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        self.wanted.pop(subject, None)
        self.cancel(subject)


@fault("RAI-005", does="stops nothing that a wildcard matches")
class StopsNothingWild(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        is_matched = any(matches(each, subject.removeprefix(STOP)) for each in self.wild)
        if not isinstance(body, SubStop) or not is_matched:
            super().say(subject, body, key)


@fault("RAI-005", does="stops all that begins with what is stopped")
class StopsWhatBeginsSo(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        for each in [each for each in self.wanted if each.startswith(subject[:6])]:
            super().unsubscribe(each)
        super().unsubscribe(subject)


@fault("RAI-005", does="stops nothing that it wanted no image of")
class StopsImagesAlone(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        if subject in self.wanted and not self.wanted[subject].with_image:
            del self.wanted[subject]
            self.cancel(subject)
        else:
            super().unsubscribe(subject)


@fault("RAI-005", does="stops the subject that was subscribed last")
class StopsTheLast(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        super().unsubscribe(list(self.wanted)[-1] if self.wanted else subject)


@fault("RAI-198", does="listens on after a stop, and tells")
class HearsAfterTheStop(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        wanted = self.wanted.get(subject)
        super().unsubscribe(subject)
        if wanted is not None:
            self.found[subject] = wanted
            self.listen(subject)


@fault("RAI-198", does="listens on after the stop of a wildcard, and tells what it has met")
class ListensOnWildly(Subscriber):
    def unsubscribe_wild(self, wildcard: str) -> None:
        found = dict(self.found)
        super().unsubscribe_wild(wildcard)
        self.found.update(found)
        self.listen(wildcard)


@fault("RAI-198", does="tells all that begins as a wildcard does")
class TellsWhatBeginsSo(Subscriber):
    def subscribe_wild(self, wildcard: str, now: float) -> None:
        super().subscribe_wild(wildcard, now)
        self.broad = f"{published_prefix(wildcard).removesuffix('_')}>"
        self.listen(self.broad)

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        broad = getattr(self, "broad", None)
        if broad is not None and matches(broad, subject) and subject not in self.wanted:
            self.found.setdefault(subject, Wanted(0, with_image=False))
        super().take_published(subject, body, other, now)


@fault("RAI-155", does="takes a star for the last segment alone")
class MatchesTheLastStar(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if subject in self.wanted or any(
            matches(each, subject) and not each.endswith((".y", ".w")) for each in self.wild
        ):
            super().take_published(subject, body, other, now)


@fault("RAI-119", does="starts wildcards as it starts subjects")
class StartsWildcardsPlainly(Subscriber):
    def start_wild(self, wildcard: str) -> None:
        self.say(START + published_prefix(wildcard), SubStart(expires=EXPIRES))


@fault("RAI-119", does="starts no wildcard with a star")
class StartsNoStar(Subscriber):
    def start_wild(self, wildcard: str) -> None:
        if "*" not in wildcard:
            super().start_wild(wildcard)


@fault("RAI-028", "RAI-121", does="publishes the starts of wildcards under these")
class PublishesWildcards(Subscriber):
    def start_wild(self, wildcard: str) -> None:
        body = WildStart(expires=EXPIRES, subject=wildcard, pattern=pattern_of_rv(wildcard))
        self.say(WILD_START + wildcard, body)


@fault("RAI-028", does="publishes the stops of wildcards with stars under these")
class PublishesStars(Subscriber):
    def unsubscribe_wild(self, wildcard: str) -> None:
        super().unsubscribe_wild(wildcard)

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, WildStop) and "*" in body.subject:
            subject = WILD_STOP + body.subject
        super().say(subject, body, key)


class SaysWild(Subscriber):
    """A subscriber that says otherwise which wildcard it means."""

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Wild):
            subject, body = self.other(subject, body)
        super().say(subject, body, key)

    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        """Return what is said in its place."""
        return subject, body


@fault("RAI-120", does="has the pattern of a prefix for every wildcard")
class OnePatternForAll(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        prefix = published_prefix(body.subject).removesuffix("_")
        return subject, replace(body, pattern=pattern_of_rv(f"{prefix}>"))


@fault("RAI-120", does="has a star stand for several segments")
class WideStars(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return subject, replace(body, pattern=body.pattern.replace("[^.]+", ".+"))


@fault("RAI-120", does="leaves the end of a pattern open")
class OpenEnds(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return subject, replace(body, pattern=body.pattern.removesuffix(r"\z"))


@fault("RAI-120", does="leaves the beginning of a pattern open")
class OpenBeginnings(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return subject, replace(body, pattern=body.pattern.replace(r"\A", ""))


@fault("RAI-120", does="has the prefix for the subject of a wildcard")
class SaysThePrefix(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        prefix = published_prefix(body.subject).removesuffix("_")
        return subject, replace(body, subject=f"{prefix}>")


@fault("RAI-120", does="has the pattern of the wildcard before")
class PatternOfTheLast(SaysWild):
    last = ""

    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        last, self.last = self.last or body.pattern, body.pattern
        return subject, replace(body, pattern=last)


@fault("RAI-121", does="publishes the starts of all wildcards under _PSUB.START._")
class NoPrefix(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return subject[: subject.index(".", 6) + 1] + "_", body


@fault("RAI-121", does="has the first segment for the prefix")
class ShortPrefix(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        parts = subject.split(".")
        return ".".join([*parts[:3], "_"]) if len(parts) > 4 else subject, body


@fault("RAI-121", does="has what stands behind a star in the prefix")
class LongPrefix(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        if body.subject.endswith((">", "*")):
            return subject, body
        return f"{subject[:-1]}{body.subject.rpartition('.')[2]}._", body


@fault("RAI-188", does="stops no wildcard")
class StopsNoWildcard(SaysWild):
    def unsubscribe_wild(self, wildcard: str) -> None:
        self.wild.pop(wildcard, None)
        self.cancel(wildcard)


@fault("RAI-188", does="has no subject in the stop of a wildcard")
class StopsWithoutSubject(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return subject, replace(body, subject=">") if isinstance(body, WildStop) else body


@fault("RAI-188", does="stops wildcards with a pattern that is escaped in another way")
class StopsAnotherPattern(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        is_stop = isinstance(body, WildStop)
        return subject, replace(body, pattern=body.pattern.replace(r"\.", "[.]")) if is_stop else body


@fault("RAI-188", does="stops wildcards under _PSUB.STOP._")
class StopsWithoutPrefix(SaysWild):
    def other(self, subject: str, body: Wild) -> tuple[str, Wild]:
        return (f"{WILD_STOP}_" if isinstance(body, WildStop) else subject), body


@fault("RAI-188", does="stops the wildcard that was subscribed last")
class StopsTheLastWildcard(Subscriber):
    def unsubscribe_wild(self, wildcard: str) -> None:
        super().unsubscribe_wild(list(self.wild)[-1] if self.wild else wildcard)


@fault("RAI-188", does="stops wildcards as it stops subjects")
class StopsWildcardsPlainly(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, WildStop):
            subject, body = STOP + published_prefix(body.subject), SubStop()
        super().say(subject, body, key)


@fault("RAI-189", does="asks for dictionaries without a return")
class AsksForDictionariesWithoutReturn(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, replace(body, return_=None) if isinstance(body, DictRequest) else body, key)


@fault("RAI-189", does="asks who named a dictionary first")
class AsksTheFirst(Subscriber):
    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        if body.dictionary not in self.dictionaries:
            super().note_dictionary(body, other)


@fault("RAI-189", does="asks the publisher that it has met last")
class AsksTheLatest(Subscriber):
    def do_dictionary(self, now: float, name: str) -> None:
        if name not in self.dictionaries:
            raise ControlFailed(f"nobody has named a dictionary {name!r}")
        self.dictionaries[name] = list(self.others)[-1]
        super().do_dictionary(now, name)


@fault("RAI-189", does="takes no note of dictionaries that snapshots name")
class PassesOverSnapshots(Subscriber):
    def tell_image(self, what: str, subject: str, body: Told) -> None:
        super().tell_image(what, subject, body)
        if body.dictionary is not None and self.known.get(body.dictionary):
            self.dictionaries[body.dictionary] = self.known[body.dictionary]

    known: dict[str, str] = {}

    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        if body.type == "snap":
            self.known = dict(self.dictionaries)
        super().note_dictionary(body, other)


@fault("RAI-189", does="asks for the dictionary json, whatever its name")
class AsksForJson(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, replace(body, dictionary="json") if isinstance(body, DictRequest) else body, key)


@fault("RAI-189", does="asks for dictionaries in the inbox itself")
class AsksInTheInbox(Subscriber):
    def do_dictionary(self, now: float, name: str) -> None:
        session = self.dictionaries[name]
        self.say(inbox(session, f"{DICT}.{name}"), DictRequest(dictionary=name, return_=self.returned(DICT, name)))


@fault("RAI-189", does="asks for a checksum that nobody has named")
class AsksForAnotherChecksum(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, replace(body, dict_csum=1) if isinstance(body, DictRequest) else body, key)


@fault("RAI-189", does="tells the first dictionary of a name again when another comes")
class KeepsTheFirstDictionary(Subscriber):
    def take_dictionary(self, tail: str, body: Dict) -> None:
        self.kept: dict[str, Any] = getattr(self, "kept", {})
        super().take_dictionary(tail, self.kept.setdefault(body.dictionary, body))
