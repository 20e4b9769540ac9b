"""Traces as captures: what went over the links, as packets that Wireshark shows as clean streams.

The packets are made up around the recorded bytes: loopback addresses, real ports, TCP handshakes and ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.addresses import known_transport
from harness.framing import Framing, Framings
from harness.trace import Direction, Entry, Happening, Trace

# Linux gives loopback packets all-zero Ethernet addresses, and as a rule no more than this at once.
_MAC = "00:00:00:00:00:00"
_HOST = "127.0.0.1"
_SEGMENT = 32768
_FALLBACK_PORTS = (40000, 7447)


def write_pcapng(trace: Trace, path: Path, framings: Framings) -> None:
    """Write a trace as pcapng, with the framing of its transport; over UDP a frame is a datagram.

    TLS is written as what it protects, and what went as AF_UNIX packets as it would have gone over TCP.
    """
    # Loaded here, as loading it takes longer than most cases.
    from scapy.utils import PcapNgWriter

    framing = framings.get(known_transport(trace.transport) or "tcp") or framings["tcp"]
    streams: dict[str, _Stream] = {}
    with PcapNgWriter(str(path)) as writer:
        for entry in trace:
            if entry.what is Happening.NOTE:
                continue
            stream = streams.get(entry.link)
            if stream is None:
                ports = trace.ports.get(entry.link, (0, 0))
                if not any(ports):
                    ports = (_FALLBACK_PORTS[0] + len(streams), _FALLBACK_PORTS[1])
                kind = _UdpStream if trace.transport == "udp" else _TcpStream
                stream = streams[entry.link] = kind(ports, framing)
            for packet in stream.packets(entry):
                packet.time = trace.epoch + entry.time
                packet.comments = [_comment(entry).encode()]
                writer.write(packet)


def _comment(entry: Entry) -> str:
    return f"link {entry.link}: {entry.what.value} {entry.note}".rstrip()


class _Stream(ABC):
    """The packets of one link."""

    def __init__(self, ports: tuple[int, int], framing: Framing) -> None:
        self.ports = ports
        self.framing = framing

    @abstractmethod
    def packets(self, entry: Entry) -> Iterator[Any]:
        """Yield the packets that an entry stands for."""

    def _ports(self, by: Direction) -> tuple[int, int]:
        """Return the ports from and to which a side sends."""
        return self.ports if by is Direction.SENT else self.ports[::-1]


class _UdpStream(_Stream):
    def packets(self, entry: Entry) -> Iterator[Any]:
        from scapy.layers.inet import IP, UDP
        from scapy.layers.l2 import Ether

        if entry.what in (Happening.FRAME, Happening.RAW):
            source, target = self._ports(entry.direction)
            header = Ether(src=_MAC, dst=_MAC) / IP(src=_HOST, dst=_HOST)
            yield header / UDP(sport=source, dport=target) / entry.data


class _TcpStream(_Stream):
    def __init__(self, ports: tuple[int, int], framing: Framing) -> None:
        super().__init__(ports, framing)
        self._next = {Direction.SENT: 0, Direction.RECEIVED: 0}
        self._open = False

    def packets(self, entry: Entry) -> Iterator[Any]:
        by, other = entry.direction, _opposite(entry.direction)
        if not self._open:
            # A trace may begin in the middle of a link; the tester is then taken for who dialled.
            yield from self._handshake(by if entry.what is Happening.OPENED else Direction.SENT)
        if entry.what is Happening.FRAME:
            yield from self._data(by, self._framed(entry.data))
        elif entry.what is Happening.RAW:
            yield from self._data(by, entry.data)
        elif entry.what is Happening.CLOSED and entry.note == "reset":
            yield self._segment(by, "RA")
        elif entry.what is Happening.CLOSED:
            yield self._segment(by, "FA")
            yield self._segment(other, "FA")
            yield self._segment(by, "A")

    def _framed(self, frame: bytes) -> bytes:
        try:
            return self.framing.encode(frame)
        except ValueError:
            return frame  # it went by other means, which carry more

    def _handshake(self, by: Direction) -> Iterator[Any]:
        self._open = True
        yield self._segment(by, "S")
        yield self._segment(_opposite(by), "SA")
        yield self._segment(by, "A")

    def _data(self, by: Direction, data: bytes) -> Iterator[Any]:
        for start in range(0, len(data), _SEGMENT):
            yield self._segment(by, "PA", data[start : start + _SEGMENT])

    def _segment(self, by: Direction, flags: str, data: bytes = b"") -> Any:
        from scapy.layers.inet import IP, TCP
        from scapy.layers.l2 import Ether

        source, target = self._ports(by)
        ack = self._next[_opposite(by)] if "A" in flags else 0
        segment = TCP(sport=source, dport=target, flags=flags, seq=self._next[by], ack=ack, window=65535)
        # SYN and FIN take a place in the sequence, as a byte does; the numbers wrap at 32 bits.
        taken = len(data) + ("S" in flags) + ("F" in flags)
        self._next[by] = (self._next[by] + taken) % (1 << 32)
        packet = Ether(src=_MAC, dst=_MAC) / IP(src=_HOST, dst=_HOST) / segment
        return packet / data if data else packet


def _opposite(direction: Direction) -> Direction:
    return Direction.RECEIVED if direction is Direction.SENT else Direction.SENT
