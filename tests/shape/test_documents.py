"""What the documents name exists: paths, modules, and the pages that they link to.

A document that names a file which has moved is worse than one that names none. Placeholders stand for every protocol:
``harness/<protocol>/tester/`` has to be there for each.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import PROTOCOLS, PUBLIC, ROOMS, ROOT, modules

BESIDE = ("tests", "docs", "benchmarks", "examples")
"""Folders at the top level that are no rooms."""

TOP = "|".join((*ROOMS, PUBLIC, *BESIDE))
PATH = re.compile(rf"(?<![\w./<>-])(?:{TOP})/[\w.*<>/-]*[\w*>/]")
DOTTED = re.compile(rf"(?<![\w./<>-])(?:{'|'.join((*ROOMS, PUBLIC))})(?:\.[a-zA-Z_]\w*)+(?![\w/])")
FILE = re.compile(r"`([\w*]+\.(?:py|toml|h|md|json))`")
IMPORT = re.compile(rf"^from ((?:{'|'.join((*ROOMS, PUBLIC))})[.\w]*) import ([\w, ]+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PLACEHOLDER = re.compile(r"<protocol>|PROTOCOL")
ANYTHING = re.compile(r"<[a-z]+>|\b[A-Z]{2,}\b")
"""``<name>`` and ``NAME`` stand for something that the reader fills in."""

ELSEWHERE = {
    # What goldwire writes.
    "run.ndjson", "summary.json", "summary.md", "recordings.json", "finding.json", "traffic.json",
    "test_regression.py", "vector.json",
    "mine.toml", "README.md", "config.toml",  # what a user has
}  # fmt: skip

DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/**/*.md", "vectors/*.md")
    for path in ROOT.glob(pattern)
    # The first tells of what was; the second has what others wrote.
    if path.name != "CHANGELOG.md" and "node_modules" not in path.parts
)


def named(pattern: re.Pattern[str], document: str) -> Iterator[str]:
    """Give what a document names, once."""
    yield from dict.fromkeys(pattern.findall((ROOT / document).read_text(encoding="utf-8")))


def exists(path: str, folder: Path = ROOT) -> bool:
    """Tell whether a path is there: for every protocol, if it has a placeholder for them."""
    if PLACEHOLDER.search(path):
        return all(exists(PLACEHOLDER.sub(protocol, path)) for protocol in PROTOCOLS)
    return any(folder.glob(ANYTHING.sub("*", path.rstrip("/"))))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    beside = (ROOT / document).parent  # docs/examples, from a page in docs
    missing = [path for path in named(PATH, document) if not (exists(path) or exists(path, beside))]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_exist(document: str) -> None:
    """A file that is named without its folder is somewhere."""
    missing = [
        name
        for name in named(FILE, document)
        if name not in ELSEWHERE
        and not ANYTHING.search(name)
        and not any(any((ROOT / top).rglob(name)) for top in TOP.split("|"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    assert [link for link in named(LINK, document) if not (folder / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_modules_exist(document: str) -> None:
    """A dotted name is a module, or what a module defines; the public package's names are its ``__all__``."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    missing = [name for name in named(DOTTED, document) if name not in groups and not is_defined(name)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_examples_import_exists(document: str) -> None:
    found = IMPORT.findall((ROOT / document).read_text(encoding="utf-8"))
    wanted = [f"{module}.{name.strip()}" for module, names in found for name in names.split(",")]
    assert [name for name in wanted if not is_defined(name)] == []


def test_imports_of_examples_are_seen() -> None:
    assert IMPORT.findall("from harness.iuts.control import ControlRequest, serve\n") == [
        ("harness.iuts.control", "ControlRequest, serve")
    ]


def is_defined(name: str) -> bool:
    """Tell whether a dotted name is a module, a name that one has at its top level, or a function within such."""
    house = modules(*ROOMS, PUBLIC)
    if name in house or (ROOT / name.replace(".", "/")).is_dir():
        return True
    module, _, inner = name.rpartition(".")
    if module in house:
        return inner in names_of(house[module].tree)
    module, _, outer = module.rpartition(".")
    return module in house and any(
        isinstance(method, ast.FunctionDef) and method.name == inner
        for each in house[module].tree.body
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == outer
        for method in ast.walk(each)
    )


def names_of(tree: ast.Module) -> set[str]:
    """Return the names that a module defines, imports or exports."""
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                found.add(name)
            case ast.Assign(targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(ast.Name(name)):
                found.add(name)
            case ast.Import(names) | ast.ImportFrom(names=names):
                found.update(each.asname or each.name for each in names)
    exported = {each.value for node in ast.walk(tree) if isinstance(node, ast.List) for each in node.elts
                if isinstance(each, ast.Constant) and isinstance(each.value, str)}  # fmt: skip
    return found | exported


def test_the_documents_are_read() -> None:
    assert {"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/iut.md"} <= {*DOCUMENTS}
    assert not exists("harness/<protocol>/nowhere.py")
    assert not is_defined("wire.nowhere")
    assert PATH.findall("`wire/emit/` and wire/<protocol>/x.py, not zenoh/batch") == [
        "wire/emit/",
        "wire/<protocol>/x.py",
    ]
