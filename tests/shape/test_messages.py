"""What is printed names no file that is not installed: docs, examples and tests stand beside the packages."""

import ast
import re
from collections.abc import Iterator

import pytest
from house import PUBLIC, ROOMS, ROOT

NOT_INSTALLED = re.compile(
    r"\b(?:docs|examples|benchmarks|tests)/[\w.*/-]*\w|\b(?:README|CHANGELOG|CONTRIBUTING|ARCHITECTURE)\.md\b"
)
MENTION = re.compile(r"\b(?:docs|examples|benchmarks|tests)/|\.md\b")
"""Without this in its text, a module names none of them: most need not be parsed."""

WRITTEN = {"fuzz/findings.py": {"README.md"}}
"""What goldwire itself writes, and so may name."""

SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for room in (*ROOMS, PUBLIC)
    for path in (ROOT / room).rglob("*.py")
    if "generated" not in path.parts
)


def shown(tree: ast.Module) -> Iterator[str]:
    """Give the texts of a module that can be printed: all but docstrings; of commands those as well, as their help."""
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_command = any("command" in ast.unparse(each) or "group" in ast.unparse(each)
                             for each in getattr(node, "decorator_list", ()))  # fmt: skip
            for below in node.body:
                # A text that stands alone explains what is before it.
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and not is_command:
                    silent.add(id(below.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


def test_what_is_printed_names_no_file_that_is_not_installed() -> None:
    texts = {path: (ROOT / path).read_text() for path in SOURCES}
    named = {path: names(text) - WRITTEN.get(path, set()) for path, text in texts.items() if MENTION.search(text)}
    assert {path: found for path, found in named.items() if found} == {}
    assert len(named) > 20


def names(source: str) -> set[str]:
    """Return the files that a module's printed texts name and that are not installed."""
    return {name for text in shown(ast.parse(source)) for name in NOT_INSTALLED.findall(text)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""A module of docs/iut.md."""\nx = 1\n"""docs/iut.md"""', []),
        ('def f():\n    raise E("read docs/iut.md")', ["docs/iut.md"]),
        ('@click.command()\ndef f():\n    """Read docs/iut.md."""', ["docs/iut.md"]),
        ('say(f"{x}: README.md has it")', ["README.md"]),
    ],
)
def test_such_names_are_seen(source: str, expected: list[str]) -> None:
    assert names(source) == {*expected}
