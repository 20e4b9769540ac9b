"""What planted defects show, in processes of their own, as a regression of a finding would have it."""

from collections.abc import Mapping

import pytest

import goldwire
from fuzz.net.confirming import TIMES
from fuzz.net.fuzzed_node import FuzzedNode, UnwellNode
from fuzz.net.moves import NetworkTest
from harness.protocol import load

SOON = ("crash",)
"""Kinds of symptoms that show at once: others are waited for, or played many times."""

ShownDefects = Mapping[str, tuple[str, NetworkTest]]
"""What each defect shows, and a test that makes it do so."""


def planted(protocol: str, role: str) -> set[str]:
    """Return the names of the defects that are planted in a role."""
    defects = load(protocol).defects
    return set() if defects is None else {name for name, each in defects.all.items() if each.role == role}


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


def check_it_shows(protocol: str, role: str, name: str, kind: str, test: NetworkTest, healthy: FuzzedNode) -> None:
    """Check that a peer with a defect shows it in a test, and that the healthy one bears the same."""
    with goldwire.fuzzed_node(protocol, f"peer:{role}", options=("--defect", name)) as node:
        assert seen_of(node, test, kind) == kind
    assert seen_of(healthy, test, kind) == ""
