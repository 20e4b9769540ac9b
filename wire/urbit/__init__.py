"""Urbit's session-based notifications: packets of Ames, and the nouns, checksums and signatures in them."""

from wire.urbit.annotations import annotate, read_keys
from wire.urbit.grammar_packet import packet

LAYOUTS = {"packet": packet}

ANNOTATE = annotate
"""What a dump says about the fields of this layout: remarks by the index of the span."""

KEYS = read_keys
"""What is said with ``--key``: whose keys signatures are checked with."""
