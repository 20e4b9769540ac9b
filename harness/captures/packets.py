"""Packets of TCP and UDP, out of the frames of whatever link they were captured on."""

from ipaddress import ip_address
from struct import Struct
from typing import Literal

import msgspec

from harness.captures.losses import Losses, Missing
from harness.captures.partition import ALL, LinkHeader, OtherReaders, Partition

# The bits of a TCP header's byte 13 (RFC 9293, 3.1).
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

# Numbers of the registry of link types (tcpdump.org/linktypes.html).
ETHERNET, COOKED, COOKED_2, NULL, LOOP, RAW_IP = 1, 113, 276, 0, 108, 101
# 12 and 14 are what some BSDs wrote for raw IP; 228 and 229 are IPv4 and IPv6 alone.
WITHOUT_HEADER = frozenset({RAW_IP, 12, 14, 228, 229})
"""Link types without a header: the packet begins with IP."""

# EtherTypes of IPv4 and IPv6.
IP_KINDS = frozenset({0x0800, 0x86DD})
TAGS = frozenset({0x8100, 0x88A8, 0x9100, 0x9200})
"""EtherTypes of VLAN tags; another EtherType stands behind each."""

TCP, UDP = 6, 17
HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION = 0, 43, 44, 51, 60

# Of a header of 20 bytes: total length, flags with the fragment's offset, protocol (RFC 791, 3.1).
_IPV4 = Struct(">xxHxxHxB").unpack_from
# From behind the ports: sequence number, acknowledgement, data offset, flags (RFC 9293, 3.1).
_TCP = Struct(">IIBB").unpack_from
_16 = Struct(">H").unpack_from


class CapturedPacket(msgspec.Struct, frozen=True, gc=False):
    """A TCP segment or a UDP datagram.

    ``number`` counts the packets of the capture from 1, ``time`` is in nanoseconds since 1970. The ends are an IP
    address (4 or 16 bytes) and a port (2 bytes, big-endian). ``lacking`` bytes behind ``data`` were not captured.
    ``intact`` says whether the checksum over all of it is right; None where there is none, or not yet.
    """

    number: int
    time: int
    transport: Literal["tcp", "udp"]
    source: bytes
    target: bytes
    data: bytes
    lacking: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = 0
    intact: bool | None = None


def format_end(end: bytes) -> str:
    """Spell an end of a packet: ``10.0.0.1:7447``, ``[::1]:7447``."""
    host = ip_address(end[:-2])
    return f"[{host}]:{port(end)}" if host.version == 6 else f"{host}:{port(end)}"


def port(end: bytes) -> int:
    """Return the port of an end."""
    return int.from_bytes(end[-2:], "big")


def checksum_holds(hosts: bytes, segment: bytes, protocol: int) -> bool | None:
    """Tell whether the checksum in a segment or datagram is right; None when only its sender's kernel has begun it.

    ``hosts`` are both addresses, which are part of the sum (RFC 9293, 3.1; RFC 8200, 8.1).
    """
    # RFC 1071 adds words of 16 bits with end-around carry. 2**16 is 1 modulo 65535, so all can be taken for one number.
    begun = int.from_bytes(hosts, "big") + protocol + len(segment)
    if (begun + (int.from_bytes(segment, "big") << 8 * (len(segment) & 1))) % 0xFFFF == 0:
        return True
    # What a network card is to complete, or has put together out of several, holds the sum of the addresses alone.
    return None if (begun - _16(segment, _CHECKSUMS[protocol])[0]) % 0xFFFF == 0 else False


def header_holds(data: bytes, at: int) -> bool | None:
    """Tell whether the header of IPv4 contradicts its checksum (False), which alone can be seen of a part of a packet.

    A header that was changed may claim a part to be missing, and hide that the rest is wrong.
    """
    header = data[at : at + (data[at] & 15) * 4]
    if data[at] >> 4 != 4 or not any(header[10:12]):  # IPv6 has none, and a network card may have to make it
        return None
    return False if int.from_bytes(header, "big") % 0xFFFF else None


_CHECKSUMS = {TCP: 16, UDP: 6}
"""Where a header has its checksum."""

PLACES = {
    ETHERNET: LinkHeader(14, 12),
    COOKED: LinkHeader(16, 14),
    COOKED_2: LinkHeader(20, 0),
    NULL: LinkHeader(4),
    LOOP: LinkHeader(4),
    **dict.fromkeys(WITHOUT_HEADER, LinkHeader(0)),
}


class Dissector:
    """Takes packets apart; counts in ``losses`` what it cannot read, and leaves out what is neither TCP nor UDP.

    It leaves out the packets of other readers as well, many of which ``others`` recognises without taking them apart.
    Losses in packets that name no two ends are counted by the reader of the first partition only.
    """

    def __init__(self, losses: Losses, partition: Partition = ALL) -> None:
        self.losses = losses
        self.others = OtherReaders(PLACES)
        self._partition = partition
        self._is_split = partition.of > 1
        self._unnamed = losses if partition.is_first else Losses()

    def packet(
        self, number: int, time: int, link_type: int, data: bytes, start: int, end: int, size: int
    ) -> CapturedPacket | None:
        """Return the packet in ``data[start:end]``, of which there were ``size`` bytes on the link."""
        try:
            at = self._network(link_type, data, start, end)
            if at is None:
                return None
            return self._internet(number, time, data, at, end, start + size)
        except _Short:
            self._cut(start + size - end)
            return None

    def _cut(self, lacking: int) -> None:
        if lacking > 0:
            self._unnamed.add(Missing.CUT_SHORT, lacking)
        else:
            self._unnamed.add(Missing.DAMAGED)

    def _network(self, link_type: int, data: bytes, start: int, end: int) -> int | None:
        """Return where IP begins, None when the packet has none."""
        if link_type == ETHERNET:
            at = start + 14
            if at > end:
                raise _Short
            kind = data[at - 2] << 8 | data[at - 1]
            while kind in TAGS:
                at += 4
                if at > end:
                    raise _Short
                kind = data[at - 2] << 8 | data[at - 1]
            return at if kind in IP_KINDS else None
        if link_type in WITHOUT_HEADER:
            return start
        if link_type == COOKED:
            if start + 16 > end:
                raise _Short
            return start + 16 if _16(data, start + 14)[0] in IP_KINDS else None
        if link_type == COOKED_2:
            if start + 20 > end:
                raise _Short
            return start + 20 if _16(data, start)[0] in IP_KINDS else None
        if link_type in (NULL, LOOP):
            return start + 4
        self._unnamed.add(Missing.LINK_TYPE, end - start, str(link_type))
        return None

    def _internet(self, number: int, time: int, data: bytes, at: int, end: int, whole: int) -> CapturedPacket | None:
        """Take an IP packet apart; ``whole`` is where it would end if all had been captured.

        Fragments are not put together, but the first of a datagram shows which session lacks it.
        """
        if at >= end:
            raise _Short
        version = data[at] >> 4
        if version == 4:
            if at + 20 > end:
                raise _Short
            length, offset, protocol = _IPV4(data, at)
            # The header's length is counted in words of 4 bytes.
            begin = at + (data[at] & 15) * 4
            if begin < at + 20 or (length and at + length < begin):
                self._unnamed.add(Missing.DAMAGED)
                return None
            # Where the network card cuts segments, the kernel hands it, and the capture, a packet without a length.
            stop = at + length if length else whole
            # "More fragments", or an offset (RFC 791, 3.1).
            is_fragment = bool(offset & 0x3FFF)
            if is_fragment:
                self._unnamed.add(Missing.FRAGMENT, max(stop - begin, 0))
                # Only the first fragment holds the ports.
                if protocol != UDP or offset & 0x1FFF:
                    return None
            source, target = data[at + 12 : at + 16], data[at + 16 : at + 20]
            hosts = data[at + 12 : at + 20]
        elif version == 6:
            if at + 40 > end:
                raise _Short
            length, protocol = _16(data, at + 4)[0], data[at + 6]
            stop = at + 40 + length if length else whole
            source, target = data[at + 8 : at + 24], data[at + 24 : at + 40]
            hosts = data[at + 8 : at + 40]
            begin, protocol = self._extensions(data, at + 40, end, protocol)
            is_fragment = protocol == FRAGMENT
            if is_fragment:
                self._unnamed.add(Missing.FRAGMENT, max(stop - begin - 8, 0))
                # The lower three bits are flags; the offset above them must be 0 (RFC 8200, 4.5).
                if begin + 8 > end or data[begin] != UDP or _16(data, begin + 2)[0] & 0xFFF8:
                    return None
                begin, protocol = begin + 8, UDP
        else:
            self._unnamed.add(Missing.DAMAGED)
            return None
        if protocol == TCP:
            if begin + 20 > end:
                raise _Short
            seq, ack, offset, flags = _TCP(data, begin + 4)
            source, target = source + data[begin : begin + 2], target + data[begin + 2 : begin + 4]
            # Before anything else is looked at: with several readers, most packets are another's.
            if self._is_split and not self._partition.has("tcp", source, target):
                self.others.learn("tcp", source, target)
                return None
            header = begin
            begin += (offset >> 4) * 4
            # A header has at least five words.
            if offset < 0x50 or begin > stop:
                self.losses.add(Missing.DAMAGED)
                return None
            # The usual packet first, as cheaply as can be.
            if stop <= end:
                intact = checksum_holds(hosts, data[header:stop], TCP)
                return CapturedPacket(number, time, "tcp", source, target, data[begin:stop], 0, seq, ack, flags, intact)
            body = data[begin:end]
            lacking = stop - begin - len(body)
            if lacking:
                self.losses.add(Missing.CUT_SHORT, lacking)
            return CapturedPacket(
                number, time, "tcp", source, target, body, lacking, seq, ack, flags, header_holds(data, at)
            )
        if protocol == UDP:
            if begin + 8 > end:
                raise _Short
            source, target = source + data[begin : begin + 2], target + data[begin + 2 : begin + 4]
            if self._is_split and not self._partition.has("udp", source, target):
                self.others.learn("udp", source, target)
                return None
            length = _16(data, begin + 4)[0]
            # 0 is a jumbogram's (RFC 2675, 4): it lasts as long as the packet.
            if length:
                if length < 8:
                    self.losses.add(Missing.DAMAGED)
                    return None
                stop = begin + length
            body = data[begin + 8 : min(stop, end)]
            lacking = stop - begin - 8 - len(body)
            if is_fragment:
                # The rest stands in other fragments, however long they are.
                return CapturedPacket(number, time, "udp", source, target, body, max(lacking, 1))
            if lacking:
                self.losses.add(Missing.CUT_SHORT, lacking)
                return CapturedPacket(number, time, "udp", source, target, body, lacking, intact=header_holds(data, at))
            # A sum of 0 is none (RFC 768).
            intact = checksum_holds(hosts, data[begin:stop], UDP) if data[begin + 6] or data[begin + 7] else None
            return CapturedPacket(number, time, "udp", source, target, body, 0, intact=intact)
        return None

    def _extensions(self, data: bytes, at: int, end: int, protocol: int) -> tuple[int, int]:
        """Return where the extension headers of IPv6 end and what stands behind them, or the fragment header."""
        while protocol in (HOP_BY_HOP, ROUTING, DESTINATION, AUTHENTICATION):
            if at + 8 > end:
                raise _Short
            # Authentication counts words of 4 bytes, less two (RFC 4302, 2.2); the others 8 bytes, less one (RFC 8200,
            # 4).
            size = (data[at + 1] + 2) * 4 if protocol == AUTHENTICATION else (data[at + 1] + 1) * 8
            protocol, at = data[at], at + size
        return at, protocol


class _Short(Exception):
    """A packet ends within its headers."""
