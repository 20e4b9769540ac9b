"""Links to real brokers: what is published, who gets it, and how they end."""

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from brokers import BROKERS, CLOCK, broker
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from harness.errors import (
    BadDescription,
    Deadline,
    LinkClosed,
    LinkError,
    NotInstalled,
    StartFailed,
    Unreachable,
    Unsupported,
)
from harness.links.addresses import free_port
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.transport import Certificate
from harness.links.transports import TRANSPORTS, dial, parse_address, reach
from harness.links.transports import listen as listen_at
from harness.trace import Direction, EntryKind, Trace
from wire.envelope import LARGEST, cancel, data, listen


def soon():
    return CLOCK.now() + 20.0


@pytest.fixture(scope="module", params=BROKERS)
def running(request):
    with broker(request.param, BROKER_FRAMINGS) as listener:
        yield listener


@pytest.fixture
def trace():
    return Trace("test", clock=CLOCK)


@pytest.fixture
def pair(running, trace):
    """Two clients of one broker."""
    links = [running.accept(soon(), label, trace) for label in "ab"]
    yield links
    for link in links:
        link.close()


@contextmanager
def links_of(listener, count):
    links = [listener.accept(soon()) for _ in range(count)]
    try:
        yield links
    finally:
        for link in links:
            link.close()


def heard(link, count):
    return [link.receive(soon()).data for _ in range(count)]


def test_what_one_publishes_the_other_hears_in_order(pair, trace):
    one, two = pair
    two.send(listen("A.>"))
    sent = [data("A.B.C" if number % 3 else "A.D", b"%d" % number) for number in range(500)]
    for frame in sent:
        one.send(frame)
    assert heard(two, len(sent)) == sent
    received = [each.data for each in trace.of("b") if each.what is EntryKind.FRAME][1:]
    assert received == sent
    assert trace.entries[0].what is EntryKind.OPENED
    assert {each.direction for each in trace.of("a")} == {Direction.SENT}


def test_an_order_holds_across_subscriptions(pair):
    one, two = pair
    for subject in ("A.*", "B.>", "C"):
        two.send(listen(subject))
    sent = [data(("A.x", "B.y.z", "C")[number * 7 % 3], b"%d" % number) for number in range(300)]
    for frame in sent:
        one.send(frame)
    assert heard(two, len(sent)) == sent


def test_nobody_hears_himself(pair):
    one, two = pair
    for link in pair:
        link.send(listen(">"))
    same = data("A.B", b"equal bytes")
    for _ in range(20):
        one.send(same)
        two.send(same)
    one.send(data("end", b""))
    two.send(data("end", b""))
    for link in pair:
        assert heard(link, 21) == [same] * 20 + [data("end", b"")]
        with pytest.raises(Deadline):
            link.receive(CLOCK.now() + 0.05)


def test_what_matches_twice_is_heard_once_unless_all_is_wanted(pair):
    one, two = pair
    for subject in ("A.>", "A.*", "A.B"):
        two.send(listen(subject))
    one.send(data("A.B", b"1"))
    one.send(data("A.C", b"2"))
    one.send(data("A.B.C", b"3"))
    one.send(data("A.B", b"4"))
    frames = [data("A.B", b"1"), data("A.C", b"2"), data("A.B.C", b"3"), data("A.B", b"4")]
    assert heard(two, 4) == frames
    two.send(cancel("A.>"))
    one.send(data("A.B.C", b"5"))
    one.send(data("A.B", b"6"))
    assert heard(two, 1) == [data("A.B", b"6")]
    two.raw = True
    one.send(data("A.B", b"7"))
    assert heard(two, 2) == [data("A.B", b"7")] * 2


@pytest.mark.parametrize("payload", [b"", b"\0", bytes(range(256)), "žluť".encode(), b"\r\n+OK\r\n", b"\xff\xfe"])
def test_any_payload_arrives(pair, payload):
    one, two = pair
    two.send(listen(">"))
    one.send(data("A", payload))
    assert heard(two, 1) == [data("A", payload)]


def test_the_largest_payload_arrives_and_one_more_byte_is_refused(pair):
    one, two = pair
    two.send(listen(">"))
    largest = data("A", b"x" * LARGEST)
    one.send(largest)
    assert heard(two, 1) == [largest]
    with pytest.raises(ValueError, match="does not fit"):
        one.send(data("A", b"x" * (LARGEST + 1)))
    one.send(data("A", b"still here"))
    assert heard(two, 1) == [data("A", b"still here")]


def test_a_link_that_was_closed_says_so_and_all_was_published(pair):
    one, two = pair
    two.send(listen(">"))
    one.send(listen("A.>"))
    two.send(data("A.B", b"unread"))
    for number in range(100):
        one.send(data("A.C", b"%d" % number))
    one.close()
    one.close()
    assert heard(two, 100) == [data("A.C", b"%d" % number) for number in range(100)]
    with pytest.raises(LinkClosed) as end:
        one.send(data("A", b""))
    assert end.value.how == "closed"


ODD = ["A", "A+/=_-.B", "ž.日本.😀", "A.\x01\x7f", "A.b*.c>d", "a" * 1000]


@pytest.mark.parametrize("subject", ODD)
def test_subjects_with_odd_characters_arrive(pair, subject):
    one, two = pair
    two.send(listen(subject))
    two.send(listen(">"))
    one.send(data(subject, b"x"))
    one.send(data("end", b""))
    assert heard(two, 2) == [data(subject, b"x"), data("end", b"")]


@pytest.mark.parametrize("running", ["nats"], indirect=True)
@pytest.mark.parametrize("subject", ["", "A B", "A\tB", "A\r\nPUB B 0"])
def test_subjects_that_nats_cannot_spell_are_refused(pair, subject):
    for frame in (data(subject, b""), listen(subject)):
        with pytest.raises(ValueError, match="no subject for NATS"):
            pair[0].send(frame)
    pair[1].send(listen(">"))
    pair[0].send(data("A", b"still here"))
    assert heard(pair[1], 1) == [data("A", b"still here")]


@pytest.mark.parametrize("running", ["redis", "websocket"], indirect=True)
@pytest.mark.parametrize("subject", ["A B", "A\tB", "A\r\nPUB B 0", "A\0", "A..B", "[A].?.\\"])
def test_subjects_are_any_text_for_redis(pair, subject):
    test_subjects_with_odd_characters_arrive(pair, subject)


@pytest.mark.parametrize("running", ["nats"], indirect=True)
def test_what_a_broker_refuses_to_listen_to_is_told(pair):
    with pytest.raises(LinkError, match="Invalid Subject"):
        pair[0].send(listen("A..B"))
    pair[0].send(listen("A.B"))
    pair[1].send(data("A.B", b"still here"))
    assert heard(pair[0], 1) == [data("A.B", b"still here")]


def test_a_wildcard_stands_for_whole_segments(pair):
    one, two = pair
    for wildcard in ("A.*.C", "B.>"):
        two.send(listen(wildcard))
    for subject in ("A.C", "A.B.C", "A.B.B.C", "A.B.C.D", "B", "B.A", "B.A.A", "BB.A", "A.x.C"):
        one.send(data(subject, b""))
    assert heard(two, 4) == [data(each, b"") for each in ("A.B.C", "B.A", "B.A.A", "A.x.C")]


def test_what_is_cancelled_is_heard_no_more_and_cancelling_again_does_nothing(pair):
    one, two = pair
    for subject in ("A.>", "A.*", "A.*", "B"):
        two.send(listen(subject))
    for subject in ("A.*", "B", "B", "C"):
        two.send(cancel(subject))
    for subject in ("A.1", "A.1.2", "B"):
        one.send(data(subject, b""))
    two.send(listen("B"))
    one.send(data("B", b"again"))
    assert heard(two, 3) == [data("A.1", b""), data("A.1.2", b""), data("B", b"again")]


def test_what_is_no_envelope_is_refused(pair):
    for frame in (b"", b"X\0\0", b"D\0\5A", b"D\0\1\xff"):
        with pytest.raises(ValueError, match="no envelope"):
            pair[0].send(frame)


def test_a_broker_that_is_killed_ends_links_and_comes_back_at_the_same_address(running, trace):
    one, two = (running.accept(soon(), label, trace) for label in "ab")
    two.send(listen(">"))
    one.send(data("A", b"last words"))
    assert heard(two, 1) == [data("A", b"last words")]
    running.shut()
    for link in (one, two):
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how in ("fin", "reset")
    assert {each.note for each in trace if each.what is EntryKind.CLOSED} <= {"fin", "reset"}
    with pytest.raises(LinkClosed):
        one.send(listen("A"))
    with pytest.raises(Deadline, match="no broker"):
        running.accept(CLOCK.now() + 0.05)
    with pytest.raises(Unreachable):
        dial(running.address, BROKER_FRAMINGS, CLOCK)
    running.shut()
    running.open()
    running.open()
    with links_of(running, 2) as (three, four):
        four.send(listen(">"))
        three.send(data("A", b"again"))
        assert heard(four, 1) == [data("A", b"again")]
    one.close()
    two.close()


def test_a_broker_that_runs_already_is_dialled_and_not_ended(running):
    reached = reach(running.address, CLOCK)
    with links_of(reached, 2) as (one, two):
        one.send(listen("A"))
        two.send(data("A", b"x"))
        assert heard(one, 1) == [data("A", b"x")]
    with pytest.raises(Unsupported, match="not ours to end"):
        reached.shut()
    reached.forget()
    reached.close()
    with links_of(reached, 1):
        pass


def test_an_abort_ends_a_link_with_a_reset(pair):
    assert pair[0].can_reset
    pair[0].abort()
    with pytest.raises(LinkClosed) as end:
        pair[0].receive(soon())
    assert end.value.how == "closed"


@pytest.mark.parametrize("transport", BROKERS)
def test_nobody_is_there(transport):
    where = f"{transport}/127.0.0.1:{free_port()}"
    with pytest.raises(Unreachable, match="refused"):
        dial(where, BROKER_FRAMINGS, CLOCK)
    with pytest.raises(Unreachable, match="refused"):
        reach(where, CLOCK).accept(soon())


@pytest.mark.parametrize("transport", BROKERS)
@pytest.mark.parametrize(
    "greeting", [b"", b"\0\1\2\r\n", b"SSH-2.0-x\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"x" * 300_000]
)
def test_somebody_else_is_there(transport, greeting):
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as other:

        def answer():
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(greeting)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass

        answered = other.submit(answer)
        with pytest.raises(Unreachable):
            dial(f"{transport}/127.0.0.1:{server.getsockname()[1]}", BROKER_FRAMINGS, CLOCK, timeout=5.0)
        answered.result()


@contextmanager
def saying(*said):
    """Run a server for one client, and yield its port; each time that it hears something, it says the next."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as other:

        def answer():
            connection, _ = server.accept()
            connection.settimeout(20.0)
            with connection, suppress(OSError):
                for each in said:
                    connection.sendall(each)
                    connection.recv(1 << 16)
                while connection.recv(1 << 16):
                    pass

        answered = other.submit(answer)
        yield server.getsockname()[1]
        answered.result()


@pytest.mark.parametrize(
    ("transport", "said", "reason"),
    [
        ("nats", b"INFO {}\r\n-ERR 'Authorization Violation'\r\n", "Authorization Violation"),
        ("nats", b'INFO {"tls_required":true}\r\n', "wants TLS"),
        ("nats", b"INFO []\r\n", "no NATS server"),
        ("nats", b"INFO {" + b" " * 200_000, "longer than"),
        ("redis", b"-NOAUTH HELLO must be called with the client already authenticated\r\n", "NOAUTH"),
        ("redis", b"-ERR unknown command 'HELLO'\r\n", "unknown command"),
        ("redis", b"*2\r\n$5\r\nproto\r\n:2\r\n", "no Redis server of version 6"),
        ("redis", b":1\r\n:1\r\n", "no Redis server"),
        ("websocket", b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404"),
    ],
)
def test_a_broker_that_does_not_want_us_says_why(transport, said, reason):
    with saying(said) as port, pytest.raises(Unreachable, match=reason):
        dial(f"{transport}/127.0.0.1:{port}", BROKER_FRAMINGS, CLOCK)


READY = {"nats": (b'INFO {"max_payload":9}\r\n', b"PONG\r\n"), "redis": (b"", b"%1\r\n$5\r\nproto\r\n:3\r\n")}


@pytest.mark.parametrize(
    ("transport", "said", "how"),
    [
        ("nats", b"what?\r\n", "reset"),
        ("nats", b"MSG A 1 99999999\r\n", "oversized"),
        ("redis", b"what?\r\n", "reset"),
        ("redis", b":1\r\n:1\r\n", "reset"),
        ("redis", b"$99999999\r\n", "oversized"),
    ],
)
def test_a_broker_that_goes_mad_ends_its_links(transport, said, how):
    with saying(*READY[transport], said) as port:
        link = dial(f"{transport}/127.0.0.1:{port}", BROKER_FRAMINGS, CLOCK)
        link.send(data("A", b""))
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how == how
        link.close()


def test_a_gateway_that_goes_mad_ends_its_links():
    def go_mad(client):
        with suppress(ConnectionClosed):
            for said in ('"PONG"', "what?"):
                client.recv()
                client.send(said)
            client.recv()

    with serve(go_mad, "127.0.0.1", 0) as server, ThreadPoolExecutor(1) as other:
        other.submit(server.serve_forever)
        try:
            link = dial(f"websocket/127.0.0.1:{server.socket.getsockname()[1]}", BROKER_FRAMINGS, CLOCK)
            link.send(data("A", b""))
            with pytest.raises(LinkClosed) as end:
                link.receive(soon())
            assert end.value.how == "reset"
            link.close()
        finally:
            server.shutdown()


def test_a_broker_that_takes_less_says_so():
    with saying(*READY["nats"]) as port:
        link = dial(f"nats/127.0.0.1:{port}", BROKER_FRAMINGS, CLOCK)
        link.send(data("A", b"123456789"))
        with pytest.raises(ValueError, match="takes 9"):
            link.send(data("A", b"1234567890"))
        link.abort()


def test_a_broker_that_does_not_confirm_is_given_up():
    with saying(*READY["nats"]) as port:
        link = dial(f"nats/127.0.0.1:{port}", BROKER_FRAMINGS, CLOCK)
        link.sending = 0.05
        with pytest.raises(Deadline, match="has not confirmed"):
            link.send(listen("A"))
        link.abort()


def test_a_ping_is_answered():
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as other:
        dialled = other.submit(dial, f"nats/127.0.0.1:{server.getsockname()[1]}", BROKER_FRAMINGS, CLOCK)
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as lines:
            connection.sendall(b"".join(READY["nats"]))
            link = dialled.result()
            connection.sendall(b"PING\r\n")
            with pytest.raises(Deadline):
                link.receive(CLOCK.now() + 0.2)
            assert [lines.readline().split()[0] for _ in range(3)] == [b"CONNECT", b"PING", b"PONG"]
            link.abort()


@pytest.mark.parametrize("transport", BROKERS)
def test_somebody_who_says_nothing_is_not_waited_for(transport):
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(Unreachable, match="time"):
        dial(f"{transport}/127.0.0.1:{server.getsockname()[1]}", BROKER_FRAMINGS, CLOCK, timeout=0.05)


@pytest.mark.parametrize("transport", BROKERS)
def test_a_program_that_is_missing_is_named(transport, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match=r"(nats|redis)-server is not installed: apt-get install \1-server"):
        listen_at(transport, BROKER_FRAMINGS, CLOCK)


@pytest.mark.parametrize("transport", BROKERS)
def test_a_broker_that_does_not_start_says_why(transport, monkeypatch, tmp_path):
    for name in ("nats-server", "redis-server"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho out of luck\nexit 3\n")
        program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(StartFailed, match="out of luck"):
        listen_at(transport, BROKER_FRAMINGS, CLOCK)


@pytest.mark.parametrize("transport", BROKERS)
def test_our_peers_serve_no_broker(transport):
    where = parse_address(f"{transport}/127.0.0.1:{free_port()}")
    served = TRANSPORTS[transport].serve(where, BROKER_FRAMINGS[transport], None, Certificate())
    with pytest.raises(BadDescription, match="nodes dial a broker"):
        asyncio.run(served)


def test_no_broker_is_behind_another_transport():
    with pytest.raises(BadDescription, match="no brokers over tcp"):
        reach("tcp/127.0.0.1:1", CLOCK)


@pytest.mark.parametrize("transport", ["websocket"])
def test_without_websockets_it_is_told_what_is_missing(transport, monkeypatch):
    monkeypatch.setitem(sys.modules, "websockets.client", None)
    with pytest.raises(NotInstalled, match="pip install websockets"):
        dial(f"{transport}/127.0.0.1:1", BROKER_FRAMINGS, CLOCK)
