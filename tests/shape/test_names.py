"""One name, one meaning: no two classes of the product share one, but where sharing it is the point."""

from collections import defaultdict
from itertools import chain
from pathlib import PurePath

from house import PROTOCOLS, Module, modules

VARIANTS = ("faults", "oddities", "defects")
"""Folders of many small peers, each named by what it does. The name is registered, and unique within its folder: that
is the second test here. ``Sluggish`` may be an oddity of every protocol."""


def variants(module: Module) -> str | None:
    """Return which kind of variants a module holds, if it does."""
    parts = module.path.with_suffix("").parts
    return next((folder for folder in VARIANTS if module.protocol is not None and folder in parts), None)


def role(module: Module) -> str:
    """Return where a module stands, whichever protocol it belongs to.

    The same file in each protocol's folder has the same role, so ``Driver`` may be in each ``tester/driver.py``.
    """
    return PurePath(*("<protocol>" if part in PROTOCOLS else part for part in module.path.parts)).as_posix()


def public_classes(module: Module) -> list[str]:
    """Return the classes of a module that others see: ``_Reader`` needs to be clear within its file only."""
    return [name for name in module.classes if not name.startswith("_")]


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module in modules().values():
        if variants(module) is None:
            for name in public_classes(module):
                places[name][role(module)].append(module.name)
    shared = {name: sorted(chain(*found.values())) for name, found in places.items() if len(found) > 1}
    assert shared == {}


def test_a_variant_is_unique_in_its_own_folder() -> None:
    places: dict[tuple[str | None, str, str], list[str]] = defaultdict(list)
    for module in modules("harness").values():
        kind = variants(module)
        if kind is not None:
            for name in public_classes(module):
                places[module.protocol, kind, name].append(module.name)
    assert {key: found for key, found in places.items() if len(found) > 1} == {}
