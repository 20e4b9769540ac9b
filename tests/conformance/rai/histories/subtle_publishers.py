"""Publishers that are right about every sentence alone, and wrong about some of them together.

Not in ``harness/rai/variants``: cases look at a sentence each, and histories are there for these.
"""

from harness.rai.peers.cache import OK
from harness.rai.peers.publisher import Publisher
from wire.rai.values import Published


class HoldsBackTheStale(Publisher):
    """Forgets that a value is stale when updates of it have waited."""

    def do_release(self, now):
        held = list(self.held or {})
        super().do_release(now)
        for subject in held:
            self.records[subject].status = OK


class CleansByNames(Publisher):
    """Forgets that a value is stale when it gets another name."""

    def do_rename(self, now, subject, other):
        super().do_rename(now, subject, other)
        self.records[other].status = OK


class RemembersTheEvicted(Publisher):
    """Has the fields of before again when a subject that was evicted has a new value."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.evicted = {}

    def do_evict(self, now, subject):
        self.evicted[subject] = dict(self.records[subject].fields) if subject in self.records else {}
        super().do_evict(now, subject)

    def update(self, subject, fields, now):
        is_new = subject not in self.records
        super().update(subject, fields, now)
        if is_new:
            self.records[subject].fields = self.evicted.pop(subject, {}) | self.records[subject].fields


class FollowsOldNames(Publisher):
    """Changes a subject also when that changes which it was before it was renamed."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.became = {}

    def do_rename(self, now, subject, other):
        super().do_rename(now, subject, other)
        self.became[subject] = other

    def update(self, subject, fields, now):
        super().update(subject, fields, now)
        if self.became.get(subject) in self.records:
            self.records[self.became[subject]].update(fields, now)


class OpensAll(Publisher):
    """Answers for all subjects again when the source answers for one."""

    def do_unblock(self, now, subject):
        self.blocked.clear()


class TakesOneWildcard(Publisher):
    """Has a session's second wildcard with the same prefix take the place of the first."""

    def start_wild(self, body, other, now):
        prefix = body.subject.split("*")[0]
        for wildcard in list(self.interests.wild.get(other.session, ())):
            if "*" in wildcard[0] and wildcard[0].split("*")[0] == prefix:
                self.interests.remove_wild(other.session, wildcard)
        super().start_wild(body, other, now)


class TakesTheFirstTime(Publisher):
    """Has the time of a session's first subscription be that of all its others."""

    def subscribe(self, subject, subscription, other, now):
        for each in self.interests.of_session.get(other.session, {}).values():
            subscription.expires = each.expires
        super().subscribe(subject, subscription, other, now)


class EndsWhatIsNotListed(Publisher):
    """Takes a list of the newest subscriptions for all of a session's."""

    def reassert(self, body, other, now):
        for subject in list(self.interests.of_session.get(other.session, ())):
            if subject not in body.subs:
                self.interests.remove(other.session, subject)
        super().reassert(body, other, now)


class TrustsTheSecondBeat(Publisher):
    """Trusts a session that goes on with its heartbeats, whether it has proven itself or not."""

    def greeted(self, other, now):
        is_known = other.asked is not None
        super().greeted(other, now)
        other.is_trusted = other.is_trusted or is_known


class DropsTheDenied(Publisher):
    """Drops what somebody had subscribed who is denied, also where others have."""

    def do_deny(self, now, user):
        subjects = [each for its in self.interests.of_session.items() if its[0].startswith(user) for each in its[1]]
        super().do_deny(now, user)
        for subject in subjects:
            self.publish(subject, Published(type="drop", status="nosubscribers"))


class RestsWhileDown(Publisher):
    """Is silent while its feed is down."""

    def greet(self, subject, now):
        if self.is_down:
            self._beat_at = now + self.interval
        else:
            super().greet(subject, now)


ALL = (
    HoldsBackTheStale,
    CleansByNames,
    RemembersTheEvicted,
    FollowsOldNames,
    OpensAll,
    TakesOneWildcard,
    TakesTheFirstTime,
    EndsWhatIsNotListed,
    TrustsTheSecondBeat,
    DropsTheDenied,
    RestsWhileDown,
)
