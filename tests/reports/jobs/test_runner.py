"""The jobs of the pipeline in one process: what is taken in, decoded, judged and summed up is what is there."""

import json
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import ENDED, PROTOCOLS, SAID, quiet, run_folder, started, taken  # noqa: E402

from conformance.recordings import judge  # noqa: E402
from conformance.run.records import CasePlayed  # noqa: E402
from conformance.suite import Suite  # noqa: E402
from conformance.verdicts import Disagreement, Judgement, Outcome  # noqa: E402
from harness.captures.recordings import Recording  # noqa: E402
from reports.commands.pipeline import pipeline  # noqa: E402
from reports.jobs import decode as decoding  # noqa: E402
from reports.jobs import ingest as ingesting  # noqa: E402
from reports.jobs import runner as jobs  # noqa: E402
from reports.jobs.ingest import IngestOptions  # noqa: E402
from reports.jobs.judge import SessionOrigin  # noqa: E402
from reports.lake.lake import Lake, LakeFailed  # noqa: E402
from reports.lake.rows import layout_of, recorded_in  # noqa: E402
from reports.lake.schemas import DECODED, FRAMES, LOSSES, RUNS, SESSIONS, VERDICTS, BadFile  # noqa: E402

GUILTY = {"zenoh": "ZI-015", "pathfinder": "PF-034", "urbit": "URB-036", "rai": "RAI-131"}
# --- ingest -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sessions_come_back_as_they_were_recorded(filled, captured, protocol, size):
    """However few of their rows come at once."""
    rows = filled.read(FRAMES, protocol=protocol)
    back = {}
    for _, recorded in recorded_in(jobs.ordered(rows).to_batches(size), protocol):
        back[recorded.source, recorded.number] = recorded.trace.entries, recorded.sound, recorded.name
    there = {
        (each.source, each.number): (each.trace.entries, each.sound, each.name)
        for path in captured[protocol]
        for each in Recording(path, protocol)
    }
    assert back == there
    assert len(filled.read(SESSIONS, protocol=protocol)) == len(there)


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_frames_of_json_come_with_the_names_of_their_messages(filled, size):
    """However few come at once, and from either side: a name stands beside the frame that it is said of."""
    frames, none = jobs.ordered(filled.read(FRAMES, protocol="pathfinder")), 0
    decode = decoding.decoder(layout_of("pathfinder"))
    for _, recorded in recorded_in(frames.to_batches(size), "pathfinder"):
        trace = recorded.trace
        refused, _, types = decode(pa.array([entry.data for entry in trace], pa.binary()))
        wanted = [None if why else name for why, name in zip(refused.to_pylist(), types.to_pylist(), strict=True)]
        assert trace.names == recorded.from_the_other_side().trace.names == wanted
        assert recorded.beginning(2).names == wanted[:2]
        none += wanted.count(None)
    assert 0 < none < len(frames)
    assert all(not recorded.trace.names for _, recorded in recorded_in(_zenoh(filled), "zenoh"))


def _zenoh(lake):
    return jobs.ordered(lake.read(FRAMES, protocol="zenoh")).to_batches(1000)


def test_what_was_taken_in_is_not_taken_in_again(tmp_path, captured):
    lake = Lake(tmp_path / "lake", create=True)
    first = taken(lake, captured["zenoh"][:3], "zenoh")
    copy = tmp_path / "other-name.pcapng"
    copy.write_bytes(captured["zenoh"][0].read_bytes())
    again = taken(lake, [*captured["zenoh"][:3], copy], "zenoh")
    assert [each.is_new for each in first] == [True] * 3
    assert [each.is_new for each in again] == [False] * 4
    assert len(lake.read(RUNS)) == 3


def test_a_recording_that_grows_while_it_is_read_is_not_taken_in(tmp_path, captured, monkeypatch):
    """It would be there again, under another name, once it is complete."""
    path = tmp_path / "a.pcapng"
    path.write_bytes(captured["zenoh"][0].read_bytes())
    named = ingesting.batch_of

    def naming(*words):
        name = named(*words)
        with path.open("ab") as file:
            file.write(captured["zenoh"][1].read_bytes())
        return name

    monkeypatch.setattr(ingesting, "batch_of", naming)
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, [path], "zenoh")
    assert done.trouble == f"{path} changed while it was read: take it in once it is complete"
    assert lake.batches() == []


def test_losses_are_rows(tmp_path, captured):
    whole = next(path for path in captured["zenoh"] if path.suffix == ".pcapng").read_bytes()
    cut, nonsense = tmp_path / "cut.pcapng", tmp_path / "nonsense.pcap"
    cut.write_bytes(whole[:-30])
    nonsense.write_bytes(b"this is a text\n" * 20)
    lake = Lake(tmp_path / "lake", create=True)
    done = taken(lake, [cut, nonsense], "zenoh")
    assert not [each.trouble for each in done if each.trouble]
    rows = {(row["source"], row["kind"]): row for row in lake.read(LOSSES).to_pylist()}
    assert (done[0].source, "cut off") in rows
    assert rows[done[1].source, "unreadable"]["bytes"] == len(nonsense.read_bytes())
    assert done[0].sessions > 0


def played(case, outcome, rule="ZI-031", disagreement=None, judged=True, unreached=()):
    judgements = [Judgement(rule, outcome, case, what="so", evidence=2, disagreement=disagreement)] if judged else []
    judgements += [Judgement(each, Outcome.INCONCLUSIVE, case, is_cut_short=True) for each in unreached]
    return CasePlayed(
        case=case, sentence="", file="f.py", line=1, rules=(rule,), outcome=outcome, judgements=tuple(judgements)
    )


def test_a_run_becomes_rows(tmp_path, captured):
    trace = [path for path in captured["zenoh"] if path.suffix == ".ndjson"]
    records = [
        started("aa01"),
        played("test_a.one", Outcome.PASS),
        played("test_a.two", Outcome.ERROR, judged=False),
        ENDED,
    ]
    folder = run_folder(tmp_path / "out", records, trace)
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, [folder], "zenoh")
    assert (done.source, done.verdicts, done.is_new) == ("run-aa01", 2, True)
    (run,) = lake.read(RUNS).to_pylist()
    assert (run["kind"], run["name"], run["exit"], run["cases"], run["interrupted"]) == ("run", "peer", 1, 2, False)
    assert run["sessions"] == done.sessions == len(lake.read(SESSIONS)) > 0
    said = {(row["case"], row["outcome"], row["rule"]) for row in lake.read(VERDICTS).to_pylist()}
    assert said == {("test_a.one", "pass", "ZI-031"), ("test_a.two", "error", "ZI-031")}
    assert [each.is_new for each in taken(lake, [folder], "zenoh")] == [False]


def test_a_run_that_was_killed_is_taken_as_far_as_it_came(tmp_path):
    folder = run_folder(tmp_path / "out", [started("aa02"), played("test_a.one", Outcome.PASS)])
    with (folder / "run.ndjson").open("ab") as file:
        file.write(b'{"record": "CasePl')
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, [folder], "zenoh")
    assert (done.verdicts, done.losses) == (1, ("cut off run.ndjson: 1",))
    assert lake.read(RUNS)["interrupted"].to_pylist() == [None]


def test_a_run_that_has_gone_on_since_is_not_passed_over(tmp_path):
    folder = run_folder(tmp_path / "out", [started("aa03"), played("test_a.one", Outcome.PASS)])
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, [folder], "zenoh")
    with (folder / "run.ndjson").open("ab") as file:
        file.write(b"{}\n")
    (done,) = taken(lake, [folder], "zenoh")
    assert done.trouble.startswith(f"{folder} is in the lake already, taken in otherwise: bytes of the journal '")
    assert not done.is_new


def test_a_capture_that_was_taken_in_otherwise_is_not_passed_over(tmp_path, captured):
    lake = Lake(tmp_path / "lake", create=True)
    path = next(path for path in captured["zenoh"] if path.suffix == ".pcapng")
    taken(lake, [path], "zenoh")
    options = IngestOptions(protocol="zenoh", transport="tcp")
    (done,) = jobs.ingest(lake, [path], options, None, quiet)
    assert done.trouble == (
        f"{path} is in the lake already, taken in otherwise: --link '', now 'tcp': take it into another lake"
    )


@pytest.mark.parametrize("what", ["rows", "manifest"])
def test_a_damaged_batch_is_mended_by_taking_it_in_again(tmp_path, captured, what):
    lake = Lake(tmp_path / "lake", create=True)
    done = taken(lake, captured["zenoh"][:2], "zenoh")
    before = sorted(map(str, lake.read(FRAMES).to_pylist()))
    file = lake.batch(done[0].source).pieces[-1].file if what == "rows" else f"batches/{done[0].source}.json"
    (lake.path / file).write_bytes(b"no longer")
    lake = Lake(lake.path)
    again = taken(lake, captured["zenoh"][:2], "zenoh")
    assert [(each.is_new, each.trouble) for each in again] == [(True, ""), (False, "")]
    assert not lake.damage
    assert sorted(map(str, lake.read(FRAMES).to_pylist())) == before


def test_two_processes_that_do_the_same_work_add_it_once(tmp_path, captured, monkeypatch):
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, captured["zenoh"][:2], "zenoh")
    began = jobs._NewBatches.stage

    def late(work):
        monkeypatch.setattr(jobs._NewBatches, "stage", began)
        staging = work.stage()
        taken(lake, captured["zenoh"][2:3], "zenoh")
        assert jobs.judge(lake, "zenoh", "document", None, quiet).of == 3
        return staging

    monkeypatch.setattr(jobs._NewBatches, "stage", late)
    with pytest.raises(LakeFailed, match="another process has meanwhile done 2 of 2 batches"):
        jobs.judge(lake, "zenoh", "document", None, quiet)
    assert [batch.of for batch in lake.batches() if batch.job == "judge"] == [
        tuple(sorted(batch.id for batch in lake.batches() if batch.job == "ingest"))
    ]


def test_what_is_nothing_costs_only_itself(tmp_path, captured):
    (tmp_path / "empty").mkdir()
    torn = run_folder(tmp_path / "torn", [started("aa03"), played("test_a.one", Outcome.PASS), ENDED])
    (torn / "run.ndjson").write_bytes(b"no record\n" + (torn / "run.ndjson").read_bytes())
    foreign = run_folder(tmp_path / "foreign", [started("aa04", protocol="pathfinder"), ENDED])
    lake = Lake(tmp_path / "lake", create=True)
    done = taken(lake, [tmp_path / "empty", torn, foreign, captured["zenoh"][0]], "zenoh")
    troubles = [each.trouble for each in done]
    assert "there is no run.ndjson in it" in troubles[0]
    assert "run.ndjson, line 1" in troubles[1]
    assert "is a run of pathfinder, not of zenoh" in troubles[2]
    assert troubles[3] == ""
    assert len(lake.batches()) == 1
    assert not list((lake.path / "staging").iterdir())


# --- decode and judge -------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_frame_is_decoded(filled, protocol):
    frames = [row for row in filled.read(FRAMES, protocol=protocol).to_pylist() if row["what"] == "frame"]
    rows = {(row["session"], row["seq"]): row for row in filled.read(DECODED, protocol=protocol).to_pylist()}
    assert rows.keys() == {(row["session"], row["seq"]) for row in frames}
    assert SAID.get(protocol, set()) <= {row["types"] for row in rows.values()}
    assert all(row["types"] or row["refused"] for row in rows.values()) == (protocol in SAID)


def test_columns_and_single_frames_name_the_same_messages(filled):
    """The two ways to decode agree, on whole frames and on broken ones."""
    pytest.importorskip("numpy", reason="masks need numpy")
    layout = layout_of("zenoh")
    tree = decoding.find(layout)
    frames = filled.read(FRAMES, protocol="zenoh")["data"].to_pylist()
    frames += [frame[: len(frame) // 2] for frame in frames[::3]] + [b"", b"\xff"]
    array = pa.array(frames, pa.binary())
    columnar = decoding.decoder(layout)
    assert isinstance(columnar, decoding._Columnar)
    by_one = decoding._ByOne(tree)(array)
    for one, other in zip(columnar(array), by_one, strict=True):
        assert one.to_pylist() == other.to_pylist()
    assert {"truncated", None} <= set(by_one[0].to_pylist())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_verdicts_are_those_of_an_audit(filled, captured, protocol):
    suite = Suite(protocol)
    there = {
        (each.case, each.rule, each.outcome.value, each.what, each.evidence, each.entry)
        for path in captured[protocol]
        for session in Recording(path, protocol)
        for each in judge(session, suite, "document")
    }
    rows = filled.read(VERDICTS, protocol=protocol).to_pylist()
    assert {
        tuple(row[name] for name in ("case", "rule", "outcome", "what", "evidence", "entry")) for row in rows
    } == there
    accused = {row["rule"] for row in rows if row["outcome"] == "violation"}
    assert GUILTY[protocol] in accused


def test_what_was_done_is_not_done_again(tmp_path, captured):
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, captured["zenoh"][:2], "zenoh")
    assert jobs.decode(lake, "zenoh", None, quiet).of == 2
    assert jobs.decode(lake, "zenoh", None, quiet) == jobs.JobResult()
    taken(lake, captured["zenoh"][:4], "zenoh")
    assert jobs.decode(lake, "zenoh", None, quiet).of == 2
    assert len(lake.read(DECODED)) == sum(lake.read(RUNS)["frames"].to_pylist())
    assert jobs.judge(lake, "zenoh", "document", None, quiet).of == 4
    assert jobs.judge(lake, "zenoh", "deployed", None, quiet).of == 4


def test_a_damaged_file_is_left_out_of_a_job_and_taken_once_it_is_whole(tmp_path, captured):
    lake = Lake(tmp_path / "lake", create=True)
    done = taken(lake, captured["zenoh"][:3], "zenoh")
    piece = next(each for each in lake.pieces(FRAMES) if each.file.split("/")[-1].startswith(done[1].source))
    whole = (lake.path / piece.file).read_bytes()
    (lake.path / piece.file).write_bytes(whole[:-4])
    assert jobs.decode(lake, "zenoh", None, quiet).of == 2
    assert list(lake.damage) == [piece.file]
    (lake.path / piece.file).write_bytes(whole)
    assert jobs.decode(Lake(lake.path), "zenoh", None, quiet).of == 1
    assert not any(row["refused"] for row in lake.read(DECODED).to_pylist())


def test_sessions_are_not_judged_while_it_cannot_be_read_whose_they_are(tmp_path, captured):
    """Else they would count for nobody, and for ever."""
    lake = Lake(tmp_path / "lake", create=True)
    done = list(jobs.ingest(lake, captured["zenoh"][:2], IngestOptions(protocol="zenoh", name="node"), None, quiet))
    piece = next(each for each in lake.pieces(RUNS) if each.file.split("/")[-1].startswith(done[1].source))
    whole = (lake.path / piece.file).read_bytes()
    (lake.path / piece.file).write_bytes(whole[:-4])
    assert jobs.judge(lake, "zenoh", "document", None, quiet).of == 1
    (lake.path / piece.file).write_bytes(whole)
    assert jobs.judge(Lake(lake.path), "zenoh", "document", None, quiet).of == 1
    assert set(Lake(lake.path).read(VERDICTS)["name"].to_pylist()) == {"node"}


def test_a_file_that_cannot_be_read_after_all_is_not_counted_as_seen(tmp_path, captured, monkeypatch):
    """As in a store that does not answer once."""
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, captured["zenoh"][:2], "zenoh")
    with monkeypatch.context() as patch:
        patch.setattr(lake, "_rows", Mock(side_effect=BadFile("cannot be read: timeout")))
        with pytest.raises(LakeFailed, match=r"timeout; nothing was added"):
            jobs.decode(lake, "zenoh", None, quiet)
    assert jobs.decode(Lake(lake.path), "zenoh", None, quiet).of == 2


# --- summary ----------------------------------------------------------------------------------------------


def test_summary_counts_and_does_not_count_twice(tmp_path, captured):
    trace = [path for path in captured["zenoh"] if path.name == "zenoh-bad.ndjson"]
    lake = Lake(tmp_path / "lake", create=True)
    for number, version in enumerate(["1", "1", "2"]):
        outcome = Outcome.VIOLATION if version == "2" else Outcome.PASS
        wavered = Disagreement("pass in 1 of 2, violation in 1 of 2", Outcome.VIOLATION, "so; and otherwise")
        cases_ = [
            played("test_a.one", outcome),
            played("test_a.two", Outcome.INCONCLUSIVE, disagreement=wavered if number == 1 else None),
        ]
        folder = run_folder(
            tmp_path / f"out{number}", [started(f"bb0{number}", version=version), *cases_, ENDED], trace
        )
        taken(lake, [folder], "zenoh")
    before = jobs.summary(lake, None)
    by_version = {row.version: row for row in before}
    assert by_version["1"].outcomes == {"pass": 2, "inconclusive": 2}
    assert (by_version["1"].judgements, by_version["1"].flaky) == (4, 1)
    low, high = by_version["1"].flaky_between
    assert 0.04 < low < 0.25 < high < 0.7
    assert by_version["2"].worst is Outcome.VIOLATION
    assert jobs.judge(lake, "zenoh", "document", None, quiet).rows["verdicts"] > 0
    assert jobs.summary(lake, None) == before, "a live run's traces were judged when it was live"


def test_what_a_case_did_not_reach_counts_only_where_no_other_case_of_the_run_came_to_it(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    cases_ = [
        played("test_a.one", Outcome.PASS, rule="ZI-012"),
        played("test_a.two", Outcome.VIOLATION, unreached=("ZI-012", "ZI-013")),
    ]
    taken(lake, [run_folder(tmp_path / "out", [started("bb04"), *cases_, ENDED])], "zenoh")
    found = {row.rule: row.outcomes for row in jobs.summary(lake, None)}
    assert found == {"ZI-012": {"pass": 1}, "ZI-013": {"inconclusive": 1}, "ZI-031": {"violation": 1}}


# --- the command ------------------------------------------------------------------------------------------


def call(*words):
    return CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)


def test_command_from_captures_to_a_summary(tmp_path, captured):
    lake = tmp_path / "lake"
    paths = captured["zenoh"]
    done = call("ingest", "zenoh", *paths, "--lake", lake, "--iut", "eclipse-zenoh==1.10.2:router")
    assert done.return_value == 0, done.output
    assert done.stderr == ""
    assert "sessions" in done.stdout
    assert "is in the lake already" in call("ingest", "zenoh", paths[0], "--lake", lake).stdout
    for job in ("decode", "judge"):
        done = call(job, "zenoh", "--lake", lake, "--master", "none")
        assert (done.return_value, done.stderr) == (0, "")
        assert f"from {len(paths)} batches" in done.stdout
    assert call("judge", "zenoh", "--lake", lake, "--master", "none").stdout == "no new sessions\n"
    done = call("summary", "--lake", lake)
    assert done.return_value == 0
    assert "ZI-015" in done.stdout
    assert "eclipse-zenoh 1.10.2 router, document" in done.stdout
    rows = json.loads(call("summary", "--lake", lake, "--json").stdout)["rules"]
    assert next(row for row in rows if row["rule"] == "ZI-015")["worst"] == "violation"


def test_command_says_what_is_damaged(tmp_path, captured):
    lake = tmp_path / "lake"
    call("ingest", "zenoh", *captured["zenoh"][:2], "--lake", lake)
    victim = next((lake / "frames").rglob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-1])
    done = call("decode", "zenoh", "--lake", lake, "--master", "none")
    assert done.return_value == 1
    assert f"Error: left out: {victim.relative_to(lake)}" in done.stderr
    assert "from 1 batches" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("decode", "zenoh", "--lake", "{lake}", "--master", "none"), 2, "is no lake"),
        (("judge", "klingon", "--lake", "{lake}"), 2, "unknown protocol 'klingon'"),
        (("ingest", "zenoh", "{file}", "--lake", "{lake}", "--server", "x"), 2, "no server"),
        (("ingest", "zenoh", "{folder}", "--lake", "{lake}"), 1, "holds no run"),
        (("ingest", "zenoh", "{file}", "--lake", "{lake}"), 1, "nothing of it can be read: is it a capture"),
    ],
)
def test_command_refuses_what_cannot_be(tmp_path, words, status, said):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    names = {"lake": tmp_path / "lake", "file": tmp_path / "file", "folder": tmp_path / "folder"}
    done = call(*(word.format(**names) for word in words))
    found = done.return_value if done.exception is None else done.exception.exit_code
    assert found == status
    assert said in (done.stderr if done.exception is None else str(done.exception))


def test_a_recording_of_another_protocol_is_nothing_to_work_on(tmp_path, captured):
    lake = tmp_path / "lake"
    done = call("ingest", "pathfinder", captured["zenoh"][0], "--lake", lake)
    assert done.return_value == 1
    assert "Error: there is nothing of pathfinder in what was taken in" in done.stderr
    done = call("decode", "pathfinder", "--lake", lake)
    assert done.return_value == 1
    assert "has no frames of pathfinder" in done.stderr


def test_an_empty_lake_has_no_summary(tmp_path):
    Lake(tmp_path / "lake", create=True)
    done = call("summary", "--lake", tmp_path / "lake")
    assert done.return_value == 1
    assert "there are no verdicts" in done.stderr


def test_who_was_described_is_one_side_only():
    suite = Suite("pathfinder")
    server = SessionOrigin("capture", "acme", "2.0", "server")
    client = SessionOrigin("capture", "acme", "2.0", "client")
    of_a_run = SessionOrigin("run", "acme", "2.0", "client")
    assert server.seen_from("listening", suite) == server
    assert server.seen_from("dialling", suite) == SessionOrigin("capture", role="dialling")
    assert client.seen_from("dialling", suite) == client
    assert client.seen_from("listening", suite) == SessionOrigin("capture", role="listening")
    assert of_a_run.seen_from("listening", suite) == of_a_run, "in the traces of a run it is who was tested"
