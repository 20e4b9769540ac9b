"""Pathfinder in the harness: the driver, the reference server and client, and what a case has at hand."""

from collections.abc import Callable
from functools import partial

from harness.clock import RealClock
from harness.embedded import EmbeddedNode
from harness.errors import HarnessError, LinkError
from harness.framing import Framings, JsonStream, LengthPrefixed
from harness.instances import SocketInstance
from harness.iut import Description
from harness.links import dial
from harness.memory import World
from harness.nodes import Node
from harness.pathfinder.client import Client
from harness.pathfinder.conversation import conversations
from harness.pathfinder.driver import Session
from harness.pathfinder.server import Server
from harness.pathfinder.under_test import NodeUnderTest
from harness.trace import Trace
from wire.pathfinder.messages import LARGEST

FRAMED = LengthPrefixed(4, "big", LARGEST)
FRAMINGS: Framings = {"tcp": FRAMED, "tls": FRAMED, "tcp-stream": JsonStream(LARGEST)}
LAYOUT = "pathfinder/message"
"""What a frame on any link holds."""

ROLES: dict[str, type[Server] | type[Client]] = {"server": Server, "client": Client}
DIALS = frozenset({"client"})

TEMPO = 20.0
"""How much faster than ours the time of the embedded server and client runs: their TTLs are seconds."""


def instance(description: Description, *, profile: str = "document") -> SocketInstance:
    """Start an implementation behind real sockets."""

    def embed(its: Description, connect: str) -> EmbeddedNode:
        return EmbeddedNode(its, partial(ROLES[its.role], profile=profile), FRAMINGS, connect, tempo=TEMPO)

    return SocketInstance(description, FRAMINGS, probe=probe, embedded=embed)


def world(make: Callable[..., Node], role: str) -> World:
    """Run a node in memory."""
    return World(make, role, dials=role in DIALS)


def probe(address: str) -> None:
    """Say hello to a server and leave; raises ``LinkError`` when it does not answer."""
    trace = Trace("pathfinder")
    session = Session(dial(address, FRAMINGS, RealClock(), trace=trace), trace, patience=1.0)
    try:
        session.open()
    except LinkError:
        raise
    except HarnessError as error:
        raise LinkError(str(error)) from error
    finally:
        session.close()


__all__ = ["DIALS", "FRAMINGS", "LAYOUT", "ROLES", "NodeUnderTest", "conversations", "instance", "probe", "world"]
