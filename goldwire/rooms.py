"""The rooms: the six packages that goldwire consists of, and whether Python finds them or others of their names.

The rooms lie at the top level, and their names are common words. Where a folder, a module or another distribution
bears one of them and comes first on ``sys.path``, an import would succeed and give something strange. So whoever
enters goldwire looks first. Nothing of a room is imported here.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOMS = ("wire", "vectors", "harness", "conformance", "fuzz", "reports")
WRONG_USAGE = 2

_HERE = Path(__file__).resolve().parent.parent  # the rooms are installed beside this package, or lie so in a checkout
_MARK = b"goldwire"  # stands in the docstring of every room


class ShadowedRoom(ImportError):
    """Python finds something else where a room of goldwire is wanted; the message says what, where, and what to do."""


class Shadow(NamedTuple):
    """A room that is not found: ``other`` is what is found in its place, or None where there is nothing."""

    room: str
    other: Path | None

    def __str__(self) -> str:
        ours = _HERE / self.room
        if self.other is None:
            return f"goldwire's package {self.room!r} is missing at {ours}: install goldwire anew"
        if self.other.parent == _HERE:
            # Two distributions have written into one folder, and whoever was installed last has won.
            return (
                f"goldwire's package {self.room!r} was overwritten by another distribution at {self.other}:"
                " install goldwire in an environment of its own"
            )
        return f"goldwire's package {self.room!r} at {ours} is hidden by {self.other}: {_remedy(self.other)}"


def shadow() -> Shadow | None:
    """Return the first room that Python does not find where goldwire was installed, or None: all is well."""
    # Without importing any: to import what hides a room would run somebody else's code before it is named.
    for room in ROOMS:
        other = _found(room)
        if other is None or other.parent != _HERE or not _is_ours(other):
            return Shadow(room, other)
    return None


def check() -> None:
    """Raise ``ShadowedRoom`` unless every room is found."""
    found = shadow()
    if found is not None:
        raise ShadowedRoom(str(found))


def _found(room: str) -> Path | None:
    """Return the folder or file that an import of a room would take."""
    try:
        spec = find_spec(room)
    except ValueError:  # what sits in sys.modules was made by hand, as tests do
        return Path("sys.modules", room)
    if spec is None:
        return None
    # A folder without __init__.py is a package too; it comes before an editable installation, which Python asks last.
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0] if folders else spec.origin or room).resolve()


def _is_ours(folder: Path) -> bool:
    try:
        return _MARK in (folder / "__init__.py").read_bytes()
    # A folder of that name without an __init__.py: a namespace package, which any folder in sight becomes.
    except OSError:
        return False


def _remedy(other: Path) -> str:
    """Return what to do, which depends on how the other comes to be on ``sys.path``."""
    folder = other.parent
    path = [Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if folder in path:
        return f"take {folder} off PYTHONPATH, or rename the other"
    if folder == Path.cwd():
        return "work in another folder, or rename the other"
    return "install goldwire in an environment of its own, or rename the other"
