"""Codecs of rai, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE, COLUMNAR = "04b7a3cb3eb2343f", "eb50e0912a627edb"
"""What the extensions have to say they were made from."""
