"""Urbit's session-based notifications: packets of Ames, and the nouns, checksums and signatures in them."""

from wire.urbit.grammar_packet import packet

LAYOUTS = {"packet": packet}
