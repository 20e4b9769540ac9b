"""The layouts by name: what the command line, the vectors and the pipe call them."""

from importlib import import_module
from pkgutil import iter_modules

import wire
from wire.errors import UnknownLayout
from wire.primitives import Grammar


def protocols() -> list[str]:
    """Return the protocols that declare layouts: the folders of this room."""
    return sorted(module.name for module in iter_modules(wire.__path__) if module.ispkg)


def layouts() -> dict[str, Grammar]:
    """Return every layout by its name (``zenoh/network-message``)."""
    return {
        f"{protocol}/{name}": layout
        for protocol in protocols()
        for name, layout in import_module(f"wire.{protocol}").LAYOUTS.items()
    }


def layout(name: str) -> Grammar:
    """Return one layout; ``UnknownLayout`` lists the known names."""
    known = layouts()
    if name not in known:
        raise UnknownLayout(f"no layout is called {name!r}; there are {', '.join(known)}")
    return known[name]
