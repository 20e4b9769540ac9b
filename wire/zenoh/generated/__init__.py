"""Codecs of zenoh, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE, COLUMNAR = "59584083854e91ba", "fdf8b78c7b62170f"
"""What the extensions have to say they were made from."""
