"""Playing: who does not answer is not waited for again and again."""

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

import goldwire
from fuzz.net.moves import GivesCommand
from fuzz.net.playing import SETTLING, UNHURRIED, TestInPlay
from harness.clock import RealClock
from harness.errors import ControlFailed, ControlUnanswered, HarnessError
from harness.timing import Timing
from harness.trace import Trace


@pytest.mark.parametrize(("error", "told"), [(ControlUnanswered("in 5 s"), 1), (ControlFailed("no such thing"), 3)])
def test_who_does_not_answer_a_command_is_given_no_more_of_them(error: HarnessError, told: int) -> None:
    """A regression: a test with three commands behind the message that hung an implementation took fifteen seconds."""
    commands = list[str]()

    def command(verb: str) -> None:
        commands.append(verb)
        raise error

    node = SimpleNamespace(command=command, close=lambda: None)
    clock = RealClock()
    target: Any = SimpleNamespace(node=lambda instance, trace: node)
    instance: Any = SimpleNamespace(clock=clock, timing=Timing())
    test = TestInPlay(target, instance, Trace("rai", "tcp", clock), deque(), SETTLING)
    for _ in range(3):
        test.do(GivesCommand("set"))
    played = test.settled()
    assert commands == ["set"] * told
    # The same test, played against who does answer, gives all of them.
    assert len(played.moves) == 3


def test_a_regression_hears_out_who_answers_late() -> None:
    """A regression: on a busy machine one of five did not show what it is about, for an answer that took 21 ms."""
    with goldwire.fuzzed_node("pathfinder", "peer:server") as node:
        begun = node.node.begin()
        assert isinstance(begun, TestInPlay)
        assert begun.patience >= UNHURRIED > SETTLING
        begun.close()
