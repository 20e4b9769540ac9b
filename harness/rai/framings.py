"""How Rai's messages travel, and what one is: over brokers, a frame is an envelope."""

from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.framing import Framings

FRAMINGS: Framings = BROKER_FRAMINGS
LAYOUT = "rai/envelope"
"""What a frame on any link holds."""
