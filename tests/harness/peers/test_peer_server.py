"""Serving: a node behind real sockets of every kind, and those who mean it no good."""

import asyncio
import contextlib
import gc
import socket
import ssl
import sys
import threading

import pytest
from machines import FRAMINGS, Echo, described

from harness.clock import RealClock
from harness.errors import BadDescription, LinkClosed
from harness.links import tls
from harness.links.tls import _fresh_certificate, server_context
from harness.links.transports import DIRECT, dial, free_addresses, parse_address
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.peer_server import PeerServer

CLOCK = RealClock()
STREAMS = ("tcp", "tcp-stream", "ux", "tls")
OBJECT = b'{"a": "' + b"x" * 65_000 + b'"}'


def soon():
    return CLOCK.now() + 20.0


@contextlib.contextmanager
def serving(*transports, tempo=1.0):
    node = Echo()
    with EmbeddedImplementation(
        described("echo", *(transports or DIRECT)), lambda settings: node, FRAMINGS, tempo=tempo
    ) as running:
        yield running, node
        assert running.alive(), running.output_tail()


@contextlib.contextmanager
def dialled(running, transport):
    link = dial(running.address(transport), FRAMINGS, CLOCK)
    try:
        yield link
    finally:
        link.close()


def ask(link, frame):
    link.send(frame)
    return link.receive(soon()).data


@pytest.mark.parametrize("transport", DIRECT)
def test_frames_go_there_and_back(transport):
    with serving() as (running, _), dialled(running, transport) as link:
        assert ask(link, b'{"a": 1}') == b'{"a": 1}'
        frame = b'{"long": "' + b"x" * (60_000 if transport == "udp" else (1 << 18) - 12) + b'"}'
        assert ask(link, frame) == frame
        for number in range(100):
            link.send(b'{"n": %d}' % number)
        assert [link.receive(soon()).data for _ in range(100)] == [b'{"n": %d}' % number for number in range(100)]


def test_all_kinds_of_links_meet_at_one_node():
    with serving() as (running, node), contextlib.ExitStack() as stack:
        links = [stack.enter_context(dialled(running, transport)) for transport in DIRECT]
        for link in links:
            assert ask(link, b"{}") == b"{}"
        assert len(node.links) == len(DIRECT)
        assert [ask(link, b"{}") for link in links] == [b"{}"] * len(links)
        links[0].send_raw(FRAMINGS["tcp"].encode(b'"all"'))
        assert [link.receive(soon()).data for link in links] == [b'"to all"'] * len(links)


class Recorder(Echo):
    """Wants to know who comes."""

    def connected(self, link, now, *, dialled=False, address=""):
        super().connected(link, now, dialled=dialled, address=address)
        self.events[-1:] = [address]


@pytest.mark.parametrize("transport", DIRECT)
def test_a_node_is_told_where_links_come_from_if_it_wants_to_know(transport):
    node = Recorder()
    running = EmbeddedImplementation(described("echo", transport), lambda settings: node, FRAMINGS)
    with running, dialled(running, transport) as link:
        assert ask(link, b"{}") == b"{}"
        [address] = running.events()
        assert address == f"{transport}:127.0.0.1:{link.ports[0]}" or address.startswith("ux:")


def test_a_link_of_packets_has_a_name_before_it_says_anything():
    node = Recorder()
    running = EmbeddedImplementation(described("echo", "ux"), lambda settings: node, FRAMINGS)
    with running, dialled(running, "ux") as silent, dialled(running, "ux") as link:
        # Connections are accepted in their order, so the silent one has been when this is answered.
        assert ask(link, b"{}") == b"{}"
        assert [address.partition(":")[0] for address in running.events()] == ["ux", "ux"]
        assert all(address.startswith("ux:") for address in running.events()), silent.label


@pytest.mark.parametrize("transport", STREAMS)
def test_a_hang_up_comes_after_the_last_words_whatever_was_sent_meanwhile(transport):
    with serving() as (running, node), dialled(running, transport) as link:
        for frame in (b"{}", b'"bye"' if transport != "tcp-stream" else b"{}", b"{}"):
            link.send(frame)
        if transport == "tcp-stream":
            link.send_raw(b'"bye"')
            assert [link.receive(soon()).data for _ in range(3)] == [b"{}"] * 3
        else:
            assert link.receive(soon()).data == b"{}"
        assert link.receive(soon()).data == b'"farewell"'
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how == "fin"
        assert "disconnected 1" not in node.events


@pytest.mark.parametrize("transport", DIRECT)
def test_who_has_hung_up_and_is_stopped_leaves_no_socket_open(transport, monkeypatch):
    open_ones = []
    monkeypatch.setattr(sys, "unraisablehook", open_ones.append)  # Python's warnings of them
    with serving() as (running, _), dialled(running, transport) as link:
        link.send_raw(b'"bye"') if transport == "tcp-stream" else link.send(b'"bye"')
        assert link.receive(soon()).data == b'"farewell"'
        running.stop()  # before the other side has closed
        gc.collect()
    assert open_ones == []


def test_a_link_that_is_made_when_all_is_over_is_ended():
    class Late:
        is_aborted = False

        def abort(self):
            self.is_aborted = True

    async def main():
        server = PeerServer(node, FRAMINGS)
        server.stop()
        server.link_opened(late, "somebody")
        server.act(lambda: pytest.fail("a stopped node acts"))

    node, late = Echo(), Late()
    asyncio.run(main())
    assert late.is_aborted
    assert node.links == []


@pytest.mark.parametrize("transport", STREAMS)
def test_a_hang_up_meets_one_that_has_left(transport):
    with serving(*{"tcp", transport}) as (running, node), dialled(running, "tcp") as link:
        leaving = dial(running.address(transport), FRAMINGS, CLOCK)
        assert ask(leaving, b"{}") == b"{}"
        link.send(b'"evict"')
        assert node.entered.wait(20.0)
        leaving.abort()
        node.gate.set()
        assert link.receive(soon()).data == b'"evict"'
        assert ask(link, b"{}") == b"{}"


@pytest.mark.parametrize("transport", STREAMS)
def test_one_that_has_hung_up_or_gone_is_forgotten(transport):
    with serving() as (running, node):
        with dialled(running, transport) as link:
            assert ask(link, b"{}") == b"{}"
        with dialled(running, transport) as other:
            assert ask(other, b"{}") == b"{}"
            assert node.links == [2]
            assert running.events() == ["connected 1", "disconnected 1", "connected 2"]


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_a_prefix_beyond_the_most_ends_that_link_only(transport):
    with serving() as (running, node), dialled(running, transport) as link, dialled(running, "tcp") as other:
        assert ask(other, b"{}") == b"{}"
        link.send(b"{}")
        link.send_raw((1 << 18).to_bytes(4, "big")[:3])
        assert link.receive(soon()).data == b"{}"
        link.send_raw(b"\1")
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how == "fin"
        assert ask(other, b"{}") == b"{}"
        assert len(node.links) == 1


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_what_was_answered_before_the_end_is_not_destroyed_by_what_is_sent_after(transport):
    framing = FRAMINGS[transport]
    for _ in range(20):
        with serving(transport) as (running, _), dialled(running, transport) as link:
            link.send_raw(framing.encode(b"{}") + framing.encode(b'"bye"') + b"x" * (1 << 20))
            assert [link.receive(soon()).data, link.receive(soon()).data] == [b"{}", b'"farewell"']
            with pytest.raises(LinkClosed) as end:
                link.receive(soon())
            assert end.value.how == "fin"


def test_an_object_that_never_ends_ends_its_link():
    with serving() as (running, node), dialled(running, "tcp-stream") as link:
        for _ in range(50):
            link.send_raw(b'{"a": ' * 1000)
        with pytest.raises(LinkClosed):
            link.receive(soon())
        assert node.frames == 0


def test_a_packet_that_is_too_long_ends_that_link_only():
    with serving() as (running, _), dialled(running, "ux") as link, dialled(running, "ux") as other:
        link.send(b"x" * ((1 << 18) + 1))
        with pytest.raises(LinkClosed):
            link.receive(soon())
        assert ask(other, b"{}") == b"{}"


def test_an_answer_that_fits_no_frame_ends_that_link_only():
    with serving() as (running, _), dialled(running, "tcp") as link, dialled(running, "tcp") as other:
        with pytest.raises(LinkClosed):
            ask(link, b'"too much"')
        assert ask(other, b"{}") == b"{}"


def test_bytes_that_come_one_by_one():
    frame = b'{"a": "' + b"x" * 20_000 + b'"}'
    with serving() as (running, _):
        for transport in ("tcp", "tcp-stream"):
            with dialled(running, transport) as link:
                for byte in FRAMINGS[transport].encode(frame):
                    link.send_raw(bytes([byte]))
                assert link.receive(soon()).data == frame


def test_ten_thousand_frames_at_once_cost_the_timer_nothing():
    frames = [b'{"n": %d}' % number for number in range(10_000)]
    with serving("tcp") as (running, node), dialled(running, "tcp") as link:
        node.at = CLOCK.now() + 1000.0
        assert ask(link, b"{}") == b"{}"
        # The timer is set behind the answer, so it is there for sure when the next one has come.
        assert ask(link, b"{}") == b"{}"
        timer, asked = running._server._timer, node.asked
        link.send_raw(b"".join(map(FRAMINGS["tcp"].encode, frames)))
        assert [link.receive(soon()).data for _ in frames] == frames
        assert running._server._timer is timer
        assert node.asked - asked < len(frames) / 100


@pytest.mark.parametrize(
    "transport",
    # A stream of objects and a socket of UNIX keep what is not read in the buffers that those of TCP have.
    [pytest.param(each, marks=[] if each in ("tcp", "tls") else [pytest.mark.slow]) for each in STREAMS],
)
def test_one_that_reads_nothing_harms_nobody_but_itself(transport, monkeypatch):
    monkeypatch.setattr("harness.links.asyncio_links.WRITE_LIMIT", 8 << 20)
    with serving(*{"tcp", transport}) as (running, node), contextlib.ExitStack() as stack:
        deaf = stack.enter_context(dialled(running, transport))
        others = [stack.enter_context(dialled(running, "tcp")) for _ in range(50)]
        for other in others:
            assert ask(other, b"{}") == b"{}"
        stuffed = threading.Event()

        def stuff():
            # What it does not read keeps the server from reading it: at last it cannot even write.
            raw, piece = deaf._socket, OBJECT if transport == "ux" else FRAMINGS[transport].encode(OBJECT)
            raw.setblocking(True)
            raw.settimeout(0.3)
            with contextlib.suppress(OSError):
                while True:
                    raw.sendall(piece)
            stuffed.set()

        thread = threading.Thread(target=stuff)
        thread.start()
        while not stuffed.is_set():
            for other in others:
                assert ask(other, b"{}") == b"{}"
        thread.join()
        assert len(node.links) == 51
        # What is said to it unasked still comes: until that is too much. Its sockets may have room for 10 MB more where
        # the server was busy with others for so long that stuffing gave up.
        for _ in range((8 + 10) * 8):
            running.control.request("say", "x" * (1 << 17))
            for other in others:
                assert len(other.receive(soon()).data) == 1 << 17
            if len(node.links) == 50:
                break
        assert len(node.links) == 50


@pytest.mark.parametrize("transport", ["tcp", "tcp-stream", "ux"])
def test_one_that_ends_only_its_own_direction_still_gets_the_answers(transport):
    with serving(transport) as (running, node), dialled(running, transport) as link:
        for _ in range(100):
            link.send(OBJECT)
        link._socket.shutdown(socket.SHUT_WR)
        assert [link.receive(soon()).data for _ in range(100)] == [OBJECT] * 100
        with pytest.raises(LinkClosed) as end:
            link.receive(soon())
        assert end.value.how == "fin"
        assert not node.links


def test_time_is_scaled():
    with serving("tcp", tempo=2000.0) as (running, _), dialled(running, "tcp") as link:
        assert running.tempo == 2000.0
        began = CLOCK.now()
        assert ask(link, b'"later"') == b'"now"'
        assert 0.1 <= CLOCK.now() - began < 200, "200 s of its own, a tenth of one here"


def test_a_node_that_raises_has_died():
    with EmbeddedImplementation(described("echo"), Echo.of, FRAMINGS) as running, dialled(running, "tcp") as link:
        with pytest.raises(LinkClosed):
            ask(link, b'"die"')
        assert not running.alive()
        assert running.output_tail() == "RuntimeError: told to die"


def test_a_node_that_cannot_be_made_says_why():
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        EmbeddedImplementation(described("echo"), lambda settings: Echo(wrong=1), FRAMINGS)


def test_without_cryptography_all_but_tls_is_served(monkeypatch):
    server_context.cache_clear()
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with serving("tcp", "tls") as (running, _), dialled(running, "tcp") as link:
        assert ask(link, b"{}") == b"{}"
        with pytest.raises(BadDescription, match=r"pip install cryptography, or give --certificate"):
            running.address("tls")


def test_a_certificate_of_ones_own_is_shown(tmp_path):
    path = tmp_path / "own.pem"
    path.write_bytes(_fresh_certificate())

    async def shown():
        server = PeerServer(Echo(), FRAMINGS, certificate=path)
        [where] = free_addresses(["tls"])
        await server.listen([str(where)])
        seen = await asyncio.to_thread(ssl.get_server_certificate, (where.host, where.port))
        server.stop()
        return seen

    assert asyncio.run(shown()).strip() in path.read_text()


def test_a_certificate_that_is_none_is_named(tmp_path):
    (tmp_path / "no.pem").write_text("no certificate")
    with pytest.raises(BadDescription, match=r"no\.pem"):
        server_context(tmp_path / "no.pem")


def test_one_that_does_not_speak_tls_harms_nobody():
    with serving("tls") as (running, _):
        where = parse_address(running.address("tls"))
        with socket.create_connection((where.host, where.port)) as stranger, dialled(running, "tls") as link:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert ask(link, b"{}") == b"{}"
            while stranger.recv(100):
                pass


def test_who_never_begins_tls_is_waited_for_as_long_as_is_said(monkeypatch):
    """A regression: --hello-patience bounded what comes behind the handshake only."""
    # Nothing else ends the connection in time.
    monkeypatch.setattr(tls, "HANDSHAKE_TIMEOUT", 1000.0)

    def silent(where):
        with socket.create_connection((where.host, where.port), timeout=20) as stranger:
            return stranger.recv(1)

    async def ended():
        server = PeerServer(Echo(), FRAMINGS, scale=10.0, patience=1.0)
        [where] = free_addresses(["tls"])
        await server.listen([str(where)])
        said = await asyncio.to_thread(silent, where)
        server.stop()
        return said

    assert asyncio.run(ended()) == b""


def test_a_crowd_that_says_nothing_keeps_nobody_waiting():
    with serving("tcp", "ux") as (running, node), contextlib.ExitStack() as stack:
        inside = stack.enter_context(dialled(running, "tcp"))
        for _ in range(500):
            for transport in ("tcp", "ux"):
                stack.enter_context(dialled(running, transport))
            assert ask(inside, b"{}") == b"{}"
        with dialled(running, "ux") as late:
            assert ask(late, b"{}") == b"{}"
        assert len(node.links) >= 1001
