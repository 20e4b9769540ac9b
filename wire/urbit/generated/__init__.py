"""Codecs of urbit, generated from its grammars by ``python -m wire.emit``. Do not edit."""

NATIVE, COLUMNAR = "1a8ed01de26c7971", "68f30a5d989c5638"
"""What the extensions have to say they were made from."""
