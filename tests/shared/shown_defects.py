"""What planted defects show, in processes of their own, as a regression of a finding would have it."""

from collections.abc import Mapping

import pytest

from fuzz.net.confirming import TIMES
from fuzz.net.fuzzed_node import FuzzedNode, UnwellNode
from fuzz.net.moves import NetworkTest

SOON = ("crash",)
"""Kinds of symptoms that show at once: others are waited for, or played many times."""

ShownDefects = Mapping[str, tuple[str, NetworkTest]]
"""What each defect shows, and a test that makes it do so."""


def parameters(shown: ShownDefects) -> list[object]:
    """Return the names of defects for a parametrised test; those that take long are slow."""
    slow = pytest.mark.slow(seconds=3)
    return [pytest.param(name, marks=[] if kind in SOON else slow) for name, (kind, _) in shown.items()]


def seen_of(node: FuzzedNode, test: NetworkTest, kind: str) -> str:
    """Play a test on a node, as often as what it shows wants; return what is seen of it, nothing where it is well."""
    for _ in node.times(TIMES if kind == "growth" else 1):
        for move in test:
            node.do(move)
    try:
        node.is_well()
    except UnwellNode as unwell:
        return unwell.symptom.kind
    return ""
