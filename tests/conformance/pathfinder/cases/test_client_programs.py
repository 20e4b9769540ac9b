"""``goldwire test pathfinder`` with clients that are programs: the example of the manual, and one that is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "pathfinder-client.toml"
QUICK = ("domains", "listings", "services", "subscribe", "transactions")
"""The files whose cases wait for nothing; all of them take a minute, as a client's pauses are real ones."""

PEER = """
name = "{name}"
protocol = "pathfinder"
roles = ["client"]
dials = ["client"]

[process]
command = [
    "{{python}}", "-c", "from harness.command import main; main()",
    "peer", "pathfinder", "--role", "client", "--connect", "{{connect}}", "--fault", "{name}",
]
restart = "every-case"
"""


def played(iut: str | Path, pattern: str) -> subprocess.CompletedProcess[str]:
    """Test a client with some cases."""
    command = [GOLDWIRE, "test", "pathfinder", "--iut", str(iut), "-k", pattern]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow(seconds=8)  # a process for each of its cases
def test_the_example_is_as_expected() -> None:
    done = played(EXAMPLE, " or ".join(f"test_client_{each}*" for each in QUICK))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 WARN, 0 FAIL, 0 INCONCLUSIVE, 0 ERROR" in done.stdout, done.stdout


@pytest.mark.slow  # pauses of seconds, as a client makes them that was cut off
def test_the_example_comes_back() -> None:
    done = played(EXAMPLE, "after_a_loss or unpublished or fields_too_many")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 WARN, 0 FAIL, 0 INCONCLUSIVE, 0 ERROR" in done.stdout, done.stdout


@pytest.mark.slow  # plays a program in real time
@pytest.mark.parametrize(
    ("fault", "rule", "pattern"),
    [
        ("publishes-no-ttl", "PF-160", "test_services_that_are_published"),
        ("publishes-once", "PF-046", "test_a_service_that_changes"),
        ("frail-client", "PF-221", "test_what_is_no_message"),
    ],
)
def test_a_client_that_is_wrong(fault: str, rule: str, pattern: str) -> None:
    Path("wrong.toml").write_text(PEER.format(name=fault))
    done = played("wrong.toml", pattern)
    assert any(line.startswith(("FAIL", "CRASH", "WARN")) and rule in line for line in done.stdout.splitlines()), (
        done.stdout + done.stderr
    )
