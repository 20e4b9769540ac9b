"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE, COLUMNAR = "89425908593c4d65", "80a02133a3283e6d"
"""What the extensions have to say they were made from."""
