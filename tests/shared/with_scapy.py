"""scapy as tests use it, the one place that imports it: not ``scapy.all``, which takes 30 MB more of a process."""

from pathlib import Path

from scapy.data import MANUFDB
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, CookedLinux, CookedLinuxV2, Dot1Q, Ether, Loopback
from scapy.packet import Packet
from scapy.utils import PcapNgWriter, PcapReader, RawPcapWriter, rdpcap

# What scapy finds in a packet are the layers that somebody has imported: whoever reads captures needs all of them.
__all__ = [
    "ARP",
    "IP",
    "TCP",
    "UDP",
    "CookedLinux",
    "CookedLinuxV2",
    "Dot1Q",
    "Ether",
    "IPOption_NOP",
    "IPv6",
    "IPv6ExtHdrDestOpt",
    "IPv6ExtHdrFragment",
    "IPv6ExtHdrHopByHop",
    "Loopback",
    "PcapNgWriter",
    "PcapReader",
    "RawPcapWriter",
    "fragment",
    "packets_of",
]

MANUFDB.d.clear()  # the makers of 52,000 kinds of network card: 11 MB that nobody here asks for


def packets_of(capture: Path) -> list[Packet]:
    """Return the packets of a capture as scapy reads them."""
    return list(rdpcap(str(capture)))
