"""Findings of network campaigns in a lake: rows with all that they say, and each fault once, beside the gate's."""

import itertools
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import taken

from fuzz.findings import FINDING
from fuzz.net.campaign import BESIDE_FINDINGS, merged
from fuzz.net.finding import NetworkFinding, NetworkOrigin, write_finding
from fuzz.net.moves import EndsSession, Opens, Says
from fuzz.net.symptoms import Symptom, crash
from reports.commands.pipeline import pipeline
from reports.jobs.triage import triage
from reports.lake.lake import Lake
from reports.lake.schemas import FINDINGS, LOSSES, VERDICTS

INTEREST_FINAL = bytes.fromhex("1900")
TEST = (Opens("a"), Says("a", (INTEREST_FINAL,)), EndsSession("a", "drop"))
TRACEBACK = 'Traceback:\n  File "/opt/node/router.py", line 7, in on_declare\nKeyError: 5\n'


def network_finding(symptom, version="1.10.0", seed=1, **more):
    finding = NetworkFinding(
        signature=symptom.digest,
        protocol="zenoh",
        role="router",
        iut="./node.toml",
        version=version,
        transport="tcp",
        profile="document",
        layout="zenoh/network-message",
        symptom=symptom,
        test=TEST,
        found=TEST * 2,
        times=1,
        origin=NetworkOrigin(seed, 0, 4711, 60.5, f"2026-01-0{seed}T00:00:00+00:00"),
        implementation="node",
        goldwire="0.1.0",
        python="3.11.7",
    )
    return msgspec.structs.replace(finding, **more)


DIES = crash(TRACEBACK)
HANGS = Symptom("hang", "nobody is served any more: no answer", about=("PUSH", "INTEREST"))
HARMS = Symptom("harm", "what another session declared is taken away", about=("D_SUBSCRIBER",))
STOPS = Symptom("service", "what a fresh session declares does not reach whom it concerns", about=("OAM",))
GROWS = Symptom("growth", "each time the test is played, it takes more descriptors", about=("QUERY",))
BREAKS = Symptom("rule", "D_FINAL came twice for interest 7", rule="ZI-015")
SHOULD = "ZI-066"
LEAVES_OUT = Symptom("rule", "nothing is said of it", rule=SHOULD)
ALL = (DIES, HANGS, HARMS, STOPS, GROWS, BREAKS, LEAVES_OUT)


def folder_of(out, *findings):
    """Write findings, and what a campaign keeps beside them."""
    for finding in findings:
        write_finding(out, finding, None)
    for name in BESIDE_FINDINGS:
        (out / name).mkdir(exist_ok=True)
        (out / name / "1-0-abc.json").write_text("{}")
    return out


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "lake", create=True)


def net_rows(lake):
    return [row for row in lake.read(FINDINGS).to_pylist() if row["origin"] == "net"]


# --- taking in --------------------------------------------------------------------------------------------


def test_a_finding_is_a_row_with_all_that_it_says(lake, tmp_path):
    out = folder_of(tmp_path / "findings", network_finding(DIES), network_finding(HANGS), network_finding(BREAKS))
    (done,) = taken(lake, [out])
    assert (done.findings, done.losses, done.trouble) == (3, (), "")
    dies, hangs, breaks = (
        next(row for row in net_rows(lake) if row["kind"] == kind) for kind in ("crash", "hang", "rule")
    )
    assert (dies["protocol"], dies["layout"], dies["role"]) == ("zenoh", "zenoh/network-message", "router")
    assert (dies["iut"], dies["name"], dies["version"]) == ("./node.toml", "node", "1.10.0")
    assert (dies["transport"], dies["profile"]) == ("tcp", "document")
    assert dies["place"] == "KeyError in on_declare (router.py:7)"
    assert dies["printed"] == TRACEBACK
    assert (dies["seed"], dies["tests"], dies["times"]) == (1, 4711, 1)
    assert dies["time"] == "2026-01-01T00:00:00+00:00"
    assert dies["signature"] == DIES.digest
    assert dies["folder"] == f"zenoh-router-crash-{DIES.digest}"
    assert dies["repeat"] == f"goldwire replay {out / dies['folder']}"
    opens, means, says, ends = dies["moves"].splitlines()
    assert "session" in opens
    assert means.startswith("# INTEREST_FINAL")
    assert "1900" in says
    assert "drop" in ends
    assert (hangs["place"], hangs["about"], hangs["outcome"]) == ("", "PUSH + INTEREST", None)
    assert (breaks["rule"], breaks["outcome"], breaks["what"]) == ("ZI-015", "violation", BREAKS.what)


def test_a_recommendation_is_told_from_what_must_be(lake, tmp_path):
    taken(lake, [folder_of(tmp_path / "findings", network_finding(LEAVES_OUT))])
    assert [row["outcome"] for row in net_rows(lake)] == ["deviation"]


def test_findings_are_there_once_however_often_and_from_wherever_they_are_taken_in(lake, tmp_path):
    night = folder_of(tmp_path / "night", network_finding(DIES), network_finding(HANGS))
    day = folder_of(tmp_path / "day", network_finding(GROWS, seed=2))
    merged([night, day], tmp_path / "both")
    done = taken(lake, [night, night, day, tmp_path / "both"])
    assert [each.is_new for each in done] == [True, False, True, True]
    assert [each.trouble for each in done] == [""] * 4
    assert [(each.gravity, each.count) for each in triage(lake, None)] == [("crash", 1), ("hang", 1), ("growth", 1)]


def test_what_a_campaign_keeps_besides_is_not_looked_at(lake, tmp_path):
    out = folder_of(tmp_path / "findings", network_finding(DIES))
    (done,) = taken(lake, [out])
    (out / BESIDE_FINDINGS[0] / "another.ndjson").write_text("…")
    (again,) = taken(lake, [out])
    assert (done.losses, again.is_new, again.trouble) == ((), False, "")


def test_both_kinds_may_stand_in_one_folder(lake, found, tmp_path):
    both = shutil.copytree(found[0], tmp_path / "findings")
    folder_of(both, network_finding(DIES))
    (done,) = taken(lake, [both])
    assert (done.findings, done.losses, done.trouble) == (10, (), "")
    assert len(net_rows(lake)) == 1
    clusters = triage(lake, None)
    assert sum(each.count for each in clusters) == 10
    assert [each.who for each in clusters if each.size is None] == ["node router"]


def test_a_broken_one_is_named_and_costs_only_itself(lake, tmp_path):
    out = folder_of(tmp_path / "findings", network_finding(DIES), network_finding(HANGS))
    (out / f"zenoh-router-hang-{HANGS.digest}" / FINDING).write_text('{"finding": "net"}')
    (done,) = taken(lake, [out])
    assert (done.findings, done.trouble) == (1, "")
    (said,) = [row["what"] for row in lake.read(LOSSES).to_pylist()]
    assert said.startswith(f"zenoh-router-hang-{HANGS.digest}: finding.json cannot be read")


def test_those_of_another_protocol_are_left_out_and_counted(lake, tmp_path):
    out = folder_of(tmp_path / "findings", network_finding(DIES))
    write_finding(out, network_finding(HANGS, protocol="urbit", role="publisher", layout="urbit/packet"), None)
    (done,) = taken(lake, [out])
    assert (done.findings, len(done.losses)) == (1, 1)
    assert "urbit/packet" in done.losses[0]


# --- faults -----------------------------------------------------------------------------------------------


def test_the_gravest_comes_first(lake, tmp_path):
    taken(lake, [folder_of(tmp_path / "findings", *map(network_finding, reversed(ALL)))])
    clusters = triage(lake, None)
    assert [each.gravity for each in clusters] == [
        *("crash", "hang", "harm", "service", "growth", "violation", "deviation")
    ]
    assert [each.where for each in clusters] == [
        *("KeyError in on_declare (router.py:7)", "PUSH + INTEREST", "D_SUBSCRIBER", "OAM", "QUERY", "ZI-015", SHOULD)
    ]
    assert all(each.repeat.startswith("goldwire replay ") for each in clusters)
    assert all(each.who == "node router" for each in clusters)


def test_one_fault_of_several_versions_says_of_which(lake, tmp_path):
    findings = [network_finding(DIES, version, seed) for seed, version in enumerate(("1.9.0", "1.11.0", "1.10.0"), 1)]
    outs = [folder_of(tmp_path / each.version, each) for each in findings]
    taken(lake, outs)
    (cluster,) = triage(lake, None)
    assert (cluster.count, cluster.different) == (3, 1)
    assert cluster.versions == ("1.9.0", "1.10.0", "1.11.0")
    assert (cluster.first, cluster.last) == ("2026-01-01T00:00:00+00:00", "2026-01-03T00:00:00+00:00")
    assert cluster.repeat == f"goldwire replay {outs[1] / cluster.example}", "the newest that has it"


@pytest.mark.parametrize(
    ("other", "clusters"),
    [
        (msgspec.structs.replace(HANGS, about=("INTEREST",)), 1),
        (msgspec.structs.replace(HANGS, about=("OAM",)), 2),
        (msgspec.structs.replace(HANGS, about=()), 2),
        (msgspec.structs.replace(HANGS, what="it does not start any more"), 2),
        (msgspec.structs.replace(HANGS, kind="service"), 2),
    ],
)
def test_what_says_no_place_is_one_fault_where_some_of_the_same_is_said(lake, tmp_path, other, clusters):
    out = folder_of(tmp_path / "findings", network_finding(HANGS), network_finding(other))
    taken(lake, [out])
    assert len(triage(lake, None)) == clusters


def test_two_places_are_two_faults_and_two_implementations_too(lake, tmp_path):
    elsewhere = crash(TRACEBACK.replace("on_declare", "on_interest"))
    out = folder_of(tmp_path / "one", network_finding(DIES), network_finding(elsewhere))
    other = folder_of(tmp_path / "two", network_finding(DIES, implementation="another"))
    taken(lake, [out, other])
    assert sorted((each.who, each.where) for each in triage(lake, None)) == [
        ("another router", "KeyError in on_declare (router.py:7)"),
        ("node router", "KeyError in on_declare (router.py:7)"),
        ("node router", "KeyError in on_interest (router.py:7)"),
    ]


def verdicts(lake, *whats, version="1.9.0", profile="document"):
    """Write judgements that accuse, each of a case of its own."""
    rows = [
        {"source": "run-1", "kind": "run", "origin": "live", "case": f"test_{number}", "rule": "ZI-015", "what": what}
        | {"outcome": "violation", "name": "node", "version": version, "role": "router", "profile": profile}
        | {"protocol": "zenoh", "entry": number}
        for number, what in enumerate(whats)
    ]
    with lake.stage("judge-1", "judge") as staging:
        staging.write(VERDICTS, VERDICTS.rows(rows))
        staging.commit()


@pytest.mark.parametrize("said", [BREAKS.what.replace("7", "12"), "assert [final, final] == [final]"])
def test_a_broken_rule_that_the_gate_shows_too_is_one_fault_with_it(lake, tmp_path, said):
    taken(lake, [folder_of(tmp_path / "findings", network_finding(BREAKS))])
    verdicts(lake, said)
    (cluster,) = triage(lake, None)
    assert (cluster.gravity, cluster.where, cluster.count) == ("violation", "ZI-015", 2)
    assert cluster.versions == ("1.9.0", "1.10.0")
    assert cluster.first == "2026-01-01T00:00:00+00:00"
    assert cluster.repeat == "goldwire test zenoh --iut node -k test_0", "a case is played again at once"


def test_a_broken_rule_stays_alone_where_it_is_not_known_which_of_several_faults_it_is(lake, tmp_path):
    taken(lake, [folder_of(tmp_path / "findings", network_finding(BREAKS))])
    verdicts(lake, "assert [final, final] == [final]", "the interest is never answered at all")
    assert sorted(each.count for each in triage(lake, None)) == [1, 1, 1]


def test_a_rule_that_is_broken_under_another_profile_is_another_matter(lake, tmp_path):
    taken(lake, [folder_of(tmp_path / "findings", network_finding(BREAKS))])
    verdicts(lake, BREAKS.what, profile="deployed")
    assert len(triage(lake, None)) == 2


def test_faults_are_the_same_whatever_order_things_came_in(tmp_path):
    outs = [
        folder_of(tmp_path / str(seed), *(network_finding(each, "1.9", seed) for each in ALL)) for seed in (1, 2, 3)
    ]
    answers = []
    for order in itertools.permutations(outs):
        lake = Lake(tmp_path / "-".join(out.name for out in order), create=True)
        taken(lake, order)
        answers.append(triage(lake, None))
    assert all(answer == answers[0] for answer in answers)
    assert [each.count for each in answers[0]] == [3] * len(ALL)


# --- the commands -----------------------------------------------------------------------------------------


def test_commands_from_a_folder_to_a_list(tmp_path):
    out, lake = folder_of(tmp_path / "findings", network_finding(DIES), network_finding(HANGS)), tmp_path / "lake"

    def call(*words):
        return CliRunner().invoke(pipeline, [*map(str, words), "--lake", str(lake)], standalone_mode=False)

    done = call("ingest", "zenoh", out)
    assert (done.return_value, done.stderr) == (0, "")
    assert f"{out}: 2 findings (findings-" in done.stdout
    done = call("triage")
    assert (done.return_value, done.stderr) == (0, "")
    first, second, third, fourth, *_ = done.stdout.splitlines()
    assert first == f"  1. crash     {DIES.place}, node router: {DIES.place}"
    assert second == "     1 times; version 1.10.0; since 2026-01-01T00:00:00+00:00"
    assert third == f"     goldwire replay {out}/zenoh-router-crash-{DIES.digest}"
    assert fourth.startswith("  2. hang      PUSH + INTEREST, node router: nobody is served any more")


def test_analysts_see_lists_and_moments_beside_findings_of_codecs(lake, found, tmp_path):
    pytest.importorskip("duckdb", reason="pipeline sql needs duckdb")
    from reports.lake.analysis import connected

    taken(lake, [folder_of(tmp_path / "findings", network_finding(HANGS)), Path(found[0])])
    with connected(lake) as connection:
        asked = "SELECT name, about, time, tests FROM findings WHERE origin = 'net'"
        ((name, about, time, tests),) = connection.execute(asked).fetchall()
        assert (name, about, time.year, tests) == ("node", ["PUSH", "INTEREST"], 2026, 4711)
        assert connection.execute("SELECT count(*) FROM findings WHERE about IS NULL").fetchall() == [(9,)]
