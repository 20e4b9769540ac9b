"""What a protocol brings to conformance: all of it, or a refusal that names the part and what to do."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import conformance
import conformance.suite
from conformance.cases import cases
from conformance.catalogue.loading import protocols
from conformance.suite import Suite
from harness.protocol import IncompleteProtocol

MONITORS = """
    from conformance.monitors import Monitors
    from conformance.zenoh.monitors.state import SessionState
    MONITORS = Monitors(SessionState)
"""
MISTAKEN = """
    from conformance.monitors import KEPT

    @MONITORS("ZI-999", on=lambda role, direction, form: True)
    def all_is_well(event, state):
        return KEPT
"""
CASES = """
    from conformance.cases import rule

    @rule("ZI-011", "ZI-998")
    def test_nothing(node):
        \"\"\"Do nothing.\"\"\"
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Write:
    """Return what writes a protocol's files into a folder of its own beside the others, and returns its name.

    Its catalogue and its half in the harness are Zenoh's.
    """
    name = f"suited_{abs(hash(request.node.name))}"
    zenoh = Suite("zenoh")
    monkeypatch.setattr(conformance, "__path__", [*conformance.__path__, str(tmp_path)])
    monkeypatch.setattr(conformance.suite, "load_protocol", lambda name: zenoh.harness)
    monkeypatch.setattr(conformance.suite, "load_catalogue", lambda name: zenoh.catalogue)

    def written(**files: str) -> str:
        for file, text in {"__init__": "", **files}.items():
            path = tmp_path / name / f"{file.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(textwrap.dedent(text))
        return name

    return written


@pytest.mark.parametrize("protocol", protocols())
def test_every_protocol_is_complete(protocol: str) -> None:
    suite = Suite(protocol)
    assert list(suite.monitors)
    assert suite.cases == tuple(cases(protocol))


def test_missing_monitors_are_named(write: Write) -> None:
    name = write()
    with pytest.raises(IncompleteProtocol, match=f"'{name}' has no monitors: add conformance/{name}/monitors/"):
        Suite(name)


def test_a_package_without_monitors_is_named(write: Write) -> None:
    name = write(monitors__in____init__="monitors = []")
    with pytest.raises(IncompleteProtocol, match=re.escape(f"conformance/{name}/monitors/ declares no MONITORS")):
        Suite(name)


def test_missing_cases_are_named_when_they_are_asked_for(write: Write) -> None:
    name = write(monitors__in____init__=MONITORS)
    suite = Suite(name)
    with pytest.raises(IncompleteProtocol, match=f"'{name}' has a catalogue but no cases yet: add conformance/{name}"):
        suite.cases  # noqa: B018


def test_rules_that_do_not_exist_are_named(write: Write) -> None:
    name = write(
        monitors__in____init__=MONITORS,
        cases__in____init__="",
        cases__in__test_nothing=CASES,
    )
    suite = Suite(name)
    with pytest.raises(IncompleteProtocol, match=f"conformance/{name}/cases/: ZI-998 not in rules.toml"):
        suite.cases  # noqa: B018


def test_a_rule_that_does_not_exist_has_no_monitor(write: Write) -> None:
    name = write(monitors__in____init__=MONITORS + MISTAKEN)
    with pytest.raises(IncompleteProtocol, match=f"conformance/{name}/monitors/: ZI-999 not in rules.toml"):
        Suite(name)
