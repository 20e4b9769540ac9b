"""By what code is known that is compared: its version may stay the same when it is repaired, or broken."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import wire
from wire.catalogue import layout as find

COMMON = (".", "json")
"""Folders of the package ``wire`` with what every layout is read by."""

GENERATED = ("python", "native")
"""Engines that are modules of their own."""

SHORT = 16


def of_command(command: Sequence[str]) -> str:
    """Return digests of the words of a command that are files, ``-`` for others; the first may be on the path."""
    first = [shutil.which(word) or word for word in command[:1]]
    return " ".join(map(_of_word, [*first, *command[1:]]))


def of_engines(layout: str, names: Sequence[str]) -> str:
    """Return a digest of what our own engines read and write a layout with; other names are ignored."""
    digest = hashlib.sha256()
    for path in _modules(layout, names):
        # Names without folders: the same code installed elsewhere is the same code.
        digest.update(f"{path.name} {_of_file(path)}\n".encode())
    return digest.hexdigest()[:SHORT]


def _of_word(word: str) -> str:
    if not os.path.isfile(word):  # unlike Path, it does not complain of what can be no name of a file
        return "-"
    try:
        return _of_file(Path(word))
    except OSError:  # it can be run and not read
        return "-"


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:SHORT]


def _modules(layout: str, names: Sequence[str]) -> Iterator[Path]:
    protocol = layout.partition("/")[0]
    root = Path(wire.__path__[0])
    # All that the layout's engines are made of, and no more: a change of another protocol must not void hours of
    # sweeping.
    for folder in (*COMMON, protocol):
        yield from sorted((root / folder).glob("*.py"))
    if find(layout).is_text:  # its engines are written by hand
        return
    for name in names:
        if name in GENERATED:
            file = import_module(f"wire.{protocol}.generated.{name}").__file__
            assert file is not None
            yield Path(file)
