"""Implementations that run: started, ready, dead, stopped, and never left behind."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from harness.clock import RealClock
from harness.errors import BadDescription, StartFailed, Unreachable
from harness.iuts.description import resolve
from harness.iuts.implementation import start
from harness.iuts.instance import SocketInstance
from harness.links.addresses import free_port
from harness.links.framing import LengthPrefixed
from harness.links.transports import dial, listen
from harness.trace import Trace

CLOCK = RealClock()
FRAMINGS = {"tcp": LengthPrefixed()}
ECHO = """
import os, socket, sys
print("hello from", os.environ["GOLDWIRE_ROLE"], os.environ["COLOUR"], flush=True)
host, _, port = sys.argv[1].removeprefix("tcp/").rpartition(":")
server = socket.create_server((host, int(port)))
print("ready", flush=True)
while True:
    connection, _ = server.accept()
    with connection:
        connection.sendall(connection.recv(100))
"""
CONTROLLED = """
import os, sys
print("ready", flush=True)
for line in sys.stdin:
    seq, verb, *args = line.split()
    print("log of", verb, flush=True)
    if verb == "die":
        os._exit(7)
    print(seq, "ok", *args, flush=True)
"""


@pytest.fixture
def described(tmp_path):
    """Write a description of a small Python program and return it resolved."""

    def write(program, role="router", **keys):
        (tmp_path / "program.py").write_text(program)
        keys = {"start_timeout": "30.0", "env": '{ COLOUR = "green {role}" }'} | keys
        lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
        (tmp_path / "mine.toml").write_text(
            f"""
name = "mine"
protocol = "zenoh"
roles = ["router", "client"]
dials = ["client"]

[process]
command = ["{{python}}", "-S", "{{here}}/program.py", "{{listen}}{{connect}}"]
{lines}
"""
        )
        return resolve(f"{tmp_path / 'mine.toml'}:{role}", "zenoh")

    return write


def probe(address, patience=20.0):
    link = dial(address, FRAMINGS, CLOCK)
    link.send(b"hi")
    link.receive(CLOCK.now() + patience)
    link.close()


@pytest.mark.parametrize("ready", ['"handshake"', '"line"'])
def test_a_program_is_ready_when_start_returns(described, ready):
    with start(described(ECHO, ready=ready), probe=probe) as node:
        assert node.alive()
        assert node.exit_status is None
        probe(node.address())
        with pytest.raises(BadDescription, match="does not listen over udp"):
            node.address("udp")
    assert not node.alive()
    assert node.exit_status == -signal.SIGTERM
    assert "hello from router green router" in node.output_tail()
    node.stop()


def test_a_restart_starts_it_anew(described):
    with start(described(ECHO), probe=probe) as node:
        before = node.pid
        node.restart()
        assert node.pid != before
        probe(node.address())


def test_a_program_that_dies_before_it_is_ready(described):
    dying = "import sys; print('on standard output'); sys.exit('cannot bind')"
    for ready in ('"handshake"', '"line"'):
        with pytest.raises(StartFailed, match=r"mine:router ended with status 1 before") as failure:
            start(described(dying, ready=ready), probe=probe)
        assert "cannot bind" in str(failure.value)
        assert "on standard output" in str(failure.value)


@pytest.mark.parametrize("ready", ['"handshake"', '"line"'])
def test_a_program_that_never_gets_ready(described, ready):
    sleeping = "import signal; print('sleeping', flush=True); signal.pause()"
    with pytest.raises(StartFailed, match=r"has not .* within 0.2 s"):
        start(described(sleeping, ready=ready, start_timeout="0.2"), probe=probe)


@pytest.mark.parametrize("ready", ['"handshake"', '"line"'])
def test_a_program_that_is_not_there(described, ready):
    description = described(ECHO, client_command='["/nowhere/at/all"]', role="client", ready=ready)
    with pytest.raises(StartFailed, match="cannot run /nowhere/at/all: there is no such program"):
        start(description, connect="tcp/127.0.0.1:1")


def test_a_program_that_ignores_sigterm_is_killed(described, monkeypatch):
    monkeypatch.setattr("harness.iuts.process._TERM_TIMEOUT", 0.1)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True)\n"
    with start(described(deaf + "while True: signal.pause()", ready='"line"')) as node:
        pass
    assert node.exit_status == -signal.SIGKILL


def told_of_a_crash(node):
    """Wait until a sign of a crash was read; return what the node said."""
    deadline = time.monotonic() + 30
    while node.alive():
        assert time.monotonic() < deadline
    return node.output_tail()


@pytest.mark.parametrize(
    ("sign", "patience"),
    [("ERROR: AddressSanitizer: SEGV", "_REPORT_PAUSE"), ("Terminating due to exception", "_PAUSE")],
)
def test_the_last_words_behind_the_sign_of_a_crash_are_waited_for(described, monkeypatch, sign, patience):
    """A regression: a finding's log had the first line alone, as that was taken for the death."""
    # However busy the machine is: its end comes first.
    monkeypatch.setattr(f"harness.iuts.process.{patience}", 30.0)
    dying = f"""
import sys, time
print("ready", flush=True)
print({sign!r}, file=sys.stderr, flush=True)
time.sleep(0.5)
print("the place", file=sys.stderr, flush=True)
"""
    with start(described(dying, ready='"line"', crash_signs=f"[{sign!r}]")) as node:
        assert told_of_a_crash(node).endswith("the place")


def test_one_that_goes_on_after_the_sign_of_a_crash_is_not_waited_for(described):
    going_on = "import signal\nprint('ready', flush=True)\nprint('panicked', flush=True)\nsignal.pause()"
    with start(described(going_on, ready='"line"', crash_signs='["panicked"]')) as node:
        assert told_of_a_crash(node).endswith("panicked")
        assert node.exit_status is None


def test_children_of_a_program_end_with_it(described):
    parent = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"])
print("child", child.pid)
print("ready", flush=True)
child.wait()
"""
    with start(described(parent, ready='"line"')) as node:
        child = int(node.output_tail().split()[1])
        os.kill(child, 0)
        end = os.pidfd_open(child)
    try:
        assert has_ended(end)
    finally:
        os.close(end)


def test_a_program_ends_with_its_tester(tmp_path):
    tester = """
import os, signal, sys
from harness.iuts.process import Process
process = Process([sys.executable, "-S", "-c", "import signal; print('ready', flush=True); signal.pause()"],
                  os.environ, control=False)
process.wait_ready(30)
print(process.pid, flush=True)
sys.stdin.read()
"""
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", tester], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        end = os.pidfd_open(int(running.stdout.readline()))
        running.kill()
    try:
        assert has_ended(end)
    finally:
        os.close(end)


def has_ended(pidfd):
    """Wait for the end of a process that is not our child."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(20_000))


def test_a_program_is_told_to_act(described):
    with start(described(CONTROLLED, ready='"line"', control="true")) as node:
        assert node.control.request("put", "a", "b") == "a b"
        assert "log of put" in node.output_tail()
        assert "1 ok" not in node.output_tail()


def test_a_death_is_seen_with_its_status(described):
    with start(described(CONTROLLED, ready='"line"', control="true")) as node:
        with pytest.raises(Exception, match="the node has ended"):
            node.control.request("die", timeout=30.0)
        assert node._process.wait(20.0)
        assert not node.alive()
        assert node.exit_status == 7
    assert node.exit_status == 7


def test_a_crash_that_is_only_printed_counts_as_death(described):
    with start(described(CONTROLLED, ready='"line"', control="true", crash_signs='["log of panic"]')) as node:
        node.control.request("fine")
        assert node.alive()
        node.control.request("panic")
        assert not node.alive()
        assert node.exit_status is None


def test_a_role_that_dials_is_given_the_address(described):
    listener = listen("tcp", FRAMINGS, CLOCK)
    dialling = """
import os, socket, sys
assert os.environ["GOLDWIRE_CONNECT"] == sys.argv[1]
host, _, port = sys.argv[1].removeprefix("tcp/").rpartition(":")
with socket.create_connection((host, int(port))) as connection:
    scenario = os.environ["GOLDWIRE_SCENARIO"].encode()
    connection.sendall(bytes([len(scenario), 0]) + scenario)
    connection.recv(1)
"""
    description = described(dialling, role="client")
    with pytest.raises(BadDescription, match="needs an address to dial"):
        start(description)
    with start(description, connect=listener.address, scenario="token-one") as node:
        link = listener.accept(CLOCK.now() + 20.0)
        assert link.receive(CLOCK.now() + 20.0).data == b"token-one"
        link.close()
        with pytest.raises(BadDescription, match="does not listen"):
            node.address()
    listener.close()


def test_a_remote_node_is_probed_and_left_alone(monkeypatch):
    listener = listen("tcp", FRAMINGS, CLOCK)
    probed = []
    with start(resolve(listener.address, "zenoh"), probe=lambda *asked: probed.append(asked)) as node:
        assert [address for address, _ in probed] == [listener.address] == [node.address()]
        assert node.alive()
    listener.close()
    monkeypatch.setattr("harness.iuts.implementation._REMOTE_TIMEOUT", 0.05)

    tried = []

    def refused(address, patience):
        tried.append(patience)
        raise Unreachable("refused")

    with pytest.raises(StartFailed, match="does not answer: refused"):
        start(resolve(listener.address, "zenoh"), probe=refused)
    assert set(tried) == {0.05}, "no try has longer than all of them"


def test_an_address_where_nobody_listens_is_told_soon(monkeypatch):
    monkeypatch.setattr("harness.iuts.implementation._REMOTE_TIMEOUT", 3600.0)  # which silence would be given
    monkeypatch.setattr("harness.iuts.implementation._REFUSED_TIMEOUT", 0.05)

    def probe(where, patience):
        dial(where, FRAMINGS, CLOCK, timeout=patience, label="a").close()

    with pytest.raises(StartFailed, match="Connection refused"):
        start(resolve(f"tcp/127.0.0.1:{free_port()}", "zenoh"), probe=probe)


def test_a_node_that_is_far_away_has_longer_with_each_try():
    tried = []

    def far(address, patience):
        tried.append(patience)
        if patience < 4.0:
            raise Unreachable("not yet")

    with start(resolve("tcp/127.0.0.1:1", "zenoh"), probe=far):
        assert tried == [1.0, 2.0, 4.0]


def test_the_embedded_peer_is_run_by_whoever_has_it():
    asked = []
    start(resolve("peer:client", "zenoh"), connect="tcp/127.0.0.1:1", embedded=lambda *args: asked.append(args))
    assert [(description.role, connect) for description, connect in asked] == [("client", "tcp/127.0.0.1:1")]
    with pytest.raises(BadDescription, match="no embedded peer"):
        start(resolve("peer:", "zenoh"))


@pytest.mark.parametrize(
    ("command", "why"),
    [("{here}", "it is a folder"), ("{here}/program.py", r"no program that may be run \(chmod \+x "),
     ("{here}/none", "there is no such program$"), ("no-such-program", "there is no such program on the PATH$")],
)  # fmt: skip
def test_a_program_that_cannot_be_run_is_told_why(described, command, why):
    description = described("")
    program = msgspec.structs.replace(description.source.program, command=(command,))
    with pytest.raises(StartFailed, match=why):
        start(msgspec.structs.replace(description, source=msgspec.structs.replace(description.source, program=program)))


@pytest.mark.parametrize(("program", "why"), [
    ("print('no licence')", r"ended before it dialled once; it printed last:\n  it ended with status 0; no licence"),
    ("input()", "has not dialled tcp/127.0.0.1:.* within [012] s"),
])  # fmt: skip
def test_who_never_dials_has_not_started(described, program, why):
    description = described(program, role="client", start_timeout="0.1", control="true")
    instance = SocketInstance(description, FRAMINGS)
    try:
        with pytest.raises(StartFailed, match=why):
            instance.link(Trace("zenoh"), "a", patience=0.2 if "input" in program else 20)
    finally:
        instance.stop()
