"""A protocol is added by its own folders alone: the toy is copied into a copy of the rooms, and everything works.

Whoever breaks this has made the next protocol dearer. What a protocol brings has changed, then ``tests/toy`` (which
people copy) and "Add a protocol" in ``ARCHITECTURE.md`` change with it; or shared code wants to be edited for it, which
is what must not be.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from house import PUBLIC, ROOMS, ROOT

pytestmark = pytest.mark.slow(seconds=4)  # each: compiles the toy's codecs, and starts goldwire two dozen times

TOY = ROOT / "tests" / "toy"
LAYOUT = "toy/message"
A_VALUE = "830100017a"
"""VALUE with F set, ticket 1, and the one byte ``z``."""

HAS_COMPILER = shutil.which("cc") is not None


class House:
    """A copy of the rooms, with the toy in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The copy goes before the installed rooms. What a cache or the user's settings hold is of the other house.
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GOLDWIRE_")},
            "PYTHONPATH": str(folder),
            "XDG_CACHE_HOME": str(folder / ".cache"),
        }

    def python(self, *arguments: object, status: int = 0) -> str:
        """Run Python in the house and return what it prints; the exit status has to be ``status``."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def goldwire(self, *arguments: object, status: int = 0) -> str:
        """Run a command of goldwire in the house."""
        return self.python("-m", "goldwire", *arguments, status=status)

    @contextmanager
    def serving(self, *arguments: object) -> Iterator[str]:
        """Run a command that serves until it is interrupted; yields the address that it prints as ready."""
        process = subprocess.Popen(
            [sys.executable, "-m", "goldwire", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout is not None
            word, _, address = process.stdout.readline().strip().partition(" ")
            assert word == "ready", f"{arguments}: {word} {address}"
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def free_address() -> str:
    """Return an address of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"tcp/127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Copy the rooms and the project's shape tests, add the toy, and make its codecs, as its author would."""
    folder = tmp_path_factory.mktemp("house")
    # Golden vectors are most of the bytes, and each command names the layout that it is about.
    leave_out = shutil.ignore_patterns("__pycache__", "*.parquet")
    for name in (*ROOMS, PUBLIC, "tests/shape"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=leave_out)
    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    for room in TOY.iterdir():
        if room.is_dir() and room.name in ROOMS:
            shutil.copytree(room, folder / room.name, dirs_exist_ok=True)
    made = House(folder)
    made.python("-m", "wire.emit")
    if HAS_COMPILER:
        # Only what is new is compiled: the copies of the others are as old as what they were built from.
        shutil.copy2(ROOT / "setup.py", folder)
        made.python("setup.py", "--quiet", "build_ext", "--inplace")
    assert {path: path.read_bytes() for path in before} == before, "an edit outside the toy's own folders"
    return made


def test_the_toy_is_small() -> None:
    """People read it in half an hour: what a protocol has to bring must stay that little."""
    files = [path for path in TOY.rglob("*") if path.suffix in (".py", ".toml") and "__pycache__" not in path.parts]
    lines = sum(len(path.read_text().splitlines()) for path in files)
    assert len(files) < 30
    assert lines < 900


@pytest.mark.sweep
def test_its_types_hold(house: House) -> None:
    """As strictly as the product's own."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    shutil.copy2(ROOT / "pyproject.toml", house.folder / "mypy.toml")
    packages = [word for room in ("wire", "harness", "conformance") for word in ("-p", f"{room}.toy")]
    house.python("-m", "mypy", "--config-file", "mypy.toml", *packages)


def test_its_rules_cover_its_document(house: House) -> None:
    shutil.copytree(TOY, house.folder / "documents", ignore=shutil.ignore_patterns("*.py", "*.toml"))
    said = house.goldwire("rules", "toy")
    assert "16 of 16 normative lines covered" in said
    taken_over = house.python("-m", "conformance.catalogue.documents", "documents", "toy")
    assert "0 of 16 normative lines changed" in taken_over


def test_its_vectors_are_made_and_reach_every_branch(house: House) -> None:
    house.goldwire("vectors", "build", LAYOUT, "--coverage")
    house.goldwire("vectors", "build", LAYOUT, "--check")
    made = json.loads((house.folder / "vectors" / "toy" / "message.json").read_text())
    rules = {rule for group in made["groups"] for vector in group["vectors"] for rule in vector["rules"]}
    assert rules == {"TOY-002", "TOY-003"}
    house.goldwire("vectors", "verify", "vectors/toy/message.json")


@pytest.mark.parametrize(
    "engine",
    ["python", pytest.param("native", marks=pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler"))],
)
def test_its_codecs_agree(house: House, engine: str) -> None:
    said = house.goldwire("codec", "check", LAYOUT, "--engine", engine, "--frames", 500)
    assert f"PASS {LAYOUT}: reference, {engine}" in said


def test_its_frames_are_explained(house: House) -> None:
    said = house.goldwire("decode", LAYOUT, A_VALUE)
    assert [line.split()[-1] for line in said.splitlines()] == ["id=0x03", "1", "7a"]


def test_wireshark_is_told_of_it(house: House) -> None:
    said = house.goldwire("dissector", "toy")
    assert 'branch("value", "VALUE", true)' in said
    assert 'linked(main, "Toy", layouts.message, length_prefixed(2, false, 65535), {})' in said


def test_its_codecs_are_fuzzed(house: House) -> None:
    said = house.goldwire("fuzz", "codec", LAYOUT, "--engine", "random", "--for", "0.5s", "--jobs", 1)
    assert f"NOTHING FOUND {LAYOUT}" in said


def test_its_gate_passes_over_sockets(house: House) -> None:
    said = house.goldwire("test", "toy", "--iut", "peer:", "--report", "report")
    assert "4 cases played; rules: 2 PASS" in said
    summary = json.loads((house.folder / "report" / "summary.json").read_text())
    assert {name for name, rule in summary["rules"].items() if rule["outcome"] == "pass"} == {"TOY-005", "TOY-006"}


def test_its_faults_are_caught_and_its_oddity_is_not_accused(house: House) -> None:
    said = house.goldwire("selfcheck", "toy")
    assert "2 of 2 faults killed, 7 of 7 innocent peers pass, 0 rules unguarded, 0 errors" in said


@pytest.mark.parametrize(("fault", "status"), [((), 0), (("--fault", "TOY-005"), 1)])
def test_a_recording_of_it_is_judged(house: House, fault: tuple[str, ...], status: int) -> None:
    """Played through the recording proxy, from which the audit comes to what the live run came to."""
    capture = house.folder / f"recording{status}.pcapng"
    with (
        house.serving("peer", "toy", "--listen", free_address(), *fault) as server,
        house.serving("record", server, "--listen", free_address(), "--out", capture) as proxy,
    ):
        house.goldwire("test", "toy", "--iut", proxy, status=status)
    said = house.goldwire("audit", "toy", capture, "--report", f"audit{status}", status=status)
    summary = json.loads((house.folder / f"audit{status}" / "summary.json").read_text())
    assert summary["rules"]["TOY-005"]["outcome"] == ("violation" if fault else "pass"), said


def test_the_house_keeps_its_shape(house: House) -> None:
    """The project's own shape tests hold in the copy, with one protocol more."""
    tests = [path for path in sorted((house.folder / "tests" / "shape").glob("test_*.py")) if path.name in SHAPE]
    assert len(tests) == len(SHAPE)
    house.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", *tests)


SHAPE = ("test_folders.py", "test_imports.py", "test_names.py")
"""The shape tests that are about the product alone."""
