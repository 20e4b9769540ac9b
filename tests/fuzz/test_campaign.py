"""Campaigns against our own engines: what they find, what they keep, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from fuzz import atheris_process, corpus, findings
from fuzz.atheris_process import AtherisProcess, wait
from fuzz.campaign import Campaign, CampaignProgress
from fuzz.findings import FINDING, INPUT, MINIMISED, README, REPORT
from fuzz.fuzz_command import fuzz
from fuzz.isolation import IsolatedOutcome, IsolatedRun, fatal_difference, run_here, run_isolated
from fuzz.limits import InputLimits
from fuzz.planted_bugs import PlantedBug, plant
from fuzz.replay_command import replay
from fuzz.search import run
from vectors.check_command import interrupted_by_signal
from wire.catalogue import grammars
from wire.engines import engine
from wire.errors import DecodeError
from wire.runtime import Codec

LAYOUT = "zenoh/network-message"
MESSAGE = "pathfinder/message"
SMALL = "zenoh/batch"
"""The layout with the fewest golden vectors."""

with_atheris = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")

BUG = PlantedBug(
    "a Z64 extension above 2**32 in the chain of a D_TOKEN with a suffix: the last one is lost",
    LAYOUT,
    """
    body = value["declaration"] if value["type"] == "DECLARE" else None
    if body and body["type"] == "D_TOKEN" and body["key_suffix"] and body["extensions"]:
        if any(type(each["value"]) is int and each["value"] >> 32 for each in body["extensions"]):
            del body["extensions"][-1]
    """,
)
SHOWS_IT = bytes.fromhex("1ea600000161208080808010")

PROGRAM = {
    "fuzz": "from fuzz.fuzz_command import fuzz; fuzz()",
    "replay": "from fuzz.replay_command import replay; replay()",
}


def program(name: str, *words: str | Path) -> list[str]:
    """Return the command line of a command in a process of its own."""
    return [sys.executable, "-P", "-c", PROGRAM[name], *map(str, words)]


def living(marker: str) -> list[str]:
    """Return the command lines of processes whose environment has a text."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return found


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep corpora away from those of the user, and findings away from this folder."""
    monkeypatch.setenv("GOLDWIRE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.mark.slow  # a campaign
@with_atheris
def test_a_bug_in_a_rare_branch_is_found_from_the_golden_vectors(tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    environment = plant(BUG, tmp_path / "bug")
    out = tmp_path / "out"
    done = subprocess.run(
        program("fuzz", "codec", LAYOUT, "--for", "300s", "--most", "1", "--out", out, "--seed", "3"),
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,  # it ends with what it finds, and not with its time
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = out.iterdir()
    found = findings.read(folder)
    assert found.finding.difference.kind == "value"
    assert found.finding.difference.place == "declaration.extensions"
    assert found.minimised is not None
    assert len(found.minimised) <= len(SHOWS_IT)
    assert f"goldwire replay {folder}" in done.stdout
    assert "D_TOKEN" in (folder / REPORT).read_text()
    assert str(folder) in (folder / README).read_text()

    still = subprocess.run(program("replay", folder), env=environment, capture_output=True, text=True, check=False)
    assert (still.returncode, still.stdout.split()[0]) == (1, "STILL")
    gone = CliRunner().invoke(replay, [str(folder)])
    assert (gone.exit_code, gone.stdout.split()[0]) == (0, "FIXED")


@pytest.mark.slow  # a campaign
@with_atheris
def test_engines_that_agree_pass_and_the_corpus_is_kept_merged_and_compared_again(data: Path) -> None:
    layout = SMALL
    done = CliRunner().invoke(fuzz, ["codec", layout, "--for", "1s"])
    assert done.exit_code == 0, done.output
    assert f"NOTHING FOUND {layout}: reference, python, " in done.stdout
    assert not Path("findings").exists()
    kept = corpus.kept(data / "corpora" / layout)
    assert kept
    assert all(corpus.name(frame) == name for name, frame in kept.items())
    assert not set(kept.values()) & set(corpus.seeds(layout))

    again = CliRunner().invoke(fuzz, ["codec", layout, "--kept-only"])
    assert again.exit_code == 0, again.output
    assert f"corpus: {len(kept)} before, {len(kept)} with what is new, {len(kept)} kept" in again.stdout
    assert corpus.kept(data / "corpora" / layout) == kept


@pytest.mark.slow  # a campaign
def test_every_layout_is_fuzzed_with_all() -> None:
    done = CliRunner().invoke(fuzz, ["codec", "--all", "--engine", "random", "--for", "0.2s", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert [line.split()[2] for line in done.stdout.splitlines()] == [f"{each}:" for each in grammars()]


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds: minutes at most, on a machine that has much else to do."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # a pause, so that what is waited for has the processor


@pytest.mark.slow  # a campaign
@pytest.mark.parametrize(
    ("how", "number"),
    [pytest.param("atheris", signal.SIGINT, marks=with_atheris), ("random", signal.SIGTERM)],
)
def test_whoever_interrupts_gets_a_result_and_no_process_stays(
    how: str, number: signal.Signals, tmp_path: Path
) -> None:
    marker = f"GOLDWIRE_TEST={tmp_path}"
    process = subprocess.Popen(
        program("fuzz", "codec", SMALL, "--for", "600s", "--engine", how, "--jobs", "2"),
        env={**os.environ, "GOLDWIRE_TEST": str(tmp_path), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    begun = "fuzz.target" if how == "atheris" else "multiprocessing.spawn"
    eventually(lambda: process.poll() is not None or any(begun in line for line in living(marker)))
    process.send_signal(number)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "; interrupted" in said
    assert "/s" not in said  # of a search that was cut off no rate is told
    assert living(marker) == []


@pytest.mark.slow  # a campaign
@with_atheris
def test_a_target_whose_campaign_was_killed_ends_by_itself(tmp_path: Path) -> None:
    marker = f"GOLDWIRE_TEST={tmp_path}"
    process = subprocess.Popen(
        program("fuzz", "codec", SMALL, "--for", "600s"),
        env={**os.environ, "GOLDWIRE_TEST": str(tmp_path), "TMPDIR": str(tmp_path)},
    )
    eventually(lambda: corpus.names(corpus.folder(SMALL)))
    process.kill()
    process.wait()
    eventually(lambda: living(marker) == [])


CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
HANG = "import itertools; all(itertools.repeat(1))"
BLOAT = "[bytes(1 << 24) for _ in range(1 << 10)]"


def fatal(what: str) -> PlantedBug:
    """Return a bug that takes the process with it."""
    return PlantedBug(
        what, SMALL, f'if any(each["type"] == "CLOSE" and each["reason"] == 77 for each in value): {what}'
    )


@pytest.mark.slow  # a campaign
@with_atheris
@pytest.mark.parametrize(("what", "kind"), [(CRASH, "crash"), (HANG, "hang"), (BLOAT, "breaks")])
def test_what_takes_the_process_with_it_is_found_and_replayed(what: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    environment = plant(fatal(what), tmp_path / "bug")
    # What is kept already goes first, so that nothing has to be searched for.
    corpus.keep(tmp_path / "kept", [bytes.fromhex("04034d")])
    done = subprocess.run(
        program(
            *("fuzz", "codec", SMALL, "--kept-only", "--corpus", tmp_path / "kept", "--out", tmp_path / "out"),
            *("--timeout", "1s", "--memory", "1024"),
        ),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = (tmp_path / "out").iterdir()
    found = findings.read(folder).finding
    assert found.difference.kind == kind
    assert "python" in [who for who, _ in found.difference.says]
    assert "CLOSE.reason" in (folder / REPORT).read_text()
    still = subprocess.run(program("replay", folder), env=environment, capture_output=True, text=True, check=False)
    assert (still.returncode, still.stdout.split()[0]) == (1, "STILL"), still.stdout + still.stderr
    if kind == "crash":
        assert CliRunner().invoke(replay, [str(folder)]).exit_code == 0


@with_atheris
def test_branches_are_reported_and_the_watched_engine_is_the_same() -> None:
    from fuzz.target import InstrumentedEngine

    watched, plain = InstrumentedEngine(LAYOUT).codec(LAYOUT), engine("python").codec(LAYOUT)
    assert watched.decode is not plain.decode
    assert "__ATHERIS_INSTRUMENTED__" in watched.decode.__code__.co_consts
    assert "__ATHERIS_INSTRUMENTED__" not in plain.decode.__code__.co_consts
    for frame in corpus.seeds(LAYOUT)[:300]:
        said, value = spoken(plain, frame)
        assert spoken(watched, frame) == (said, value)
        if value is not None:
            assert watched.encode(value) == plain.encode(value)


def spoken(codec: Codec, frame: bytes) -> tuple[Any, Any]:
    """Return why a codec refuses a frame, and what it decodes."""
    try:
        return None, codec.decode(frame)
    except DecodeError as error:
        return (error.reason, error.offset), None


@pytest.mark.slow  # a campaign
@with_atheris
def test_the_target_runs_by_its_own_path_and_shows_the_first_difference(tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    environment = plant(BUG, tmp_path / "bug")
    environment |= {"GOLDWIRE_FUZZ": LAYOUT, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    (tmp_path / "input").write_bytes(SHOWS_IT)
    target = str(files("fuzz").joinpath("target.py"))
    done = subprocess.run([target, "input"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == atheris_process.CRASHED, done.stderr
    assert "Differs: value at declaration.extensions" in done.stderr + done.stdout


@with_atheris
def test_a_merge_that_comes_to_nothing_leaves_the_corpus_as_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    corpus.keep(kept, [SHOWS_IT])
    (tmp_path / "work").mkdir()
    atheris = AtherisProcess(tmp_path / "work", SMALL, kept, InputLimits(), 1)
    (tmp_path / "work" / "target").write_text("#!/bin/sh\nexit 0\n")
    assert atheris.merged(10) is None
    assert [*corpus.kept(kept).values()] == [SHOWS_IT]


def test_who_interrupts_while_atheris_is_started_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: Ctrl-C between the start of the process and its being noted left it behind for ten minutes."""
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            signal.raise_signal(signal.SIGTERM)

    (tmp_path / "work").mkdir()
    sleeps = ("-c", "import time; time.sleep(600)")
    atheris = AtherisProcess(tmp_path / "work", SMALL, tmp_path / "kept", InputLimits(), 1, sleeps)
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    try:
        with interrupted_by_signal(), pytest.raises(KeyboardInterrupt):
            atheris.fuzz(600)
        atheris.end()
        assert [each.poll() for each in started] == [-signal.SIGTERM]
    finally:
        for each in started:
            each.kill()
            each.wait()


@pytest.mark.parametrize("how", ["random", pytest.param("hypothesis", marks=pytest.mark.slow)])  # a second to begin
def test_other_engines_pass_what_agrees(how: str, tmp_path: Path) -> None:
    def enough(progress: CampaignProgress) -> None:
        # However long a busy machine takes for them.
        if progress.inputs > 20:
            raise KeyboardInterrupt

    report = run(Campaign(layout=LAYOUT, engine=how, seconds=60.0, seed=1, out=tmp_path / "out"), enough)
    assert report.interrupted
    assert report.rate is None
    assert report.inputs > 20
    assert report.findings == []
    assert not (tmp_path / "out").exists()


@pytest.mark.slow  # a campaign
@pytest.mark.parametrize("how", ["random", "hypothesis"])
def test_other_engines_find_a_bug_too(how: str, tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    bug = PlantedBug("an id is lost", LAYOUT, 'if value["type"] == "INTEREST": value["id"] &= ~2')
    out = tmp_path / "out"
    done = subprocess.run(
        program("fuzz", "codec", LAYOUT, "--engine", how, "--for", "20s", "--most", "1", "--out", out),
        env=plant(bug, tmp_path / "bug"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = out.iterdir()
    assert findings.read(folder).finding.origin.engine == how


JSON_BUGS = {
    "a large id is one too low": (
        PlantedBug("id", MESSAGE, 'if value["ta-id"] >> 40: value["ta-id"] -= 1'),
        "ta-id",
        '{"ta-cmd":"ping","ta-id":1099511627776,"msg-type":"request"}',
    ),
    "an escape is lost": (
        PlantedBug("escape", MESSAGE, encoded="out = out.replace(b'\\\\n', b' ') if b'filter' in out else out"),
        "filter",
        '{"ta-cmd":"services","ta-id":0,"msg-type":"request","filter":"\\n"}',
    ),
}


@pytest.mark.slow  # a campaign
@pytest.mark.parametrize(
    ("how", "what"),
    [
        pytest.param("atheris", "a large id is one too low", marks=with_atheris),
        pytest.param("atheris", "an escape is lost", marks=[with_atheris, pytest.mark.sweep]),
        pytest.param("random", "a large id is one too low", marks=pytest.mark.sweep),
        ("random", "an escape is lost"),
        ("hypothesis", "a large id is one too low"),
    ],
)
def test_a_bug_about_json_is_found_made_small_and_replayed(how: str, what: str, tmp_path: Path) -> None:
    bug, place, smallest = JSON_BUGS[what]
    (tmp_path / "bug").mkdir()
    environment = plant(bug, tmp_path / "bug")
    out = tmp_path / "out"
    done = subprocess.run(
        program("fuzz", "codec", MESSAGE, "--engine", how, "--for", "40s", "--most", "1", "--out", out),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = out.iterdir()
    found = findings.read(folder)
    assert found.finding.origin.engine == how
    assert found.finding.difference.place in (place, "(value)")
    if found.minimised is not None:
        assert len(found.minimised) <= len(smallest) + 4
        assert place in (folder / REPORT).read_text()
    still = subprocess.run(program("replay", folder), env=environment, capture_output=True, text=True, check=False)
    assert (still.returncode, still.stdout.split()[0]) == (1, "STILL"), still.stdout + still.stderr
    gone = CliRunner().invoke(replay, [str(folder)])
    assert (gone.exit_code, gone.stdout.split()[0]) == (0, "FIXED")


@with_atheris
def test_json_is_compared_with_the_reference_at_once(tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    environment = plant(JSON_BUGS["a large id is one too low"][0], tmp_path / "bug")
    environment |= {"GOLDWIRE_FUZZ": MESSAGE, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    (tmp_path / "input").write_text(JSON_BUGS["a large id is one too low"][2])
    target = str(files("fuzz").joinpath("target.py"))
    done = subprocess.run([target, "input"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == atheris_process.CRASHED, done.stderr
    assert "Differs: value at ta-id" in done.stderr + done.stdout


def test_a_crash_is_made_small_and_the_engine_named(tmp_path: Path) -> None:
    (tmp_path / "bug").mkdir()
    task = IsolatedRun(SMALL, ("reference", "python"), bytes.fromhex("0404034d04"), fatal=True, smaller=True)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "fuzz.isolation"],
        input=msgspec.json.encode(task),
        env=plant(fatal(CRASH), tmp_path / "bug"),
        capture_output=True,
        check=True,
    )
    outcome = msgspec.json.decode(done.stdout, type=IsolatedOutcome)
    assert outcome.difference is not None
    assert outcome.difference.says == (("python", ("ends the process with SIGSEGV",)),)
    assert outcome.data == bytes.fromhex("034d")


def test_a_frame_on_which_all_agree_is_no_finding() -> None:
    task = IsolatedRun(LAYOUT, ("reference", "python"), SHOWS_IT)
    assert run_here(task).difference is None
    assert run_isolated(IsolatedRun(LAYOUT, ("reference", "python"), SHOWS_IT, fatal=True)).difference is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["codec"], "name one layout"),
        (["codec", LAYOUT, "--all"], "name one layout"),
        (["codec", "zenoh/nothing"], "no layout is called 'zenoh/nothing'"),
        (["codec", LAYOUT, "--for", "soon"], "'soon' is not a time"),
        (["codec", LAYOUT, "--engine", "afl"], "'afl' is not one of"),
        (["codec", LAYOUT, "--engine", "random", "--kept-only"], "only --engine atheris"),
    ],
)
def test_wrong_usage_says_what_is_wrong(words: list[str], says: str) -> None:
    done = CliRunner().invoke(fuzz, words)
    assert done.exit_code == 2
    assert says in done.stderr


def test_without_atheris_it_is_said_what_to_do(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['atheris'] = None\nimport importlib.util as u\nfind = u.find_spec\n"
    hide += "u.find_spec = lambda name, *more: None if name == 'atheris' else find(name, *more)\n"
    command = [sys.executable, "-P", "-c", hide + PROGRAM["fuzz"].replace("; ", "\n"), "codec", LAYOUT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'goldwire[fuzz]'" in done.stderr
    assert "--engine random" in done.stderr


def test_replay_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    nowhere = CliRunner().invoke(replay, [str(tmp_path / "nowhere")])
    assert nowhere.exit_code == 2
    assert "there is no finding.json" in nowhere.stderr
    (tmp_path / FINDING).write_text('{"finding": "codec"}')
    torn = CliRunner().invoke(replay, [str(tmp_path)])
    assert torn.exit_code == 2
    assert "cannot be read" in torn.stderr


def a_hang() -> findings.CodecFinding:
    gone = fatal_difference("hang", {"python": "does not come to an end"})
    origin = findings.FindingOrigin("random", 1, "2024-01-01T00:00:00+00:00")
    return findings.CodecFinding(
        findings.signature(LAYOUT, gone), LAYOUT, ("reference", "python"), gone, origin, version("goldwire"), "3.11"
    )


def test_a_finding_that_cannot_be_written_leaves_nothing_of_it_and_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = findings.write_file

    def full(path: Path, content: str | bytes) -> None:
        if path.name == README:
            raise OSError(28, "No space left on device", str(path))
        written(path, content)

    monkeypatch.setattr(findings, "write_file", full)
    kept = findings.KeptFinding(a_hang(), b"\x1e", b"\x1e")
    with pytest.raises(OSError, match="No space left"):
        findings.write(tmp_path, kept)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / kept.name).mkdir()
    (tmp_path / kept.name / "notes.txt").write_text("mine")
    with pytest.raises(OSError, match="No space left"):
        findings.write(tmp_path, kept)
    assert [path.name for path in (tmp_path / kept.name).iterdir()] == ["notes.txt"]


def test_the_schema_is_fresh_and_describes_a_finding(tmp_path: Path) -> None:
    shipped = files("fuzz").joinpath(findings.SCHEMA).read_bytes()
    assert shipped == findings.schema(), "run: python -m fuzz.findings"
    difference = run_here(IsolatedRun(LAYOUT, ("reference", "python"), value="3")).difference
    assert difference is None
    finding = a_hang()
    folder, new = findings.write(tmp_path, findings.KeptFinding(finding, b"\x1e", b"\x1e"))
    assert new
    assert findings.write(tmp_path, findings.KeptFinding(finding, b"\x1e", b"\x1e")) == (folder, False)
    jsonschema.Draft202012Validator(json.loads(shipped)).validate(json.loads((folder / FINDING).read_text()))
    assert findings.read(folder).finding == finding
    assert {file.name for file in folder.iterdir()} == {FINDING, INPUT, MINIMISED, README, REPORT}
    (folder / MINIMISED).unlink()
    with pytest.raises(findings.BadFinding, match=r"there is no minimised\.bin"):
        findings.read(folder)


def test_a_corpus_is_replaced_without_touching_what_is_not_its_own(tmp_path: Path) -> None:
    corpus.keep(tmp_path, [b"one", b"two"])
    (tmp_path / "notes.txt").write_text("mine")
    before = corpus.kept(tmp_path)
    corpus.keep(tmp_path, [b"from another campaign"])
    corpus.replace(tmp_path, before, [b"two", b"three"])
    assert set(corpus.kept(tmp_path).values()) == {b"two", b"three", b"from another campaign", b"mine"}


@with_atheris
def test_a_program_that_does_not_start_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    atheris = AtherisProcess(tmp_path / "work", "zenoh/nothing", tmp_path / "kept", InputLimits(), 1)
    atheris.fuzz(5)
    wait(atheris, 30)
    with pytest.raises(atheris_process.AtherisFailed, match="no layout is called"):
        atheris.take_artifact()
