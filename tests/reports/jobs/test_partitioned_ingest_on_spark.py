"""Large captures on Spark: split among tasks they become the rows that one process makes."""

import os
import random
import signal
import zlib

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")

from lake_contents import quiet
from recorded_plays import damaged, mixed, pcap
from test_partitioned_ingest import all_rows

from reports.jobs import partitioned_ingest as split
from reports.jobs import runner as jobs
from reports.jobs import spark
from reports.jobs.ingest import IngestOptions
from reports.lake.lake import Lake
from reports.lake.schemas import FRAMES

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session():
    with spark.started("local[2,3]", memory=1024) as running:  # a task may fail twice
        yield running


def test_a_large_capture_beside_small_ones(session, tmp_path, monkeypatch, plays):
    """Two that are split, one of them in the file twice, a small one, and one that is not there any more."""
    protocol, played = plays
    paths = []
    for number, count in enumerate((12, 11, 2)):
        dice = random.Random(number)
        paths.append(tmp_path / f"{number}.pcap")
        paths[-1].write_bytes(pcap(damaged(mixed(played[:count], dice), dice))[: -3 if number else None])
    monkeypatch.setattr(split, "SPLIT", paths[2].stat().st_size)
    copy, gone = tmp_path / "copy.pcap", tmp_path / "gone.pcap"
    copy.write_bytes(paths[0].read_bytes())
    wanted = Lake(tmp_path / "here", create=True)
    options, said = IngestOptions(protocol=protocol), []
    here = list(jobs.ingest(wanted, [*paths, copy, gone], options, None, quiet))
    lake = Lake(tmp_path / "there", create=True)
    there = list(jobs.ingest(lake, [*paths, copy, gone], options, session, lambda *each: said.append(each)))
    assert there == here
    assert [each.is_new for each in there] == [True, True, True, False, False]
    assert "gone.pcap: No such file" in there[-1].trouble
    assert all_rows(lake) == all_rows(wanted)
    assert len(lake.pieces(FRAMES)) > len(wanted.pieces(FRAMES))
    assert said[-1] == (1, 1)
    assert list((lake.path / "staging").iterdir()) == []
    assert [each.is_new for each in jobs.ingest(lake, paths, options, session, quiet)] == [False] * 3


def test_workers_that_die_change_nothing(session, tmp_path, monkeypatch, plays):
    """The worker of one task dies at its beginning, that of another when all is written and nobody told of it."""
    protocol, played = plays
    path, dice = tmp_path / "a.pcap", random.Random(7)
    path.write_bytes(pcap(damaged(mixed(played, dice), dice)))
    wanted, lake = Lake(tmp_path / "here", create=True), Lake(tmp_path / "there", create=True)
    options = IngestOptions(protocol=protocol)
    here = list(jobs.ingest(wanted, [path], options, None, quiet))

    def dying(work):
        from reports.jobs import partitioned_ingest as real

        number = real.msgspec.json.decode(work, type=real.IngestTask).partition.number
        before = tmp_path / f"died-{number}"
        if before.exists():
            return real.run_task(work)
        before.touch()
        if number == 1:
            real.run_task(work)
        return os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(split, "run_task", dying)
    monkeypatch.setattr(split, "SPLIT", path.stat().st_size // 2 + 1)
    assert list(jobs.ingest(lake, [path], options, session, quiet)) == here
    assert sorted(each.name for each in tmp_path.glob("died-*")) == ["died-0", "died-1"]
    assert all_rows(lake) == all_rows(wanted)
    assert list((lake.path / "staging").iterdir()) == []


def test_either_side_is_judged_once(session, tmp_path, plays):
    protocol, played = plays
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap([(data, len(data)) for data in mixed(played, random.Random(2))]))
    lakes = []
    for name, running in (("here", None), ("there", session)):
        lake = Lake(tmp_path / name, create=True)
        list(jobs.ingest(lake, [path], IngestOptions(protocol=protocol), running, quiet))
        for side in ("listening", "dialling"):
            assert jobs.judge(lake, protocol, "document", running, quiet, side).of == 1
            assert jobs.judge(lake, protocol, "document", running, quiet, side) == jobs.JobResult()
        lakes.append(lake)
    assert all_rows(lakes[0]) == all_rows(lakes[1])
    assert any(".dialling" in row for row in all_rows(lakes[0])["verdicts"])
    assert any(".dialling" not in row for row in all_rows(lakes[0])["verdicts"])


def test_a_file_that_is_no_parquet_costs_only_its_batch(session, tmp_path, plays):
    """Its size and its checksum are those that the batch says."""
    protocol, played = plays
    lake = Lake(tmp_path / "lake", create=True)
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}.pcap")
        paths[-1].write_bytes(pcap([(data, len(data)) for _, data in played[number]]))
    list(jobs.ingest(lake, paths, IngestOptions(protocol=protocol), None, quiet))
    victim = lake.pieces(FRAMES)[0]
    garbage = bytes(victim.bytes)
    (lake.path / victim.file).write_bytes(garbage)
    manifest = next(path for path in (lake.path / "batches").iterdir() if victim.file in path.read_text())
    manifest.write_text(manifest.read_text().replace(f'"crc": {victim.crc}', f'"crc": {zlib.crc32(garbage)}'))
    assert jobs.decode(lake, protocol, session, quiet).of == 2
    assert jobs.judge(lake, protocol, "document", session, quiet).of == 2
    assert list(lake.damage) == [victim.file]
    assert "cannot be read" in lake.damage[victim.file].why
