"""Peers whose frames are datagrams: a link is an address, which is forgotten, met again, and moves."""

import pytest
from machines import Echo, described

from harness.clock import RealClock
from harness.errors import Deadline, Unsupported
from harness.links.network_path import NetworkPath
from harness.links.transports import listen
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.memory import World
from harness.peers.pair import PeerPair
from harness.peers.peer import HANG_UP
from harness.trace import Direction, Trace

PATIENCE = 20.0


class Forgetful(Echo):
    """Forgets every address once it has answered it."""

    def drain(self, now):
        out = list(super().drain(now))
        yield from out
        yield from ((link, HANG_UP) for link, _ in out)


class Talker(Echo):
    """Says something to whom it dials, and nothing to what comes back."""

    role = "talker"

    def connected(self, link, now, *, dialled=False, address=""):
        super().connected(link, now, dialled=dialled, address=address)
        if dialled:
            self.out += [(link, b"%d" % number) for number in range(200)]

    def received(self, link, frame, now):
        self.frames += 1
        self.events.append(frame.decode())


def echo(peer, path=None):
    world = World(lambda settings: peer, "echo", path=path, datagrams=True)
    return world, world.link(Trace("test", "udp", world.clock), "a", "udp")


def test_who_is_forgotten_is_met_again_and_sees_nothing_of_it() -> None:
    peer = Forgetful()
    world, link = echo(peer)
    for number in range(3):
        link.send(b"%d" % number)
        assert link.receive(world.clock.now()).data == b"%d" % number
    # Under the number of its address, which is the same one.
    assert peer.links == [1, 1, 1]


def test_nobody_is_told_that_an_address_is_left() -> None:
    peer = Echo()
    world, link = echo(peer)
    link.send(b"1")
    link.close()
    assert [event for event in peer.events if "disconnected" in event] == []
    assert world.alive()


def test_a_stranger_speaks_from_an_address_of_its_own() -> None:
    peer = Echo()
    world, link = echo(peer)
    stranger = world.strange_link(Trace("test", "udp", world.clock), "b", link)
    stranger.send(b"2")
    assert stranger.receive(world.clock.now()).data == b"2"
    link.send(b"1")
    assert link.receive(world.clock.now()).data == b"1"
    assert peer.links == [2, 1]
    connected = World(Echo.of, "echo")
    first = connected.link(Trace("test"), "a")
    with pytest.raises(Unsupported, match="nobody can speak on a connection"):
        connected.strange_link(Trace("test"), "b", first)


def test_an_address_moves_and_what_goes_to_the_old_one_is_lost() -> None:
    peer = Echo()
    world, link = echo(peer, NetworkPath(loose=True, moving=0.5, seed=1))
    for number in range(20):
        link.send(b"%d" % number)
        world.wait(world.clock.now())
    assert 5 < len(peer.links) < 16
    # To all that it ever met: only the last address is still somebody's.
    world.command("say", "all")
    assert link.receive(world.clock.now() + 1.0).data


def test_a_path_loses_and_doubles_in_memory() -> None:
    peer = Echo()
    world, link = echo(peer, NetworkPath(loose=True, loss=0.3, doubling=0.3, jitter=0.5, seed=1))
    assert (world.loses, world.repeats) == (True, True)
    for number in range(200):
        link.send(b"%d" % number)
    heard = []
    while True:
        try:
            heard.append(link.receive(world.clock.now() + 5.0).data)
        except Deadline:
            break
    assert 100 < peer.frames < 260
    assert len({*heard}) < len(heard)


def test_two_peers_speak_over_a_path() -> None:
    near, far = Talker(), Echo()
    pair = PeerPair(near, far, "test", NetworkPath(loose=True, loss=0.2, jitter=0.3, seed=3))
    assert pair.run(lambda: near.frames > 100, 10.0)
    assert not pair.run(lambda: near.frames == 200, 10.0), "nothing is lost"
    directions = [entry.direction for entry in pair.trace]
    # What was sent is in the trace whether it arrived or not; of what came only what did.
    assert directions.count(Direction.SENT) == 200
    assert directions.count(Direction.RECEIVED) == near.frames < 180


def test_a_peer_dials_over_udp() -> None:
    """It speaks first, hears what comes back, and strangers as well."""
    clock = RealClock()
    listener = listen("udp", {}, clock)
    description = described("caller", "udp")
    with EmbeddedImplementation(description, lambda settings: Talker(), {}, listener.address) as node:
        link = listener.accept(clock.now() + PATIENCE, "a", Trace("test", "udp"))
        assert link.receive(clock.now() + PATIENCE).data == b"0"
        link.send(b"back")
        stranger = link.beside("b", None)
        stranger.send(b"strange")
        waiting = clock.now() + PATIENCE
        while not {"back", "strange"} <= {*node.events()}:
            assert clock.now() < waiting
        link.close(), stranger.close()
    listener.close()
