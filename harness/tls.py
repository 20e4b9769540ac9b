"""Links over TLS, and the certificates for them.

The tester does not verify certificates: it asks what an implementation says, not who it is.
"""

import contextlib
import datetime
import socket
import ssl
import tempfile
from functools import cache
from pathlib import Path

from harness.addresses import LOOPBACK
from harness.connection import CHUNK
from harness.errors import BadDescription, NotInstalled
from harness.tcp import TcpLink

NAME = "goldwire"

_VALID = datetime.timedelta(days=30)


class TlsLink(TcpLink):
    """A TLS connection over TCP, behind its handshake."""

    _socket: ssl.SSLSocket
    _says_goodbye = True

    def abort(self) -> None:
        self._says_goodbye = False
        super().abort()

    def _take(self) -> bytes | None:
        if not self._socket.pending():
            # The ssl module takes a reset for an end; the socket below knows better.
            socket.socket.recv(self._socket, 1, socket.MSG_PEEK)
        try:
            return self._socket.recv(CHUNK) or None
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    def _put(self, data: memoryview) -> int:
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


@cache
def client_context() -> ssl.SSLContext:
    """Return the context of a side that dials: it takes every certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@cache
def server_context(certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """Return the context of a side that listens, with a certificate made fresh when none is given (PEM files).

    NotInstalled when there is nothing to make one with, BadDescription when the files cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate is None:
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
            "a certificate for TLS is made with the package cryptography: pip install 'goldwire[tls]',"
            " or give --certificate and --key"
        ) from None
    import ipaddress

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
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(places), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
