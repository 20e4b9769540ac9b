"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE = "3406b423317c8170"
"""What the extension ``native`` has to say it was made from."""
