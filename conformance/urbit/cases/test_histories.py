"""Histories: what the document's sentences do together, over several subscribers, values and minutes.

Each is generated from a seed (``conformance/urbit/histories/``) and compared after every move with what is known of
everybody's session. ``-k 'test_promises[17]'`` plays the history of another seed.
"""

from conformance.cases import history
from conformance.histories.history import play_history
from conformance.urbit.histories.publisher import PUBLISHER_HISTORIES
from conformance.urbit.histories.subscriber import SUBSCRIBER_HISTORIES
from conformance.urbit.roles import PUBLISHER, SUBSCRIBER
from harness.urbit.tester.node_under_test import NodeUnderTest


@history("URB-037", roles=PUBLISHER)
def test_promises(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Subscribers ask for the same paths and fragments, cancel some, and are told when they have values."""
    return play_history(node, PUBLISHER_HISTORIES, "promises", seed)


@history("URB-064", roles=PUBLISHER)
def test_sessions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Sessions are kept alive, let go, and opened anew, with what was promised in them."""
    return play_history(node, PUBLISHER_HISTORIES, "sessions", seed)


@history("URB-073", roles=PUBLISHER)
def test_addresses(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Subscribers move, and their heartbeats are replayed and borrowed from elsewhere."""
    return play_history(node, PUBLISHER_HISTORIES, "addresses", seed)


@history("URB-100", roles=SUBSCRIBER)
def test_values(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """An application wants, drops and wants again, while values come once, twice, too late, and forged."""
    return play_history(node, SUBSCRIBER_HISTORIES, "values", seed)


@history("URB-097", roles=SUBSCRIBER)
def test_nacks(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """A publisher loses its sessions, falls silent and answers again, while the application changes its mind."""
    return play_history(node, SUBSCRIBER_HISTORIES, "nacks", seed)
