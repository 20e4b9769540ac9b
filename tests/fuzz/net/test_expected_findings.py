"""What is expected of an implementation is that, and hides nothing else."""

import pytest

from fuzz.net.expected_findings import ExpectedFinding
from fuzz.net.symptoms import Symptom

CRASH = Symptom("crash", "resource.rs:432: byte index 1 is not a char boundary", place="resource.rs:432")
ELSEWHERE = Symptom("crash", "resource.rs:433: called unwrap on a None value", place="resource.rs:433")
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
