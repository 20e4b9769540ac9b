"""Recordings of clients that are not ours with real brokers: what they published and listened to is in them."""

import asyncio

import nats
import pytest
import redis
from brokers import CLOCK, broker
from proxied import proxied
from websockets.sync.client import connect

from harness.captures.flow_side import STREAMS
from harness.captures.recordings import Recording
from harness.captures.servers import ServerEndpoint
from harness.captures.traces import write_pcapng
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.resp import spell
from harness.links.transports import dial, parse_address
from harness.trace import Direction, EntryKind, Trace
from wire.envelope import LARGEST, cancel, data, listen

# A client is judged, not the broker: what it says is received.
SAID, TOLD = Direction.RECEIVED, Direction.SENT
LONG = "ž" * (LARGEST // 2)


def soon():
    return CLOCK.now() + 20.0


def recorded(path, transport, address):
    """Return the frames of each session with a server in a capture, in the order in which they began."""
    # By what is said these are no sessions of the protocol; so the server is named.
    recording = Recording(path, "rai", servers=(ServerEndpoint(parse_address(address).port),), transport=transport)
    sessions = sorted(recording, key=lambda session: session.number)
    assert [session.losses for session in sessions] == [()] * len(sessions)
    assert not recording.losses.all()
    assert {session.trace.transport for session in sessions} == {transport}
    return [frames_of(session) for session in sessions]


def frames_of(session):
    return [(each.direction, each.data) for each in session.trace if each.what is EntryKind.FRAME]


@pytest.fixture
def capture(tmp_path):
    return tmp_path / "capture.pcapng"


async def written(client):
    """Wait until the broker has read all that a client of NATS said."""
    # Twice: nats-py (2.16) may write the question of a flush before what waits to be written.
    await client.flush(), await client.flush()


def test_a_client_of_nats(capture):
    async def play(where):
        client = await nats.connect(f"nats://{where.host}:{where.port}")
        heard = asyncio.Queue()
        subscription = await client.subscribe("A.>", cb=heard.put)
        await written(client)
        other.send(data("A.B", b"\0\xff"))
        other.send(data("A.C", LONG.encode()))
        async with asyncio.timeout(20):
            assert [(await heard.get()).data for _ in range(2)] == [b"\0\xff", LONG.encode()]
        await client.publish("B.x", b"hello")
        await client.publish("B.y", b"with headers", reply="R", headers={"a": "b"})
        await subscription.unsubscribe()
        await written(client)
        await client.close()

    with broker("nats", BROKER_FRAMINGS) as running, proxied(running.address, capture) as address:
        other = running.accept(soon())
        asyncio.run(play(parse_address(address)))
        other.close()
    assert recorded(capture, "nats", running.address) == [
        [
            (SAID, listen("A.>")),
            (TOLD, data("A.B", b"\0\xff")),
            (TOLD, data("A.C", LONG.encode())),
            (SAID, data("B.x", b"hello")),
            (SAID, data("B.y", b"with headers")),
            (SAID, cancel("A.>")),
        ]
    ]


@pytest.mark.parametrize("version", [2, 3])
def test_a_client_of_redis(capture, version):
    with broker("redis", BROKER_FRAMINGS) as running, proxied(running.address, capture) as address:
        other, where = running.accept(soon()), parse_address(address)
        client = redis.Redis(where.host, where.port, protocol=version, single_connection_client=True)
        with client, client.pubsub() as listening:
            assert client.publish("B.x", b"hello") == 0
            listening.psubscribe("A.*", "_INBOX.a.b.*")
            listening.subscribe("C")
            assert [listening.get_message(timeout=20)["type"] for _ in range(3)] == ["psubscribe"] * 2 + ["subscribe"]
            other.send(data("A.B", LONG.encode()))
            other.send(data("C", b"\0\xff"))
            assert [listening.get_message(timeout=20)["data"] for _ in range(2)] == [LONG.encode(), b"\0\xff"]
            listening.punsubscribe("A.*")
            assert listening.get_message(timeout=20)["type"] == "punsubscribe"
        other.close()
    # Over version 2 of RESP, who listens cannot publish: there are two connections.
    assert recorded(capture, "redis", running.address) == [
        [(SAID, data("B.x", b"hello"))],
        [
            *((SAID, listen(each)) for each in ("A.>", "_INBOX.a.b.>", "C")),
            (TOLD, data("A.B", LONG.encode())),
            (TOLD, data("C", b"\0\xff")),
            (SAID, cancel("A.>")),
        ],
    ]


def test_a_client_of_a_gateway(capture):
    with broker("websocket", BROKER_FRAMINGS) as running, proxied(running.address, capture) as address:
        other, where = running.accept(soon()), parse_address(address)
        with connect(f"ws://{where.host}:{where.port}/", subprotocols=["resp"], max_size=None) as client:

            def ask(*words):
                client.send(spell([each.encode() for each in words]).decode())
                client.recv(timeout=20)

            ask("PSUBSCRIBE", "A.*")
            other.send(data("A.B", LONG.encode()))
            client.recv(timeout=20)
            ask("PUBLISH", "B.x", LONG)
            client.ping().wait(20)
            ask("PUNSUBSCRIBE", "A.*")
        other.close()
    assert recorded(capture, "websocket", running.address) == [
        [
            (SAID, listen("A.>")),
            (TOLD, data("A.B", LONG.encode())),
            (SAID, data("B.x", LONG.encode())),
            (SAID, cancel("A.>")),
        ]
    ]


@pytest.mark.parametrize("transport", BROKER_FRAMINGS)
def test_our_own_link_is_recorded_and_its_trace_becomes_a_recording(transport, capture, tmp_path):
    trace = Trace("rai", transport, clock=CLOCK)
    with broker(transport, BROKER_FRAMINGS) as running, proxied(running.address, capture) as address:
        other, link = running.accept(soon()), dial(address, BROKER_FRAMINGS, CLOCK, trace=trace)
        link.send(listen("A.>"))
        link.send(data("B", b"\0\xff"))
        other.send(data("A.B", LONG.encode()))
        link.receive(soon())
        link.send(cancel("A.>"))
        link.close()
        other.close()
    frames = [(SAID, listen("A.>")), (SAID, data("B", b"\0\xff")), (TOLD, data("A.B", LONG.encode()))]
    frames.append((SAID, cancel("A.>")))
    assert recorded(capture, transport, running.address) == [frames]
    write_pcapng(trace, tmp_path / "trace.pcapng", BROKER_FRAMINGS)
    # A trace becomes the connection of who is tested: what the tester published was told to it.
    told = [(TOLD, data("B", b"\0\xff")), (SAID, data("A.B", LONG.encode()))]
    assert recorded(tmp_path / "trace.pcapng", transport, address) == [told]


def test_brokers_are_captured():
    assert set(BROKER_FRAMINGS) <= set(STREAMS)
