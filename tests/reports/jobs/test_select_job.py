"""The job ``select``: few vectors that reach all that the candidates do, however these were shared out."""

import json
import pickle
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import quiet

from reports.commands.pipeline import pipeline
from reports.jobs import spark
from reports.jobs.candidates import (
    BestCandidates,
    Candidate,
    candidate,
    chosen,
    generated,
    merged,
    reached,
    set_bits,
    summarised,
)
from reports.jobs.select import ACCEPTED, REFUSED, CandidateSource, select, size_to_look_at, text
from reports.lake.lake import Lake
from reports.lake.schemas import FRAMES, VECTORS
from vectors.golden import build as golden
from vectors.golden.loader import load
from vectors.kinds import trace

LAYOUT = "zenoh/batch"
COUNT = 3_000
SOURCE = CandidateSource(layout=LAYOUT, generated=COUNT, seed=3)


def rows(lake: Lake) -> list[dict[str, object]]:
    """Return the rows in their order, which is part of what has to be the same."""
    found = lake.read(VECTORS).to_pylist()
    assert found
    return found


@pytest.fixture(scope="module")
def selected(tmp_path_factory):
    """What comes of generated candidates in one task, and its lake."""
    lake = Lake(tmp_path_factory.mktemp("lakes") / "one", create=True)
    return select(lake, SOURCE, None, None, quiet, 1), lake


# --- choosing ---------------------------------------------------------------------------------------------


def candidates_of(*frames: tuple[int, bool]) -> list[Candidate]:
    """Make candidates of what they reach, of different bytes."""
    return [Candidate(len(data := bytes([1 + n % 3] * (n + 1))), data, *each) for n, each in enumerate(frames)]


FRAMES_ = st.lists(st.tuples(st.integers(1, 255), st.booleans()), min_size=1, max_size=24).map(
    lambda found: candidates_of(*found)
)


def kept(candidates: list[Candidate]) -> BestCandidates:
    summary = BestCandidates(seen=len(candidates), shortest={}, richest={})
    for each in candidates:
        summary.add(each)
    return summary


@given(FRAMES_, st.randoms(use_true_random=False), st.integers(1, 7))
def test_what_is_kept_is_the_same_in_any_order_and_any_parts(candidates, random, parts):
    whole = kept(candidates)
    shuffled = random.sample(candidates, len(candidates))
    assert merged(kept(shuffled[each::parts]) for each in range(parts)) == whole
    assert merged([whole, pickle.loads(pickle.dumps(whole))]).candidates() == whole.candidates()


@given(FRAMES_)
def test_chosen_reach_all_and_none_is_needless(candidates):
    found = chosen(kept(candidates).candidates())
    assert reached(found) == reached(candidates)
    accepted = [each for each in found if each.accepted]
    assert reached(accepted) == reached(each for each in candidates if each.accepted)
    for each in found:
        others = [one for one in (accepted if each.accepted else found) if one is not each]
        assert each.reached & ~reached(others)
    assert found == [*accepted, *(each for each in found if not each.accepted)]


def test_of_equals_the_shortest_and_then_the_smallest_is_chosen():
    long, short, smaller = Candidate(3, b"abc", 7, True), Candidate(2, b"xy", 7, True), Candidate(2, b"ab", 7, True)
    assert chosen([long, short, smaller]) == [smaller]
    rich = Candidate(9, b"z" * 9, 15, True)
    assert chosen([long, short, smaller, rich]) == [rich]
    assert chosen([rich, Candidate(1, b"q", 31, False)], 1) == [rich]


def test_bits_are_those_that_are_set():
    branch_numbers = sorted(Random(1).sample(range(3000), 40))
    assert list(set_bits(sum(1 << each for each in branch_numbers))) == branch_numbers


def test_frames_that_come_again_change_nothing_but_the_count():
    frames = list(generated(LAYOUT, 0, 0, 1, 300))
    once, twice = summarised(LAYOUT, frames), summarised(LAYOUT, frames * 2)
    assert (once.seen, twice.seen) == (300, 600)
    assert once.candidates() == twice.candidates()


def test_generated_candidates_end_at_their_number():
    assert len(list(generated(LAYOUT, 0, 1, 4, 4_500))) == 2_500
    assert list(generated(LAYOUT, 0, 1, 2, 9_999)) == list(generated(LAYOUT, 0, 0, 2, 9_999))[2_000:]


# --- the job ----------------------------------------------------------------------------------------------


@pytest.mark.slow  # 3,000 frames, each traced
def test_vectors_reach_what_all_candidates_do(selected):
    found, lake = selected
    every = reached(candidate(LAYOUT, data) for data in generated(LAYOUT, 3, 0, 2, COUNT))
    here = reached(candidate(LAYOUT, row["bytes"]) for row in rows(lake))
    assert here == every
    assert found.reached == every.bit_count() == found.branches - len(found.unreached)
    assert (found.candidates, found.shipped, found.only_here) == (COUNT, len(load(LAYOUT)), ())
    assert 0 < found.vectors < COUNT / 5
    assert {row["group"]: row["result"] == "invalid" for row in rows(lake) if row["result"] != "acceptable"} == {
        ACCEPTED: False,
        REFUSED: True,
    }


@pytest.mark.slow  # 3,000 frames, each traced
@pytest.mark.parametrize("tasks", [3, 7])
def test_rows_are_the_same_however_the_candidates_are_shared_out(selected, tmp_path, tasks):
    lake = Lake(tmp_path / "lake", create=True)
    assert select(lake, SOURCE, None, None, quiet, tasks) == selected[0]
    assert rows(lake) == rows(selected[1])


@pytest.mark.slow  # 3,000 frames, each traced
def test_the_file_is_one_of_vectors(selected, tmp_path):
    found, lake = selected
    content = text(found, LAYOUT)
    assert golden.verify(content.encode(), "selected.json") == []
    again = select(lake, SOURCE, None, None, quiet)
    assert (again.candidates, again.batch, text(again, LAYOUT)) == (None, found.batch, content)
    assert size_to_look_at(lake, SOURCE, None) == (0, 0)
    assert size_to_look_at(lake, SOURCE, 5) == (0, COUNT)
    assert len(lake.batches()) == 1


@pytest.mark.slow  # 3,000 frames, each traced
def test_what_the_engines_do_not_agree_on_is_said_again(selected, tmp_path, monkeypatch):
    victim = rows(selected[1])[0]["bytes"]
    expect = golden.expect

    def doubting(layout, data):
        if data == victim:
            raise golden.NotConfirmed("they do not agree")
        return expect(layout, data)

    monkeypatch.setattr(golden, "expect", doubting)
    lake = Lake(tmp_path / "lake", create=True)
    first, again = (select(lake, SOURCE, None, None, quiet) for _ in range(2))
    assert first.doubtful == again.doubtful == ("they do not agree",)
    assert (text(first, LAYOUT), first.batch) == (text(again, LAYOUT), again.batch)
    assert first.vectors == selected[0].vectors - 1


def said(lake: Lake, frames: list[bytes], batch: str, what: str = "frame") -> None:
    """Write a session in which frames are said."""
    rows_ = [
        {"source": batch, "session": batch, "seq": seq, "what": what, "data": data, "layout": LAYOUT}
        | {"protocol": "zenoh", "time": 0.0}
        for seq, data in enumerate(frames)
    ]
    with lake.stage(batch, "test") as staging:
        staging.write(FRAMES, FRAMES.rows(rows_))
        staging.commit()


@pytest.fixture
def heard(tmp_path):
    """A lake with frames, some of them twice."""
    lake = Lake(tmp_path / "heard", create=True)
    frames = [vector.data for vector in load(LAYOUT) if len(vector.data) < 200][:300]
    said(lake, [*frames[:200], *frames[:50]], "run-1")
    said(lake, frames[150:], "run-2")
    said(lake, [b"\xff"], "run-3", "raw")
    return lake, frames


@pytest.mark.slow  # 3,000 frames, each traced
@pytest.mark.parametrize("tasks", [1, 3, 7])
def test_frames_of_the_lake_are_candidates(heard, tasks):
    lake, frames = heard
    found = select(lake, CandidateSource(layout=LAYOUT, frames=True), None, None, quiet, tasks)
    assert found.candidates == 300
    assert found.reached == reached(candidate(LAYOUT, data) for data in frames).bit_count()
    assert {row["bytes"] for row in rows(lake)} <= set(frames)
    (batch,) = [each for each in lake.batches() if each.job == "select"]
    assert set(batch.of) >= {"run-1", "run-2"}


@pytest.mark.slow  # 3,000 frames, each traced
def test_frames_and_generated_ones_go_together(heard):
    lake, _ = heard
    both = CandidateSource(layout=LAYOUT, frames=True, generated=500)
    found = select(lake, both, 20, None, quiet)
    assert found.candidates == 800
    assert found.vectors == 20 == len(rows(lake))


@pytest.mark.spark
def test_the_same_on_spark(selected, heard, tmp_path):
    pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")
    lake, frames = heard
    with spark.started("local[2]", memory=1024) as session:
        for tasks in (1, 5):
            there = Lake(tmp_path / f"lake-{tasks}", create=True)
            assert select(there, SOURCE, None, session, quiet, tasks) == selected[0]
            assert rows(there) == rows(selected[1])
        found = select(lake, CandidateSource(layout=LAYOUT, frames=True), None, session, quiet)
    again = Lake(tmp_path / "again", create=True)
    said(again, frames, "run-1")
    here = select(again, CandidateSource(layout=LAYOUT, frames=True), None, None, quiet)
    assert (found.candidates, found.groups) == (300, here.groups)


# --- the command ------------------------------------------------------------------------------------------


def on(*words: object) -> tuple[int, str]:
    """Run the command in this process; return its exit status and what it prints."""
    done = CliRunner().invoke(pipeline, ["select", *map(str, words), "--master", "none"], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


@pytest.mark.slow  # thousands of frames, each traced
def test_the_command_writes_a_file_and_compares(tmp_path):
    words = LAYOUT, "--lake", tmp_path / "lake", "--candidates", "1000", "--out", tmp_path / "some.json"
    status, printed = on(*words)
    assert status == 0
    assert "from 1000 candidates reach" in printed
    assert f"the {len(load(LAYOUT))} that ship reach 1075: " in printed
    first = (tmp_path / "some.json").read_bytes()
    assert golden.verify(first, "some.json") == []
    status, printed = on(*words)
    assert (status, "chosen before reach" in printed) == (0, True)
    assert (tmp_path / "some.json").read_bytes() == first
    assert json.loads(on(*words, "--json")[1])["candidates"] is None


@pytest.mark.slow  # thousands of frames, each traced
def test_what_is_damaged_does_not_replace_the_file(tmp_path):
    words = LAYOUT, "--lake", tmp_path / "lake", "--candidates", "1000", "--out", tmp_path / "some.json"
    assert on(*words)[0] == 0
    first = (tmp_path / "some.json").read_bytes()
    (file,) = (tmp_path / "lake").glob("vectors/**/*.parquet")
    file.write_bytes(b"PAR1")
    status, printed = on(*words)
    assert (status, f"{tmp_path / 'some.json'} is not written" in printed) == (1, True)
    assert (tmp_path / "some.json").read_bytes() == first


def test_nothing_to_choose_from_is_said(tmp_path):
    Lake(tmp_path / "lake", create=True)
    status, printed = on(LAYOUT, "--lake", tmp_path / "lake", "--from", "frames")
    assert (status, "there are no frames of zenoh/batch" in printed) == (1, True)
    done = CliRunner().invoke(pipeline, ["select", "no/such", "--lake", str(tmp_path / "lake")])
    assert (done.exit_code, "no layout with notes" in done.output) == (2, True)


# --- what candidates have shown ---------------------------------------------------------------------------


def test_coverage_reads_a_message_whose_type_is_no_text_and_that_breaks_off():
    found = trace("pathfinder/message", b'{"ta-cmd": ["hello"], "msg-type": "request", "a": {')
    assert found.reason is not None
