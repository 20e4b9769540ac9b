"""The gate in your own pytest: a test for each rule, of which pytest shows those that your node breaks.

Copy it, and let ``node`` start yours; here it is our own reference router.
"""

from collections.abc import Iterator

import pytest

import goldwire

SELECTED = "test_modes.test_current"
"""Which cases are played; an empty text for all of them."""


@pytest.fixture(scope="module")
def node() -> Iterator[str]:
    """Start the node; give the address where it listens, or the path of its description."""
    with goldwire.peer("zenoh") as served:
        yield served.address()


@pytest.fixture(scope="module")
def verdicts(node: str) -> goldwire.RunSummary:
    """Play the rules once, for all tests of this file."""
    return goldwire.gate("zenoh", node, select=SELECTED)


def test_the_gate_is_as_expected(verdicts: goldwire.RunSummary) -> None:
    assert verdicts.exit == 0, verdicts.complaints or verdicts.errors


@pytest.mark.parametrize("rule", goldwire.rules("zenoh").values(), ids=lambda rule: rule.id)
def test_a_rule_is_kept(rule: goldwire.Rule, verdicts: goldwire.RunSummary) -> None:
    verdict = verdicts.rules[rule.id]
    if verdict.verdict.value == "UNTESTED":
        pytest.skip(verdict.reason)
    assert verdict.verdict.value == "PASS" or verdict.expected, f"{rule.gist}\n{verdict.what}"
