"""The reference peer over real sockets: in a thread of ours, and as ``goldwire peer``."""

import signal
import socket
import subprocess
import sys
from threading import Event

import pytest

from harness.command import main
from harness.errors import Unreachable
from harness.iuts.control import ControlAnswer
from harness.iuts.description import resolve
from harness.links.addresses import free_port
from harness.links.transports import dial
from harness.trace import Trace
from harness.zenoh.framings import FRAMINGS
from harness.zenoh.protocol import PROTOCOL
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import set_of, token
from wire.zenoh.values import EntityKind, Interest, Mode


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_router_over_sockets(transport: str) -> None:
    running = PROTOCOL.instance(resolve("peer:", "zenoh"))
    try:
        node = NodeUnderTest(
            running, Trace("zenoh", transport), profile="document", namespace="n/", transport=transport
        )
        node.other.declare_token("a")
        assert node.interest(Mode.CURRENT, EntityKind.TOKEN).snapshot().declared == set_of(token("a"))
        node.close()
        running.restart()
        node.probe()
    finally:
        running.stop()
    with pytest.raises(Unreachable):
        dial(running._running.address(), FRAMINGS, running.clock)


def test_client_dials_and_obeys() -> None:
    running = PROTOCOL.instance(resolve("peer:client", "zenoh"))
    try:
        node = NodeUnderTest(running, Trace("zenoh"), profile="document", namespace="n/")
        node.main.barrier()
        node.other.declare_token("a")
        assert node.interest(Mode.CURRENT, EntityKind.TOKEN).snapshot().declared == set_of(token("a"))
        node.close()
    finally:
        running.stop()


def test_what_a_client_is_told_before_it_has_read_the_end_of_the_handshake_waits_for_it() -> None:
    running = PROTOCOL.instance(resolve("peer:client", "zenoh"))
    try:
        session = NodeUnderTest(running, Trace("zenoh"), profile="document", namespace="n/")._link()
        client, was_taken = running._running, Event()
        # The client has dialled, and its session is not open before the tester has answered twice.
        client._ask("1 ask x current token **\n")
        client._loop.call_soon_threadsafe(was_taken.set)
        assert was_taken.wait(20.0)
        session.open(opener=False)
        assert session.wait_for(lambda event: isinstance(event.message, Interest)) is not None
        assert client.control._answers.get(timeout=20.0) == ControlAnswer(1, ok=True)
        session.close()
    finally:
        running.stop()


def peer(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from harness.command import main; main()", "peer", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_until_it_is_told_to_stop(number: int) -> None:
    address = f"tcp/127.0.0.1:{free_port()}"
    with peer("zenoh", "--listen", address) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"ready {address}\n"
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))):
            process.send_signal(number)
            assert process.wait(60) == 0


def test_the_command_takes_control_lines() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connect = f"tcp/127.0.0.1:{listener.getsockname()[1]}"
        with peer("zenoh", "--role", "client", "--connect", connect) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == f"ready {connect}\n"
            process.stdin.write("1 verbs\n2 declare token t a/b\n3 put a b\n4 dance\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith("1 ok declare")
            # The others wait for the handshake, which ends with its link.
            listener.accept()[0].close()
            assert process.stdout.readline() == "2 ok\n"
            assert process.stdout.readline() == "3 error ControlFailed: there is no open session\n"
            assert process.stdout.readline().startswith("4 error unsupported")
            process.stdin.close()
            assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("zenow",), "unknown protocol 'zenow'; there are "),
        (("zenoh",), "--listen"),
        (("zenoh", "--listen", "tcp/nowhere"), "tcp/nowhere"),
        (("zenoh", "--listen", "tcp/127.0.0.1:1", "--fault", "ZI-999"), "ZI-999"),
        (("zenoh", "--role", "king", "--listen", "tcp/127.0.0.1:1"), "king"),
    ],
)
def test_wrong_usage_is_one_clear_line(
    arguments: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["goldwire", "peer", *arguments])
    with pytest.raises(SystemExit) as end:  # in this process, as nothing is served
        main()
    said = capfd.readouterr().err
    assert end.value.code == 2
    assert complaint in said
    assert "Traceback" not in said


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp/127.0.0.1:{taken.getsockname()[1]}"
        with peer("zenoh", "--listen", address) as process:
            _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert address in said


def test_a_client_comes_again_for_each_scene() -> None:
    running = PROTOCOL.instance(resolve("peer:client", "zenoh"))
    try:
        node = NodeUnderTest(running, Trace("zenoh"), profile="document", namespace="n/")
        for _ in range(2):
            with node.scene() as scene:
                scene.other.declare_token("a")
                assert scene.interest(Mode.CURRENT, EntityKind.TOKEN).snapshot().declared == set_of(token("a"))
    finally:
        running.stop()
