"""What is expected of an implementation is that, and hides nothing else."""

from datetime import date, timedelta
from typing import Any

import pytest

from conformance.contract.expectations import Expectation
from conformance.suite import Suite
from conformance.verdicts import Outcome
from fuzz.net.expected_findings import ExpectedFinding, ExpectedFindings
from fuzz.net.symptoms import Symptom

CRASH = Symptom("crash", "resource.rs:432: byte index 1 is not a char boundary", place="resource.rs:432")
ELSEWHERE = Symptom("crash", "resource.rs:433: called unwrap on a None value", place="resource.rs:433")
ENDED = Symptom("crash", "it ended with status -11")
BROKEN = Symptom("rule", "17 declarations came after the Final", rule="ZI-018")


@pytest.mark.parametrize(
    ("kind", "signature", "symptom", "is_known"),
    [
        ("crash", "resource.rs:432", CRASH, True),
        ("crash", CRASH.digest, CRASH, True),
        ("crash", "resource.rs:9: byte index 7 is not a char boundary", CRASH, True),  # numbers are not compared
        ("crash", "resource.rs:432", ELSEWHERE, False),  # a regression: nor were they in places
        ("crash", "", CRASH, False),
        ("hang", "resource.rs:432", CRASH, False),
        ("crash", "it ended with status -11", ENDED, True),
        ("crash", "it ended with status -6", ENDED, False),  # a regression: by which signal was taken for a value
        ("rule", "ZI-018", BROKEN, True),
        ("rule", "3 declarations came after the Final", BROKEN, True),
        ("rule", "ZI-019", BROKEN, False),
        ("rule", "", BROKEN, False),
    ],
)
def test_an_entry_is_about_one_symptom(kind: str, signature: str, symptom: Symptom, is_known: bool) -> None:
    entry = ExpectedFinding(kind=kind, signature=signature, reason="known for long")
    assert entry.accepts(symptom, "1.0") is is_known


@pytest.mark.parametrize(
    ("versions", "version", "is_known"),
    [("", "1.0", True), ("<1.1", "1.0", True), ("<1.1", "1.1", False), ("<1.1", "", True), ("<1.1", "odd", False)],
)
def test_an_entry_is_about_some_versions(versions: str, version: str, is_known: bool) -> None:
    entry = ExpectedFinding(kind="crash", signature=CRASH.digest, reason="known for long", versions=versions)
    assert entry.accepts(CRASH, version) is is_known


YESTERDAY, TOMORROW = (date.today() + timedelta(days=days) for days in (-1, 1))


@pytest.mark.parametrize(
    ("entry", "is_expected"),
    [
        ({}, True),
        ({"versions": "<1.7"}, False),
        ({"versions": ">=1.7"}, True),
        ({"roles": ("client",)}, False),
        ({"roles": ("client", "router")}, True),
        ({"profile": "deployed"}, False),
        ({"profile": "document"}, True),
        ({"until": YESTERDAY}, False),
        ({"until": TOMORROW}, True),
        ({"rule": "ZI-019"}, False),
        ({"rule": "ZI-*"}, True),
        ({"signature": "9 declarations came after the Final"}, True),
        ({"signature": "none came"}, False),
    ],
)
def test_a_rule_is_expected_as_the_gate_expects_it(entry: dict[str, Any], is_expected: bool) -> None:
    """A regression: what was known of old versions, or of another role, was passed over in all."""
    rule: dict[str, Any] = {"rule": "ZI-018", "outcome": Outcome.VIOLATION, "reason": "known for long"}
    expected = ExpectedFindings(rules=(Expectation(**rule | entry),))
    assert expected.accept(BROKEN, Suite("zenoh"), "1.10.2", "router", "document") is is_expected
