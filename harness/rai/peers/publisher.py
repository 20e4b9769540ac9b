"""The reference publisher: it has a source of values, keeps the last of each subject, and tells whoever has subscribed.

Each decision that the document speaks of is a method of its own.
"""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import ControlFailed
from harness.peers.timers import Timers
from harness.rai.peers.cache import FEED_DOWN, OK, STALE, CachedValue, Dictionary, Fields
from harness.rai.peers.interests import Interests, Terms, WildTerms
from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import GONE, MISSED, NodePeer
from harness.rai.users import PUBLISHER, SERVED
from wire.errors import WireError
from wire.rai.relaxed import canonical, parse
from wire.rai.values import (
    DICT,
    INBOX,
    NOTHING,
    SNAP,
    START,
    STOP,
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
    WildStart,
    WildStop,
    fields_of,
    inbox,
    object_of,
    tail_of,
    user_of,
)
from wire.rai.wildcards import Matcher
from wire.subjects import is_legal

RECAP = 10.0
"""Seconds of changes that are told again after a switch."""

FORMAT = "json"


class Publisher(NodePeer):
    """A publisher with a cache; ``command`` takes the verbs of docs/rai.md."""

    role = "publisher"
    user = PUBLISHER
    listens: tuple[str, ...] = ("_SESSION.>", "_SUB.>", "_PSUB.>", "_SNAP.>")
    verbs: tuple[str, ...] = (
        "set",
        "warm",
        "stale",
        "restore",
        "expire",
        "evict",
        "rename",
        "switch",
        "hold",
        "release",
        "block",
        "unblock",
        "down",
        "up",
        "deny",
        "dictionary",
        "end",
    )
    serves_all_below = SERVED

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.records: dict[str, CachedValue] = {}
        self.warming: dict[str, Fields] = {}
        """What subjects will hold that the source will have soon."""
        self.blocked: set[str] = set()
        self.denied: set[str] = set()
        self.interests = Interests()
        self.dictionary: Dictionary | None = None
        self.is_down = False
        self.held: dict[str, list[Fields]] | None = None
        """Updates that wait, by subject; ``None`` when none have to."""
        self._due = Timers[KnownSession]()
        self._asking: dict[str, float] = {}
        self._asked: set[str] = set()

    # --- sessions -----------------------------------------------------------------------------------------

    def greeted(self, other: KnownSession, now: float) -> None:
        self._asking.pop(other.session, None)
        self._asked.discard(other.session)
        if not other.is_trusted:
            self.prove(other, *other.greeting, now)
        self._due.set(now + MISSED * other.interval, other)

    def left(self, other: KnownSession, now: float) -> None:
        self._asking.pop(other.session, None)
        for subject in list(self.interests.of_session.get(other.session, ())):
            self.end_subscription(other, subject)
        for wildcard in list(self.interests.wild.get(other.session, ())):
            self.end_wild(other, wildcard)

    def lost(self, now: float) -> None:
        self.interests.clear()
        self._asking.clear()
        self._asked.clear()

    # --- what is asked ------------------------------------------------------------------------------------

    def take(self, message: Message, other: KnownSession, now: float) -> None:
        subject, body = message.subject, message.body
        match body:
            case SubStart() if self.serves(subject.removeprefix(START)):
                self.start(subject.removeprefix(START), body, other, now)
            case SubStop() if self.serves(subject.removeprefix(STOP)):
                self.stop(subject.removeprefix(STOP), body, other)
            case WildStart():
                self.start_wild(body, other, now)
            case WildStop():
                self.end_wild(other, (body.subject, body.pattern))
            case SnapRequest() if body.return_ is not None and self.serves(subject.removeprefix(SNAP)):
                self.show("snap", subject.removeprefix(SNAP), body.return_, other, now)
            case Subs() if subject.startswith(INBOX):
                self.reassert(body, other, now)
            case DictRequest() if tail_of(subject) == DICT and body.return_ is not None:
                self.send_dictionary(body, other)

    def serves(self, subject: str) -> bool:
        """Tell whether a subject is one of this publisher's."""
        return subject.startswith(self.serves_all_below)

    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        """Begin a subscription."""
        returned = body.return_
        if returned is not None and (refusal := self.refusal(subject, other)):
            self.reply(other, returned, Reply(type="start", subject=subject, status=refusal))
        if self.refusal(subject, other):
            return
        self.subscribe(subject, Terms(body.expires), other, now)
        if body.ack and returned is not None:
            self.ack("start", subject, returned, other)
        if body.initial and returned is not None:
            self.show("start", subject, returned, other, now)

    def refusal(self, subject: str, other: KnownSession) -> str:
        """Return the status that says why a session may not see a subject; empty where it may."""
        if not is_legal(subject):
            return "bad_name"
        return "perm_denied" if user_of(other.session) in self.denied else ""

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        """Take a subscription."""
        self.interests.add(other.session, subject, subscription)
        self._due.set(self.ends_at(subscription, other), other)

    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        """End a subscription."""
        if body.ack and body.return_ is not None:
            self.ack("stop", subject, body.return_, other)
        self.end_subscription(other, subject)

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        """Begin a subscription to all subjects that a pattern matches."""
        try:
            subscription = WildTerms(body.pattern, Matcher.of_pcre(body.pattern), body.expires)
        except WireError:
            return  # a pattern that cannot be matched matches nothing
        self.interests.add_wild(other.session, (body.subject, body.pattern), subscription)
        self._due.set(self.ends_at(subscription, other), other)

    def end_subscription(self, other: KnownSession, subject: str) -> None:
        """End a subscription, if there is one; when it was the last the subject is dropped."""
        if self.interests.remove(other.session, subject):
            self.drop_unwanted(subject)

    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        """End a subscription to a wildcard."""
        ended = self.interests.remove_wild(other.session, wildcard)
        if ended is not None:
            for subject in [each for each in self.records if ended.matcher.matches(each)]:
                self.drop_unwanted(subject)

    def drop_unwanted(self, subject: str) -> None:
        """Tell that a subject is dropped, if nobody has subscribed to it any more."""
        if not self.interests.is_wanted(subject):
            self.publish(subject, Published(type="drop", status="nosubscribers"))

    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        """Take what a session says are its subscriptions: their time begins anew."""
        other.heard = now
        for place, subject in enumerate(body.subs):
            if not self.serves(subject) or self.refusal(subject, other):
                continue
            known = self.interests.of_session.get(other.session, {}).get(subject)
            self.subscribe(subject, known or Terms(), other, now)
            if place >= len(body.subs_return):
                continue
            returned = body.subs_return[place]
            if body.ack:
                self.ack("start", subject, returned, other)
            if body.initial:
                self.show("start", subject, returned, other, now)

    def ack(self, kind: str, subject: str, returned: Return, other: KnownSession) -> None:
        """Answer who wants to know that a start or a stop was seen."""
        self.reply(other, returned, Reply(type=kind, subject=subject, status="ack"))

    # --- images -------------------------------------------------------------------------------------------

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        """Answer who wants to see a value: ``kind`` is the type of the answer."""
        self.reply(other, returned, self.image(kind, subject, other))

    def image(self, kind: str, subject: str, other: KnownSession) -> Reply:
        """Return the value of a subject, or why there is none."""
        if refusal := self.refusal(subject, other):
            return Reply(type=kind, subject=subject, status=refusal)
        if subject in self.blocked:
            return Reply(type=kind, subject=subject, status="temp_unavail")
        record = self.records.get(subject)
        if record is not None:
            return Reply(**self.whole(kind, record), subject=subject)
        if subject in self.warming:
            return Reply(type="verify", subject=subject, format=FORMAT, data=object_of(self.warming[subject]))
        return Reply(type=kind, subject=subject, status="not_found")

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        """Return the members of a message that holds a whole value."""
        members: dict[str, Any] = {"type": kind, "format": FORMAT, "data": object_of(record.fields)}
        if record.status != OK:
            members["status"] = record.status
        if self.dictionary is not None:
            members |= {"dictionary": self.dictionary.name, "dict_csum": self.dictionary.checksum}
        return members

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        """Tell one session something, unless its return makes no subject."""
        subject = inbox(other.session, returned)
        if is_legal(subject):
            self.say(subject, body)

    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        """Answer who wants a dictionary: the newest, whichever they have."""
        known = self.dictionary
        if known is not None and body.dictionary == known.name and body.return_ is not None:
            self.reply(other, body.return_, Dict(dictionary=known.name, dict_csum=known.checksum, data=known.data))

    # --- updates ------------------------------------------------------------------------------------------

    def publish(self, subject: str, body: Published) -> None:
        """Tell all who listen to a subject."""
        self.say(subject, body)

    def publish_if_wanted(self, subject: str, body: Published) -> None:
        """Tell all who listen to a subject, where anybody has subscribed."""
        if self.interests.is_wanted(subject):
            self.publish(subject, body)

    def update(self, subject: str, fields: Fields, now: float) -> None:
        """Take new values of some fields from the source."""
        self.warming.pop(subject, None)
        record = self.records.get(subject)
        if record is None:
            record = self.records[subject] = CachedValue({}, FEED_DOWN if self.is_down else OK)
        record.update(fields, now)
        if self.held is not None:
            self.held.setdefault(subject, []).append(fields)
        else:
            self.publish_if_wanted(subject, self.changed(record, fields))

    def changed(self, record: CachedValue, fields: Mapping[str, Raw]) -> Published:
        """Return the update that tells of changed fields: a value that is stale stays so."""
        return Published(status=None if record.status == OK else record.status, data=object_of(fields))

    def conflated(self, record: CachedValue, updates: list[Fields]) -> Published:
        """Return the one update that several have become."""
        merged = {name: value for each in updates for name, value in each.items()}
        return (
            Published(status="conflated", data=object_of(merged)) if len(updates) > 1 else self.changed(record, merged)
        )

    def tell_state(self, subject: str, status: str) -> None:
        """Mark a value, and tell of that."""
        record = self.records.get(subject)
        if record is not None:
            record.status = status
        self.publish_if_wanted(subject, Published(status=status))

    def refresh(self, subject: str) -> None:
        """Publish the whole value of a subject, for all to begin anew with."""
        self.publish_if_wanted(subject, Published(**self.whole("initial", self.records[subject])))

    def end_subject(self, subject: str, drop: Published) -> None:
        """Give up a subject, and tell why."""
        self.records.pop(subject, None)
        self.publish_if_wanted(subject, drop)
        self.interests.remove_subject(subject)

    # --- time ---------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[float]:
        yield from super().timers()
        due = self._due.next()
        if due is not None:
            yield due

    def tick(self, now: float) -> None:
        super().tick(now)
        # What is due again by now is looked at when time passes next.
        for _, other in list(self._due.due(now)):
            if self.others.get(other.session) is other:
                self.look_after(other, now)

    def look_after(self, other: KnownSession, now: float) -> None:
        """See to what is due with a session: a question for its subscriptions, the end of some, or its own."""
        session = other.session
        if now >= self.missed_at(other) and session not in self._asked and self.interests.has_any(session):
            at = self._asking.setdefault(session, now + self.delay(other))
            if now >= at:
                del self._asking[session]
                self._asked.add(session)
                self.ask_for_subscriptions(other)
        for subject, subscription in list(self.interests.of_session.get(session, {}).items()):
            if now >= self.ends_at(subscription, other):
                self.end_subscription(other, subject)
        for wildcard, wild in list(self.interests.wild.get(session, {}).items()):
            if now >= self.ends_at(wild, other):
                self.end_wild(other, wildcard)
        if now >= other.heard + GONE * other.interval and not self.interests.has_any(session):
            self.forget(other, now)
        else:
            self._due.set(self.next_look(other, now), other)

    def next_look(self, other: KnownSession, now: float) -> float:
        """Return when a session is to be looked after next."""
        session = other.session
        subscriptions = [
            *self.interests.of_session.get(session, {}).values(),
            *self.interests.wild.get(session, {}).values(),
        ]
        times = [self.ends_at(each, other) for each in subscriptions] or [other.heard + GONE * other.interval]
        if session in self._asking:
            times.append(self._asking[session])
        elif session not in self._asked and now < self.missed_at(other):
            times.append(self.missed_at(other))
        return min(times)

    def missed_at(self, other: KnownSession) -> float:
        """Return when a session has missed a heartbeat."""
        return other.heard + MISSED * other.interval

    def delay(self, other: KnownSession) -> float:
        """Return how long to wait, once it has, before it is asked: all publishers would ask at once."""
        return self.random.uniform(0, other.interval)

    def ends_at(self, subscription: Terms, other: KnownSession) -> float:
        """Return when a subscription ends if its session shows no sign of life."""
        return other.heard + (GONE * other.interval if subscription.expires is None else subscription.expires)

    def ask_for_subscriptions(self, other: KnownSession) -> None:
        """Ask a session for its subscriptions."""
        body = GetSubs(return_=f"{user_of(other.session)}.subs", last_seen=other.time, wildcard=">")
        self.say(inbox(other.session, "get_subs"), body)

    # --- the source, by control lines -----------------------------------------------------------------------

    def do_set(self, now: float, subject: str, *text: str) -> None:
        """Have new values of some fields."""
        self.update(subject, _fields(text), now)

    def do_warm(self, now: float, subject: str, *text: str) -> None:
        """Have a subject soon."""
        self.warming[subject] = _fields(text)

    def do_stale(self, now: float, subject: str) -> None:
        """Lose the source of a subject."""
        self.tell_state(subject, STALE)

    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        self.records.setdefault(subject, CachedValue({})).replace(_fields(text), now)
        self.refresh(subject)

    def do_expire(self, now: float, subject: str) -> None:
        """End a subject for good."""
        self.end_subject(subject, Published(type="drop", status="expired"))

    def do_evict(self, now: float, subject: str) -> None:
        """Lose a subject from a full cache."""
        self.end_subject(subject, Published(type="drop", status="preempted"))

    def do_rename(self, now: float, subject: str, other: str) -> None:
        """Have a subject under another name."""
        if subject in self.records:
            self.records[other] = self.records[subject]
        self.end_subject(subject, Published(type="drop", status="relocate", text=other))

    def do_switch(self, now: float) -> None:
        """Have values over another path."""
        for subject in list(self.interests.wanted(lambda: iter(self.records))):
            record = self.records.get(subject)
            recent = {} if record is None else record.recent(now - RECAP)
            self.publish(
                subject, Published(type="recap", status="feed_switch", data=object_of(recent) if recent else NOTHING)
            )

    def do_hold(self, now: float) -> None:
        """Have updates wait."""
        self.held = {}

    def do_release(self, now: float) -> None:
        """Send what waits."""
        held, self.held = self.held or {}, None
        for subject, updates in held.items():
            if subject in self.records:
                self.publish_if_wanted(subject, self.conflated(self.records[subject], updates))

    def do_block(self, now: float, subject: str) -> None:
        """Get no answer for a subject."""
        self.blocked.add(subject)

    def do_unblock(self, now: float, subject: str) -> None:
        """Get answers again."""
        self.blocked.discard(subject)

    def do_down(self, now: float) -> None:
        """Have no feed."""
        self.is_down = True
        for record in self.records.values():
            record.status = FEED_DOWN
        for subject in list(self.interests.wanted(lambda: iter(self.records))):
            self.publish(subject, Published(status=FEED_DOWN))

    def do_up(self, now: float) -> None:
        """Have a feed again."""
        self.is_down = False
        for subject, record in self.records.items():
            record.status = OK
            self.refresh(subject)

    def do_deny(self, now: float, user: str) -> None:
        """Let a user see nothing any more."""
        self.denied.add(user)
        for other in [each for each in self.others.values() if user_of(each.session) == user]:
            for subject in list(self.interests.of_session.get(other.session, ())):
                self.end_subscription(other, subject)
            for wildcard in list(self.interests.wild.get(other.session, ())):
                self.end_wild(other, wildcard)

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        before = self.dictionary
        data = object_of(_fields(text))
        self.dictionary = Dictionary(name, data, self.checksum(data))
        if before is not None:
            for subject in self.records:
                self.refresh(subject)

    def checksum(self, data: Raw) -> int:
        """Return what tells a version of a dictionary from others."""
        return zlib.crc32(bytes(data))


def _fields(text: tuple[str, ...]) -> Fields:
    """Return the fields of an object that stands in a control line."""
    found = fields_of(" ".join(text).encode())
    if found is None:
        raise ControlFailed(f"no object of JSON: {' '.join(text)}")
    # As a digest has it, and so a message that is signed: without white space, and with as few escapes as may be.
    return {name: Raw(canonical(parse(bytes(value)))) for name, value in found.items()}
