"""A room that another package or folder hides: every entry says so in one line, and nothing fails strangely."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from goldwire import rooms

SCRIPT = Path(sys.executable).parent / "goldwire"


def run(folder: Path, *command: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with another at the head of PYTHONPATH."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}
    if path is not None:
        environ["PYTHONPATH"] = str(path)
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder with somebody else's package of the name ``reports``."""
    package = tmp_path / "theirs" / "reports"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('not to be imported')\n")
    return package


def test_all_rooms_are_found() -> None:
    assert rooms.shadow() is None
    rooms.check()


@pytest.mark.parametrize("room", rooms.ROOMS)
def test_every_room_is_looked_for(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{room}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, room, raising=False)
    with pytest.raises(rooms.ShadowedRoom, match=f"package '{room}' at .* is hidden by .*{room}.py: "):
        rooms.check()


def test_a_room_that_is_loaded_already_counts_as_it_was_loaded(other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import reports

    assert reports.__file__
    monkeypatch.syspath_prepend(other.parent)
    assert rooms.shadow() is None


def test_a_module_without_a_specification_hides_a_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wire", type(sys)("wire"))
    assert " is hidden by sys.modules/wire: " in str(rooms.shadow())


def test_a_room_that_another_distribution_has_written_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for room in rooms.ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text('"""A room of goldwire."""\n' if room != "fuzz" else "")
        monkeypatch.delitem(sys.modules, room, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(rooms, "_HERE", tmp_path)
    said = str(rooms.shadow())
    assert said == (
        f"goldwire's package 'fuzz' was overwritten by another distribution at {tmp_path / 'fuzz'}:"
        " install goldwire in an environment of its own"
    )


def test_a_room_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "find_spec", lambda room: None)
    assert str(rooms.shadow()).endswith(": install goldwire anew")


@pytest.mark.parametrize("entry", ["script", "module"])
def test_the_command_says_it_in_one_line_and_ends_with_2(entry: str, other: Path, tmp_path: Path) -> None:
    command = (str(SCRIPT),) if entry == "script" else (sys.executable, "-m", "goldwire")
    ended = run(tmp_path, *command, "rules", path=other.parent)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        f"Error: goldwire's package 'reports' at {rooms._HERE / 'reports'} is hidden by {other}:"
        f" take {other.parent} off PYTHONPATH, or rename the other\n"
    )


def test_a_folder_where_one_works(other: Path) -> None:
    ended = run(other.parent, sys.executable, "-m", "goldwire", "rules")
    assert ended.returncode == 2
    assert ended.stderr.endswith(f" is hidden by {other}: work in another folder, or rename the other\n")
    assert ended.stderr.count("\n") == 1
    # The script does not look into that folder: only -m and -c do.
    assert run(other.parent, str(SCRIPT), "--version").returncode == 0


def test_an_import_raises_one_clear_error(other: Path, tmp_path: Path) -> None:
    code = "try: import goldwire\nexcept ImportError as error: print(type(error).__name__, error)"
    ended = run(tmp_path, sys.executable, "-c", code, path=other.parent)
    assert ended.stdout.startswith("ShadowedRoom goldwire's package 'reports' at ")
    assert ended.stderr == ""
    uncaught = run(tmp_path, sys.executable, "-c", "import goldwire", path=other.parent)
    assert uncaught.returncode == 1
    assert "goldwire.rooms.ShadowedRoom: goldwire's package 'reports' at " in uncaught.stderr
    assert "During handling" not in uncaught.stderr


def test_somebody_elses_run_of_pytest_hears_nothing(other: Path) -> None:
    (other.parent / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    for path in (None, other.parent):
        ended = run(other.parent, sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", path=path)
        assert ended.returncode == 0, ended.stdout
        assert "goldwire's" not in ended.stdout + ended.stderr


def test_playing_cases_is_refused_in_one_line(other: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "pytest", "--pyargs", "conformance.zenoh.cases", "--goldwire-iut", "peer:")
    ended = run(tmp_path, *command, path=other.parent)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        f"Exit: goldwire's package 'reports' at {rooms._HERE / 'reports'} is hidden by {other}:"
        f" take {other.parent} off PYTHONPATH, or rename the other\n"
    )


def test_a_room_that_a_conftest_hides_is_noticed(other: Path) -> None:
    (other.parent / "conftest.py").write_text("")  # pytest puts its folder at the head of sys.path
    command = (str(SCRIPT.with_name("pytest")), "--goldwire-iut", "peer:", "--goldwire-protocol", "zenoh")
    ended = run(other.parent, *command)
    assert ended.returncode == 2
    assert f"is hidden by {other}" in ended.stderr
