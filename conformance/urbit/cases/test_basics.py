"""What a ship does at all. Other rules rest on it, and who lacks it is told so once."""

from conformance.cases import basic
from conformance.urbit.roles import PUBLISHER, SUBSCRIBER
from conformance.urbit.sessions import PROMPT
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import unknown_session
from wire.urbit.values import Promise, ScryResponse


@basic("URB-062", roles=PUBLISHER)
def test_some_heartbeat_is_answered(node: NodeUnderTest) -> None:
    """Send heartbeats of sessions that nobody has opened.

    One of them is answered.
    """
    assert node.main.beat(unknown_session(), number=1), "no heartbeat of an unknown session is answered"


@basic("URB-030", roles=PUBLISHER)
def test_some_request_is_promised(node: NodeUnderTest) -> None:
    """Ask for several paths that have no value, as a planet and as a galaxy.

    One of them is promised.
    """
    answers = [asking.request(name) for asking in (node.main, node.galaxy()) for name in ("none", "none/yet")]
    promises = [answer for answer in answers if answer is not None and answer.form is Promise]
    assert promises, "no request for a path without a value is answered by a promise"


@basic("URB-060", roles=PUBLISHER)
def test_some_session_lives(node: NodeUnderTest) -> None:
    """Ask for a path that has no value, and send heartbeats of the session that is promised.

    One of them is answered: the session lives.
    """
    node.main.promised("none/yet")
    answers = [node.main.beat() for _ in range(2)]
    assert any(answer is not None and answer.live for answer in answers), "no heartbeat of any session finds it alive"


@basic("URB-040", roles=PUBLISHER)
def test_some_value_is_told(node: NodeUnderTest) -> None:
    """Be promised what is at a path, send heartbeats, and have it grow.

    It is told unasked.
    """
    node.main.promised("later")
    node.main.heartbeat()
    node.grow("later")
    assert node.main.notified("later", seconds=node.timing.within(PROMPT)), "nothing that is promised is ever told"


@basic("URB-031", roles=PUBLISHER)
def test_some_request_is_answered_by_the_value(node: NodeUnderTest) -> None:
    """Have a value grow, and ask for it.

    It comes.
    """
    node.grow("there")
    answer = node.main.request("there")
    assert answer is not None, "no request for a value is answered"
    assert answer.form is ScryResponse, "a request for a value is answered by a promise"


@basic("URB-020", roles=SUBSCRIBER)
def test_some_path_is_asked_for(node: NodeUnderTest) -> None:
    """Want a path.

    It is asked for.
    """
    node.want("some/path")
    assert node.publisher.requested("some/path"), "nothing that is wanted is ever asked for"


@basic("URB-090", roles=SUBSCRIBER)
def test_some_heartbeat_is_sent(node: NodeUnderTest) -> None:
    """Want a path, and promise it.

    A heartbeat of the session comes.
    """
    node.want("some/path")
    seconds = node.timing.within(2 * 25.0)
    assert node.publisher.beat_of(seconds=seconds), "no heartbeat is ever sent"


@basic("URB-100", roles=SUBSCRIBER)
def test_some_value_is_cancelled(node: NodeUnderTest) -> None:
    """Want a path, and tell its value.

    It is cancelled.
    """
    node.want("some/path")
    publisher = node.publisher
    publisher.requested("some/path")
    publisher.tell("some/path")
    assert publisher.cancelled("some/path"), "nothing that has come is ever cancelled"
