"""Histories: what the document's sentences do together, over several sessions, subjects and minutes.

Each is generated from a seed (``conformance/rai/histories/``) and compared after every move with what is known of
everybody. ``-k 'test_values[17]'`` plays the history of another seed.
"""

from conformance.cases import history
from conformance.histories.history import play_history
from conformance.rai.histories.publisher import PUBLISHER_HISTORIES
from conformance.rai.histories.router import ROUTER_HISTORIES
from conformance.rai.histories.subscriber import SUBSCRIBER_HISTORIES
from conformance.rai.roles import PUBLISHER, ROUTER_CACHE, SUBSCRIBER
from harness.rai.tester.node_under_test import NodeUnderTest


@history("RAI-009", roles=PUBLISHER)
def test_values(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Values are set, held back, disturbed, renamed and evicted, while sessions subscribe and look."""
    return play_history(node, PUBLISHER_HISTORIES, "values", seed)


@history("RAI-137", roles=PUBLISHER)
def test_subscriptions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Sessions subscribe the same subjects by name and by wildcards, and end that in any order."""
    return play_history(node, PUBLISHER_HISTORIES, "subscriptions", seed)


@history("RAI-106", roles=PUBLISHER)
def test_times(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Sessions fall silent, are asked for their subscriptions, and come back in time and too late."""
    return play_history(node, PUBLISHER_HISTORIES, "times", seed)


@history("RAI-086", roles=PUBLISHER)
def test_sessions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Sessions come and go, others are never trusted, and what was said once is said again."""
    return play_history(node, PUBLISHER_HISTORIES, "sessions", seed)


@history("RAI-155", roles=SUBSCRIBER)
def test_told_values(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """An application subscribes and leaves, by name and by wildcard, while values come, whole, in part, and forged."""
    return play_history(node, SUBSCRIBER_HISTORIES, "told_values", seed)


@history("RAI-203", roles=SUBSCRIBER)
def test_publishers(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Publishers leave and come back, in the same session and in new ones, and others speak in their names."""
    return play_history(node, SUBSCRIBER_HISTORIES, "publishers", seed)


@history("RAI-126", roles=SUBSCRIBER)
def test_inquiries(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Publishers drop and rename what is subscribed, and ask for what was subscribed since some time."""
    return play_history(node, SUBSCRIBER_HISTORIES, "inquiries", seed)


@history("RAI-205", roles=ROUTER_CACHE)
def test_routes(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Several subscribe the same subjects by name and by wildcards that overlap, and end that in any order."""
    return play_history(node, ROUTER_HISTORIES, "routes", seed)


@history("RAI-206", roles=ROUTER_CACHE)
def test_caches(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Values change, are stale, whole again, and end, while several subscribe them and look at them."""
    return play_history(node, ROUTER_HISTORIES, "caches", seed)
