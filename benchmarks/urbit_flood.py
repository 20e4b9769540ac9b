"""Whether a flood of datagrams stops a peer of Urbit's, changes a session that is none of its business, or stays.

::

    python benchmarks/urbit_flood.py --datagrams 10000000 --workers 2

Either reference peer, without sockets, has one session with somebody honest, who goes on all the time. Datagrams come
from addresses without number: random bytes, packets of the layout with and without the right checksum, and packets of
strangers, forged and then changed at random places. After each piece the honest session has to be as it was, and
nothing of the flood may be known any more. Ends with status 1 when that is not so, or when memory has grown by more
than ``--most``.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random

import click
import msgspec

from harness.links.network_path import NetworkPath
from harness.peers.pair import PeerPair
from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.ship import ShipPeer
from harness.urbit.peers.subscriber import Subscriber
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from vectors.mutation import Mutator
from vectors.sampling import Sampler
from wire.catalogue import layout
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    with_checksum,
    write,
)

LAYOUT = "urbit/packet"
FIRST_ADDRESS = 1_000
"""Links below it are those of the honest."""

PIECE = 50_000
"""Datagrams after which it is looked what has become of the session."""

PIECE_SECONDS = 5.0
"""Of the protocol that pass meanwhile: the honest go on with their heartbeats, and the flood's requests with theirs."""

PATHS = 20
"""That the honest subscriber is waiting for, before and after."""


class Flood:
    """One peer under a flood, and what is sent to it."""

    def __init__(self, role: str, seed: int) -> None:
        self.random = Random(seed)
        self.publisher, self.subscriber = Publisher(), Subscriber()
        # Without loss: what the honest say to each other is to be the same whatever else happens.
        self.pair = PeerPair(self.subscriber, self.publisher, "urbit", NetworkPath(round_trip=0.02))
        for number in range(PATHS):
            self.subscriber.want(b"/honest/%d" % number, 0.0)
        self.pair.settle()
        self.pair.run(lambda: False, 1.0)
        self.peer: ShipPeer = self.publisher if role == "publisher" else self.subscriber
        me = PUBLISHER if role == "publisher" else SUBSCRIBER
        self._me = me
        self._forged = [write(Packet(body, sender, me)) for body in bodies(self.random) for sender in senders(role)]
        tree = layout(LAYOUT)
        self._sampler, self._mutator = Sampler(tree, self.random), Mutator(tree, self.random)
        self._address = FIRST_ADDRESS
        self.sent = 0

    def datagrams(self) -> Iterator[bytes]:
        """Yield datagrams of all kinds, without end."""
        kinds: tuple[Callable[[], bytes], ...] = (self._noise, self._sampled, self._forgery, self._forgery)
        while True:
            frame = self.random.choice(kinds)()
            # Half of them with the checksum that belongs there: others are passed over before they are looked at.
            yield with_checksum(frame) if len(frame) > 3 and self.random.random() < 0.5 else frame

    def _noise(self) -> bytes:
        return self.random.randbytes(self.random.choice((0, 1, 3, 4, 9, 25, 26, 100, 2048)))

    def _sampled(self) -> bytes:
        return self._sampler.frame()

    def _forgery(self) -> bytes:
        return self._mutator.mutate(self.random.choice(self._forged))[0]

    def pour(self, count: int) -> None:
        """Send so many datagrams, each from an address of its own, while the honest go on."""
        now = self.pair.clock.now()
        peer = self.peer
        for _, frame in zip(range(count), self.datagrams()):  # noqa: B905
            self._address += 1
            peer.connected(self._address, now)
            peer.received(self._address, frame, now)
            for _ in peer.drain(now):
                pass
        self.sent += count
        self.pair.run(lambda: False, PIECE_SECONDS)
        self.pair.trace.entries.clear()  # what the honest say is not what is measured

    def complaint(self) -> str:
        """Return what is wrong with the honest session, or left of the flood; empty if nothing is."""
        sessions = self.publisher.sessions
        [*live] = sessions.of_ship.values()
        if [each.ship for each in live] != [SUBSCRIBER]:
            return f"sessions of {[each.ship.number for each in live]}"
        [session] = live
        kept = self.subscriber.session
        if kept is None or kept.id != session.id:
            return "the subscriber has lost its session"
        if len(session.interests) != PATHS or len(self.subscriber.wants) != PATHS:
            return f"{len(session.interests)} promises and {len(self.subscriber.wants)} wants are left of {PATHS}"
        if any(want.session != session.id for want in self.subscriber.wants.values()):
            return "something that was promised is asked for again"
        if session.link != 1 or self.subscriber.link != 1:
            return "somebody has moved"
        if len(self.publisher.timers) > 3 * PATHS or len(self.subscriber.timers) > 3 * PATHS:
            return f"{len(self.publisher.timers)} and {len(self.subscriber.timers)} timers"
        return ""

    def works(self) -> bool:
        """Tell whether all that was promised is still delivered, once."""
        for number in range(PATHS):
            self.publisher.grow(b"/honest/%d" % number, b"value", self.pair.clock.now())
        self.pair.settle()
        self.pair.run(lambda: not self.subscriber.wants, 30.0)
        return self.subscriber.delivered == PATHS


def bodies(random: Random) -> list[Body]:
    """Return bodies of all kinds, with signatures that are nobody's."""
    nobodys, path = random.randbytes(64), b"/honest/1"
    return [
        ScryRequest(path, 1, nobodys),
        Cancellation(path, 1, nobodys),
        HeartbeatRequest(random.getrandbits(64), 1),
        HeartbeatResponse(random.getrandbits(64), 1, live=False),
        HeartbeatResponse(random.getrandbits(64), 1, live=True),
        Promise(random.getrandbits(64), path, 1, nobodys),
        ScryResponse(path, 1, nobodys, 1, b"a value"),
    ]


def senders(role: str) -> list[Ship]:
    """Return ships of all ranks, and the one that the peer has a session with."""
    honest = SUBSCRIBER if role == "publisher" else PUBLISHER
    return [honest, *(Ship.of(1 << bits) for bits in (8, 20, 40, 100))]


def resident() -> float:
    """Return the memory of this process in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise click.ClickException("this system does not tell how much memory a process has")


class Told(msgspec.Struct, frozen=True):
    """What a flood came to: the complaint, empty if there is none, and MiB and objects before and after."""

    role: str
    datagrams: int
    seconds: float
    complaint: str
    before: tuple[float, int]
    after: tuple[float, int]


def measure() -> tuple[float, int]:
    """Return the memory of this process in MiB, and how many blocks Python has in it."""
    gc.collect()
    return resident(), sys.getallocatedblocks()


def flood(role: str, count: int, seed: int) -> Told:
    """Pour datagrams on a peer, until so many were sent or something is wrong."""
    under = Flood(role, seed)
    # What is only made once (caches of mutators, buffers that grow) is no part of what a datagram leaves.
    under.pour(PIECE)
    before, began, complaint = measure(), time.monotonic(), under.complaint()
    while not complaint and under.sent < count:
        under.pour(min(PIECE, count - under.sent))
        complaint = under.complaint()
    after = measure()
    if not complaint and not under.works():
        complaint = "what was promised is not delivered any more"
    return Told(role, under.sent, time.monotonic() - began, complaint, before, after)


@click.command()
@click.option("--datagrams", default=1_000_000, show_default=True, help="To each of the two peers.")
@click.option("--workers", default=1, show_default=True, help="Processes, each with a part of them.")
@click.option("--most", type=float, default=2.0, show_default=True, help="MiB that a process may grow by.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(datagrams: int, workers: int, most: float, seed: int) -> None:
    """Pour datagrams on both peers, and print what came of it as a Markdown table."""
    click.echo("| peer | datagrams | a second | MiB before | after | objects before | after | |")
    click.echo("|---|---:|---:|---:|---:|---:|---:|---|")
    jobs = [
        (role, datagrams // workers, seed + part) for role in ("publisher", "subscriber") for part in range(workers)
    ]
    failed = False
    # Spawned, so that each process has only what it needs itself, and nothing of a forked one's.
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for told in pool.map(flood, *zip(*jobs, strict=True)):
            (mib, blocks), (mib_after, blocks_after) = told.before, told.after
            rate = told.datagrams / max(told.seconds, 1e-9)
            click.echo(
                f"| {told.role} | {told.datagrams:,} | {rate:,.0f} | {mib:.1f} | {mib_after:.1f} | {blocks:,}"
                f" | {blocks_after:,} | {told.complaint or 'as before'} |"
            )
            failed = failed or bool(told.complaint) or mib_after - mib > most
    if failed:
        raise click.ClickException("a flood did harm")


if __name__ == "__main__":
    main()
