"""What ``--help`` shows of every command, and what a shell completes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from console_examples import ROOT, complaint_about

from conformance.catalogue.loading import load_catalogue, protocols
from harness.command import goldwire
from wire.catalogue import grammars

RULE = re.compile(r"\b[A-Z]{2}-\d{3}\b")
LAYOUT = re.compile(rf"\b(?:{'|'.join(protocols())})/[\w-]+")


def commands(
    command: click.Command = goldwire, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give every command with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


def examples(command: click.Command) -> list[str]:
    """Return the examples that a command's help shows."""
    _, _, block = cleandoc(command.help or "").partition("\b\nExamples:\n")
    return [line.strip() for line in block.splitlines() if line.strip()]


ALL = dict(commands())


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_has_examples_of_what_there_is(path: tuple[str, ...]) -> None:
    found = examples(ALL[path])
    assert found
    for line in found:
        assert line.split()[: len(path) + 1] == ["goldwire", *path]
        assert complaint_about(line) == ""
        assert {name for name in LAYOUT.findall(line) if name not in grammars()} == set()
        rules = {rule for protocol in protocols() for rule in load_catalogue(protocol).rules}
        assert set(RULE.findall(line)) <= rules
        assert len(f"  {line}") <= 100  # a line that is not wrapped


PLAYED = ("explain", "rules", "decode", "dissector", "vectors coverage", "codec engines")
"""Commands whose examples need nothing and take no time; README's are played by test_console_examples.py."""


@pytest.mark.slow(seconds=2)  # each starts a goldwire
@pytest.mark.parametrize("path", PLAYED)
def test_examples_work(path: str, tmp_path: Path) -> None:
    (tmp_path / "frames.txt").write_text("1905\n")
    environ = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in examples(ALL[tuple(path.split())]):
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), line


@pytest.mark.parametrize(
    ("words", "begun", "expected"),
    [
        ([], "exp", {"explain"}),
        (["test"], "ze", {"zenoh"}),
        (["test", "zenoh"], "--max", {"--max-time"}),
        (["test", "zenoh", "-k"], "ZI-01", {f"ZI-01{n}" for n in range(10)}),
        (["explain", "--protocol", "pathfinder"], "R04", {"R04"}),
        (["explain", "--protocol", "pathfinder"], "ZI", set()),
        (["explain"], "zi-015", {"ZI-015"}),
        (["explain", "--protocol", "zenoh"], "R04", {"R04"}),
        (["decode"], "zenoh/ba", {"zenoh/batch"}),
        (["codec", "check"], "zenoh/ba", {"zenoh/batch"}),
        (["vectors", "build"], "zenoh/ba", {"zenoh/batch"}),
        (["fuzz", "codec"], "zenoh/ba", {"zenoh/batch"}),
        (["pipeline", "sweep"], "zenoh/ba", {"zenoh/batch"}),
        (["pipeline", "judge"], "path", {"pathfinder"}),
    ],
)
def test_a_shell_completes_commands_protocols_layouts_and_rules(
    words: list[str], begun: str, expected: set[str]
) -> None:
    completion = ShellComplete(goldwire, {}, "goldwire", "_GOLDWIRE_COMPLETE")
    assert {item.value for item in completion.get_completions(words, begun)} == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_the_readme_says_of_completion_is_what_there_is(shell: str) -> None:
    assert f"_GOLDWIRE_COMPLETE={shell}_source goldwire" in (ROOT / "README.md").read_text()
    environ = os.environ | {"_GOLDWIRE_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [Path(sys.executable).with_name("goldwire")], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "_GOLDWIRE_COMPLETE" in done.stdout
