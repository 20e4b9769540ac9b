"""Ships: who takes part in a play, and with which keys.

A real network looks up keys on a chain. On loopback there is none, so that of a ship follows from its number
(``SigningKey.of_ship``), and everybody can check everybody's signatures.
"""

from functools import lru_cache

from wire.urbit.signatures import SigningKey
from wire.urbit.values import Ship

PUBLISHER = Ship.of(166)
"""~pub, a galaxy: the publisher of the document's example."""

SUBSCRIBER = Ship.of(68)
"""~sub, a galaxy: the subscriber of the document's example."""

OTHER = Ship.of(0x4321_0000)
"""A planet that has no part in plays, and signs for others."""

MOST = 1 << 12
"""Ships whose keys are remembered: a large recording has any number of them."""


@lru_cache(MOST)  # deriving one takes as long as signing
def key_of(ship: Ship) -> SigningKey:
    """Return the key with which a ship signs."""
    return SigningKey.of_ship(ship.number)


@lru_cache(MOST)
def public_key_of(ship: Ship) -> bytes:
    """Return the key with which a ship's signatures are checked."""
    return key_of(ship).public
