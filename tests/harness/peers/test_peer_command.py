"""``goldwire peer`` with a protocol of the tests' own: many addresses, events, and an end without a word."""

import os
import resource
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import machines
import pytest
from click.testing import CliRunner
from machines import FRAMINGS

from harness import peer_command
from harness.clock import RealClock
from harness.command import main
from harness.links.transports import DIRECT, dial, free_addresses, listen
from harness.protocol import load

CLOCK = RealClock()
PATHFINDER = load("pathfinder").defects
# A protocol is a folder of the harness; here the tests' own stands in its place.
CODE = """
import sys
import harness.peer_command
import machines
from harness.links.transports import DIRECT
harness.peer_command.known = lambda: ["machine"]
harness.peer_command.load = lambda name: machines.PROTOCOL
harness.peer_command.resolve = lambda text, protocol: machines.described("echo", *DIRECT)
sys.argv[1:1] = ["peer", "machine"]
from harness.command import main
main()
"""


def soon():
    return CLOCK.now() + 20.0


def peer(*arguments, files=None, **variables):
    """Run ``goldwire peer machine``, which can open no more than so many files."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **variables},
    )
    if files is not None:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, files)
    return process


def ready(process):
    """Read the line that says that a peer is ready, and return what stands behind the word."""
    word, *places = process.stdout.readline().split() or [process.stderr.read()]
    assert word == "ready", word
    return places


def ended(process, number=signal.SIGTERM):
    """End a peer and return its status and what it complained of."""
    process.send_signal(number)
    _, complaints = process.communicate(timeout=60)
    return process.returncode, complaints


def test_it_listens_on_many_addresses_of_many_kinds():
    places = [str(each) for each in free_addresses([*DIRECT, "ux", "tcp"])]
    with peer(*(word for place in places for word in ("--listen", place))) as process, ExitStack() as stack:
        assert ready(process) == places
        for number, place in enumerate(places, 1):
            link = dial(place, FRAMINGS, CLOCK)
            stack.callback(link.close)
            link.send(b"{}")
            assert link.receive(soon()).data == b"{}"
            assert process.stdout.readline() == f"event connected {number}\n"
        assert ended(process) == (0, "")


@pytest.mark.parametrize("scenario", [("--scenario", "sing"), ()])
def test_it_dials_as_many_addresses_as_it_is_given(scenario):
    listeners = [listen(transport, FRAMINGS, CLOCK) for transport in ("tcp", "ux")]
    listeners[1].shut()
    connect = [word for listener in listeners for word in ("--connect", listener.address)]
    # The option goes first.
    with peer("--role", "caller", *connect, *scenario, GOLDWIRE_SCENARIO="dance") as process, ExitStack() as stack:
        assert ready(process) == [listener.address for listener in listeners]
        link = listeners[0].accept(soon())
        stack.callback(link.close)
        assert link.receive(soon()).data == b'{"%s": 0}' % (b"sing" if scenario else b"dance")
        said = {process.stdout.readline() for _ in range(2)}
        assert said == {"event reached 0\n", "event refused 1\n"}
        listeners[1].open()
        other = listeners[1].accept(soon())
        stack.callback(other.close)
        assert other.receive(soon()).data.endswith(b": 1}")
        assert ended(process) == (0, "")
    for listener in listeners:
        listener.close()


def test_it_goes_on_when_files_run_out():
    [where] = free_addresses(["tcp"])
    with peer("--listen", str(where), files=(40, 64)) as process, ExitStack() as stack:
        assert ready(process) == [str(where)]
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (64, 64)
        inside = dial(str(where), FRAMINGS, CLOCK)
        stack.callback(inside.close)
        crowd = []
        for _ in range(100):
            crowd.append(socket.create_connection((where.host, where.port)))
            stack.callback(crowd[-1].close)
            inside.send(b"{}")
            assert inside.receive(soon()).data == b"{}"
        late = dial(str(where), FRAMINGS, CLOCK)
        stack.callback(late.close)
        late.send(b"{}")
        for each in crowd:
            each.close()
        assert late.receive(soon()).data == b"{}"
        assert ended(process, signal.SIGINT) == (0, "")


def test_it_ends_when_told_to_in_the_middle_of_work():
    [where] = free_addresses(["tcp"])
    with peer("--listen", str(where)) as process, ExitStack() as stack:
        assert ready(process) == [str(where)]
        for _ in range(20):
            link = dial(str(where), FRAMINGS, CLOCK)
            stack.callback(link.close)
            link.send_raw(FRAMINGS["tcp"].encode(b"{}") * 5000)
        assert ended(process) == (0, "")


def test_it_ends_when_nobody_reads_its_events():
    [where] = free_addresses(["tcp"])
    with peer("--listen", str(where)) as process:
        assert ready(process) == [str(where)]
        process.stdout.close()
        dial(str(where), FRAMINGS, CLOCK).close()
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--listen", "tcp/127.0.0.1:1", "--key", __file__), "--key without --certificate"),
        (("--listen", "tls/127.0.0.1:1", "--certificate", "/nowhere"), "'/nowhere' does not exist"),
        (("--listen", "ux/a name"), "expected ux/NAME"),
        (("--role", "caller"), "--connect"),
        (("--listen", "tcp/127.0.0.1:1", "--defect", "all"), "no defects of"),
    ],
)
def test_wrong_usage_is_told(arguments, complaint, monkeypatch, capfd):
    monkeypatch.setattr(peer_command, "known", lambda: ["machine"])
    monkeypatch.setattr(peer_command, "load", lambda name: machines.PROTOCOL)
    monkeypatch.setattr(peer_command, "resolve", lambda text, protocol: machines.described("echo", *DIRECT))
    monkeypatch.setattr(sys, "argv", ["goldwire", "peer", "machine", *arguments])
    with pytest.raises(SystemExit) as end:  # in this process, as nothing is served
        main()
    said = capfd.readouterr().err
    assert end.value.code == 2
    assert complaint in said
    assert "Traceback" not in said


def test_a_certificate_that_is_none_is_told():
    [where] = free_addresses(["tls"])
    with peer("--listen", str(where), "--certificate", __file__) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith("Error: no certificate and key can be read from")


@pytest.mark.parametrize(
    ("role", "text", "names"),
    [
        (None, "dies-of-a-long-name", {"dies-of-a-long-name"}),
        ("server", "text", {"dies-of-a-percent-sign", "dies-of-a-long-name"}),
        (None, "all", {name for name, each in PATHFINDER.all.items() if each.role == "server"}),
    ],
)
def test_defects_are_had_by_name_of_a_kind_or_all(role, text, names):
    made = peer_command._peer_class(load("pathfinder"), role, None, None, text)
    assert {name for name, each in PATHFINDER.all.items() if issubclass(made, each.peer)} == names


def test_a_defect_of_another_role_is_had_by_that():
    name = next(name for name, each in PATHFINDER.all.items() if each.role == "client")
    assert peer_command._peer_class(load("pathfinder"), None, None, None, name) is PATHFINDER.all[name].peer


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["pathfinder", "--listen", "udp/127.0.0.1:4711"], "the peer of pathfinder does not speak over udp"),
        (["pathfinder", "--listen", "tcp/127.0.0.1"], "is not an address"),
        (["pathfinder", "--role", "client", "--listen", "tcp/127.0.0.1:4711"], "only dials"),
        (["pathfinder", "--role", "client"], "say where to dial"),
        (["zenoh", "--listen", "tls/127.0.0.1:4711"], "the peer of zenoh does not speak over tls"),
        (["zenoh", "--listen", "tcp/127.0.0.1:4711", "--defect", "dies-of-x"], "no defect is called 'dies-of-x'"),
    ],
)
def test_what_it_cannot_do_is_wrong_usage(arguments, complaint):
    outcome = CliRunner().invoke(peer_command.peer, arguments)
    assert outcome.exit_code == 2
    assert complaint in outcome.output
