"""A standalone cluster out of what PyPI brings: Spark's master and workers, which take this process's place.

PyPI's Spark has the classes and not the scripts. What those classes do on their own, and nobody asked for, is left
out: a second port that takes programs, a web page for everybody, another port when the one asked for is taken.
"""

import os
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn

from harness.errors import BadDescription
from harness.links.addresses import LOOPBACK
from reports.jobs.spark import SparkFailed, cache, check_packages, java_home, logging_file

MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
PORT = 7077
"""The port of a master, where none is said."""

LOGGERS = {MASTER: "info", WORKER: "info"}
"""What they say of who joins and leaves; the rest of Spark only when something is wrong."""

SETTINGS = {"spark.master.rest.enabled": "false", "spark.port.maxRetries": "0"}


def run_master(listen: str = f"{LOOPBACK}:{PORT}", *, page: int = 0, settings: Mapping[str, str]) -> NoReturn:
    """Become a master that listens at ``HOST:PORT``, with its web page on a loopback port (0: any that is free).

    Raises BadDescription for what is no address, NotInstalled when a package or Java is missing, SparkFailed when the
    port is taken.
    """
    host, port = _parsed(listen)
    _check_free(host, port)
    _exec(MASTER, ["--host", host, "--port", str(port), "--webui-port", str(page)], settings)


def run_worker(
    master: str,
    listen: str = "",
    *,
    cores: int | None = None,
    memory: int | None = None,
    folder: Path | None = None,
    page: int = 0,
    settings: Mapping[str, str],
) -> NoReturn:
    """Become a worker of a master (``spark://HOST:PORT``), at ``HOST`` or ``HOST:PORT`` of this machine.

    It lends ``cores`` (all) and ``memory`` in megabytes (all but one gigabyte), and keeps what jobs leave in
    ``folder``. Raises what ``run_master`` raises.
    """
    match = re.fullmatch(r"spark://(.+):\d+", master)
    if match is None:
        raise BadDescription(f"{master!r} is no master of a cluster: expected spark://HOST:PORT")
    # Loopback by default, as whoever reaches a worker runs programs there; but a master elsewhere could not call back.
    if not listen and not _is_loopback(match[1]):
        raise BadDescription(
            f"{master} may be another machine, and reaches no worker at {LOOPBACK}: say with --listen which address "
            "this machine has for it"
        )
    host, port = _parsed(listen or LOOPBACK, port=0)
    _check_free(host, port)
    kept_in = folder or cache() / "work"
    try:
        kept_in.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SparkFailed(f"{kept_in} cannot be made: {error.strerror}; --folder says where else") from None
    arguments = [master, "--host", host, "--port", str(port), "--webui-port", str(page), "--work-dir", str(kept_in)]
    if cores is not None:
        arguments += ["--cores", str(cores)]
    if memory is not None:
        arguments += ["--memory", f"{memory}m"]
    _exec(WORKER, arguments, settings)


def _exec(name: str, arguments: list[str], settings: Mapping[str, str]) -> NoReturn:
    check_packages()
    # Found, not imported: importing it loads Py4J, which this process, soon replaced, has no use for.
    found = find_spec("pyspark")
    assert found is not None
    assert found.submodule_search_locations is not None
    home = Path(found.submodule_search_locations[0])
    logging = logging_file("cluster", LOGGERS, "%d{HH:mm:ss} %m%n")
    options = {"log4j2.configurationFile": logging.as_uri(), **SETTINGS, **settings}
    folder = str(Path(sys.executable).parent)
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": sys.executable,
        # The folder of this Python first.
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)]),  # for jobs that say python3
        "SPARK_LOCAL_IP": LOOPBACK,  # the web page's
        "SPARK_DAEMON_JAVA_OPTS": " ".join(_quoted(f"-D{name}={value}") for name, value in options.items()),
    }
    # exec throws away what is still in Python's buffers.
    sys.stdout.flush()
    sys.stderr.flush()
    program = str(home / "bin" / "spark-class")
    # Replaced and not started: signals, exit status and the terminal are those of the master, with nothing in between.
    os.execve(program, [program, name, *arguments], environment)


def _quoted(word: str) -> str:
    """Spell a word as Spark's launcher reads it."""
    return '"' + re.sub(r'(["\\])', r"\\\1", word) + '"'


def _parsed(text: str, port: int = PORT) -> tuple[str, int]:
    """Read ``HOST:PORT`` or ``HOST``."""
    match = re.fullmatch(r"([^:/\s]+)(?::(\d+))?", text)
    if match is None or int(match[2] or port) > 65535:
        raise BadDescription(
            f"{text!r} is no address to listen at: expected HOST or HOST:PORT, such as {LOOPBACK}:{PORT}"
        )
    return match[1], int(match[2] or port)


def _check_free(host: str, port: int) -> None:
    """Raise SparkFailed where nothing can listen."""
    try:
        with closing(socket.socket()) as tried:
            # As Spark's own listener does: else a port would seem taken for a minute after the last master has gone.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
    except OSError as error:
        raise SparkFailed(f"nothing can listen at {host}:{port}: {error.strerror}; --listen says where else") from None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
