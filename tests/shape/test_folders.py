"""Whoever has read one protocol knows where all of the next one stands; and tests stand where their subject does."""

from collections import defaultdict
from pathlib import PurePath

import pytest
from house import PROTOCOLS, PUBLIC, ROOMS, ROOT, modules

FILES = {
    "wire": ("__init__.py", "grammar*.py", "values*.py"),
    "vectors": ("notes.toml",),
    "harness": (
        *("__init__.py", "protocol.py", "iuts/peer.toml", "peers/__init__.py", "variants/registry.py"),
        *("variants/faults*", "variants/oddities*", "tester/conversation.py", "tester/driver.py"),
        *("tester/events.py", "tester/node_under_test.py"),
    ),
    "conformance": (
        *("__init__.py", "rules.toml", "readings.toml", "documents.toml", "cases/test_*.py"),
        *("monitors/__init__.py", "monitors/state.py"),
    ),
}
"""What every protocol brings, by room: what people look for under the same name, and what shared code asks for."""

FOLDERS = {
    "wire": {"generated"},
    "vectors": {"curated"},
    "harness": {"iuts", "peers", "tester", "variants"},
    "conformance": {"cases", "expectations", "histories", "monitors"},
    "fuzz": set(),
    "reports": set(),
}
"""The folders that a protocol may have in a room. Another one is a new subject: name it here, for all of them."""


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
@pytest.mark.parametrize("room", FILES)
def test_every_protocol_brings_the_same_files(room: str, protocol: str) -> None:
    folder = ROOT / room / protocol
    assert [pattern for pattern in FILES[room] if not any(folder.glob(pattern))] == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_protocol_has_folders_of_its_own(room: str) -> None:
    found = {
        folder.name
        for protocol in PROTOCOLS
        for folder in (ROOT / room / protocol).glob("*/")
        if folder.is_dir() and folder.name != "__pycache__"
    }
    assert found <= FOLDERS[room]


def test_no_two_files_of_tests_share_a_name() -> None:
    """Pytest imports them by their bare names: the second of two is an error, and only where both are collected."""
    named = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        if "toy" not in path.relative_to(ROOT).parts:
            named[path.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


def test_tests_stand_in_the_folders_of_the_product() -> None:
    """``tests/harness/links/`` tests ``harness/links/``. What spans several folders stands in the one around them."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.parts and folder.parts[0] in (*ROOMS, PUBLIC)}
    assert sorted(str(folder) for folder in mirrored if not (ROOT / folder).is_dir()) == []


def test_the_test_of_a_module_stands_where_the_module_does() -> None:
    """In the folder of the module; in one around it or within it, where it needs more than the module."""
    places: dict[tuple[str, str], set[PurePath]] = defaultdict(set)
    for module in modules(*ROOMS, PUBLIC).values():
        stem = module.path.parent.name if module.path.stem == "__init__" else module.path.stem
        places[module.room, stem].add(module.path.parent)
    misplaced = {}
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        folder = test.parent.relative_to(ROOT / "tests")
        subjects = places[folder.parts[0], test.stem.removeprefix("test_")] if folder.parts else set()
        if subjects and not any(folder.is_relative_to(each) or each.is_relative_to(folder) for each in subjects):
            misplaced[str(folder / test.name)] = sorted(map(str, subjects))
    assert misplaced == {}


def test_the_tests_of_a_protocol_stand_in_its_folders() -> None:
    tests = [test.relative_to(ROOT / "tests") for test in (ROOT / "tests").rglob("test_*.py")]
    outside = [
        str(test)
        for test in tests
        if test.parts[0] in ROOMS
        for protocol in PROTOCOLS
        if f"_{protocol}_" in f"_{test.stem}_" and protocol not in test.parts
    ]
    assert sorted(outside) == []
