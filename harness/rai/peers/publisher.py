"""The reference publisher: its source has new values, loses and renames them, as control lines say."""

import zlib

from harness.errors import ControlFailed
from harness.rai.peers.cache import FEED_DOWN, OK, STALE, CachedValue, Dictionary, Fields
from harness.rai.peers.serving import ServingNode
from harness.rai.users import PUBLISHER
from wire.rai.relaxed import canonical, parse
from wire.rai.values import NOTHING, Published, Raw, fields_of, object_of, user_of

RECAP = 10.0
"""Seconds of changes that are told again after a switch."""


class Publisher(ServingNode):
    """A publisher with a cache; ``command`` takes the verbs of docs/rai.md."""

    role = "publisher"
    user = PUBLISHER
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

    def do_set(self, now: float, subject: str, *text: str) -> None:
        """Have new values of some fields."""
        self.update(subject, _fields(text), now)

    def do_warm(self, now: float, subject: str, *text: str) -> None:
        """Have a subject soon."""
        self.warming[subject] = _fields(text)

    def do_stale(self, now: float, subject: str) -> None:
        """Lose the source of a subject."""
        self.tell_state(subject, STALE)
        if subject in self.records:
            self.records[subject].is_disturbed = True

    def do_restore(self, now: float, subject: str, *text: str) -> None:
        """Have the source of a subject again, with all its fields."""
        record = self.records.setdefault(subject, CachedValue({}))
        record.replace(_fields(text), now)
        if self.is_down:
            record.status = FEED_DOWN
        self.overtake(subject)
        self.refresh(subject)

    def do_expire(self, now: float, subject: str) -> None:
        """End a subject for good."""
        self.end_subject(subject, Published(type="drop", status="expired"))

    def do_evict(self, now: float, subject: str) -> None:
        """Lose a subject from a full cache."""
        self.end_subject(subject, Published(type="drop", status="preempted"))

    def do_rename(self, now: float, subject: str, other: str) -> None:
        """Have a subject under another name."""
        record = self.records.get(subject)
        self.end_subject(subject, Published(type="drop", status="relocate", text=other))
        if record is not None:
            self.records[other] = record
            self.overtake(other)
            self.refresh(other)

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
            record.status = STALE if record.is_disturbed else OK
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
