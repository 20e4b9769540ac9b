"""What a snapshot costs a publisher of Rai's as its cache grows.

::

    python benchmarks/rai_snapshots.py --rounds 5

The reference publisher itself, without sockets: a signed request goes in under the subject of a value that is chosen at
random, and the signed answer comes out. Beside each figure stands the ratio to that of the smallest cache: what grows
with the number of subjects would show there.
"""

import gc
import random
import statistics
import time

import click

from harness.rai.peers.cache import CachedValue
from harness.rai.peers.publisher import Publisher
from harness.rai.users import PROFILE, secret_of
from wire import envelope
from wire.rai.values import (
    AUTH,
    HELLO,
    SNAP,
    Auth,
    Body,
    Hello,
    Message,
    Raw,
    SnapRequest,
    inbox,
    nonce_of,
    of,
    read,
    write,
)

ASKING = "tess.AAECAwQFBgcICQoLDA0ODw"
CNONCE = "EBESExQVFhcYGRobHB0eHw"
REQUESTS = 2000
"""In a round."""
FIELDS = {"BID": Raw(b"17.75"), "ASK": Raw(b"17.80")}


class Cached:
    """A publisher with so many values, and a session that it trusts."""

    def __init__(self, count: int) -> None:
        self.publisher = Publisher(seed=1)
        self.count = count
        self.seqno = 0
        self.key = PROFILE.session_key(secret_of("tess"), nonce_of(ASKING))
        self.publisher.records = {self.subject(number): CachedValue(dict(FIELDS)) for number in range(count)}
        self.publisher.reached(0, 1, 0.0)
        self.say(HELLO, Hello(time=0, interval=10, cnonce=CNONCE))
        [auth] = [each for each in self.answers() if isinstance(each.body, Auth)]
        assert isinstance(auth.body, Auth)
        key = PROFILE.auth_key(secret_of("tess"), nonce_of(ASKING), auth.body.time, auth.body.cnonce)
        answer = Auth(auth_time=auth.body.time, time=0, cnonce=CNONCE)
        self.say(inbox(auth.session, AUTH), answer, key)

    def subject(self, number: int) -> str:
        """Return the subject of a value."""
        return f"LAB.EQUITY.{number}"

    def signed(self, subject: str, body: Body, key: bytes | None = None) -> bytes:
        """Return a frame that the session publishes."""
        self.seqno += 1
        made = of(subject, ASKING, self.seqno, body)
        digest = PROFILE.digest(key or self.key, self.seqno, subject, made.signed)
        return envelope.data(subject, write(of(subject, ASKING, self.seqno, body, digest)))

    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        """Publish something."""
        self.publisher.received(1, self.signed(subject, body, key), 0.0)

    def answers(self) -> list[Message]:
        """Return what the publisher has published."""
        frames = [envelope.read(frame) for _, frame in self.publisher.drain(0.0) if frame]
        return [read(each.subject, each.payload) for each in frames if each.operation == envelope.DATA]

    def seconds(self, chance: random.Random) -> float:
        """Return the seconds for a snapshot, over a round of requests that were made before."""
        subjects = [self.subject(chance.randrange(self.count)) for _ in range(REQUESTS)]
        frames = [self.signed(SNAP + subject, SnapRequest(return_=1)) for subject in subjects]
        said = []
        gc.disable()
        began = time.perf_counter()
        for frame in frames:
            self.publisher.received(1, frame, 0.0)
            said += [frame for _, frame in self.publisher.drain(0.0)]
        taken = time.perf_counter() - began
        gc.enable()
        assert len(said) == REQUESTS, f"{len(said)} of {REQUESTS} requests are answered"
        return taken / REQUESTS


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Rounds; medians are printed.")
@click.option("--subjects", multiple=True, type=int, default=(10, 10_000, 1_000_000), show_default=True)
def main(rounds: int, subjects: tuple[int, ...]) -> None:
    """Print how long a snapshot takes, with caches of several sizes."""
    chance = random.Random(20240)
    first = 0.0
    for count in subjects:
        cached = Cached(count)
        found = statistics.median(cached.seconds(chance) for _ in range(rounds))
        first = first or found
        click.echo(f"{count:>9,} subjects: {found * 1e6:6.1f} µs a snapshot ({found / first:.2f})")


if __name__ == "__main__":
    main()
