"""Coverage: how many vectors, cases and monitors look at each rule."""

from importlib import import_module

from conformance.cases import cases
from vectors import loader


def coverage(protocol: str) -> dict[str, dict[str, int]]:
    """Return, per rule id, the number of golden vectors (``codec``), cases (``wire``) and monitors."""
    counts: dict[str, dict[str, int]] = {}

    def count(rule: str, way: str) -> None:
        ways = counts.setdefault(rule, {"codec": 0, "wire": 0, "monitor": 0})
        ways[way] += 1

    for layout in loader.layouts():
        if layout.startswith(f"{protocol}/"):
            for vector in loader.load(layout):
                for rule in vector.rules:
                    count(rule, "codec")
    for case in cases(protocol):
        for rule in case.marks.rules:
            count(rule, "wire")
    for monitor in import_module(f"conformance.{protocol}.monitors").MONITORS:
        for rule in monitor.rules:
            count(rule, "monitor")
    return counts
