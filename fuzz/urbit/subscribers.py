"""Urbit's second target: subscribers, to whom the tester is the publisher."""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Any

from fuzz.net.joined_conversation import JoinedConversation
from fuzz.net.moves import EndVerb, Level
from fuzz.net.targets import ServiceProbe
from fuzz.urbit import answers
from fuzz.urbit.answers import WANTED, PublishersSessions
from fuzz.urbit.messages import ROOT
from fuzz.urbit.shared_link import LinkView, SharedSubscribers, subscribers_ground
from fuzz.urbit.subscriber_service import SubscriberService
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.trace import Trace
from harness.urbit.framings import LAYOUT
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.publisher import TestPublisher
from wire.errors import DecodeError
from wire.urbit.values import Cancellation, HeartbeatRequest, Promise, ScryRequest, read

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""


class UrbitSubscriberNode:
    """A subscriber in one test, and the publisher that it speaks with."""

    def __init__(self, instance: Instance, trace: Trace, ground: SharedSubscribers) -> None:
        self.instance, self.trace, self.ground = instance, trace, ground
        self._labels = Labels()
        assert ground.link is not None
        timing = instance.timing.of_a_play()
        view = LinkView(ground.link, self._labels.next(), trace)
        self.publisher = TestPublisher(view, trace, PUBLISHER, SUBSCRIBER, timing=timing)
        self.publisher.session = ground.session
        self.known = PublishersSessions(ground.session)
        self.wanted: set[str] = set()
        self.asked = 0
        self._strangers: list[Driver] = []

    @property
    def conversations(self) -> Sequence[JoinedConversation]:
        """Those of all links."""
        return [JoinedConversation(each.link.label) for each in (self.publisher, *self._strangers)]

    def begin(self) -> None:
        """Have the application want what most is said about."""
        for name in WANTED:
            with suppress(HarnessError):
                self.command("want", f"{ROOT.decode()}/{name}")

    def stranger(self) -> Driver:
        """Return another address, from which the publisher speaks."""
        link = self.instance.strange_link(self.trace, self._labels.next(), self._link())
        made = Driver(link, self.trace, PUBLISHER, SUBSCRIBER, timing=self.publisher.timing)
        self._strangers.append(made)
        return made

    def _link(self) -> Any:
        return self.ground.link

    def command(self, verb: str, *arguments: str) -> None:
        """Have the application want something, or cease to."""
        said = [each.replace(ROOT.decode(), self.ground.root.decode(), 1) for each in arguments]
        if verb == "want":
            # Before it is known whether that is answered: it may be done all the same.
            self.wanted.add(said[0])
        self.instance.command(verb, *said)

    def close(self) -> None:
        """Have the application want nothing more of what it wanted for this test."""
        for path in sorted(self.wanted):
            with suppress(HarnessError):
                self.instance.command("drop", path)
        for each in self._strangers:
            each.exchange.close()


class UrbitAnsweringSession:
    """The publisher in a test with a subscriber, as one of those who speak for it."""

    def __init__(self, node: UrbitSubscriberNode, how: str) -> None:
        self.node, self.how = node, how
        self.driver = node.stranger() if how == "stranger" else node.publisher
        if how == "silent":
            node.publisher.be_silent()
        self.is_over = False
        self._place = node.publisher.place
        self._asked = b""
        self._answered = True
        if not node.wanted:
            node.begin()

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        node = self.node
        for each in data:
            said = answers.spelt(each, node.ground.root, node.known, node.ground.held) if level == "message" else each
            if cut and level == "message":
                # A datagram is not said in pieces: so one is said without its last bytes.
                said = said[:-cut]
            # What no datagram can hold is not said.
            with suppress(HarnessError):
                self.driver.send_bytes(said)
            self._note(said)

    def _note(self, said: bytes) -> None:
        """Have the publisher be in the session that it has promised something in."""
        with suppress(DecodeError):
            body = read(said).body
            if isinstance(body, Promise):
                self.node.known.begun(body.session)
                self.node.publisher.session = body.session

    def catch_up(self, seconds: float = 0.0) -> None:
        exchange = self.node.publisher.exchange
        exchange.read_until(lambda: False, exchange.now() + seconds)
        if exchange.ended:
            self.is_over = True

    def ask(self) -> None:
        node = self.node
        if not self._answered or self.is_over:
            return
        node.asked += 1
        # Whatever comes that nobody wants is cancelled.
        self._asked = node.ground.root + b"/asked/%d" % node.asked
        self._answered = False
        with suppress(HarnessError):
            node.publisher.send(node.publisher.response_of(self._asked, b"?"))

    def listen(self, until: float) -> bool:
        if self.is_over or self._answered:
            return True
        publisher = self.node.publisher
        answer = publisher.wait_for(
            lambda event: isinstance(body := event.packet.body, Cancellation) and body.path == self._asked,
            since=self._place,
            seconds=max(0.0, until - publisher.now()),
        )
        self._answered = answer is not None
        self.catch_up()
        return self._answered or self.is_over

    def end(self, verb: EndVerb) -> None:
        self.is_over = True

    def answers(self) -> Sequence[str]:
        said, node = list[str](), self.node
        for event in node.publisher.received(since=self._place):
            match event.packet.body:
                case HeartbeatRequest(session=session, number=number):
                    said.append("first heartbeat" if number == 1 else "heartbeat")
                    node.known.begun(session)
                    node.known.number = max(node.known.number, number)
                case Cancellation(path=path) if path.startswith(node.ground.root + b"/asked/"):
                    pass
                case ScryRequest(path=path) | Cancellation(path=path):
                    wanted = " of what is wanted" if path.decode("latin-1") in node.wanted else ""
                    said.append(event.form.__name__ + wanted)
                case _:
                    said.append(event.form.__name__)
        self._place = node.publisher.place
        return said

    def state(self) -> Hashable:
        node = self.node
        return len(node.wanted) > FEW, node.known.number > 0, min(node.known.number.bit_length(), FEW), self.how


class UrbitSubscriberTarget:
    """An Urbit subscriber, whose publisher says whatever it likes."""

    layout = LAYOUT
    ways = ("publisher", "silent", "silent", "stranger")
    message = staticmethod(answers.message)
    text = staticmethod(answers.text)
    frame = staticmethod(answers.frame)
    command = staticmethod(answers.command)

    def node(self, instance: Instance, trace: Trace) -> UrbitSubscriberNode:
        return UrbitSubscriberNode(instance, trace, subscribers_ground(instance))

    def session(self, node: UrbitSubscriberNode, how: str) -> UrbitAnsweringSession:
        return UrbitAnsweringSession(node, how)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        return answers.unspelt(frame)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return SubscriberService(instance, trace, subscribers_ground(instance))
