"""What is printed fits the terminal, and nothing that is copied is broken."""

import os
import sys
from pathlib import Path

import click
import pytest
from terminals import seen_on_terminal

from conformance.gate.printing import fitted
from conformance.gate.terminal import ranges, told

GOLDWIRE = str(Path(sys.executable).with_name("goldwire"))

RULE = f"{click.style('FAIL', fg='red')}  ZI-015  stated  {'a rule that says a lot ' * 6}"
REPEAT = f"  repeat    goldwire test zenoh --iut ./a/very/long/path/{'x' * 70}.toml -k ZI-015"
BYTES = f"{' ' * 23}{'00 ' * 60}"


def test_prose_is_wrapped_and_what_is_copied_is_not() -> None:
    case = f"  case      test_a.test_b: {'one more word ' * 10}"
    lines = "\n".join(fitted([RULE, case, REPEAT, BYTES, "short"], 80)).splitlines()
    assert all(len(click.unstyle(each)) <= 80 for each in lines if each not in (REPEAT, BYTES))
    assert {REPEAT, BYTES, "short"} <= set(lines)
    # The words behind a label stay behind it, and a style says nothing of the width.
    wrapped = [click.unstyle(each) for each in lines]
    assert wrapped[wrapped.index("short") - 3].startswith(" " * 12)
    assert "".join(wrapped[:2]).startswith("FAIL  ZI-015  stated  a rule")


@pytest.mark.parametrize("width", [0, 20])
def test_a_pipe_and_a_sliver_of_a_terminal_get_whole_lines(width: int) -> None:
    assert list(fitted([RULE, REPEAT], width)) == [RULE, REPEAT]


def test_times_and_numbers_in_words() -> None:
    assert [told(0.44), told(34.2), told(125)] == ["0.4 s", "34 s", "2 min 5 s"]
    assert ranges([1, 2, 3, 4, 5, 17]) == "1 to 5, 17"


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}, {"TERM": "xterm"}])
def test_styles_are_for_terminals_that_want_them(environment: dict[str, str]) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environment
    # Of the standard output alone: the progress bar is another matter, and another file.
    command = [GOLDWIRE, "test", "zenoh", "-k", "test_current_future_interest_gets_one_final"]
    status, seen = seen_on_terminal(command, environ, columns=80, progress=False)
    assert status == 0
    assert b"AS EXPECTED" in seen
    assert (b"\x1b" in seen) == (environment == {"TERM": "xterm"})
    assert all(len(click.unstyle(line)) <= 80 for line in seen.decode().splitlines())
