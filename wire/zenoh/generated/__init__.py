"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE, COLUMNAR = "2d5acbe2e0a05b6e", "80a02133a3283e6d"
"""What the extensions have to say they were made from."""
