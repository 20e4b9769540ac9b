"""Coverage as feedback: counters in shared memory, which programs in Python and in C count up."""

import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.net.coverage import BUCKETS, COMMON, CoverageMap
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, NetworkWorker
from harness.iuts import python_coverage
from harness.iuts.description import Description, Launched, Program, resolve
from harness.iuts.implementation import start
from harness.iuts.python_coverage import SIZE, VARIABLE

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs/examples/coverage/goldwire_coverage.c"


@pytest.fixture
def counters():
    with CoverageMap() as found:
        yield found


def mapped(counters: CoverageMap) -> mmap.mmap:
    with open(counters.path, "r+b") as file:
        return mmap.mmap(file.fileno(), SIZE)


def features(counters: CoverageMap) -> set[int]:
    return set(counters.features())


# --- the map ----------------------------------------------------------------------------------------------


def test_where_nobody_counts_nothing_is_learnt(counters):
    counters.clear()
    assert (counters.features(), counters.places) == ({}, 0)


def test_a_place_that_runs_is_a_feature_and_another_one_when_it_runs_more_often(counters):
    theirs, seen = mapped(counters), []
    for count in (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 255):
        theirs[7] = count
        (feature,) = features(counters)
        if feature not in seen:
            seen.append(feature)
            assert count in BUCKETS
    assert len(seen) == len(BUCKETS)
    assert counters.places == 1
    theirs[SIZE - 1] = 1
    assert counters.features()[(SIZE - 1) << 4 | 1] == f"code at {SIZE - 1}"
    counters.clear()
    assert counters.features() == {}


def test_what_most_tests_come_by_says_nothing_any_more(counters):
    theirs = mapped(counters)
    theirs[1] = 1
    for _ in range(COMMON):
        assert features(counters)
    theirs[2] = 1
    assert features(counters) == {2 << 4 | 1}
    theirs[1] = 2
    assert features(counters) == {1 << 4 | 2, 2 << 4 | 1}
    theirs[1] = 0
    assert features(counters) == {2 << 4 | 1}


def test_an_implementation_that_we_start_is_told_where_the_map_is(counters):
    described = running("node", "--port", "{port}", env={"OTHER": "{role}"})
    assert counters.told_to(described).source.program.env == {"OTHER": "{role}", VARIABLE: counters.path}
    elsewhere = running("node", env={VARIABLE: "/elsewhere"})
    assert counters.told_to(elsewhere) == elsewhere, "who says it for himself knows better"
    remote = resolve("tcp/127.0.0.1:7447", "zenoh")
    assert counters.told_to(remote) == remote


# --- Python -----------------------------------------------------------------------------------------------

PROGRAM = """
import json
import sys
import threading


def work(text):
    for each in text:
        if each == "a":
            json.dumps([each])
        else:
            other()


def other():
    return 1


thread = threading.Thread(target=work, args=[sys.argv[1]])
thread.start()
thread.join()
print("done", *sys.argv[1:])
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def run(counters, *words, folder=ROOT):
    counters.clear()
    env = {**os.environ, VARIABLE: counters.path}
    done = subprocess.run([sys.executable, *map(str, words)], env=env, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("done")
    return features(counters)


@pytest.mark.parametrize("by", [["-m", "goldwire.coverage"], [python_coverage.__file__]], ids=["module", "file"])
def test_a_python_program_tells_what_of_it_runs(counters, program, by):
    first, second, third = (run(counters, *by, program, text) for text in ("aaa", "aab", "abb"))
    assert first
    assert second - first
    assert third - second, "more often is something else"
    assert run(counters, *by, program, "aaa") == first, "the same each time"


def test_a_program_may_begin_to_count_by_itself(counters, program):
    program.write_text("import goldwire.coverage\ngoldwire.coverage.start()\n" + PROGRAM)
    assert run(counters, program, "b") - run(counters, program, "a")


def test_a_module_counts_though_it_is_installed(counters, program, tmp_path):
    package = tmp_path / "node_of_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(PROGRAM)
    words = [python_coverage.__file__, "-m", "node_of_mine"]
    assert run(counters, *words, "b", folder=tmp_path) - run(counters, *words, "a", folder=tmp_path)


def test_only_what_is_asked_for_counts(counters, program):
    other = [python_coverage.__file__, "--only", program.parent / "elsewhere"]
    assert not run(counters, *other, program, "a")
    assert run(counters, python_coverage.__file__, "--only", program, program, "a")


def test_without_the_variable_a_program_is_left_alone(program, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    before = sys.gettrace()
    assert not python_coverage.start()
    assert sys.gettrace() is before


# --- C ----------------------------------------------------------------------------------------------------

TOY = """
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words)
{
    for (const char *each = words[1]; *each != 0; each++)
        if (*each == 'b')
            puts("event b");
    puts("ready");
    fflush(stdout);
    while (count > 2)
        pause();
    return 0;
}
"""
COMPILERS = {"clang": "trace-pc-guard", "gcc": "trace-pc"}


@pytest.fixture(params=COMPILERS)
def toy(request, tmp_path):
    """A program in C that tells what of it runs, compiled as the example says."""
    compiler = shutil.which(request.param)
    if compiler is None:
        pytest.skip(f"{request.param} is not installed")
    (tmp_path / "toy.c").write_text(TOY)
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([compiler, *warnings, "-c", EXAMPLE], cwd=tmp_path, check=True)
    option = f"-fsanitize-coverage={COMPILERS[request.param]}"
    subprocess.run([compiler, option, "-o", "toy", "toy.c", "goldwire_coverage.o"], cwd=tmp_path, check=True)
    return tmp_path / "toy"


def test_a_program_in_c_tells_what_of_it_runs(counters, toy):
    def ran(text):
        counters.clear()
        subprocess.run([toy, text], env={VARIABLE: counters.path}, check=True, stdout=subprocess.DEVNULL)
        return features(counters)

    first, second, third = map(ran, ("aaa", "aab", "abb"))
    assert first
    assert second - first
    assert third - second
    assert ran("aaa") == first, "the same each time"
    for env in ({}, {VARIABLE: "/nowhere/at/all"}):
        assert subprocess.run([toy, "a"], env=env, check=True, capture_output=True).stdout == b"ready\n"


def running(*command, **more):
    program = Program(command=command, ready="line", **more)
    return Description(
        name="toy", protocol="zenoh", role="router", roles=("router",), source=Launched(Path.cwd(), program)
    )


def test_an_implementation_that_was_started_counts_in_our_map(counters, toy):
    with start(counters.told_to(running(str(toy), "aab", "stay"))) as node:
        assert node.alive()
        before = features(counters)
        assert before
        counters.clear()
        assert not features(counters)
        node.restart()
        # It is ready before it has come to where it stays.
        assert features(counters) & before


# --- campaigns --------------------------------------------------------------------------------------------


@pytest.mark.slow(seconds=4)  # it fuzzes for some seconds
@pytest.mark.parametrize("is_asked", [True, False])
def test_a_worker_is_led_by_the_code_that_runs_where_it_is_told(is_asked, tmp_path):
    job = FuzzJob(
        protocol="zenoh", iut="peer:", role="router", seconds=4.0, seed=1, out=str(tmp_path), coverage=is_asked
    )
    worker = NetworkWorker(job, load("zenoh")["router"])
    progress = worker.run()
    assert (progress.places > 50) is is_asked
    assert any(feature < SIZE << 4 for kept in worker.pool.kept for feature in kept.features) is is_asked
    assert (worker.coverage is not None) is is_asked
