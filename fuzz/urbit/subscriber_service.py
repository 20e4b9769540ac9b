"""The service of an Urbit subscriber: it asks for what its application wants, and hands over what it is told."""

from fuzz.net.targets import ServiceBroken, expecting_answers
from fuzz.urbit.shared_link import ForgetfulTrace, LinkView, SharedSubscribers
from harness.errors import NotAnswered
from harness.iuts.instance import Instance
from harness.links.link import wait
from harness.trace import Trace
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from harness.urbit.tester.publisher import TestPublisher
from harness.urbit.tester.subscriber import BEAT

LOOKED_FOR = 0.002
"""Seconds between two looks at what the application was told: that comes another way than packets."""

LAST = 20
"""Of what it was told, that much is looked through: nothing else is told while the service is tried."""

BEATS = 40
"""Checks after which a heartbeat is waited for: it may take half a minute of the protocol to come."""


class SubscriberService:
    """Wants of the application and what becomes of them; one is there all the time, and is told before the next check.

    The tester is the publisher, as it is in tests, and there is only one: who does nothing wrong here is the
    application, which wants something and gets it.
    """

    def __init__(self, instance: Instance, trace: Trace, ground: SharedSubscribers) -> None:
        self.instance = instance
        self.trace = trace
        self.ground = ground
        self.checks = 0

    def begin(self) -> None:
        ground = self.ground
        ground.root = b"/%07x" % (int(self.instance.clock.now() * 16) % 16**7)
        first = ground.root + b"/first"
        self.instance.command("want", first.decode())
        # It shows where it is when it says something.
        forgetful = ForgetfulTrace(self.trace.protocol, self.trace.transport, self.instance.clock)
        ground.link = self.instance.link(forgetful, "a", self.trace.transport)
        timing = self.instance.timing.of_a_play()
        view = LinkView(ground.link, "a", self.trace)
        self.publisher = TestPublisher(view, self.trace, PUBLISHER, SUBSCRIBER, timing=timing)
        self.publisher.session = ground.new_session()
        if not self._is_requested(first, 0) or not self._is_delivered(first, "first"):
            raise NotAnswered("what the application wants is not asked for, or it is not told what comes")
        self._hold()

    def _hold(self) -> None:
        """Have the application want something that it gets with the next check."""
        self.ground.held = self.ground.root + b"/held/%d" % self.checks
        since = self.publisher.place
        self.instance.command("want", self.ground.held.decode())
        if not self._is_requested(self.ground.held, since):
            raise NotAnswered("what the application wants is not asked for")

    def check(self) -> None:
        self.checks += 1
        with expecting_answers("it does not do any more what it is told"):
            self._check()

    def _check(self) -> None:
        publisher = self.publisher
        publisher.exchange.read_until(lambda: False, publisher.now())
        publisher.session = self.ground.new_session()
        fresh, since = self.ground.root + b"/fresh/%d" % self.checks, publisher.place
        self.instance.command("want", fresh.decode())
        if not self._is_requested(fresh, since):
            raise ServiceBroken("hang", "what its application wants is not asked for any more")
        if not self._is_delivered(fresh, f"fresh {self.checks}"):
            raise ServiceBroken("service", "its application is not told any more what comes")
        if not self._is_delivered(self.ground.held, f"held {self.checks}"):
            raise ServiceBroken("harm", "what its application had wanted before is not handed over any more")
        self._hold()
        if self.checks % BEATS == 0:
            awaited = publisher.timing.within(2 * BEAT)
            if publisher.beat_of(publisher.session, seconds=awaited) is None:
                raise ServiceBroken("service", "no heartbeats come any more in a session in which something is awaited")

    def _is_requested(self, path: bytes, since: int) -> bool:
        """Tell whether a path is asked for, and promise it."""
        return self.publisher.requested(path.decode(), since=since) is not None

    def _is_delivered(self, path: bytes, value: str) -> bool:
        """Tell a value; tell whether the subscriber says that it has come, and its application is handed it."""
        publisher = self.publisher
        response = publisher.response_of(path, value.encode())
        if publisher.notify(response) is None:
            return False
        awaited = f"got {path.decode()} {value}"
        deadline = publisher.now() + publisher.timing.patience
        while awaited not in self.instance.events()[-LAST:]:
            if publisher.now() >= deadline:
                return False
            wait(None, 0, LOOKED_FOR)
        return True

    def end(self) -> None:
        """End the link of all; whoever comes next makes another, as the subscriber still says where it is."""
        link, self.ground.link = self.ground.link, None
        if link is not None:
            link.close()
