"""Grammars that no protocol has, as layouts that the catalogue knows, with engines that are made on the spot."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made import make

from wire import catalogue
from wire.engines import Engine, engine
from wire.layout import lay_out
from wire.primitives import Grammar


def announce(monkeypatch: pytest.MonkeyPatch, protocol: str, grammars: Mapping[str, Grammar]) -> None:
    """Let the catalogue know grammars as the layouts of a protocol, until the test ends.

    Trees are kept by their names for good: another protocol's name has to be another one.
    """
    known = {f"{protocol}/{name}": grammar for name, grammar in grammars.items()}
    of, everything = catalogue.grammars_of, {**catalogue.grammars(), **known}
    monkeypatch.setattr(catalogue, "grammars", lambda: everything)
    monkeypatch.setattr(catalogue, "grammars_of", lambda name: {**of(name), **(known if name == protocol else {})})


def engines(protocol: str, grammars: Mapping[str, Grammar], into: Path) -> list[Engine]:
    """Return the engines of grammars: the reference, Python, and C where it compiles."""
    layouts = [lay_out(grammar, f"{protocol}/{name}") for name, grammar in grammars.items()]
    made: dict[str, Any] = make(protocol, layouts, into, with_columns=False)

    def of(codecs: Any) -> Any:
        return lambda layout: codecs[layout.partition("/")[2]]

    return [engine("reference"), *(Engine(name, of(made[name])) for name in ("python", "native") if name in made)]
