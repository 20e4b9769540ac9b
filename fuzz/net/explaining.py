"""Explaining: whether what a test shows is what a known finding shows already.

Two that show in the same way, and do not say where, may be two defects all the same. A known finding explains a test
that does not show it without the kinds of messages that the finding is about, and still does with those alone that it
says: else there is more to it.
"""

from collections.abc import Set

import msgspec

from fuzz.net.confirming import is_same
from fuzz.net.finding import NetworkFinding
from fuzz.net.moves import FuzzMove, GivesCommand, NetworkTest, Says
from fuzz.net.node_on_trial import NodeOnTrial, reproduce
from fuzz.net.symptoms import RAW, Symptom, kinds_of, names_of


def said_in(node: NodeOnTrial, test: NetworkTest) -> Set[str]:
    """Return the kinds of all that a test says, ends and tells."""
    return {name for move in test for name in names_of(move, node.target.layout, node.suite.harness.layout)}


def without(node: NodeOnTrial, test: NetworkTest, names: Set[str]) -> NetworkTest:
    """Return a test without the messages of some kinds."""
    left: list[FuzzMove] = []
    for move in test:
        if not isinstance(move, Says):
            left.append(move)
        elif kept := tuple(each for each in move.data if names.isdisjoint(_kinds(node, move, each))):
            left.append(msgspec.structs.replace(move, data=kept))
    return tuple(left)


def with_only(node: NodeOnTrial, test: NetworkTest, names: Set[str]) -> NetworkTest:
    """Return a test with those messages and commands alone that are of some kinds."""
    left: list[FuzzMove] = []
    for move in test:
        if isinstance(move, Says):
            if kept := tuple(each for each in move.data if _kinds(node, move, each) <= names):
                left.append(msgspec.structs.replace(move, data=kept))
        elif not isinstance(move, GivesCommand) or f"command {move.verb}" in names:
            left.append(move)
    return tuple(left)


def shows_with_less(node: NodeOnTrial, test: NetworkTest, symptom: Symptom, known: NetworkFinding, times: int) -> bool:
    """Tell whether a test shows the same with those messages alone that are of kinds which a known finding says."""
    only = with_only(node, test, said_in(node, known.test))
    if only == test:
        return True
    shown = reproduce(node, only, times=times)
    return shown is not None and not shown.is_unplayed and is_same(shown.symptom, symptom)


def _kinds(node: NodeOnTrial, move: Says, data: bytes) -> Set[str]:
    if move.level == "raw":
        return {RAW}
    return set(kinds_of(node.target.layout if move.level == "message" else node.suite.harness.layout, data))
