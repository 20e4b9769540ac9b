"""``ucast_url`` of HELLO and heartbeats: where a node's inbox can be reached without multicast.

The document draws ``pgm://host:port`` and says that it "only applies to UDP multicast" (section "Inbox Subjects"). Over
brokers it changes nothing: it is read, and what is wrong with it is said.
"""

import re
from ipaddress import AddressValueError, IPv6Address

import msgspec

from wire.errors import WireError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:\[([^\[\]]*)\]|([^\[\]:/?#@]*)):([0-9]+)")
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?")


class NoUcastUrl(WireError):
    """A text that names no place to send to; the message says why."""


class UcastUrl(msgspec.Struct, frozen=True):
    """Where to send to: a transport (``pgm``), a host, a port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def parse(text: str) -> UcastUrl:
    """Read a ``ucast_url``. Raises ``NoUcastUrl``."""
    found = _URL.fullmatch(text)
    if found is None:
        raise NoUcastUrl(f"{text!r:.80} is not like pgm://host:port")
    scheme, six, host, port = found.groups()
    if six is not None:
        try:
            IPv6Address(six)
        except AddressValueError as error:
            raise NoUcastUrl(f"{six!r:.80} is no address: {error}") from None
    elif not _HOST.fullmatch(host):
        raise NoUcastUrl(f"{host!r:.80} is no host")
    if len(port) > 5 or not 0 < int(port) < 1 << 16:
        raise NoUcastUrl(f"{port:.80} is no port")
    return UcastUrl(scheme.lower(), six or host, int(port))
