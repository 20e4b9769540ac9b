"""The service of a broker: what one session of Rai publishes reaches those who listen, and nobody is disconnected."""

from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from fuzz.net.targets import ServiceBroken, expecting_answers
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.driver import TestSession
from harness.trace import Trace
from wire import envelope
from wire.rai.values import Published, fields_of

HELD, WILD, WILDCARD, FRESH = "KEPT.a", "KEPT.b.x", "KEPT.b.>", "KEPT.c"
"""What those who stay listen to, by its name and by a wildcard, and what one does who comes.

Tests publish on other subjects, so that no flood of theirs has to be read by those who stay; brokers end the connection
of who does not read, and say so.
"""

WHO_SPEAKS, WHO_LISTENS, WHO_COMES = "tess", "toby", "dora"

addresses: WeakKeyDictionary[Instance, str] = WeakKeyDictionary()
"""Where each broker listens that is on trial; a service, which is there before all tests, has met it there."""


class BrokerService:
    """Messages of Rai, published and delivered, between connections that do nothing wrong."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance = instance
        self.trace = trace
        self.checks = 0
        self._labels = Labels()
        self._there: list[TestBroker] = []

    def begin(self) -> None:
        self.speaker = TestSession(self._connected(), WHO_SPEAKS)
        self.listener = self._connected()
        for each in (HELD, WILDCARD):
            self.listener.send(envelope.listen(each))

    def _connected(self, node: str = WHO_SPEAKS) -> TestBroker:
        """Return a connection of its own that listens to nothing yet; ``node`` is who is heard there."""
        link = self.instance.link(self.trace, self._labels.next(), self.trace.transport, 0)
        addresses[self.instance] = link.peername.partition("/")[2]
        timing = self.instance.timing.of_a_play()
        broker = TestBroker(link, self.trace, node, timing=timing, epoch=self.instance.epoch)
        self._there.append(broker)
        broker.send(envelope.cancel(">"))
        return broker

    def check(self) -> None:
        self.checks += 1
        for each in (self.speaker.broker, self.listener):
            each.read_until(lambda: False, each.now())
            if each.exchange.ended:
                how = "the connection of somebody who did nothing wrong was ended"
                raise ServiceBroken("harm", f"{how} ({each.exchange.ended})")
        with expecting_answers("nobody can connect any more"):
            fresh = self._connected()
        try:
            with expecting_answers("who has connected is not served any more"):
                self._try(fresh)
        finally:
            self._there.remove(fresh)
            with suppress(HarnessError):
                fresh.close()

    def _try(self, fresh: TestBroker) -> None:
        """Have everybody publish, and look who is told."""
        listener, fields = self.listener, {"n": self.checks}
        places = listener.place, fresh.place
        fresh.send(envelope.listen(FRESH))
        for each in (HELD, WILD, FRESH):
            self.speaker.publish(each, data=fields)
        stayed = "who listens, and did nothing wrong, is not told any more what is published"
        self._await(listener, lambda: self._is_told(listener, HELD, places[0]), "harm", stayed)
        self._await(listener, lambda: self._is_told(listener, WILD, places[0]), "harm", f"{stayed} under a wildcard")
        told = "what is published does not reach who has just begun to listen"
        self._await(fresh, lambda: self._is_told(fresh, FRESH, places[1]), "service", told)
        place = listener.place
        newcomer = TestSession(fresh, WHO_COMES)
        listener.node = WHO_COMES
        try:
            newcomer.publish(HELD, data=fields)
            told = "what somebody publishes who has just connected reaches nobody"
            self._await(listener, lambda: self._is_told(listener, HELD, place), "service", told)
        finally:
            listener.node = WHO_SPEAKS

    def _await(self, broker: TestBroker, has_come: Callable[[], bool], kind: str, otherwise: str) -> None:
        broker.read_until(has_come, broker.now() + broker.timing.patience)
        if not has_come():
            raise ServiceBroken(kind, otherwise)

    def _is_told(self, broker: TestBroker, subject: str, since: int) -> bool:
        return any(
            event.subject == subject
            and isinstance(event.body, Published)
            and bytes((fields_of(event.body.data) or {}).get("n", b"")) == str(self.checks).encode()
            for event in broker.received(since=since)
        )

    def end(self) -> None:
        for each in self._there:
            with suppress(HarnessError):
                each.close()
