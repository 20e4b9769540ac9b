"""How Urbit's packets travel, and what one is."""

from harness.links.framing import Framings

# None: a datagram is a packet.
FRAMINGS: Framings = {}
LAYOUT = "urbit/packet"
"""What a frame on any link holds."""
