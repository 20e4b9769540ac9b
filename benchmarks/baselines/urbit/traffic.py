"""Packets as they are seen in the field: heartbeats above all, and some requests, promises and notifications."""

from random import Random

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
    write,
)

LARGEST = 100
"""Bytes of data: a frame of the corpus is no longer than the bench measures."""


def sessions(seed: int, count: int) -> list[bytes]:
    """Return packets: of ten, six are heartbeats; one ship in two is a planet, the others are stars."""
    rng = Random(seed)
    return [write(packet(rng)) for _ in range(count)]


def packet(rng: Random) -> Packet:
    """Return one packet between two ships."""
    subscriber, publisher = ship(rng), ship(rng)
    session, path, signature = rng.getrandbits(64), f"/~pub/chat/{rng.randrange(10000)}".encode(), rng.randbytes(64)
    number = rng.randrange(1, 5000)
    asked: list[Body] = [
        *[HeartbeatRequest(session, number)] * 3,
        ScryRequest(path, 1, signature),
        Cancellation(path, 1, signature),
    ]
    answered: list[Body] = [
        *[HeartbeatResponse(session, number, live=rng.random() < 0.9)] * 3,
        Promise(session, path, 1, signature),
        ScryResponse(path, 1, signature, 1, rng.randbytes(rng.randrange(LARGEST))),
    ]
    if rng.random() < 0.5:
        return Packet(rng.choice(asked), subscriber, publisher)
    return Packet(rng.choice(answered), publisher, subscriber)


def ship(rng: Random) -> Ship:
    """Return a star or a planet."""
    return Ship.of(rng.randrange(1 << 8, 1 << 16) if rng.random() < 0.5 else rng.randrange(1 << 16, 1 << 32))


CORPORA = {"packet": {"sessions": sessions}}
