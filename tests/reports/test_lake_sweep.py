"""The job ``sweep``: what is planted is found, and the same rows come of it however the frames are shared out."""

import json
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from fuzz.planting import Plant, plant
from reports.lake import sweep as sweeping
from reports.lake.chunks import Plan
from reports.lake.lake import Lake
from reports.lake.schemas import FINDINGS, SWEEPS
from reports.lake.sweep import missing, shares, slabs, sweep
from reports.pipeline_command import pipeline
from vectors.sweep import CHUNK

LAYOUT = "zenoh/network-message"
ADAPTER = Path(str(files("vectors"))) / "adapters" / "python" / "adapter.py"
PLAN = Plan(layout=LAYOUT, engines=("reference", "python"))

LOST = Plant(
    "an extension above 2**32 of a D_TOKEN with a suffix is lost",
    LAYOUT,
    """
    body = value["declaration"] if value["type"] == "DECLARE" else None
    if body and body["type"] == "D_TOKEN" and body["key_suffix"] and body["extensions"]:
        if any(type(each["value"]) is int and each["value"] >> 32 for each in body["extensions"]):
            del body["extensions"][-1]
    """,
    'if type(value.get("id")) is int and value["id"] == 7: out += b"."',
)

KILLS = Plant(
    "an extension above 2**32 of a D_TOKEN with a suffix ends the process",
    LAYOUT,
    LOST.decoded.replace('del body["extensions"][-1]', "__import__('os').abort()"),
)

PROGRAM = """
import sys
from pathlib import Path
from reports.lake import spark
from reports.lake.chunks import Plan
from reports.lake.lake import Lake
from reports.lake.sweep import sweep

def swept(master, tasks, folder, first, end):
    plan, span = Plan(layout={layout!r}, engines=("reference", "python")), (int(first), int(end))
    lake = Lake(Path(folder), create=True)
    if master == "none":
        return sweep(lake, plan, span, None, lambda done, total: None, int(tasks))
    with spark.started(master, memory=1024) as session:
        return sweep(lake, plan, span, session, lambda done, total: None, int(tasks))

for words in zip(*[iter(sys.argv[1:])] * 5):
    swept(*words)
"""


def believing(lie: Plant, folder: Path, *runs: tuple[str, int, Path, int, int]) -> None:
    """Sweep in processes that believe a lie: masters, tasks, lakes, and the range of chunks."""
    words = [str(word) for each in runs for word in each]
    command = [sys.executable, "-P", "-c", PROGRAM.format(layout=LAYOUT), *words]
    subprocess.run(command, env=plant(lie, folder), check=True, timeout=300)


def rows(folder: Path) -> list[str]:
    lake = Lake(folder)
    return sorted(repr(row) for table in (SWEEPS, FINDINGS) for row in lake.read(table).to_pylist())


def quiet(done: int, total: int) -> None:
    """Tell nobody."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A lake in which five chunks were swept with an engine that lies."""
    folder = tmp_path_factory.mktemp("planted")
    believing(LOST, folder, *(("none", tasks, folder / f"lake-{tasks}", 0, 5) for tasks in (1, 3, 7)))
    return folder


def test_what_is_planted_is_found_and_made_small(planted):
    lake = Lake(planted / "lake-1")
    (swept,) = lake.read(SWEEPS).to_pylist()
    found = lake.read(FINDINGS).to_pylist()
    assert swept["frames"] == 5 * CHUNK
    assert swept["differing"] >= len(found) > 1
    value = next(row for row in found if row["kind"] == "value")
    assert value["place"] == "declaration.extensions"
    assert len(value["minimised"]) <= 13 < len(value["input"])
    assert value["apart"] == "python"
    assert value["page"].endswith(f"repeat: {value['repeat']}")
    assert {row["number"] // CHUNK for row in found} <= set(range(5))


@pytest.mark.parametrize("tasks", [3, 7])
def test_rows_are_the_same_however_the_chunks_are_shared_out(planted, tasks):
    assert rows(planted / f"lake-{tasks}") == rows(planted / "lake-1")


@pytest.mark.spark
def test_rows_are_the_same_on_spark(planted, tmp_path):
    pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")
    believing(LOST, tmp_path, ("local[2]", 3, tmp_path / "lake", 0, 5))
    assert rows(tmp_path / "lake") == rows(planted / "lake-1")


def test_an_engine_that_ends_the_process_costs_the_rest_of_its_chunk(tmp_path):
    believing(KILLS, tmp_path, *(("none", tasks, tmp_path / f"lake-{tasks}", 0, 4) for tasks in (1, 2)))
    assert rows(tmp_path / "lake-1") == rows(tmp_path / "lake-2")
    lake = Lake(tmp_path / "lake-1")
    (swept,), (finding,) = lake.read(SWEEPS).to_pylist(), lake.read(FINDINGS).to_pylist()
    assert finding["kind"] == "crash"
    assert "SIGABRT" in finding["what"]
    assert 1 < swept["differing"] <= 4
    assert 0 < swept["frames"] < 4 * CHUNK


# --- going on ---------------------------------------------------------------------------------------------


def test_what_was_swept_is_not_swept_again(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    first = sweep(lake, PLAN, (1, 2), None, quiet)
    again = sweep(lake, PLAN, (1, 2), None, quiet)
    more = sweep(lake, PLAN, (0, 3), None, quiet)
    other = sweep(lake, Plan(layout=LAYOUT, engines=("reference", "python"), seed=1), (0, 1), None, quiet)
    assert [each.new for each in (first, again, more, other)] == [CHUNK, 0, 2 * CHUNK, CHUNK]
    assert again.frames == CHUNK
    assert more.frames == 3 * CHUNK
    assert len(more.batches) == 2
    assert not more.findings
    assert more.accepted > CHUNK


def test_who_is_interrupted_goes_on_behind_the_last_slab(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "SLAB", 2)
    lake, whole = Lake(tmp_path / "lake", create=True), Lake(tmp_path / "whole", create=True)

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(lake, PLAN, (1, 5), None, interrupt)
    assert len(lake.batches()) == 1
    assert sweep(lake, PLAN, (1, 5), None, quiet).new == 3 * CHUNK
    sweep(whole, PLAN, (1, 5), None, quiet)
    assert rows(tmp_path / "lake") == rows(tmp_path / "whole")


def test_ranges_are_cut_where_they_were_not_swept(monkeypatch):
    assert list(missing((0, 10), [])) == [(0, 10)]
    assert list(missing((0, 10), [(2, 4), (3, 5), (7, 20)])) == [(0, 2), (5, 7)]
    assert list(missing((2, 4), [(0, 1), (1, 9)])) == []
    assert list(missing((2, 4), [(5, 9)])) == [(2, 4)]
    monkeypatch.setattr(sweeping, "SLAB", 4)
    assert list(slabs(iter([(1, 3), (3, 9)]))) == [(1, 3), (3, 4), (4, 8), (8, 9)]
    assert shares((3, 10), 3) == [(3, 5), (5, 7), (7, 10)]
    assert shares((3, 5), 7) == [(3, 4), (4, 5)]


# --- programs ---------------------------------------------------------------------------------------------


def program(folder: Path, right: str = "", wrong: str = "") -> list[str]:
    """Write a copy of the adapter in Python, with a piece of its text replaced; return its command."""
    text = ADAPTER.read_text()
    assert right in text
    path = folder / "adapter.py"
    path.write_text(text.replace(right, wrong) if right else text)
    return [sys.executable, str(path)]


def on(lake: Path, *words: str) -> tuple[int, str]:
    """Run the command in this process; return its exit status and what it prints."""
    done = CliRunner().invoke(pipeline, ["sweep", LAYOUT, "--lake", str(lake), "--master", "none", *words],
                              standalone_mode=False)  # fmt: skip
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


def test_a_program_that_is_right_passes(tmp_path):
    status, said = on(tmp_path / "lake", "--chunks", "1:2", "--", *program(tmp_path))
    assert status == 0
    assert said.startswith(f"PASS {LAYOUT}: reference, goldwire example in Python 1: no difference in 2000")


def test_a_program_that_is_wrong_is_found_whatever_the_number_of_tasks(tmp_path):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    plan = Plan(layout=LAYOUT, engines=("reference", "wrong"), command=tuple(command))
    for tasks in (1, 3):
        sweep(Lake(tmp_path / f"lake-{tasks}", create=True), plan, (0, 3), None, quiet, tasks)
    assert rows(tmp_path / "lake-1") == rows(tmp_path / "lake-3")
    found = Lake(tmp_path / "lake-1").read(FINDINGS).to_pylist()
    assert "wrongly accepted" in {row["kind"] for row in found}
    first = found[0]
    assert first["apart"] == "wrong"
    assert len(first["minimised"]) < len(first["input"])
    repeated = subprocess.run(
        [sys.executable, "-c", "from harness.command import main; main()", *shlex.split(first["repeat"])[1:]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert repeated.returncode == 1
    assert first["kind"] in repeated.stdout


def test_a_program_that_dies_is_a_finding(tmp_path):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "sys.exit(3)")
    status, said = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--", *command)
    assert status == 1
    assert "ended with status 3" in said


def test_a_program_that_does_not_run_or_speak_the_layout_is_named(tmp_path, capsys):
    status, said = on(tmp_path / "lake", "--", str(tmp_path / "nobody"))
    assert (status, "cannot run" in said) == (3, True)
    status, said = on(tmp_path / "lake", "--", sys.executable, str(ADAPTER.parents[1] / "pathfinder" / "adapter.py"))
    assert (status, "does not speak zenoh/network-message" in said) == (3, True)
    assert not (tmp_path / "lake").exists()


# --- the command ------------------------------------------------------------------------------------------


def test_the_command_says_what_it_did_and_what_it_did_before(tmp_path):
    words = "--engine", "python", "--frames", "3000"
    status, said = on(tmp_path / "lake", *words)
    assert status == 0
    assert "no difference in 4000 random frames" in said
    assert "4000 of them new); seed 0, chunks 0:2" in said
    status, said = on(tmp_path / "lake", *words)
    assert (status, "; 0 of them new)" in said) == (0, True)
    status, said = on(tmp_path / "lake", *words, "--json")
    assert json.loads(said)["frames"] == 4000


def test_what_differed_before_differs_still(tmp_path):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    words = "--chunks", "0:1", "--", *command
    first, again = (on(tmp_path / "lake", "--most", "2", *words) for _ in range(2))
    assert first[0] == again[0] == 1
    assert first[1].splitlines()[:-1] == again[1].splitlines()[:-1]
    assert first[1].splitlines()[-1].startswith("FAIL")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing/here"], "unknown layout"),
        ([LAYOUT, "--frames", "1", "--chunks", "0:1"], "not both"),
        ([LAYOUT, "--chunks", "5:5"], "no range of chunks"),
        ([LAYOUT, "--engine", "python", "--", "true"], "--engine means nothing"),
        (["pathfinder/filter", "--engine", "native"], "no C reads here"),
        ([LAYOUT, "--engine", "reference"], "nothing to compare"),
    ],
)
def test_wrong_usage_is_said_in_a_line(tmp_path, words, said):
    done = CliRunner().invoke(pipeline, ["sweep", *words[:1], "--lake", str(tmp_path / "lake"), *words[1:]])
    assert (done.exit_code, said in done.output) == (2, True), done.output
