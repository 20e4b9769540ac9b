"""Brokers that are not there, or are none, or do not want us, or go mad."""

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from brokers import BROKERS, CLOCK
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from harness.errors import (
    BadDescription,
    Deadline,
    LinkClosed,
    NotInstalled,
    StartFailed,
    Unreachable,
)
from harness.links.addresses import free_port
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.transport import Certificate
from harness.links.transports import TRANSPORTS, dial, parse_address, reach
from harness.links.transports import listen as listen_at
from wire.envelope import data, listen


def soon():
    return CLOCK.now() + 20.0


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
