"""A node that acts by control lines: what a play made it declare, it takes back at the end."""

import pytest

from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from conformance.verdicts import Outcome
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


class Late(Commanded):
    """A node that does what it is told, and answers too late."""

    def command(self, verb: str, *arguments: str) -> str:
        super().command(verb, *arguments)
        raise ControlFailed(f"{verb!r} was not answered")


def test_what_was_declared_without_an_answer_is_taken_back_too() -> None:
    world = Late()
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="g1/")
    with pytest.raises(ControlFailed):
        node.other.declare_subscriber("a")
    assert world.live == ["n1"]
    node.close()
    assert world.live == []


def test_scenes_of_one_play_give_names_of_their_own() -> None:
    world = Commanded()
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="g1/")
    node.other.declare_subscriber("a")
    with node.scene() as scene:
        node.other.undeclare_subscriber(1)
        scene.other.declare_token("n2 cannot be taken back")
        scene.other.declare_token("b")
        assert world.live == ["n2", "n3"]
    assert world.live == ["n2"]


def test_no_case_leaves_anything_behind_on_a_node_that_runs_on() -> None:
    """A peer that listens and takes control lines, as eclipse-zenoh in that role: no play starts it anew."""

    class Obeying(Commanded):
        told = 0

        def command(self, verb: str, *arguments: str) -> str:
            self.told += 1
            match verb:
                case "declare" | "ask":
                    name = arguments[verb == "declare"]
                    # It would stand for both, and only one could be taken back.
                    assert name not in self.live, f"{name} is given twice"
                    self.live.append(name)
                case "undeclare" | "end" if arguments[0] in self.live:
                    self.live.remove(arguments[0])
                case _:
                    raise ControlFailed(f"nobody takes back what {verb!r} does")
            return ""

    suite, world = Suite("zenoh"), Obeying()
    for number, case in enumerate(fitting(suite, "peer"), 1):
        with without_shrinking():
            result = play(case, world, suite, profile="document", number=number)
        assert result.outcome is not Outcome.ERROR, result.judgements[0].what
        assert world.live == [], case.name
    assert world.told > 100
