"""Rai's targets: publishers, whom the tester meets at a broker; the other roles; and the brokers themselves."""

from collections.abc import Sequence

from fuzz.net.targets import FuzzTarget, ServiceProbe
from fuzz.rai import messages
from fuzz.rai.brokers import BROKERS
from fuzz.rai.routers import RaiRouterTarget
from fuzz.rai.saying import said_in
from fuzz.rai.service import RaiService
from fuzz.rai.sessions import RaiAtTheBroker, RaiSession
from fuzz.rai.subscribers import RaiSubscriberTarget
from harness.iuts.instance import Instance
from harness.rai.tester.node_under_test import USERS
from harness.trace import Trace


class RaiPublisherTarget:
    """A Rai publisher, at a broker."""

    layout = "rai/envelope"
    ways = (
        *("trusted", "untrusted", "silent", "stranger", "another", "unsigned", "brief", "brief", "returning", "late"),
    )
    message = staticmethod(messages.message)
    text = staticmethod(messages.text)
    frame = staticmethod(messages.frame)
    series = staticmethod(messages.series)

    def node(self, instance: Instance, trace: Trace) -> RaiAtTheBroker:
        return RaiAtTheBroker(instance, trace)

    def session(self, node: RaiAtTheBroker, how: str) -> RaiSession:
        return RaiSession(node, how)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        # A node that is under test has a user of its own.
        said = said_in(frame, USERS.values())
        return () if said is None else (said,)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return RaiService(instance, trace)


TARGETS: dict[str, FuzzTarget] = {
    "publisher": RaiPublisherTarget(),
    "subscriber": RaiSubscriberTarget(),
    "router-cache": RaiRouterTarget(),
    **BROKERS,
}
