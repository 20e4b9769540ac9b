"""What tests of captures share: recordings of plays."""

from recorded_plays import plays
from scapy.data import MANUFDB

MANUFDB.d.clear()  # scapy's table of the makers of 52,000 kinds of network card: 11 MB that nobody here asks for

__all__ = ["plays"]
