"""Servers as a user names them: whose sessions are read from a recording."""

import re
from ipaddress import ip_address

import msgspec

from harness.captures.packets import port
from harness.errors import BadDescription

_SHAPE = re.compile(r"(?:[a-z-]+/)?(?:(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:/\[\]]+)):)?(?P<port>\d+)")


class ServerEndpoint(msgspec.Struct, frozen=True):
    """A port, at one IP address (4 or 16 bytes) or at any."""

    port: int
    host: bytes = b""

    def is_(self, end: bytes) -> bool:
        """Tell whether an end of a packet is this server."""
        return port(end) == self.port and self.host in (b"", end[:-2])

    def is_at(self, *ends: bytes) -> bool:
        """Tell whether one of some ends is this server."""
        return any(self.is_(end) for end in ends)


def parse_server(text: str) -> ServerEndpoint:
    """Read ``7447``, ``10.0.0.1:7447``, ``[::1]:7447`` or ``tcp/10.0.0.1:7447``; BadDescription when it is none."""
    match = _SHAPE.fullmatch(text)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise BadDescription(f"{text!r} is no server: expected PORT, HOST:PORT or TRANSPORT/HOST:PORT")
    host = match["six"] or match["host"] or ""
    try:
        packed = ip_address(host).packed if host else b""
    except ValueError:
        raise BadDescription(f"{host!r} in {text!r} is no IP address, and captures hold no names") from None
    return ServerEndpoint(int(match["port"]), packed)
