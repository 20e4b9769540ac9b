"""The shape of the house, from its imports: no circle, no arrow upward, no protocol that knows another."""

import re

import pytest
from house import PROTOCOLS, PUBLIC, ROOMS, Module, arrows, circles, modules, protocol_of

HOUSE = modules()

STRANGERS = {
    "wire": {"socket", "asyncio", "pytest", "_pytest"},
    "vectors": {"socket", "asyncio", "pytest", "_pytest"},
    "harness": {"pytest", "_pytest"},
}
"""What a room knows nothing of, besides the rooms below it: codecs are pure, links and peers need no test runner."""


def test_the_house_is_read() -> None:
    assert len(HOUSE) > 200
    assert {"zenoh", "pathfinder"} <= PROTOCOLS
    assert HOUSE["harness.trace"].room == "harness"
    assert protocol_of("wire.zenoh.keys") == "zenoh"
    assert protocol_of("wire.layout") is None


def test_circles_are_seen_however_long() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_no_circle_of_imports_is_left() -> None:
    assert circles(arrows(HOUSE)) == []


def test_no_arrow_runs_upward() -> None:
    """By import, and by name: ``import_module(f"reports.{name}")`` and ``python -m fuzz.isolation`` are arrows too."""
    upward = []
    for module in HOUSE.values():
        below = {*ROOMS[ROOMS.index(module.room) + 1 :], PUBLIC, "tests", "benchmarks"}
        upward += [(module.name, name) for name in sorted(module.imported) if name.split(".")[0] in below]
        upward += [(module.name, text) for text in sorted(module.texts) if _leads_into(text, below)]
    assert upward == []


def _leads_into(text: str, rooms: set[str]) -> bool:
    """Tell whether a string is the dotted name of a module, or what an f-string that makes one begins with."""
    room, dot, rest = text.partition(".")
    return bool(dot) and room in rooms and (not rest or text in HOUSE)


def test_no_protocol_imports_another_protocol() -> None:
    known = [
        (module.name, name)
        for module in HOUSE.values()
        if module.protocol is not None
        for name in sorted(module.imported)
        if protocol_of(name) not in (None, module.protocol)
    ]
    assert known == []


def test_shared_code_names_no_protocol() -> None:
    """Neither imports one nor has its name, or one of its layouts, as a value. Prose may name one as an example."""

    def names_one(module: Module) -> list[str]:
        imported = [name for name in module.imported if protocol_of(name)]
        return imported + [text for text in module.texts if PROTOCOLS & {*re.split("[./:]", text)}]

    shared = [module for module in HOUSE.values() if module.protocol is None]
    named = {module.name: sorted(names_one(module)) for module in shared if names_one(module)}
    assert named == {}


@pytest.mark.parametrize("room", STRANGERS)
def test_a_room_knows_nothing_of_what_is_not_its_own(room: str) -> None:
    known = [
        (module.name, name)
        for module in HOUSE.values()
        if module.room == room
        for name in sorted(module.imported)
        if name.split(".")[0] in STRANGERS[room]
    ]
    assert known == []
