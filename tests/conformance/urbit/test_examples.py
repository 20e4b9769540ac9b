"""The publisher and the subscriber in JavaScript, as the suite tests whatever is not its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "urbit.toml"

needs_node = pytest.mark.skipif(
    shutil.which("node") is None and "CI" not in os.environ, reason="node is not there to run JavaScript"
)


def gate(*options: str) -> tuple[int, str]:
    ended = subprocess.run([GOLDWIRE, "test", "urbit", *options], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("path", [(), ("--path", "loss=0.1")], ids=["", "10 % loss"])
@pytest.mark.parametrize("role", ["publisher", "subscriber"])
def test_the_javascript_examples_pass(role: str, path: tuple[str, ...]) -> None:
    """Both keep every rule that is tested, also where every tenth datagram is lost."""
    status, said = gate("--iut", f"{EXAMPLE}:{role}", *path)
    assert status == 0, said
    assert "AS EXPECTED" in said


@needs_node
@pytest.mark.slow(seconds=3)
def test_one_case_of_each_in_javascript() -> None:
    """A quick look: the basic things."""
    for role, keyword in (("publisher", "test_some_value_is_told"), ("subscriber", "test_some_value_is_cancelled")):
        status, said = gate("--iut", f"{EXAMPLE}:{role}", "-k", keyword)
        assert status == 0, said
