"""The reference subscriber: it subscribes as its application wants, and tells that what becomes of the values.

Each decision that the document speaks of is a method of its own.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import ControlFailed
from harness.rai.peers.broker_dialler import AGAIN
from harness.rai.peers.cache import FEED_DOWN, OK, STALE, VERIFY, CachedValue
from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import GONE, NodePeer
from harness.rai.users import SUBSCRIBER
from wire.rai.values import (
    DICT,
    GET_SUBS,
    NOTHING,
    SNAP,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Dict,
    DictRequest,
    GetSubs,
    Message,
    Published,
    Raw,
    Reply,
    Return,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    Told,
    WildStart,
    WildStop,
    inbox,
    object_of,
    owner_of,
    tail_of,
    user_of,
)
from wire.rai.wildcards import pattern_of_rv, published_prefix
from wire.subjects import is_wildcard, matches, overlap

EXPIRES = GONE * 10
"""Seconds after the last heartbeat for which subscriptions are to be kept."""

WHOLE = frozenset({"start", "initial", "snap", VERIFY})
"""Types of messages whose data is a whole value."""

NOT_FOUND = "not_found"

DISTURBED = frozenset({STALE, FEED_DOWN, "feed_switch"})
"""Status of updates after which a value cannot be relied on."""

QUESTIONS = 1 << 16
"""How many questions are remembered, beside those that begin subscriptions: of older ones no answer is expected."""


class Wanted:
    """A subject that is subscribed, and its value as far as it is known."""

    def __init__(self, since: int, *, with_image: bool) -> None:
        self.since = since
        """When it was subscribed, in microseconds since 1970."""
        self.with_image = with_image
        self.record: CachedValue | None = None
        self.source = ""
        """The session that has told of the value last."""


class Subscriber(NodePeer):
    """A subscriber; ``command`` takes the verbs of docs/rai.md."""

    role = "subscriber"
    user = SUBSCRIBER
    verbs: tuple[str, ...] = (
        "subscribe",
        "listen",
        "unsubscribe",
        "psubscribe",
        "punsubscribe",
        "snapshot",
        "dictionary",
        "end",
    )
    asking = frozenset({"snapshot", "dictionary"})

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.wanted: dict[str, Wanted] = {}
        self.wild: dict[str, int] = {}
        """Wildcards that are subscribed, with when they were."""
        self.found: dict[str, Wanted] = {}
        """Subjects that a wildcard has brought."""
        self.asked: dict[str, tuple[str, str]] = {}
        """What was asked, and of which subject, by the return under which it is to be answered."""
        self.dictionaries: dict[str, str] = {}
        """By its name, the session that has named a dictionary last."""
        self._numbers = itertools.count(1)
        self._look_at: float | None = None

    # --- sessions -----------------------------------------------------------------------------------------

    def greeted(self, other: KnownSession, now: float) -> None:
        if self._look_at is None:
            self._look_at = now + GONE * other.interval

    def trusted(self, other: KnownSession, now: float) -> None:
        """Say again to a publisher that was met what is subscribed: it has not heard of it."""
        self.greeted(other, now)
        self.start_all()

    def start_all(self) -> None:
        """Say of all that is subscribed that it is."""
        for subject, wanted in self.wanted.items():
            self.start(subject, wanted)
        for wildcard in self.wild:
            self.start_wild(wildcard)
        for subject, found in self.found.items():
            # A wildcard brings updates alone, and it takes a whole value to rely on this one again.
            if found.record is not None and found.record.status != OK:
                self.say(SNAP + subject, SnapRequest(return_=self.returned("start", subject), format="json"))

    def left(self, other: KnownSession, now: float) -> None:
        for subject, wanted in self.all_wanted():
            if wanted.source == other.session:
                self.mark(subject, wanted, STALE)

    def lost(self, now: float) -> None:
        for subject, wanted in self.all_wanted():
            self.mark(subject, wanted, STALE)

    def listen_to_all(self) -> None:
        super().listen_to_all()
        for subject in (*self.wanted, *self.wild):
            self.listen(subject)

    def all_wanted(self) -> list[tuple[str, Wanted]]:
        """Return the subjects that are subscribed, by name or by a wildcard."""
        return [*self.wanted.items(), *self.found.items()]

    # --- subscriptions ------------------------------------------------------------------------------------

    def subscribe(self, subject: str, now: float, *, with_image: bool = True) -> None:
        """Subscribe to a subject."""
        self.found.pop(subject, None)
        wanted = self.wanted[subject] = Wanted(self.utc(now), with_image=with_image)
        self.listen(subject)
        self.start(subject, wanted)

    def start(self, subject: str, wanted: Wanted) -> None:
        """Say that a subject is subscribed."""
        if wanted.with_image:
            body = SubStart(return_=self.returned("start", subject), initial=True, ack=True, expires=EXPIRES)
        else:
            body = SubStart(expires=EXPIRES)
        self.say(START + subject, body)

    def unsubscribe(self, subject: str) -> None:
        """End a subscription."""
        wanted = self.wanted.pop(subject, None)
        self.say(STOP + subject, SubStop(return_=self.returned("stop", subject), ack=True))
        if not any(matches(each, subject) for each in self.wild):
            self.cancel(subject)
        elif wanted is not None and wanted.record is not None:
            self.found[subject] = wanted

    def subscribe_wild(self, wildcard: str, now: float) -> None:
        """Subscribe to all subjects that a wildcard matches."""
        self.wild[wildcard] = self.utc(now)
        self.listen(wildcard)
        self.start_wild(wildcard)

    def start_wild(self, wildcard: str) -> None:
        """Say that a wildcard is subscribed."""
        body = WildStart(expires=EXPIRES, subject=wildcard, pattern=pattern_of_rv(wildcard))
        self.say(WILD_START + published_prefix(wildcard), body)

    def unsubscribe_wild(self, wildcard: str) -> None:
        """End that."""
        self.wild.pop(wildcard, None)
        for subject in [each for each in self.found if not any(matches(other, each) for other in self.wild)]:
            del self.found[subject]
        self.say(WILD_STOP + published_prefix(wildcard), WildStop(subject=wildcard, pattern=pattern_of_rv(wildcard)))
        self.cancel(wildcard)

    def returned(self, what: str, subject: str) -> Return:
        """Return under what something that is asked now is to be answered; it is remembered what that was."""
        number = next(self._numbers)
        self.asked[str(number)] = what, subject
        if len(self.asked) > QUESTIONS + 2 * len(self.wanted):
            del self.asked[next(iter(self.asked))]
        return number

    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        """Answer a publisher that asks what is subscribed."""
        subjects = [
            subject
            for subject, wanted in self.wanted.items()
            if matches(body.wildcard, subject) and self.is_since(wanted.since, body.last_seen)
        ]
        answer = Subs(
            last_seen=body.last_seen,
            wildcard=body.wildcard,
            initial=True,
            ack=True,
            subs=subjects,
            subs_return=[self.returned("start", each) for each in subjects],
        )
        self.say(inbox(other.session, body.return_), answer)
        # A list of subjects has no place for them.
        for wildcard, since in self.wild.items():
            if overlap(body.wildcard, wildcard) and self.is_since(since, body.last_seen):
                self.start_wild(wildcard)

    def is_since(self, since: int, last_seen: int) -> bool:
        """Tell whether what was subscribed at a time is asked for: all is, where that is longer ago than remembered."""
        oldest = next(iter(self._said), 0)
        return last_seen < oldest or since >= last_seen

    # --- what is told -------------------------------------------------------------------------------------

    def take(self, message: Message, other: KnownSession, now: float) -> None:
        match message.body:
            # First: nearly all that is said is one.
            case Published():
                self.take_published(message.subject, message.body, other, now)
            case GetSubs() if message.subject == inbox(self.session, GET_SUBS):
                self.reassert(message.body, other)
            case Reply() if owner_of(message.subject) == self.session:
                self.take_reply(message, message.body, other, now)
            case Dict():
                self.take_dictionary(tail_of(message.subject), message.body)

    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        """Act on an answer: it is about the subject that was asked about under its return."""
        what, subject = self.asked.get(tail_of(message.subject), ("", ""))
        if not what:
            return
        self.note_dictionary(body, other)
        if body.state == "ack":
            self.tell("ack", subject, body.kind)
        elif what == "snapshot":
            self.tell_image("snapshot", subject, body)
        elif wanted := self.wanted.get(subject) or self.found.get(subject):
            self.apply(subject, wanted, body, other, now)

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        """Act on what is told to all."""
        self.note_dictionary(body, other)
        wanted = self.wanted.get(subject) or self.found.get(subject)
        if wanted is None and any(matches(each, subject) for each in self.wild):
            wanted = self.found[subject] = Wanted(0, with_image=False)
        if wanted is None:
            return
        if body.kind == "drop":
            self.take_drop(subject, wanted, body, now)
        else:
            self.apply(subject, wanted, body, other, now)

    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        """Act on the end of a subject: who still wants it says so."""
        renamed = body.text or body.subject or ""
        self.tell("drop", subject, body.state, *([renamed] if body.state == "relocate" and renamed else []))
        wanted.record = None
        if subject not in self.wanted:
            self.found.pop(subject, None)
        elif body.state == "relocate" and renamed:
            del self.wanted[subject]
            self.cancel(subject)
            self.subscribe(renamed, now)
        elif body.state == "nosubscribers":
            self.start(subject, wanted)

    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        """Take what is told of a value: an image replaces it, an update changes some fields, a status marks it."""
        fields = body.fields
        if fields is None:
            if body.state != NOT_FOUND:
                self.take_status(subject, wanted, body)
            elif self.is_for_source(wanted, other):
                self.take_status(subject, wanted, body)
                # Whatever was known of it comes from a cache that is no more.
                wanted.record = None
            return
        wanted.source = other.session
        if body.kind in WHOLE:
            record = CachedValue(dict(fields), self.status_of_image(body))
        else:
            record = wanted.record or CachedValue({})
            record.update(fields, now)
            # Nobody knows which field is out of date: only a whole image can be relied on again.
            if body.state in DISTURBED:
                record.status = body.state
        wanted.record = record
        self.tell_value(subject, record, fields)

    def is_for_source(self, wanted: Wanted, other: KnownSession) -> bool:
        """Tell whether a session can say that there is no value: the one that told it, or another of the same user."""
        return wanted.record is None or user_of(other.session) == user_of(wanted.source)

    def status_of_image(self, body: Told) -> str:
        """Return how far an image can be relied on."""
        return body.state if body.state in DISTURBED else OK

    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        """Act on a message without data."""
        if body.state in DISTURBED and wanted.record is not None:
            self.mark(subject, wanted, body.state)
        else:
            self.tell("status", subject, body.state)

    def mark(self, subject: str, wanted: Wanted, status: str) -> None:
        """Mark a value: it cannot be relied on."""
        if wanted.record is not None and wanted.record.status != status:
            wanted.record.status = status
            self.tell_value(subject, wanted.record, {})

    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        """Remember who has which dictionary."""
        if body.dictionary is not None:
            self.dictionaries[body.dictionary] = other.session

    def take_dictionary(self, tail: str, body: Dict) -> None:
        """Hand a dictionary to the application."""
        if self.asked.get(tail, ("", ""))[0] == DICT and body.data is not NOTHING:
            self.tell("dictionary", body.dictionary, bytes(body.data).decode())

    # --- the application ----------------------------------------------------------------------------------

    def tell(self, *words: str) -> None:
        """Tell the application something."""
        self._events.append(" ".join(words))

    def tell_value(self, subject: str, record: CachedValue, changed: Mapping[str, Raw]) -> None:
        """Tell the application of a value, all of it."""
        self.tell("value", subject, record.status, bytes(object_of(record.fields)).decode())

    def tell_image(self, what: str, subject: str, body: Told) -> None:
        """Tell the application of an image that it has asked for once."""
        if body.fields is None:
            self.tell("status", subject, body.state)
        else:
            self.tell(what, subject, body.state, bytes(object_of(body.fields)).decode())

    # --- time ---------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[float]:
        yield from super().timers()
        if self._look_at is not None:
            yield self._look_at

    def tick(self, now: float) -> None:
        super().tick(now)
        if self._look_at is not None and now >= self._look_at:
            for other in [each for each in self.others.values() if now >= each.heard + GONE * each.interval]:
                self.forget(other, now)
            ends = [each.heard + GONE * each.interval for each in self.others.values()]
            self._look_at = max(min(ends), now + AGAIN) if ends else None

    # --- control lines --------------------------------------------------------------------------------------

    def do_subscribe(self, now: float, subject: str) -> None:
        """Subscribe to a subject, with an image and an ack."""
        self.subscribe(subject, now)

    def do_listen(self, now: float, subject: str) -> None:
        """Subscribe to a subject."""
        self.subscribe(subject, now, with_image=False)

    def do_unsubscribe(self, now: float, subject: str) -> None:
        """End a subscription."""
        self.unsubscribe(subject)

    def do_psubscribe(self, now: float, wildcard: str) -> None:
        """Subscribe to all subjects that a wildcard matches."""
        if not is_wildcard(wildcard):
            raise ControlFailed(f"no wildcard: {wildcard}")
        self.subscribe_wild(wildcard, now)

    def do_punsubscribe(self, now: float, wildcard: str) -> None:
        """End that."""
        self.unsubscribe_wild(wildcard)

    def do_snapshot(self, now: float, subject: str) -> None:
        """Ask for a value once."""
        self.say(SNAP + subject, SnapRequest(return_=self.returned("snapshot", subject), format="json"))

    def do_dictionary(self, now: float, name: str) -> None:
        """Fetch a dictionary from who has named it last."""
        session = self.dictionaries.get(name)
        if session is None:
            raise ControlFailed(f"nobody has named a dictionary {name!r}")
        self.say(inbox(session, DICT), DictRequest(dictionary=name, return_=self.returned(DICT, name)))
