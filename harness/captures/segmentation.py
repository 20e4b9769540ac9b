"""Segmentation: what two sides say to each other as packets of TCP or UDP, the counterpart of ``reassembly``.

Packets begin with IP and are made up around the bytes: who sent what is known, how the kernel cut it is not. They are
such that Wireshark has nothing to complain about: sequence numbers and acknowledgements follow each other, and
checksums hold.
"""

from collections.abc import Iterator
from ipaddress import ip_address
from struct import Struct

from harness.captures.packets import ACK, FIN, PSH, RST, SYN, TCP, UDP, port

LARGEST_SEGMENT = 32768
"""Bytes of a segment over loopback, where the kernel hands on as a rule no more at once."""

# The header of IP before the space, that of TCP or UDP behind it.
_IPV4_TCP = Struct(">HHHHBBH4s4s HHIIHHHH").pack
_IPV6_TCP = Struct(">IHBB16s16s HHIIHHHH").pack
_IPV4_UDP = Struct(">HHHHBBH4s4s HHHH").pack
_IPV6_UDP = Struct(">IHBB16s16s HHHH").pack

_IPV4, _IPV6 = 0x4500, 6 << 28
_DO_NOT_FRAGMENT, _HOPS, _WINDOW = 0x4000, 64, 0xFFFF
_NO_OPTIONS = 0x5000  # a TCP header of five words

# The sum of what stands in every IPv4 header but lengths, identification and addresses; the protocol is added.
_IPV4_SUM = _IPV4 + _DO_NOT_FRAGMENT + (_HOPS << 8)


def packed_end(host: str, number: int, *, six: bool = False) -> bytes:
    """Return an IP address and a port as the end of a packet; with ``six``, one of IPv4 as IPv6 maps it (RFC 4291)."""
    address = ip_address(host.partition("%")[0])  # fe80::1%eth0: the scope is not in the packet
    packed = address.packed
    if six and address.version == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    return packed + number.to_bytes(2, "big")


def _sum(data: bytes) -> int:
    """Return what data of any length adds to a checksum.

    RFC 1071 adds words of 16 bits with end-around carry. 2**16 is 1 modulo 65535, so the data can as well be taken for
    one number, which Python reads at once; an odd last byte is the upper half of its word.
    """
    return int.from_bytes(data, "big") << (8 * (len(data) & 1))


def _checksum(total: int) -> int:
    """Return the checksum over a sum: its complement; 0 where it is a multiple of 65535, never 65535 (RFC 1624)."""
    return -total % 0xFFFF


class TcpConnection:
    """The packets of one TCP connection, in the order in which they are asked for. Side 0 has dialled.

    Both ends are an address (4 or 16 bytes, of one kind) and a port. ``first`` are the initial sequence numbers of the
    sides. With ``identification`` each side counts its packets from there, as hosts do; without, all have 0, which is
    what RFC 6864 allows where nothing is fragmented.
    """

    def __init__(
        self,
        dialler: bytes,
        listener: bytes,
        *,
        first: tuple[int, int] = (0, 0),
        identification: tuple[int, int] | None = None,
        largest: int = LARGEST_SEGMENT,
    ) -> None:
        self._is_six = len(dialler) == 18
        self._largest = largest
        self._next = list(first)
        self._counts = identification is not None
        self._ids = list(identification or (0, 0))
        # Of each side: its address and the other's, its port and the other's, and what these add to the checksums.
        self._sides = []
        for source, target in ((dialler, listener), (listener, dialler)):
            hosts = _sum(source[:-2]) + _sum(target[:-2])
            self._sides.append((source[:-2], target[:-2], port(source), port(target), hosts))

    def handshake(self) -> tuple[bytes, bytes, bytes]:
        """Return the three packets with which a connection begins."""
        return self.packet(0, SYN), self.packet(1, SYN | ACK), self.packet(0, ACK)

    def data(self, side: int, data: bytes) -> Iterator[bytes]:
        """Yield the packets with which a side says something at once, at least one; the last pushes it on."""
        for start in range(0, len(data) or 1, self._largest):
            end = start + self._largest
            yield self.packet(side, ACK | PSH if end >= len(data) else ACK, data[start:end])

    def finish(self, side: int) -> bytes:
        """Return the packet with which a side says that it says no more."""
        return self.packet(side, FIN | ACK)

    def acknowledge(self, side: int) -> bytes:
        """Return the packet with which a side only says what it has received."""
        return self.packet(side, ACK)

    def reset(self, side: int) -> bytes:
        """Return the packet with which a side cuts the connection."""
        return self.packet(side, RST | ACK)

    def packet(self, side: int, flags: int, data: bytes = b"") -> bytes:
        """Return the next packet of a side."""
        source, target, own, other, hosts = self._sides[side]
        seq, ack = self._next[side], self._next[1 - side] if flags & ACK else 0
        # SYN and FIN take a place in the sequence, as a byte does; the numbers wrap at 32 bits.
        self._next[side] = (seq + len(data) + (1 if flags & (SYN | FIN) else 0)) & 0xFFFFFFFF
        size = 20 + len(data)
        flags |= _NO_OPTIONS
        check = _checksum(hosts + TCP + size + own + other + seq + ack + flags + _WINDOW + _sum(data))
        if self._is_six:
            return _IPV6_TCP(
                _IPV6, size, TCP, _HOPS, source, target, own, other, seq, ack, flags, _WINDOW, check, 0
            ) + data  # fmt: skip
        if self._counts:
            self._ids[side] = (self._ids[side] + 1) & 0xFFFF
        number = self._ids[side]
        header = _checksum(_IPV4_SUM + TCP + 20 + size + number + hosts)
        return _IPV4_TCP(
            _IPV4, 20 + size, number, _DO_NOT_FRAGMENT, _HOPS, TCP, header, source, target,
            own, other, seq, ack, flags, _WINDOW, check, 0,
        ) + data  # fmt: skip


def datagram(source: bytes, target: bytes, data: bytes) -> bytes:
    """Return a UDP datagram between two ends as a packet."""
    host, other = source[:-2], target[:-2]
    hosts, size = _sum(host) + _sum(other), 8 + len(data)
    # Of UDP 0 means that there is no checksum, and 65535 is the other way to write it (RFC 768).
    check = _checksum(hosts + UDP + 2 * size + port(source) + port(target) + _sum(data)) or 0xFFFF
    ends = port(source), port(target), size, check
    if len(source) == 18:
        return _IPV6_UDP(_IPV6, size, UDP, _HOPS, host, other, *ends) + data
    header = _checksum(_IPV4_SUM + UDP + 20 + size + hosts)
    return _IPV4_UDP(_IPV4, 20 + size, 0, _DO_NOT_FRAGMENT, _HOPS, UDP, header, host, other, *ends) + data
