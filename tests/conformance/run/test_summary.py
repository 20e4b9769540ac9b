"""Summaries: the worst wins, expectations excuse, nothing proven fails, --accept makes it as expected."""

from datetime import date
from pathlib import Path

import click
import msgspec
import pytest

from conformance.cases import Case, Marks
from conformance.catalogue.loading import load_catalogue
from conformance.contract.expectations import Expectation, Expectations, load_expectations, parse_expectations
from conformance.gate.terminal import conclusion, summary_lines
from conformance.run.acceptance import accept
from conformance.run.records import CasePlayed, Record, RunEnded, RunStarted
from conformance.run.settings import RunSettings, gather
from conformance.run.summary import Circumstances, RunSummary, summarise
from conformance.suite import Suite
from conformance.verdicts import Disagreement, Judgement, Outcome, Strictness, Verdict, worst

ZENOH = load_catalogue("zenoh")
TODAY = date(2026, 6, 1)
PAPER = next(key for key, rule in ZENOH.rules.items() if "paper" in rule.verified)
CODEC = next(key for key, rule in ZENOH.rules.items() if rule.verified == ("codec",))
STARTED = RunStarted(
    run="1",
    time="2026-01-01T00:00:00+00:00",
    protocol="zenoh",
    iut="peer:",
    name="peer",
    version="1",
    role="router",
    profile="document",
    transport="tcp",
    goldwire="0",
)


def judged(rule: str, outcome: Outcome, what: str = "", *, case: str = "", by: str = "case") -> Judgement:
    return Judgement(rule, outcome, case, by, what, "R23=A" if outcome is Outcome.PASS else "", 2)


def played(name: str, *judgements: Judgement, **fields: object) -> CasePlayed:
    placed = tuple(msgspec.structs.replace(each, case=name) for each in judgements)
    values = {
        "sentence": "Do it.",
        "file": "f.py",
        "line": 1,
        "rules": tuple(each.rule for each in placed),
        "outcome": worst(each.outcome for each in placed),
        "judgements": placed,
        "reproduce": f"goldwire test zenoh -k {name}",
    }
    return CasePlayed(case=name, **{**values, **fields})  # type: ignore[arg-type]


def summed(
    *records: Record,
    strictness: Strictness = Strictness.AS_EXPECTED,
    entries: str | None = None,
    around: Circumstances | None = None,
) -> RunSummary:
    expectations = Expectations() if entries is None else parse_expectations(entries, Path("e.toml"))
    around = msgspec.structs.replace(around or Circumstances(), today=TODAY)
    return summarise([STARTED, *records], ZENOH, strictness, expectations, around)


GOOD = played("test_a.test_good", judged("ZI-011", Outcome.PASS), judged("ZI-012", Outcome.ODD))
BAD = played("test_b.test_bad", judged("ZI-011", Outcome.VIOLATION, "no D_FINAL for 17"))
SOFT = played("test_b.test_soft", judged("ZI-013", Outcome.DEVIATION, "late"))
VAGUE = played("test_b.test_vague", judged("ZI-014", Outcome.INCONCLUSIVE, "no control lines"))
EXPECTED = '[[expect]]\nrule="ZI-011"\noutcome="violation"\nreason="known since 1.0"\n'


def test_every_rule_is_listed() -> None:
    summary = summed(GOOD)
    assert list(summary.rules) == list(ZENOH.rules)
    assert sum(summary.counts.values()) == len(ZENOH.rules)
    assert summary.rules["ZI-011"].verdict is Verdict.PASS
    assert summary.rules["ZI-011"].reading == "R23=A"
    assert summary.rules["ZI-011"].evidence == 2
    assert summary.rules["ZI-012"].outcome == "odd"
    assert summary.exit == 0


def test_the_worst_of_all_cases_wins() -> None:
    summary = summed(GOOD, BAD)
    rule = summary.rules["ZI-011"]
    assert (rule.outcome, rule.verdict) == ("violation", Verdict.FAIL)
    assert rule.cases == ("test_a.test_good", "test_b.test_bad")
    assert rule.what == "no D_FINAL for 17"
    assert (rule.expected, summary.exit) == (False, 1)
    assert "ZI-011 not kept" in conclusion(summary)


def test_the_order_of_delivery_does_not_matter() -> None:
    monitor = played("test_a.test_m", judged("ZI-011", Outcome.VIOLATION, "seen", by="monitor"))
    assert summed(GOOD, BAD, monitor).rules == summed(monitor, BAD, GOOD).rules
    assert summed(monitor, BAD).rules["ZI-011"].what == "no D_FINAL for 17"


def test_what_is_expected_does_not_fail() -> None:
    summary = summed(GOOD, BAD, entries=EXPECTED)
    assert summary.rules["ZI-011"].expected
    assert summary.rules["ZI-011"].reason == "known since 1.0"
    assert summary.rules["ZI-011"].verdict is Verdict.FAIL
    assert summary.exit == 0
    assert conclusion(summary).count("1 known failure")


def test_a_case_may_be_expected() -> None:
    entry = '[[expect]]\ncase="test_b.*"\noutcome="violation"\nreason="known"\n'
    assert summed(GOOD, BAD, entries=entry).exit == 0
    elsewhere = played("test_c.test_bad", judged("ZI-011", Outcome.VIOLATION, "another"))
    assert summed(GOOD, BAD, elsewhere, entries=entry).exit == 1


def test_an_unexpected_pass_fails() -> None:
    summary = summed(GOOD, entries=EXPECTED)
    assert summary.exit == 1
    assert "entry 1 (rule = 'ZI-011'): unexpected pass" in summary.complaints[0]


def test_what_histories_alone_show_need_not_show_in_every_run() -> None:
    entry = '[[expect]]\nrule = "ZI-011"\noutcome = "violation"\nreason = "known"\n'
    other = played("test_a.test_other", judged("ZI-010", Outcome.PASS))
    for record in (GOOD, other):
        assert summed(record, entries=entry).complaints, "what cases show has to be there"
        assert not summed(record, entries=f"{entry}histories = true\n").complaints
    assert summed(GOOD, BAD, entries=f"{entry}histories = true\n").exit == 0
    crashed = played("test_b.test_bad", judged("ZI-011", Outcome.CRASH, "it died"))
    assert summed(GOOD, crashed, entries=f"{entry}histories = true\n").exit == 1


def test_a_deviation_warns_unless_strict() -> None:
    assert summed(GOOD, SOFT).rules["ZI-013"].verdict is Verdict.WARN
    assert summed(GOOD, SOFT).exit == 0
    assert summed(GOOD, SOFT, strictness=Strictness.STRICT).exit == 1


def test_where_a_contract_stands_whatever_is_not_in_it_is_red() -> None:
    soft = summed(GOOD, SOFT, entries="")
    assert (soft.exit, soft.rules["ZI-013"].verdict, list(soft.unexpected)) == (1, Verdict.WARN, ["ZI-013"])
    assert "ZI-013 deviated from, which the expectations do not have" in conclusion(soft)
    vague = summed(GOOD, VAGUE, entries="")
    assert (vague.exit, vague.rules["ZI-014"].verdict) == (1, Verdict.INCONCLUSIVE)
    assert "ZI-014 not judged, which the expectations do not have" in conclusion(vague)
    for strictness, exit_status in ((Strictness.LENIENT, 0), (Strictness.STRICT, 1)):
        assert summed(GOOD, SOFT, VAGUE, entries="", strictness=strictness).exit == exit_status
    entries = EXPECTED.replace("ZI-011", "ZI-013").replace("violation", "deviation")
    assert summed(GOOD, SOFT, entries=entries).exit == 0


def test_lenient_lets_no_failure_pass() -> None:
    assert summed(GOOD, BAD, entries="", strictness=Strictness.LENIENT).exit == 1


def test_what_only_some_plays_saw_accuses_nobody() -> None:
    seen = msgspec.structs.replace(
        judged("ZI-014", Outcome.INCONCLUSIVE, "flaky: x; D_FINAL"),
        disagreement=Disagreement("x", Outcome.VIOLATION, "D_FINAL"),
    )
    flaky = played("test_b.test_flaky", seen)
    assert summed(GOOD, flaky, entries="").exit == 0
    known = EXPECTED.replace("ZI-011", "ZI-014")
    assert summed(GOOD, flaky, entries=known).exit == 0
    # It does not hide that another case could not be judged.
    assert summed(GOOD, flaky, VAGUE, entries="").exit == 1


def test_what_is_blocked_by_what_is_expected_is_as_expected() -> None:
    root = played("test_b.test_root", msgspec.structs.replace(judged("ZI-011", Outcome.VIOLATION), blocked_by=""))
    rest = msgspec.structs.replace(judged("ZI-014", Outcome.INCONCLUSIVE, "blocked by ZI-011"), blocked_by="ZI-011")
    known = summed(GOOD, root, played("test_b.test_rest", rest), entries=EXPECTED)
    assert (known.exit, known.roots) == (0, {"ZI-011": ["ZI-014"]})
    lines = "\n".join(summary_lines(known, ZENOH, []))
    assert "ZI-011  known, violation: known since 1.0 (blocks 1 rule)" in lines
    assert summed(GOOD, root, played("test_b.test_rest", rest), entries="").exit == 1


def test_inconclusive_neither_passes_nor_fails() -> None:
    assert summed(GOOD, VAGUE).exit == 0
    assert summed(VAGUE).exit == 1
    lines = "\n".join(summary_lines(summed(GOOD, VAGUE), ZENOH, [GOOD, VAGUE]))
    assert "ZI-014  no control lines" in lines


def test_an_error_of_the_tester_fails() -> None:
    wrong = played("test_c.test_wrong", outcome=Outcome.ERROR, error="Traceback: KeyError")
    summary = summed(GOOD, wrong)
    assert summary.exit == 1
    assert summary.errors == {"test_c.test_wrong": "Traceback: KeyError"}


def test_nothing_played_fails() -> None:
    assert summed().exit == 1


def test_other_ends_of_a_run() -> None:
    assert summed(GOOD, around=Circumstances(not_started="no such program")).exit == 3
    assert summed(GOOD, around=Circumstances(interrupted=True)).exit == 130
    assert summed(GOOD, RunEnded(time="", interrupted=True, counts={}, exit=130)).interrupted
    assert summed(GOOD, around=Circumstances(trouble=("disk full",))).exit == 1


def test_untested_rules_say_why() -> None:
    def nothing() -> None: ...

    cases = (
        Case("test_a.test_good", nothing, Marks(("ZI-011", "ZI-012"))),
        Case("test_a.test_client", nothing, Marks(("ZI-013",), frozenset({"client"}))),
        Case("test_a.test_udp", nothing, Marks(("ZI-020",), transports=frozenset({"udp"}))),
        Case("test_a.test_later", nothing, Marks(("ZI-021",))),
    )
    rules = summed(GOOD, around=Circumstances(cases=cases)).rules
    assert rules[PAPER].reason == ZENOH.rules[PAPER].reason
    assert "golden vectors" in rules[CODEC].reason
    assert "need the role client" in rules["ZI-013"].reason
    assert "need udp" in rules["ZI-020"].reason
    assert "not selected" in rules["ZI-021"].reason
    stopped = summed(GOOD, around=Circumstances(cases=cases, interrupted=True)).rules
    assert "interrupted" in stopped["ZI-021"].reason
    assert all(rule.reason for rule in rules.values() if rule.verdict is Verdict.UNTESTED)


def test_a_part_of_the_cases_does_not_contradict_an_expectation() -> None:
    def nothing() -> None: ...

    cases = tuple(Case(name, nothing, Marks(("ZI-011",))) for name in ("test_a.test_good", "test_b.test_bad"))
    assert summed(GOOD, entries=EXPECTED, around=Circumstances(cases=cases)).exit == 0
    assert summed(GOOD, entries=EXPECTED, around=Circumstances(cases=cases[:1])).exit == 1


FILE = """# Known things about it.

# the worst
[[expect]]
rule = "ZI-011"   # D_FINAL
outcome = "violation"
signature = "no D_FINAL for <n>"
reason = "known since 1.0"

# this one is fixed
[[expect]]
rule = "ZI-012"
outcome = "violation"
reason = "was wrong"

# still to be looked at
[[expect]]
rule = "ZI-014"
outcome = "inconclusive"
reason = "no control lines"
"""
NEW = played("test_b.test_new", judged("ZI-020", Outcome.VIOLATION, "3 answers\nassert 3 == 1"))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSettings:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expectations").mkdir()
    return gather("peer:", "zenoh")


def accepted(settings: RunSettings, text: str, *records: Record) -> str:
    path = Path("expectations/peer.toml")
    path.write_text(text)
    settings = msgspec.structs.replace(settings, expectations=parse_expectations(text, path))
    around = Circumstances(today=TODAY)
    expectations, _ = accept(settings, [STARTED, GOOD, *records], around)
    summary = summarise([STARTED, GOOD, *records], ZENOH, settings.strictness, expectations, around)
    assert summary.exit == 0
    return path.read_text()


def test_accept_changes_only_what_did_not_come_true(settings: RunSettings) -> None:
    text = accepted(settings, FILE, BAD, VAGUE, NEW)
    kept, _, rest = FILE.partition("# this one is fixed\n")
    last = rest[rest.index("# still") :]
    added = (
        '\n[[expect]]\nrule = "ZI-020"\noutcome = "violation"\nsignature = "<n> answers"\n'
        'reason = "accepted on 2026-06-01: 3 answers"\nroles = ["router"]\n'
    )
    assert text == kept + last + added


def test_accept_writes_what_the_description_names_and_says_so(settings: RunSettings, tmp_path: Path) -> None:
    """A regression: it wrote another file beside it, which then hid the one that was named."""
    named = tmp_path / "mine-expectations.toml"
    named.write_text(FILE)
    mine = msgspec.structs.replace(settings.description, expectations=named)
    contract = parse_expectations(FILE, named)
    settings = msgspec.structs.replace(settings, description=mine, expectations=contract)
    _, told = accept(settings, [STARTED, GOOD, BAD, VAGUE, NEW], Circumstances(today=TODAY))
    assert 'rule = "ZI-020"' in named.read_text()
    assert not Path("expectations/peer.toml").exists()
    before, now = len(contract.entries), len(parse_expectations(named.read_text(), named).entries)
    assert told == f"{named}: 1 added, 0 changed, {before + 1 - now} removed, {now} entries now"
    again, told = accept(settings, [STARTED, GOOD, BAD, VAGUE, NEW], Circumstances(today=TODAY))
    assert len(again.entries) == now


def test_accept_leaves_a_true_file_alone(settings: RunSettings) -> None:
    text = FILE[: FILE.index("# this one")]
    assert accepted(settings, text, BAD) == text


def test_accept_corrects_an_entry_in_place(settings: RunSettings) -> None:
    changed = played("test_b.test_bad", judged("ZI-011", Outcome.CRASH, "it died"))
    text = FILE[: FILE.index("# this one")]
    expected = text.replace('"violation"', '"crash"').replace("no D_FINAL for <n>", "it died")
    assert accepted(settings, text, changed) == expected


def test_accept_spells_out_a_wide_glob(settings: RunSettings) -> None:
    text = accepted(settings, EXPECTED.replace("ZI-011", "ZI-01*"), BAD)
    assert parse_expectations(text, Path("x")).entries == (
        Expectation(
            rule="ZI-011",
            outcome=Outcome.VIOLATION,
            signature="no D_FINAL for <n>",
            reason="known since 1.0",
            roles=("router",),
        ),
    )


def test_accept_writes_down_warnings_too(settings: RunSettings) -> None:
    text = accepted(settings, "", SOFT, VAGUE)
    assert [(each.rule, each.outcome) for each in parse_expectations(text, Path("x")).entries] == [
        ("ZI-013", Outcome.DEVIATION),
        ("ZI-014", Outcome.INCONCLUSIVE),
    ]


def test_accept_says_what_histories_alone_show(settings: RunSettings) -> None:
    shown = played("test_histories.test_modes[1]", judged("ZI-011", Outcome.VIOLATION, "no D_FINAL"))
    records = [STARTED, GOOD, BAD, shown, played("test_histories.test_modes[2]", judged("ZI-014", Outcome.DEVIATION))]
    entries = accept(settings, records, Circumstances(cases=tuple(Suite("zenoh").cases), today=TODAY))[0].entries
    # Two ways in which one rule is not kept are two entries.
    told = [(each.rule, each.signature, each.histories) for each in entries]
    assert told == [("ZI-011", "no D_FINAL for <n>", False), ("ZI-011", "no D_FINAL", True), ("ZI-014", "", True)]


def test_a_first_file_has_warnings_too(settings: RunSettings) -> None:
    assert settings.expectations.path is None
    expectations, _ = accept(settings, [STARTED, GOOD, SOFT], Circumstances(today=TODAY))
    assert [each.rule for each in expectations.entries] == ["ZI-013"]


def test_accept_leaves_what_is_known_of_another_role_as_it_is(settings: RunSettings) -> None:
    """A regression: entries were for all roles; those of one failed the run of the next, and were taken out by it."""
    assert settings.description.roles == ("router", "client")
    accept(settings, [STARTED, GOOD, BAD], Circumstances(today=TODAY))
    path = Path("expectations/peer.toml")
    told = []
    for role, records in (("client", [GOOD, SOFT]), ("router", [GOOD, BAD]), ("client", [GOOD, SOFT])):
        started = msgspec.structs.replace(STARTED, role=role)
        in_role = msgspec.structs.replace(settings.description, role=role)
        now = msgspec.structs.replace(settings, description=in_role, expectations=load_expectations(path))
        told.append(accept(now, [started, *records], Circumstances(today=TODAY))[1])
    entries = load_expectations(path).entries
    assert [(each.rule, each.roles) for each in entries] == [("ZI-011", ("router",)), ("ZI-013", ("client",))]
    assert [each.partition(": ")[2] for each in told] == [
        "1 added, 0 changed, 0 removed, 2 entries now",
        "nothing to accept, 2 entries as before",
        "nothing to accept, 2 entries as before",
    ]


def test_accept_drops_a_date_that_is_past(settings: RunSettings) -> None:
    text = accepted(settings, EXPECTED + "until = 2026-01-01\n", BAD)
    assert text == EXPECTED


def test_accept_begins_a_file(settings: RunSettings) -> None:
    expectations, _ = accept(settings, [STARTED, GOOD, BAD], Circumstances(today=TODAY))
    assert expectations == parse_expectations(
        Path("expectations/peer.toml").read_text(), Path("expectations/peer.toml")
    )
    assert [entry.rule for entry in expectations.entries] == ["ZI-011"]


def test_accept_writes_nothing_when_all_is_well(settings: RunSettings) -> None:
    settings = msgspec.structs.replace(settings, expectations=Expectations())
    accept(settings, [STARTED, GOOD], Circumstances(today=TODAY))
    assert not Path("expectations/peer.toml").exists()


def blocked(rule: str, root: str) -> Judgement:
    judgement = judged(rule, Outcome.INCONCLUSIVE, f"blocked by {root}: no D_FINAL")
    return msgspec.structs.replace(judgement, blocked_by=root)


def test_what_stands_in_the_way_of_others_comes_first_and_they_are_not_listed() -> None:
    other = played("test_a.test_other", judged("ZI-001", Outcome.VIOLATION, "another thing"))
    root = played("test_b.test_basic", judged("ZI-070", Outcome.VIOLATION, "no D_FINAL"))
    rest = played("test_c.test_rest", blocked("ZI-011", "ZI-070"), blocked("ZI-012", "ZI-070"), attempts=0)
    summary = summed(other, root, rest)
    assert summary.roots == {"ZI-070": ["ZI-011", "ZI-012"]}
    assert (summary.played, summary.blocked) == (2, 1)
    lines = [click.unstyle(line) for line in summary_lines(summary, ZENOH, [STARTED, other, root, rest])]
    assert [line.split()[1] for line in lines if "FAIL  " in line] == ["ZI-070", "ZI-001"]
    assert any("2 rules that cannot be judged without it: ZI-011, ZI-012" in line for line in lines)
    assert not any("INCONCLUSIVE, hence" in line for line in lines)
    assert "2 rules blocked by ZI-070" in lines[-1]


def test_a_root_that_could_not_be_judged_is_red_and_may_be_expected() -> None:
    kept = played("test_a.test_kept", judged("ZI-001", Outcome.PASS))
    root = played("test_b.test_basic", judged("ZI-070", Outcome.INCONCLUSIVE, "silence"))
    rest = played("test_c.test_rest", blocked("ZI-011", "ZI-070"), attempts=0)
    assert summed(kept, root, rest).exit == 1
    entry = '[[expect]]\nrule = "ZI-070"\noutcome = "inconclusive"\nreason = "it dials nobody"\n'
    assert summed(kept, root, rest, entries=entry).exit == 0


def test_what_is_blocked_is_listed_where_its_root_was_not_selected() -> None:
    kept = played("test_a.test_kept", judged("ZI-001", Outcome.PASS))
    rest = played("test_c.test_rest", blocked("ZI-011", "ZI-070"), attempts=0)
    summary = summed(kept, rest)
    assert summary.roots == {}
    assert any("ZI-011  blocked by ZI-070: no D_FINAL" in line for line in summary_lines(summary, ZENOH, [STARTED]))


def test_a_root_that_only_monitors_saw_kept_is_told_by_what_it_lacks() -> None:
    kept = played("test_a.test_kept", judged("ZI-001", Outcome.PASS), judged("ZI-070", Outcome.PASS))
    rest = played("test_c.test_rest", blocked("ZI-011", "ZI-070"), attempts=0)
    summary = summed(kept, rest)
    assert (summary.exit, summary.roots, summary.counts["PASS"]) == (1, {"ZI-070": ["ZI-011"]}, 1)
    lines = [click.unstyle(line) for line in summary_lines(summary, ZENOH, [STARTED, kept, rest])]
    assert any(line.startswith("INCONCLUSIVE  ZI-070") for line in lines)
    assert "  came      inconclusive: no D_FINAL" in lines


def test_what_was_left_out_is_named_with_its_reason_and_proves_nothing() -> None:
    left_out = [
        played(f"test_h.test_numbers[{seed}]", outcome=Outcome.INCONCLUSIVE, not_played="nothing is answered")
        for seed in (1, 2)
    ]
    summary = summed(*left_out)
    assert (summary.played, summary.exit) == (0, 1)
    lines = "\n".join(summary_lines(summary, ZENOH, left_out))
    assert "Not played:\n  test_h.test_numbers[1] and 1 more: nothing is answered\n" in lines
    assert "NOT AS EXPECTED: no case was played" in lines
    # Beside rules that could not be judged, too.
    beside = "\n".join(summary_lines(summed(GOOD, VAGUE, *left_out), ZENOH, [GOOD, VAGUE, *left_out]))
    assert beside.count("test_h.test_numbers") == 1


def test_what_a_recording_cannot_show_is_not_seen() -> None:
    """ZI-002 is kept by whoever says nothing, and only who asks sees it broken; ZI-012 shows in any recording."""
    passes = played("audit.a#1", judged("ZI-002", Outcome.PASS, by="monitor"), judged("ZI-015", Outcome.PASS))
    assert summed(passes).rules["ZI-002"].verdict is Verdict.PASS
    heard = summed(passes, around=Circumstances(passive=True)).rules
    assert (heard["ZI-002"].verdict, heard["ZI-015"].verdict) == (Verdict.UNTESTED, Verdict.PASS)
    assert heard["ZI-002"].reason.startswith("not seen")
    breaks = played("audit.a#1", judged("ZI-002", Outcome.VIOLATION, "seen", by="monitor"))
    assert summed(passes, breaks, around=Circumstances(passive=True)).rules["ZI-002"].verdict is Verdict.FAIL


def findings_of(summary: RunSummary, rule: str) -> list[tuple[str, str, bool]]:
    return [(each.outcome, each.signature, each.expected) for each in summary.rules[rule].findings]


CRASHING = played("test_c.test_crash", judged("ZI-011", Outcome.CRASH, "dead since A was sent\n0x12"))
CRASHING_TOO = played("test_d.test_crash", judged("ZI-011", Outcome.CRASH, "dead since B was sent"))
KNOWN_CRASH = """
[[expect]]
rule = "ZI-011"
outcome = "crash"
signature = "dead since A was sent"
reason = "it dies of A"
"""


def test_a_rule_has_each_of_its_findings_once_the_gravest_first() -> None:
    again = played("test_e.test_bad", judged("ZI-011", Outcome.VIOLATION, "no D_FINAL for 23"))
    summary = summed(GOOD, BAD, again, CRASHING, CRASHING_TOO)
    assert findings_of(summary, "ZI-011") == [
        ("crash", "dead since A was sent", False),
        ("crash", "dead since B was sent", False),
        ("violation", "no D_FINAL for <n>", False),
    ]
    assert summary.rules["ZI-011"].findings[2].cases == ("test_b.test_bad", "test_e.test_bad")


def test_a_crash_that_is_known_does_not_excuse_another_nor_what_is_milder() -> None:
    alone = summed(GOOD, CRASHING, entries=KNOWN_CRASH)
    assert (alone.exit, alone.rules["ZI-011"].reason) == (0, "it dies of A")
    for other in (CRASHING_TOO, BAD):
        summary = summed(GOOD, CRASHING, other, entries=KNOWN_CRASH)
        assert (summary.exit, summary.complaints, list(summary.unexpected)) == (1, (), ["ZI-011"])
        assert [expected for *_, expected in findings_of(summary, "ZI-011")] == [True, False]
        lines = "\n".join(summary_lines(summary, ZENOH, [STARTED, GOOD, CRASHING, other]))
        assert "it dies of A" in lines
        assert other.judgements[0].what in lines
        assert other.reproduce in lines
        assert CRASHING.reproduce not in lines


def test_of_several_entries_for_one_rule_the_one_that_did_not_come_true_is_named() -> None:
    both = KNOWN_CRASH + EXPECTED
    assert summed(GOOD, CRASHING, BAD, entries=both).exit == 0
    (complaint,) = summed(GOOD, BAD, entries=both).complaints
    assert "entry 1 (rule = 'ZI-011'): unexpected pass: ZI-011 is not kept in another way only" in complaint


def test_accept_writes_an_entry_for_each_new_finding(settings: RunSettings) -> None:
    records = [STARTED, GOOD, BAD, CRASHING, CRASHING_TOO]
    entries = accept(settings, records, Circumstances(today=TODAY))[0].entries
    assert [each.signature for each in entries] == [
        "dead since A was sent",
        "dead since B was sent",
        "no D_FINAL for <n>",
    ]


def test_what_a_case_did_not_reach_does_not_override_what_others_saw() -> None:
    unreached = Judgement("ZI-012", Outcome.INCONCLUSIVE, "", "case", "not reached", is_cut_short=True)
    broken = played("test_b.test_two", judged("ZI-011", Outcome.VIOLATION, "gone"), unreached)
    assert summed(GOOD, broken).rules["ZI-012"].verdict is Verdict.PASS
    # A monitor has seen it in passing only, and no case has.
    passing = played("test_a.test_other", judged("ZI-012", Outcome.PASS, by="monitor"))
    assert summed(passing, broken).rules["ZI-012"].verdict is Verdict.INCONCLUSIVE
