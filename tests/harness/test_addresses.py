"""Addresses and ports."""

import socket

import pytest

from harness.addresses import Address, free_port, parse_address
from harness.errors import BadDescription


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tcp/127.0.0.1:7447", Address("tcp", "127.0.0.1", 7447)),
        ("udp/localhost:1", Address("udp", "localhost", 1)),
        ("tcp/[::1]:65535", Address("tcp", "::1", 65535)),
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
        ("quic/127.0.0.1:7447", "known are tcp, udp"),
        ("tcp/:7447", "host is missing"),
        ("tcp/[]:7447", "host is missing"),
        ("tcp/127.0.0.1:0", "between 1 and 65535"),
        ("tcp/127.0.0.1:65536", "between 1 and 65535"),
        ("tcp/127.0.0.1:7447 ", "TRANSPORT/HOST:PORT"),
    ],
)
def test_a_wrong_address_is_refused_with_the_reason(text, complaint):
    with pytest.raises(BadDescription, match=complaint):
        parse_address(text)


def test_a_free_port_can_be_bound_for_every_transport_that_was_named():
    port = free_port("tcp", "udp")
    assert port < 32768
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as bound:
            bound.bind(("127.0.0.1", port))


def test_ports_are_not_handed_out_twice():
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
