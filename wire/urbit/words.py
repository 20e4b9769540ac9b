"""What the numbers of Urbit's packets are called, for those who look at frames: by ``MESSAGE.field.bits``."""

from typing import Any

from wire.urbit.type_bits import PacketType

RANKS = {0: "galaxy or star", 1: "planet", 2: "moon", 3: "comet"}

TYPES = {
    PacketType.SCRY_FORE: "scry request",
    PacketType.SCRY_BACK: "scry response",
    PacketType.AMES_FORE: "Ames request",
    PacketType.AMES_BACK: "Ames response",
    PacketType.BEAT_FORE: "heartbeat request",
    PacketType.BEAT_BACK: "heartbeat response",
    PacketType.BOND_FORE: "scry cancellation request",
    PacketType.BOND_BACK: "scry promise",
}
"""Section "Packet Types"."""

# Flags are zero for yes, all of them.
LIVE = {0: "yes, the session lives", 1: "no, there is no such session"}

WORDS: dict[str, dict[int, str]] = {
    "packet.header.type": {int(kind): name for kind, name in TYPES.items()},
    "packet.header.not_ames": {0: "of Ames", 1: "not of Ames"},
    "packet.header.sender_rank": RANKS,
    "packet.header.receiver_rank": RANKS,
    "packet.header.direct": {0: "relayed", 1: "direct"},
    "beat_back.live.live": LIVE,
}

TITLES: dict[str, Any] = {}
"""No record here is called otherwise than its field."""
