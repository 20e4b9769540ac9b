"""What all peers are: nodes with a session on a broker, which sign what they say, and act on what they trust.

::

    a session is met (HELLO, HB) ──auth──► it answers (auth) ──► both trust each other ──► what it says counts

A node has one session at a time, for as long as its link to the broker holds. What another session says is looked at
in this order, and dropped without a word where something is wrong: user, digest, trust, seqno.
"""

import base64
import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping

from harness.errors import ControlFailed, NotYet
from harness.peers.peer import PeerSettings
from harness.rai.peers.broker_dialler import BrokerDialler
from harness.rai.peers.known import FOREVER, INTERVAL, KnownSession
from harness.rai.users import DATABASE, PROFILE
from wire import envelope
from wire.errors import DecodeError
from wire.rai.digests import Profile
from wire.rai.values import (
    AUTH,
    BYE,
    HB,
    HELLO,
    Auth,
    Body,
    Bye,
    Heartbeat,
    Hello,
    Message,
    Published,
    inbox,
    nonce_of,
    of,
    read,
    user_of,
    write,
)

MICROSECONDS = 1_000_000

RETURN = 24 * 60 * 60
"""Seconds of silence after which no session returns: until then it is known by its numbers, should it do so."""

MISSED = 1.5
"""Intervals without a heartbeat after which one has been missed."""

GONE = 3
"""Intervals without a heartbeat after which a session is over, as far as anybody can know."""

OLD = 2
"""Intervals by which the time in a HELLO or HB may be away from the node's own clock."""

KEPT = 5
"""Heartbeats whose time and cnonce are remembered: an auth message answers one of the last."""


class NodePeer(BrokerDialler):
    """A node: ``user`` says who it is; ``epoch`` are the seconds from 1970 to the zero of its clock."""

    user: str
    listens: tuple[str, ...] = ("_SESSION.>",)
    """What it listens to, beside its inbox, before it says anything."""
    interval = INTERVAL
    asking: frozenset[str] = frozenset()
    """The verbs by which something is asked once: they wait for the broker."""

    def __init__(
        self,
        *,
        profile: str = "document",
        scenario: str = "",
        servers: int = 1,
        epoch: float = 0.0,
        seed: int | None = None,
        database: Mapping[str, bytes] = DATABASE,
        signing: Profile = PROFILE,
    ) -> None:
        super().__init__()
        self.profile = profile
        self.database = database
        self.signing = signing
        self.epoch = epoch
        self.random: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
        self.session = ""
        self.others: dict[str, KnownSession] = {}
        self.former: dict[str, KnownSession] = {}
        """Sessions that are over, or seem to be: what is recorded of them is known by its numbers."""
        self._key = b""
        self._seqno = 0
        self._said: dict[int, str] = {}
        self._beat_at: float | None = None

    @classmethod
    def of(cls, settings: PeerSettings) -> "NodePeer":
        return cls(profile=settings.profile, scenario=settings.scenario, epoch=settings.epoch, seed=settings.seed)

    def disconnected(self, link: int, now: float) -> None:
        super().disconnected(link, now)
        self._beat_at = None
        for other in list(self.others.values()):
            self.put_away(other)
        self.lost(now)

    def lost(self, now: float) -> None:
        """Take note that the broker is gone, and with it all that was said since."""

    # --- the session --------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Begin a session: listen to all that may be said to it, then say that it is there."""
        self.session = f"{self.user}.{self.new_nonce()}"
        self._key = self.signing.session_key(self.database[self.user], nonce_of(self.session))
        self._seqno = 0
        self._said.clear()
        self.listen_to_all()
        self.greet(HELLO, now)

    def listen_to_all(self) -> None:
        """Listen to the inbox, and to what nodes of this role are told."""
        for each in (inbox(self.session, ">"), *self.listens):
            self.listen(each)

    def greet(self, subject: str, now: float) -> None:
        """Say that the session has begun, or lives on."""
        body = (Hello if subject == HELLO else Heartbeat)(
            time=self.utc(now), interval=self.interval, cnonce=self.new_nonce()
        )
        self._said[body.time] = body.cnonce
        while len(self._said) > KEPT:
            del self._said[next(iter(self._said))]
        self.say(subject, body)
        self._beat_at = now + self.interval
        self.clear_former(now)

    def end(self, now: float) -> None:
        """End the session in good order."""
        self.say(BYE, Bye())
        self._has_ended = True
        self._beat_at = self._dial_at = None

    def new_nonce(self) -> str:
        """Return 16 random bytes as a text."""
        return base64.urlsafe_b64encode(self.random.randbytes(16)).rstrip(b"=").decode()

    def utc(self, now: float) -> int:
        """Return the time as messages have it, in microseconds since 1970."""
        return round((self.epoch + now) * MICROSECONDS)

    # --- speaking -----------------------------------------------------------------------------------------

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        """Publish a message, signed with the session's key or with that of an auth message."""
        if self.link is None or self._has_ended:
            return
        message = self.sign(of(subject, self.session, self.next_seqno(), body), self._key if key is None else key)
        self._out.append((self.link, envelope.data(subject, self.spell(message))))

    def next_seqno(self) -> int:
        """Return the next number: one series for all subjects rises under each of them."""
        self._seqno += 1
        return self._seqno

    def sign(self, message: Message, key: bytes) -> Message:
        """Return a message with its digest."""
        digest = self.signing.digest(key, message.seqno, message.subject, message.signed)
        return message.signed_with(digest)

    def spell(self, message: Message) -> bytes:
        """Return the bytes of a message."""
        return write(message)

    # --- hearing ------------------------------------------------------------------------------------------

    def received(self, link: int, frame: bytes, now: float) -> None:
        if self._has_ended:
            return
        try:
            said = envelope.read(frame)
            message = read(said.subject, said.payload)
        except DecodeError:
            return  # no message of this protocol
        if message.session != self.session and user_of(message.session) in self.database:
            self.hear(message, now)

    def hear(self, message: Message, now: float) -> None:
        """Act on a message of a user that there is."""
        match message.body:
            # First: nearly all that is said is one.
            case Published():
                self.hear_message(message, now)
            case Hello():
                self.hear_greeting(message, message.body, now)
            case Auth() if message.subject == inbox(self.session, AUTH):
                self.hear_auth(message, message.body, now)
            case Bye():
                other = self.others.get(message.session)
                if other is not None and self.is_genuine(message, other.key) and self.is_new(message, other):
                    other.has_ended = True
                    self.forget(other, now)
            case _:
                self.hear_message(message, now)

    def hear_message(self, message: Message, now: float) -> None:
        """Act on a message that is about no session, if it counts."""
        other = self.admitted(message)
        if other is not None:
            self.take(message, other, now)

    def admitted(self, message: Message) -> KnownSession | None:
        """Return who says a message, if it counts."""
        other = self.others.get(message.session)
        if (
            other is None
            or not self.is_genuine(message, other.key)
            or not self.is_trusted(other)
            or not self.is_new(message, other)
        ):
            return None
        return other

    def is_genuine(self, message: Message, key: bytes) -> bool:
        """Tell whether a message has the digest that it has to have."""
        return self.signing.verifies(key, message.seqno, message.subject, message.signed, message.digest)

    def is_trusted(self, other: KnownSession) -> bool:
        """Tell whether the other session has proven that it is no replay."""
        return other.is_trusted

    def is_new(self, message: Message, other: KnownSession) -> bool:
        """Tell whether a seqno is greater than the last under its subject, and remember it."""
        if message.seqno <= other.seqnos.get(message.subject, -1):
            return False
        other.seqnos[message.subject] = message.seqno
        return True

    @abstractmethod
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        """Act on a message that counts."""

    # --- trust --------------------------------------------------------------------------------------------

    def meet(self, session: str, now: float) -> KnownSession:
        """Return what is known of a session: of one that was not met before, its key."""
        found = self.others.get(session) or self.former.get(session)
        if found is None:
            key = self.signing.session_key(self.database[user_of(session)], nonce_of(session))
            found = KnownSession(session, key, now)
        return found

    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        """Act on a HELLO or HB: it is no replay if its time is now, and its seqno is new."""
        other = self.meet(message.session, now)
        if (
            other.has_ended
            or not self.is_genuine(message, other.key)
            or not self.is_timely(body, now)
            or not self.is_new(message, other)
        ):
            return
        self.others[other.session] = other
        other.heard, other.interval = now, min(body.interval, FOREVER)
        other.time = max(other.time, body.time)
        other.greeting = body.time, body.cnonce
        self.greeted(other, now)

    def is_timely(self, body: Hello, now: float) -> bool:
        """Tell whether the time in a HELLO or HB is now, as far as clocks agree."""
        return abs(body.time - self.utc(now)) <= OLD * self.interval * MICROSECONDS

    def greeted(self, other: KnownSession, now: float) -> None:
        """Act on a session's sign of life."""

    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        """Prove to another session who this is, by what its message came with, so that it may do the same."""
        body = Auth(auth_time=time, time=self.utc(now), cnonce=self.new_nonce())
        other.asked = body.time, body.cnonce
        self.say(inbox(other.session, AUTH), body, key=self.auth_key(self.session, time, cnonce))

    def auth_key(self, session: str, time: int, cnonce: str) -> bytes:
        """Return what an auth message of a session is signed with, when it answers what came with these."""
        return self.signing.auth_key(self.database[user_of(session)], nonce_of(session), time, cnonce)

    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        """Act on an auth message: it answers one of ours, or a HELLO or HB of ours."""
        other = self.meet(message.session, now)
        if other.has_ended:
            return
        if other.asked is not None and body.auth_time == other.asked[0]:
            if self.is_proof(message, other.asked) and self.is_new(message, other):
                other.asked = None
                self.trust(other, now)
            return
        cnonce = self._said.get(body.auth_time)
        if cnonce is not None and self.is_proof(message, (body.auth_time, cnonce)) and self.is_new(message, other):
            other.time = max(other.time, body.time)
            self.prove(other, body.time, body.cnonce, now)
            # What it was asked by that it need not answer: it has proven itself already.
            other.asked = None
            self.trust(other, now)

    def is_proof(self, message: Message, answered: tuple[int, str]) -> bool:
        """Tell whether an auth message is signed with what it answers."""
        return self.is_genuine(message, self.auth_key(message.session, *answered))

    def trust(self, other: KnownSession, now: float) -> None:
        """Take a session for one that lives."""
        self.others[other.session] = other
        other.heard = now
        other.is_trusted = True
        self.trusted(other, now)

    def trusted(self, other: KnownSession, now: float) -> None:
        """Act on a session that is trusted now."""

    def forget(self, other: KnownSession, now: float) -> None:
        """Take note that another session is over."""
        self.put_away(other)
        self.left(other, now)

    def put_away(self, other: KnownSession) -> None:
        """Trust another session no longer; should it come back, it has to prove itself again."""
        self.others.pop(other.session, None)
        other.is_trusted, other.asked = False, None
        self.former[other.session] = other

    def clear_former(self, now: float) -> None:
        """Forget former sessions of which nothing that was recorded can count any more."""
        # A greeting is old by then, and what an auth message answers is none of the last.
        ended = now - (KEPT + 1) * self.interval
        for each in [each for each in self.former.values() if each.heard < (ended if each.has_ended else now - RETURN)]:
            del self.former[each.session]

    def left(self, other: KnownSession, now: float) -> None:
        """Act on the end of a session."""

    # --- time ---------------------------------------------------------------------------------------------

    def next_tick(self) -> float | None:
        return min(self.timers(), default=None)

    def timers(self) -> Iterator[float]:
        """Return when something is due."""
        if self._beat_at is not None:
            yield self._beat_at
        if self._dial_at:
            yield self._dial_at

    def tick(self, now: float) -> None:
        if self._beat_at is not None and now >= self._beat_at:
            self.greet(HB, now)

    # --- control ------------------------------------------------------------------------------------------

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb not in self.verbs:
            return super().command(verb, arguments, now)
        # Once it has begun, its application goes on without the broker; but nobody hears a question.
        if self.link is None and not self._has_ended and (not self.session or verb in self.asking):
            raise NotYet("the broker is not reached")
        try:
            answer: str | None = getattr(self, f"do_{verb}")(now, *arguments)
        except TypeError as error:
            raise ControlFailed(f"{verb}: {error}") from error
        return answer or ""

    def do_end(self, now: float) -> None:
        """Say BYE and be silent from then on."""
        self.end(now)
