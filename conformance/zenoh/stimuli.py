"""Stimuli of several cases: messages that are spelt by hand, and extensions that nobody knows."""

from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.primitives import vle
from wire.zenoh.values import Extension

UNKNOWN_EXTENSIONS = (Extension(0xA), Extension(0xA, 300), Extension(0xA, b"\x2a\x2a"))
"""An extension that no document has, in each of its three encodings; none is mandatory, so all are to be skipped."""


def with_key(node: NodeUnderTest, start: str, key: str) -> bytes:
    """Return bytes that begin as given and end with the suffix of a key in the play's namespace."""
    suffix = node.key(key).encode()
    return bytes.fromhex(start) + vle(len(suffix)) + suffix
