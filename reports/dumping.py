"""Dumping: what went over connections as a pcapng file, written as it goes; Wireshark shows clean streams.

The packets are made up around the bytes, which are those that were seen.
"""

import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from struct import pack
from types import TracebackType
from typing import Self

from reports.packets import ACK, FIN, RST, SYN

PUSH = 8
SEGMENT = 32768

Place = tuple[str, int]
"""An IP address and a port."""

_RAW_IP = 101
_SECTION = pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
# Time stamps in nanoseconds: option 9 of an interface.
_INTERFACE = pack("<IIHHIHHB3xHHI", 1, 32, _RAW_IP, 0, 0, 9, 1, 9, 0, 0, 32)


class Dump:
    """A capture file; each packet is written at once, so what a killed process leaves behind can be read.

    OSError when the disk does not take it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packets = 0
        self._file = path.open("wb", buffering=0)
        self._put(_SECTION + _INTERFACE)

    def write(self, packet: bytes) -> None:
        """Append a packet that begins with IP, as of now."""
        now, size = time.time_ns(), len(packet)
        length = 32 + size + -size % 4
        head = pack("<7I", 6, length, 0, now >> 32, now & 0xFFFFFFFF, size, size)
        self._put(head + packet + bytes(-size % 4) + pack("<I", length))
        self.packets += 1

    def close(self) -> None:
        """Close the file; once is enough."""
        self._file.close()

    def _put(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class Connection:
    """A TCP connection as packets; side 0 is the one that dialled. Its beginning is written at once."""

    def __init__(self, dump: Dump, dialler: Place, listener: Place) -> None:
        self._dump = dump
        ends = [ip_address(dialler[0].partition("%")[0]), ip_address(listener[0].partition("%")[0])]
        self._is_six = any(end.version == 6 for end in ends)
        self._hosts = [
            end.packed if end.version == 6 or not self._is_six else bytes(10) + b"\xff\xff" + end.packed for end in ends
        ]
        self._ports = [dialler[1], listener[1]]
        self._next = [0, 0]
        self._ended = [False, False]
        self._write(0, SYN)
        self._write(1, SYN | ACK)
        self._write(0, ACK)

    def data(self, side: int, data: bytes) -> None:
        """Take down what a side has said."""
        for start in range(0, len(data), SEGMENT):
            self._write(side, PUSH | ACK, data[start : start + SEGMENT])

    def end(self, side: int) -> None:
        """Take down that a side says no more; twice does no harm."""
        if not self._ended[side]:
            self._ended[side] = True
            self._write(side, FIN | ACK)
            self._write(1 - side, ACK)

    def reset(self, side: int) -> None:
        """Take down that a side has cut the connection, unless it is over."""
        if not all(self._ended):
            self._ended = [True, True]
            self._write(side, RST | ACK)

    def _write(self, side: int, flags: int, data: bytes = b"") -> None:
        other = 1 - side
        seq, ack = self._next[side], self._next[other] if flags & ACK else 0
        # SYN and FIN take a place in the sequence, as a byte does; the numbers wrap at 32 bits.
        self._next[side] = (seq + len(data) + bool(flags & (SYN | FIN))) & 0xFFFFFFFF
        head = pack(">HHIIBBHHH", self._ports[side], self._ports[other], seq, ack, 0x50, flags, 65535, 0, 0)
        size = len(head) + len(data)
        hosts = self._hosts[side] + self._hosts[other]
        check = _checksum(hosts, pack(">II", size, 6), head, data)
        segment = head[:16] + pack(">H", check) + head[18:] + data
        if self._is_six:
            self._dump.write(pack(">IHBB", 6 << 28, size, 6, 64) + hosts + segment)
        else:
            ip = pack(">BBHHHBBH", 0x45, 0, 20 + size, 0, 0x4000, 64, 6, 0)
            self._dump.write(ip[:10] + pack(">H", _checksum(ip, hosts)) + hosts + segment)


def _checksum(*parts: bytes) -> int:
    """Return the checksum of IP and TCP over some parts, all but the last of even length."""
    total = sum(_words(parts))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _words(parts: tuple[bytes, ...]) -> Iterator[int]:
    for part in parts:
        # Sums of words are the same, modulo 2^16 - 1, as the whole read as one number.
        yield int.from_bytes(part + bytes(len(part) % 2), "big") % 0xFFFF
