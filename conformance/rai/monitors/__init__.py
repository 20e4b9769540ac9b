"""The Rai monitors: what any recorded session says about the rules."""

from importlib import import_module
from pkgutil import iter_modules

from conformance.rai.monitors.registry import MONITORS

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["MONITORS"]
