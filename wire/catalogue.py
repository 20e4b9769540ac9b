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
    return {name: grammar for protocol in protocols() for name, grammar in grammars_of(protocol).items()}


@cache
def grammars_of(protocol: str) -> dict[str, Grammar]:
    """Return the grammars of one protocol, by the names of their layouts; none where it is no protocol."""
    # Whoever serves one protocol need not wait for the grammars of the others.
    if not any(module.name == protocol and module.ispkg for module in iter_modules(wire.__path__)):
        return {}
    declared = vars(import_module(f"wire.{protocol}")).get("LAYOUTS", {})
    return {f"{protocol}/{name}": grammar for name, grammar in declared.items()}


def is_layout(name: str) -> bool:
    """Tell whether a layout is called so; of the other protocols nothing is loaded."""
    return name in grammars_of(name.partition("/")[0])


def grammar(name: str) -> Grammar:
    """Return one grammar; ``UnknownLayout`` lists the known names."""
    if not is_layout(name):
        raise UnknownLayout(f"no layout is called {name!r}; there are {', '.join(grammars())}")
    return grammars_of(name.partition("/")[0])[name]


@cache
def layout(name: str) -> Layout:
    """Return the tree of one layout; ``UnknownLayout`` lists the known names."""
    return lay_out(grammar(name), name)
