"""What cases about publishers do with sessions: see whether one lives, and have something told in it.

A lease goes on while a case is busy, and over sockets a minute is about a second. So whoever is missed is missed only
where the tester itself was in time for the lease.
"""

from collections.abc import Callable

from conformance.cases import TooLate
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, is_about
from wire.urbit.values import ScryResponse

LEASE = 60.0
"""Seconds without a heartbeat request that a session lives."""

NEARLY = 58.0
"""Seconds after which a session is not taken to be alive any more, nor to be dead yet: clocks have grains."""

BETWEEN = 20.0
"""Seconds between two heartbeats of a tester that waits: less than the 25 of the document."""

PROMPT = 10.0
"""Seconds within which a value that is there is told."""

SURELY = 70.0
"""Seconds after which, and after what the tester may see late, a session is taken to be dead."""


def lives(node: NodeUnderTest, asking: TestSubscriber) -> bool:
    """Tell by a heartbeat whether a session lives; ``TooLate`` if its lease may be over, ``NotAnswered``."""
    renewed = asking.renewed
    answer = asking.heartbeat()
    if not answer.live:
        require_lease(node, renewed)
    return answer.live


def require_lease(node: NodeUnderTest, renewed: float) -> None:
    """Raise ``TooLate`` unless a lease that was renewed then cannot be over yet."""
    seconds = node.elapsed(renewed)
    if seconds > NEARLY - node.slack:
        raise TooLate(f"the tester was late: the last heartbeat was {seconds:.0f} seconds ago")


def may_be_dead(node: NodeUnderTest, since: float) -> bool:
    """Tell whether a session has to be dead of which nothing was heard since then."""
    return node.elapsed(since) > SURELY + node.slack


def sleep(node: NodeUnderTest, asking: TestSubscriber, since: float) -> None:
    """Read until a session has to be dead of which nothing was heard since then."""
    while not may_be_dead(node, since):
        asking.pause(1 + SURELY + node.slack - node.elapsed(since))


def tell(node: NodeUnderTest, asking: TestSubscriber, name: str, text: str = "a value") -> Event | None:
    """Have a promised value grow, and return what tells it to a subscriber; ``None`` when nothing does."""
    asking.beat_on()
    node.grow(name, text)
    return told(node, asking, name)


def told(node: NodeUnderTest, asking: TestSubscriber, name: str, fragment: int = 1) -> Event | None:
    """Return what tells a subscriber of a value that has just grown; ``None`` when nothing does.

    ``TooLate`` if its lease may have been over then.
    """
    grown, renewed = node.trace.now(), asking.renewed
    if node.instance.loses:
        # Where its address may have become another one, heartbeats tell which.
        event = asking.ask(asking.send_beat, tells(asking, name, fragment))
    else:
        event = asking.notified(name, fragment, seconds=node.timing.within(PROMPT))
    if event is None and node.elapsed(renewed, grown) > NEARLY - node.slack:
        raise TooLate("the tester was late: the lease may have been over when the value grew")
    return event


def tells(asking: TestSubscriber, name: str, fragment: int = 1) -> Callable[[Event], bool]:
    """Return what tells whether a packet tells of a value."""
    path = asking.path(name)
    return lambda event: is_about(event, path, fragment, ScryResponse)


def wait(
    node: NodeUnderTest, asking: TestSubscriber, wanted: Callable[[Event], bool], seconds: float, *, since: int
) -> Event | None:
    """Wait for a packet so many seconds of the protocol, with heartbeats meanwhile; ``None`` when none is wanted."""
    # What is repeated may get lost as well.
    for _ in range(round(seconds / BETWEEN) * asking.copies):
        asking.beat_on()
        event = asking.wait_for(wanted, since=since, seconds=node.timing.quiet(BETWEEN))
        if event is not None:
            return event
    return None
