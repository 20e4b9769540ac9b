"""Unusual subscribers: their sessions, numbers, heartbeats and spelling."""

from msgspec.structs import replace

from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import oddity
from wire.rai import relaxed
from wire.rai.values import Body, Hello, Message, write


@oddity("RAI-074", does="numbers its messages from a great number on")
class CountsFromAMillion(Subscriber):
    def begin(self, now: float) -> None:
        super().begin(now)
        self._seqno += 10**6

    def next_seqno(self) -> int:
        return super().next_seqno() + 7 * 10**9


@oddity("RAI-074", does="leaves gaps between its numbers")
class LeavesGaps(Subscriber):
    def next_seqno(self) -> int:
        self._seqno += 16
        return super().next_seqno()


@oddity("RAI-074", does="numbers the messages under each subject by themselves, from 0")
class CountsBySubject(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        counts = self.__dict__.setdefault("counts", {})
        session, number = counts.get(subject, ("", -1))
        number = number + 1 if session == self.session else 0
        counts[subject] = self.session, number
        self._seqno = number - 1
        super().say(subject, body, key)


@oddity("RAI-100", "RAI-081", does="beats up to half an interval early or late")
class BeatsUnevenlyAsSubscriber(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + self.interval * (0.6 + 0.85 * self.random.random())


@oddity("RAI-097", "RAI-099", does="names an ucast_url in its greetings")
class NamesAnAddress(Subscriber):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Hello):
            body = replace(body, ucast_url="pgm://127.0.0.1:7500")
        super().say(subject, body, key)


class SpellsOtherwise(Subscriber):
    """A subscriber that writes its messages in a way of its own."""

    spelling = relaxed.Spelling.PRETTY

    def spell(self, message: Message) -> bytes:
        return relaxed.spell(relaxed.parse(write(message)), self.spelling)


@oddity("RAI-091", "RAI-071", does="writes a member on each line")
class WritesInLinesSubscriber(SpellsOtherwise):
    pass


@oddity("RAI-091", "RAI-071", does="writes words without quotes")
class WritesWordsSubscriber(SpellsOtherwise):
    spelling = relaxed.Spelling.RELAXED


@oddity("RAI-072", "RAI-071", does="writes the header behind the other members")
class WritesTheHeaderLastSubscriber(Subscriber):
    def spell(self, message: Message) -> bytes:
        members = relaxed.parse(write(message))
        assert isinstance(members, relaxed.Members)
        return relaxed.spell(relaxed.Members([*members[3:], *members[:3]]))


@oddity("RAI-089", "RAI-077", does="has NONCEs and cnonces of 32 hexadecimal digits")
class HasHexadecimalNonces(Subscriber):
    def new_nonce(self) -> str:
        return self.random.randbytes(16).hex()


@oddity("RAI-090", does="trusts a session until it says BYE, however silent it is")
class TrustsTheSilentSubscriber(Subscriber):
    def tick(self, now: float) -> None:
        look_at, self._look_at = self._look_at, None
        super().tick(now)
        self._look_at = look_at if look_at is None or look_at > now else now + 1000


@oddity("RAI-164", does="remembers two of its greetings")
class RemembersTwoGreetings(Subscriber):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        while len(self._said) > 2:
            del self._said[next(iter(self._said))]


@oddity("RAI-204", does="greets a second time, by a heartbeat, at once")
class GreetsTwice(Subscriber):
    def begin(self, now: float) -> None:
        super().begin(now)
        self._beat_at = now + 0.5


@oddity("RAI-087", does="answers each auth message, also of who is trusted, and starts all again")
class StartsWithEachProof(Subscriber):
    def trusted(self, other: KnownSession, now: float) -> None:
        super().trusted(other, now)
        self.start_all()
