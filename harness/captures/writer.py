"""Captures being written, packet by packet: pcapng for whoever reads it, pcap where there are very many packets."""

from pathlib import Path
from struct import Struct, pack
from types import TracebackType
from typing import Self

from harness.captures.packets import ETHERNET, RAW_IP
from wire.files import named

SNAP_LENGTH = 1 << 18
"""Bytes of a packet that a capture may hold; IP has no longer ones."""

BUFFER = 1 << 20
"""Bytes that are written to the disk at once, where nobody reads along."""

# -1: how long the section gets is not known beforehand.
_SECTION = pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
_NANOSECONDS = pack("<HHB3xHH", 9, 1, 9, 0, 0)  # the option if_tsresol: a tick is 10**-9 seconds
_PACKET_HEAD = Struct("<7I").pack
_COMMENT = 1  # the option opt_comment
_PCAP_RECORD = Struct(">4I").pack
_SECOND = 1_000_000_000


class _CaptureFile:
    """A capture that is being written; ``packets`` are in it. Raises OSError as files do."""

    def __init__(self, path: Path, header: bytes, buffer: int) -> None:
        self.path = path
        self.packets = 0
        self._file = path.open("wb", buffering=buffer)
        self._put(header)

    def close(self) -> None:
        """Close the file; twice does no harm."""
        try:
            self._file.close()
        except OSError as error:  # what was still in the buffer
            raise named(error, self.path) from None

    def _put(self, data: bytes) -> None:
        # Without a buffer a write may take less than all, as when the disk is nearly full.
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise named(error, self.path) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class PcapngWriter(_CaptureFile):
    """A pcapng file of one link type; with ``live``, others can read it while it grows, up to the last packet."""

    def __init__(self, path: Path, link_type: int = RAW_IP, *, live: bool = False) -> None:
        interface = pack("<HHI", link_type, 0, SNAP_LENGTH) + _NANOSECONDS
        super().__init__(path, _SECTION + _block(1, interface), 0 if live else BUFFER)

    def write(self, packet: bytes, time: int, comment: str = "") -> None:
        """Append a packet with its time (nanoseconds since 1970), and a comment that Wireshark shows with it."""
        size = len(packet)
        options = b""
        if comment:
            text = comment.encode()
            # Four zero bytes end the options.
            options = pack("<HH", _COMMENT, len(text)) + _padded(text) + bytes(4)
        length = 32 + size + -size % 4 + len(options)
        head = _PACKET_HEAD(6, length, 0, time >> 32, time & 0xFFFFFFFF, size, size)
        # One write for each packet: a live reader sees whole ones.
        self._put(head + _padded(packet) + options + pack("<I", length))
        self.packets += 1


class PcapWriter(_CaptureFile):
    """A pcap file with times in nanoseconds: less to write and to read of each packet than pcapng has."""

    def __init__(self, path: Path, link_type: int = ETHERNET) -> None:
        header = Struct(">IHHIIII").pack(0xA1B23C4D, 2, 4, 0, 0, SNAP_LENGTH, link_type)
        super().__init__(path, header, BUFFER)

    def write(self, packet: bytes, time: int) -> None:
        """Append a packet with its time (nanoseconds since 1970)."""
        size = len(packet)
        self._put(_PCAP_RECORD(*divmod(time, _SECOND), size, size) + packet)
        self.packets += 1


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return pack("<II", kind, length) + body + pack("<I", length)


def _padded(data: bytes) -> bytes:
    """Return data up to the next multiple of four bytes, where blocks and options of pcapng end."""
    return data + bytes(-len(data) % 4)
