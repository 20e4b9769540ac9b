"""Zenoh in the harness: the driver, the reference router and client, and what a case has at hand."""

from collections.abc import Callable
from typing import Any

from harness.clock import RealClock
from harness.embedded import EmbeddedNode
from harness.errors import HarnessError, LinkError
from harness.framing import Framings, LengthPrefixed
from harness.instances import SocketInstance
from harness.iut import Description
from harness.links import dial
from harness.memory import World
from harness.nodes import Node
from harness.trace import Trace
from harness.zenoh.client import Client
from harness.zenoh.conversation import conversations
from harness.zenoh.driver import Session
from harness.zenoh.router import Router
from harness.zenoh.transport import Settings
from harness.zenoh.under_test import NodeUnderTest
from wire.zenoh.frames import WhatAmI

FRAMINGS: Framings = {"tcp": LengthPrefixed(2, "little")}
LAYOUT = "zenoh/batch"
"""What a frame on any link holds."""

ROLES: dict[str, type[Any]] = {"router": Router, "client": Client}
DIALS = frozenset({"client"})


def instance(description: Description, *, profile: str = "document") -> SocketInstance:
    """Start an implementation behind real sockets."""

    def embed(its: Description, connect: str) -> EmbeddedNode:
        return EmbeddedNode(its, lambda: ROLES[its.role](profile=profile), FRAMINGS, connect)

    return SocketInstance(description, FRAMINGS, probe=probe, embedded=embed)


def world(make: Callable[[], Node], role: str) -> World:
    """Run a node in memory."""
    return World(make, role, dials=role in DIALS)


def probe(address: str) -> None:
    """Shake hands with a node and leave; raises ``LinkError`` when it does not answer."""
    clock = RealClock()
    trace = Trace("zenoh")
    link = dial(address, FRAMINGS, clock, trace=trace)
    session = Session(link, trace, Settings(b"gw-probe", WhatAmI.CLIENT), patience=1.0)
    try:
        session.open()
    except LinkError:
        raise
    except HarnessError as error:
        raise LinkError(str(error)) from error
    finally:
        session.close()


__all__ = ["DIALS", "FRAMINGS", "LAYOUT", "ROLES", "NodeUnderTest", "conversations", "instance", "probe", "world"]
