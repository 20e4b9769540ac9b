"""``goldwire audit``: a recording is judged as the live run was; the guilty are accused and nobody else."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from proxied import proxied
from recorded_plays import JUDGED

from conformance.cases import cases
from conformance.engine.play import play
from conformance.recordings import judge
from conformance.run.journal import read
from conformance.run.records import CasePlayed
from conformance.suite import Suite
from conformance.verdicts import Outcome, worst
from harness.captures.losses import Missing
from harness.captures.recordings import Recording
from harness.captures.traces import write_pcapng
from harness.iuts.description import resolve
from harness.protocol import load as load_protocol
from harness.trace import write_ndjson
from reports.commands.audit import audit
from reports.exports import html, junit

SUITES = {protocol: Suite(protocol) for protocol in JUDGED}


def by_monitors(judgements):
    """Return the worst that monitors said, by rule."""
    said = {}
    for each in judgements:
        if each.by == "monitor":
            said.setdefault(each.rule, []).append(each.outcome)
    return {rule: worst(outcomes) for rule, outcomes in said.items()}


def recorded(path, protocol):
    return [each for session in Recording(path, protocol) for each in judge(session, SUITES[protocol], "document")]


def in_memory(protocol, role, chosen, make=None):
    """Play cases against a peer in memory; yield each case's result."""
    suite = SUITES[protocol]
    world = suite.harness.world((make or suite.harness.roles[role]).of, role)
    for number, case in enumerate(chosen, 1):
        if not world.alive():
            world.restart()
        yield case, play(case, world, suite, profile="document", number=number)


HISTORIES = ("[1]", "[2]")


def playable(protocol, role, pattern=""):
    return [
        case
        for case in cases(protocol)
        if case.fits(role, SUITES[protocol].harness.usual_transport)
        # Of histories two of each kind: they are alike to who judges a recording, and each is as long as many cases.
        and (not case.marks.is_seeded or case.name.endswith(HISTORIES))
        and (pattern in case.name or any(pattern in rule for rule in case.marks.rules))
    ]


# --- as live ----------------------------------------------------------------------------------------------


@pytest.mark.slow  # every case is played, and judged twice
@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder", "rai"])  # of datagrams a capture proves less
def test_recordings_of_every_case_are_judged_as_it_was(tmp_path, protocol):
    """Whatever a monitor said of a case that our own peer played, it says of its capture, and of its trace in lines."""
    role = JUDGED[protocol]
    seen = set()
    for case, result in in_memory(protocol, role, playable(protocol, role)[::3]):
        live = by_monitors(result.judgements)
        seen |= live.keys()
        write_pcapng(result.trace, tmp_path / "a.pcapng", SUITES[protocol].harness.framings)
        write_ndjson(result.trace, tmp_path / "a.ndjson")
        for path in (tmp_path / "a.pcapng", tmp_path / "a.ndjson"):
            said = by_monitors(recorded(path, protocol))
            # What came while the sessions were torn down is in the recording too.
            assert {rule: said.get(rule) for rule in live} == live, f"{case.name}, {path.name}"
            assert not [rule for rule, outcome in said.items() if outcome.accuses], case.name
    assert len(seen) > 15


REAL = os.environ.get("GOLDWIRE_REAL_NODES", "").split()


@pytest.mark.parametrize(
    ("protocol", "iut", "pattern"),
    [
        ("zenoh", "peer:router", "test_modes"),
        pytest.param("pathfinder", "peer:server", "test_subscribe", marks=pytest.mark.slow(seconds=6)),
    ]
    + [pytest.param("zenoh", iut, "", marks=pytest.mark.slow(seconds=20)) for iut in REAL],
)
def test_capture_of_a_proxy_agrees_with_the_live_run(tmp_path, protocol, iut, pattern):
    """Rule by rule, over real sockets; GOLDWIRE_REAL_NODES="eclipse-zenoh==1.10.2:router" adds real nodes."""
    suite, role = SUITES[protocol], JUDGED[protocol]
    path = tmp_path / "live.pcapng"
    live = []
    node = suite.harness.instance(resolve(iut, protocol), profile="document")
    try:
        with proxied(node._running.address("tcp"), path) as address:
            remote = suite.harness.instance(resolve(f"{address}:{role}", protocol), profile="document")
            for number, case in enumerate(playable(protocol, role, pattern), 1):
                result = play(case, remote, suite, profile="document", number=number)
                live += result.judgements
            remote.stop()
    finally:
        node.stop()
    source = Recording(path, protocol)
    said = by_monitors(each for session in source for each in judge(session, suite, "document"))
    assert source.losses.all() == () or {loss.kind for loss in source.losses.all()} == {Missing.FOREIGN}
    wanted = by_monitors(live)
    assert len(wanted) > 10
    assert {rule: said.get(rule) for rule in wanted} == wanted
    accused = {rule for rule, outcome in said.items() if outcome.accuses}
    assert accused == {rule for rule, outcome in wanted.items() if outcome.accuses}


# --- the guilty -------------------------------------------------------------------------------------------


GUILTY = {
    "zenoh": (
        "short-interest-id",
        "updates-under-interest-id",
        "alias-after-use",
        "one-subscriber-id",
        "two-finals",
        "snapshot-for-future",
        "final-for-others",
        "keyless-tokens",
    ),
    "pathfinder": (
        "services-of-each",
        "negative-subscriptions",
        "any-size",
        "no-ttl",
        "not-ready",
        "textual-time",
        "ping-with-time",
        "accepting-late",
        "relentless",
    ),
    "urbit": ("signs-as-another", "signs-as-requests", "signs-the-first", "swaps-no-ticks"),
    "rai": ("repeats-no-time", "one-return-less", "no-prefix", "asks-without-return"),
}


FEW = 3
"""Cases of a rule that are played against a fault, where more of them ask for it: any of them shows it."""


@pytest.mark.parametrize(("protocol", "name"), [(protocol, name) for protocol in GUILTY for name in GUILTY[protocol]])
def test_guilty_are_accused(tmp_path, protocol, name):
    """What the monitors accuse a faulty peer of, when it is live, they accuse it of in captures of the same plays."""
    suite, fault = SUITES[protocol], load_protocol(protocol).faults.all[name]
    rules = {monitor.rule for monitor in suite.monitors} & set(fault.rules)
    live, said = [], []
    for rule in sorted(rules):
        asked = playable(protocol, fault.role, rule)
        for _, result in in_memory(protocol, fault.role, asked[:: 1 + len(asked) // FEW], fault.peer):
            live += result.judgements
            write_pcapng(result.trace, tmp_path / "a.pcapng", suite.harness.framings)
            said += recorded(tmp_path / "a.pcapng", protocol)
    accused = {rule for rule, outcome in by_monitors(live).items() if outcome.accuses}
    found = {rule for rule, outcome in by_monitors(said).items() if outcome.accuses}
    assert accused & rules
    assert accused & rules <= found


# --- the command ------------------------------------------------------------------------------------------


def captured(path, protocol, pattern, make=None):
    """Write the capture of some cases, one after the other."""
    role = JUDGED[protocol]
    parts = []
    for _, result in in_memory(protocol, role, playable(protocol, role, pattern), make):
        write_pcapng(result.trace, path, SUITES[protocol].harness.framings)
        parts.append(path.read_bytes())
    path.write_bytes(b"".join(parts))
    return path


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return captured(tmp_path_factory.mktemp("good") / "good.pcapng", "zenoh", "test_current")


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    fault = load_protocol("zenoh").faults.all["updates-under-interest-id"]
    return captured(tmp_path_factory.mktemp("bad") / "bad.pcapng", "zenoh", "test_modes", fault.peer)


def run(*arguments):
    result = CliRunner().invoke(audit, [*map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.output


def test_report_is_that_of_a_live_run(tmp_path, good, bad):
    status, text = run("zenoh", good, "--report", tmp_path)
    assert status == 0, text
    assert "good.pcapng:" in text
    assert "AS EXPECTED" in text
    status, text = run("zenoh", good, bad, "--report", tmp_path)
    assert status == 1
    assert "FAIL  ZI-072" in text
    records, torn = read(tmp_path / "run.ndjson")
    assert torn == ""
    played = [record for record in records if isinstance(record, CasePlayed)]
    guilty = [record for record in played if record.outcome is Outcome.VIOLATION]
    assert guilty
    for each in guilty:
        assert each.case.startswith("audit.bad_pcapng#")
        assert (tmp_path / "traces" / f"{each.trace}.pcapng").exists()
    summary = json.loads((tmp_path / "summary.json").read_bytes())
    assert summary["rules"]["ZI-072"]["outcome"] == "violation"
    assert {rule["reason"] for rule in summary["rules"].values()} >= {"the recordings had no occasion to judge it"}
    told = json.loads((tmp_path / "recordings.json").read_bytes())
    assert [each["source"] for each in told] == [str(good), str(bad)]
    html.export(tmp_path)
    junit.export(tmp_path)
    # What the report says will show it again does.
    first = guilty[0]
    _, again = run(*first.reproduce.split()[2:])
    assert "1 case played" in again
    status, _ = run("zenoh", tmp_path / "traces" / f"{first.trace}.ndjson")
    assert status == 1


def test_known_deviations_are_expected(tmp_path, bad):
    path = tmp_path / "known.toml"
    status, text = run("zenoh", bad, "--json")
    summary = json.loads(text)["summary"]
    failing = {rule: said for rule, said in summary["rules"].items() if said["verdict"] == "FAIL"}
    entries = [
        f'[[expect]]\nrule = "{rule}"\noutcome = "{said["outcome"]}"\nreason = "so it is"\n'
        for rule, said in failing.items()
    ]
    path.write_text("".join(entries) + '[[expect]]\nrule = "ZI-055"\noutcome = "violation"\nreason = "not seen here"\n')
    status, text = run("zenoh", bad, "--expectations", path)
    assert status == 0, text
    assert "known failure" in text


def test_damage_costs_only_itself(tmp_path, good):
    """A good capture beside garbage, a truncated one and one of another protocol: all named, and judged as alone."""
    (tmp_path / "garbage.pcap").write_bytes(b"nothing of use" * 10)
    data = good.read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(data[: len(data) // 2 + 1])
    other = captured(tmp_path / "other.pcapng", "pathfinder", "test_ping")
    status, text = run("zenoh", good, tmp_path / "garbage.pcap", tmp_path / "cut.pcapng", other, "--json")
    assert status == 0
    told = json.loads(text)
    losses = {Path(each["source"]).name: {loss["kind"] for loss in each["losses"]} for each in told["recordings"]}
    assert losses["good.pcapng"] == set()
    assert losses["garbage.pcap"] == {"unreadable"}
    assert "cut off" in losses["cut.pcapng"]
    assert losses["other.pcapng"] == {"of another protocol"}
    alone = json.loads(run("zenoh", good, "--json")[1])["summary"]["counts"]
    assert told["summary"]["counts"] == alone


def test_what_is_behind_a_loss_accuses_nobody(tmp_path, bad):
    """With the beginning of every session cut away, what looks like a violation may not be one."""
    sessions = list(Recording(bad, "zenoh"))
    suite = SUITES["zenoh"]
    assert any(each.outcome.accuses for session in sessions for each in judge(session, suite, "document"))
    for session in sessions:
        blind = type(session)(**{name: getattr(session, name) for name in session.__struct_fields__} | {"sound": 0})
        said = judge(blind, suite, "document")
        assert not any(each.outcome.accuses for each in said)
        wanted = [each.rule for each in judge(session, suite, "document")]
        assert [each.rule for each in said] == wanted
        late = session.sound - 1
        nearly = type(session)(**{name: getattr(session, name) for name in session.__struct_fields__} | {"sound": late})
        whole = by_monitors(judge(session, suite, "document"))
        assert by_monitors(judge(nearly, suite, "document")) == whole, "the loss is behind all that was said"


def test_nothing_to_judge(tmp_path, good):
    (tmp_path / "empty.pcap").write_bytes(b"")
    status, text = run("zenoh", tmp_path / "empty.pcap")
    assert status == 1
    assert "nothing was judged: there is no session of zenoh" in text
    status, text = run("zenoh", good, "--server", "1")
    assert status == 1
    assert "nobody speaks with 1 in what was recorded; leave out --server" in text
    status, text = run("zenoh", good, "--session", "9999")
    assert status == 1
    assert "no session of zenoh begins at packet 9999" in text
    status, text = run("pathfinder", good)
    assert status == 1
    assert "of another protocol" in text


def test_both_sides(good):
    for side, cases_per_session in (("listening", 1), ("server", 1), ("client", 1), ("both", 2)):
        _, text = run("zenoh", good, "--judge", side, "--json")
        told = json.loads(text)
        assert told["summary"]["played"] == cases_per_session * told["recordings"][0]["sessions"]


def test_files_of_one_name(tmp_path, good):
    (tmp_path / "x").mkdir()
    shutil.copy(good, tmp_path / "x" / good.name)
    run("zenoh", good, tmp_path / "x" / good.name, "--report", tmp_path / "report")
    records, _ = read(tmp_path / "report" / "run.ndjson")
    names = [record.case for record in records if isinstance(record, CasePlayed)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense", "FILE"], "unknown protocol"),
        (["zenoh", "missing.pcap"], "does not exist"),
        (["zenoh", "FILE", "--server", "nowhere"], "is no server"),
        (["zenoh", "FILE", "--iut", "nobody"], "unknown implementation"),
        (["zenoh", "FILE", "--expectations", "missing.toml"], "cannot be read"),
    ],
)
def test_wrong_usage(good, arguments, said):
    result = CliRunner().invoke(audit, [str(good) if each == "FILE" else each for each in arguments])
    assert result.exit_code == 2
    assert said in result.output
