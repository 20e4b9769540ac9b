"""Inputs of a layout: those that every campaign begins with, and those that campaigns have found and kept.

A kept input is a file that is named after its content, as libFuzzer names them, so that any number of campaigns may
write into one folder. Files of other names are read, and never taken away.
"""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from vectors.golden.loader import UnknownVectors, frames
from wire.files import write_file


def folder(layout: str, chosen: Path | None = None) -> Path:
    """Return where the corpus of a layout is kept: ``chosen``, or below ``$GOLDWIRE_DATA``, or the user's data."""
    if chosen is not None:
        return chosen
    # For CI, which keeps one folder from run to run, and for tests, which must not touch the user's.
    data = os.environ.get("GOLDWIRE_DATA")
    return (Path(data) if data else platformdirs.user_data_path("goldwire")) / "corpora" / layout


@cache
def seeds(layout: str) -> tuple[bytes, ...]:
    """Return the frames of the golden vectors of a layout; none when it has no vectors."""
    try:
        # Each frame once, in the order of the file, so that the same seed means the same campaign.
        return tuple(dict.fromkeys(frames(layout).values()))
    except UnknownVectors:
        return ()


def name(data: bytes) -> str:
    """Return the name of the file that keeps an input."""
    # libFuzzer names files so, and would write what has another name a second time.
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def keep(place: Path, inputs: Iterable[bytes]) -> None:
    """Write inputs into a folder, each of them whole or not at all."""
    place.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        file = place / name(data)
        # Named after its content: what is there is the same.
        if not file.exists():
            write_file(file, data)  # libFuzzer does not read the draft, whose name begins with a dot


def names(place: Path) -> list[str]:
    """Return the names of the inputs of a folder, none if it is not there."""
    if not place.is_dir():
        return []
    with os.scandir(place) as entries:
        return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())


def kept(place: Path) -> dict[str, bytes]:
    """Return the inputs of a folder by the names of their files, none if it is not there."""
    inputs = {}
    for called in names(place):
        with suppress(FileNotFoundError):  # another campaign may have found something smaller
            inputs[called] = (place / called).read_bytes()
    return inputs


def replace(place: Path, before: dict[str, bytes], after: Iterable[bytes]) -> None:
    """Put ``after`` in the place of the inputs ``before``.

    What is new is written before anything is taken away, so that nothing is lost at any moment; what came from
    elsewhere meanwhile stays, and so do files that are not named after their content.
    """
    new = {name(data): data for data in after}
    keep(place, new.values())
    for called, data in before.items():
        if called not in new and called == name(data):
            (place / called).unlink(missing_ok=True)
