"""The summary: what changed between versions, which rules and messages were seen, and which frames are rare."""

import json

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import SAID

from conformance.catalogue.loading import load_catalogue
from conformance.verdicts import Outcome, worst
from reports.commands.pipeline import pipeline
from reports.jobs import runner as jobs
from reports.jobs.coverage import messages, rules_judged, states
from reports.jobs.overview import overview
from reports.jobs.regressions import by_case, compared, regressions
from reports.jobs.summary import RuleRow, wilson
from reports.lake.lake import Lake
from reports.lake.rows import layout_of
from reports.lake.schemas import DECODED, VERDICTS


def row(version, rule="ZI-015", **outcomes):
    return RuleRow(
        protocol="zenoh",
        rule=rule,
        name="node",
        version=version,
        role="router",
        profile="document",
        outcomes=outcomes,
        worst=worst(map(Outcome, outcomes)),
        judgements=sum(outcomes.values()),
        flaky=0,
        flaky_between=(0.0, 1.0),
        repeated=0,
        unsteady=0,
        unsteady_between=(0.0, 1.0),
    )


# --- between versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"pass": 1}, {"violation": 1}, "worse"),  # none at all, then always
        ({"violation": 1}, {"pass": 1}, "better"),
        ({"pass": 40}, {"pass": 20, "violation": 20}, "worse"),
        ({"pass": 20, "deviation": 20}, {"pass": 40}, "better"),
        ({"pass": 40}, {"pass": 39, "violation": 1}, "flaky"),
        ({"pass": 38, "crash": 2}, {"pass": 40}, "flaky"),
        ({"pass": 39, "violation": 1}, {"violation": 40}, "worse"),
        ({"deviation": 5}, {"violation": 5}, "worse"),
        ({"violation": 5}, {"deviation": 5}, "better"),
        ({"violation": 9, "crash": 1}, {"violation": 10}, "flaky"),
        ({"violation": 20, "pass": 20}, {"violation": 15, "pass": 25}, None),
        ({"pass": 40}, {"odd": 40}, None),
        ({"pass": 2, "inconclusive": 30}, {"violation": 2, "inconclusive": 30}, "worse"),
        ({"pass": 3}, {"pass": 3, "error": 3}, None),
    ],
)
def test_what_a_change_is(before, after, change):
    found_ = compared(row("1", **before), row("2", **after), {})
    assert (found_ and found_.change) == change
    back = compared(row("2", **after), row("1", **before), {})
    assert (back and back.change) == {"worse": "better", "better": "worse"}.get(change, change)


def test_versions_follow_each_other_as_versions_do():
    rows = [
        row("1.10.0", violation=6),
        row("1.9.0", **{"pass": 6}),
        row("1.11.0", inconclusive=6),
        row("1.12.0", **{"pass": 6}),
        row("", violation=6),
    ]
    changes = [(each.change, each.before, each.after) for each in regressions(rows, {})]
    assert changes == [("worse", "1.9.0", "1.10.0"), ("better", "1.10.0", "1.12.0")]


def test_rules_names_roles_and_profiles_are_compared_with_their_own():
    from msgspec.structs import replace

    other = [replace(row("2", violation=6), **{name: "other"}) for name in ("rule", "name", "role", "profile")]
    assert regressions([row("1", **{"pass": 6}), *other], {}) == []


def cases_of(*outcomes):
    """Return outcomes by case of the versions 1 and 2."""
    key = ("zenoh", "ZI-015", "node", None, "router", "document")
    return {(*key[:3], version, *key[4:]): said for version, said in zip("12", outcomes, strict=True)}


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"test_a": {"pass": 20}}, {"test_a": {"pass": 1}, "test_b": {"violation": 19}}),  # -k, then all
        ({"test_a": {"pass": 20}}, {"test_b": {"violation": 20}}),
        ({"test_a": {"pass": 19}, "test_b": {"violation": 1}}, {"test_a": {"pass": 1}, "test_b": {"violation": 19}}),
        ({"test_a": {"pass": 19}, "test_b": {"inconclusive": 1}}, {"test_a": {"pass": 1}, "test_b": {"violation": 19}}),
    ],
)
def test_other_cases_are_no_change_of_the_implementation(then, now):
    rows = row("1", **{"pass": 20}), row("2", **{"pass": 1, "violation": 19})
    assert compared(*rows, cases_of(then, now)) is None
    assert compared(*rows, cases_of(then, {})).change == "worse", "recordings say nothing of cases"
    assert compared(*rows, {}).change == "worse"


def test_of_cases_that_both_versions_were_played_with_the_shares_are_compared():
    rows = row("1", **{"pass": 90}), row("2", **{"pass": 90, "violation": 9})
    then = {"test_a": {"pass": 9}, "test_b": {"pass": 9}, "test_c": {"pass": 20}}
    now = {"test_a": {"pass": 2, "violation": 7}, "test_b": {"pass": 7, "violation": 2}, "test_d": {"violation": 20}}
    found_ = compared(*rows, cases_of(then, now))
    assert (found_.change, found_.hits, found_.judgements) == ("worse", (0, 9), (18, 18))
    assert found_.worst == (Outcome.PASS, Outcome.VIOLATION)


def test_what_is_worse_at_any_threshold_is_worse():
    one, other = {"crash": 20, "pass": 20}, {"violation": 40}
    better_by_crashes = compared(row("1", **one), row("2", **other), {})
    assert (better_by_crashes.change, better_by_crashes.outcome) == ("worse", Outcome.VIOLATION)
    worse_by_crashes = compared(row("1", **other), row("2", **one), {})
    assert (worse_by_crashes.change, worse_by_crashes.outcome) == ("worse", Outcome.CRASH)


def test_a_case_that_fails_now_is_a_regression_though_others_hide_it():
    rows = row("1", **{"pass": 17}), row("2", **{"pass": 16, "violation": 1})

    kept, broken = {"pass": 1}, {"violation": 1}
    same = {"test_a": kept}
    found_ = compared(*rows, cases_of({"test_b": kept} | same, {"test_b": broken} | same))
    assert (found_.change, found_.cases, found_.hits) == ("worse", ("test_b",), (0, 1))
    for then, now in (
        ({}, {"test_b": broken}),
        ({"test_b": kept, "test_c": broken}, {"test_b": broken, "test_c": kept}),
        ({"test_b": kept}, {"test_b": broken | kept}),
    ):
        assert compared(*rows, cases_of(then, now)).change == "flaky"
    more = row("1", **{"pass": 14, "violation": 3}), row("2", **{"pass": 13, "violation": 4})
    assert compared(*more, {}) is None
    assert compared(*more, cases_of({"test_b": kept}, {"test_b": broken})).change == "worse"


def test_plays_that_differed_say_nothing_of_versions(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    ends = [
        [("test_a", "pass", ""), ("test_a", "inconclusive", ""), ("test_b", "violation", ""), ("test_c", "pass", "")],
        [("test_a", "pass", ""), ("test_b", "pass", "1 of 2"), ("test_c", "violation", ""), ("test_c", "pass", "")],
    ]
    for number, part in enumerate(ends):
        same = {"kind": "run", "origin": "live", "source": f"run-{number}", "protocol": "zenoh"}
        said = [same | {"case": case, "outcome": outcome, "flaky": flaky} for case, outcome, flaky in part]
        with lake.stage(f"run-{number}", "ingest") as staging:
            staging.write(VERDICTS, VERDICTS.rows(said))
            staging.commit()
    (found_,) = by_case(lake, None).values()
    assert found_ == {"test_a": {"pass": 2}, "test_c": {"pass": 1, "violation": 1}}


def test_what_runs_of_one_version_do_not_agree_on_is_unsteady(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    for number in range(10):
        same = {"kind": "run", "origin": "live", "source": f"run-{number}", "protocol": "zenoh", "version": "1"}
        said = [
            {"case": "test_a", "outcome": "violation" if number == 9 else "pass"},
            {"case": "test_b", "outcome": "error" if number == 9 else "pass"},
            {"case": "test_c", "outcome": "inconclusive" if number == 9 else "pass", "flaky": "so" * (number == 9)},
            *([{"case": "test_d", "outcome": "pass"}] if number == 9 else []),
        ]
        with lake.stage(f"run-{number}", "ingest") as staging:
            staging.write(VERDICTS, VERDICTS.rows(same | each for each in said))
            staging.commit()
    (found_,) = overview(lake, None).rules
    assert (found_.unsteady, found_.repeated) == (1, 2)
    assert found_.unsteady_between == wilson(1, 2)
    assert (found_.flaky, found_.judgements) == (1, 31)
    shown = "; flaky 1/31 (0.6% to 16.2%); unsteady 1/2 (9.5% to 90.5%)"
    assert call("summary", "--lake", lake.path).stdout.splitlines()[0].endswith(shown)


def test_verdicts_that_do_not_say_where_from_count(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    with lake.stage("judge-1", "judge") as staging:
        staging.write(VERDICTS, VERDICTS.rows([{"outcome": "pass", "protocol": "zenoh"}]))
        staging.commit()
    (found_,) = jobs.summary(lake, None)
    assert (found_.judgements, found_.flaky) == (1, 0)


def test_a_version_with_a_fault_is_a_regression(triaged):
    changes = {each.rule: each for each in overview(triaged, None).regressions}
    change = changes["ZI-015"]
    assert (change.change, change.before, change.after) == ("worse", "1.9.0", "1.10.0")
    assert change.worst == (Outcome.PASS, Outcome.VIOLATION)
    assert change.hits[0] == 0
    assert change.hits[1] == change.judgements[1] > 0
    assert "test_modes.test_current_future_interest_gets_one_final" in change.cases
    assert all(each.after != "1.11.0" for each in changes.values()), "1.11.0 is as bad as 1.10.0"


# --- coverage ---------------------------------------------------------------------------------------------


def test_rules_that_were_never_judged_are_named(triaged):
    rows = jobs.summary(triaged, None)
    covered = list(rules_judged(rows))
    assert [(each.name, each.version) for each in covered] == [
        ("node", "1.9.0"),
        ("node", "1.10.0"),
        ("node", "1.11.0"),
        ("recorded", "7"),
    ]
    known = load_catalogue("zenoh").rules
    for each in covered:
        judged = {
            one.rule
            for one in rows
            if (one.name, one.version) == (each.name, each.version) and set(one.outcomes) - {"inconclusive", "error"}
        }
        assert not judged & set(each.never)
        assert each.judged + len(each.never) == each.of
        assert all(known[rule].verified not in (("codec",), ("paper",)) for rule in each.never)


def test_rules_of_the_other_side_are_not_missed():
    from msgspec.structs import replace

    rules = load_catalogue("pathfinder").rules
    for role, other in (("server", "client"), ("client", "server")):
        (covered,) = rules_judged([replace(row("1", rule="PF-034", inconclusive=1), protocol="pathfinder", role=role)])
        assert "PF-034" in covered.never or role != "server", "inconclusive says nothing"
        binds = {rules[rule].binds for rule in covered.never}
        assert role in binds
        assert other not in binds


@pytest.mark.parametrize("protocol", SAID)
def test_messages_that_were_seen_and_that_never_came(filled, protocol):
    said = {each.layout: each for each in overview(filled, None).coverage.messages}
    seen = said[layout_of(protocol)]
    rows = filled.read(DECODED, protocol=protocol).to_pylist()
    assert seen.frames == len(rows)
    assert seen.refused == sum(each["refused"] is not None for each in rows)
    names = {name for each in rows for name in each["types"].split()}
    assert set(seen.seen) == names
    assert set(seen.never) == set(messages(seen.layout)) - names
    assert names < set(messages(seen.layout)), "there is something that nobody said"
    assert {name for each in SAID[protocol] for name in each.split()} <= names
    name = min(seen.seen)
    assert seen.seen[name] == sum(name in each["types"].split() for each in rows)


def test_the_rarest_frames_come_first_with_an_example(filled):
    rows = filled.read(DECODED).to_pylist()
    found_ = states(filled, None)
    assert [each.frames for each in found_] == sorted(each.frames for each in found_)
    assert sum(each.frames for each in found_) == len(rows)
    for each in found_:
        of = [
            (one["session"], one["seq"])
            for one in rows
            if (one["layout"], one["types"], one["refused"] or "") == (each.layout, each.types, each.refused)
        ]
        assert (each.session, each.seq) == min(of)
        assert each.frames == len(of)


def test_refused_frames_are_states(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    rows = [("b", 3, "", "truncated"), ("a", 7, "", "truncated"), ("a", 2, "INIT", None), ("b", 1, "INIT", None)]
    names = ("session", "seq", "types", "refused")
    for number, part in enumerate((rows[:1] + rows[2:], rows[1:2])):
        with lake.stage(f"decode-{number}", "decode") as staging:
            said = {"protocol": "zenoh", "layout": "zenoh/batch"}
            staging.write(DECODED, DECODED.rows(dict(zip(names, each, strict=True)) | said for each in part))
            staging.commit()
    found_ = [(each.types, each.refused, each.frames, each.session, each.seq) for each in states(lake, None)]
    assert found_ == [("INIT", "", 2, "a", 2), ("", "truncated", 2, "a", 7)]


# --- the command ------------------------------------------------------------------------------------------


def call(*words):
    return CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)


def test_command_shows_all_sections(triaged):
    done = call("summary", "--lake", triaged.path)
    assert (done.return_value, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "worse  ZI-015   node router, document: violation: 1.9.0: 0/" in done.stdout
    assert lines.index("-- between versions") < lines.index("-- messages that were seen")
    assert any(line.startswith("zenoh node 1.9.0 router: ") and "never " in line for line in lines)
    assert sum("(the first: " in line for line in lines) == 5
    every = call("summary", "--lake", triaged.path, "--all").stdout
    assert every.count("(the first: ") > 5
    assert "--all" not in every
    assert len(every.splitlines()) > len(lines)
    as_json = json.loads(call("summary", "--lake", triaged.path, "--json").stdout)
    assert as_json.keys() == {"rules", "regressions", "coverage"}
    assert as_json["regressions"][0]["change"] == "worse"
    assert as_json["coverage"]["rules"][0]["version"] == "1.9.0"
