"""The faults of the reference server and client: each a small lie next to the truth, listed by the rules it breaks."""

from importlib import import_module
from pkgutil import iter_modules

from harness.pathfinder.faults.registry import FAULTS

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["FAULTS"]
