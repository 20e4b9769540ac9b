"""Codecs of pathfinder, generated from its grammars by ``python -m wire.emit``. Do not edit."""

COLUMNAR = "4f99a3f334bc91c3"
"""What the extensions have to say they were made from."""
