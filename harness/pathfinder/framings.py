"""How Pathfinder's frames travel, and what one holds."""

from harness.links.framing import Framings, JsonStream, LengthPrefixed
from wire.pathfinder.grammar import LARGEST

# The document gives no framing: this is the one of deployed servers.
FRAMED = LengthPrefixed(4, "big", LARGEST)
# A stream of bare objects is our reading of what the document allows.
FRAMINGS: Framings = {"tcp": FRAMED, "tls": FRAMED, "tcp-stream": JsonStream(LARGEST)}
LAYOUT = "pathfinder/message"
"""What a frame on any link holds."""
