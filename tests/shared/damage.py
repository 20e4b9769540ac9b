"""What may befall packets on their way into a capture, by name: nothing of it is anybody's fault.

Each kind of damage takes the packets of a capture, dice, and gives back what a capture would then hold. Packets begin
with an Ethernet header. All of it happens between the link and the file: what was said was said in order.
"""

import struct
from collections.abc import Callable
from random import Random
from typing import NamedTuple

MILLISECOND = 1_000_000
LATEST_STAMP = 50 * MILLISECOND
ADDRESSES = 26
"""Where the addresses begin in a packet of IPv4 over Ethernet: what a checksum of TCP or UDP is about."""


class Captured(NamedTuple):
    """A packet of a capture: its time in ns since 1970, its bytes, and of how many bytes on the link."""

    time: int
    data: bytes
    size: int


Packets = list[Captured]


def drop(packets: Packets, dice: Random) -> Packets:
    """Lose some packets: single ones, or several in a row, as when a buffer overflows."""
    lost = set[int]()
    for _ in range(dice.randrange(1, 4)):
        first = dice.randrange(len(packets))
        lost.update(range(first, first + dice.choice((1, 1, 1, 2, 5))))
    return [each for place, each in enumerate(packets) if place not in lost]


def swap(packets: Packets, dice: Random) -> Packets:
    """Have some packets change places, with their time stamps or without."""
    out = list(packets)
    for _ in range(dice.randrange(1, 5)):
        one = dice.randrange(len(out))
        other = min(one + dice.randrange(1, 4), len(out) - 1)
        out[one], out[other] = out[other], out[one]
    return out if dice.random() < 0.5 else stamped_in_order(out)


def double(packets: Packets, dice: Random) -> Packets:
    """Have some packets twice, as where two taps lie on the way; the second a little later."""
    out = list(packets)
    for _ in range(dice.randrange(1, 5)):
        place = dice.randrange(len(out))
        out.insert(min(place + dice.randrange(1, 4), len(out)), out[place])
    return out if dice.random() < 0.5 else stamped_in_order(out)


def cut(packets: Packets, dice: Random) -> Packets:
    """Cut some packets short, or begin or end too early."""
    way = dice.randrange(3)
    if way == 0:
        return packets[dice.randrange(len(packets)) :]
    if way == 1:
        return packets[: dice.randrange(len(packets)) + 1]
    out = list(packets)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(out))
        time, data, size = out[place]
        out[place] = Captured(time, data[: dice.randrange(max(len(data), 1))], size)
    return out


def delay(packets: Packets, dice: Random) -> Packets:
    """Have some packets reach the file late, with the time at which they were captured or that of the file."""
    out = list(packets)
    for _ in range(dice.randrange(1, 4)):
        late = out.pop(dice.randrange(len(out)))
        place = next((at for at, each in enumerate(out) if each.time >= late.time), len(out))
        out.insert(min(place + dice.randrange(1, 25), len(out)), late)
    return out if dice.random() < 0.5 else stamped_in_order(out)


def corrupt(packets: Packets, dice: Random) -> Packets:
    """Flip bits of some packets."""
    out = list(packets)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(out))
        time, data, size = out[place]
        changed = flipped(data, dice)
        # Two bits may make up for each other, and nothing in the capture tells such a packet from a right one.
        while changed[ADDRESSES:] != data[ADDRESSES:] and summed(changed) == summed(data):
            changed = flipped(data, dice)
        out[place] = Captured(time, changed, size)
    return out


def flipped(data: bytes, dice: Random) -> bytes:
    """Return a packet with some bits flipped."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def summed(data: bytes) -> int:
    """Return what the checksum of a packet of IPv4 holds against its addresses and all that is behind them."""
    part = data[ADDRESSES:]
    return int.from_bytes(part + bytes(len(part) % 2), "big") % 0xFFFF


def interleave(packets: Packets, dice: Random) -> Packets:
    """Have the two directions come from two files: joined behind each other for a while, or by clocks that differ."""
    side = {False: list[Captured](), True: list[Captured]()}
    first = packets[0].data[26:30] + packets[0].data[34:36]
    if dice.random() < 0.5:
        shift = dice.choice((-1, 1)) * dice.randrange(1, 40) * MILLISECOND
        moved = [each._replace(time=each.time + shift) if source(each) == first else each for each in packets]
        out = sorted(moved, key=lambda each: each.time)
        return out if dice.random() < 0.5 else stamped_in_order(out)
    begin = dice.randrange(len(packets))
    end = begin + dice.randrange(2, 30)
    for each in packets[begin:end]:
        side[source(each) == first].append(each)
    order = (False, True) if dice.random() < 0.5 else (True, False)
    out = [*packets[:begin], *side[order[0]], *side[order[1]], *packets[end:]]
    return out if dice.random() < 0.5 else stamped_in_order(out)


KINDS: dict[str, Callable[[Packets, Random], Packets]] = {
    each.__name__: each for each in (drop, swap, double, cut, delay, corrupt, interleave)
}
"""All kinds of damage, by name."""


def source(packet: Captured) -> bytes:
    """Return who sent a packet of IPv4: address and port."""
    return packet.data[26:30] + packet.data[34:36]


def stamped_in_order(packets: Packets) -> Packets:
    """Return packets with time stamps in the order in which they come: as if each was stamped when it was written.

    Nobody holds packets back for long before that: those that would be are left with the stamps that they have.
    """
    times = sorted(each.time for each in packets)
    if any(abs(each.time - time) > LATEST_STAMP for each, time in zip(packets, times, strict=True)):
        return packets
    return [each._replace(time=time) for each, time in zip(packets, times, strict=True)]


def pcap(packets: Packets) -> bytes:
    """Return packets as a capture, with times in nanoseconds."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)]
    for time, data, size in packets:
        parts.append(struct.pack("<4I", *divmod(time, 10**9), len(data), size) + data)
    return b"".join(parts)
