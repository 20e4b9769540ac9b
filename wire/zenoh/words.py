"""What Zenoh's numbers are called, for those who look at frames: by ``MESSAGE.field.bits``."""

from wire.zenoh.annotations import MODES
from wire.zenoh.grammar_extensions import BY_MESSAGE, UNIT, Z64, ZBUF
from wire.zenoh.values_transport import WhatAmI

ENCODINGS = {UNIT: "Unit", Z64: "Z64", ZBUF: "ZBuf"}
RELIABILITY = {0: "best effort", 1: "reliable"}
STEPS = {0: "SYN", 1: "ACK"}
RESOLUTIONS = {0: "8 bits", 1: "16 bits", 2: "32 bits", 3: "64 bits"}

WORDS = {
    "INTEREST_FINAL.header.Mod": {0: "Final"},
    "INTEREST.header.Mod": {int(mode): name for mode, name in MODES.items()},
    "extensions.header.encoding": ENCODINGS,
    "OAM.header.encoding": ENCODINGS,
    # Below the documents; the words are the field's.
    "T_OAM.header.encoding": ENCODINGS,
    "INIT.header.A": STEPS,
    "INIT.node.whatami": {int(role): role.name.lower() for role in WhatAmI},
    "INIT.resolution.request_id": RESOLUTIONS,
    "INIT.resolution.frame_sn": RESOLUTIONS,
    "OPEN.header.A": STEPS,
    "OPEN.header.T": {0: "lease in milliseconds", 1: "lease in seconds"},
    "CLOSE.header.S": {0: "this link", 1: "the whole session"},
    "CLOSE.reason": {
        0: "generic",
        1: "unsupported",
        2: "invalid",
        3: "too many sessions",
        4: "too many links",
        5: "expired",
        6: "unresponsive",
        7: "connection to itself",
    },
    "FRAME.header.R": RELIABILITY,
    "FRAGMENT.header.R": RELIABILITY,
    "FRAGMENT.header.M": {0: "the last fragment", 1: "more fragments follow"},
}

# An extension is known by its id, its encoding and M together, and by the message that has it.
TITLES = {
    "extensions": {
        ("header", "id", "encoding", "M"): {
            message: {(known.id, known.encoding, int(known.mandatory)): known.name for known in all_known}
            for message, all_known in BY_MESSAGE.items()
        }
    }
}
