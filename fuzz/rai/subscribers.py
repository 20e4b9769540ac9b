"""Rai's second target: subscribers, to whom the tester's sessions are publishers."""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress

from fuzz.net.joined_conversation import JoinedConversation
from fuzz.net.targets import ServiceProbe
from fuzz.rai import publisher_speech
from fuzz.rai.messages import INBOX_OF_NODE
from fuzz.rai.saying import said_in
from fuzz.rai.sessions import FEW, RaiAtTheBroker, RaiSession
from fuzz.rai.subscriber_service import RaiSubscriberService, SubscribersGround, prove, subscribers_ground
from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import USERS
from harness.rai.tester.publisher import TestPublisher
from harness.rai.users import SUBSCRIBER
from harness.trace import Direction, Trace
from wire import envelope
from wire.rai.values import (
    GET_SUBS,
    DictRequest,
    GetSubs,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    inbox,
)

WANTED, WANTED_BY_WILDCARD = ("LAB.a", "LAB.b"), "LAB.a.>"
"""What the application wants in each test: of these most is said."""

VALUES: dict[str, dict[str, object]] = {"LAB.a": {"n": 0, "text": "a"}, "LAB.b": {"n": 1}, "LAB.ab": {}}

NOTHING = "NOTHING.>"
"""Of which subscriptions it is asked by who wants to know whether all is acted on: there are none."""

_ANSWER = re.compile(re.escape(INBOX_OF_NODE) + r"\d+")

ENDING = {"subscribe": "unsubscribe", "listen": "unsubscribe", "psubscribe": "punsubscribe"}


def spelt_as_answer(message: bytes) -> bytes:
    """Return a message that answers under the return of another play as one that does so under that of its own."""
    said = envelope.read(message)
    return envelope.data(_ANSWER.sub(rf"{INBOX_OF_NODE}$returned", said.subject), said.payload)


class RaiSubscriberInTest(RaiAtTheBroker):
    """A subscriber in one test."""

    def __init__(
        self,
        instance: Instance,
        trace: Trace,
        user: str = SUBSCRIBER,
        server: int = 0,
        ground: SubscribersGround | None = None,
    ) -> None:
        super().__init__(instance, trace, user, server)
        self.ground = ground or subscribers_ground(instance)
        self.wanted: dict[tuple[str, str], None] = {}
        """What the application wants for this test, with the verbs that end it."""
        self.returns = ["1", "1"]
        """Under what the subscriber has asked something, the last at the end."""
        self._read_to = 0

    @property
    def conversations(self) -> Iterator[JoinedConversation]:
        """What was said on its link."""
        return (JoinedConversation(each.link) for each in super().conversations)

    def begin(self) -> None:
        """Have the application want what most is said about."""
        with suppress(HarnessError):
            for subject in WANTED:
                self.command("subscribe", subject)
            self.command("psubscribe", WANTED_BY_WILDCARD)

    def command(self, verb: str, *arguments: str) -> str:
        if (ending := ENDING.get(verb)) is not None:
            self.wanted[ending, arguments[0]] = None
        else:
            self.wanted.pop((verb, arguments[0]), None)
        return super().command(verb, *arguments)

    def look(self) -> None:
        """Take note of how the subscriber greets, and of under what it asks."""
        self.ground.note(self.broker, self._read_to)
        for event in self.broker.conversation.events[self._read_to :]:
            body = event.body
            is_heard = event.direction is Direction.RECEIVED
            if isinstance(body, SubStart | SubStop | SnapRequest | DictRequest) and is_heard and body.return_:
                self.returns = [self.returns[-1], str(body.return_)]
        self._read_to = self.broker.place

    # --- whether all is acted on ----------------------------------------------------------------------------

    def asker(self) -> TestSession:
        asker = self.ground.asker
        if asker is None:
            raise NotAnswered("nobody is trusted who could ask")
        asker.broker = self.broker
        return asker

    def question(self, asker: TestSession, number: int) -> None:
        if self.ground.greeting is not None:
            asked = GetSubs(return_=number, last_seen=0, wildcard=NOTHING)
            asker.say(inbox(self.ground.greeting[0], GET_SUBS), asked)

    def dismiss(self, asker: TestSession) -> None:
        """Have it stay: it asks in the next test as well."""

    def tell_something(self) -> None:
        """Have the application see a value."""
        self.command("snapshot", WANTED[0])

    def close(self) -> None:
        """Have the application want nothing more of what it wanted for this test; say goodbye for all sessions."""
        for verb, subject in list(self.wanted):
            with suppress(HarnessError):
                self.instance.command(verb, subject)
        super().close()


class RaiAnsweringSession(RaiSession):
    """A publisher of a test with a Rai subscriber."""

    node: RaiSubscriberInTest

    def __init__(self, node: RaiSubscriberInTest, how: str) -> None:
        self._wishes = not node.sessions
        super().__init__(node, how)

    def made(self, user: str, nonce: str) -> TestSession:
        made = TestPublisher(self.node.broker, user, nonce=nonce)
        made.is_serving = self.how in ("", "serving", "another", "brief")
        made.values |= VALUES
        made.naming = {"dictionary": "fields"}
        made.dictionaries["fields"] = {"n": 1}
        return made

    def greet(self, interval: int) -> None:
        super().greet(interval)
        self.node.look()
        if self.talk.answers_auth:
            prove(self.talk, self.node.ground)
        if self._wishes:
            self.node.begin()

    def node_session(self) -> str:
        greeting = self.node.ground.greeting
        return super().node_session() if greeting is None else greeting[0]

    def words(self) -> dict[str, Callable[[], object]]:
        self.node.look()
        return {"returned": lambda: self.node.returns[-1], "before": lambda: self.node.returns[0]}

    def _answer(self, event: Event, own: str) -> Iterator[str]:
        body = event.body
        if event.subject.startswith(own) and isinstance(body, Subs):
            yield f"list of {min(len(body.subs), FEW)}"
        else:
            yield event.form.__name__

    def state(self) -> Hashable:
        return super().state(), min(len(self.node.wanted), FEW + 2)


class RaiSubscriberTarget:
    """A Rai subscriber, at a broker where publishers say what they like."""

    layout = "rai/envelope"
    ways = (
        *("serving", "idle", "idle", "untrusted", "silent", "stranger", "another", "unsigned", "brief", "returning"),
        "late",
    )
    message = staticmethod(publisher_speech.message)
    text = staticmethod(publisher_speech.text)
    frame = staticmethod(publisher_speech.frame)
    command = staticmethod(publisher_speech.command)

    def node(self, instance: Instance, trace: Trace) -> RaiSubscriberInTest:
        return RaiSubscriberInTest(instance, trace)

    def session(self, node: RaiSubscriberInTest, how: str) -> RaiAnsweringSession:
        return RaiAnsweringSession(node, how)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        said = said_in(frame, USERS.values())
        return () if said is None else (spelt_as_answer(said),)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return RaiSubscriberService(instance, trace)
