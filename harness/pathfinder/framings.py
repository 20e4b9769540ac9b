"""How Pathfinder's frames travel, and what one holds."""

from harness.links.framing import Framings, JsonStream, LengthPrefixed
from wire.pathfinder.grammar import LARGEST

FRAMED = LengthPrefixed(4, "big", LARGEST)
FRAMINGS: Framings = {"tcp": FRAMED, "tls": FRAMED, "tcp-stream": JsonStream(LARGEST)}
LAYOUT = "pathfinder/message"
"""What a frame on any link holds."""
