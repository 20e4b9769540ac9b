"""Traces as captures: what went over the links, as packets that Wireshark shows as clean streams.

The packets are made up around the recorded bytes: loopback addresses, real ports, TCP handshakes and ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from harness.captures.packets import ETHERNET
from harness.captures.segmentation import TcpConnection, datagram, packed_end
from harness.captures.writer import PcapngWriter
from harness.links.addresses import LOOPBACK
from harness.links.framing import Framing, Framings, TwoSided
from harness.links.transports import TRANSPORTS, framing_of, known_transport
from harness.trace import Direction, Entry, EntryKind, Trace

_LOOPBACK_HEADER = bytes(12) + b"\x08\x00"
"""The header of Ethernet as Linux gives it to packets over loopback: all-zero addresses, then IPv4."""

_FALLBACK_PORTS = (40000, 7447)
"""Ports of ends that have none, as in memory; each link gets one more, so that Wireshark tells them apart."""

_SIDES = {Direction.SENT: 0, Direction.RECEIVED: 1}


def write_pcapng(trace: Trace, path: Path, framings: Framings) -> None:
    """Write a trace as pcapng, with the framing of its transport; over UDP a frame is a datagram.

    TLS is written as what it protects, and what went as AF_UNIX packets, or in memory, as it would have gone over TCP.
    Where all dial a broker, the connection is the implementation's: what it said to the broker, and what others said.
    """
    # Where a protocol has streams, all other transports carry the same frames as TCP, so its framing shows them; and
    # those of the first broker, where it has brokers instead.
    transport = (known_transport(trace.transport) or "tcp") if framings else "udp"
    stand_in = "udp" if not framings else "tcp" if "tcp" in framings else next(iter(framings))
    framing = framings.get(transport) or framing_of(framings, stand_in)
    streams: dict[str, _LinkPackets] = {}
    with PcapngWriter(path, ETHERNET) as writer:
        for entry in trace:
            if entry.what is EntryKind.NOTE:
                continue
            stream = streams.get(entry.link)
            if stream is None:
                ours, theirs = trace.ports.get(entry.link, (0, 0))
                own, server = _FALLBACK_PORTS[0] + len(streams), theirs or _FALLBACK_PORTS[1]
                ports = (server, own) if isinstance(framing, TwoSided) else (ours or own, server)
                kind = _UdpPackets if TRANSPORTS[transport].captured_as == "udp" else _TcpPackets
                stream = streams[entry.link] = kind(ports, framing)
            time = round((trace.epoch + entry.time) * 1e9)
            for packet in stream.packets(entry):
                writer.write(_LOOPBACK_HEADER + packet, time, _comment(entry))


def _comment(entry: Entry) -> str:
    return f"link {entry.link}: {entry.what.value} {entry.note}".rstrip()


class _LinkPackets(ABC):
    """The packets of one link; ``ports`` are the tester's and the other side's."""

    def __init__(self, ports: tuple[int, int], framing: Framing) -> None:
        self.ends = tuple(packed_end(LOOPBACK, port) for port in ports)
        self.framing = framing

    @abstractmethod
    def packets(self, entry: Entry) -> Iterator[bytes]:
        """Yield the packets that an entry stands for."""


class _UdpPackets(_LinkPackets):
    def packets(self, entry: Entry) -> Iterator[bytes]:
        if entry.what in (EntryKind.FRAME, EntryKind.RAW):
            side = _SIDES[entry.direction]
            yield datagram(self.ends[side], self.ends[1 - side], entry.data)


class _TcpPackets(_LinkPackets):
    def __init__(self, ports: tuple[int, int], framing: Framing) -> None:
        super().__init__(ports, framing)
        self._connection: TcpConnection | None = None
        self._dialler = Direction.SENT

    def packets(self, entry: Entry) -> Iterator[bytes]:
        if self._connection is None:
            # A trace may begin in the middle of a link; the tester is then taken for who dialled.
            self._dialler = entry.direction if entry.what is EntryKind.OPENED else Direction.SENT
            if isinstance(self.framing, TwoSided):
                self._dialler = Direction.RECEIVED
            ends = self.ends if self._dialler is Direction.SENT else self.ends[::-1]
            self._connection = TcpConnection(*ends)
            yield from self._connection.handshake()
        connection, side = self._connection, int(entry.direction is not self._dialler)
        if entry.what is EntryKind.FRAME:
            yield from connection.data(side, self._framed(side, entry.data))
        elif entry.what is EntryKind.RAW:
            yield from connection.data(side, entry.data)
        elif entry.what is EntryKind.CLOSED and entry.note == "reset":
            yield connection.reset(side)
        elif entry.what is EntryKind.CLOSED:
            # A trace ends with the first end of a link. The other side's is made up, so that the stream ends in order.
            yield from (connection.finish(side), connection.finish(1 - side), connection.acknowledge(side))

    def _framed(self, side: int, frame: bytes) -> bytes:
        try:
            if side and isinstance(self.framing, TwoSided):
                return self.framing.encode_answer(frame)
            return self.framing.encode(frame)
        except ValueError:
            # It went by other means, which carry more. What the tester listens to no broker tells others.
            return b"" if isinstance(self.framing, TwoSided) else frame
