"""Faults of a subscriber: what it tells of drops and answers, and what it makes of drops."""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber, Wanted
from harness.rai.variants.registry import fault
from wire.rai.values import START, Body, Message, Published, Reply, SnapRequest, SubStart, Told, tail_of


class SilentDrops(Subscriber):
    """A subscriber that does not tell all drops."""

    def is_told(self, subject: str, body: Published) -> bool:
        """Tell whether a drop is told."""
        return True

    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        events = len(self._events)
        super().take_drop(subject, wanted, body, now)
        if not self.is_told(subject, body):
            del self._events[events]


@fault("RAI-195", does="tells no drop for want of subscribers")
class TellsNoWantOfSubscribers(SilentDrops):
    def is_told(self, subject: str, body: Published) -> bool:
        return body.state != "nosubscribers"


@fault("RAI-195", does="tells no drop because a cache is full")
class TellsNoPreemption(SilentDrops):
    def is_told(self, subject: str, body: Published) -> bool:
        return body.state != "preempted"


@fault("RAI-195", does="tells no drop of what was subscribed without an image")
class TellsDropsOfImages(SilentDrops):
    def is_told(self, subject: str, body: Published) -> bool:
        return subject not in self.wanted or self.wanted[subject].with_image


@fault("RAI-195", does="tells no drop of what a wildcard has brought")
class TellsNoWildDrops(SilentDrops):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        self.is_wild = subject in self.found
        super().take_drop(subject, wanted, body, now)

    def is_told(self, subject: str, body: Published) -> bool:
        return not self.is_wild


@fault("RAI-195", does="tells all drops as expired")
class TellsOneReason(Subscriber):
    def tell(self, *words: str) -> None:
        if words[0] == "drop":
            words = (*words[:2], "expired", *words[3:])
        super().tell(*words)


@fault("RAI-195", does="tells no new subject")
class TellsNoNewSubject(Subscriber):
    def tell(self, *words: str) -> None:
        super().tell(*(words[:3] if words[0] == "drop" else words))


@fault("RAI-195", does="tells the old subject as the new one")
class TellsTheOldSubject(Subscriber):
    def tell(self, *words: str) -> None:
        super().tell(*((*words[:3], words[1]) if words[0] == "drop" and len(words) > 3 else words))


class RestartsSubscriber(Subscriber):
    """A subscriber that starts what is dropped in its own way."""

    def is_restarted(self, subject: str, wanted: Wanted) -> bool:
        """Tell whether what is dropped for want of subscribers is started again."""
        return True

    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        self.is_silent = body.state == "nosubscribers" and not self.is_restarted(subject, wanted)
        super().take_drop(subject, wanted, body, now)
        self.is_silent = False

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if not getattr(self, "is_silent", False):
            super().say(subject, body, key)


@fault("RAI-013", does="starts nothing again that is dropped")
class RestartsNothing(RestartsSubscriber):
    def is_restarted(self, subject: str, wanted: Wanted) -> bool:
        return False


@fault("RAI-013", does="starts what is dropped once again")
class RestartsOnce(RestartsSubscriber):
    def is_restarted(self, subject: str, wanted: Wanted) -> bool:
        self.count: dict[str, int] = getattr(self, "count", {})
        self.count[subject] = self.count.get(subject, 0) + 1
        return self.count[subject] == 1


@fault("RAI-013", does="starts nothing again that it wants no image of")
class RestartsImages(RestartsSubscriber):
    def is_restarted(self, subject: str, wanted: Wanted) -> bool:
        return wanted.with_image


@fault("RAI-061", does="takes a drop for the end of a subscription")
class EndsAtDrops(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        self.wanted.pop(subject, None)


@fault("RAI-061", does="takes no update after a drop because a cache is full")
class EndsAtPreemption(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        if body.state == "preempted":
            self.wanted.pop(subject, None)
            self.cancel(subject)


@fault("RAI-061", does="waits for an image after a drop")
class WaitsForImages(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        self.dropped: set[str] = {*getattr(self, "dropped", ()), subject}

    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if body.kind != "update" or subject not in getattr(self, "dropped", ()):
            super().apply(subject, wanted, body, other, now)


@fault("RAI-199", does="starts what is dropped that it has ever wanted")
class RestartsWhatIsGone(Subscriber):
    def unsubscribe(self, subject: str) -> None:
        super().unsubscribe(subject)
        self.listen(subject)

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if subject not in self.wanted and body.kind == "drop":
            self.say(START + subject, SubStart())
        super().take_published(subject, body, other, now)


@fault("RAI-199", does="starts what an answer in its inbox says is dropped")
class RestartsByAnswers(Subscriber):
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        if isinstance(message.body, Reply) and message.body.kind == "drop" and message.body.subject:
            self.say(START + message.body.subject, SubStart())
        super().take(message, other, now)


@fault("RAI-199", does="listens to all that begins as a subject does, and starts what is dropped of it")
class RestartsWhatBeginsSo(Subscriber):
    def listen(self, subject: str) -> None:
        super().listen(subject)
        if subject in self.wanted:
            super().listen(f"{subject}.>")

    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if body.kind == "drop" and any(subject.startswith(f"{each}.") for each in self.wanted):
            self.say(START + subject, SubStart())
        super().take_published(subject, body, other, now)


class TellsOtherwise(Subscriber):
    """A subscriber that tells other words than it should; of none it tells nothing."""

    def tell(self, *words: str) -> None:
        if told := self.other(list(words)):
            super().tell(*told)

    def other(self, words: list[str]) -> list[str]:
        """Return what is told in the place of some words."""
        return words


@fault("RAI-196", does="tells no ack")
class TellsNoAck(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return [] if words[0] == "ack" else words


@fault("RAI-196", does="tells no ack of a stop")
class TellsNoStopAck(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return [] if words[0] == "ack" and words[-1] == "stop" else words


@fault("RAI-196", does="tells no ack behind an image")
class TellsNoLateAck(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        wanted = self.wanted.get(words[1])
        return [] if words[0] == "ack" and wanted is not None and wanted.record is not None else words


@fault("RAI-196", does="tells acks of the subject that was subscribed last")
class TellsTheLastAck(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return ["ack", list(self.wanted)[-1], words[2]] if words[0] == "ack" and self.wanted else words


@fault("RAI-196", does="tells no status without data")
class TellsNoBareStatus(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return [] if words[0] == "status" else words


@fault("RAI-196", does="tells every status as not_found")
class TellsNotFound(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return [*words[:2], "not_found"] if words[0] == "status" else words


@fault("RAI-196", does="tells no status of snapshots")
class TellsNoSnapshotStatus(Subscriber):
    def tell_image(self, what: str, subject: str, body: Told) -> None:
        if body.fields is not None:
            super().tell_image(what, subject, body)


@fault("RAI-196", does="passes over snapshots that are not ok")
class TellsGoodSnapshots(Subscriber):
    def tell_image(self, what: str, subject: str, body: Told) -> None:
        if body.fields is None or body.state == "ok":
            super().tell_image(what, subject, body)


@fault("RAI-196", does="tells the snapshots of a subject once")
class TellsOneSnapshot(Subscriber):
    def tell_image(self, what: str, subject: str, body: Told) -> None:
        self.shown: set[str] = getattr(self, "shown", set())
        if subject not in self.shown:
            self.shown.add(subject)
            super().tell_image(what, subject, body)


@fault("RAI-196", does="takes the answer to one snapshot request at a time")
class AsksOneByOne(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, SnapRequest):
            for returned in [each for each, (what, _) in self.asked.items() if what == "snapshot"]:
                if returned != str(body.return_):
                    del self.asked[returned]
        super().say(subject, body, key)


@fault("RAI-196", does="takes answers to snapshot requests in the order in which it has asked")
class ExpectsOrder(Subscriber):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        what, _ = self.asked.get(tail_of(message.subject), ("", ""))
        if what == "snapshot":
            first = next(each for each, (what, _) in self.asked.items() if what == "snapshot")
            self.tell_image("snapshot", self.asked.pop(first)[1], body)
        else:
            super().take_reply(message, body, other, now)


@fault("RAI-196", does="tells values of a snapshot as those of its subscription")
class TellsSnapshotsAsValues(TellsOtherwise):
    def other(self, words: list[str]) -> list[str]:
        return ["value", *words[1:]] if words[0] == "snapshot" else words


@fault("RAI-197", does="takes no answers any more when one has come that it has not asked for")
class OffendedByAnswers(Subscriber):
    is_offended = False

    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        self.is_offended = self.is_offended or tail_of(message.subject) not in self.asked
        if not self.is_offended:
            super().take_reply(message, body, other, now)


@fault("RAI-197", does="dies of an answer that it has not asked for")
class DiesOfAnswers(Subscriber):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        self.asked[tail_of(message.subject)]
        super().take_reply(message, body, other, now)


@fault("RAI-197", does="trusts nobody any more who sends a dictionary unasked")
class OffendedByDictionaries(Subscriber):
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        if tail_of(message.subject) == "9999" and not isinstance(message.body, Reply):
            other.is_trusted = False
        super().take(message, other, now)
