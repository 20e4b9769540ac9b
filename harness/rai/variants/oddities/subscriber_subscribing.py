"""Unusual subscribers: how they say what they want, and answer who asks for it."""

from collections.abc import Iterator
from math import inf
from typing import Any

from msgspec.structs import replace

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber, Wanted
from harness.rai.variants.registry import oddity
from wire.rai.values import (
    Body,
    DictRequest,
    GetSubs,
    Message,
    Published,
    Reply,
    Return,
    Subs,
    SubStart,
    SubStop,
    Told,
    Wild,
    inbox,
    object_of,
    tail_of,
)


@oddity("RAI-203", "RAI-001", does="starts nothing before a publisher trusts it")
class WaitsForTrust(Subscriber):
    def start(self, subject: str, wanted: Wanted) -> None:
        if any(other.is_trusted for other in self.others.values()):
            super().start(subject, wanted)

    def start_wild(self, wildcard: str) -> None:
        if any(other.is_trusted for other in self.others.values()):
            super().start_wild(wildcard)


@oddity("RAI-001", "RAI-007", does="starts all that it wants again with each heartbeat")
class StartsWithHeartbeats(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self.start_all()


@oddity("RAI-105", does="has no expires in its starts")
class SaysNoExpires(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, SubStart | Wild):
            body = replace(body, expires=None)
        super().say(subject, body, key)


@oddity("RAI-105", "RAI-112", does="asks for images in a format that nobody has")
class AsksForAFormat(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, replace(body, format="rwf") if isinstance(body, SubStart) else body, key)


@oddity("RAI-107", "RAI-005", does="asks for no acks")
class AsksForNoAcks(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, SubStart):
            body = replace(body, ack=False)
        elif isinstance(body, SubStop):
            body = SubStop()
        super().say(subject, body, key)


@oddity("RAI-131", "RAI-096", "RAI-107", does="has returns of several segments, which are texts")
class LongReturns(Subscriber):
    def returned(self, what: str, subject: str) -> Return:
        number = super().returned(what, subject)
        name = f"sam.{what}.{number}"
        self.asked[name] = self.asked.pop(str(number))
        return name


@oddity("RAI-131", "RAI-107", does="has returns that are texts of digits")
class TextReturns(Subscriber):
    def returned(self, what: str, subject: str) -> Return:
        return str(super().returned(what, subject))


@oddity("RAI-126", "RAI-131", does="sends lists of two subjects")
class SendsShortLists(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if not isinstance(body, Subs) or len(body.subs) <= 2:
            super().say(subject, body, key)
            return
        for at in range(0, len(body.subs), 2):
            part = replace(body, subs=body.subs[at : at + 2], subs_return=body.subs_return[at : at + 2])
            super().say(subject, part, key)


@oddity("RAI-126", "RAI-131", does="has wildcards in its lists of subscriptions")
class ListsWildcards(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        wild, self.wild = self.wild, {}
        self.listed = [each for each, since in wild.items() if self.is_since(since, body.last_seen)]
        super().reassert(body, other)
        self.wild = wild

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Subs):
            more = [self.returned("start", each) for each in self.listed]
            body = replace(body, subs=[*body.subs, *self.listed], subs_return=[*body.subs_return, *more])
        super().say(subject, body, key)


@oddity("RAI-131", does="has no returns in its lists of subscriptions, and asks for nothing")
class ListsWithoutReturns(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Subs):
            body = replace(body, initial=False, ack=False, subs_return=[])
        super().say(subject, body, key)


@oddity("RAI-126", "RAI-128", does="sends all its subscriptions, whatever the last_seen")
class SendsEverything(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        return True


@oddity("RAI-126", does="says nothing where nothing is asked for that it has")
class SendsNoEmptyList(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if not isinstance(body, Subs) or body.subs:
            super().say(subject, body, key)


@oddity("RAI-013", does="answers a drop for want of subscribers by a list of its subscriptions")
class RestartsByLists(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        self.to_restart = other if body.kind == "drop" else None
        super().take_published(subject, body, other, now)
        self.to_restart = None

    def start(self, subject: str, wanted: Wanted) -> None:
        other = getattr(self, "to_restart", None)
        if other is None:
            super().start(subject, wanted)
        else:
            again = [self.returned("start", subject)]
            body = Subs(last_seen=0, initial=True, ack=True, subs=[subject], subs_return=again)
            self.say(inbox(other.session, "dropped"), body)


@oddity("RAI-013", does="starts what is dropped again after an interval")
class RestartsLater(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        self.later: dict[str, float] = getattr(self, "later", {})
        if body.state == "nosubscribers" and subject in self.wanted:
            self.later[subject] = now + self.interval
            self.tell("drop", subject, body.state)
            wanted.record = None
        else:
            super().take_drop(subject, wanted, body, now)

    def timers(self) -> Iterator[float]:
        yield from super().timers()
        yield from getattr(self, "later", {}).values()

    def tick(self, now: float) -> None:
        super().tick(now)
        for subject, at in list(getattr(self, "later", {}).items()):
            if now >= at:
                del self.later[subject]
                if subject in self.wanted:
                    self.start(subject, self.wanted[subject])


@oddity("RAI-015", does="subscribes anew what is stale")
class StartsWhatIsStale(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        super().apply(subject, wanted, body, other, now)
        if body.state == "stale" and subject in self.wanted and body.kind != "start":
            self.start(subject, wanted)


@oddity("RAI-087", does="begins the exchange with a publisher that says HELLO")
class GreetsPublishers(Subscriber):
    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        if not other.is_trusted and other.asked is None and other.greeting[0]:
            # At another time than its own HELLO was said: what answers either is told apart by that.
            self.prove(other, *other.greeting, now + 0.001)


@oddity("RAI-189", does="asks for dictionaries with the checksum that was named, as a text")
class AsksByChecksum(Subscriber):
    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        super().note_dictionary(body, other)
        self.sums: dict[str, Any] = getattr(self, "sums", {})
        if body.dictionary is not None:
            self.sums[body.dictionary] = body.dict_csum

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, DictRequest) and self.sums.get(body.dictionary) is not None:
            body = replace(body, dict_csum=f"0x{self.sums[body.dictionary]:08x}")
        super().say(subject, body, key)


@oddity("RAI-120", "RAI-188", does="escapes no dots in patterns")
class EscapesNoDots(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Wild):
            body = replace(body, pattern=body.pattern.replace(r"\.", "."))
        super().say(subject, body, key)


@oddity("RAI-120", "RAI-188", does="has brackets around dots in patterns, and names no class of letters")
class EscapesByBrackets(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Wild):
            body = replace(body, pattern=body.pattern.replace(r"\.", "[.]"))
        super().say(subject, body, key)


@oddity("RAI-144", "RAI-143", does="tells no status of what it does not know")
class PassesOverTheUnknown(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        known = {"start", "initial", "snap", "verify", "update", "recap", "transient"}
        if body.kind in known and body.state not in ("half_day", "OK"):
            super().apply(subject, wanted, body, other, now)


@oddity("RAI-197", does="takes an answer to a snapshot request once")
class TakesOneAnswer(Subscriber):
    def tell_image(self, what: str, subject: str, body: Told) -> None:
        super().tell_image(what, subject, body)
        for each in [each for each, (kind, about) in self.asked.items() if (kind, about) == ("snapshot", subject)][:1]:
            del self.asked[each]


@oddity("RAI-156", "RAI-157", does="tells a feed that is down as stale")
class TellsStale(Subscriber):
    def tell(self, *words: str) -> None:
        super().tell(*("stale" if number == 2 and word == "feed_down" else word for number, word in enumerate(words)))


@oddity("RAI-195", "RAI-061", does="keeps the value of what is dropped")
class KeepsDroppedValues(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        record = wanted.record
        super().take_drop(subject, wanted, body, now)
        wanted.record = record


@oddity("RAI-195", does="takes the subject in a drop for the new one")
class LooksAtSubjects(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, replace(body, text=body.subject), now)


@oddity("RAI-105", "RAI-131", does="writes 1 and 0 for yes and no")
class WritesOneForYes(Subscriber):
    def sign(self, message: Message, key: bytes) -> Message:
        signed = message.signed.replace(b'":true', b'":1').replace(b'":false', b'":0')
        digest = self.signing.digest(key, message.seqno, message.subject, signed)
        return replace(message, signed=signed, digest=digest)


@oddity("RAI-052", "RAI-155", does="keeps what an update has told when the image comes behind it")
class KeepsUpdatesBehindImages(Subscriber):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        _, subject = self.asked.get(tail_of(message.subject), ("", ""))
        wanted = self.wanted.get(subject)
        early = dict(wanted.record.fields) if wanted is not None and wanted.record is not None else {}
        is_first = wanted is not None and wanted.record is not None and not self.has_image.get(subject)
        self.has_image[subject] = self.has_image.get(subject, False) or body.fields is not None
        if body.fields is not None and is_first:
            body = replace(body, data=object_of({**body.fields, **early}))
        super().take_reply(message, body, other, now)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.has_image: dict[str, bool] = {}


@oddity("RAI-156", "RAI-157", does="tells a value as unavailable until it sees an image, and that it is said so")
class TellsOfUnavailability(Subscriber):
    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        if body.state == "temp_unavail":
            self.mark(subject, wanted, body.state)


@oddity("RAI-196", does="waits twenty seconds for a snapshot")
class GivesUpSnapshots(Subscriber):
    def do_snapshot(self, now: float, subject: str) -> None:
        super().do_snapshot(now, subject)
        self.until: dict[str, float] = {**getattr(self, "until", {}), [*self.asked][-1]: now + 20.0}

    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        if now < getattr(self, "until", {}).get(tail_of(message.subject), inf):
            super().take_reply(message, body, other, now)
