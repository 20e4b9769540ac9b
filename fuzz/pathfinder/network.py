"""Pathfinder's targets: servers, which the tester dials, and clients, which dial it."""

from collections.abc import Sequence

from fuzz.net.targets import FuzzTarget, ServiceProbe
from fuzz.pathfinder import messages
from fuzz.pathfinder.client import PathfinderClientTarget
from fuzz.pathfinder.service import PathfinderService
from fuzz.pathfinder.sessions import PathfinderSession, without_ta
from harness.iuts.instance import Instance
from harness.links.transports import framing_of
from harness.pathfinder.framings import FRAMINGS, LAYOUT
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.trace import Trace
from wire.errors import DecodeError
from wire.pathfinder.values import read

SILENT = "silent"
"""A session that begins without a hello."""


class FuzzedServer(NodeUnderTest):
    """The server in one test: what is left of it is taken back by one who comes for that."""

    def _tidy(self) -> None:
        left = {service_id: None for session in self.sessions for service_id in session.left}
        if not left:
            return
        # Not on a connection of the test: half a message may stand on it.
        taking = self.connect()
        try:
            taking.begin_hello()
            asked = [taking.begin("unpublish", {"service-id": service_id}) for service_id in left]
            taking.wait_until(lambda: asked[-1].is_over, taking.now() + taking.timing.window)
        finally:
            self.forget(taking)

    def forget(self, session: Driver) -> None:
        """End a session of which nothing is to be known any more."""
        session.close()
        self.sessions.remove(session)
        self._heard.remove(session)


class PathfinderTarget:
    """A Pathfinder server: the tester opens as many sessions as it likes."""

    layout = LAYOUT
    ways = ("new", "1", "2", SILENT)
    message = staticmethod(messages.message)
    text = staticmethod(messages.text)
    frame = staticmethod(messages.frame)
    series = staticmethod(messages.series)

    def node(self, instance: Instance, trace: Trace) -> FuzzedServer:
        return FuzzedServer(instance, trace, profile="document", namespace="", transport=trace.transport)

    def session(self, node: NodeUnderTest, how: str) -> PathfinderSession:
        session = node.connect(client_id=int(how) if how.isdigit() else None)
        framing = framing_of(FRAMINGS, node.transport)
        if how == SILENT:
            return PathfinderSession(session, framing)
        hello = session.begin_hello()
        # Who hangs would be waited for by each session of the test in full: the service is patient enough.
        session.wait_until(lambda: hello.is_over, session.now() + session.timing.window)
        # One that is refused is a session all the same; one that is not answered is none.
        if not hello.is_over:
            session.sure(hello)
        return PathfinderSession(session, framing)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        try:
            said = read(frame)
        except DecodeError:
            return []
        # A session says hello by itself.
        return [without_ta(said)] if said["msg-type"] == "request" and said["ta-cmd"] != "hello" else []

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return PathfinderService(self.node(instance, trace))


TARGETS: dict[str, FuzzTarget] = {"server": PathfinderTarget(), "client": PathfinderClientTarget()}
