"""The tester's side of Pathfinder: what a conversation understands, and the verbs against the reference server."""

import json
from typing import Any

import pytest

from harness.errors import NotAnswered
from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.conversation import Conversation, conversations
from harness.pathfinder.tester.driver import Driver, encode_message, new_id
from harness.pathfinder.tester.events import decode_message
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.peers.memory import World
from harness.trace import Direction, Entry, EntryKind, Trace

SENT, RECEIVED = Direction.SENT, Direction.RECEIVED


def fed(*said: tuple[Direction, dict[str, Any] | bytes]) -> Conversation:
    """Return the conversation in which this was said."""
    conversation = Conversation("a")
    for number, (direction, what) in enumerate(said):
        frame = what if isinstance(what, bytes) else json.dumps(what).encode()
        conversation.feed(Entry(number, "a", EntryKind.FRAME, direction, frame, index=number), decode_message(frame))
    return conversation


def message(command: str, ta: int, type: str, **fields: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return {"ta-cmd": command, "ta-id": ta, "msg-type": type, **named}


def test_a_transaction_that_is_held_takes_its_answers() -> None:
    """A regression: transactions were sorted when they were asked for, and whoever waited for one waited in vain."""
    conversation = fed((SENT, message("ping", 0, "request")))
    (held,) = conversation.transactions
    assert not held.is_over
    frame = json.dumps(message("ping", 0, "complete")).encode()
    conversation.feed(Entry(1.0, "a", EntryKind.FRAME, RECEIVED, frame, index=1), decode_message(frame))
    assert held.completed


@pytest.fixture
def node() -> NodeUnderTest:
    world = World(Server.of, "server")
    trace = Trace("pathfinder", "tcp", world.clock)
    return NodeUnderTest(world, trace, profile="document", namespace="g1/")


def test_transactions_that_overlap() -> None:
    said = fed(
        (SENT, message("services", 4, "request")),
        (SENT, message("ping", 5, "request")),
        (RECEIVED, message("services", 4, "accept")),
        (RECEIVED, message("ping", 5, "complete")),
        (RECEIVED, message("services", 4, "complete")),
    )
    services, ping = said.transactions
    assert [services.accepted, services.completed, ping.completed] == [True, True, True]
    assert [len(services.answers), len(ping.answers), said.strays] == [2, 1, []]
    assert (said.client, said.server, said.is_clean) == (SENT, RECEIVED, True)


def test_an_identifier_that_is_used_again() -> None:
    said = fed(
        (SENT, message("ping", 1, "request")),
        (RECEIVED, message("ping", 1, "complete")),
        (RECEIVED, message("ping", 1, "complete")),
        (SENT, message("ping", 1, "request")),
        (RECEIVED, message("ping", 1, "fail", fail_reason="no-hello")),
    )
    first, second = said.transactions
    assert (first.completed, len(first.late), second.failed, second.reason) == (True, 1, True, "no-hello")


def test_answers_to_nothing() -> None:
    said = fed((SENT, message("ping", 1, "request")), (RECEIVED, message("ping", 2, "complete")))
    assert [event.ta for event in said.strays] == [2]
    assert not said.transactions[0].is_over


def test_the_end_of_a_connection_ends_its_transactions() -> None:
    said = fed((SENT, message("ping", 1, "request")))
    said.end(RECEIVED, "fin")
    ping = said.transactions[0]
    assert ping.is_over
    assert ping.refused
    assert not ping.failed
    assert repr(ping) == "ping 1: the connection was ended (fin)"


def test_what_the_document_has_not() -> None:
    said = fed(
        (SENT, message("ping", 1, "request")), (RECEIVED, message("ping", 1, "complete", extra=1)), (SENT, b"[1]")
    )
    assert said.events[1].error is not None
    assert said.transactions[0].completed
    assert said.events[2].fields == {}
    assert not said.is_clean


def test_the_names_of_the_field() -> None:
    notify = message("clients", 1, "notify", client_id=1, client_address="x", time=2)
    said = fed((SENT, message("clients", 1, "request")), (RECEIVED, notify))
    assert said.events[1].error is None
    assert said.events[1].deployed
    odd = fed((SENT, message("services", 1, "request")), (RECEIVED, message("services", 1, "notification")))
    assert odd.events[1].type == "notify"


def test_values_that_are_spelled_already() -> None:
    assert encode_message({"ta-cmd": "ping", "ta-id": b"1.0", "msg-type": "request"}) == (
        b'{"ta-cmd":"ping","ta-id":1.0,"msg-type":"request"}'
    )
    assert json.loads(encode_message({"a": [None, True, {"b": "\x00"}], "c": 1.5})) == {
        "a": [None, True, {"b": "\x00"}],
        "c": 1.5,
    }


def test_values_that_are_no_text() -> None:
    # Bytes stay what they are, whatever stands beside them; a lone surrogate has the bytes that UTF-8 would give it.
    assert encode_message({"a": b'"\xff"', "b": "\ud800"}) == b'{"a":"\xff","b":"\xed\xa0\x80"}'


def test_a_service_from_its_birth_to_its_end(node: NodeUnderTest) -> None:
    service = node.service(ttl=2, name=["x"])
    watch = node.main.subscribe(node.mine)
    owner = node.session()
    owner.sure(owner.publish(service))
    assert node.main.receives(watch, "appeared", service.id)
    assert node.listed()[service.id]["client-id"] == owner.client_id
    owner.sure(owner.publish(service.newer(ttl=3)))
    assert node.main.receives(watch, "modified", service.id)
    owner.close()
    orphaned = node.main.receives(watch, "modified", service.id, count=2)
    gone = node.main.receives(watch, "disappeared", service.id, until=node.main.after(10))
    assert orphaned is not None
    assert gone is not None
    assert orphaned.is_orphan
    assert gone.time - orphaned.time == 3
    assert [match.what for match in watch.about(service.id)] == ["appeared", "modified", "modified", "disappeared"]


def test_a_transaction_tells_what_came(node: NodeUnderTest) -> None:
    raw = node.connect()
    assert repr(raw.ping()) == "ping 0: fail (no-hello)"
    with pytest.raises(NotAnswered, match="no-hello"):
        raw.sure(raw.ping())
    assert repr(node.main.subscribe()).startswith("subscribe 1: accept, and no end, 0 notifications")


def test_offending(node: NodeUnderTest) -> None:
    assert node.main.offend(b'{"ta-cmd":"ping"') is None
    assert node.main.ended == "fin"
    assert node.main.ping().refused
    assert not node.main.is_served()
    node.probe()


def test_plays_do_not_meet(node: NodeUnderTest) -> None:
    service = node.service(name=["same"])
    node.main.sure(node.main.publish(service))
    with node.scene() as scene:
        assert scene.listed() == {}
        scene.main.sure(scene.main.publish(scene.service(name=["same"])))
        assert len(scene.listed("(name=same)")) == 1
    assert set(node.listed("(name=same)")) == {service.id}
    node.close()
    assert node.evidence > 5


def test_conversations_of_a_trace(node: NodeUnderTest) -> None:
    node.main.sure(node.main.publish(node.service()))
    node.other.ping()
    node.close()
    read = conversations(node.trace)
    assert list(read) == ["a", "b"]
    lived = [conversation.transactions for conversation in node.conversations]
    assert [[repr(each) for each in read[link].transactions] for link in read] == [
        list(map(repr, each)) for each in lived
    ]
    assert all(conversation.closed_by is SENT for conversation in read.values())


def test_raw_bytes_are_not_judged(node: NodeUnderTest) -> None:
    session: Driver = node.main
    session.send_raw(b"{")
    assert not session.conversation.is_clean
    assert any(entry.what is EntryKind.FRAME for entry in node.trace)


def test_the_last_bits_of_identifiers_are_the_same_in_every_play() -> None:
    """What a server makes of a neighbour's identifier, or of one that is rounded, is the same when it is repeated."""

    def used(spent: int) -> list[int]:
        for _ in range(spent):
            new_id()
        world = World(Server.of, "server")
        trace = Trace("pathfinder", "tcp", world.clock)
        node = NodeUnderTest(world, trace, profile="document", namespace="g1/")
        ids = [node.main.client_id, node.service().id]
        with node.scene() as scene:
            ids += [scene.main.client_id, scene.service().id]
        node.close()
        return ids

    plays = [used(spent) for spent in (0, 1, 2, 700)]
    assert len({tuple(id % 512 for id in ids) for ids in plays}) == 1
    assert len({id for ids in plays for id in ids}) == 16
