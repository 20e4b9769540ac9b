"""Loops that read every field, over every kind of node (``tests/wire/alphabet.py``)."""

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vectors.bench.field_loops import reading
from vectors.sampling import stream
from wire import reference
from wire.layout import lay_out

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from alphabet import GRAMMARS


class Noted(dict[str, Any]):
    """A table that knows which of its names were not read."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__({name: noted(part) for name, part in value.items()})
        self.left = set(self)

    def __getitem__(self, name: str) -> Any:
        self.left.discard(name)
        return super().__getitem__(name)


def noted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Noted(value)
    return [noted(part) for part in value] if isinstance(value, list) else value


def left(value: Any) -> set[str]:
    """What was not read, anywhere in a value."""
    if isinstance(value, Noted):
        return value.left.union(*map(left, value.values()))
    return set().union(*map(left, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("name", GRAMMARS)
def test_every_field_is_read(name):
    layout = lay_out(GRAMMARS[name], f"alphabet/{name}")
    frames = [data for data, mutated in islice(stream(layout, 3), 600) if not mutated]
    values = [noted(reference.decode(GRAMMARS[name], data)) for data in frames]
    decoded = iter(values)
    reading(layout)(lambda data: next(decoded), frames)
    assert not any(map(left, values))
