"""Updates per second from a publisher to a subscriber over each broker, beside the broker's own client library.

::

    python benchmarks/rai_updates.py --updates 30000 --rounds 3

Two processes with our reference peers, a broker, and a subject that is subscribed: what is timed is from the moment
when the publisher begins to that when the subscriber's application has been told of the last update. Beside that, in
the same run, over the same broker and with payloads of the same length, a process that publishes with the usual library
and one that counts what comes: nats-py, redis-py (in pipelines of 100) and websockets. In memory there is no library to
be held to. A ratio of 1 is the library's own pace; medians of rounds, taken in turns.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import click

from harness.clock import RealClock, epoch
from harness.links.bus import Bus
from harness.links.transports import listen
from harness.peers.peer_server import PeerServer
from harness.rai.framings import FRAMINGS
from harness.rai.peers.node import NodePeer
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.subscriber import Subscriber
from wire.rai.digests import PROFILES
from wire.rai.values import Raw

SUBJECT = "LAB.BENCH"
FIELDS = {"ASK": Raw(b"17.75"), "VOL": Raw(b"100")}
AT_ONCE = 100
"""Updates between two turns of the loop; and commands in a pipeline."""
PATIENCE = 120.0
"""Seconds for a round."""

Report = Callable[[object], None]


# --- our peers ----------------------------------------------------------------------------------------------------


async def subscriber(address: str, profile: str, count: int, report: Report) -> None:
    """Subscribe, and report when the last of so many updates was told."""
    peer = Subscriber(epoch=epoch(1.0), signing=PROFILES[profile])
    server = PeerServer(peer, FRAMINGS)
    told = 0
    over = asyncio.Event()

    def on_event(text: str) -> None:
        nonlocal told
        if text.startswith("value"):
            told += 1
            if told == count:
                report(("end", time.monotonic()))
                over.set()

    server.on_event = on_event
    server.start_dialling([address])
    await until(lambda: peer.link is not None)
    server.command("listen", [SUBJECT])
    # Who publishes waits until it has heard of this; who greets first is not certain, so it is said again.
    while not told:
        server.act(lambda: peer.greet("_SESSION.HB", server.now()))
        await asyncio.sleep(0.05)
    await over.wait()
    server.stop()


async def publisher(address: str, profile: str, count: int, report: Report) -> None:
    """Publish so many updates, once somebody has subscribed."""
    peer = Publisher(epoch=epoch(1.0), signing=PROFILES[profile])
    server = PeerServer(peer, FRAMINGS)
    server.start_dialling([address])
    await until(lambda: peer.interests.is_wanted(SUBJECT))

    def some(first: int) -> None:
        now = server.now()
        for number in range(first, min(first + AT_ONCE, count)):
            peer.update(SUBJECT, {"BID": Raw(b"%d" % number), **FIELDS}, now)

    report(("begin", time.monotonic()))
    for first in range(0, count, AT_ONCE):
        server.act(lambda first=first: some(first))  # type: ignore[misc]
        await asyncio.sleep(0)
    await asyncio.sleep(PATIENCE)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    while not holds():
        await asyncio.sleep(0.01)


# --- the libraries ------------------------------------------------------------------------------------------------


def payload(profile: str) -> bytes:
    """Return what an update looks like."""
    peer: NodePeer = Publisher(seed=1, signing=PROFILES[profile])
    peer.reached(0, 1, 0.0)
    assert isinstance(peer, Publisher)
    list(peer.drain(0.0))
    peer.publish(SUBJECT, peer.changed(_record(), {"BID": Raw(b"12345"), **FIELDS}))
    [(_, frame)] = list(peer.drain(0.0))
    assert frame is not None
    return frame[3 + len(SUBJECT) :]


def _record() -> Any:
    from harness.rai.peers.cache import CachedValue

    return CachedValue({})


class Counter:
    """Counts what comes, and reports when the last has come."""

    def __init__(self, count: int, report: Report) -> None:
        self.count = count
        self.report = report
        self.seen = 0
        self.over = asyncio.Event()

    def one(self) -> None:
        """Count one."""
        self.seen += 1
        if self.seen == self.count:
            self.report(("end", time.monotonic()))
            self.over.set()


async def nats_subscriber(address: str, profile: str, count: int, report: Report) -> None:
    """Count with nats-py."""
    import nats

    counter = Counter(count, report)
    client = await nats.connect(f"nats://{address.partition('/')[2]}")

    async def take(message: object) -> None:
        counter.one()

    await client.subscribe(SUBJECT, cb=take)
    # Twice: nats-py (2.16) may write the question of a flush before what waits to be written.
    await client.flush(), await client.flush()
    report(("ready", 0.0))
    await counter.over.wait()
    await client.close()


async def nats_publisher(address: str, profile: str, count: int, report: Report) -> None:
    """Publish with nats-py."""
    import nats

    client = await nats.connect(f"nats://{address.partition('/')[2]}")
    what = payload(profile)
    report(("begin", time.monotonic()))
    for _ in range(count):
        await client.publish(SUBJECT, what)
    await client.flush()
    await asyncio.sleep(PATIENCE)


async def redis_subscriber(address: str, profile: str, count: int, report: Report) -> None:
    """Count with redis-py."""
    from redis.asyncio import Redis

    counter = Counter(count, report)
    async with Redis.from_url(f"redis://{address.partition('/')[2]}") as client, client.pubsub() as listening:
        await listening.subscribe(SUBJECT)
        async for message in listening.listen():
            if message["type"] == "subscribe":
                report(("ready", 0.0))
            else:
                counter.one()
                if counter.over.is_set():
                    break


async def redis_publisher(address: str, profile: str, count: int, report: Report) -> None:
    """Publish with redis-py."""
    from redis.asyncio import Redis

    what = payload(profile)
    async with Redis.from_url(f"redis://{address.partition('/')[2]}") as client:
        report(("begin", time.monotonic()))
        for first in range(0, count, AT_ONCE):
            async with client.pipeline(transaction=False) as pipeline:
                for _ in range(min(AT_ONCE, count - first)):
                    pipeline.publish(SUBJECT, what)
                await pipeline.execute()
        await asyncio.sleep(PATIENCE)


def _resp(*words: bytes) -> str:
    return b"".join([b"*%d\r\n" % len(words), *(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)]).decode()


async def websocket_subscriber(address: str, profile: str, count: int, report: Report) -> None:
    """Count with websockets."""
    from websockets.asyncio.client import connect
    from websockets.typing import Subprotocol

    counter = Counter(count, report)
    async with connect(
        f"ws://{address.partition('/')[2]}", subprotocols=[Subprotocol("resp")], max_queue=None
    ) as client:
        await client.send(_resp(b"SUBSCRIBE", SUBJECT.encode()))
        async for text in client:
            found = json.loads(text)
            if found[0] == "subscribe":
                report(("ready", 0.0))
            else:
                counter.one()
                if counter.over.is_set():
                    break


async def websocket_publisher(address: str, profile: str, count: int, report: Report) -> None:
    """Publish with websockets; what is answered is taken and not looked at."""
    from websockets.asyncio.client import connect
    from websockets.typing import Subprotocol

    said = _resp(b"PUBLISH", SUBJECT.encode(), payload(profile))
    async with connect(
        f"ws://{address.partition('/')[2]}", subprotocols=[Subprotocol("resp")], max_queue=None
    ) as client:

        async def take() -> None:
            async for _ in client:
                pass

        taking = asyncio.create_task(take())
        report(("begin", time.monotonic()))
        for _ in range(count):
            await client.send(said)
        await asyncio.sleep(PATIENCE)
        taking.cancel()


LIBRARIES = {
    "nats": ("nats-py", nats_publisher, nats_subscriber),
    "redis": ("redis-py", redis_publisher, redis_subscriber),
    "websocket": ("websockets", websocket_publisher, websocket_subscriber),
}

End = Callable[[str, str, int, Report], Awaitable[None]]


# --- rounds -------------------------------------------------------------------------------------------------------


def run(end: End, address: str, profile: str, count: int, pipe: Connection) -> None:
    """Run one end in a process of its own."""

    async def main() -> None:
        await end(address, profile, count, pipe.send)

    asyncio.run(main())


def rate(address: str, publishing: End, subscribing: End, profile: str, count: int, *, waits: bool) -> float:
    """Return the updates per second of one round; ``waits`` when the subscriber says that it is ready."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    listening = context.Process(target=run, args=(subscribing, address, profile, count, theirs), daemon=True)
    talking = context.Process(target=run, args=(publishing, address, profile, count, theirs), daemon=True)
    try:
        listening.start()
        said: dict[str, float] = {}
        if waits:
            said |= [_heard(ours, address)]
        talking.start()
        while "end" not in said:
            said |= [_heard(ours, address)]
        return count / (said["end"] - said["begin"])
    finally:
        for each in (listening, talking):
            if each.pid is not None:
                each.kill()
                each.join()


def _heard(pipe: Connection, address: str) -> tuple[str, float]:
    if not pipe.poll(PATIENCE):
        raise click.ClickException(f"{address}: not all updates have come in {PATIENCE:g} s")
    what, when = pipe.recv()
    return what, when


def memory_rate(profile: str, count: int) -> float:
    """Return the updates per second of both peers in one thread, over a bus in memory."""
    bus = Bus()
    peers: list[NodePeer] = [make(seed=1, signing=PROFILES[profile]) for make in (Publisher, Subscriber)]
    publishing, subscribing = peers
    assert isinstance(publishing, Publisher)
    assert isinstance(subscribing, Subscriber)
    clients = {peer: bus.attach(lambda frame, peer=peer: peer.received(1, frame, 0.0)) for peer in peers}  # type: ignore[misc]

    def settle() -> None:
        while said := [(peer, frame) for peer in peers for _, frame in peer.drain(0.0) if frame]:
            for peer, frame in said:
                bus.take(clients[peer], frame)

    for peer in peers:
        peer.reached(0, 1, 0.0)
        settle()
    subscribing.do_listen(0.0, SUBJECT)
    settle()
    subscribing.take_events()
    began = time.monotonic()
    for number in range(count):
        publishing.update(SUBJECT, {"BID": Raw(b"%d" % number), **FIELDS}, 0.0)
        settle()
    seconds = time.monotonic() - began
    assert len(subscribing.take_events()) == count
    return count / seconds


@click.command()
@click.option("--updates", default=30_000, show_default=True, help="Updates in a round.")
@click.option("--rounds", default=3, show_default=True, help="Rounds; medians are printed.")
@click.option("--link", "links", multiple=True, type=click.Choice(["memory", *LIBRARIES]), help="Only these links.")
def main(updates: int, rounds: int, links: tuple[str, ...]) -> None:
    """Print updates per second over each link, with digests and without, and how the library compares."""
    click.echo(f"{'link':<11}{'without digests':>17}{'with rai-1':>13}{'the library':>13}   ratio without, with")
    for link in links or ("memory", *LIBRARIES):
        if link == "memory":
            found = {profile: [memory_rate(profile, updates) for _ in range(rounds)] for profile in ("none", "rai-1")}
            plain, signed = (statistics.median(found[profile]) for profile in ("none", "rai-1"))
            click.echo(f"{link:<11}{plain:>17,.0f}{signed:>13,.0f}")
            continue
        name, publishing, subscribing = LIBRARIES[link]
        broker = listen(link, FRAMINGS, RealClock())
        try:
            bare, ours, theirs = [], [], []
            for _ in range(rounds):
                bare.append(rate(broker.address, publishing, subscribing, "none", updates, waits=True))
                ours.append(rate(broker.address, publisher, subscriber, "none", updates, waits=False))
                theirs.append(rate(broker.address, publisher, subscriber, "rai-1", updates, waits=False))
        finally:
            broker.close()
        plain, signed, library = map(statistics.median, (ours, theirs, bare))
        ratios = f"{plain / library:.2f}, {signed / library:.2f}"
        click.echo(f"{link:<11}{plain:>17,.0f}{signed:>13,.0f}{library:>13,.0f}   {ratios}  ({name})")


if __name__ == "__main__":
    main()
