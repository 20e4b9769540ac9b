"""A generated session as packets of TCP or UDP between two hosts of its own, with the time of each packet."""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from harness.captures.segmentation import TcpConnection, datagram

SEGMENT = 1448
"""Bytes that fit into one packet of an Ethernet: 1500, less the headers of IP and TCP with time stamps."""

PORT = 7447
DIAL_PORTS = range(32768, 61000)
"""The ports that Linux gives to those who dial."""

CLIENTS = 10 << 24 | 1 << 16
"""The first address of those who dial: 10.1.0.0."""

HOSTS = 64
"""Hosts among which the sessions of one round through the ports are divided."""

SERVERS = tuple((10 << 24 | number).to_bytes(4, "big") for number in range(1, 5))

_TO_CLIENT, _TO_SERVER = b"\x02\0\0\0\0\1", b"\x02\0\0\0\0\2"  # locally administered
_IPV4 = b"\x08\x00"
_ETHERNET = (_TO_SERVER + _TO_CLIENT + _IPV4, _TO_CLIENT + _TO_SERVER + _IPV4)
"""The headers of Ethernet of what either side sends: to whom, from whom, what."""

TimedPacket = tuple[int, bytes]
"""When, in nanoseconds since 1970, and the packet."""


class TimedBytes(NamedTuple):
    """Bytes that one side says at once, so many nanoseconds (``after``) behind the handshake."""

    after: int
    by_dialler: bool
    data: bytes


class ConnectionEnd(NamedTuple):
    """How a connection ends: who does it, when, and whether by a reset."""

    after: int
    by_dialler: bool
    is_reset: bool


def drawn_ends(place: int, random: Random) -> tuple[bytes, bytes]:
    """Draw the ends of a session, the dialler's and the listener's; no two sessions of a file have the same ends."""
    # One client port after the other, and other hosts once all were used: a reader of captures tells sessions apart by
    # their two ends, and would join two that have the same.
    around, offset = divmod(place, len(DIAL_PORTS))
    # Drawn from some hosts, so that clients have several sessions, as in the field.
    client = (CLIENTS + around * HOSTS + random.randrange(HOSTS)).to_bytes(4, "big")
    server = random.choice(SERVERS)
    return client + DIAL_PORTS[offset].to_bytes(2, "big"), server + PORT.to_bytes(2, "big")


def datagrams(place: int, began: int, random: Random, messages: Iterable[TimedBytes]) -> list[TimedPacket]:
    """Return the packets of a session whose messages are datagrams."""
    ends = drawn_ends(place, random)
    return [
        (began + after, _ETHERNET[not by_dialler] + datagram(ends[not by_dialler], ends[by_dialler], data))
        for after, by_dialler, data in messages
    ]


class GeneratedConnection:
    """The packets of one TCP connection, made in the order in which they go over the link.

    ``place`` tells connections of one file apart.
    """

    def __init__(self, place: int, began: int, random: Random) -> None:
        self._began = began
        self._packets: list[TimedPacket] = []
        self._connection = TcpConnection(
            *drawn_ends(place, random),
            # Sequence numbers that begin anywhere, as in the field: some run over in the middle of a session.
            first=(random.getrandbits(32), random.getrandbits(32)),
            identification=(random.getrandbits(16), random.getrandbits(16)),
            largest=SEGMENT,
        )

    def packets(self, messages: Iterable[TimedBytes], end: ConnectionEnd, pause: int) -> list[TimedPacket]:
        """Return all packets; ``pause`` nanoseconds pass between those of a handshake."""
        connection = self._connection
        for number, packet in enumerate(connection.handshake()):
            self._add(number * pause, number % 2, packet)
        # After the three packets of the handshake.
        begun = 3 * pause
        for after, by_dialler, data in messages:
            side = 0 if by_dialler else 1
            for packet in connection.data(side, data):
                self._add(begun + after, side, packet)
        # As a host does: one side finishes, the other does too, and the first acknowledges that.
        side, at = 0 if end.by_dialler else 1, begun + end.after
        if end.is_reset:
            self._add(at, side, connection.reset(side))
        else:
            self._add(at, side, connection.finish(side))
            self._add(at + pause, 1 - side, connection.finish(1 - side))
            self._add(at + 2 * pause, side, connection.acknowledge(side))
        return self._packets

    def _add(self, after: int, side: int, packet: bytes) -> None:
        self._packets.append((self._began + after, _ETHERNET[side] + packet))
