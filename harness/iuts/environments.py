"""Environments of implementations that are Python packages: one per package, version and Python."""

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import click

from harness.errors import BadDescription, StartFailed
from harness.iuts.description import Description, Launched
from harness.user_folders import cache, made_folder

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*")
_MARKER = "complete"
_ERROR = re.compile(r"(?:ERROR|error): (?!subprocess-exited-with-error)(.+)")
_RETRY = re.compile(r"after connection broken by '(.+)'")


def environment(package: str, version: str, say: Callable[[str], None] | None = None) -> Path:
    """Return the interpreter of an environment in which ``package==version`` is installed.

    It is made on first use, in the user's cache directory or in ``$GOLDWIRE_CACHE``; other processes wait
    meanwhile. ``say`` is told when that happens (default: a line on standard error). StartFailed when pip
    cannot install it: what it printed stays beside the folder, in a file whose name ends in ``.log``.
    """
    for text in (package, version):
        if not _NAME.fullmatch(text):
            raise BadDescription(f"{text!r} is not a package's name or version")
    # The interpreter's version too: packages with native code fit only one.
    folder = cache() / "environments" / f"{package}-{version}-py{sys.version_info[0]}.{sys.version_info[1]}"
    python = folder / "bin" / "python"
    if _complete(folder):
        return python
    made_folder(folder.parent)
    # Only here: most who start goldwire need no environment, and wait for whatever it imports.
    from filelock import FileLock

    # The workers of a test run start at once, and all of them need it.
    with FileLock(f"{folder}.lock"):
        if not _complete(folder):
            (say or _say)(f"installing {package} {version} (first use) …")
            _make(folder, f"{package}=={version}")
    return python


def install(description: Description) -> None:
    """Make the environment of an implementation that needs one; StartFailed when that cannot be."""
    source = description.source
    if isinstance(source, Launched) and source.environment is not None:
        environment(source.environment.package, source.environment.version)


def _complete(folder: Path) -> bool:
    # The link to the interpreter dangles when the system's Python was removed.
    return (folder / _MARKER).exists() and (folder / "bin" / "python").exists()


def _make(folder: Path, requirement: str) -> None:
    # What a try that was interrupted has left behind.
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.EnvBuilder(with_pip=True, symlinks=True).create(folder)
        _install(folder / "bin" / "python", requirement)
        # Last: without it the folder is taken for unfinished, and made anew.
        (folder / _MARKER).write_text(f"{requirement}\n")
    except subprocess.CalledProcessError as error:
        raise StartFailed(
            f"no environment for {requirement}: {error}; is Python's venv with ensurepip installed"
            " (Debian: python3-venv)?"
        ) from error
    except OSError as error:
        raise StartFailed(f"no environment for {requirement}: {error}") from error
    finally:
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _install(python: Path, requirement: str) -> None:
    # Nobody is there to answer a question, and its own version is no concern of the user's.
    pip = [str(python), "-m", "pip", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "install", "--progress-bar", "off", requirement], capture_output=True, text=True, check=False
    )
    log = python.parents[1].with_name(f"{python.parents[1].name}.log")
    if done.returncode:
        log.write_text(f"{done.stdout}{done.stderr}", encoding="utf-8")
        raise StartFailed(
            f"no environment for {requirement}: {_cause(done.stderr) or _cause(done.stdout)}; all that pip said: {log}"
            " (an index of your own: PIP_INDEX_URL; a folder of wheels: PIP_NO_INDEX, PIP_FIND_LINKS)"
        )
    log.unlink(missing_ok=True)


def _cause(output: str) -> str:
    """Return in one line why pip failed: what it could not do, and what kept it from that."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [match[1] for line in lines if (match := _ERROR.match(line))]
    # An index that does not answer is warned of, try by try, and the error is then that there is no such version.
    broken = [match[1] for line in lines if (match := _RETRY.search(line))]
    return "; ".join(dict.fromkeys([*broken[-1:], *errors])) or (lines or [""])[-1]


def _say(line: str) -> None:
    click.echo(line, err=True)
