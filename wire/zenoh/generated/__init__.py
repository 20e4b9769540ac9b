"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE = "06efa693c945d721"
"""What the extension ``native`` has to say it was made from."""
