"""Recorded connections of Rai's nodes with brokers: which broker it is shows by itself, and who dials is judged."""

from pathlib import Path

import pytest
from brokers import BROKERS, CLOCK, broker
from proxied import proxied

from conformance.engine.play import play
from conformance.recordings import judge
from conformance.suite import Suite
from harness.captures.losses import Missing
from harness.captures.recordings import Recording
from harness.captures.segmentation import TcpConnection, packed_end
from harness.captures.traces import write_pcapng
from harness.captures.writer import PcapngWriter
from harness.iuts.description import resolve
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.rai.tester.conversation import Conversation, conversations, decode
from harness.rai.users import PROFILE, secret_of
from harness.trace import Direction, Entry, EntryKind, Trace
from wire import envelope
from wire.rai.values import HB, HELLO, Heartbeat, Hello, nonce_of, of, user_of, write

SUITE = Suite("rai")
NODE, OTHER = "sam.AAAAAAAAAAAAAAAAAAAAAA", "paul.BBBBBBBBBBBBBBBBBBBBBB"
CNONCE = "EBESExQVFhcYGRobHB0eHw"


def greeting(session, seqno=1, subject=HELLO, secret=None, time=1_700_000_000_000_000):
    """Return a HELLO or HB as it goes over a broker, signed."""
    form = Hello if subject == HELLO else Heartbeat
    plain = of(subject, session, seqno, form(time=time + seqno, interval=10, cnonce=CNONCE))
    key = PROFILE.session_key(secret or secret_of(user_of(session)), nonce_of(session))
    digest = PROFILE.digest(key, seqno, subject, plain.signed)
    return envelope.data(subject, write(of(subject, session, seqno, plain.body, digest)))


def captured(path, *said, ended=True):
    """Write the capture of a connection: ``(whether the client said it, bytes)``."""
    connection = TcpConnection(packed_end("10.0.0.1", 40000), packed_end("10.0.0.2", 4222))
    with PcapngWriter(path) as capture:
        packets = list(connection.handshake())
        for is_clients, data in said:
            packets += connection.data(0 if is_clients else 1, data)
        if ended:
            packets += [connection.finish(0), connection.finish(1), connection.acknowledge(0)]
        for number, packet in enumerate(packets):
            capture.write(packet, 10**9 * number)
    source = Recording(path, "rai")
    return list(source), source


def over(transport, *frames):
    """Return frames ``(whether the client said it, frame)`` as they go over a kind of broker."""
    framing = BROKER_FRAMINGS[transport]
    return [(own, framing.encode(frame) if own else framing.encode_answer(frame)) for own, frame in frames]


def said(session):
    return [(each.direction, each.data) for each in session.trace if each.what is EntryKind.FRAME]


HANDSHAKES = {
    "nats": [(False, b'INFO {"server_id":"x"}\r\n'), (True, b"CONNECT {}\r\nPING\r\n"), (False, b"PONG\r\n")],
    "redis": [(True, b"*1\r\n$4\r\nPING\r\n"), (False, b"+PONG\r\n")],
    "websocket": [(True, b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"), (False, b"HTTP/1.1 101 OK\r\n\r\n")],
}
"""What is said before the first message."""

SAID = [(True, envelope.listen("_SESSION.>")), (True, greeting(NODE)), (False, greeting(OTHER))]


@pytest.mark.parametrize("transport", BROKER_FRAMINGS)
def test_the_kind_of_broker_shows_by_itself(tmp_path, transport):
    """And what the client has said is what is judged."""
    [session], source = captured(tmp_path / "a.pcapng", *HANDSHAKES[transport], *over(transport, *SAID))
    assert session.trace.transport == transport
    assert session.key == f"{transport} 10.0.0.1:40000 to 10.0.0.2:4222"
    assert (session.side, session.name) == ("dialling", "audit.a_pcapng#1")
    directions = {True: Direction.RECEIVED, False: Direction.SENT}
    assert said(session) == [(directions[own], frame) for own, frame in SAID]
    assert (session.sound, session.losses, source.losses.all()) == (len(session.trace), (), ())
    [kept] = {each.rule for each in judge(session, SUITE, "document")} & {"RAI-071"}
    assert kept
    other = session.seen_from("listening")
    assert other.name == "audit.a_pcapng#1.listening"
    assert said(other) == [(directions[not own], frame) for own, frame in SAID]


@pytest.mark.parametrize("transport", BROKER_FRAMINGS)
def test_a_recording_may_begin_in_the_middle(tmp_path, transport):
    """Where a message begins a segment; which side dials shows by the ports."""
    later = over(
        transport, (True, greeting(NODE, 2, HB)), (False, greeting(OTHER, 2, HB)), (True, greeting(NODE, 3, HB))
    )
    connection = TcpConnection(packed_end("10.0.0.1", 40000), packed_end("10.0.0.2", 4222), first=(17, 4))
    with PcapngWriter(tmp_path / "a.pcapng") as capture:
        for number, (own, data) in enumerate([(True, b"its end\r\n"), *later]):
            for packet in connection.data(0 if own else 1, data):
                capture.write(packet, 10**9 * number)
    [session] = Recording(tmp_path / "a.pcapng", "rai")
    assert len(said(session)) == 3
    assert Missing.BEGINNING in {loss.kind for loss in session.losses}
    assert session.sound == 0


def test_what_others_say_at_a_broker_is_none_of_rai(tmp_path):
    """To listen is no sign of it: clients of NATS have inboxes of that name."""
    listens = (True, b"SUB _INBOX.a.> 1\r\n")
    for number, more in enumerate(([], [(True, b"PUB orders 2\r\n{}\r\n")], [(False, b"MSG orders 1 5\r\nhello\r\n")])):
        sessions, source = captured(tmp_path / f"{number}.pcapng", *HANDSHAKES["nats"], listens, *more)
        assert sessions == []
        assert [loss.kind for loss in source.losses.all()] == [Missing.FOREIGN]


def test_nobody_in_a_network_with_other_keys_is_accused_of_them(tmp_path):
    """Nor of users by the names of ours: whoever has none of our keys has others."""
    frames = [
        (True, greeting(NODE, secret=bytes(32))),
        (False, greeting("ann.CCCCCCCCCCCCCCCCCCCCCC", secret=bytes(32))),
    ]
    [session], _ = captured(tmp_path / "a.pcapng", *over("nats", *frames))
    rules = {each.rule: each.outcome.accuses for each in judge(session, SUITE, "document")}
    assert rules
    assert not any(rules.values())
    assert "RAI-071" not in rules


def heard(*frames):
    trace = Trace("rai")
    for number, (own, frame) in enumerate(frames):
        direction = Direction.RECEIVED if own else Direction.SENT
        trace.add(Entry(float(number), "a", EntryKind.FRAME, direction, frame))
    return conversations(trace)["a"]


def test_what_the_others_forge_leaves_nobody_judged():
    forged = greeting(OTHER, secret=bytes(32))
    assert heard((True, greeting(NODE)), (False, greeting(OTHER))).is_clean
    assert not heard((True, greeting(NODE)), (False, forged)).is_clean
    assert heard((False, forged)).is_clean, "nothing shows that the network has our keys"
    assert not heard((False, greeting(OTHER, 2)), (False, greeting(OTHER, 1))).is_clean


def test_a_broker_may_send_a_message_twice():
    assert heard((False, greeting(OTHER)), (False, greeting(OTHER)), (False, greeting(OTHER, 2, HB))).is_clean


def test_listening_is_no_event():
    conversation = Conversation("a")
    frame = envelope.listen("A.>")
    assert conversation.feed(Entry(0.0, "a", EntryKind.FRAME, Direction.RECEIVED, frame), decode(frame)) is None
    assert [each.subject for _, _, each in conversation.listening] == ["A.>"]


@pytest.mark.parametrize("transport", ["memory", *BROKER_FRAMINGS])
def test_the_capture_of_a_play_is_that_of_the_nodes_connection(tmp_path: Path, transport: str) -> None:
    """What it says to the broker, and what the broker passes on to it."""
    case = next(each for each in SUITE.cases if each.fits("publisher", "memory") and "start_is_acked" in each.name)
    world = SUITE.harness.world(SUITE.harness.roles["publisher"].of, "publisher")
    trace = play(case, world, SUITE, profile="document").trace
    trace.transport = transport
    write_pcapng(trace, tmp_path / "a.pcapng", SUITE.harness.framings)
    [session] = Recording(tmp_path / "a.pcapng", "rai")
    messages = [(each.direction, each.data) for each in trace if each.data[:1] == b"D"]
    assert said(session) == messages
    assert {direction for direction, _ in messages} == {*Direction}
    opened, *_, closed = session.trace
    assert (opened.direction, closed.direction) == (Direction.RECEIVED, Direction.SENT)


@pytest.mark.parametrize("transport", BROKERS)
def test_a_connection_with_a_real_broker_is_read(tmp_path: Path, transport: str) -> None:
    """That of our publisher, by a proxy between it and the broker; what the tester heard of it is there as well."""
    path, harness = tmp_path / "live.pcapng", SUITE.harness
    with broker(transport, harness.framings) as listener, proxied(str(listener.address), path) as front:
        link = listener.accept(CLOCK.now() + 20)
        link.send(envelope.listen(">"))
        node = harness.embedded(resolve("peer:publisher", "rai"), connect=front, tempo=harness.tempo)
        try:
            heard = link.receive(CLOCK.now() + 20)
        finally:
            node.stop()
            link.close()
    [session] = Recording(path, "rai")
    assert decode(heard.data).subject == HELLO
    assert (session.trace.transport, session.losses) == (transport, ())
    assert (Direction.RECEIVED, heard.data) in said(session)
    kept = {each.rule: each.outcome.accuses for each in judge(session, SUITE, "document")}
    assert not any(kept.values())
    assert {"RAI-071", "RAI-099"} <= kept.keys()
