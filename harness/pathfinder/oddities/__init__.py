"""The oddities of the reference server and client: legal, unusual, and to be forgiven by every case and monitor."""

from importlib import import_module
from pkgutil import iter_modules

from harness.pathfinder.oddities.registry import ODDITIES

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["ODDITIES"]
