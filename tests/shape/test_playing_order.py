"""Which files workers are given first: ``conftest.py`` at the top."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from house import ROOT


def item(path: str, *marks: pytest.MarkDecorator) -> Any:
    found = {each.name: each.mark for each in marks}
    return SimpleNamespace(path=Path(path), get_closest_marker=found.get)


def ordered(config: Any, *items: Any) -> list[str]:
    conftest: Any = config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    found = list(items)
    conftest.pytest_collection_modifyitems(config, found)
    return [each.path.name for each in found]


def test_files_that_take_longest_are_played_first(request: pytest.FixtureRequest) -> None:
    few, many, takes = item("few"), item("many"), item("takes", pytest.mark.takes(3))
    slow, slower = item("slow", pytest.mark.slow(seconds=20)), item("slower", pytest.mark.slow(seconds=30))
    assert ordered(request.config, few, many, many, takes, slow, few, many, slower) == [
        *("slower", "slow", "takes"),
        *("many", "many", "many"),
        *("few", "few"),
    ]


def test_files_stay_in_one_piece_and_cases_of_the_gate_where_they_are(request: pytest.FixtureRequest) -> None:
    one, two = item("one"), item("two")
    assert ordered(request.config, one, one, two, two) == ["one", "one", "two", "two"]
    gate: Any = SimpleNamespace(getoption=lambda *_, **__: "peer:", pluginmanager=request.config.pluginmanager)
    assert ordered(gate, item("few"), item("slow", pytest.mark.slow(seconds=20))) == ["few", "slow"]
