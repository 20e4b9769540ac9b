"""Rai: cache-backed publish and subscribe over brokers, in messages of relaxed JSON."""

from wire.envelope import envelope
from wire.rai import grammar, text_language
from wire.rai.lines import line

LAYOUTS = {"envelope": envelope} | text_language.LAYOUTS | grammar.LAYOUTS

LINE = line
"""What a frame is in one line: the text that is published says more than the fields of its envelope."""
