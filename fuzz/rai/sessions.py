"""Sessions of tests at a broker, with a node that publishes: what they say, and what they are answered."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from fuzz.net.joined_conversation import JoinedConversation
from fuzz.net.moves import EndVerb, Level
from fuzz.rai.saying import LONGEST_SUBJECT, filled, signed_part, with_header
from fuzz.rai.service import HELD
from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.links.tcp import TcpLink
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.conversation import Conversation
from harness.rai.tester.driver import TestSession, new_nonce
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import text_of
from harness.rai.users import PROFILE, PUBLISHER, STRANGER
from harness.trace import Direction, Trace
from wire import envelope
from wire.envelope import Envelope
from wire.errors import WireError
from wire.rai.values import (
    AUTH,
    HELLO,
    START,
    STOP,
    Auth,
    Bye,
    Hello,
    Published,
    Subs,
    SubStart,
    SubStop,
    Told,
    WildStart,
    WildStop,
    inbox,
    owner_of,
)

T = TypeVar("T")

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""

USER, ANOTHER_USER = "tess", "tara"
"""Of whom the sessions of a test are; who asks whether all is acted on is another one."""
WHO_ASKS = "dora"

TALKATIVE = 12
"""Subjects: whoever has talked of more does not go without a word."""

BRIEF = 1
"""Seconds between heartbeats of a session that is soon over: it says none."""

GLANCE = 0.01
"""Seconds in which a publisher begins the exchange of trust that this session does not go on with."""

LAST_NUMBER = (1 << 63) - 4
"""A seqno after which few are left."""


class RaiAtTheBroker:
    """A test at the broker: its link, on which all of its sessions speak, and who asks whether all is acted on."""

    def __init__(self, instance: Instance, trace: Trace, user: str = PUBLISHER, server: int = 0) -> None:
        self.instance = instance
        self.trace = trace
        self.user, self.server = user, server
        self.sessions: list[RaiSession] = []
        self._broker: TestBroker | None = None
        self._asker: TestSession | None = None
        self._place = -1
        self._count = 0
        self._answered_at = 0
        self._is_held = False
        self.is_silent = False
        """Whether a session was not answered when it was opened: others are not waited for as long."""

    @property
    def broker(self) -> TestBroker:
        """The link, made when it is used first; ``HarnessError`` where there is no broker."""
        if self._broker is None:
            timing = self.instance.timing.of_a_play()
            label = "ab"[self.server]
            link = self.instance.link(self.trace, label, self.trace.transport, self.server)
            self._broker = TestBroker(link, self.trace, self.user, timing=timing, epoch=self.instance.epoch)
        return self._broker

    @property
    def conversations(self) -> Iterator[Conversation | JoinedConversation]:
        """What was said on it."""
        if self._broker is not None:
            yield self._broker.conversation

    def hold(self, is_held: bool) -> None:
        """Have what is said wait until it is waited for: it takes a tenth of the time to say it all at once."""
        if self._is_held != is_held and isinstance(self.broker.link, TcpLink):
            self._is_held = is_held
            self.broker.link.hold(is_held)

    def read_until(self, done: Callable[[], bool], deadline: float) -> None:
        """Read until something holds or it is the deadline."""
        self.hold(False)
        self.broker.read_until(done, deadline)

    def command(self, verb: str, *arguments: str) -> str:
        """Tell the publisher to act."""
        return self.instance.command(verb, *arguments)

    def publish(self, subject: str, payload: bytes) -> Event | None:
        """Publish something, if this broker can carry it and does not end the link for it."""
        if len(subject.encode()) > LONGEST_SUBJECT:
            return None
        self.hold(True)
        with suppress(ValueError):
            return self.broker.publish(subject, payload)
        return None

    # --- whether all is acted on ----------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask for a value, as one who has done nothing wrong, unless nothing was said since it was asked last."""
        place = len(self.broker.conversation.events) + len(self.broker.conversation.refusals)
        if place == self._place:
            return
        if self._asker is None:
            self._asker = self.asker()
        self._count += 1
        if self._asker.trusted:
            self.question(self._asker, self._count)
        self._place = len(self.broker.conversation.events) + len(self.broker.conversation.refusals)

    def asker(self) -> TestSession:
        """Return who asks whether all is acted on."""
        session = TestSession(self.broker, WHO_ASKS)
        session.hello()
        return session

    def question(self, asker: TestSession, number: int) -> None:
        """Ask something that is answered under a number."""
        asker.snapshot_request(HELD, number)

    def dismiss(self, asker: TestSession) -> None:
        """Have whoever has asked leave."""
        asker.bye()

    def is_answered(self, until: float) -> bool:
        """Read until that is answered; ``False`` when it was not by then."""
        broker, asker = self.broker, self._asker
        if asker is None or self._answered_at == self._count:
            return True
        if not asker.trusted:
            self.read_until(lambda: bool(asker.trusted), until)
            if not asker.trusted:
                return False
            self.question(asker, self._count)
        subject, place = inbox(asker.session, self._count), broker.place
        caught = False

        def done() -> bool:
            nonlocal place, caught
            while place < broker.place and not caught:
                caught = broker.conversation.events[place].subject == subject
                place += 1
            return caught

        self.read_until(done, until)
        if caught:
            self._answered_at = self._count
            # Who has subscribed is to be told something meanwhile; behind an answer, as who hangs would be awaited.
            if self._count % 2:
                self.tell_something()
        self._place = len(broker.conversation.events) + len(broker.conversation.refusals)
        return caught

    def tell_something(self) -> None:
        """Have the node tell something to those who have subscribed."""
        with suppress(HarnessError):
            self.command("set", HELD, text_of({"n": -1}))

    def close(self) -> None:
        """Say goodbye for all sessions, so that the publisher need not wait for their end; end the link."""
        if self._broker is None:
            return
        self.hold(True)
        for each in self.sessions:
            with suppress(HarnessError):
                each.clear()
        with suppress(HarnessError):
            if self._asker is not None:
                self.dismiss(self._asker)
            self.hold(False)
        self._broker.close()


class RaiSession:
    """A session of a test with a Rai publisher."""

    def __init__(self, node: RaiAtTheBroker, how: str) -> None:
        self.node = node
        self.how = how
        before: list[TestSession] = [each.talk for each in node.sessions]
        user = {"stranger": STRANGER, "another": ANOTHER_USER}.get(how, USER)
        nonce = before[-1].session.rpartition(".")[2] if how == "returning" and before else ""
        self.talk: TestSession = self.made(before[-1].user if nonce else user, nonce)
        if nonce:
            self.talk.seqno = before[-1].seqno
        self.is_over = False
        self._has_said_bye = False
        self._is_kept = False
        """Whether it has said for how long it is to be kept, or anything in it."""
        self._under: set[str] = set()
        """What it has said something under."""
        self._place = node.broker.place
        self._refusals = len(node.broker.conversation.refusals)
        self._subjects: set[str] = set()
        self._wildcards: set[tuple[str, str]] = set()
        self._ended = self._told = 0
        self._asked_time = self._seen = 0
        node.sessions.append(self)
        self._begin()

    def made(self, user: str, nonce: str) -> TestSession:
        """Return who speaks."""
        return TestSession(self.node.broker, user, nonce=nonce)

    def _begin(self) -> None:
        """Greet, and become trusted, as far as this session does either."""
        talk, broker = self.talk, self.node.broker
        if self.how == "silent":
            return
        if self.how in ("untrusted", "unproven"):
            talk.answers_auth = False
        if self.how == "brief":
            talk.beats = False
        if self.how == "late":
            talk.seqno = LAST_NUMBER
        self.greet(BRIEF if self.how == "brief" else talk.interval)
        is_usual = self.how not in ("untrusted", "stranger", "returning", "late")
        # As long as for any answer: on a busy machine too, a session is trusted that was so when something was found.
        is_awaited = is_usual and not self.node.is_silent
        seconds = broker.timing.patience if is_awaited else broker.timing.stretched(GLANCE)
        self.node.read_until(lambda: bool(talk.trusted), broker.now() + seconds)
        if is_usual and not talk.trusted:
            self.node.is_silent = True
            raise NotAnswered(f"{broker.node} does not prove who it is to {talk.user}")

    def greet(self, interval: int) -> None:
        """Say HELLO."""
        body = self.talk.greeting(interval=interval)
        self._seen = body.time
        self.talk.beats_at = None
        if self.talk.beats:
            self.talk.beats_at = self.node.broker.now() + interval / self.node.broker.timing.tempo
        self.talk.say(HELLO, body)

    # --- saying things ------------------------------------------------------------------------------------

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        # Who is not there any more is looked at by the service: here it is no matter.
        with suppress(HarnessError):
            for each in data:
                try:
                    said = envelope.read(self._filled(each))
                except (WireError, ValueError):
                    continue  # nobody can publish it
                if said.operation == envelope.DATA:
                    self._publish(said, is_message=level == "message")

    def _filled(self, data: bytes) -> bytes:
        """Return an envelope with what is made anew each time in the place of the words for it."""
        if b"$" not in data:
            return data
        said = envelope.read(data)
        talk, broker = self.talk, self.node.broker
        values: dict[str, Callable[[], object]] = {
            "me": lambda: talk.session,
            "node": self.node_session,
            "now": broker.utc,
            "asked": lambda: self._asked_time,
            "seen": lambda: self._seen,
            "cnonce": new_nonce,
        } | self.words()
        subject = filled(said.subject.encode(), values).decode()
        return envelope.write(said.operation, subject, filled(said.payload, values))

    def words(self) -> dict[str, Callable[[], object]]:
        """Return what else is made anew each time, beside what all sessions have."""
        return {}

    def node_session(self) -> str:
        """Return the session of the node, or one that there is not."""
        try:
            return self.node.broker.node_session
        except NotAnswered:
            return f"{self.node.broker.node}.{new_nonce()}"

    def _publish(self, said: Envelope, *, is_message: bool) -> None:
        payload = said.payload
        if is_message and payload.startswith(b"{"):
            self.talk.seqno += 1
            seqno, signed = self.talk.seqno, signed_part(payload)
            digest = PROFILE.digest(self._key(said.subject), seqno, said.subject, signed)
            payload = with_header(payload, self.talk.session, seqno, "" if self.how == "unsigned" else digest)
        event = self.node.publish(said.subject, payload)
        if event is not None and event.message.session == self.talk.session:
            self._note(event)

    def _key(self, subject: str) -> bytes:
        """Return what is signed with: an auth message answers the last of the node's."""
        if owner_of(subject) and subject.endswith(f".{AUTH}"):
            proofs = self.talk.proofs()
            if proofs and isinstance(body := proofs[-1].body, Auth):
                return self.talk.auth_key(self.talk.session, body.time, body.cnonce)
        return self.talk.key

    def _note(self, event: Event) -> None:
        """Take note of what was said, as far as it changes what is between the two sides."""
        subject = event.subject
        self._under.add(subject)
        self._is_kept |= isinstance(event.body, Hello) or getattr(event.body, "expires", None) is not None
        match event.body:
            case Hello() as body:
                self.talk.said[body.time] = body.cnonce
                self._seen = body.time
            case SubStart():
                self._subjects.add(subject.removeprefix(START))
            case SubStop():
                self._end(self._subjects, subject.removeprefix(STOP))
            case Subs() as body:
                self._subjects.update(body.subs)
            case WildStart() as body:
                self._wildcards.add((body.subject, body.pattern))
            case WildStop() as body:
                self._end(self._wildcards, (body.subject, body.pattern))
            case Bye():
                self._has_said_bye = True
                self._subjects.clear()
                self._wildcards.clear()

    def _end(self, among: set[T], what: T) -> None:
        """Take note of the end of something that was subscribed to."""
        if what in among:
            among.discard(what)
            self._ended += 1

    # --- hearing things -------------------------------------------------------------------------------------

    def catch_up(self, seconds: float = 0.0) -> None:
        broker = self.node.broker
        if seconds:
            self.node.hold(False)
        broker.read_until(lambda: False, broker.now() + seconds)
        self._end_with_the_link()

    def ask(self) -> None:
        with suppress(HarnessError):
            self.node.ask()

    def listen(self, until: float) -> bool:
        answered = True
        with suppress(HarnessError):
            answered = self.node.is_answered(until)
        self._end_with_the_link()
        return answered or self.is_over

    def _end_with_the_link(self) -> None:
        if self.node.broker.exchange.ended:
            self.is_over = True

    def end(self, verb: EndVerb) -> None:
        with suppress(HarnessError):
            if verb == "close":
                self._bye()
        self.talk.stop_beating()
        self.talk.answers_auth = False
        self.is_over = True

    def _bye(self) -> None:
        self._has_said_bye = True
        self.talk.bye()

    def clear(self) -> None:
        """Say goodbye, where that was not done; what is over soon anyway goes without a word.

        But for what is to be kept for a thousand years, and for who has talked of much: of who goes so the last number
        under each subject is remembered for long, and that would be taken for growth.
        """
        self.talk.stop_beating()
        is_soon_over = self.how == "brief" and not self._is_kept and len(self._under) <= TALKATIVE
        if not self._has_said_bye and not is_soon_over and self.how != "stranger":
            self._bye()

    def answers(self) -> Sequence[str]:
        broker, said = self.node.broker, list[str]()
        events = broker.conversation.events
        own = inbox(self.talk.session, "")
        for event in events[self._place :]:
            if event.direction is Direction.RECEIVED and broker.is_nodes(event):
                said += self._answer(event, own)
        self._place = len(events)
        refusals = broker.conversation.refusals
        if any(each.direction is Direction.RECEIVED for each in refusals[self._refusals :]):
            said.append("refused")
        self._refusals = len(refusals)
        return said

    def _answer(self, event: Event, own: str) -> Iterator[str]:
        body = event.body
        if event.subject.startswith(own):
            if isinstance(body, Auth):
                self._asked_time = body.time
            self._told += 1
            yield f"{body.kind}/{body.state}" if isinstance(body, Told) else event.form.__name__
        elif isinstance(body, Published):
            yield f"all {body.kind}/{body.state}"
        elif event.subject == HELLO:
            yield "HELLO"

    def state(self) -> Hashable:
        return (
            bool(self.talk.trusted),
            self._has_said_bye,
            min(len(self._subjects), FEW),
            min(len(self._wildcards), FEW),
            min(self._ended, FEW),
            min(self._told, FEW),
            self.how,
        )
