"""A path for real datagrams: what is relayed, lost, doubled and moved between two sockets."""

import threading

import pytest

from harness.clock import RealClock
from harness.errors import Deadline
from harness.links.link import Link
from harness.links.listener import Listener
from harness.links.network_path import NetworkPath
from harness.links.transports import dial, listen
from harness.links.udp_path import UdpPath

CLOCK = RealClock()
PATIENCE = 20.0
DATAGRAMS = 150
"""Fewer than a socket keeps for who does not read yet."""


@pytest.fixture
def far():
    listener = listen("udp", {}, CLOCK)
    yield listener
    listener.close()


def dialled(path: UdpPath, far: Listener) -> tuple[Link, Link]:
    """Return both ends of an association over a path that loses nothing."""
    near = dial(path.to(far.address), {}, CLOCK)
    near.send(b"hello")
    link = far.accept(CLOCK.now() + PATIENCE)
    assert link.receive(CLOCK.now() + PATIENCE).data == b"hello"
    return near, link


def all_of(link: Link, seconds: float = 0.3) -> list[bytes]:
    """Return what comes until nothing has come for a while."""
    found = []
    while True:
        try:
            found.append(link.receive(CLOCK.now() + seconds).data)
        except Deadline:
            return found


def test_both_ways_lead_over_it(far: Listener) -> None:
    path = UdpPath(NetworkPath(loose=True, round_trip=0.02))
    near, link = dialled(path, far)
    link.send(b"there")
    assert near.receive(CLOCK.now() + PATIENCE).data == b"there"
    assert path.to(far.address) == path.to(far.address), "an address has one way to it"
    path.close()
    path.close()
    assert "goldwire-path" not in [thread.name for thread in threading.enumerate()]
    near.close(), link.close()


def test_what_is_forgotten_never_arrives(far: Listener) -> None:
    """What somebody has sent who is no more is not taken for what comes next."""
    path = UdpPath(NetworkPath(loose=True, round_trip=0.4))
    near, link = dialled(path, far)
    near.send(b"late")
    path.forget()
    near.send(b"new")
    again = far.accept(CLOCK.now() + PATIENCE)
    assert all_of(again) == [b"new"]
    assert all_of(link, 0.1) == []
    path.close()
    near.close(), link.close(), again.close()


def test_some_is_lost_and_some_comes_twice(far: Listener) -> None:
    path = UdpPath(NetworkPath(loose=True, loss=0.3, doubling=0.3, jitter=0.01, seed=4))
    near = dial(path.to(far.address), {}, CLOCK)
    for number in range(DATAGRAMS):
        near.send(b"%d" % number)
    link = far.accept(CLOCK.now() + PATIENCE)
    came = all_of(link)
    assert 0.6 < len({*came}) / DATAGRAMS < 0.95
    assert len({*came}) < len(came)
    assert came != sorted(came, key=int), "nothing has overtaken anything"
    path.close(), near.close(), link.close()


def test_an_address_becomes_another_one(far: Listener) -> None:
    path = UdpPath(NetworkPath(loose=True, moving=0.05, seed=2))
    near = dial(path.to(far.address), {}, CLOCK)
    for number in range(100):
        near.send(b"%d" % number)
    links, first = [], far.accept(CLOCK.now() + PATIENCE)
    links.append(first)
    while True:
        try:
            links.append(far.accept(CLOCK.now() + 0.3))
        except Deadline:
            break
    assert len(links) > 1
    # Whoever answers the first address answers nobody any more, and the last one leads back.
    first.send(b"to nobody")
    links[-1].send(b"to somebody")
    assert near.receive(CLOCK.now() + PATIENCE).data == b"to somebody"
    path.close(), near.close()
    for link in links:
        link.close()
