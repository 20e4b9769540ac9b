"""Pathfinder's clients as they are fuzzed: they dial the tester, which speaks as the servers of their domain."""

from collections.abc import Sequence

import msgspec

from fuzz.net.moves import NetworkTest, Opens
from fuzz.net.targets import ServiceProbe
from fuzz.pathfinder import answers
from fuzz.pathfinder.client_service import PathfinderClientService
from fuzz.pathfinder.client_sessions import ServedClient, ServerSession
from fuzz.pathfinder.playbill import MANNERS, OBLIGING, SCENARIOS, scenario_of_test
from fuzz.pathfinder.sessions import without_ta
from harness.iuts.instance import Instance
from harness.pathfinder.framings import LAYOUT
from harness.trace import Trace
from wire.errors import DecodeError
from wire.pathfinder.values import read

BETWEEN = " "
"""In the way in which a session is opened, between the scenario and the manner of the server."""


class PathfinderClientTarget:
    """A Pathfinder client: a session is its next connection to one of the servers that tests have."""

    layout = LAYOUT
    # Of scenarios the stretches of tests take care (``staged``).
    ways = MANNERS
    message = staticmethod(answers.message)
    text = staticmethod(answers.text)
    frame = staticmethod(answers.frame)

    def node(self, instance: Instance, trace: Trace) -> ServedClient:
        return ServedClient(instance, trace)

    def session(self, node: ServedClient, how: str) -> ServerSession:
        words = how.split(BETWEEN)
        scenario = next((each for each in words if each in SCENARIOS), "")
        manner = next((each for each in words if each in MANNERS), OBLIGING)
        return node.session(scenario, manner)

    def staged(self, test: NetworkTest, number: int) -> NetworkTest:
        """Return a test as it is played as the one of this number: those of a stretch are for one scenario."""
        place = next((place for place, move in enumerate(test) if isinstance(move, Opens)), None)
        if place is None:
            return test
        moves, opens, scenario = list(test), test[place], scenario_of_test(number)
        assert isinstance(opens, Opens)
        manner = next((each for each in opens.how.split(BETWEEN) if each in MANNERS), scenario.manner)
        moves[place] = msgspec.structs.replace(opens, how=f"{scenario.name}{BETWEEN}{manner}")
        return tuple(moves)

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        try:
            said = read(frame)
        except DecodeError:
            return []
        return [] if said["msg-type"] == "request" else [without_ta(said)]

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return PathfinderClientService(instance, trace)
