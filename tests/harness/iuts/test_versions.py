"""What a program says of its version."""

import msgspec
import pytest

from conformance.run.settings import gather
from harness.errors import BadDescription
from harness.iuts.description import resolve
from harness.iuts.versions import printed_version

TEXT = """
name = "mine"
protocol = "zenoh"
roles = ["router"]
[process]
command = ["./mine"]
version_command = {command}
"""


@pytest.fixture
def described(tmp_path):
    def write(command):
        path = tmp_path / "mine.toml"
        path.write_text(TEXT.replace("{command}", msgspec.json.encode(command).decode()))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("print('Server version: 1.0.6'); print('Protocol version(s): 2')", "1.0.6"),
        ("import sys; sys.exit('mine v2.10')", "2.10"),
        ("print('nightly, of protocol 2')", ""),
        ("print(b'\\xff'.decode('latin-1'))", ""),
    ],
)
def test_the_first_version_that_is_printed_is_the_programs(described, printed, version):
    path = described(["{python}", "-c", printed])
    assert printed_version(resolve(path, "zenoh")) == version
    assert gather(path, "zenoh").version == version


def test_a_program_that_is_not_there_has_none(described):
    assert printed_version(resolve(described(["{here}/missing"]), "zenoh")) == ""


@pytest.mark.parametrize("iut", ["peer:", "tcp/127.0.0.1:1"])
def test_who_is_not_asked_has_none(iut):
    assert printed_version(resolve(iut, "zenoh")) == ""


def test_nobody_is_asked_before_there_is_an_address(described):
    with pytest.raises(BadDescription, match=r"version_command: unknown placeholder .*: port; known are here, python"):
        resolve(described(["mine", "{port}"]), "zenoh")


def test_an_environment_says_itself_which_version_it_is(described, tmp_path):
    path = tmp_path / "mine.toml"
    described(["mine", "-v"])
    path.write_text(path.read_text() + '[environment]\npackage = "mine"\nversion = "1.0"\n')
    with pytest.raises(BadDescription, match="leave out one of them"):
        resolve(str(path), "zenoh")
