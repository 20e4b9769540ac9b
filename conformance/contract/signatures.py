"""Signatures: the first line of what came, without what differs from run to run."""

import re

# In the order in which they are applied: bytes may hold anything, an address holds numbers, and hex may look like one.
_ADDRESS = re.compile(r"\[[0-9a-f:.]*\]:\d+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", re.IGNORECASE)
_HEX = re.compile(
    r"\b0x[0-9a-f]+\b"  # 0x1f
    r"|\b[0-9a-f]{2}(?:[ :][0-9a-f]{2})+\b"  # 1f 00 a3
    # 1f00a3ff; digits alone are a number, whose signature must not depend on how many there are
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])(?:[0-9a-f]{2}){4,}\b",
    re.IGNORECASE,
)
# A bytes literal of Python, in either quotes, with whatever is escaped in it.
_BYTES = re.compile(r"""\bb(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
# How many links a play made depends on how often it tried.
_LINK = re.compile(r"\bon link [a-z]+\b")
# Free-standing only: the digits of key7, of 1.10.2 or of 2024-05-01 are part of a name.
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:(?=(?:s|ms|us|B)\b)|(?![\w-]|\.\d))")  # 17, 5.01s, -3


def first_line(text: str) -> str:
    """Return the first line of a text, which says what came; those below it are details."""
    return text.strip().partition("\n")[0]


def signature(what: str) -> str:
    """Return the first line of what came in a form that is the same run after run.

    Addresses become ``<address>``, bytes and hex ``<hex>``, links ``<link>``, free-standing numbers ``<n>``.
    """
    text = _BYTES.sub("<hex>", " ".join(first_line(what).split()))
    text = _ADDRESS.sub("<address>", text)
    text = _LINK.sub("on link <link>", text)
    text = _HEX.sub("<hex>", text)
    return _NUMBER.sub("<n>", text)
