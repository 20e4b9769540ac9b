"""Large captures in a lake: taken in by several tasks they become the rows that one makes, whatever befalls a task."""

import json
import random
import signal
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

import msgspec
from click.testing import CliRunner
from recorded_plays import damaged, mixed, pcap

from harness.protocol import load as load_protocol
from reports.commands.pipeline import pipeline
from reports.jobs import partitioned_ingest as split
from reports.jobs import runner as jobs
from reports.jobs.ingest import IngestOptions, batch_of, ingest, settings_of
from reports.jobs.partitioned_ingest import PartitionedCapture, PartitionResult, run_task
from reports.lake.lake import Lake
from reports.lake.schemas import FRAMES, LOSSES, RUNS, SESSIONS, TABLES


def rows(lake, table):
    return sorted(map(repr, lake.read(table).to_pylist()))


def all_rows(lake):
    return {name: rows(lake, table) for name, table in TABLES.items()}


@pytest.fixture(scope="module")
def capture(plays, tmp_path_factory):
    """Return a protocol, a capture with damage of all kinds, and the lake that one task makes of it."""
    protocol, played = plays
    path, dice = tmp_path_factory.mktemp("capture") / "a.pcap", random.Random(5)
    path.write_bytes(pcap(damaged(mixed(played, dice), dice))[:-7])
    lake = Lake(tmp_path_factory.mktemp("lakes") / "whole", create=True)
    told = ingest(lake, path, IngestOptions(protocol=protocol))
    assert told.is_new
    return protocol, path, lake, told


def begun(lake, path, protocol, of):
    """Stage a capture's batch as the driver does; return it with the work of each task."""
    options = IngestOptions(protocol=protocol)
    staging = lake.stage(batch_of(path, "capture", protocol), "ingest", settings=settings_of(path, options))
    its = PartitionedCapture(staging, path, options, of, path.stat().st_size)
    return its, [msgspec.json.encode(work) for work in its.work(staging.path)]


def parts(lines):
    return [msgspec.json.decode(line, type=PartitionResult) for line in lines]


@pytest.mark.parametrize("of", [2, 7])
def test_several_tasks_make_the_rows_of_one(tmp_path, capture, of):
    protocol, path, whole, told = capture
    lake = Lake(tmp_path / "lake", create=True)
    its, works = begun(lake, path, protocol, of)
    assert its.commit(parts(map(run_task, works))) == told
    assert all_rows(lake) == all_rows(whole)
    assert lake.batches()[0].settings == whole.batches()[0].settings
    assert not list((lake.path / "staging").iterdir())


KILLED = """
import os, signal, sys
from reports.jobs import partitioned_ingest as split

def finish(self):
    {before}
    os.kill(os.getpid(), signal.SIGKILL)

finished, split.{its}.finish = split.{its}.finish, finish
split.run_task(sys.stdin.buffer.read())
"""


def test_a_task_that_is_killed_and_one_that_runs_twice_change_nothing(tmp_path, capture):
    """One is killed in the middle of its work, another when it had done it; both are tried again."""
    protocol, path, whole, told = capture
    lake = Lake(tmp_path / "lake", create=True)
    its, works = begun(lake, path, protocol, 3)
    for its_class, before in (("SessionWriter", "self._flush()"), ("Files", "finished(self)")):
        code = KILLED.format(its=its_class, before=before)
        killed = subprocess.run([sys.executable, "-c", code], input=works[1], check=False)
        assert killed.returncode == -signal.SIGKILL
    assert list(its._staging.path.rglob("share-0001*")), "it has left something behind"
    assert lake.batches() == []
    done = [run_task(work) for work in works]
    assert run_task(works[2]) == done[2]
    assert its.commit(parts(done)) == told
    assert all_rows(lake) == all_rows(whole)
    assert not list((lake.path / "staging").iterdir())
    assert len(list(lake.path.rglob("*.*.*"))) == 0, "no draft is left"


def test_a_capture_that_grows_while_it_is_read_is_not_taken_in(tmp_path, capture):
    protocol, path, *_ = capture
    copy = tmp_path / "a.pcap"
    copy.write_bytes(path.read_bytes())
    lake = Lake(tmp_path / "lake", create=True)
    its, works = begun(lake, copy, protocol, 2)
    first = run_task(works[0])
    with copy.open("ab") as file:
        file.write(bytes(16))
    told = its.commit(parts([first, run_task(works[1])]))
    assert "changed while it was read" in told.trouble
    assert lake.batches() == []


def test_a_capture_that_has_grown_since_it_was_named_is_not_taken_in(tmp_path, capture):
    protocol, path, *_ = capture
    copy = tmp_path / "a.pcap"
    copy.write_bytes(path.read_bytes())
    its, works = begun(Lake(tmp_path / "lake", create=True), copy, protocol, 2)
    copy.write_bytes(path.read_bytes() + bytes(16))
    assert "changed while it was read" in its.commit(parts(map(run_task, works))).trouble


def test_trouble_of_one_share_is_the_trouble_of_the_capture(tmp_path, capture):
    protocol, path, *_ = capture
    lake = Lake(tmp_path / "lake", create=True)
    its, works = begun(lake, path, protocol, 2)
    gone = msgspec.json.decode(works[1], type=split.IngestTask)
    trouble = split.ingest_partition(msgspec.structs.replace(gone, path=str(tmp_path / "gone.pcap")))
    told = its.commit([*parts([run_task(works[0])]), trouble])
    assert told.trouble == f"{tmp_path / 'gone.pcap'}: No such file or directory"
    assert lake.batches() == []


def test_a_worker_that_does_not_see_the_lake_is_trouble_and_not_rows_that_are_missing(tmp_path, capture):
    protocol, path, *_ = capture
    lake = Lake(tmp_path / "lake", create=True)
    its, works = begun(lake, path, protocol, 2)
    elsewhere = msgspec.json.decode(works[1], type=split.IngestTask)
    lost = split.ingest_partition(msgspec.structs.replace(elsewhere, staged=str(tmp_path / "elsewhere")))
    told = its.commit([*parts([run_task(works[0])]), lost])
    assert "every machine needs the lake at the same path" in told.trouble
    assert not (tmp_path / "elsewhere").exists()
    assert lake.batches() == []


def test_sessions_say_when_and_between_whom(capture):
    protocol, _, lake, told = capture
    assert len(lake.read(FRAMES)) > 0
    found = lake.read(SESSIONS).to_pylist()
    assert len(found) == told.sessions
    assert all(row["began"] > 1.6e9 and row["port"] and row["other_port"] for row in found)
    # Nothing says that datagrams have ended.
    assert {row["ended"] is None for row in found} == ({True, False} if load_protocol(protocol).framings else {True})
    (run,) = lake.read(RUNS).to_pylist()
    assert run["packets"] > 100
    losses = lake.read(LOSSES).to_pylist()
    assert len({(row["session"], row["kind"], row["what"]) for row in losses}) == len(losses) > 0, "each is there once"


def test_progress_is_told_in_megabytes(tmp_path, monkeypatch, capture):
    protocol, path, *_ = capture
    said = []
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = jobs.ingest(lake, [path], IngestOptions(protocol=protocol), None, lambda *each: said.append(each))
    assert done.is_new
    assert said[-1] == (1, 1)


def test_command_judges_either_side(tmp_path, capture):
    protocol, path, *_ = capture
    lake = tmp_path / "lake"

    def call(*words):
        done = CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)
        assert (done.return_value, done.stderr) == (0, ""), done
        return done.stdout

    call("ingest", protocol, path, "--lake", lake)
    assert "rows of verdicts, from 1 batches" in call("judge", protocol, "--lake", lake, "--master", "none")
    both = call("judge", protocol, "--lake", lake, "--master", "none", "--judge", "both").splitlines()
    # The side that is judged if nothing is said has been judged; the other has not.
    before, after = both if load_protocol(protocol).usual_side == "listening" else reversed(both)
    assert before == "no new sessions"
    assert "rows of verdicts, from 1 batches" in after
    assert call("judge", protocol, "--lake", lake, "--master", "none", "--judge", "dialling") == "no new sessions\n"
    said = call("judge", protocol, "--lake", lake, "--master", "none", "--judge", "both", "--json")
    assert json.loads(said) == [{"batch": "", "of": 0, "rows": {}}] * 2
