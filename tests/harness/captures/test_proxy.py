"""The recording proxy, and ``goldwire record``: nothing is lost on its way, and all of it is in the capture."""

import asyncio
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from click.testing import CliRunner
from proxied import proxied

from harness.captures.reader import CaptureReader
from harness.captures.reassembly import Stream
from harness.captures.record_command import record
from harness.captures.recordings import Recording
from harness.errors import Unreachable
from harness.iuts.description import resolve
from harness.links.addresses import free_port
from harness.links.transports import parse_address
from harness.protocol import load as load_protocol
from harness.timing import ANSWER

PATHFINDER = load_protocol("pathfinder")


def test_proxy_passes_on_all_there_is(tmp_path):
    """Large amounts both ways, an end of one direction alone, a reset, a server that is not there."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        proxied(f"tcp/127.0.0.1:{server.getsockname()[1]}", tmp_path / "a.pcapng") as address,
    ):
        where = ("127.0.0.1", parse_address(address).port)
        big = bytes(range(256)) * 8000
        with socket.create_connection(where) as client:
            accepted, _ = server.accept()
            sender = threading.Thread(target=lambda: (client.sendall(big), client.shutdown(socket.SHUT_WR)))
            sender.start()
            assert received(accepted) == big
            sender.join()
            accepted.sendall(big[::-1])
            accepted.close()
            assert received(client) == big[::-1]
        with socket.create_connection(where) as client:
            accepted, _ = server.accept()
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            accepted.close()
            with pytest.raises(ConnectionResetError):
                client.recv(1)
        server.close()
        with socket.create_connection(where) as client, suppress(ConnectionResetError):
            assert client.recv(1) == b""
    streams, flags = {}, []
    for packet in CaptureReader(tmp_path / "a.pcapng"):
        key = packet.source, packet.target
        if packet.flags & 2:
            streams[key] = Stream(), []
            streams[key][0].begin(packet.seq + 1)
        flags.append(packet.flags)
        if packet.data:
            streams[key][1].extend(streams[key][0].take(packet.seq, packet.data, packet.number, packet.time))
    said = [b"".join(piece.data for piece in pieces) for _, pieces in streams.values()]
    assert [each for each in said if each] == [big, big[::-1]]
    assert sum(bool(flag & 4) for flag in flags) == 2
    assert sum(bool(flag & 1) for flag in flags) == 2


def test_a_reset_that_comes_before_anybody_looked_is_passed_on(tmp_path, monkeypatch):
    """The connection to the server is over when asyncio asks for its peer's name, which it then has not."""
    connect = asyncio.open_connection

    async def connect_late(host, port, **options):
        connection = socket.create_connection((host, port))
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        assert poll.poll(20_000)  # the reset has come
        with pytest.raises(OSError, match="not connected"):
            connection.getpeername()
        return await connect(sock=connection, **options)

    monkeypatch.setattr(asyncio, "open_connection", connect_late)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset():
            accepted, _ = server.accept()
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            accepted.close()

        thread = threading.Thread(target=reset)
        thread.start()
        with (
            proxied(f"tcp/127.0.0.1:{server.getsockname()[1]}", tmp_path / "a.pcapng") as address,
            socket.create_connection(("127.0.0.1", parse_address(address).port)) as client,
            pytest.raises(ConnectionResetError),
        ):
            client.recv(1)
        thread.join()
    packets = list(CaptureReader(tmp_path / "a.pcapng"))
    assert [bool(packet.flags & 4) for packet in packets] == [False, False, False, True]


RECORD = "import sys; from harness.captures.record_command import record; sys.exit(record(standalone_mode=False))"


def test_record_command(tmp_path):
    """It says where it listens, records until it is interrupted, and what it wrote can be read before that."""
    node = PATHFINDER.instance(resolve("peer:server", "pathfinder"), profile="document")
    address, out = f"tcp/127.0.0.1:{free_port()}", tmp_path / "a.pcapng"
    command = [sys.executable, "-c", RECORD, node._running.address("tcp"), "--listen", address, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == f"ready {address}\n"
        PATHFINDER.probe(address, ANSWER)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        node.stop()
    assert process.returncode == 0
    assert "a.pcapng: 1 connections" in said
    [session] = Recording(out, "pathfinder")
    assert session.trace.entries


@pytest.mark.parametrize(
    ("address", "said"), [("ux/a", "only what goes over TCP or UDP"), ("udp/127.0.0.1:1", "over the same transport")]
)
def test_what_cannot_be_recorded_is_refused(address, said, tmp_path):
    words = [address, "--listen", "tcp/127.0.0.1:7448", "--out", str(tmp_path / "a.pcapng")]
    result = CliRunner().invoke(record, words)
    assert (result.exit_code, said in result.output) == (2, True), result.output


def received(connection):
    parts = []
    while data := connection.recv(1 << 16):
        parts.append(data)
    return b"".join(parts)


def test_a_capture_that_is_there_is_never_written_over(tmp_path):
    """A regression: a second run emptied the capture of the first one."""
    out = tmp_path / "capture.pcapng"
    out.write_bytes(b"an hour of traffic")
    result = CliRunner().invoke(record, ["tcp/127.0.0.1:1", "--listen", "tcp/127.0.0.1:7448", "--out", str(out)])
    assert result.exit_code == 2
    assert "capture.pcapng is there already" in result.output
    assert out.read_bytes() == b"an hour of traffic"


def test_who_cannot_listen_leaves_no_capture(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp/127.0.0.1:{taken.getsockname()[1]}"
        out = tmp_path / "capture.pcapng"
        result = CliRunner().invoke(record, ["tcp/127.0.0.1:1", "--listen", address, "--out", str(out)])
    assert isinstance(result.exception, Unreachable)
    assert "cannot listen on" in str(result.exception)
    assert list(tmp_path.iterdir()) == []
