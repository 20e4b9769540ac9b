"""Environments of Python packages, from a folder with one small wheel: no network."""

import re
import shutil
import subprocess
import zipfile

import pytest

from harness.errors import BadDescription, StartFailed
from harness.iuts.environments import environment


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    with zipfile.ZipFile(folder / "tinywire-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinywire.py", "ANSWER = 42\n")
        info = "tinywire-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinywire\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path, wheels):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("GOLDWIRE_CACHE", str(tmp_path))


def answer(python):
    done = subprocess.run([python, "-c", "import tinywire; print(tinywire.ANSWER)"], capture_output=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow  # fills environments from PyPI
def test_an_environment_is_made_once_and_a_half_made_one_anew(tmp_path):
    said = []
    python = environment("tinywire", "1.0", said.append)
    assert answer(python) == b"42"
    assert tmp_path in python.parents
    assert said == ["installing tinywire 1.0 (first use) …"]
    assert environment("tinywire", "1.0", said.append) == python
    assert len(said) == 1
    home = python.parents[1]
    (home / "complete").unlink()
    (home / "leftover").touch()
    assert environment("tinywire", "1.0", said.append) == python
    assert answer(python) == b"42"
    assert len(said) == 2
    assert not (home / "leftover").exists()


class NoVenv:
    """An environment builder without the cost: the folder only."""

    def __init__(self, **_):
        pass

    def create(self, folder):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()


@pytest.fixture
def no_venv(monkeypatch):
    monkeypatch.setattr("harness.iuts.environments.venv.EnvBuilder", NoVenv)


@pytest.fixture
def pip(monkeypatch):
    """Replace pip by what the test says."""

    def says(action):
        monkeypatch.setattr("harness.iuts.environments.subprocess.run", action)

    return says


def folders(tmp_path):
    return [path.name for path in (tmp_path / "environments").iterdir() if path.is_dir()]


def test_what_pip_complains_about_is_told(no_venv, pip, tmp_path):
    output = """WARNING: Location ignored
WARNING: Retrying after connection broken by 'NewConnectionError('no route to host')': /simple/tinywire/
ERROR: Could not find a version
ERROR: No matching distribution found
more
"""
    pip(lambda command, **_: subprocess.CompletedProcess(command, 1, "", output))
    cause = "NewConnectionError('no route to host'); Could not find a version; No matching distribution found"
    with pytest.raises(StartFailed, match=re.escape(f"tinywire==9.9: {cause}; all that pip said: ")) as failed:
        environment("tinywire", "9.9")
    assert folders(tmp_path) == []
    log = next((tmp_path / "environments").glob("*.log"))
    assert log.read_text() == output
    assert str(log) in str(failed.value)


def test_a_cache_that_cannot_be_written_is_named_with_what_moves_it(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GOLDWIRE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(StartFailed, match=r"cannot write to .*/file/cache/environments: .*; GOLDWIRE_CACHE names"):
        environment("tinywire", "1.0")


def test_an_interrupted_one_is_removed_and_made_anew(no_venv, pip, tmp_path):
    def interrupt(command, **_):
        raise KeyboardInterrupt

    pip(interrupt)
    with pytest.raises(KeyboardInterrupt):
        environment("tinywire", "1.0")
    assert folders(tmp_path) == []
    pip(lambda command, **_: subprocess.CompletedProcess(command, 0, "", ""))
    assert environment("tinywire", "1.0").exists()


def test_an_environment_whose_python_went_away_is_made_anew(no_venv, pip, capsys):
    pip(lambda command, **_: subprocess.CompletedProcess(command, 0, "", ""))
    python = environment("tinywire", "1.0")
    shutil.rmtree(python.parent)
    assert environment("tinywire", "1.0").exists()
    assert capsys.readouterr().err.count("installing tinywire 1.0") == 2


def test_a_python_without_ensurepip_is_told(monkeypatch):
    class NoPip(NoVenv):
        def create(self, folder):
            raise subprocess.CalledProcessError(1, "ensurepip")

    monkeypatch.setattr("harness.iuts.environments.venv.EnvBuilder", NoPip)
    with pytest.raises(StartFailed, match="python3-venv"):
        environment("tinywire", "1.0")


@pytest.mark.parametrize(("package", "version"), [("../x", "1"), ("x", "1/2"), ("", "1"), ("x", "")])
def test_what_is_no_name_is_refused(package, version):
    with pytest.raises(BadDescription, match="not a package's name or version"):
        environment(package, version)
