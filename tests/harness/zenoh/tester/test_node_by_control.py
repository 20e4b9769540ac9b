"""A node that acts by control lines: what a play made it declare, it takes back at the end."""

from harness.errors import ControlFailed
from harness.peers.memory import World
from harness.trace import Trace
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.node_under_test import NodeUnderTest


class Commanded(World):
    """A node that listens and takes control lines; ``live`` are the names that it has declared."""

    def __init__(self) -> None:
        super().__init__(Router.of, "router")
        self.role = "peer"
        self.live: list[str] = []

    def command(self, verb: str, *arguments: str) -> str:
        if verb == "declare":
            self.live.append(arguments[1])
        elif arguments[0] == "n2":
            raise ControlFailed("no such name: n2")
        else:
            self.live.remove(arguments[0])
        return ""


def test_what_a_play_declared_by_control_lines_is_taken_back_at_its_end() -> None:
    world = Commanded()
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="g1/")
    first = node.other.declare_subscriber("a")
    for key in ("b", "c"):
        node.other.declare_token(key)
    node.other.undeclare_subscriber(first)
    assert world.live == ["n2", "n3"]
    node.close()
    # That one of them fails keeps the others from nothing.
    assert world.live == ["n2"]
