"""The service of a Rai subscriber: it subscribes as its application wants, and hands over what it is told."""

import json
from typing import Any
from weakref import WeakKeyDictionary

from fuzz.net.targets import ServiceBroken, expecting_answers
from harness.errors import NotAnswered
from harness.iuts.instance import Instance
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.driver import TestSession
from harness.rai.tester.publisher import TestPublisher
from harness.rai.users import SUBSCRIBER
from harness.trace import Trace
from wire import envelope
from wire.rai.values import START, STOP, Hello, inbox

HELD, HELD_BY_WILDCARD, WILDCARD, FRESH, SHOWN = "KEPT.a", "KEPT.b.x", "KEPT.b.>", "KEPT.c", "KEPT.d"
"""What the application wants all the time, by name and by a wildcard, and what it wants for a moment.

Tests talk of other subjects: a publisher may say what it likes of one that it has.
"""

PERIOD = 3600
"""Seconds between heartbeats of who stays: a tester has other things to do as well."""

WHO_STAYS, WHO_COMES, WHO_ASKS = "tess", "toby", "dora"
"""Users of whom tests have sessions too."""

LOOKED_FOR = 0.002
"""Seconds between two looks at what the application was told: that comes another way than messages."""

LAST = 60
"""Of what it was told, that much is looked through."""


class SubscribersGround:
    """What tests and the service of a subscriber share: how it greets, and who asks whether it has acted on all."""

    def __init__(self) -> None:
        self.greeting: tuple[str, int, str] | None = None
        """The session that the subscriber has now, the time and cnonce of the last thing that it has said of that."""
        self.asker: TestSession | None = None

    def note(self, broker: TestBroker, since: int) -> int:
        """Take note of how the subscriber greets, in what has come to a link since a place; return where it stands."""
        for event in broker.received(since=since):
            if isinstance(event.body, Hello):
                self.greeting = event.message.session, event.body.time, event.body.cnonce
        return broker.place


_grounds: WeakKeyDictionary[Instance, SubscribersGround] = WeakKeyDictionary()


def subscribers_ground(instance: Instance) -> SubscribersGround:
    """Return what tests and service of an instance share."""
    if instance not in _grounds:
        _grounds[instance] = SubscribersGround()
    return _grounds[instance]


def prove(session: TestSession, ground: SubscribersGround) -> None:
    """Have a session prove itself to a subscriber, as publishers do who have met one."""
    if ground.greeting is not None:
        to, time, cnonce = ground.greeting
        session.prove(to, time, cnonce)


class RaiSubscriberService:
    """Subscriptions of the application and what it is told, by publishers that do nothing wrong."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance = instance
        self.trace = trace
        self.ground = subscribers_ground(instance)
        self.checks = 0
        self._broker: TestBroker | None = None
        self._noted = 0

    @property
    def broker(self) -> TestBroker:
        """The link of its publishers."""
        assert self._broker is not None
        return self._broker

    # --- who stays ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        instance, self._noted = self.instance, 0
        link = instance.link(self.trace, "a", self.trace.transport, 0)
        timing = instance.timing.of_a_play()
        self._broker = broker = TestBroker(link, self.trace, SUBSCRIBER, timing=timing, epoch=instance.epoch)
        # Not all that tests say and are told: who hears that would have to read it.
        for each in ("_SESSION.>", f"{START}KEPT.>", f"{STOP}KEPT.>", "_PSUB.>", "_SNAP.KEPT.>"):
            broker.send(envelope.listen(each))
        broker.send(envelope.cancel(">"))
        self.ground.greeting = None
        broker.read_until(self._is_greeted, broker.now() + timing.dialling)
        self.holder = self._met(WHO_STAYS)
        self.ground.asker = self._met(WHO_ASKS, serves=False)
        self.instance.command("subscribe", HELD)
        self.instance.command("psubscribe", WILDCARD)
        if not self._is_told("value", HELD, {"n": 0}):
            raise NotAnswered("the application is not told of what it has subscribed")

    def _is_greeted(self) -> bool:
        self._noted = self.ground.note(self.broker, self._noted)
        return self.ground.greeting is not None

    def _met(self, user: str, *, serves: bool = True) -> TestPublisher:
        """Return a publisher that the subscriber trusts; raises ``NotAnswered``."""
        broker = self.broker
        self._is_greeted()
        made = TestPublisher(broker, user)
        made.is_serving = serves
        made.values |= {HELD: {"n": 0}, FRESH: {"n": self.checks}, SHOWN: {"n": self.checks}}
        made.interval, made.beats = PERIOD, False
        broker.send(envelope.listen(inbox(made.session, ">")))
        made.hello(interval=PERIOD)
        prove(made, self.ground)
        broker.read_until(lambda: bool(made.trusted), broker.now() + broker.timing.patience)
        if not made.trusted:
            self._leave(made)
            raise NotAnswered(f"{SUBSCRIBER} does not prove who it is to {user}")
        return made

    def _leave(self, session: TestPublisher) -> None:
        session.bye()
        self.broker.sessions.remove(session)
        self.broker.send(envelope.cancel(inbox(session.session, ">")))

    # --- trying it ----------------------------------------------------------------------------------------

    def check(self) -> None:
        self.checks += 1
        with expecting_answers("it does not do any more what it is told"):
            self._check()

    def _check(self) -> None:
        broker, now = self.broker, {"n": self.checks}
        broker.read_until(lambda: False, broker.now())
        for subject in (FRESH, SHOWN):
            self.holder.values[subject] = now
        self.instance.command("subscribe", FRESH)
        self._expect("value", FRESH, now, "service", "what its application has subscribed is not handed over any more")
        self.holder.update(FRESH, n=-self.checks)
        self._expect("value", FRESH, {"n": -self.checks}, "service", "an update is not handed over any more")
        self.instance.command("unsubscribe", FRESH)
        self.instance.command("snapshot", SHOWN)
        self._expect("snapshot", SHOWN, now, "service", "a snapshot is not handed over any more")
        for subject in (HELD, HELD_BY_WILDCARD):
            self.holder.publish(subject, data=now)
        before = "what its application had subscribed before is not handed over any more"
        self._expect("value", HELD, now, "harm", before)
        self._expect("value", HELD_BY_WILDCARD, now, "harm", f"{before}, by a wildcard")
        try:
            self._leave(self._met(WHO_COMES, serves=False))
        except NotAnswered as error:
            raise ServiceBroken("service", "it trusts no publisher any more that it has not met before") from error

    def _expect(self, what: str, subject: str, fields: dict[str, Any], kind: str, otherwise: str) -> None:
        if not self._is_told(what, subject, fields):
            raise ServiceBroken(kind, otherwise)

    def _is_told(self, what: str, subject: str, fields: dict[str, Any]) -> bool:
        """Read until the application is told something of a subject in which some fields are, or patience ends."""
        broker = self.broker
        deadline = broker.now() + broker.timing.patience
        while not self._was_told(f"{what} {subject} ", fields):
            if broker.now() >= deadline:
                return False
            broker.read_until(lambda: False, min(deadline, broker.now() + LOOKED_FOR))
        return True

    def _was_told(self, begin: str, fields: dict[str, Any]) -> bool:
        for event in self.instance.events()[-LAST:]:
            if event.startswith(begin):
                try:
                    told = json.loads(event.removeprefix(begin).partition(" ")[2])
                except ValueError:
                    continue
                if fields.items() <= told.items():
                    return True
        return False

    def end(self) -> None:
        """End the link; the application keeps what it has subscribed, and is told of it by who comes next."""
        if self._broker is not None:
            for session in list(self._broker.sessions):
                if isinstance(session, TestSession):
                    session.bye()
            self._broker.close()
