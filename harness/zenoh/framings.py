"""How Zenoh's frames travel, and what one holds."""

from harness.links.framing import Framings, LengthPrefixed

# Over UDP there is none: a datagram is a batch.
FRAMINGS: Framings = {"tcp": LengthPrefixed(2, "little")}
LAYOUT = "zenoh/batch"
"""What a frame on any link holds."""
