"""The service of a Rai router-cache: what is published at one broker reaches who has subscribed at the other."""

from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from fuzz.net.targets import ServiceBroken, expecting_answers
from fuzz.rai.subscriber_service import PERIOD, SubscribersGround, prove
from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.rai.peers.router_cache import SOURCE, SUBSCRIBERS
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.driver import TestSession
from harness.rai.tester.publisher import TestPublisher
from harness.rai.users import ROUTER
from harness.trace import Trace
from wire import envelope
from wire.rai.values import SNAP, START, STOP, Published, Reply, fields_of, inbox

HELD, FRESH, SHOWN = "LAB.kept.a", "LAB.kept.b", "LAB.a"
"""What is subscribed all the time, what for a moment, and what tests ask for to know whether all is acted on.

Of the first two tests do not talk: a publisher may say what it likes of a subject that it has.
"""

TURN = 0.002
"""Seconds to read at one broker before it is looked at the other."""

WHO_PUBLISHES, WHO_STAYS, WHO_COMES, WHO_ASKS = "tess", "toby", "tara", "dora"


_grounds: WeakKeyDictionary[Instance, SubscribersGround] = WeakKeyDictionary()


def routers_ground(instance: Instance) -> SubscribersGround:
    """Return what tests and service of an instance share: how its subscribing half greets."""
    if instance not in _grounds:
        _grounds[instance] = SubscribersGround()
    return _grounds[instance]


class RaiRouterService:
    """A publisher at one broker, subscribers at the other, none of whom does anything wrong."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance = instance
        self.trace = trace
        self.ground = routers_ground(instance)
        self.checks = 0
        self._noted = 0
        self._brokers: list[TestBroker] = []

    @property
    def source(self) -> TestBroker:
        """The broker at which it subscribes."""
        return self._brokers[SOURCE]

    @property
    def broker(self) -> TestBroker:
        """The broker at which it publishes."""
        return self._brokers[SUBSCRIBERS]

    # --- who stays ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        self._brokers = [self._met_broker(server) for server in (SOURCE, SUBSCRIBERS)]
        # Not all that tests say and are told: who hears that would have to read it.
        for each in ("_SESSION.>", *(f"{prefix}LAB.kept.>" for prefix in (START, STOP, SNAP)), f"{SNAP}{SHOWN}"):
            self.source.send(envelope.listen(each))
        for each in (HELD, FRESH):
            self.broker.send(envelope.listen(each))
        for broker in self._brokers:
            broker.send(envelope.cancel(">"))
        self.ground.greeting = None
        if not self._comes(self._is_greeted, self.source.timing.dialling):
            raise NotAnswered(f"{ROUTER} says neither HELLO nor HB where it subscribes")
        self.publisher = self._publisher(WHO_PUBLISHES)
        self.ground.asker = self._publisher(WHO_ASKS, serves=False)
        self.holder = self._subscriber(WHO_STAYS, self.source.timing.dialling)
        since = self.broker.place
        self.holder.start(HELD, return_="held", ack=True, initial=True)
        if not self._comes(lambda: self._has(self.holder, "held", since, 0)):
            raise NotAnswered("a subscription has no image")

    def _met_broker(self, server: int) -> TestBroker:
        link = self.instance.link(self.trace, "ab"[server], self.trace.transport, server)
        timing = self.instance.timing.of_a_play()
        return TestBroker(link, self.trace, ROUTER, timing=timing, epoch=self.instance.epoch)

    def _is_greeted(self) -> bool:
        self._noted = self.ground.note(self.source, self._noted)
        return self.ground.greeting is not None

    def _comes(self, has_come: Callable[[], bool], seconds: float | None = None) -> bool:
        """Read at both brokers until something holds, or patience is over."""
        deadline = self.broker.now() + (self.broker.timing.patience if seconds is None else seconds)
        while not has_come():
            if self.broker.now() >= deadline:
                return False
            self.source.read_until(lambda: False, self.source.now())
            self.broker.read_until(has_come, min(deadline, self.broker.now() + TURN))
        return True

    def _publisher(self, user: str, *, serves: bool = True) -> TestPublisher:
        made = TestPublisher(self.source, user)
        made.is_serving = serves
        made.values |= {each: {"n": 0} for each in (HELD, FRESH, SHOWN)}
        made.interval, made.beats = PERIOD, False
        self.source.send(envelope.listen(inbox(made.session, ">")))
        made.hello(interval=PERIOD)
        prove(made, self.ground)
        if not self._comes(lambda: bool(made.trusted)):
            raise NotAnswered(f"{ROUTER} does not prove who it is to a publisher")
        return made

    def _subscriber(self, user: str, seconds: float) -> TestSession:
        """Return a session that its publishing half trusts; raises ``NotAnswered``."""
        deadline, awaited = self.broker.now() + seconds, 0.05
        while self.broker.now() < deadline and self.instance.alive():
            # Each time another: who greets twice before it is answered is asked twice to prove itself.
            session = TestSession(self.broker, user)
            session.interval, session.beats = PERIOD, False
            self.broker.send(envelope.listen(inbox(session.session, ">")))
            session.hello(interval=PERIOD)
            if self._comes(lambda: bool(session.trusted), awaited):  # noqa: B023
                return session
            self._leave(session)
            awaited *= 2
        raise NotAnswered(f"{ROUTER} does not prove who it is to {user}")

    def _leave(self, session: TestSession) -> None:
        with suppress(HarnessError):
            session.bye()
            self.broker.sessions.remove(session)
            self.broker.send(envelope.cancel(inbox(session.session, ">")))

    # --- trying it ----------------------------------------------------------------------------------------

    def check(self) -> None:
        self.checks += 1
        with expecting_answers("nobody's greeting is answered any more"):
            self._check()

    def _check(self) -> None:
        since, number = self.broker.place, self.checks
        self._is_greeted()
        self.publisher.values[FRESH] = {"n": number}
        fresh = self._subscriber(WHO_COMES, self.broker.timing.patience)
        try:
            fresh.start(FRESH, return_="started", initial=True, ack=True)
            what = "who subscribes is not shown what the publisher has"
            self._expect(lambda: self._has(fresh, "started", since, number), "service", what)
            self.publisher.update(FRESH, n=-number)
            self._expect(
                lambda: self._is_told(FRESH, since, -number), "service", "who has subscribed is not told what changes"
            )
            self.publisher.update(HELD, n=number)
            self._expect(
                lambda: self._is_told(HELD, since, number),
                "harm",
                "who had subscribed before is not told any more what changes",
            )
            fresh.snapshot_request(HELD, "snapshot")
            what = "the cache has not what was published"
            self._expect(lambda: self._has(fresh, "snapshot", since, number), "service", what)
        finally:
            self._leave(fresh)

    def _expect(self, has_come: Callable[[], bool], kind: str, otherwise: str) -> None:
        if not self._comes(has_come):
            raise ServiceBroken(kind, otherwise)

    def _has(self, session: TestSession, returned: str, since: int, number: int) -> bool:
        """Tell whether a session was answered a value under a return."""
        subject = inbox(session.session, returned)
        return any(
            event.subject == subject and isinstance(event.body, Reply) and _number_in(event.body) == number
            for event in self.broker.received(since=since)
        )

    def _is_told(self, subject: str, since: int, number: int) -> bool:
        return any(
            event.subject == subject and isinstance(event.body, Published) and _number_in(event.body) == number
            for event in self.broker.received(since=since)
        )

    def end(self) -> None:
        for broker in self._brokers:
            with suppress(HarnessError):
                for session in list(broker.sessions):
                    if isinstance(session, TestSession):
                        session.bye()
            broker.close()


def _number_in(body: Published | Reply) -> int | None:
    value = bytes((fields_of(body.data) or {}).get("n", b""))
    return int(value) if value.lstrip(b"-").isdigit() else None
