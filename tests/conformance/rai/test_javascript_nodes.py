"""The publisher and the subscriber in JavaScript, over real brokers, as the suite tests whatever is not its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "rai.toml"

# `npm ci` fetches the clients of the brokers; in CI all of it has to be there.
IS_THERE = (
    shutil.which("node") is not None
    and shutil.which("nats-server") is not None
    and shutil.which("redis-server") is not None
    and (EXAMPLE.parent / "rai" / "node_modules").is_dir()
)

needs_node = pytest.mark.skipif(
    not IS_THERE and "CI" not in os.environ,
    reason="node, its packages (npm ci --prefix docs/examples/rai), nats-server or redis-server are not there",
)


def gate(*options: str) -> tuple[int, str]:
    ended = subprocess.run([GOLDWIRE, "test", "rai", *options], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "link"),
    [
        ("publisher", "nats"),
        ("subscriber", "redis"),
        # The same once more, the other way round.
        pytest.param("publisher", "redis", marks=pytest.mark.sweep),
        pytest.param("subscriber", "nats", marks=pytest.mark.sweep),
    ],
)
def test_the_javascript_examples_pass(role: str, link: str) -> None:
    """Both keep every rule that is tested, over the npm clients of either broker."""
    status, said = gate("--iut", f"{EXAMPLE}:{role}", "--link", link)
    assert status == 0, said
    assert "AS EXPECTED" in said


@needs_node
@pytest.mark.slow(seconds=3)
def test_one_case_of_each_in_javascript() -> None:
    """A quick look: the basic things."""
    for role, keyword in (("publisher", "test_some_image_is_shown"), ("subscriber", "test_some_value_is_told")):
        status, said = gate("--iut", f"{EXAMPLE}:{role}", "-k", keyword)
        assert status == 0, said
