"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``."""
