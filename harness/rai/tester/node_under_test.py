"""What a case works with: the node under test, the brokers that it is at, and the sessions of others there."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, TypeVar

from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.rai.peers.router_cache import SOURCE, SUBSCRIBERS
from harness.rai.tester.broker import TURN, TestBroker
from harness.rai.tester.conversation import Conversation
from harness.rai.tester.driver import INTERVAL, TestSession
from harness.rai.tester.publisher import TestPublisher
from harness.rai.users import PUBLISHER, ROUTER, SERVED, SUBSCRIBER, TESTERS
from harness.timing import ROUNDING
from harness.trace import Trace
from wire.rai.values import Hello

USERS = {"publisher": PUBLISHER, "subscriber": SUBSCRIBER, "router-cache": ROUTER}
"""The users of the nodes under test, by role."""

Found = TypeVar("Found")

SLACK = 0.1
"""Seconds of the clock by which what a node does in time may be seen early or late: machines stand still for moments.
"""


class NodeUnderTest:
    """The implementation in one play; ``readings`` collects what it was seen to follow.

    It is started anew for each play, when the tester hears all that is said at its brokers.
    """

    def __init__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "memory"
    ) -> None:
        self.instance = instance
        self.timing = instance.timing.of_a_play()
        self.trace = trace
        self.profile = profile
        self.transport = transport
        self.readings: list[tuple[str, str, str]] = []
        self.brokers: list[TestBroker] = []
        self._met: list[TestBroker] = []
        self._labels = Labels()
        self._users = iter(TESTERS)
        self._main: TestSession | None = None
        self._other: TestSession | None = None
        self._publisher: TestPublisher | None = None
        self._begin()

    def _begin(self) -> None:
        count = 2 if self.role == "router-cache" else 1

        def listen() -> None:
            self.brokers = [self._broker(server) for server in range(count)]

        # When nobody is at the brokers any more who was there before, and before the node says its first word.
        self.instance.begin("", count, self.transport, listen)
        for broker in self.brokers:
            broker.beside = [each for each in self.brokers if each is not broker]
        self._met += self.brokers

    def _broker(self, server: int) -> TestBroker:
        link = self.instance.link(self.trace, self._labels.next(), self.transport, server)
        return TestBroker(link, self.trace, self.user, timing=self.timing, epoch=self.instance.epoch)

    @property
    def role(self) -> str:
        """The role that the implementation plays."""
        return self.instance.role

    @property
    def user(self) -> str:
        """The user that the implementation is."""
        return USERS[self.role]

    @property
    def broker(self) -> TestBroker:
        """The broker at which the node publishes, or subscribes where it does nothing else."""
        return self.brokers[SUBSCRIBERS if self.role == "router-cache" else 0]

    @property
    def source(self) -> TestBroker:
        """The broker at which the node subscribes, or publishes where it does nothing else."""
        return self.brokers[SOURCE]

    # --- a publisher, or the publishing half of a router-cache ------------------------------------------------

    def session(self, user: str = "") -> TestSession:
        """Return a session of a user who was not in this play before, or of some user; it has said nothing yet."""
        return TestSession(self.broker, user or next(self._users))

    def subscriber(self, user: str = "") -> TestSession:
        """Return a session that the node trusts and that trusts the node; raises ``NotAnswered``."""
        self.greeted(self.broker)
        return self.session(user).met()

    @property
    def main(self) -> TestSession:
        """The session that asks."""
        if self._main is None:
            self._main = self.subscriber()
        return self._main

    @property
    def other(self) -> TestSession:
        """A second one."""
        if self._other is None:
            self._other = self.subscriber()
        return self._other

    def subject(self, name: str) -> str:
        """Return a subject that the node serves."""
        return SERVED + name

    def set(self, name: str, **fields: Any) -> str:
        """Have the source of a publisher say that fields have changed, and return the subject."""
        return self.tell("set", name, fields)

    def given(self, name: str, **fields: Any) -> str:
        """Have a subject with a value, at a publisher's source or at the one that a router-cache subscribes to."""
        if self.role == "publisher":
            return self.set(name, **fields)
        subject = self.subject(name)
        self.publisher.values.setdefault(subject, {}).update(fields)
        return subject

    def tell(self, verb: str, name: str, fields: dict[str, Any] | None = None) -> str:
        """Have a publisher's source do something to a subject, and return that."""
        subject = self.subject(name)
        self.command(verb, subject, *([] if fields is None else [text_of(fields)]))
        return subject

    def command(self, verb: str, *arguments: str) -> str:
        """Tell the node to act."""
        return self.instance.command(verb, *arguments)

    # --- a subscriber, or the subscribing half of a router-cache ------------------------------------------------

    @property
    def publisher(self) -> TestPublisher:
        """The publisher with which the node speaks: both trust each other; raises ``NotAnswered``."""
        if self._publisher is None:
            self._publisher = self.new_publisher()
        return self._publisher

    def source_session(self, user: str = "") -> TestSession:
        """Return a session where the node subscribes, which has said nothing yet and proves nothing by itself."""
        return TestSession(self.source, user or next(self._users))

    def new_publisher(
        self, user: str = "", *, serves: bool = True, values: dict[str, dict[str, Any]] | None = None
    ) -> TestPublisher:
        """Return another publisher that the node trusts and that trusts the node; raises ``NotAnswered``.

        One that does not serve answers nothing that it is asked; ``values`` it has from the beginning.
        """
        # First: a session that was there already would answer the greeting as well.
        greeting = self.greeted(self.source)
        made = TestPublisher(self.source, user or next(self._users))
        made.is_serving = serves
        made.values |= values or {}
        made.hello()
        made.prove(greeting[0], greeting[1].time, greeting[1].cnonce)
        if not self.trusts(made):
            raise NotAnswered(f"{self.user} does not prove who it is to a publisher that has done so")
        return made

    def trusts(self, session: TestSession) -> bool:
        """Read until the node has proven itself to a session of the tester's; tell whether it did."""
        place = 0
        while not session.trusted:
            proof = self.source.wait_for(lambda event: event in session.proofs(), since=place, thing="an auth message")
            if proof is None:
                return False
            place = self.source.conversation.events.index(proof) + 1
        return True

    def greeted(self, broker: TestBroker) -> tuple[str, Hello]:
        """Read until the node has said at a broker that it is there; return its session and what it said last."""
        greeting = broker.wait_for(lambda event: isinstance(event.body, Hello), thing="a HELLO or HB")
        if greeting is None:
            raise NotAnswered(f"{self.user} says neither HELLO nor HB")
        last = [event for event in broker.received() if isinstance(event.body, Hello)][-1]
        assert isinstance(last.body, Hello)
        return last.message.session, last.body

    def events(self, *words: str) -> list[str]:
        """Return what the node's application was told that begins with some words: what stands behind these."""
        begin = " ".join(words) + " "
        return [event[len(begin) :] for event in self.instance.events() if f"{event} ".startswith(begin)]

    def event(self, *words: str, seconds: float | None = None) -> str | None:
        """Read until the node's application is told something that begins with some words, and return what it was.

        ``None`` when it is not told within patience, or so many seconds of the clock.
        """
        found = self.until(lambda: self.events(*words), seconds=seconds)
        return found[0] if found else None

    def until(self, found: Callable[[], Found], *, seconds: float | None = None) -> Found:
        """Read until something is found among what the application was told, or patience ends, and return it."""
        patience = self.timing.patience if seconds is None else seconds
        # Its events come another way than what is said at the broker, so it is looked for again and again.
        deadline = self.source.now() + patience
        while not (caught := found()) and self.source.now() < deadline:
            turn = TURN if self.timing.is_virtual else TURN / 10
            self.source.read_until(lambda: False, min(deadline, self.source.now() + turn))
        return caught

    def values(self, subject: str) -> list[tuple[str, dict[str, Any]]]:
        """Return what the node's application was told of a subject: status and fields, in order."""
        told = [event.partition(" ") for event in self.events("value", subject)]
        return [(status, json.loads(fields)) for status, _, fields in told]

    # --- time -------------------------------------------------------------------------------------------------

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one of the clock."""
        return self.instance.tempo

    @property
    def slack(self) -> float:
        """Seconds of the protocol by which what is done in time may be seen early or late."""
        return (ROUNDING if self.timing.is_virtual else SLACK * self.tempo) + 2 * self.timing.round_trip * self.tempo

    def elapsed(self, since: float, until: float | None = None) -> float:
        """Return the seconds of the protocol between two times of the trace, or until now."""
        return ((self.trace.now() if until is None else until) - since) * self.tempo

    # --- what plays need ----------------------------------------------------------------------------------

    def shows(self, rule: str, reading: str, option: str) -> None:
        """Note which option of a reading the node was seen to follow; the profile decides what that means."""
        self.readings.append((rule, reading, option))

    @contextmanager
    def scene(self) -> Iterator["NodeUnderTest"]:
        """Play a scene of its own within this play: the node is started anew, and everybody is new to it."""
        # Who stays would hear what the tester says in the scene as if it came from somebody else.
        for broker in self.brokers:
            with suppress(HarnessError):
                broker.close()
        scene = copy(self)
        scene._users, scene._main, scene._other, scene._publisher = iter(TESTERS), None, None, None
        # `readings` and `_met` stay shared: what is noted counts for the play, and monitors read all of it.
        scene._begin()
        try:
            yield scene
        finally:
            # The node of before is no more.
            self.brokers, self._users = scene.brokers, scene._users
            self._main, self._other, self._publisher = scene._main, scene._other, scene._publisher

    def outage(self, server: int = 0) -> TestBroker:
        """Have a broker go away and come back, and return the new link to it, at which there is nobody else yet."""
        self.instance.refuse(server)
        self.instance.admit(server)
        self.brokers[server] = broker = self._broker(server)
        for each in self.brokers:
            each.beside = [other for other in self.brokers if other is not each]
        self._met.append(broker)
        self._users, self._main, self._other, self._publisher = iter(TESTERS), None, None, None
        return broker

    @property
    def conversations(self) -> Iterator[Conversation]:
        """The conversations of all links, as far as they were read."""
        return (broker.conversation for broker in self._met)

    @property
    def evidence(self) -> int:
        """How much the node said: messages that came, and what its application was told."""
        return sum(len(broker.received()) for broker in self._met) + len(self.instance.events())

    def probe(self) -> None:
        """Make sure that the node is still there: it proves who it is, or says that it is there."""
        broker = self.broker
        if self.role == "subscriber":
            since = broker.place
            patience = self.timing.within(2.5 * INTERVAL)
            if broker.wait_for(lambda event: isinstance(event.body, Hello), since=since, seconds=patience) is None:
                raise NotAnswered("no heartbeat comes any more")
        else:
            # What is said before it listens is not heard.
            self.greeted(broker)
            self.session("toby").met()

    def measure(self) -> None:
        """Measure nothing beside how long answers take."""

    def close(self) -> None:
        """End all links."""
        for broker in self._met:
            with suppress(HarnessError):
                broker.close()


def text_of(fields: dict[str, Any]) -> str:
    """Return fields as a control line has them."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
