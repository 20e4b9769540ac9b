"""The root of the command line: what it lists, and what the exit statuses say."""

import ast
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from goldwire.__main__ import main as entry
from harness import command
from harness.errors import BadDescription, LinkClosed, StartFailed
from harness.protocol import known, load
from wire.engines import MissingEngine, live


def test_help_lists_what_the_rooms_bring() -> None:
    said = CliRunner().invoke(command.goldwire, ["--help"]).output
    for name in ("codec", "decode", "fuzz", "peer", "replay", "rules", "selfcheck", "test", "vectors"):
        assert f"  {name} " in said


def test_an_unknown_command_names_the_known_ones() -> None:
    outcome = CliRunner().invoke(command.goldwire, ["tset"])
    assert outcome.exit_code == 2
    assert "there is no command 'tset'; there are" in outcome.output


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadDescription("which?"), 2),
        (StartFailed("it did not"), 3),
        (LinkClosed("fin", "gone"), 1),
        (KeyboardInterrupt(), 130),
        (click.UsageError("how?"), 2),
        (MissingEngine("not here"), 2),
    ],
)
def test_errors_are_one_line_and_a_status(
    error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(command.goldwire, "main", fails)
    with pytest.raises(SystemExit) as left:
        command.main()
    assert left.value.code == status
    said = capsys.readouterr().err
    assert said.strip()
    assert "Traceback" not in said


def test_a_reader_that_leaves_is_no_traceback() -> None:
    code = "from harness.command import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "rules", "zenoh"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        process.wait(30)
    assert "Traceback" not in said


def test_an_engine_that_nobody_knows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    live.cache_clear()
    monkeypatch.setenv("GOLDWIRE_ENGINE", "quick")
    monkeypatch.setattr(sys, "argv", ["goldwire", "rules", "zenoh"])
    with pytest.raises(SystemExit) as left:
        command.main()
    assert left.value.code == 2
    assert capsys.readouterr().err == "Error: GOLDWIRE_ENGINE is 'quick'; there are reference, python, native\n"


def test_help_lists_what_commands_do_and_loads_none_of_them() -> None:
    """A regression: it took a second, as each command was loaded for its line."""
    code = (
        "import sys; sys.argv = ['goldwire', '--help']\n"
        "from harness.command import goldwire\n"
        "goldwire.main(standalone_mode=False)\n"
        "print(sorted({'hypothesis', 'construct', 'pytest', 'rich', 'scapy'} & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    *shown, loaded = ended.stdout.splitlines()
    assert loaded == "[]"
    # What is read from the sources is what the commands say.
    goldwire = command.goldwire
    assert isinstance(goldwire, click.Group)
    context = click.Context(goldwire)
    for name in goldwire.list_commands(context):
        found = goldwire.get_command(context, name)
        assert found is not None
        (line,) = [each for each in shown if each.split()[:1] == [name]]
        assert line.removeprefix(f"  {name}").strip().removesuffix("...") in " ".join((found.help or "").split())


@pytest.mark.parametrize("protocol", known())
def test_a_peer_waits_for_nothing_that_it_does_not_need_to_listen(protocol: str) -> None:
    definition = load(protocol)
    usual = next(iter(definition.framings)) if definition.is_brokered else definition.usual_transport
    way, where = "--connect" if definition.is_brokered else "--listen", f"{usual}/127.0.0.1:7000"
    code = (
        f"import asyncio, sys; sys.argv = ['goldwire', 'peer', {protocol!r}, {way!r}, {where!r}]\n"
        "from harness.command import goldwire\n"
        "asyncio.run = lambda serving: serving.close()\n"
        "goldwire.main(standalone_mode=False)\n"
        "print(sorted({'cryptography', 'hypothesis', 'pyarrow', 'pytest', 'rich', 'scapy'} & set(sys.modules)))\n"
        "print(sorted(each for each in sys.modules if each.startswith('wire.') and each.count('.') == 1))\n"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded, modules = ended.stdout.splitlines()
    assert loaded == "[]"
    assert {f"wire.{each}" for each in known()} & set(ast.literal_eval(modules)) == {f"wire.{protocol}"}


def ended(redirection: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command by a shell, which redirects its output."""
    line = f'exec "$@" {redirection}'
    command = ["sh", "-c", line, "sh", sys.executable, "-P", "-m", "goldwire", *words]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)


@pytest.mark.parametrize("words", [("explain", "ZI-015"), ("rules",)])
@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        ("> /dev/full", "Error: standard output: No space left on device\n"),
        (">&-", "Error: standard output is closed: what was to be said is lost\n"),
    ],
)
def test_what_is_lost_of_the_output_is_told_and_no_success(words: tuple[str, ...], redirection: str, said: str) -> None:
    done = ended(redirection, *words)
    assert (done.returncode, done.stderr) == (1, said)


def test_an_output_of_another_encoding_takes_every_character() -> None:
    done = ended("", "explain", "ZI-015", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "goldwire test zenoh --iut \\u2026 -k ZI-015" in done.stdout


def test_an_interrupt_while_the_first_modules_are_loaded_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "harness.command", Interrupted())  # type: ignore[arg-type]
    with pytest.raises(SystemExit) as end:
        entry()
    assert (end.value.code, capsys.readouterr().err) == (130, "interrupted\n")
