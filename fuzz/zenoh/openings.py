"""The handshakes with which sessions of tests begin: what the tester says that it is, and what it asks for."""

from typing import NamedTuple

from harness.zenoh.peers.transport import AROUND, MASKS
from wire.zenoh.values_transport import Sizes, WhatAmI


class Opening(NamedTuple):
    """What a session says of itself in its handshake; where nothing is said, what is usual."""

    whatami: WhatAmI | None = None
    sizes: Sizes | None = None
    initial_sn: int = 0
    zid: bytes | None = None


USUAL = Opening()

LISTENERS = {
    "peer": Opening(WhatAmI.PEER),
    "router": Opening(WhatAmI.ROUTER),
    "batches of no byte": Opening(sizes=Sizes(batch_size=0)),
    f"batches of {AROUND} bytes": Opening(sizes=Sizes(batch_size=AROUND)),
    "batches of 50 bytes": Opening(sizes=Sizes(batch_size=50)),
    "batches of 300 bytes": Opening(sizes=Sizes(batch_size=300)),
    "numbers of 8 bits": Opening(sizes=Sizes(frame_sn=0)),
    "numbers of 64 bits": Opening(sizes=Sizes(frame_sn=3, request_id=3)),
    "requests of 8 bits": Opening(sizes=Sizes(request_id=0)),
    "the last number": Opening(initial_sn=MASKS[2]),
    # The beginning of each other id of a tester who dials.
    "a short id": Opening(zid=b"gw-test"),
}
"""The openings of a tester to whom a client comes, by their names: in some batches nothing fits."""

DIALLERS = {"client": Opening(WhatAmI.CLIENT), **LISTENERS}
"""The openings of a tester who dials."""


def ways(openings: dict[str, Opening]) -> tuple[str, ...]:
    """Return the names of openings, those of another kind of node more often: such a session is told other things."""
    return (*openings, *("peer", "router") * 3)
