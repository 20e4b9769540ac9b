"""Packets that are made up: as scapy reads and would write them, checksums and all."""

import struct
from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from with_scapy import IP, TCP, UDP, IPv6

from harness.captures.losses import Losses
from harness.captures.packets import RAW_IP, Dissector, format_end
from harness.captures.segmentation import TcpConnection, datagram, packed_end

ENDS = {
    4: (packed_end("10.0.0.1", 40000), packed_end("10.0.0.2", 7447)),
    6: (packed_end("fd00::1%eth0", 40000), packed_end("10.0.0.2", 7447, six=True)),
}
KINDS = {4: IP, 6: IPv6}


def assert_sound(packet: bytes, kind: int) -> None:
    """Let scapy compute lengths and checksums anew: nothing changes."""
    read = KINDS[kind](packet)
    for layer, names in ((read, ("len", "chksum", "plen")), (read[1], ("chksum", "len"))):
        for name in names:
            layer.delfieldval(name) if name in layer.fields else None
    assert bytes(read) == packet


@pytest.mark.parametrize("kind", [4, 6])
@settings(deadline=None)  # scapy is slow
@given(data=st.binary(max_size=70), first=st.tuples(*[st.integers(0, 2**32 - 1)] * 2), side=st.integers(0, 1))
def test_packets_of_a_connection_are_sound(kind, data, first, side):
    connection = TcpConnection(*ENDS[kind], first=first, largest=32)
    packets = [*connection.handshake(), *connection.data(side, data), connection.finish(side), connection.reset(side)]
    for packet in packets:
        assert_sound(packet, kind)
    assert b"".join(bytes(KINDS[kind](packet)[TCP].payload) for packet in packets) == data


@pytest.mark.parametrize("kind", [4, 6])
@settings(deadline=None)
@given(data=st.binary(max_size=70))
def test_datagrams_are_sound(kind, data):
    packet = datagram(*ENDS[kind], data)
    assert_sound(packet, kind)
    assert bytes(KINDS[kind](packet)[UDP].payload) == data


def test_a_checksum_of_nothing_is_spelled_as_its_protocol_has_it():
    """Of TCP 0, of UDP 65535: there 0 says that there is none. Wireshark complains of 65535 in TCP (RFC 1624)."""
    missing = struct.unpack(">H", TcpConnection(*ENDS[4]).data(0, bytes(2)).__next__()[36:38])[0]
    filled = next(TcpConnection(*ENDS[4]).data(0, missing.to_bytes(2, "big")))
    assert filled[36:38] == b"\0\0"
    assert_sound(filled, 4)
    missing = struct.unpack(">H", datagram(*ENDS[4], bytes(2))[26:28])[0]
    filled = datagram(*ENDS[4], missing.to_bytes(2, "big"))
    assert filled[26:28] == b"\xff\xff"
    assert_sound(filled, 4)


def test_hosts_that_count_their_packets():
    connection = TcpConnection(*ENDS[4], identification=(0xFFFE, 7))
    packets = [*connection.handshake(), connection.acknowledge(0)]
    assert [IP(packet).id for packet in packets] == [0xFFFF, 8, 0, 1]
    for packet in packets:
        assert_sound(packet, 4)


def test_ends_are_those_that_are_read():
    for dialler, listener in ENDS.values():
        packet = TcpConnection(dialler, listener).handshake()[0]
        read = Dissector(Losses()).packet(1, 0, RAW_IP, packet, 0, len(packet), len(packet))
        assert (read.source, read.target) == (dialler, listener)
        assert format_end(listener) in ("10.0.0.2:7447", f"[{ip_address('::ffff:10.0.0.2')}]:7447")
