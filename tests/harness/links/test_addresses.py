"""Addresses and ports."""

import socket

import pytest

from harness.errors import BadDescription
from harness.links.addresses import Address, free_port
from harness.links.transports import TRANSPORTS, free_addresses, known_transport, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tcp/127.0.0.1:7447", Address("tcp", "127.0.0.1", 7447)),
        ("udp/localhost:1", Address("udp", "localhost", 1)),
        ("tcp/[::1]:65535", Address("tcp", "::1", 65535)),
        ("tcp-stream/127.0.0.1:4711", Address("tcp-stream", "127.0.0.1", 4711)),
        ("tls/127.0.0.1:4711", Address("tls", "127.0.0.1", 4711)),
        ("ux/my-server@home/1", Address("ux", "my-server@home/1")),
    ],
)
def test_an_address_is_read_and_written_back(text, address):
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("127.0.0.1:7447", "TRANSPORT/HOST:PORT"),
        ("tcp/127.0.0.1", "TRANSPORT/HOST:PORT"),
        ("tcp/::1:7447", "brackets"),
        ("quic/127.0.0.1:7447", "known are tcp, udp, tcp-stream, ux, tls"),
        ("tcp/:7447", "host is missing"),
        ("tcp/[]:7447", "host is missing"),
        ("tcp/127.0.0.1:0", "between 1 and 65535"),
        ("tcp/127.0.0.1:65536", "between 1 and 65535"),
        ("tcp/127.0.0.1:7447 ", "TRANSPORT/HOST:PORT"),
        ("tcp-framed/", "TRANSPORT/HOST:PORT"),
        ("ux/", "expected ux/NAME"),
        ("ux/a,b", "expected ux/NAME"),
        ("ux/a:1", "expected ux/NAME"),
        ("ux/" + "x" * 108, "longer than 107 bytes"),
    ],
)
def test_a_wrong_address_is_refused_with_the_reason(text, complaint):
    with pytest.raises(BadDescription, match=complaint):
        parse_address(text)


def test_another_spelling_of_an_address_is_the_same_address():
    assert str(parse_address("tcp-framed/127.0.0.1:4711")) == "tcp/127.0.0.1:4711"
    assert known_transport("tcp-framed") == known_transport("tcp") == "tcp"
    assert known_transport("quic") is None


def test_free_addresses_differ_and_tcp_and_udp_share_a_port():
    addresses = free_addresses([*TRANSPORTS, "tls", "ux"])
    assert [each.transport for each in addresses] == [*TRANSPORTS, "tls", "ux"]
    assert addresses[0].port == addresses[1].port
    assert len({(TRANSPORTS[each.transport].kind, each.host, each.port) for each in addresses}) == len(addresses)


def test_a_free_port_can_be_bound_for_every_transport_that_was_named():
    port = free_port(socket.SOCK_STREAM, socket.SOCK_DGRAM)
    assert port < 32768
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as bound:
            bound.bind(("127.0.0.1", port))


def test_ports_are_not_handed_out_twice():
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
