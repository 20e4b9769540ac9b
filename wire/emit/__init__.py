"""Emitters: from the tree of a layout to source code in Python and C. ``python -m wire.emit`` writes all of it."""
