"""The driver: who waits for an answer answers what is asked meanwhile."""

import pytest

from harness.protocol import load
from harness.trace import Trace
from harness.zenoh.tester.driver import Driver
from wire.zenoh.values import EntityKind, Mode


@pytest.mark.parametrize("answers", [True, False])
def test_a_client_that_hands_a_question_on_is_answered(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not answers:
        monkeypatch.setattr(Driver, "_answer", lambda *_: None)
    harness = load("zenoh")
    oddity = harness.oddities.all["handing-on-client"]
    world = harness.world(oddity.peer.of, oddity.role)
    trace = Trace("zenoh", "tcp", world.clock)
    node = harness.node_under_test(world, trace, profile="document", namespace="n/", transport="tcp")
    node.other.declare_token("a")
    assert (node.interest(Mode.CURRENT, EntityKind.TOKEN).reply().final is not None) is answers
    # Whoever asks for other kinds need not answer anything.
    assert node.interest(Mode.CURRENT, EntityKind.SUBSCRIBER).reply().final is not None
    node.close()
