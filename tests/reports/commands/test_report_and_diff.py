"""``goldwire report`` and ``goldwire diff``: what a run recorded, told again and held against another."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.run.journal import Journal
from conformance.run.records import JOURNAL, SUMMARY, TRACES, CasePlayed, RunEnded, RunStarted
from conformance.verdicts import Judgement, Outcome
from reports.commands.diff import diff
from reports.commands.report import report


def started(protocol: str = "zenoh") -> RunStarted:
    return RunStarted(
        run="1",
        time="2026-01-01T00:00:00+00:00",
        protocol=protocol,
        iut="peer:",
        name="peer",
        version="1",
        role="router",
        profile="document",
        transport="tcp",
        goldwire="1",
    )


ENDED = RunEnded(time="2026-01-01T00:00:34+00:00", interrupted=False, counts={}, exit=0)


Outcomes = dict[str, tuple[Outcome, str]]


def run(
    folder: Path, outcomes: Outcomes, *, protocol: str = "zenoh", whole: bool = True, more: Outcomes | None = None
) -> Path:
    """Write what a run records that has judged some rules, some in ``more`` cases than one."""
    (folder / TRACES).mkdir(parents=True)
    with Journal(folder / JOURNAL) as journal:
        journal.write(started(protocol))
        for number, (rule, (outcome, what)) in enumerate([*outcomes.items(), *(more or {}).items()]):
            case = f"test_a.test_{rule[-3:]}" if number < len(outcomes) else f"test_b.test_{rule[-3:]}"
            judgement = Judgement(rule, outcome, case, what=what, evidence=1)
            journal.write(
                CasePlayed(
                    case=case,
                    sentence="Ask.",
                    file="conformance/test_a.py",
                    line=1,
                    rules=(rule,),
                    outcome=outcome,
                    judgements=(judgement,),
                    reproduce=f"goldwire test zenoh -k {case}",
                )
            )
        if whole:
            journal.write(ENDED)
    return folder


def goldwire(command: object, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False)  # type: ignore[arg-type]


PASS, BAD = (Outcome.PASS, ""), (Outcome.VIOLATION, "no D_FINAL for 17")
BAD_TOLD = "violation: no D_FINAL for 17"


def test_every_export_is_made_of_the_journal_alone(tmp_path: Path) -> None:
    folder = run(tmp_path / "out", {"ZI-011": PASS, "ZI-015": BAD})
    told = goldwire(report, str(folder))
    assert told.return_value == 0, told.output
    assert told.output == f"{folder / 'index.html'}: NOT AS EXPECTED: ZI-015 not kept; 1 rule kept\n"
    names = {"run.ndjson", SUMMARY, TRACES, "junit.xml", "index.html", "summary.md", "results.sarif"}
    assert {path.name for path in folder.iterdir()} == names
    assert json.loads((folder / SUMMARY).read_text())["rules"]["ZI-015"]["verdict"] == "FAIL"


def test_expectations_that_were_written_since_are_in_force(tmp_path: Path) -> None:
    folder = run(tmp_path / "out", {"ZI-011": PASS, "ZI-015": BAD})
    (tmp_path / "e.toml").write_text('[[expect]]\nrule = "ZI-015"\noutcome = "violation"\nreason = "it is old"\n')
    told = goldwire(report, str(folder), "--expectations", str(tmp_path / "e.toml"))
    assert "AS EXPECTED: 1 rule kept, 1 known failure" in told.output


def test_a_run_that_was_killed_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    folder = run(tmp_path / "out", {"ZI-011": PASS}, whole=False)
    with (folder / JOURNAL).open("ab") as journal:
        journal.write(b'{"record": "CasePl')
    assert goldwire(report, str(folder)).return_value == 0
    summary = json.loads((folder / SUMMARY).read_text())
    assert (summary["interrupted"], summary["rules"]["ZI-011"]["verdict"]) == (True, "PASS")
    assert "cut off" in summary["trouble"][0]


def test_reports_elsewhere_leave_the_run_as_it_is(tmp_path: Path) -> None:
    runs = [run(tmp_path / name, {"ZI-011": PASS}) for name in ("a", "b")]
    told = goldwire(report, *map(str, runs), "--out", str(tmp_path / "all"))
    assert told.return_value == 0
    assert {path.name for path in runs[0].iterdir()} == {JOURNAL, TRACES}
    assert (tmp_path / "all" / "b" / "index.html").exists()
    assert (tmp_path / "all" / "b" / JOURNAL).read_bytes() == (runs[1] / JOURNAL).read_bytes()


@pytest.mark.parametrize("command", [report, diff])
def test_a_folder_without_a_run_is_wrong_usage(tmp_path: Path, command: object) -> None:
    told = goldwire(command, *[str(tmp_path)] * (2 if command is diff else 1))
    assert getattr(told.exception, "exit_code", None) == 2
    assert "no run that can be read: run.ndjson: No such file" in str(told.exception)


def test_what_became_of_each_rule_is_told(tmp_path: Path) -> None:
    before = run(tmp_path / "a", {"ZI-010": BAD, "ZI-011": PASS, "ZI-013": BAD, "ZI-014": BAD, "ZI-015": BAD})
    outcomes = {
        "ZI-010": (Outcome.VIOLATION, "no D_FINAL for 4711"),  # the same, but for a number
        "ZI-011": BAD,
        "ZI-012": BAD,
        "ZI-013": PASS,
        "ZI-014": (Outcome.CRASH, "it died"),
    }
    now = run(tmp_path / "b", outcomes)
    told = goldwire(diff, str(before), str(now), "--json")
    found = json.loads(told.output)
    assert {each["rule"]: each["change"] for each in found["changes"]} == {
        "ZI-011": "broken",
        "ZI-014": "changed",
        "ZI-012": "new",
        "ZI-013": "fixed",
        "ZI-015": "gone",
    }
    assert (told.return_value, found["exit"]) == (1, 1)
    people = goldwire(diff, str(before), str(now)).output
    assert "Broken: kept before, and not any more:\n  ZI-011  violation: no D_FINAL for 17\n" in people
    assert "  ZI-014  crash: it died\n    before: violation: no D_FINAL for 17\n" in people
    assert people.endswith("\n1 broken, 1 changed, 1 new, 1 fixed, 1 gone\n")


def test_what_became_of_a_rule_is_told_by_its_findings(tmp_path: Path) -> None:
    """One that is known hides no other, and one that is gone is no harm though another stays."""
    crash = (Outcome.CRASH, "it died")
    one = run(tmp_path / "a", {"ZI-011": BAD}, more={"ZI-012": BAD})
    two = run(tmp_path / "b", {"ZI-011": BAD, "ZI-012": BAD}, more={"ZI-011": crash})
    worse = json.loads(goldwire(diff, str(one), str(two), "--json").output)
    assert worse["changes"] == [{"rule": "ZI-011", "change": "new", "before": BAD_TOLD, "now": "crash: it died"}]
    told = goldwire(diff, str(two), str(one), "--json")
    (better,) = json.loads(told.output)["changes"]
    assert better == {"rule": "ZI-011", "change": "fixed", "before": "crash: it died", "now": BAD_TOLD}
    assert (worse["exit"], told.return_value) == (1, 0)


def test_what_is_better_or_the_same_is_status_0(tmp_path: Path) -> None:
    before, now = run(tmp_path / "a", {"ZI-011": BAD}), run(tmp_path / "b", {"ZI-011": PASS})
    assert goldwire(diff, str(before), str(now)).return_value == 0
    same = goldwire(diff, str(now), str(now))
    assert (same.return_value, same.output.splitlines()[-1]) == (0, "no rule came to anything else")


def test_runs_of_two_protocols_have_no_rule_in_common(tmp_path: Path) -> None:
    before, now = run(tmp_path / "a", {"ZI-011": BAD}), run(tmp_path / "b", {}, protocol="pathfinder")
    told = goldwire(diff, str(before), str(now))
    assert "a run of zenoh" in str(told.exception)
