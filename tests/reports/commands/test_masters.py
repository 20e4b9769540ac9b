"""Where jobs run: what is no master is wrong usage everywhere, one that nobody serves is said at once, in one line."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from harness.command import WrongUsage
from reports.commands import options
from reports.commands.pipeline import pipeline
from reports.lake.lake import Lake
from reports.masters import NobodyThere, check_answers


def call(*words: object) -> Result:
    return CliRunner().invoke(pipeline, [str(word) for word in words], standalone_mode=False)


@pytest.mark.parametrize(
    "master", ["nowhere", "local[", "local[0]", "local[many]", "spark://", "spark://host", "http://host:1"]
)
@pytest.mark.parametrize("job", ["decode", "judge"])
def test_a_wrong_master_is_wrong_usage(job, master, tmp_path):
    Lake(tmp_path / "lake", create=True)
    done = call(job, "zenoh", "--lake", tmp_path / "lake", "--master", master)
    assert isinstance(done.exception, WrongUsage)
    assert done.exception.exit_code == 2
    assert f"{master!r} is no master of Spark" in done.exception.message


def test_a_master_that_nobody_serves_is_said_in_one_line():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        began = time.monotonic()
        with pytest.raises(NobodyThere) as refused:
            check_answers(f"spark://127.0.0.1:{port},127.0.0.1:{port}")
        assert time.monotonic() - began < 15
        assert "\n" not in str(refused.value)
        assert f"nobody answers at spark://127.0.0.1:{port}" in str(refused.value)
    for elsewhere in ("local[2]", "yarn"):
        check_answers(elsewhere)


# What listens at an address, and says to who asks as a master is asked.
MASTER = b"\0\0\0\0\0\0\0\x40\x08\0\0\0\x0f/files/goldwire\0\0\0\x20Stream was not found."


@contextmanager
def listening(says: bytes | None) -> Iterator[str]:
    """Listen at a port, and say something to one who asks; to the end of it, or nothing at all (None)."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                connection.recv(100)
                if says is None:
                    connection.recv(100)
                else:
                    connection.sendall(says)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"spark://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", None])
def test_what_answers_and_is_no_master_is_said_in_one_line(says: bytes | None) -> None:
    with listening(says) as address, pytest.raises(NobodyThere) as refused:
        check_answers(address, patience=0.5 if says is None else 10)
    assert "\n" not in str(refused.value)
    assert "does not answer as a master does" in str(refused.value)


def test_a_master_is_one_that_knows_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(MASTER) as address:
        check_answers(address)
    # With a secret it may say nothing to us, and we know no better.
    with listening(b"") as address:
        check_answers(address, settings={"spark.authenticate": "true"})
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    with listening(b"") as address:
        check_answers(address)


@pytest.mark.parametrize("job", ["decode", "judge"])
def test_a_job_that_finds_nothing_of_its_protocol_says_so(job, tmp_path):
    Lake(tmp_path / "lake", create=True)
    done = call(job, "zenoh", "--lake", tmp_path / "lake")
    assert done.return_value == 1, done.output
    assert "of zenoh: goldwire pipeline ingest zenoh takes some in" in done.stderr


def test_small_jobs_run_here_and_large_ones_on_spark_where_it_is(monkeypatch, capsys):
    assert options.chosen("local[2]", 0) == "local[2]"
    assert options.chosen(options.BY_SIZE, options.SPARK_FROM - 1) == options.NO_SPARK
    monkeypatch.setattr(options, "find_spec", lambda name: name)
    assert options.chosen(options.BY_SIZE, options.SPARK_FROM) == options.ALL_CORES
    assert options.chosen(options.BY_SIZE, 0, options.SPARK_FROM_FRAMES) == options.ALL_CORES
    monkeypatch.setattr(options, "find_spec", lambda name: None)
    assert options.chosen(options.BY_SIZE, options.SPARK_FROM) == options.NO_SPARK
    assert "Spark is not installed, so this process does all" in capsys.readouterr().err


@pytest.mark.parametrize(("job", "count"), [("sweep", "--frames"), ("select", "--candidates")])
def test_jobs_that_generate_few_frames_run_here_too(job, count, tmp_path, monkeypatch):
    asked: list[str] = []

    def told(master: str, *_: object) -> None:
        asked.append(master)
        raise WrongUsage("enough")

    monkeypatch.setattr(options, "spark", told)
    monkeypatch.setattr(options, "find_spec", lambda name: name)
    for frames in (2000, options.SPARK_FROM_FRAMES):
        call(job, "zenoh/network-message", "--lake", tmp_path / "lake", count, frames)
    assert asked == [options.NO_SPARK, options.ALL_CORES]
