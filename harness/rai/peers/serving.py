"""What a publisher does for others: it takes subscriptions, shows values, publishes updates, and ends what is over.

Each decision that the document speaks of is a method of its own. Where values come from is said in ``publisher.py``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.peers.timers import Timers
from harness.rai.peers.cache import FEED_DOWN, OK, CachedValue, Dictionary, Fields
from harness.rai.peers.interests import Interests, Terms, WildTerms
from harness.rai.peers.known import FOREVER, KnownSession
from harness.rai.peers.node import GONE, MISSED, NodePeer
from harness.rai.users import SERVED
from wire.errors import WireError
from wire.rai.values import (
    DICT,
    INBOX,
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
    inbox,
    object_of,
    tail_of,
    user_of,
)
from wire.rai.wildcards import Matcher
from wire.subjects import is_legal

FORMAT = "json"

LONGEST = 1024
"""Bytes of the longest subject that is published: brokers end the link of who says one that is too long for a line."""

UNSPEAKABLE = re.compile(r"[ \t\r\n]")
"""White space, which ends a subject at some brokers."""


def is_publishable(subject: str) -> bool:
    """Tell whether a subject is legal, and any broker carries it: others make some end the link, or say another."""
    return is_legal(subject) and len(subject.encode()) <= LONGEST and UNSPEAKABLE.search(subject) is None


class ServingNode(NodePeer):
    """A node with a cache of values, of which it tells whoever asks or has subscribed."""

    listens: tuple[str, ...] = ("_SESSION.>", "_SUB.>", "_PSUB.>", "_SNAP.>")
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
        if not is_publishable(subject):
            return "bad_name"
        return "perm_denied" if self.is_denied(other) else ""

    def is_denied(self, other: KnownSession) -> bool:
        """Tell whether a session may see nothing."""
        return user_of(other.session) in self.denied

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
        if self.is_denied(other):
            return
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
        # A verify is a form of the answer to a start: who asks for a snapshot is told that there is no value.
        if kind == "snap" and self.is_to_come(subject):
            return Reply(type=kind, subject=subject, status="not_found")
        record = self.records.get(subject)
        if record is not None:
            return Reply(**self.whole(kind, record), subject=subject)
        if subject in self.warming:
            return Reply(type="verify", subject=subject, format=FORMAT, data=object_of(self.warming[subject]))
        return Reply(type=kind, subject=subject, status="not_found")

    def is_to_come(self, subject: str) -> bool:
        """Tell whether the value of a subject is about to come, and has not."""
        return subject in self.warming

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
        if is_publishable(subject):
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

    def overtake(self, subject: str) -> None:
        """Pass over the updates of a subject that wait: what they tell of is older than what is told now."""
        if self.held is not None:
            self.held.pop(subject, None)

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
        self.warming.pop(subject, None)
        self.overtake(subject)
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
        if not self.interests.has_any(session):
            self._asking.pop(session, None)
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
        seconds = GONE * other.interval if subscription.expires is None else min(subscription.expires, FOREVER)
        return other.heard + seconds

    def ask_for_subscriptions(self, other: KnownSession) -> None:
        """Ask a session for its subscriptions."""
        body = GetSubs(return_=f"{user_of(other.session)}.subs", last_seen=other.time, wildcard=">")
        self.say(inbox(other.session, "get_subs"), body)
