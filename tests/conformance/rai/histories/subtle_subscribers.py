"""Subscribers that are right about every sentence alone, and wrong about some of them together."""

from harness.rai.peers.cache import OK, STALE
from harness.rai.peers.subscriber import Subscriber


class CleansWhenLeftBeside(Subscriber):
    """A stale value is ok when its subject is unsubscribed by name, and a wildcard brings it on."""

    def unsubscribe(self, subject):
        super().unsubscribe(subject)
        if subject in self.found and self.found[subject].record is not None:
            self.found[subject].record.status = OK


class TaintsByWildcard(Subscriber):
    """The end of one session makes stale what wildcards have brought from any."""

    def left(self, other, now):
        super().left(other, now)
        for subject, found in self.found.items():
            self.mark(subject, found, STALE)


class SaysSomeAgain(Subscriber):
    """The third publisher that is trusted, and all behind it, are told of the last three subscriptions only."""

    count = 0

    def trusted(self, other, now):
        self.count += 1
        kept = self.wanted
        if self.count > 3:
            self.wanted = dict(list(kept.items())[-3:])
        super().trusted(other, now)
        self.wanted = kept


class KeepsFieldsOfTheFirstName(Subscriber):
    """What was renamed and has no image yet begins with the fields of its old name."""

    def take_drop(self, subject, wanted, body, now):
        record = wanted.record
        super().take_drop(subject, wanted, body, now)
        if body.text in self.wanted and body.state == "relocate":
            self.wanted[body.text].record = record
            if record is not None:
                self.tell_value(body.text, record, {})


class AcksOfTheFirstStart(Subscriber):
    """A stop forgets the open questions of its subject, so the next start is acked, and no stop is."""

    def unsubscribe(self, subject):
        super().unsubscribe(subject)
        if self.count_of(subject) > 1:
            self.asked.popitem()

    def count_of(self, subject):
        counts = self.__dict__.setdefault("counts", {})
        counts[subject] = counts.get(subject, 0) + 1
        return counts[subject]


class NumbersOfReturnsAnew(Subscriber):
    """A session that was silent and is trusted again may say what it has said before."""

    def trust(self, other, now):
        if not other.is_trusted:
            other.seqnos.clear()
        super().trust(other, now)


ALL = (
    CleansWhenLeftBeside,
    TaintsByWildcard,
    SaysSomeAgain,
    KeepsFieldsOfTheFirstName,
    AcksOfTheFirstStart,
    NumbersOfReturnsAnew,
)
