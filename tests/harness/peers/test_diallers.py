"""Nodes that dial by themselves: in memory, over sockets, and as programs."""

import sys

import msgspec
import pytest
from machines import FRAMINGS, Caller, Echo, described

from harness.errors import Deadline, LinkClosed, Unreachable
from harness.iuts.description import Launched, Program
from harness.iuts.instance import SocketInstance
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.memory import World
from harness.trace import EntryKind, Trace

PROGRAM = """
import os, socket, sys
places = [each.removeprefix("tcp/").rpartition(":") for each in os.environ["GOLDWIRE_CONNECT"].split(",")]
links = [socket.create_connection((host, int(port))) for host, _, port in places]
for number, link in enumerate(links):
    frame = b'{"%s": %d}' % (os.environ["GOLDWIRE_SCENARIO"].encode(), number)
    link.sendall(len(frame).to_bytes(4, "big") + frame)
print("event", len(links), "servers", flush=True)
print("eventful", flush=True)
links[0].recv(1)
print("event let go", flush=True)
links[0].recv(1)
"""


def in_memory():
    return World(Caller.of, "caller", dials=True)


def over(*transports):
    def make():
        def embed(its, connect):
            return EmbeddedImplementation(its, Caller.of, FRAMINGS, connect, tempo=4.0)

        return SocketInstance(described("caller", *transports), FRAMINGS, embedded=embed)

    return make


@pytest.fixture(
    params=[in_memory, over("tcp"), over("tcp-stream"), over("ux"), over("tls")],
    ids=["memory", "tcp", "tcp-stream", "ux", "tls"],
)
def instance(request, monkeypatch):
    made = request.param()
    yield closing(made, monkeypatch)
    made.stop()


def closing(instance, monkeypatch):
    """See to it that the links of an instance are closed with it."""
    links, link, stop = [], instance.link, instance.stop

    def linked(*arguments, **options):
        links.append(link(*arguments, **options))
        return links[-1]

    def stopped():
        for each in links:
            each.close()
        stop()

    monkeypatch.setattr(instance, "link", linked)
    monkeypatch.setattr(instance, "stop", stopped)
    return instance


def trace_of(instance):
    return Trace("test", clock=instance.clock)


def heard(link):
    return link.receive(link.clock.now() + 20.0).data


def test_it_dials_as_many_servers_as_there_are(instance):
    trace = trace_of(instance)
    instance.begin("sing", 3)
    links = [instance.link(trace, f"s{server}", server=server) for server in (2, 0, 1)]
    assert [heard(link) for link in links] == [b'{"sing": 2}', b'{"sing": 0}', b'{"sing": 1}']
    links[0].send(b"{}")
    assert heard(links[0]) == b"{}"
    assert sorted(instance.events()) == ["reached 0", "reached 1", "reached 2"]
    assert [entry.link for entry in trace if entry.what is EntryKind.OPENED] == ["s2", "s0", "s1"]
    assert instance.tempo in (1.0, 4.0)


def test_it_comes_again_after_a_loss(instance):
    instance.begin("sing")
    for _ in range(3):
        link = instance.link(trace_of(instance), "a")
        began = instance.clock.now()
        assert heard(link) == b'{"sing": 0}'
        link.close()
    again = instance.link(trace_of(instance), "a")
    assert heard(again) == b'{"sing": 0}'
    assert (instance.clock.now() - began) * instance.tempo >= 0.5
    again.close()


def test_it_comes_again_when_it_hung_up_itself(instance):
    instance.begin("sing")
    link = instance.link(trace_of(instance), "a")
    assert heard(link) == b'{"sing": 0}'
    # Over a stream of objects this is none, and comes as it is.
    link.send(b'"bye"')
    assert heard(link) == b'"farewell"'
    with pytest.raises(LinkClosed) as end:
        heard(link)
    assert end.value.how == "fin"
    assert heard(instance.link(trace_of(instance), "a")) == b'{"sing": 0}'


def test_it_comes_again_when_it_was_refused(instance):
    instance.begin("sing", 2)
    trace = trace_of(instance)
    link = instance.link(trace, "a")
    other = instance.link(trace, "b", server=1)
    assert heard(link) == b'{"sing": 0}'
    instance.refuse()
    link.close()
    with pytest.raises(Deadline):
        instance.link(trace, "a", patience=2.0 / instance.tempo)
    other.send(b"{}")
    assert [heard(other), heard(other)] == [b'{"sing": 1}', b"{}"]
    assert "refused 0" in instance.events()
    assert "refused 1" not in instance.events()
    instance.admit()
    assert heard(instance.link(trace, "a")) == b'{"sing": 0}'


def test_a_beginning_forgets_what_was(instance):
    instance.begin("sing", 2)
    assert heard(instance.link(trace_of(instance), "a", server=1)) == b'{"sing": 1}'
    instance.refuse()
    instance.begin("dance")
    assert heard(instance.link(trace_of(instance), "a")) == b'{"dance": 0}'
    assert instance.events()[-1] == "reached 0"
    assert len([event for event in instance.events() if event.startswith("reached")]) == 1
    instance.restart()
    assert heard(instance.link(trace_of(instance), "a")) == b'{"dance": 0}'


def test_what_it_says_before_it_is_accepted_waits():
    world = in_memory()
    world.begin("sing")
    assert world.events() == ["reached 0"]
    trace = trace_of(world)
    link = world.link(trace, "a")
    assert world.clock.now() == 0.0
    assert heard(link) == b'{"sing": 0}'
    assert [entry.what for entry in trace] == [EntryKind.OPENED, EntryKind.FRAME]


def test_virtual_time_passes_until_it_dials():
    world = in_memory()
    world.begin("sing")
    world.link(trace_of(world), "a").close()
    world.link(trace_of(world), "a")
    assert world.clock.now() == 0.5
    with pytest.raises(Deadline, match="did not dial server 0 in 3 s"):
        world.link(trace_of(world), "a", patience=3.0)
    assert world.clock.now() == 3.5


def test_those_who_wait_at_a_door_that_is_shut_are_cut():
    world = in_memory()
    world.begin("sing")
    world.refuse()
    assert world.events() == ["reached 0", "lost 0"]
    with pytest.raises(Deadline):
        world.link(trace_of(world), "a", patience=0.75)
    assert world.events()[2:] == ["refused 0"]


def test_a_node_that_dies_is_unreachable():
    class Mad(Caller):
        def dials(self, now):
            raise RuntimeError("which servers?")

    world = World(Mad.of, "caller", dials=True)
    with pytest.raises(Unreachable, match="which servers"):
        world.link(trace_of(world), "a")
    assert not world.alive()


def test_a_node_that_cannot_say_when_it_is_to_act_has_died():
    class Timeless(Echo):
        def next_tick(self):
            raise RuntimeError("what time?")

    world = World(Timeless.of, "echo")
    link = world.link(trace_of(world), "a")
    with pytest.raises(LinkClosed):
        link.receive(1.0)
    assert "what time" in world.last_output()


def test_nodes_that_are_dialled_know_nothing_of_it():
    world = World(Echo.of, "echo")
    link = world.link(trace_of(world), "a")
    link.send(b"{}")
    assert heard(link) == b"{}"
    assert world.events() == ["connected 1"]


def test_a_program_finds_its_servers_and_its_scenario(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(PROGRAM)
    source = Launched(tmp_path, Program((sys.executable, "-S", "{here}/program.py")))
    description = msgspec.structs.replace(described("caller"), source=source)
    instance = closing(SocketInstance(description, FRAMINGS), monkeypatch)
    try:
        instance.begin("sing", 2)
        trace = trace_of(instance)
        one, two = (instance.link(trace, f"s{server}", server=server) for server in (0, 1))
        assert [heard(one), heard(two)] == [b'{"sing": 0}', b'{"sing": 1}']
        one.send_raw(b"x")
        one.send_raw(b"x")
        with pytest.raises(LinkClosed):
            heard(two)
        instance._running._process.settle()
        assert instance.events() == ["2 servers", "let go"]
        with pytest.raises(Deadline):
            instance.link(trace, "late")
    finally:
        instance.stop()
