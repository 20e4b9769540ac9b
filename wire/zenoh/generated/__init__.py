"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE = "e49032b6007ba343"
"""What the extension ``native`` has to say it was made from."""
