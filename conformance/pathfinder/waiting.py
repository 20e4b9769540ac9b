"""Waiting: what subscriptions are told, and until a server has taken note of something.

A server may take its time. So nothing here sleeps for a while and then looks: it looks again and again until patience
ends, and then says ``NotAnswered`` where the wait is not what the case judges.
"""

from collections.abc import Callable

from harness.errors import NotAnswered
from harness.pathfinder.tester.driver import Driver, Service
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Match, Transaction
from wire.pathfinder.values import Message

CLOCKS = 600.0
"""Seconds by which a server's clock may differ from ours: less than one time zone from the next."""

PAUSE = 0.1
"""Seconds of the protocol's time between two looks at a listing."""


def watch(node: NodeUnderTest, filter: str | None = None, *, session: Driver | None = None) -> Transaction:
    """Subscribe to the services of this play, or to those of them that match a filter."""
    asking = session or node.main
    return asking.sure(asking.subscribe(node.mine if filter is None else node.narrow(filter)))


def expect_match(session: Driver, watching: Transaction, what: str, service: Service, *, count: int = 1) -> Match:
    """Return what a subscription is told; ``NotAnswered`` when it is not, where that is for other cases to judge."""
    match = session.receives(watching, what, service.id, count=count)
    if match is None:
        raise NotAnswered(f"a subscription was not told that a service has {what}")
    return match


def end_subscription(session: Driver, watching: Transaction) -> list[Match]:
    """End a subscription, and return all that it was told."""
    session.sure(session.unsubscribe(watching.request.fields["subscription-id"]))
    session.finish(watching)
    # What was on its way when the subscription ended is read too, so that a notification too many shows.
    session.barrier()
    return watching.matches


def wait_until(node: NodeUnderTest, holds: Callable[[], bool], *, seconds: float | None = None) -> bool:
    """Look again and again until something holds; ``False`` when patience (or so many seconds of our time) ends first.

    So it is when the main connection ends.
    """
    deadline = node.main.now() + (node.patience if seconds is None else node.timing.stretched(seconds))
    while not holds():
        if node.main.ended or node.main.now() >= deadline:
            return False
        node.main.read(PAUSE)
    return True


def wait_for_orphan(node: NodeUnderTest, service: Service) -> Message | None:
    """Return how a service is listed once it is an orphan; ``None`` when it does not become one."""
    if not wait_until(node, lambda: "orphan-since" in node.listed().get(service.id, {})):
        return None
    return node.listed().get(service.id)


def wait_until_gone(node: NodeUnderTest, *gone: Driver) -> None:
    """Wait until the server knows that clients are gone; ``NotAnswered`` when it lists them for ever."""
    # By the list of clients: a server may notice the end of a connection late, and the list is where it says so.
    ids = {session.client_id for session in gone}

    def are_gone() -> bool:
        clients = node.main.sure(node.main.clients()).notifications
        return not ids & {fields.get("client-id") for fields in clients}

    if not wait_until(node, are_gone):
        raise NotAnswered("a client that has left is still listed")


def reconnect(node: NodeUnderTest, owner: Driver) -> tuple[Driver, int]:
    """Connect as a client that has just left, and say how often it was turned away: its identifier may be taken yet."""
    tries: list[Driver] = []

    def is_let_in() -> bool:
        # A fresh connection each time: a hello that failed leaves open what the old one is good for.
        tries.append(node.connect(client_id=owner.client_id))
        return tries[-1].hello().completed

    # Two seconds of our time whatever the tempo: it is the server's own delay in noticing, not one of the protocol.
    if not wait_until(node, is_let_in, seconds=2.0):
        raise NotAnswered("a client that comes back is not let in within two seconds")
    return tries[-1], len(tries) - 1


def protocol_seconds(node: NodeUnderTest, began: float) -> float:
    """Return how much of the protocol's time has passed since a time of the trace's clock."""
    return (node.trace.now() - began) * node.tempo
