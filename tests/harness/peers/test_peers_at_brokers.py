"""Our own peers at a broker: they dial it, listen, publish, and come back when it does."""

import os
import random
import select
import signal
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from brokers import BROKERS, CLOCK, broker, need_broker
from machines import described

from harness.errors import Deadline, LinkClosed
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.peer import Dialler
from wire import envelope
from wire.envelope import data, listen


def soon():
    return CLOCK.now() + 20.0


class Parrot(Dialler):
    """Listens to ``say.>`` and repeats it under ``said.>``; says ``here`` whenever it has reached a broker."""

    role = "caller"

    def __init__(self, *, profile="document", scenario="", servers=1):
        self.out, self.wanted, self.at, self.heard, self.ends = [], [0], None, [], 0

    def dials(self, now):
        wanted, self.wanted = self.wanted, []
        return wanted

    def refused(self, server, now):
        self.at = now + 0.01

    def reached(self, server, link, now):
        self.out += [(link, listen("say.>")), (link, listen(">")), (link, data("here", b""))]

    def connected(self, link, now, *, dialled=False, address=""):
        raise AssertionError("nobody dials it")

    def disconnected(self, link, now):
        self.ends += 1
        self.wanted = [0]

    def received(self, link, frame, now):
        said = envelope.read(frame)
        self.heard.append(said.subject)
        if said.subject.startswith("say."):
            self.out.append((link, data(f"said.{said.subject[4:]}", said.payload)))
        if said.subject == "leave":
            self.out += [(link, data("gone", b"")), (link, None)]

    def tick(self, now):
        self.at, self.wanted = None, [0]

    def next_tick(self):
        return self.at

    def drain(self, now):
        out, self.out = self.out, []
        yield from out


@pytest.fixture(params=BROKERS)
def listener(request):
    with broker(request.param, BROKER_FRAMINGS) as listener:
        yield listener


def parrot(listener):
    node = Parrot()
    transport = listener.transport
    return node, EmbeddedImplementation(
        described("caller", transport), lambda settings: node, BROKER_FRAMINGS, listener.address
    )


def until(link, frame):
    """Return what comes before a frame."""
    frames = []
    while (came := link.receive(soon()).data) != frame:
        frames.append(came)
    return frames


def test_it_hears_what_it_asked_for_and_is_heard(listener):
    with closing(listener.accept(soon())) as link:
        link.send(listen(">"))
        node, running = parrot(listener)
        with running:
            assert until(link, data("here", b"")) == []
            # It listened before it said that it is here.
            for number in range(50):
                link.send(data(f"say.{number}", b"x" * 10_000))
            assert until(link, data("said.49", b"x" * 10_000)) == [
                data(f"said.{number}", b"x" * 10_000) for number in range(49)
            ]
            link.send(data("say.much", b"y" * envelope.LARGEST))
            assert until(link, data("said.much", b"y" * envelope.LARGEST)) == []
            link.send(data("leave", b""))
            assert until(link, data("gone", b"")) == []
        assert node.heard == [f"say.{number}" for number in range(50)] + ["say.much", "leave"]


@pytest.mark.slow(seconds=8)
def test_a_broker_that_is_killed_at_any_moment_comes_back_and_so_does_everybody(listener):
    moments = random.Random(7)
    node, running = parrot(listener)
    with running:
        for turn in range(20):
            with closing(listener.accept(soon())) as link:
                link.send(listen(">"))
                link.send(data("say.hello", b""))
                if moments.random() < 0.8:
                    # It may have come before anybody listened.
                    ask(link)
                for number in range(moments.randrange(50)):
                    link.send(data(f"say.{turn}.{number}", b"x" * moments.randrange(10_000)))
                listener.shut()
                with pytest.raises(LinkClosed):
                    until(link, b"never")
            listener.open()
        with closing(listener.accept(soon())) as link:
            link.send(listen(">"))
            ask(link)
        assert running.alive(), running.output_tail()
    assert node.ends >= 1


def ask(link):
    """Wait until the parrot repeats something."""
    while True:
        link.send(data("say.there", b""))
        try:
            until_soon(link, data("said.there", b""), CLOCK.now() + 0.05)
        except Deadline:
            continue
        return


def until_soon(link, frame, deadline):
    while link.receive(deadline).data != frame:
        pass


def children_of(parent):
    """Return the processes that a process has started itself."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # Behind the name, which stands in brackets and may have any characters: the state, and the parent.
            if int((each / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(each.name))
    return found


KILLED = """
import sys
from brokers import CLOCK
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.transports import listen
listener = listen(sys.argv[1], BROKER_FRAMINGS, CLOCK)
print(listener.address, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("transport", BROKERS)
def test_nothing_is_left_when_the_tester_is_killed(transport):
    need_broker(transport)
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, transport],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as tester:
        port = tester.stdout.readline().strip().rpartition(":")[2]
        children = children_of(tester.pid)
        assert port
        assert len(children) == (2 if transport == "websocket" else 1)
        ends = [os.pidfd_open(each) for each in children]
        tester.send_signal(signal.SIGKILL)
        tester.wait()
        for end in ends:
            ready, _, _ = select.select([end], [], [], 20.0)
            assert ready
            os.close(end)
