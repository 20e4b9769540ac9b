"""What tests need for real brokers: the programs, and brokers that end with the test."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.clock import RealClock
from harness.links.broker_transport import BrokerTransport
from harness.links.framing import Framings
from harness.links.listener import Listener
from harness.links.transports import TRANSPORTS, listen

BROKERS: tuple[str, ...] = tuple(name for name, each in TRANSPORTS.items() if isinstance(each, BrokerTransport))
"""The transports that lead to a broker."""

_PROGRAMS = {"nats": "nats-server", "redis": "redis-server", "websocket": "redis-server"}

CLOCK = RealClock()


def need_broker(transport: str) -> None:
    """Skip a test whose broker is not installed; fail in CI, where it has to be."""
    program = _PROGRAMS[transport]
    if shutil.which(program) is not None:
        return
    if os.environ.get("CI") or os.environ.get("GOLDWIRE_BROKERS") == "required":
        pytest.fail(f"{program} is not installed, and it has to be here")
    pytest.skip(f"{program} is not installed: apt-get install {program}")


@contextmanager
def broker(transport: str, framings: Framings) -> Iterator[Listener]:
    """Run a broker of its own."""
    need_broker(transport)
    listener = listen(transport, framings, CLOCK)
    try:
        yield listener
    finally:
        listener.close()
