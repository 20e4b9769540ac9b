"""Faults of a subscriber: what it answers who asks for its subscriptions."""

from msgspec.structs import replace

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from wire.rai.values import Body, GetSubs, Message, Subs, WildStart


class Answers(Subscriber):
    """A subscriber that sends other lists of its subscriptions."""

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Subs):
            body = self.other(body)
        super().say(subject, body, key)

    def other(self, body: Subs) -> Subs:
        """Return what is sent in its place."""
        return body


def first(body: Subs, count: int) -> Subs:
    """Return a list with so many subjects at most."""
    return replace(body, subs=body.subs[:count], subs_return=body.subs_return[:count])


@fault("RAI-126", does="answers no question for subscriptions")
class AnswersNothing(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        """Say nothing."""


@fault("RAI-126", does="answers one question of each publisher")
class AnswersOnce(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        self.answered: set[str] = getattr(self, "answered", set())
        if other.session not in self.answered:
            self.answered.add(other.session)
            super().reassert(body, other)


@fault("RAI-126", does="answers the publisher that it has met first alone")
class AnswersTheFirst(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        if other.session == next(iter(self.others)):
            super().reassert(body, other)


@fault("RAI-126", does="sends a hundred subjects at most")
class SendsAHundred(Answers):
    def other(self, body: Subs) -> Subs:
        return first(body, 100)


@fault("RAI-126", does="sends nothing that it wants no image of")
class SendsImagesAlone(Answers):
    def other(self, body: Subs) -> Subs:
        subs = [subject for subject in body.subs if self.wanted[subject].with_image]
        return replace(body, subs=subs, subs_return=list(body.subs_return)[: len(subs)])


@fault("RAI-126", does="sends what was subscribed once, also after its end")
class SendsWhatIsGone(Answers):
    def unsubscribe(self, subject: str) -> None:
        super().unsubscribe(subject)
        self.gone: list[str] = [*getattr(self, "gone", []), subject]

    def other(self, body: Subs) -> Subs:
        gone = getattr(self, "gone", [])
        more = [self.returned("start", each) for each in gone]
        return replace(body, subs=[*body.subs, *gone], subs_return=[*body.subs_return, *more])


@fault("RAI-126", does="sends what was subscribed before last_seen, and not what was since")
class SendsTheOld(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        oldest = next(iter(self._said), 0)
        return last_seen < oldest or since < last_seen


@fault("RAI-126", does="sends what was subscribed after its own last heartbeat")
class SendsTheNewest(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        oldest = next(iter(self._said), 0)
        return last_seen < oldest or since >= max(last_seen, *self._said)


@fault("RAI-126", does="sends no wildcards")
class SendsNoWildcards(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        wild, self.wild = self.wild, {}
        super().reassert(body, other)
        self.wild = wild


@fault("RAI-126", does="sends one wildcard")
class SendsOneWildcard(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        wild, self.wild = self.wild, dict(list(self.wild.items())[:1])
        super().reassert(body, other)
        self.wild = wild


@fault("RAI-128", does="takes a last_seen of 0 for a time")
class TakesZeroForNow(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        return last_seen != 0 and super().is_since(since, last_seen)


@fault("RAI-128", does="sends nothing that was subscribed forty seconds ago, whatever is asked")
class ForgetsTheOld(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        return since >= max(self._said) - 40_000_000 and super().is_since(since, last_seen)


@fault("RAI-128", does="sends nothing where last_seen is older than what it remembers")
class AnswersNoOldTimes(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        oldest = next(iter(self._said), 0)
        return last_seen == 0 or (last_seen >= oldest and since >= last_seen)


@fault("RAI-128", does="sends what it remembers where last_seen is older")
class SendsItsWindow(Subscriber):
    def is_since(self, since: int, last_seen: int) -> bool:
        newest = list(self._said)[-2:][0]
        return last_seen == 0 or since >= max(last_seen, newest)


@fault("RAI-128", does="sends two hundred and fifty subjects at most")
class SendsSoMany(Answers):
    def other(self, body: Subs) -> Subs:
        return first(body, 250)


@fault("RAI-130", does="looks at no wildcard of a question")
class SendsAll(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        self.asked_for = body.wildcard
        super().reassert(replace(body, wildcard=">"), other)

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        super().say(subject, replace(body, wildcard=self.asked_for) if isinstance(body, Subs) else body, key)


@fault("RAI-130", does="compares the beginning of subjects with the wildcard of a question")
class ComparesBeginnings(SendsAll):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Subs):
            prefix = self.asked_for.partition("*")[0].removesuffix(">")
            subs = [each for each in body.subs if each.startswith(prefix)]
            body = replace(body, subs=subs, subs_return=list(body.subs_return)[: len(subs)])
        super().say(subject, body, key)


@fault("RAI-130", does="takes a star for any number of segments")
class TakesWideStars(SendsAll):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Subs):
            head, star, tail = self.asked_for.partition("*")
            tail = tail.removesuffix(">")
            subs = [each for each in body.subs if each.startswith(head.removesuffix(">")) and each.endswith(tail)]
            body = replace(body, subs=subs if star else body.subs)
            body = replace(body, subs_return=list(body.subs_return)[: len(body.subs)])
        super().say(subject, body, key)


@fault("RAI-131", does="answers to subs in the inbox, whatever the return")
class AnswersElsewhere(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        super().reassert(replace(body, return_="subs"), other)


@fault("RAI-131", does="answers to the last segment of a return")
class AnswersToTheEnd(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        super().reassert(replace(body, return_=str(body.return_).rpartition(".")[2]), other)


@fault("RAI-131", does="has no last_seen of the question in its answer")
class RepeatsNoTime(Answers):
    def other(self, body: Subs) -> Subs:
        return replace(body, last_seen=max(self._said))


@fault("RAI-131", does="has no wildcard of the question in its answer")
class RepeatsNoWildcard(Answers):
    def other(self, body: Subs) -> Subs:
        return replace(body, wildcard=">")


@fault("RAI-131", does="has a return less than subjects")
class OneReturnLess(Answers):
    def other(self, body: Subs) -> Subs:
        return replace(body, subs_return=body.subs_return[:-1])


@fault("RAI-131", does="has one return for all subjects")
class OneReturnForAll(Answers):
    def other(self, body: Subs) -> Subs:
        return replace(body, subs_return=[body.subs_return[0]] * len(body.subs) if body.subs else [])


@fault("RAI-131", does="has the returns in another order than the subjects")
class TurnsReturns(Answers):
    def other(self, body: Subs) -> Subs:
        return replace(body, subs_return=body.subs_return[::-1])


@fault("RAI-200", does="answers questions of any session of a known user")
class AnswersTheUntrusted(Subscriber):
    def hear(self, message: Message, now: float) -> None:
        if isinstance(message.body, GetSubs):
            other = self.meet(message.session, now)
            if self.is_genuine(message, other.key) and self.is_new(message, other):
                self.reassert(message.body, other)
            return
        super().hear(message, now)


@fault("RAI-200", does="answers questions of who has said HELLO")
class AnswersWhoGreets(Subscriber):
    def is_trusted(self, other: KnownSession) -> bool:
        return super().is_trusted(other) or other.time > 0


@fault("RAI-200", does="answers questions after a BYE")
class AnswersTheGone(Subscriber):
    def hear(self, message: Message, now: float) -> None:
        if isinstance(message.body, GetSubs) and message.session in self.others:
            self.others[message.session].has_ended = False
            self.others[message.session].is_trusted = True
        super().hear(message, now)


@fault("RAI-126", does="sends a wildcard's start once")
class StartsWildcardsOnce(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        self.said_wild: set[str] = getattr(self, "said_wild", set())
        if isinstance(body, WildStart):
            if body.subject in self.said_wild:
                return
            self.said_wild.add(body.subject)
        super().say(subject, body, key)
