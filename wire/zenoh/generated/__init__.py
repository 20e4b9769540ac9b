"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE = "564a86c3f122d48c"
"""What the extension ``native`` has to say it was made from."""
