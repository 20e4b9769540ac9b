"""Codecs of pathfinder, generated from its grammars by ``python -m wire.emit``. Do not edit."""
