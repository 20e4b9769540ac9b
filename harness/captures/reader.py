"""Reading captures: pcap and pcapng files, plain or compressed, as packets, in constant memory.

Whatever is wrong with a file costs what it says in ``losses``, and no more.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

from harness.captures.losses import Loss, Losses, Missing
from harness.captures.packets import CapturedPacket, Dissector
from harness.captures.partition import ALL, Partition
from harness.errors import NotInstalled

CHUNK = 1 << 20
"""Bytes that are read at once: large enough that Python's own work is spread over thousands of packets."""

SMALL_CHUNK = 1 << 12
"""Bytes that are decompressed at once of zstd, which raises for a damaged block and hands out nothing before it."""

LARGEST_PACKET = 1 << 18
"""Bytes of a packet; what claims to be longer is no packet. It is the largest snapshot length of libpcap."""

LONGEST_LINE = 1 << 24
"""Bytes of a line of a trace or a journal: many times those of the largest frame in hex, with what is said of it."""

LARGEST_BLOCK = 1 << 24
"""Bytes of a block of pcapng, which may hold more than a packet: else four damaged bytes would claim gigabytes."""


GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SECTION = b"\x0a\x0d\x0d\x0a"
PCAP = {  # byte order, nanoseconds of a tick, bytes of a packet's header
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 16),
    b"\xa1\xb2\xc3\xd4": (">", 1000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    # As a patched libpcap once wrote them (A. Kuznetsov's): a packet's header has eight bytes more.
    b"\x34\xcd\xb2\xa1": ("<", 1000, 24),
    b"\xa1\xb2\xcd\x34": (">", 1000, 24),
}
INTERFACE, OLD_PACKET, SIMPLE_PACKET, PACKET = 1, 2, 3, 6
BROKEN = (OSError, EOFError, zlib.error, ValueError)
"""What the decompressors raise, and the disk."""


class RawPacket(NamedTuple):
    """A packet as the file has it: ``buffer[start:end]`` was captured of ``size`` bytes; ``time`` in ns since 1970."""

    number: int
    time: int
    link_type: int
    buffer: bytes
    start: int
    end: int
    size: int


class CaptureReader:
    """A capture file; iterate over it once for its TCP and UDP packets. ``losses`` are complete after that.

    It yields the packets of a ``partition`` with their losses; ``packets`` counts those of the whole file, and
    ``ending`` says what was wrong with the file where reading ended. Iterating raises OSError when the file cannot be
    opened, and NotInstalled when the package that decompresses it is missing.
    """

    def __init__(self, path: Path, partition: Partition = ALL) -> None:
        self.path = path
        self.losses = Losses()
        self.ending: tuple[Loss, ...] = ()
        self._partition = partition
        self.packets = 0
        self._file: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """How many bytes of the file were read."""
        # ValueError: it is closed by now, and was read to the end.
        with suppress(OSError, ValueError):
            return self._file.tell() if self._file is not None else 0
        return self.path.stat().st_size

    def __iter__(self) -> Iterator[CapturedPacket]:
        dissector = Dissector(self.losses, self._partition)
        # A single reader has nobody else's packets to pass over, and saves the call.
        dissect, passes = dissector.packet, dissector.others.have if self._partition.of > 1 else None
        with self.path.open("rb") as self._file:
            window = Window(_decompressed(self._file, self.path), Losses())
            for raw in _raw(window, passes):
                packet = dissect(*raw)
                if packet is not None:
                    yield packet
            self.packets, self.ending = window.packets, window.losses.all()
        # What is wrong with the file is the same for all readers, and counted once.
        if self._partition.is_first:
            self.losses.take(self.ending)


Passes = Callable[[int, bytes, int, int], bool] | None
"""Tells which packets need not be looked at: link type, buffer, start, end."""


def _raw(window: "Window", passes: Passes) -> Iterator[RawPacket]:
    magic = window.peek(4)
    if magic in PCAP:
        return _pcap(window, *PCAP[magic], passes)
    if magic == SECTION:
        return _pcapng(window, passes)
    window.drop(Missing.UNREADABLE, "this is no capture")
    return iter(())


def magic_of(path: Path) -> bytes:
    """Return the first four bytes of what a file holds, decompressed; fewer when there are no more."""
    with path.open("rb") as file:
        return Window(_decompressed(file, path), Losses()).peek(4)


def lines_of(path: Path, losses: Losses) -> Iterator[bytes]:
    """Yield the lines of a file, plain or compressed, each with its end; what cannot be read is counted."""
    with path.open("rb") as file:
        yield from Window(_decompressed(file, path), losses).lines()


def bounded_lines(more: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield lines of what ``more`` reads piece by piece, each with its end; the last may have none.

    Of a line that is longer than ``LONGEST_LINE`` comes as much and one byte, without an end: it is no line then.
    """
    # Pieces are joined once a line: to append each to the rest would copy a long line again and again.
    parts, held = list[bytes](), 0
    while data := more():
        first, *others = data.split(b"\n")
        parts.append(first[: max(LONGEST_LINE + 1 - held, 0)])
        held += len(first)
        if not others:
            continue
        yield b"".join(parts) + (b"" if held > LONGEST_LINE else b"\n")
        *whole, last = others
        for line in whole:
            yield line + b"\n"
        parts, held = [last], len(last)
    if held:
        yield b"".join(parts)


def _decompressed(file: IO[bytes], path: Path) -> Callable[[], bytes]:
    """Return what reads the next bytes of a file; small pieces where those before a damage would be lost with it."""
    magic = file.read(4)
    file.seek(0)
    if magic.startswith(GZIP):
        # read1 and not read: it hands out what was decompressed before a damage.
        return partial(gzip.GzipFile(fileobj=file).read1, CHUNK)
    if magic == ZSTD:
        try:
            from pyarrow import CompressedInputStream  # type: ignore[import-untyped]
        except ImportError:
            raise NotInstalled(
                f"{path} is compressed with zstd, which is read with the package pyarrow: pip install 'goldwire[arrow]'"
            ) from None
        return partial(CompressedInputStream(file, "zstd").read, SMALL_CHUNK)
    return partial(file.read, CHUNK)


class Window:
    """What is at hand of a file: ``buffer`` from ``place`` on."""

    def __init__(self, more: Callable[[], bytes], losses: Losses) -> None:
        self.buffer = b""
        self.place = 0
        self.packets = 0
        self.losses = losses
        self._more = more
        self._is_over = False

    def fill(self, size: int) -> bool:
        """Have so many bytes at hand; False when there are not so many."""
        # Joined once at the end: to append piece by piece would copy what is there again and again.
        parts, held = [self.buffer[self.place :]], len(self.buffer) - self.place
        while held < size and (data := self._read()):
            parts.append(data)
            held += len(data)
        self.buffer, self.place = b"".join(parts), 0
        return held >= size

    def peek(self, size: int) -> bytes:
        """Return the next bytes and stay where it is."""
        self.fill(size)
        return self.buffer[self.place : self.place + size]

    def lines(self) -> Iterator[bytes]:
        """Yield what is not read yet by lines, each with its end; the last may have none."""
        return bounded_lines(self._read)

    def end(self) -> None:
        """Count what is left where a packet was to begin: nothing, or the beginning of one."""
        if left := len(self.buffer) - self.place:
            self.losses.add(Missing.CUT_OFF, left)

    def drop(self, kind: Missing, what: str) -> None:
        """Read to the end and count it as lost."""
        lost = len(self.buffer) - self.place
        while data := self._read():
            lost += len(data)
        self.buffer, self.place = b"", 0
        self.losses.add(kind, lost, what)

    def _read(self) -> bytes:
        if self._is_over:
            return b""
        try:
            data = self._more()
        except EOFError:
            data = b""
            self.losses.add(Missing.CUT_OFF, what="compressed data")
        except BROKEN as error:
            data = b""
            self.losses.add(Missing.UNREADABLE, what=str(error))
        self._is_over = not data
        return data


def _pcap(window: Window, order: str, tick: int, header: int, passes: Passes) -> Iterator[RawPacket]:
    if not window.fill(24):
        window.end()
        return
    # The upper bits of the link type tell how long the frame check sequence is.
    # The lower 16 of 32 bits, in either order.
    link_type = Struct(f"{order}H").unpack_from(window.buffer, 20 if order == "<" else 22)[0]
    read = Struct(f"{order}4I").unpack_from
    window.place, number = 24, 0
    # In locals, and not behind methods: this runs once for each of millions of packets.
    buffer, place, held = window.buffer, window.place, len(window.buffer)
    while True:
        start = place + header
        if start > held:
            window.place = place
            if not window.fill(header):
                window.end()
                break
            buffer, place, held = window.buffer, 0, len(window.buffer)
            start = header
        seconds, fraction, captured, size = read(buffer, place)
        if captured > LARGEST_PACKET:
            window.place = place
            window.drop(Missing.UNREADABLE, f"a packet of {captured} bytes")
            break
        end = start + captured
        if end > held:
            window.place = place
            if not window.fill(header + captured):
                window.end()
                break
            buffer, place, held = window.buffer, 0, len(window.buffer)
            start, end = header, header + captured
        number += 1
        window.packets = number
        if passes is not None and passes(link_type, buffer, start, end):
            place = end
            continue
        yield RawPacket(number, seconds * 1_000_000_000 + fraction * tick, link_type, buffer, start, end, size)
        place = end


class Interface(NamedTuple):
    """What a pcapng file says of an interface: a tick is ``numerator / denominator`` ns, time begins at ``begin``."""

    link_type: int
    most: int
    numerator: int
    denominator: int
    begin: int


def _pcapng(window: Window, passes: Passes) -> Iterator[RawPacket]:
    order, interfaces, number, latest = "<", list[Interface](), 0, 0
    head = Struct("<2I").unpack_from
    packet = Struct("<5I").unpack_from
    buffer, place, held = b"", 0, 0
    while True:
        if place + 12 > held:
            window.place = place
            if not window.fill(12):
                window.end()
                return
            buffer, place, held = window.buffer, 0, len(window.buffer)
        if buffer[place : place + 4] == SECTION:
            # The byte-order magic tells how this section is written, and its interfaces are numbered from 0 again.
            order, interfaces = "<" if buffer[place + 8 : place + 12] == b"\x4d\x3c\x2b\x1a" else ">", []
            head, packet = Struct(f"{order}2I").unpack_from, Struct(f"{order}5I").unpack_from
        kind, length = head(buffer, place)
        end = place + length
        # Blocks are padded to four bytes, and begin and end with their length.
        if length % 4 or not 12 <= length <= LARGEST_BLOCK:
            window.place = place
            window.drop(Missing.UNREADABLE, f"a block of {length} bytes")
            return
        if end > held:
            window.place = place
            if not window.fill(length):
                window.end()
                return
            buffer, place, held, end = window.buffer, 0, len(window.buffer), length
        if head(buffer, end - 8)[1] != length:
            window.place = place
            window.drop(Missing.UNREADABLE, "a block that does not end as it begins")
            return
        if kind == PACKET and length >= 32:
            which, high, low, captured, size = packet(buffer, place + 8)
            start = place + 28
        elif kind == OLD_PACKET and length >= 32:
            which = Struct(f"{order}H").unpack_from(buffer, place + 8)[0]
            high, low, captured, size = Struct(f"{order}4I").unpack_from(buffer, place + 12)
            start = place + 28
        elif kind == SIMPLE_PACKET and length >= 16 and interfaces:
            # Always of the first interface; how much was captured follows from its snap length.
            which, high, low = 0, 0, 0
            size = head(buffer, place + 8)[0]
            captured = min(size, interfaces[0].most or size, length - 16)
            start = place + 12
        else:
            if kind == INTERFACE and length >= 20:
                interfaces.append(_interface(buffer[place + 8 : end - 4], order))
            place = end
            continue
        number += 1
        window.packets = number
        if which >= len(interfaces) or start + captured > end - 4:
            # The block itself is sound, so what follows can be read.
            window.losses.add(Missing.DAMAGED, length)
            place = end
            continue
        its = interfaces[which]
        if kind != SIMPLE_PACKET:  # which has no time of its own
            latest = (high << 32 | low) * its.numerator // its.denominator + its.begin
        if passes is not None and passes(its.link_type, buffer, start, start + captured):
            place = end
            continue
        yield RawPacket(number, latest, its.link_type, buffer, start, start + captured, size)
        place = end


def _interface(body: bytes, order: str) -> Interface:
    """Read an interface description: its link type, its snap length, and the options on its time stamps."""
    link_type, _, most = Struct(f"{order}2HI").unpack_from(body)
    numerator, denominator, begin, place = 1000, 1, 0, 8
    option = Struct(f"{order}2H").unpack_from
    while place + 4 <= len(body):
        code, length = option(body, place)
        value = body[place + 4 : place + 4 + length]
        if code == 9 and length == 1:  # if_tsresol
            # The highest bit chooses a power of 2 instead of 10.
            ticks = 1 << (value[0] & 127) if value[0] & 128 else 10 ** value[0]
            # In whole numbers: floats cannot tell nanoseconds since 1970 apart.
            numerator, denominator = (
                (1_000_000_000 // ticks, 1) if 1_000_000_000 % ticks == 0 else (1_000_000_000, ticks)
            )
        elif code == 14 and length == 8:  # if_tsoffset
            begin = Struct(f"{order}q").unpack(value)[0] * 1_000_000_000
        elif code == 0:
            break
        place += 4 + length + -length % 4
    return Interface(link_type, most, numerator, denominator, begin)
