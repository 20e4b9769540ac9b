"""The job ``sweep``: what is planted is found, and the same rows come of it however the frames are shared out."""

import json
import math
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import quiet

from fuzz.planted_bugs import PlantedBug, plant
from reports.commands.pipeline import pipeline
from reports.jobs import code_digests as digests
from reports.jobs import sweep as sweeping
from reports.jobs import sweep_engines, sweep_programs
from reports.jobs.sweep import frames_to_sweep, missing, split_at_slabs, split_range, sweep
from reports.jobs.sweep_plan import SweepPlan
from reports.lake.lake import Lake
from reports.lake.schemas import FINDINGS, SWEEPS
from vectors.checks.check import EngineFinding
from vectors.checks.codec_program import ProgramNotStarted
from vectors.checks.differential import Difference
from vectors.checks.sweep import CHUNK, Found
from vectors.minimising import NoMoreTries, minimise, minimise_value

LAYOUT = "zenoh/network-message"
ADAPTER = Path(__file__).parents[3] / "examples" / "codecs" / "python" / "adapter.py"
PLAN = SweepPlan(layout=LAYOUT, engines=("reference", "python"))

LOST = PlantedBug(
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

KILLS = PlantedBug(
    "an extension above 2**32 of a D_TOKEN with a suffix ends the process",
    LAYOUT,
    LOST.decoded.replace('del body["extensions"][-1]', "__import__('os').abort()"),
)

SHY = PlantedBug(
    "an extension above 2**32 of a D_TOKEN with a suffix is lost, or ends the process if the frame is short",
    LAYOUT,
    LOST.decoded.replace("del body", "len(data) > 14 or __import__('os').abort(); del body"),
)

PROGRAM = """
import sys
from pathlib import Path
from reports.jobs import spark
from reports.jobs.sweep_plan import SweepPlan
from reports.lake.lake import Lake
from reports.jobs.sweep import sweep

def swept(master, tasks, folder, first, end):
    plan, span = SweepPlan(layout={layout!r}, engines=("reference", "python")), (int(first), int(end))
    lake = Lake(Path(folder), create=True)
    if master == "none":
        return sweep(lake, plan, span, None, lambda done, total: None, int(tasks))
    with spark.started(master, memory=1024) as session:
        return sweep(lake, plan, span, session, lambda done, total: None, int(tasks))

for words in zip(*[iter(sys.argv[1:])] * 5):
    swept(*words)
"""


def believing(lie: PlantedBug, folder: Path, *runs: tuple[str, int, Path, int, int]) -> None:
    """Sweep in processes that believe a lie: masters, tasks, lakes, and the range of chunks."""
    words = [str(word) for each in runs for word in each]
    command = [sys.executable, "-P", "-c", PROGRAM.format(layout=LAYOUT), *words]
    subprocess.run(command, env=plant(lie, folder), check=True, timeout=300)


SMALL = 200
"""Frames of a chunk where a program is asked, which takes its time: one to be found comes among the first."""


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (sweeping, sweep_programs):
        monkeypatch.setattr(module, "CHUNK", SMALL)


def rows(folder: Path) -> list[str]:
    lake = Lake(folder)
    return sorted(repr(row) for table in (SWEEPS, FINDINGS) for row in lake.read(table).to_pylist())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A lake in which five chunks were swept with an engine that lies."""
    folder = tmp_path_factory.mktemp("planted")
    believing(LOST, folder, *(("none", tasks, folder / f"lake-{tasks}", 0, 5) for tasks in (1, 3, 7)))
    return folder


@pytest.mark.slow  # eleven chunks are swept, each finding is made small
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


@pytest.mark.slow  # eleven chunks are swept, each finding is made small
@pytest.mark.parametrize("tasks", [3, pytest.param(7, marks=pytest.mark.sweep)])
def test_rows_are_the_same_however_the_chunks_are_shared_out(planted, tasks):
    assert rows(planted / f"lake-{tasks}") == rows(planted / "lake-1")


@pytest.mark.spark
def test_rows_are_the_same_on_spark(planted, tmp_path):
    pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")
    believing(LOST, tmp_path, ("local[2]", 3, tmp_path / "lake", 0, 5))
    assert rows(tmp_path / "lake") == rows(planted / "lake-1")


@pytest.mark.sweep
@pytest.mark.slow  # a process per frame that kills it
def test_an_engine_that_ends_the_process_costs_the_rest_of_its_chunk(tmp_path):
    believing(KILLS, tmp_path, *(("none", tasks, tmp_path / f"lake-{tasks}", 0, 4) for tasks in (1, 2)))
    assert rows(tmp_path / "lake-1") == rows(tmp_path / "lake-2")
    lake = Lake(tmp_path / "lake-1")
    (swept,), (finding,) = lake.read(SWEEPS).to_pylist(), lake.read(FINDINGS).to_pylist()
    assert finding["kind"] == "crash"
    assert "SIGABRT" in finding["what"]
    assert 1 < swept["differing"] <= 4
    assert 0 < swept["frames"] < 4 * CHUNK


@pytest.mark.sweep
@pytest.mark.slow  # a process per frame that kills it
def test_an_engine_that_ends_the_process_at_a_smaller_frame_costs_only_that_it_is_smaller(tmp_path):
    believing(SHY, tmp_path, ("none", 1, tmp_path / "lake", 0, 5))
    found = [row for row in Lake(tmp_path / "lake").read(FINDINGS).to_pylist() if row["kind"] != "crash"]
    assert "value" in {row["kind"] for row in found}
    assert all(row["minimised"] == row["input"] for row in found)


def test_a_search_that_does_not_end_is_ended(monkeypatch):
    data = bytes.fromhex("1c 01 02")
    found = Found(Difference("value", False, ("x",), "id", ()), "sweep", 3, (), data)
    monkeypatch.setattr(sweep_engines, "PATIENCE", 0.0)
    assert sweep_engines._guarded(PLAN, found) == EngineFinding(found.difference, found, data)


def test_a_search_ends_with_its_tries():
    """What is not tried is not made either: of a frame as large as they get there are hundreds of thousands."""
    tried: list[object] = []

    def keeps(what: object) -> bool:
        tried.append(what)
        if len(tried) > 5:
            raise NoMoreTries
        return len(tried) == 5

    assert len(minimise("zenoh/batch", bytes(65_536), keeps, math.inf)) < 65_536
    assert len(tried) == 6
    tried.clear()
    assert minimise_value([*range(1000)], keeps, math.inf) != [*range(1000)]
    assert len(tried) == 6


# --- going on ---------------------------------------------------------------------------------------------


@pytest.mark.slow  # five chunks are swept
def test_what_was_swept_is_not_swept_again(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    first = sweep(lake, PLAN, (1, 2), None, quiet)
    again = sweep(lake, PLAN, (1, 2), None, quiet)
    more = sweep(lake, PLAN, (0, 3), None, quiet)
    other = sweep(lake, SweepPlan(layout=LAYOUT, engines=("reference", "python"), seed=1), (0, 1), None, quiet)
    assert [each.new for each in (first, again, more, other)] == [CHUNK, 0, 2 * CHUNK, CHUNK]
    assert again.frames == CHUNK
    assert more.frames == 3 * CHUNK
    assert frames_to_sweep(lake, PLAN, (0, 4)) == CHUNK
    assert len(more.batches) == 2
    assert not more.findings
    assert more.accepted > CHUNK


def test_another_deadline_is_another_sweep_of_a_program():
    def settings(deadline: float, *command: str) -> dict[str, str]:
        return sweeping.settings_of(
            SweepPlan(layout=LAYOUT, engines=("reference", "x"), command=command, deadline=deadline)
        )

    assert settings(1.0, "x") != settings(2.0, "x")
    assert settings(1.0) == settings(2.0)


def test_a_program_that_was_mended_is_another_sweep(tmp_path, small_chunks):
    wrong = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    first = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--", *wrong)
    assert program(tmp_path) == wrong
    mended = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--", *wrong)
    again = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--", *wrong)
    assert [status for status, _ in (first, mended, again)] == [1, 0, 0]
    assert [f"{SMALL} of them new" in said for _, said in (first, mended, again)] == [True, True, False]


def test_files_of_a_command_are_known_by_what_they_hold(tmp_path):
    (tmp_path / "codec.py").write_text("1")
    words = [str(tmp_path / "codec.py"), "--fast", "x" * 5000]
    before = digests.of_command(words)
    assert before.split()[1:] == ["-", "-"]
    (tmp_path / "codec.py").write_text("2")
    assert digests.of_command(words) != before
    assert digests.of_command(["python3"]) != "-"
    assert digests.of_command([]) == ""


def test_engines_are_known_by_their_code(tmp_path):
    code = digests.of_engines(LAYOUT, ("reference", "python"))
    assert code != digests.of_engines(LAYOUT, ("reference",)) == digests.of_engines(LAYOUT, ("reference", "x 1"))
    assert digests.of_engines("pathfinder/filter", ("reference", "python"))
    command = (
        f"from reports.jobs.code_digests import of_engines; print(of_engines({LAYOUT!r}, ('reference', 'python')))"
    )
    said = [
        subprocess.run([sys.executable, "-P", "-c", command], env=env, stdout=subprocess.PIPE, text=True, check=True)
        for env in (None, plant(LOST, tmp_path))
    ]
    assert said[0].stdout.strip() == code != said[1].stdout.strip()


def batch_of(lake: Lake, span: tuple[int, int], *numbers: int) -> None:
    """Write a batch of chunks in which frames with such numbers differ."""
    about = sweeping.settings_of(PLAN) | {"first": str(span[0]), "end": str(span[1])}
    with lake.stage(f"sweep-{span[0]}-{span[1]}", sweeping.JOB, settings=about) as staging:
        common = {"source": staging.batch.id, "protocol": "zenoh", "layout": LAYOUT}
        frames = (span[1] - span[0]) * CHUNK
        counts = {"frames": frames, "judged": frames, "accepted": 0, "spoiled": 0, "skipped": 0}
        staging.write(SWEEPS, SWEEPS.rows([common | counts | {"differing": 7 * len(numbers)}]))
        if numbers:
            rows_ = [common | {"number": each, "signature": f"{each}", "page": "differs"} for each in numbers]
            staging.write(FINDINGS, FINDINGS.rows(rows_))
        staging.commit()


def test_what_lies_beyond_the_range_is_not_said_of_it(tmp_path):
    lake, settings = Lake(tmp_path / "lake", create=True), sweeping.settings_of(PLAN)
    batch_of(lake, (0, 10), 5 * CHUNK, 8 * CHUNK + 3)
    before, there = (sweeping.known(lake, settings, asked) for asked in ((0, 5), (3, 6)))
    assert (before.agrees, before.findings, before.chunks) == (True, [], ((0, 10),))
    assert (there.agrees, [each["number"] for each in there.findings]) == (False, [5 * CHUNK])
    words = "--engine", "python", "--chunks"
    status, said = on(tmp_path / "lake", *words, "0:5")
    assert (status, said.startswith("PASS")) == (0, True)
    assert "nothing was run now); seed 0, chunks 0:5 (counted are whole batches, of the chunks 0:10)" in said
    status, said = on(tmp_path / "lake", *words, "5:6")
    assert (status, "1 difference, seen 14 times" in said) == (1, True)


@pytest.mark.slow
def test_what_may_have_come_again_is_swept_by_itself(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    batch_of(lake, (0, 10), 3)
    assert [sweep(lake, PLAN, (7, 8), None, quiet).new for _ in range(2)] == [CHUNK, 0]
    assert sweep(lake, PLAN, (7, 8), None, quiet).agrees
    whole = sweep(lake, PLAN, (0, 10), None, quiet)
    assert (whole.new, whole.frames, whole.chunks, whole.agrees) == (0, 10 * CHUNK, ((0, 10),), False)


@pytest.mark.sweep
@pytest.mark.slow  # nine chunks are swept
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
    assert list(split_at_slabs(iter([(1, 3), (3, 9)]))) == [(1, 3), (3, 4), (4, 8), (8, 9)]
    assert split_range((3, 10), 3) == [(3, 5), (5, 7), (7, 10)]
    assert split_range((3, 5), 7) == [(3, 4), (4, 5)]


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


def test_a_program_that_is_right_passes(tmp_path, small_chunks):
    status, said = on(tmp_path / "lake", "--chunks", "1:2", "--", *program(tmp_path))
    assert status == 0
    assert said.startswith(f"PASS {LAYOUT}: reference, goldwire example in Python 1: no difference in {SMALL}")


@pytest.mark.slow  # six chunks through the pipe
def test_a_program_that_is_wrong_is_found_whatever_the_number_of_tasks(tmp_path):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    plan = SweepPlan(layout=LAYOUT, engines=("reference", "wrong"), command=tuple(command))
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


@pytest.mark.slow(seconds=3)  # a process per frame that kills it
def test_a_program_that_dies_is_a_finding(tmp_path, monkeypatch):
    for module in (sweeping, sweep_programs):
        monkeypatch.setattr(module, "CHUNK", 60)  # it is started anew for each of its deaths
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "sys.exit(3)")
    status, said = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--", *command)
    assert status == 1
    assert "ended with status 3" in said


SKIPPING = """
def skipping(request, answer):
    return {"results": [{"skip": "not yet"} for _ in answer["results"]]} if "results" in answer else answer
"""
ANSWERED = '        sys.stdout.write(json.dumps({"id": request["id"]} | answer(request)) + "\\n")'


def test_a_program_that_skips_everything_is_not_checked(tmp_path, small_chunks):
    skipping = ANSWERED.replace("answer(request)", "skipping(request, answer(request))")
    command = program(tmp_path, ANSWERED, skipping)
    path = Path(command[-1])
    path.write_text(path.read_text().replace("def main()", f"{SKIPPING}\n\ndef main()"))
    status, said = on(tmp_path / "lake", "--chunks", "0:1", "--", *command)
    assert (status, said.startswith("FAIL")) == (1, True)
    assert f"nothing was checked in {SMALL} random frames" in said
    assert f"{SMALL} skipped" in said


@pytest.mark.parametrize("often", [1, 1000])
def test_a_program_that_was_killed_once_is_no_finding(tmp_path, small_chunks, often):
    """It ends at the third request, at which it is fresh again: whatever that is, it is answered alone."""
    flag = tmp_path / "killed"
    kills = f"""
        with open({str(flag)!r}, "a+") as flag:
            flag.seek(0)
            if request["id"] == 3 and len(flag.read()) < {often}:
                flag.write("x")
                flag.flush()
                os.kill(os.getpid(), 9)
"""
    command = program(tmp_path, ANSWERED, kills + ANSWERED)
    path = Path(command[-1])
    path.write_text(path.read_text().replace("import sys\n", "import os\nimport sys\n"))
    status, said = on(tmp_path / "lake", "--chunks", "0:1", "--", *command)
    assert (status, "SIGKILL" in said) == ((0, False) if often == 1 else (1, True))


def test_the_command_that_repeats_keeps_the_deadline(tmp_path, small_chunks):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    _, said = on(tmp_path / "lake", "--chunks", "0:1", "--most", "1", "--deadline", "7.5", "--", *command)
    assert " --deadline 7.5 -- " in next(line for line in said.splitlines() if "repeat:" in line)


def test_a_program_that_does_not_run_or_speak_the_layout_is_named(tmp_path, capsys):
    status, said = on(tmp_path / "lake", "--", str(tmp_path / "nobody"))
    assert (status, "cannot run" in said) == (3, True)
    status, said = on(tmp_path / "lake", "--", sys.executable, str(ADAPTER.parents[1] / "pathfinder" / "adapter.py"))
    assert (status, "does not speak zenoh/network-message" in said) == (3, True)
    assert not (tmp_path / "lake").exists()


# --- the command ------------------------------------------------------------------------------------------


@pytest.mark.slow  # sweeps twice
def test_the_command_says_what_it_did_and_what_it_did_before(tmp_path):
    words = "--engine", "python", "--frames", "3000"
    status, said = on(tmp_path / "lake", *words)
    assert status == 0
    assert "no difference in 4000 random frames" in said
    assert "4000 of them new); seed 0, chunks 0:2" in said
    status, said = on(tmp_path / "lake", *words)
    assert (status, "; all swept before, nothing was run now)" in said) == (0, True)
    status, said = on(tmp_path / "lake", *words, "--json")
    assert json.loads(said)["frames"] == 4000


def test_what_differed_before_differs_still(tmp_path, small_chunks):
    command = program(tmp_path, 'raise Refusal("out-of-range", start)', "pass")
    words = "--chunks", "0:1", "--", *command
    first, again = (on(tmp_path / "lake", "--most", "2", *words) for _ in range(2))
    assert first[0] == again[0] == 1
    assert first[1].splitlines()[:-1] == again[1].splitlines()[:-1]
    assert first[1].splitlines()[-1].startswith("FAIL")


def test_a_program_that_does_not_start_any_more_is_named(tmp_path, monkeypatch):
    def gone(*what: object) -> None:
        raise ProgramNotStarted("cannot run 'x': it is gone")

    monkeypatch.setattr(sweeping, "sweep", gone)
    status, said = on(tmp_path / "lake", "--chunks", "0:1", "--", *program(tmp_path))
    assert (status, said) == (3, "Error: cannot run 'x': it is gone\n")


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
