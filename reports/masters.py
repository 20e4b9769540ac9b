"""Masters of Spark as a user names them: what is one, and whether anybody answers there; nothing of Spark is loaded."""

import re
import socket
from collections.abc import Iterator

from harness.errors import BadDescription, HarnessError

MASTER = re.compile(
    r"local(\[(\d+|\*)(,\s*\d+)?\])?|local-cluster\[\d+,\s*\d+,\s*\d+\]|spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*|k8s://\S+|yarn"
)
_ENDPOINT = re.compile(r"(?:\[([^\]]+)\]|([^\s,/:\[\]]+)):(\d+)")

PATIENCE = 10.0
"""Seconds in which a master must take a connection, all of its addresses together: Spark itself tries for a minute."""


class NobodyThere(HarnessError):
    """No master of Spark takes connections at an address; the message says which and why."""


def check_master(master: str) -> None:
    """Raise BadDescription for what names no master of Spark."""
    if not MASTER.fullmatch(master):
        raise BadDescription(f"{master!r} is no master of Spark: expected local[2], spark://host:7077, k8s://… or yarn")


def check_answers(master: str, patience: float = PATIENCE) -> None:
    """Raise NobodyThere when a master is at some addresses, and none of them takes a connection in so many seconds."""
    found = list(_endpoints(master))
    reasons = []
    for host, port in found:
        try:
            with socket.create_connection((host, port), timeout=patience / len(found)):
                return
        except OSError as error:
            reasons.append(str(error.strerror or error))
    if found:
        raise NobodyThere(
            f"nobody answers at {master} ({', '.join(dict.fromkeys(reasons))}); is a master of Spark running there?"
        )


def _endpoints(master: str) -> Iterator[tuple[str, int]]:
    if master.startswith("spark://"):
        for six, host, port in _ENDPOINT.findall(master.removeprefix("spark://")):
            yield six or host, int(port)
