"""Masters of Spark as a user names them: what is one, and whether one answers there; nothing of Spark is loaded."""

import os
import re
import socket
import struct
import time
from collections.abc import Iterator, Mapping

from harness.errors import BadDescription, HarnessError

MASTER = re.compile(
    r"local(\[([1-9]\d*|\*)(,\s*\d+)?\])?|local-cluster\[\d+,\s*\d+,\s*\d+\]|spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*|k8s://\S+|yarn"
)
_ENDPOINT = re.compile(r"(?:\[([^\]]+)\]|([^\s,/:\[\]]+)):(\d+)")

PATIENCE = 10.0
"""Seconds in which a master must answer, all of its addresses together: Spark itself tries for a minute and more."""

_QUESTION = b"/files/goldwire"
"""A file that no master has: it says so, to whoever asks, and logs nothing. Other questions are Java's own objects."""

_ASKS, _HAS, _HAS_NOT = 6, 7, 8
"""The types of Spark's messages about streams: the question, and both answers."""

_SECURED = re.compile(r"spark\.(authenticate|network\.crypto|ssl)\b.*")
"""Settings with which a master answers nobody who has not its secret, or TLS."""


class NobodyThere(HarnessError):
    """No master of Spark takes connections at an address; the message says which and why."""


def check_master(master: str) -> None:
    """Raise BadDescription for what names no master of Spark."""
    if not MASTER.fullmatch(master):
        raise BadDescription(f"{master!r} is no master of Spark: expected local[2], spark://host:7077, k8s://… or yarn")


def check_answers(master: str, patience: float = PATIENCE, settings: Mapping[str, str] | None = None) -> None:
    """Raise NobodyThere when a master is at some addresses, and at none of them one answers in so many seconds.

    Of one that is secured (by ``settings``, or in a folder of its own) only that it takes a connection is known.
    """
    found = list(_endpoints(master))
    is_secured = "SPARK_CONF_DIR" in os.environ or any(_SECURED.fullmatch(name) for name in settings or ())
    reasons = []
    for host, port in found:
        try:
            # Each has its share of the time, for both together: being connected to, and answering.
            until = time.monotonic() + patience / len(found)
            with socket.create_connection((host, port), timeout=patience / len(found)) as connection:
                if is_secured or _answers(connection, until):
                    return
            reasons.append("what listens there does not answer as a master does")
        except OSError as error:
            reasons.append(str(error.strerror or error))
    if found:
        raise NobodyThere(
            f"nobody answers at {master} ({', '.join(dict.fromkeys(reasons))}); is a master of Spark running there?"
        )


def _answers(connection: socket.socket, until: float) -> bool:
    """Ask for a file, in Spark's framing; tell whether the answer, yes or no, is about that file."""
    question = struct.pack(">bI", _ASKS, len(_QUESTION)) + _QUESTION
    # The length counts itself.
    connection.sendall(struct.pack(">q", 8 + len(question)) + question)
    # The answer begins so, whatever follows: its length, its type, and what it is about.
    expected = 8 + len(question)
    answer = b""
    while len(answer) < expected:
        connection.settimeout(max(until - time.monotonic(), 0.01))
        try:
            more = connection.recv(expected - len(answer))
        except OSError:  # silent, or ended in the middle of the question
            return False
        if not more:
            return False
        answer += more
    return answer[8] in (_HAS, _HAS_NOT) and answer[9:] == question[1:]


def _endpoints(master: str) -> Iterator[tuple[str, int]]:
    if master.startswith("spark://"):
        for six, host, port in _ENDPOINT.findall(master.removeprefix("spark://")):
            yield six or host, int(port)
