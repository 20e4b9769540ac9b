"""TLS over TCP: links over it, both ends of it for the tester and for our own peers, and certificates.

Nobody here verifies certificates: the tester asks what an implementation says, not who it is.
"""

import asyncio
import contextlib
import datetime
import socket
import ssl
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from harness.clock import Clock
from harness.errors import BadDescription, NotInstalled
from harness.links.acceptor import Acceptor, listening_sockets
from harness.links.addresses import LOOPBACK, Address
from harness.links.asyncio_links import LinkOwner, StreamLink
from harness.links.connected import CHUNK
from harness.links.framing import Framing
from harness.links.tcp import Tcp, TcpLink
from harness.links.transport import Certificate, Closable
from harness.trace import Direction, Trace

NAME = "goldwire"

HANDSHAKE_TIMEOUT = 10.0
# For a crowd on a busy machine: the handshake itself takes milliseconds.
"""Seconds for the handshake, at a peer of ours."""

# Not stretched by a node's timing: a listener serves whoever dials before anything was measured, and the handshake is
# two round trips and milliseconds of arithmetic, of which there are a dozen in it with half a second to each.
ACCEPT_TIMEOUT = 5.0
"""Seconds for the handshake of an implementation that dials the tester."""

# The certificate lives as long as the process that made it: longer than any soak.
_VALID = datetime.timedelta(days=30)


class TlsLink(TcpLink):
    """A TLS connection over TCP, behind its handshake."""

    _socket: ssl.SSLSocket
    # A reset must not follow an end in good order (close_notify), or the other side takes it for that.
    _says_goodbye = True

    def abort(self) -> None:
        self._says_goodbye = False
        super().abort()

    def _take(self) -> bytes | None:
        # What OpenSSL has decrypted already does not show at the socket below.
        if not self._socket.pending():
            # The ssl module takes a reset for an end; the socket below knows better.
            socket.socket.recv(self._socket, 1, socket.MSG_PEEK)
        try:
            return self._socket.recv(CHUNK) or None
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    def _put(self, data: memoryview) -> int:
        # To write nothing is undefined in OpenSSL (SSL_write(3)).
        if not data:
            return 0
        try:
            return self._socket.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    def _shut(self) -> None:
        if self._says_goodbye:
            # The other side need not say so too: what it says then is not waited for.
            with contextlib.suppress(OSError, ValueError):
                self._socket.unwrap()
        super()._shut()


class Tls(Tcp):
    """TLS over TCP."""

    captured_as = ""  # only who has the keys can read it

    def _dialled(
        self,
        connection: socket.socket,
        address: Address,
        framing: Framing,
        clock: Clock,
        label: str,
        trace: Trace | None,
    ) -> TcpLink:
        secure = client_context().wrap_socket(connection, server_hostname=address.host)
        return TlsLink(secure, framing, clock, label, trace, Direction.SENT, self.name)

    def _accepted(
        self, connection: socket.socket, framing: Framing, clock: Clock, label: str, trace: Trace | None
    ) -> TcpLink:
        # The play stands still meanwhile, so whoever dials and says nothing may not have long.
        connection.settimeout(ACCEPT_TIMEOUT)
        secure = server_context().wrap_socket(connection, server_side=True)
        return TlsLink(secure, framing, clock, label, trace, Direction.RECEIVED, self.name)

    async def serve(
        self, address: Address, framing: Framing, owner: LinkOwner, certificate: Certificate
    ) -> Sequence[Closable]:
        loop = asyncio.get_running_loop()
        context = server_context(certificate.file, certificate.key)
        patience = HANDSHAKE_TIMEOUT if certificate.patience is None else certificate.patience

        async def handle_connection(connection: socket.socket) -> None:
            await loop.connect_accepted_socket(
                lambda: StreamLink(owner, self.peername, framing),
                connection,
                ssl=context,
                ssl_handshake_timeout=patience,
                ssl_shutdown_timeout=HANDSHAKE_TIMEOUT / 5,  # a goodbye is one packet each way: no arithmetic
            )

        return [
            Acceptor(each, handle_connection) for each in listening_sockets(self.socket_addresses(address), self.kind)
        ]

    async def connect(self, address: Address, framing: Framing, owner: LinkOwner, server: int | None) -> None:
        connection = await self._reached(address)
        await asyncio.get_running_loop().create_connection(
            lambda: StreamLink(owner, self.peername, framing, dialled=True, server=server),
            sock=connection,
            ssl=client_context(),
            server_hostname=address.host,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT,
        )


# One for all links: it holds no state of theirs.
@cache
def client_context() -> ssl.SSLContext:
    """Return the context of a side that dials: it takes every certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


# A key and a certificate are made once per process, and all its listeners show the same.
@cache
def server_context(certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """Return the context of a side that listens, with a certificate made fresh when none is given (PEM files).

    NotInstalled when there is nothing to make one with, BadDescription when the files cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate is None:
        # The ssl module reads certificates from files only.
        with tempfile.TemporaryDirectory(prefix="goldwire-") as folder:
            path = Path(folder) / "certificate.pem"
            path.write_bytes(_fresh_certificate())
            context.load_cert_chain(path)
        return context
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # SSLError is one too
        files = f"{certificate} and {key}" if key else str(certificate)
        raise BadDescription(f"no certificate and key can be read from {files}: {error}") from error
    return context


def _fresh_certificate() -> bytes:
    """Return a key and a certificate for loopback, signed by itself, in PEM."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise NotInstalled(
            "a certificate for TLS is made with the package cryptography: pip install cryptography,"
            " or give --certificate and --key"
        ) from None
    import ipaddress

    # P-256: made in no time, and known to every TLS stack.
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    places: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(LOOPBACK))]
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A day back, for clocks that differ.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(places), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
