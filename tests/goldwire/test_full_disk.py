"""A disk that is full, and a home that cannot be written to, are named by every command that writes.

What was there before is there still, and nothing half written is left. The disk is a limit on how long a file may get
(``RLIMIT_FSIZE``), which needs no rights; each file that is longer than this meets it in the middle.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from stage import CASE, Stage

from conformance.selfcheck import selfcheck_command
from harness.command import main


class Full(NamedTuple):
    """A line, what it needs on its stage, how many bytes a file may have, and what is said then."""

    line: str
    needs: str
    most: int
    says: str
    status: int = 1
    left: tuple[str, ...] = ()
    """What is left of it besides folders: journals, which are read as far as they go, and what was whole before."""


FEW = f"-k test_modes.{CASE}"
LINES = (
    Full(
        f"test zenoh --iut peer: {FEW} --report o",
        "",
        3000,
        "o/run.ndjson is incomplete: File too large",
        1,
        ("o/run.ndjson",),
    ),
    Full(
        f"test zenoh --iut peer: {FEW} --report o",
        "",
        30000,
        "summary.json could not be written: File too large",
        1,
        ("o/run.ndjson",),
    ),
    Full(
        f"test zenoh --iut peer: {FEW} --accept --expectations e.toml",
        "untrue",
        100,
        "--accept: e.toml: File too large",
    ),
    Full(
        "audit zenoh captures/bad.pcapng --report o",
        "captures",
        2800,
        "trace of audit.bad_pcapng#12 could not be written: File too large",
        1,
        ("o/recordings.json", "o/run.ndjson"),
    ),
    Full("record tcp/127.0.0.1:9 --listen {free} --out c.pcapng", "", 10, "cannot write c.pcapng: File too large", 2),
    Full("report out", "out", 100, "out/summary.json: File too large"),
    Full("report out --out o", "out", 100, "o/run.ndjson: File too large"),
    Full("vectors build pathfinder/filter --out v", "", 1000, "v/pathfinder/filter.json: File too large"),
    Full("vectors export zenoh/batch --format pipe --out v", "", 1000, "v/zenoh/batch.requests.jsonl: File too large"),
    Full("vectors export zenoh/batch --format parquet --out v", "", 1000, "v/zenoh/batch.parquet: File too large"),
    Full("codec bench pathfinder/filter --rounds 1 --plot c.svg", "", 100, "c.svg: File too large"),
    Full("fuzz codec pathfinder/filter --for 1s --corpus c", "", 8, "a temporary file (TMPDIR names another folder"),
    Full(
        "pipeline generate zenoh --frames 100 --out g -k test_modes.test_c --workers 1",
        "",
        1000,
        "templates.pcap: File too large",
    ),
    Full("pipeline ingest zenoh captures/bad.pcapng --lake l", "captures", 1000, "l cannot be written: "),
    Full(
        "pipeline select pathfinder/filter --lake l --candidates 100 --master none --out s.json",
        "",
        1000,
        "l cannot be written",
    ),
    Full("pipeline sweep zenoh/batch --frames 50 --lake l --master none", "", 1000, "a temporary file (TMPDIR names"),
    Full("pipeline decode zenoh --lake lake --master none", "lake", 500, "lake cannot be written: "),
    Full("pipeline judge zenoh --profile deployed --lake lake --master none", "lake", 500, "lake cannot be written: "),
    Full("init zenoh --command './a {{port}}' --name x", "", 10, "x.toml: File too large"),
)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow(seconds=3)  # each starts a goldwire
@pytest.mark.parametrize(
    "full",
    # These two take many seconds before they have anything to write.
    [
        pytest.param(full, marks=pytest.mark.sweep if full.line.startswith(("codec bench", "vectors build")) else ())
        for full in LINES
    ],
    ids=lambda full: full.line,
)
def test_a_full_disk_is_named_and_nothing_half_written_is_left(full: Full, tmp_path: Path) -> None:
    with ExitStack() as until:
        stage = Stage(tmp_path, until)
        for name in full.needs.split():
            getattr(stage, name)()
        before = contents(tmp_path)
        done = stage.play(f"goldwire {full.line.format(**stage.addresses)}", most=full.most)
        after = contents(tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == full.status, said
    assert full.says in said
    assert "Traceback" not in said
    assert "Errno" not in said
    assert {name: data for name, data in after.items() if name not in full.left} == before


HOMELESS = {"HOME": "/proc", "GOLDWIRE_CACHE": "", "GOLDWIRE_DATA": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""}
"""As where the user's home is read-only: nothing can be written to ``/proc``, not even by root."""


@pytest.mark.slow(seconds=2)  # each starts a goldwire
@pytest.mark.parametrize(
    ("line", "folder", "setting"),
    [
        ("test zenoh --iut eclipse-zenoh", "/proc/.cache/goldwire/environments", "GOLDWIRE_CACHE"),
        ("selfcheck zenoh --mutants --sample 1 -n 1 --role client", "/proc/.cache/goldwire/mutants", "GOLDWIRE_CACHE"),
        (
            "fuzz codec zenoh/batch --for 1s",
            "/proc/.local/share/goldwire/corpora/zenoh/batch",
            "--corpus (or GOLDWIRE_DATA)",
        ),
    ],
)
def test_a_home_that_cannot_be_written_to_is_named(line: str, folder: str, setting: str, tmp_path: Path) -> None:
    with ExitStack() as until:
        done = Stage(tmp_path, until).play(f"goldwire {line}", **HOMELESS)
    said = done.stdout + done.stderr
    assert done.returncode == 3, said
    assert f"cannot write to {folder}: No such file or directory; {setting} names another folder" in " ".join(
        said.split()
    )
    assert contents(tmp_path) == {}


@pytest.mark.slow(seconds=2)  # it starts a goldwire
def test_whoever_keeps_nothing_needs_no_home(tmp_path: Path) -> None:
    with ExitStack() as until:
        done = Stage(tmp_path, until).play("goldwire test zenoh --iut peer: -k test_properties", **HOMELESS)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_matrix_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selfcheck_command, "check_mutants", lambda *_: (True, "page"))
    monkeypatch.setattr("sys.argv", ["goldwire", "selfcheck", "zenoh", "--mutants", "--write", "/dev/full"])
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code, capsys.readouterr().err) == (1, "Error: /dev/full: No space left on device\n")
