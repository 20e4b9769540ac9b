"""Coverage of the rules: how many golden vectors, cases and monitors look at each."""

from conformance.suite import Suite
from vectors.golden import loader


def coverage(suite: Suite) -> dict[str, dict[str, int]]:
    """Return, per rule id, the number of golden vectors (``codec``), cases (``wire``) and monitors."""
    counts: dict[str, dict[str, int]] = {}

    def count(rule: str, way: str) -> None:
        ways = counts.setdefault(rule, {"codec": 0, "wire": 0, "monitor": 0})
        ways[way] += 1

    # Vectors name rules of every protocol whose layout they are of; the layout's name begins with the protocol's.
    for layout in loader.layouts():
        if layout.startswith(f"{suite.protocol}/"):
            for vector in loader.load(layout):
                for rule in vector.rules:
                    count(rule, "codec")
    for case in suite.cases:
        for rule in case.marks.rules:
            count(rule, "wire")
    for monitor in suite.monitors:
        count(monitor.rule, "monitor")
    return counts
