"""The halves of the reference router-cache: one subscribes at a broker, the other publishes at another.

The cache holds whole values only: of what was seen of a subject without its image, updates are passed on.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.rai.peers.cache import OK, STALE, VERIFY, CachedValue
from harness.rai.peers.interests import Terms
from harness.rai.peers.kept import Kept
from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import GONE, NodePeer
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.subscriber import DISTURBED, NOT_FOUND, WHOLE, Subscriber, Wanted
from harness.rai.users import ROUTER
from wire.rai.values import (
    DICT,
    NOTHING,
    Dict,
    DictRequest,
    Message,
    Published,
    Raw,
    Reply,
    Return,
    Told,
    WildStart,
    tail_of,
)
from wire.rai.wildcards import subject_of_pattern
from wire.subjects import REST, literal_prefix, matches, segments

PATIENCE = 5.0
"""Seconds for the source to answer, before who asks is told that the subject is not available for now."""

FEED_SWITCH = "feed_switch"

Asker = tuple[str, KnownSession, Return]
"""Who waits for a value: the type of the answer, the session, and where to."""


class Question:
    """What the source was asked, for those who wait; ``until`` when."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.askers: list[Asker] = []


class Half(NodePeer):
    """A half of a router-cache: a node of its own, which has no dealings with the other as nodes have."""

    user = ROUTER
    verbs: tuple[str, ...] = ()
    partner: NodePeer

    def hear(self, message: Message, now: float) -> None:
        # Where both brokers are one, what it passes on would come back to be passed on again, for ever.
        if message.session != self.partner.session:
            super().hear(message, now)


class Back(Half, Publisher):
    """The half of a router-cache that publishes: its source is the front."""

    front: "Front"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.questions: dict[str, Question] = {}
        """What the source was asked and has not answered, by subject."""
        self.put_off: set[str] = set()
        """Subjects of which somebody was told that there is no value."""
        self.dictionaries: dict[str, Dict] = {}
        self.fetched: dict[str, dict[str, tuple[KnownSession, Return]]] = {}
        """Who waits for a dictionary of the source's, and where to it is sent, by session."""
        self._clear_at: float | None = None

    # --- subscriptions ------------------------------------------------------------------------------------

    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if subject not in self.front.wanted:
            self.front.subscribe(subject, now)
            self.questions.setdefault(subject, Question(now + PATIENCE))

    def refusal(self, subject: str, other: KnownSession) -> str:
        # The broker of the source may be one that cannot carry these.
        return "bad_name" if any(each.isspace() for each in subject) else super().refusal(subject, other)

    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        super().start_wild(body, other, now)
        for wildcard in self.covers() - self.front.wild.keys():
            self.front.subscribe_wild(wildcard, now)

    def covers(self) -> set[str]:
        """Return the wildcards under which the source publishes all that those of the subscribers match."""
        return {self.cover(pattern) for its in self.interests.wild.values() for _, pattern in its}

    def cover(self, pattern: str) -> str:
        """Return a wildcard that matches all that a pattern does, as far as it is served."""
        wildcard = subject_of_pattern(pattern)
        is_sound = all(segments(wildcard)) and not any(each.isspace() for each in wildcard)
        return wildcard if is_sound and literal_prefix(wildcard) else self.serves_all_below + REST

    def end_wild(self, other: KnownSession, wildcard: tuple[str, str]) -> None:
        super().end_wild(other, wildcard)
        self.clear()

    def drop_unwanted(self, subject: str) -> None:
        super().drop_unwanted(subject)
        if not self.interests.is_named(subject):
            self.give_up(subject)

    def give_up(self, subject: str) -> None:
        """Subscribe to a subject no longer; its value is kept only if a wildcard keeps it up to date."""
        self.put_off.discard(subject)
        if subject in self.front.wanted:
            self.front.unsubscribe(subject)
        if not self.interests.is_wanted(subject):
            self.records.pop(subject, None)
            # A wildcard may bring it all the same: updates of what nobody wants are not kept.
            self.front.found.pop(subject, None)

    def clear(self) -> None:
        """Give up all that nobody has subscribed."""
        for wildcard in self.front.wild.keys() - self.covers():
            self.front.unsubscribe_wild(wildcard)
        known = {*self.front.wanted, *self.front.found, *self.records}
        for subject in [each for each in known if not self.interests.is_named(each)]:
            self.give_up(subject)

    def left(self, other: KnownSession, now: float) -> None:
        super().left(other, now)
        for askers in self.fetched.values():
            askers.pop(other.session, None)

    def lost(self, now: float) -> None:
        super().lost(now)
        self.questions.clear()
        self.fetched.clear()
        # Whoever lives will say again what is subscribed.
        self._clear_at = now + GONE * self.interval

    # --- what is asked ------------------------------------------------------------------------------------

    def show(self, kind: str, subject: str, returned: Return, other: KnownSession, now: float) -> None:
        if subject in self.records or self.refusal(subject, other):
            super().show(kind, subject, returned, other, now)
            return
        if subject not in self.questions:
            self.front.do_snapshot(now, subject)
            self.questions[subject] = Question(now + PATIENCE)
        self.questions[subject].askers.append((kind, other, returned))

    def waiting(self, subject: str) -> list[Asker]:
        """Return who has waited for a subject and is still there: it is answered now."""
        question = self.questions.pop(subject, None)
        askers = [] if question is None else question.askers
        return [each for each in askers if self.others.get(each[1].session) is each[1]]

    def answered(self, subject: str, body: Told) -> None:
        """Take an answer of the source's that is not kept: whoever waits for one has it."""
        for kind, other, returned in self.waiting(subject):
            self.reply(other, returned, self.handed_on(kind, subject, body))
            if not body.has_data and kind != "snap":
                self.put_off.add(subject)

    def handed_on(self, kind: str, subject: str, body: Told) -> Reply:
        """Return an answer that says what the source has said."""
        is_verify = body.kind == VERIFY
        if is_verify and kind == "snap":
            return Reply(type=kind, subject=subject, status="not_found")
        return Reply(
            type=VERIFY if is_verify else kind,
            subject=subject,
            status=self.status_in(kind, None if is_verify else body.status),
            format=body.format,
            dictionary=body.dictionary,
            dict_csum=body.dict_csum,
            data=body.data,
        )

    def status_in(self, kind: str, status: str | None) -> str | None:
        """Return the status that a message of some type has: snapshots and updates cannot tell of a switch."""
        return STALE if kind in ("snap", "update") and status == FEED_SWITCH else status

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        members["status"] = self.status_in(kind, members.get("status"))
        if isinstance(record, Kept):
            members |= {"dictionary": record.dictionary, "dict_csum": record.dict_csum}
        if _is_zeroed(record):
            members["type"] = VERIFY
        return members

    def is_to_come(self, subject: str) -> bool:
        return _is_zeroed(self.records.get(subject))

    # --- what the front tells -----------------------------------------------------------------------------

    def keep(self, subject: str, kept: Kept, image: Told, known: CachedValue | None) -> None:
        """Take a whole value: whoever waits for it is shown it, and all others if it is news to them."""
        self.records[subject] = kept
        for kind, other, returned in self.waiting(subject):
            self.reply(other, returned, self.image(kind, subject, other))
        if isinstance(image, Published) or kept.is_news_after(known) or subject in self.put_off:
            self.refresh(subject)
        self.put_off.discard(subject)

    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        """Publish an update of the source's: what cannot be relied on stays so, whatever the update says."""
        status = body.status if record.status == OK else self.status_in(body.kind, record.status)
        kind = body.type if status == body.status else None
        self.publish_if_wanted(subject, Published(type=kind, status=status, format=body.format, data=body.data))

    def tell_state(self, subject: str, status: str) -> None:
        if status == FEED_SWITCH:
            self.publish_if_wanted(subject, Published(type="recap", status=status))
        else:
            super().tell_state(subject, status)

    def lose(self, subject: str) -> None:
        """Take note that there is no value any more."""
        if self.records.pop(subject, None) is not None and self.interests.is_named(subject):
            self.put_off.add(subject)

    def tell_drop(self, subject: str, body: Told) -> None:
        """Give up a subject as its source has."""
        self.answered(subject, Reply(status=NOT_FOUND))
        self.put_off.discard(subject)
        self.end_subject(subject, Published(type="drop", status=body.status, text=body.text, subject=body.subject))

    # --- dictionaries -------------------------------------------------------------------------------------

    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        name, returned = body.dictionary, body.return_
        if returned is None:
            return
        if name in self.dictionaries:
            self.reply(other, returned, self.dictionaries[name])
        elif self.front.fetch(name):
            self.fetched.setdefault(name, {})[other.session] = other, returned

    def take_dictionary(self, body: Dict) -> None:
        """Keep a dictionary, and send it to whoever waits for it."""
        self.dictionaries[body.dictionary] = body
        for other, returned in self.fetched.pop(body.dictionary, {}).values():
            self.reply(other, returned, body)

    def note_checksum(self, name: str, checksum: int | str | None) -> None:
        """Take note of a dictionary's checksum: another one is another dictionary."""
        known = self.dictionaries.get(name)
        if known is not None and checksum is not None and checksum != known.dict_csum:
            del self.dictionaries[name]

    # --- time ---------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[float]:
        yield from super().timers()
        if self._clear_at is not None:
            yield self._clear_at
        yield from (each.until for each in self.questions.values())

    def tick(self, now: float) -> None:
        super().tick(now)
        if self._clear_at is not None and now >= self._clear_at:
            self._clear_at = None
            self.clear()
        for subject in [each for each, question in self.questions.items() if now >= question.until]:
            self.answered(subject, Reply(status="temp_unavail"))


class Front(Half, Subscriber):
    """The half of a router-cache that subscribes: it has no application but the back."""

    back: Back

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.absent: set[str] = set()
        """Subjects that the source has had no value of: the next update is all that there is."""

    def tell(self, *words: str) -> None:
        """Tell nobody: what is to be known is known to the back."""

    def tell_value(self, subject: str, record: CachedValue, changed: Mapping[str, Raw]) -> None:
        """Tell nobody."""

    def unsubscribe(self, subject: str) -> None:
        super().unsubscribe(subject)
        self.absent.discard(subject)

    # --- what the source tells ----------------------------------------------------------------------------

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        # A wildcard may bring more than the patterns of those for whom it is subscribed match.
        is_wanted = subject in self.wanted or self.back.interests.is_wanted(subject)
        if is_wanted and self.back.serves(subject):
            super().take_published(subject, body, other, now)

    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        super().take_reply(message, body, other, now)
        what, subject = self.asked.get(tail_of(message.subject), ("", ""))
        if what == "snapshot" and body.state != "ack":
            kept = self.wanted.get(subject) or self.found.get(subject)
            if kept is not None and body.fields is not None:
                self.apply(subject, kept, body, other, now)
            else:
                self.back.answered(subject, body)

    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        known = wanted.record
        super().apply(subject, wanted, body, other, now)
        record = wanted.record
        if body.fields is None or record is None:
            return
        if body.kind in WHOLE or subject in self.absent:
            self.absent.discard(subject)
            wanted.record = kept = Kept(record, body)
            self.back.keep(subject, kept, body, known)
        else:
            if isinstance(record, Kept):
                record.is_zeroed = False
            self.back.pass_on(subject, record, body)

    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        """Act on a message without fields: the back tells of it, and whoever waits has an answer."""
        record = wanted.record
        if body.state in DISTURBED and record is not None:
            self.mark(subject, wanted, body.state)
        elif isinstance(body, Published):
            self.back.publish_if_wanted(subject, Published(status=body.status, format=body.format, data=body.data))
        elif record is not None and record.status == OK and body.state != OK:
            self.mark(subject, wanted, STALE)
        if body.state == NOT_FOUND or body.has_data:
            # What is no object cannot be kept; and whatever was is older.
            wanted.record = None
            self.back.lose(subject)
        if body.state == NOT_FOUND and subject in self.wanted:
            self.absent.add(subject)
        if isinstance(body, Reply):
            self.back.answered(subject, body)

    def mark(self, subject: str, wanted: Wanted, status: str) -> None:
        is_news = wanted.record is not None and wanted.record.status != status
        super().mark(subject, wanted, status)
        if is_news:
            self.back.tell_state(subject, status)

    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if body.state != "nosubscribers":
            self.wanted.pop(subject, None)
            self.found.pop(subject, None)
            self.absent.discard(subject)
            self.cancel(subject)
            self.back.tell_drop(subject, body)
        elif subject in self.wanted:
            self.start(subject, wanted)
        else:
            for wildcard in [each for each in self.wild if matches(each, subject)]:
                self.start_wild(wildcard)

    # --- dictionaries -------------------------------------------------------------------------------------

    def fetch(self, name: str) -> bool:
        """Ask for a dictionary; tell whether there is somebody to ask."""
        session = self.dictionaries.get(name, "")
        if session in self.others:
            self.do_dictionary(0.0, name)
        return session in self.others

    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        super().note_dictionary(body, other)
        if body.dictionary is not None:
            self.back.note_checksum(body.dictionary, body.dict_csum)

    def take_dictionary(self, tail: str, body: Dict) -> None:
        if self.asked.get(tail, ("", ""))[0] == DICT and body.data is not NOTHING:
            self.back.take_dictionary(body)


def _is_zeroed(record: CachedValue | None) -> bool:
    """Tell whether the source of a value has said that it is about to come."""
    return isinstance(record, Kept) and record.is_zeroed and record.status == OK
