"""The reference router and client in memory, through the driver: the plays that every case rests on."""

import pytest

from harness.errors import ControlFailed, LinkClosed, NotAnswered, Unsupported
from harness.links.network_path import NetworkPath
from harness.peers.memory import World
from harness.trace import Direction, Trace
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from harness.zenoh.tester.conversation import conversations
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import declared, queryable, set_of, subscriber, token, undeclared
from wire.zenoh.grammar_extensions import QUERYABLE_INFO, TARGET
from wire.zenoh.keys import queryable_info
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    EntityKind,
    Extension,
    Interest,
    Mode,
    Request,
    Response,
    ResponseFinal,
    WireExpr,
)

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


def played(make: type[Router] = Router, **settings: str) -> NodeUnderTest:
    world = World(lambda chosen: make(**settings), make.role, dials=make.role == "client")
    return NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="n/")


def test_snapshot_then_updates_then_final() -> None:
    node = played()
    one = node.other.declare_subscriber("a/1")
    node.other.declare_token("a/t")
    ask = node.interest(Mode.CURRENT_FUTURE, S)
    assert ask.snapshot().declared == set_of(subscriber("a/1"))
    node.other.undeclare_subscriber(one)
    node.other.declare_subscriber("a/2")
    assert node.main.receives(undeclared(subscriber("a/1")), declared(subscriber("a/2")))
    node.main.news()
    node.main.final(ask)
    node.settle()
    node.other.declare_subscriber("a/3")
    node.settle()
    assert node.main.news() == []


def test_aliases_of_both_sides() -> None:
    node = played()
    expr = node.other.declare_keyexpr("a", 5)
    node.other.declare(S, WireExpr("/b", expr))
    snapshot = node.interest(Mode.CURRENT_FUTURE, S, keyexprs=True, key="a/*").snapshot()
    assert snapshot.declared == set_of(subscriber("a/b"))
    declaration = next(event.body for event in snapshot.events if isinstance(event.body, DeclareEntity))
    assert declaration.key.scope != 0
    node.main.declare(T, WireExpr("/t", declaration.key.scope, sender=False))
    assert node.interest(Mode.CURRENT, T, session=node.session()).snapshot().declared == set_of(token("a/b/t"))


@pytest.mark.parametrize(("last", "is_told"), [("/" + "b" * 32_765, True), ("/" + "b" * 32_766, False)])
def test_a_key_that_no_message_can_spell_ends_the_session_that_joined_it(last: str, is_told: bool) -> None:
    node = played()
    alias = node.other.declare_keyexpr(WireExpr("n/a", 0), 1)
    longer = node.other.declare_keyexpr(WireExpr("/" + "b" * 32_765, alias), 2)
    node.other.declare_queryable(WireExpr(last, longer))
    if not is_told:
        with pytest.raises(NotAnswered, match="fin"):
            node.settle()
    assert len(node.interest(Mode.CURRENT, Q).snapshot().entities) == is_told


def test_aggregation_leaves_one_of_each_kind() -> None:
    node = played()
    for number in range(5):
        node.other.declare_subscriber(f"a/{number}")
        node.other.declare_token(f"a/{number}")
    found = node.interest(Mode.CURRENT, S, T, key="a/*", aggregate=True).snapshot().entities
    assert sorted(entity.kind for entity in found) == ["subscriber", "token"]


def test_the_end_of_a_session_withdraws_what_it_declared() -> None:
    node = played()
    node.other.declare_token("a/t")
    node.interest(Mode.CURRENT_FUTURE, T).snapshot()
    node.other.drop()
    assert node.main.receives(undeclared(token("a/t")))


def test_a_silent_session_expires() -> None:
    node = played()
    silent = node.session(lease=500)
    silent.declare_token("a/t")
    silent.barrier()
    node.interest(Mode.CURRENT_FUTURE, T).snapshot()
    assert node.main.receives(undeclared(token("a/t")))


def test_data_goes_to_subscribers_and_queries_to_queryables() -> None:
    node = played()
    node.other.declare_subscriber("a/*")
    complete = Extension(QUERYABLE_INFO.id, queryable_info(True, 0))
    node.other.declare_queryable("q/**", extensions=(complete,))
    partial = node.session()
    partial.declare_queryable("q/**")
    node.settle()
    node.main.publish("a/1", b"one")
    node.main.publish("b/1", b"no")
    node.main.query("q/1", extensions=(Extension(TARGET.id, 2, mandatory=True),))
    node.settle()
    node.other.barrier()
    partial.barrier()
    assert node.other.data() == [("a/1", b"one")]
    (request,) = [event for event in node.other.received() if isinstance(event.message, Request)]
    assert not [event for event in partial.received() if isinstance(event.message, Request)]
    node.other.answer(request, b"answer")
    node.other.barrier()
    node.main.barrier()
    answers = [event.message for event in node.main.received() if isinstance(event.message, Response | ResponseFinal)]
    assert [type(answer) for answer in answers] == [Response, ResponseFinal]


def test_a_query_that_nobody_can_answer_ends_at_once() -> None:
    node = played()
    node.main.query("nobody/there")
    node.main.barrier()
    assert next(type(e.message) for e in node.main.received()) is ResponseFinal


@pytest.mark.parametrize("profile", ["document", "deployed"])
def test_distance_grows_by_one(profile: str) -> None:
    node = played(profile=profile)
    deployed = profile == "deployed"
    info = Extension(QUERYABLE_INFO.id, queryable_info(True, 3, deployed=deployed))
    node.other.declare_queryable("q", extensions=(info,))
    snapshot = node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    assert snapshot.declared == set_of(queryable("q"))
    body = snapshot.events[0].body
    assert isinstance(body, DeclareEntity)
    assert body.info == queryable_info(True, 4, deployed=deployed)


def test_a_client_answers_asks_and_ends() -> None:
    node = played(Client)
    node.main.barrier()
    node.other.declare_token("a/t")
    assert node.interest(Mode.CURRENT, T).snapshot().declared == set_of(token("a/t"))
    node.instance.command("ask", "x", "currentfuture", "token", "n/**")
    node.instance.command("end", "x")
    node.main.barrier()
    names = [type(event.message).__name__ for event in node.main.received()]
    assert names[-3:] == ["Interest", "InterestFinal", "Declare"]
    with pytest.raises(Unsupported):
        node.instance.command("dance")


def test_a_client_has_to_have_a_session_to_be_told_what_to_say() -> None:
    world = World(lambda chosen: Client(), "client", dials=True)
    with pytest.raises(ControlFailed, match="no open session"):
        world.command("ask", "x", "current", "token", "**")
    with pytest.raises(Unsupported):
        world.command("ask", "x", "tomorrow", "token", "**")


def test_a_client_obeys_what_it_was_told_while_its_session_was_being_opened() -> None:
    world = World(lambda chosen: Client(), "client", dials=True, path=NetworkPath(1.0))
    node = NodeUnderTest(world, Trace("zenoh", clock=world.clock), profile="document", namespace="n/")
    session = node.main
    # The last message of the handshake is under way for half a second more.
    world.command("ask", "x", "current", "token", "**")
    assert session.wait_for(lambda event: isinstance(event.message, Interest)) is not None


def test_a_client_whose_handshake_never_ends_obeys_nothing() -> None:
    world = World(lambda chosen: Client(), "client", dials=True)
    world.link(Trace("zenoh", clock=world.clock), "a")
    with pytest.raises(ControlFailed, match=r"not answered in 5 s: the session is still being opened"):
        world.command("ask", "x", "current", "token", "**")


def test_a_node_that_raises_has_died() -> None:
    class Fragile(Router):
        def finish(self, session: object, interest_id: int) -> None:
            raise ZeroDivisionError("on purpose")

    node = played(Fragile)
    ask = node.main.interest(Mode.CURRENT, T)
    assert ask.reply().final is None
    assert not node.instance.alive()
    assert "on purpose" in node.instance.last_output()
    with pytest.raises(ControlFailed):
        node.instance.command("declare")
    with pytest.raises(LinkClosed):
        node.main.link.send(b"")


def test_a_conversation_read_from_the_trace_is_the_drivers() -> None:
    node = played()
    node.other.declare_subscriber("a/1")
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    read = conversations(node.trace)
    for session in node.sessions:
        assert read[session.link.label].events == session.conversation.events
    first = next(event for event in read["a"].events if event.direction is Direction.SENT)
    assert isinstance(first.message, Declare)
    assert first.key == "n/a/1"
