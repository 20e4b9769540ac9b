"""The layouts by name: what the command line, the vectors and the pipe call them."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import wire
from wire.errors import UnknownLayout
from wire.layout import Layout, lay_out
from wire.primitives import Grammar


def protocols() -> list[str]:
    """Return the protocols that declare layouts: the folders of this room that export ``LAYOUTS``."""
    return sorted(
        module.name
        for module in iter_modules(wire.__path__)
        if module.ispkg and hasattr(import_module(f"wire.{module.name}"), "LAYOUTS")
    )


@cache
def grammars() -> dict[str, Grammar]:
    """Return every grammar by its layout's name (``zenoh/network-message``)."""
    return {
        f"{protocol}/{name}": grammar
        for protocol in protocols()
        for name, grammar in import_module(f"wire.{protocol}").LAYOUTS.items()
    }


def grammar(name: str) -> Grammar:
    """Return one grammar; ``UnknownLayout`` lists the known names."""
    known = grammars()
    if name not in known:
        raise UnknownLayout(f"no layout is called {name!r}; there are {', '.join(known)}")
    return known[name]


@cache
def layout(name: str) -> Layout:
    """Return the tree of one layout; ``UnknownLayout`` lists the known names."""
    return lay_out(grammar(name), name)
