"""Rai's third target: router-caches, where the tester is publisher at one broker and subscriber at the other."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from random import Random

from fuzz.net.joined_conversation import JoinedConversation
from fuzz.net.moves import EndVerb, Level
from fuzz.net.targets import ServiceProbe
from fuzz.rai import messages, publisher_speech
from fuzz.rai.messages import INBOX_OF_NODE
from fuzz.rai.router_service import TURN, RaiRouterService, routers_ground
from fuzz.rai.saying import said_in
from fuzz.rai.sessions import RaiAtTheBroker, RaiSession
from fuzz.rai.subscriber_service import SubscribersGround
from fuzz.rai.subscribers import RaiAnsweringSession, RaiSubscriberInTest, spelt_as_answer
from harness.iuts.instance import Instance
from harness.rai.peers.router_cache import SOURCE, SUBSCRIBERS
from harness.rai.users import ROUTER
from harness.trace import Trace
from wire import envelope
from wire.errors import WireError

TO_PUBLISHERS = ("_SUB.", "_PSUB.", "_SNAP.", f"{INBOX_OF_NODE}subs", f"{INBOX_OF_NODE}dict", f"{INBOX_OF_NODE}tess.")
"""How the subjects begin under which something is said to publishers; all else publishers say."""

TO_BOTH = ("_SESSION.", f"{INBOX_OF_NODE}auth")


class RouterAtItsSource(RaiSubscriberInTest):
    """The broker at which a router-cache subscribes, in one test."""

    def __init__(self, instance: Instance, trace: Trace, ground: SubscribersGround) -> None:
        super().__init__(instance, trace, ROUTER, SOURCE, ground)

    def begin(self) -> None:
        """Want nothing: what it wants is what others have subscribed at the other broker."""

    def tell_something(self) -> None:
        """Do nothing: no application is behind it that could ask for a value."""


class RouterAtItsSubscribers(RaiAtTheBroker):
    """The broker at which a router-cache publishes, in one test, beside its ``source``."""

    def __init__(self, instance: Instance, trace: Trace, source: RouterAtItsSource) -> None:
        super().__init__(instance, trace, ROUTER, SUBSCRIBERS)
        self.source = source

    def read_until(self, done: Callable[[], bool], deadline: float) -> None:
        """Read at both brokers: what it is asked for at the one, it may have to ask for at the other."""
        for each in (self, self.source):
            each.hold(False)
        here, there = self.broker, self.source.broker
        while not done() and not here.exchange.ended and here.now() < deadline:
            there.read_until(lambda: False, there.now())
            here.read_until(done, min(deadline, here.now() + TURN))

    def tell_something(self) -> None:
        """Do nothing: it passes on what others say."""


class RaiRouterInTest:
    """A router-cache in one test."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.source = RouterAtItsSource(instance, trace, routers_ground(instance))
        self.subscribers = RouterAtItsSubscribers(instance, trace, self.source)

    @property
    def conversations(self) -> Iterator[JoinedConversation]:
        """What was said on both links."""
        for each in (*self.source.conversations, *self.subscribers.conversations):
            yield JoinedConversation(each.link)

    def command(self, verb: str, *arguments: str) -> str:
        """Tell it to act."""
        return self.source.instance.command(verb, *arguments)

    def close(self) -> None:
        """Say goodbye for all sessions, and end both links."""
        self.subscribers.close()
        self.source.close()


class RaiRouterSession:
    """A publisher and a subscriber in one: each message is said where somebody takes it."""

    def __init__(self, node: RaiRouterInTest, how: str) -> None:
        self.how = how
        self.publisher = RaiAnsweringSession(node.source, how)
        self.subscriber = RaiSession(node.subscribers, how)

    @property
    def is_over(self) -> bool:
        return self.subscriber.is_over or self.publisher.is_over

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        for each in data:
            for session in self._of(each):
                session.say((each,), level, cut)

    def _of(self, data: bytes) -> Sequence[RaiSession]:
        with suppress(WireError):
            subject = envelope.read(data).subject
            if subject.startswith(TO_BOTH):
                return self.publisher, self.subscriber
            if subject.startswith(TO_PUBLISHERS):
                return (self.subscriber,)
        return (self.publisher,)

    def catch_up(self, seconds: float = 0.0) -> None:
        self.publisher.catch_up()
        self.subscriber.catch_up(seconds)

    def ask(self) -> None:
        self.publisher.ask()
        self.subscriber.ask()

    def listen(self, until: float) -> bool:
        # What was published first: what is passed on of it comes to the other broker then.
        is_published = self.publisher.listen(until)
        answered = self.subscriber.listen(until)
        self.publisher.catch_up()
        return answered and is_published

    def end(self, verb: EndVerb) -> None:
        self.publisher.end(verb)
        self.subscriber.end(verb)

    def answers(self) -> Sequence[str]:
        return [*(f"source {each}" for each in self.publisher.answers()), *self.subscriber.answers()]

    def state(self) -> Hashable:
        return self.publisher.state(), self.subscriber.state()


class RaiRouterTarget:
    """A Rai router-cache, between two brokers."""

    layout = "rai/envelope"
    ways = ("serving", "idle", "idle", "untrusted", "silent", "stranger", "another", "unsigned", "brief", "returning")

    def node(self, instance: Instance, trace: Trace) -> RaiRouterInTest:
        return RaiRouterInTest(instance, trace)

    def session(self, node: RaiRouterInTest, how: str) -> RaiRouterSession:
        return RaiRouterSession(node, how)

    def message(self, random: Random) -> bytes:
        return random.choice((messages.message, publisher_speech.message))(random)

    def text(self, random: Random) -> bytes:
        return random.choice((messages.text, publisher_speech.text))(random)

    def frame(self, random: Random) -> bytes:
        return random.choice((messages.frame, publisher_speech.frame))(random)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        said = said_in(frame, (ROUTER,))
        return () if said is None else (spelt_as_answer(said),)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return RaiRouterService(instance, trace)
