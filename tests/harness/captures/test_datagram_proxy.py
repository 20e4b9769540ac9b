"""The recording proxy for UDP: datagrams go to and fro between any number of addresses and a server."""

import asyncio
import contextlib
import errno
import socket

import pytest
from proxied import proxied

from harness.captures import datagram_proxy
from harness.captures.packets import format_end
from harness.captures.reader import CaptureReader
from harness.captures.recordings import Recording
from harness.errors import Unreachable
from harness.iuts.description import resolve
from harness.links.addresses import free_port
from harness.links.transports import parse_address
from harness.protocol import load
from harness.timing import ANSWER


@contextlib.contextmanager
def bound(family=socket.AF_INET, host="127.0.0.1"):
    """A socket at an address of its own, which waits for what comes, but not forever."""
    with socket.socket(family, socket.SOCK_DGRAM) as opened:
        opened.bind((host, 0))
        opened.settimeout(20)
        yield opened


def test_each_address_is_passed_on_by_itself(tmp_path):
    """What the server answers reaches who has asked, and the capture has all of it in order, with the ends' ports."""
    with bound() as server, bound() as one, bound() as two:
        address = f"udp/127.0.0.1:{server.getsockname()[1]}"
        with proxied(address, tmp_path / "a.pcapng") as listen:
            where = ("127.0.0.1", parse_address(listen).port)
            behind = []
            for each, said in ((one, b"a"), (two, b"b"), (one, b""), (one, bytes(60_000))):
                each.sendto(said, where)
                data, sender = server.recvfrom(1 << 16)
                assert data == said
                server.sendto(said * 2 if len(said) < 9 else b"much", sender)
                assert each.recvfrom(1 << 16)[1] == where
                behind.append(sender)
            assert behind[0] == behind[2] == behind[3] != behind[1]
        ports = [each.getsockname()[1] for each in (one, two, server)]
    told = [
        (format_end(each.source), format_end(each.target), len(each.data))
        for each in CaptureReader(tmp_path / "a.pcapng")
    ]
    first, second, third = (f"127.0.0.1:{port}" for port in ports)
    assert told == [
        (first, third, 1), (third, first, 2), (second, third, 1), (third, second, 2),
        (first, third, 0), (third, first, 0), (first, third, 60_000), (third, first, 4),
    ]  # fmt: skip


def test_who_was_heard_least_of_late_makes_room(tmp_path, monkeypatch):
    monkeypatch.setattr(datagram_proxy, "MOST", 2)
    with bound() as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(bound()) for _ in range(3)]
        with proxied(f"udp/127.0.0.1:{server.getsockname()[1]}", tmp_path / "a.pcapng") as listen:
            where, heard = ("127.0.0.1", parse_address(listen).port), []
            for number in (0, 1, 0, 2, 0, 1):
                clients[number].sendto(b"a", where)
                heard.append(server.recvfrom(9)[1])
            assert heard[0] == heard[2] == heard[4]
            assert heard[5] != heard[1]
            server.sendto(b"b", heard[5])
            assert clients[1].recv(9) == b"b"


def test_a_server_that_is_not_there_loses_what_is_sent(tmp_path):
    """And is spoken to when it comes, at the same address."""
    with bound() as server, bound() as client:
        port = server.getsockname()[1]
        server.close()
        with proxied(f"udp/127.0.0.1:{port}", tmp_path / "a.pcapng") as listen:
            where = ("127.0.0.1", parse_address(listen).port)
            client.sendto(b"lost", where)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as back:
                back.bind(("127.0.0.1", port))
                back.settimeout(0.05)
                said = b""
                while said != b"there":
                    client.sendto(b"there", where)
                    with contextlib.suppress(TimeoutError):
                        said = back.recv(9)


def test_it_listens_where_nobody_else_does(tmp_path):
    with bound() as taken:
        proxy = datagram_proxy.DatagramProxy(parse_address("udp/127.0.0.1:9"), None)
        with pytest.raises(Unreachable, match="cannot listen"):
            asyncio.run(proxy.listen(parse_address(f"udp/127.0.0.1:{taken.getsockname()[1]}")))


def test_a_capture_that_cannot_be_written_is_told_once(tmp_path):
    class Full:
        def write(self, packet, time):
            raise OSError(errno.ENOSPC, "No space left on device")

    proxy, told = datagram_proxy.DatagramProxy(parse_address("udp/127.0.0.1:9"), Full()), []
    proxy.on_trouble = lambda: told.append(proxy.trouble.errno)

    async def play():
        await proxy.listen(parse_address(f"udp/127.0.0.1:{free_port(socket.SOCK_DGRAM)}"))
        [front] = proxy._fronts
        with bound() as client:
            for _ in range(2):
                client.sendto(b"a", front.getsockname())
                proxy._take(front, lambda data, sender: proxy._asked(front, data, sender))
        await proxy.stop()

    asyncio.run(play())
    assert told == [errno.ENOSPC]


def test_a_session_is_recorded(tmp_path):
    """Of a protocol whose packets are datagrams: who was dialled is judged, and nothing is missing."""
    urbit = load("urbit")
    node = urbit.instance(resolve("peer:publisher", "urbit"))
    try:
        with proxied(node._running.address("udp"), tmp_path / "a.pcapng") as listen:
            urbit.probe(listen, ANSWER)
    finally:
        node.stop()
    [session] = Recording(tmp_path / "a.pcapng", "urbit")
    assert [entry.direction.value for entry in session.trace][-2:] == ["sent", "received"]
