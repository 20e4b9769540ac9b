"""The gateway: what clients that are not ours get from it, and those that mean it no good."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager, suppress

import pytest
from brokers import CLOCK, broker
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from harness.links import gateway
from harness.links.addresses import free_port
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.gateway import Gateway, command_of, spelt
from harness.links.resp import ErrorReply, StatusReply, spell
from harness.links.websocket_stream import WebSocketStream
from wire.envelope import LARGEST, data, listen


@pytest.fixture(scope="module")
def running():
    with broker("websocket", BROKER_FRAMINGS) as listener:
        yield listener


@pytest.fixture
def url(running):
    return "ws" + running.address.removeprefix("websocket").replace("/", "://", 1)


@pytest.fixture
def client(url):
    with connect(url, subprotocols=["resp"]) as client:
        yield client


def ask(client, *words):
    client.send(spell([word if isinstance(word, bytes) else word.encode() for word in words]).decode())
    return told(client)


def told(client):
    text = client.recv(timeout=20.0)
    assert text.endswith("\r\n")
    return json.loads(text)


def test_a_client_of_another_make_publishes_and_listens(running, url, client):
    assert client.subprotocol == "resp"
    link = running.accept(CLOCK.now() + 20.0)
    link.send(listen("A.>"))
    assert ask(client, "PUBLISH", "A.B", "žlutý\0") == 1
    assert link.receive(CLOCK.now() + 20.0).data == data("A.B", "žlutý\0".encode())
    assert ask(client, "PSUBSCRIBE", "A.*") == ["psubscribe", "A.*", 1]
    assert ask(client, "subscribe", "A.C", "B") == ["subscribe", "A.C", 2]
    assert told(client) == ["subscribe", "B", 3]
    link.send(data("A.C", "{…}".encode()))
    assert sorted([told(client), told(client)]) == [["message", "A.C", "{…}"], ["pmessage", "A.*", "A.C", "{…}"]]
    link.send(data("A.D", b"\xff"))
    assert told(client) == ["pmessage", "A.*", "A.D", "\udcff"]
    assert ask(client, "PUNSUBSCRIBE") == ["punsubscribe", "A.*", 2]
    assert ask(client, "PING") == "PONG"
    link.close()


@pytest.mark.parametrize("offered", [None, ["json"], ["term"], ["x", "resp"], ["x"]])
def test_sub_protocols_all_say_the_same(url, offered):
    with connect(url, subprotocols=offered) as client:
        assert client.subprotocol == {"json": "json", "term": "term", "resp": "resp", "x": None}[(offered or ["x"])[-1]]
        assert ask(client, "PING") == "PONG"


HOSTILE = [
    "",
    "PING",
    "PING\r\n",
    'PUBLISH A "x"\r\n',
    "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
    "*1\r\n$4\r\nPIN",
    "*2\r\n$4\r\nPING\r\n",
    "*0\r\n",
    "*-1\r\n",
    "*1\r\n:1\r\n",
    "*1\r\n*1\r\n$4\r\nPING\r\n",
    "*1\r\n$x\r\n",
    "*99999999\r\n",
    "$4\r\nPING\r\n",
    "\0" * 1000,
    b"\xff\xff",
    spell([b"SHUTDOWN"]).decode(),
    spell([b"CONFIG", b"SET", b"save", b"1 1"]).decode(),
    spell([b"HELLO", b"2"]).decode(),
    spell([b"CLIENT", b"REPLY", b"OFF"]).decode(),
    spell([b"MONITOR"]).decode(),
    spell([b"PUBLISH"]).decode(),
    spell([b"\xff" * 10]),
]


@pytest.mark.parametrize("message", HOSTILE)
def test_what_is_no_command_gets_an_error_in_its_turn(client, message):
    client.send(spell([b"PUBLISH", b"A", b""]).decode())
    client.send(message)
    client.send(spell([b"PING"]).decode())
    assert told(client) == 0
    assert told(client).startswith("-ERR ")
    assert told(client) == "PONG"


def test_a_message_that_is_too_long_ends_its_client_only(url, client):
    with connect(url) as hostile:
        with pytest.raises(ConnectionClosed) as end:
            ask(hostile, "PUBLISH", "A", "x" * (LARGEST * 2))
        assert end.value.rcvd.code == 1009
    assert ask(client, "PING") == "PONG"


def test_one_who_speaks_no_websocket_is_sent_away(running, client):
    port = int(running.address.rpartition(":")[2])
    for said in (b"\0\xff\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"PING\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=20.0) as connection:
            connection.sendall(said)
            while connection.recv(1 << 16):
                pass
    assert ask(client, "PING") == "PONG"


UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def test_one_who_never_reads_holds_up_nobody(running, client):
    port = int(running.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20.0) as silent:
        silent.sendall(UPGRADE + WebSocketStream().encode(listen("A")))
        while b"subscribe" not in silent.recv(1 << 16):
            pass
        for _ in range(50):
            assert ask(client, "PUBLISH", "A", "x" * 100_000) == 1
        assert ask(client, "PING") == "PONG"


@contextmanager
def gateway_of_its_own():
    """Run a gateway without a Redis, and yield its URL."""
    port = free_port()

    async def serve():
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        ends.append(lambda: loop.call_soon_threadsafe(task.cancel))
        with suppress(asyncio.CancelledError):
            await Gateway("/nowhere/redis").serve("127.0.0.1", port)

    ends = []
    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    try:
        yield f"ws://127.0.0.1:{port}/"
    finally:
        ends[0]()
        thread.join()


def connected(url):
    """Connect as soon as somebody listens."""
    give_up = CLOCK.now() + 20.0
    while True:
        try:
            return connect(url)
        except ConnectionRefusedError:
            assert CLOCK.now() < give_up


def test_without_a_redis_its_clients_are_told_so():
    with gateway_of_its_own() as url, connected(url) as client, pytest.raises(ConnectionClosed) as end:
        ask(client, "PING")
    assert end.value.rcvd.code == 1011
    assert "no Redis" in end.value.rcvd.reason


def test_a_crowd_is_sent_away(monkeypatch):
    monkeypatch.setattr(gateway, "MOST_CLIENTS", 0)
    with gateway_of_its_own() as url, pytest.raises(InvalidStatus, match="503"):
        connected(url)


@given(
    st.recursive(
        st.one_of(
            st.binary(max_size=9),
            st.integers(),
            st.none(),
            st.booleans(),
            st.floats(),
            st.text(max_size=9).map(ErrorReply),
            st.text(max_size=9).map(StatusReply),
        ),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.binary(max_size=3), inner, max_size=3)),
        max_leaves=8,
    )
)
def test_any_reply_is_strict_json(value):
    json.loads(spelt(value), parse_constant=pytest.fail)


@given(st.binary(max_size=40))
def test_any_message_is_a_command_or_is_refused(message):
    try:
        command = command_of(message)
    except ValueError:
        return
    assert command_of(spell(command)) == command
