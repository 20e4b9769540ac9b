"""``goldwire audit`` of large captures: through Spark where it is installed, with the same report as without."""

import json
import random
import re
import shutil
from importlib.util import find_spec

import pytest
from click.testing import CliRunner
from recorded_plays import damaged, mixed, pcap

from reports.commands.audit import audit

TOOK = re.compile(r"(\d+ min )?[\d.]+ s(;|$)")


def run(*arguments):
    result = CliRunner().invoke(audit, [*map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    # But for the line that says how long it took, and where the report is.
    told = [line for line in result.stdout.splitlines() if not TOOK.match(line)]
    return result.return_value, "\n".join(told), result.stderr


def report(folder):
    """Return what a report says, but for times."""
    records = [json.loads(line) for line in (folder / "run.ndjson").read_text().splitlines()]
    for record in records:
        for name in ("run", "time", "seconds"):
            record.pop(name, None)
    kept = {path.name: path.read_bytes() for path in (folder / "traces").iterdir() if not path.name.startswith(".")}
    return records, json.loads((folder / "recordings.json").read_text()), kept


@pytest.fixture
def captures(tmp_path, plays):
    """Return a protocol and captures: a large one with damage, its copy of the same name, a small one, garbage."""
    protocol, played = plays
    dice = random.Random(3)
    paths = [tmp_path / "a.pcap", tmp_path / "copy" / "a.pcap", tmp_path / "b.pcap", tmp_path / "garbage.pcap"]
    paths[0].write_bytes(pcap(damaged(mixed(played, dice), dice))[:-3])
    paths[1].parent.mkdir()
    shutil.copy(paths[0], paths[1])
    paths[2].write_bytes(pcap([(data, len(data)) for data in mixed(played, dice)]))
    paths[3].write_bytes(b"this is no capture" * 9)
    return protocol, paths


@pytest.mark.spark
@pytest.mark.skipif(find_spec("pyspark") is None, reason="needs goldwire[spark]")
def test_report_is_the_same_through_spark(tmp_path, monkeypatch, captures):
    from reports.jobs import partitioned_ingest as split

    protocol, paths = captures
    monkeypatch.setattr(split, "SPLIT", 10_000)
    common = (protocol, *paths, "--judge", "both", "--report")
    here = run(*common, tmp_path / "here", "--master", "none")
    there = run(*common, tmp_path / "there", "--spark-from", "0", "--master", "local[2]", "--memory", "1024")
    assert there == here
    records, recordings, kept = report(tmp_path / "here")
    assert report(tmp_path / "there") == (records, recordings, kept)
    assert {record.get("outcome") for record in records} >= {"pass", "violation", "inconclusive"}
    assert kept
    assert {loss["kind"] for told in recordings for loss in told["losses"]} >= {"cut off", "unreadable", "gaps"}


def test_without_spark_a_large_capture_is_judged_in_this_process(tmp_path, monkeypatch, captures):
    pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
    from reports.jobs import spark

    protocol, paths = captures
    monkeypatch.setattr(spark, "find_spec", lambda name: None if name == "pyspark" else object())
    plain = run(protocol, paths[2])
    assert plain[2] == ""
    status, out, err = run(protocol, paths[2], "--spark-from", "1")
    assert (status, out) == plain[:2]
    assert err.count("\n") == 1
    assert "judged in this process" in err
    assert "needs pyspark: pip install 'goldwire[spark]'" in err
    assert run(protocol, paths[2], "--spark-from", "1", "--session", "1")[2] == "", "of one session no more is judged"
    assert run(protocol, paths[2], "--spark-from", "1", "--master", "none")[2] == ""


def test_settings_of_spark_are_passed_on(monkeypatch, captures):
    pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
    from reports.jobs import spark
    from reports.jobs import spark_audit as hearing

    protocol, paths = captures
    said = []

    def started(master, *, settings, **more):
        said.append(settings)
        raise spark.SparkFailed("there is none")

    monkeypatch.setattr(hearing, "started", started)
    run(protocol, paths[2], "--spark-from", "0", "--conf", "spark.executor.memory=2g")
    assert said == [{"spark.executor.memory": "2g"}]


def test_what_spark_could_not_take_in_is_judged_in_this_process(capsys, captures):
    pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
    from harness.captures.recordings import Recording
    from reports.commands.audit import _record_judged
    from reports.jobs.spark_audit import NotJudged

    protocol, paths = captures

    def judged_recording(path, name):
        raise NotJudged(f"{path}: No space left on device")

    assert not _record_judged(None, judged_recording, Recording(paths[0], protocol), "listening", [])
    assert capsys.readouterr().err.endswith("a.pcap: No space left on device\n")


@pytest.mark.parametrize(
    ("size", "bytes_"),
    [("0", 0), ("12", 12), ("3 kB", 3000), ("256MiB", 256 << 20), ("2G", 2 * 10**9), ("1tib", 1 << 40)],
)
def test_sizes(size, bytes_):
    from reports.commands.sizes import size as read

    assert read(None, None, size) == bytes_


@pytest.mark.parametrize("arguments", [("--spark-from", "much"), ("--spark-from", "0", "--master", "nowhere")])
def test_wrong_usage(captures, arguments):
    pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
    protocol, paths = captures
    result = CliRunner().invoke(audit, [protocol, str(paths[2]), *arguments])
    assert result.exit_code == 2
    assert "is no " in result.output
