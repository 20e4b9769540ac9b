"""What a node says to terminals and pages is shown escaped in every export: it moves no cursor, and turns no text."""

import re
from pathlib import Path

import msgspec

from conformance.contract.expectations import Expectations
from conformance.run.recorder import RunRecorder
from conformance.run.records import CasePlayed
from conformance.run.settings import RunSettings
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome, Strictness
from harness.iuts.description import resolve

HOSTILE = "\x1b[2J\x07\u202eevil\x9b"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_no_export_holds_what_a_terminal_acts_upon(tmp_path: Path) -> None:
    described = msgspec.structs.replace(resolve("peer:router", "zenoh"), version=f"1.0{HOSTILE}")
    settings = RunSettings(
        protocol="zenoh", iut="peer:", profile="document", transport="tcp", strictness=Strictness.AS_EXPECTED,
        description=described, catalogue=Suite("zenoh").catalogue, expectations=Expectations(), report=tmp_path / "out",
    )  # fmt: skip
    run = RunRecorder(settings)
    run.start()
    judgement = Judgement("ZI-011", Outcome.VIOLATION, "test_a.test_b", "case", f"it said {HOSTILE}")
    record = CasePlayed(
        case="test_a.test_b", sentence="Ask.", file="f.py", line=1, rules=("ZI-011",), outcome=Outcome.VIOLATION,
        judgements=(judgement,), error=f"oops {HOSTILE}",
    )  # fmt: skip
    taken = run.add(record)
    assert "\\u001b[2J\\u0007\\u202eevil\\u009b" in taken.judgements[0].what
    run.errors["pytest"] = HOSTILE
    summary = run.finish()
    assert "\\u202e" in summary.rules["ZI-011"].what
    assert "\\u001b" in summary.errors["pytest"]
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {"run.ndjson", "summary.json", "junit.xml", "index.html"} <= {path.name for path in written}
    for path in written:
        assert not UNSEEN.search(path.read_text()), path.name
        assert "evil" not in path.read_text() or "u202e" in path.read_text()
