"""Zenoh's targets: routers, which the tester dials, and clients, which dial it."""

from collections.abc import Sequence
from contextlib import suppress

from fuzz.net.targets import FuzzTarget, ServiceProbe, expect, expecting_answers
from fuzz.zenoh import messages
from fuzz.zenoh.client import ZenohClientTarget
from fuzz.zenoh.openings import DIALLERS, USUAL, ways
from fuzz.zenoh.sessions import ZenohSession, network_messages
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.trace import Trace
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, declared, subscriber, undeclared
from wire.zenoh.values import EntityKind, Mode
from wire.zenoh.values_transport import NETWORK

HELD = "goldwire/service/held"
SERVED = "goldwire/service"


class ZenohService:
    """Declarations that reach whom they concern, and end with their session."""

    def __init__(self, target: "ZenohTarget", instance: Instance, trace: Trace) -> None:
        self.node = target.node(instance, trace)
        self.checks = 0

    def begin(self) -> None:
        self.listener, self.holder = self.node.session(), self.node.session()
        self.holder.declare_subscriber(HELD)
        self.holder.barrier()
        self.listener.interest(Mode.CURRENT_FUTURE, EntityKind.SUBSCRIBER, key=f"{SERVED}/**").snapshot()

    def check(self) -> None:
        self.checks += 1
        self.look_at_those_who_stay()
        name = subscriber(f"{SERVED}/{self.checks}")
        with expecting_answers("nobody gets a session any more"):
            fresh = self.node.session()
        try:
            with expecting_answers("a fresh session gets no answers"):
                self.look_at(fresh, name)
        finally:
            self.node.sessions.remove(fresh)
            with suppress(HarnessError):
                fresh.close()
        gone = self.listener.receives_under_any_id(undeclared(name))
        expect(bool(gone), "service", "the end of a session does not end what it declared")

    def look_at(self, fresh: Driver, name: EntityName) -> None:
        """Have a fresh session declare something, and look whom that reaches."""
        self.listener.mark = self.listener.place
        fresh.declare_subscriber(str(name.key))
        # That this is answered shows as well that what was declared before it has been acted on.
        # Not CURRENT alone: there are routers that answer such a one about tokens only.
        listed = fresh.interest(Mode.CURRENT_FUTURE, EntityKind.SUBSCRIBER, key=f"{SERVED}/**").snapshot().declared
        heard = self.listener.receives_under_any_id(declared(name))
        self.look_at_those_who_stay()
        expect(bool(heard), "service", "what a fresh session declares does not reach whom it concerns")
        expect(subscriber(HELD) in listed, "harm", "what somebody else declared is not there any more")

    def look_at_those_who_stay(self) -> None:
        """Raise ``ServiceBroken`` when a session that did nothing wrong has ended."""
        for session in (self.listener, self.holder):
            session.read(0.0)
            expect(not session.ended, "harm", "the session of somebody who did nothing wrong was ended")

    def end(self) -> None:
        self.node.close()


class ZenohTarget:
    """A Zenoh node that listens: the tester opens as many sessions as it likes."""

    layout = NETWORK
    ways = ways(DIALLERS)
    message = staticmethod(messages.message)
    text = staticmethod(messages.text)
    frame = staticmethod(messages.frame)
    series = staticmethod(messages.series)
    chain = staticmethod(messages.chain)

    def node(self, instance: Instance, trace: Trace) -> NodeUnderTest:
        return NodeUnderTest(instance, trace, profile="document", namespace="", transport=trace.transport)

    def session(self, node: NodeUnderTest, how: str) -> ZenohSession:
        return ZenohSession(node.session(**DIALLERS.get(how, USUAL)._asdict()))

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        return network_messages(frame)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return ZenohService(self, instance, trace)


LISTENING = ZenohTarget()

# A peer passes on between clients what a router does, and to those it is what it is fuzzed as.
TARGETS: dict[str, FuzzTarget] = {"router": LISTENING, "peer": LISTENING, "client": ZenohClientTarget()}
