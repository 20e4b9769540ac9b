"""Versions of implementations, in their order."""

import re
from collections.abc import Iterable

from packaging.version import InvalidVersion, Version


def ordered(versions: Iterable[str]) -> list[str]:
    """Return different versions, the oldest first: as PEP 440 has it, or if one is none, by the numbers in them."""
    # First by the numbers in them: versions that PEP 440 calls equal (1.0 and 1.0.0) still have one order.
    names = sorted(set(versions), key=lambda name: (natural(name), name))
    try:
        # Only if all of them are: an order of two kinds of versions among each other would mean nothing.
        return sorted(names, key=Version)
    except InvalidVersion:
        return names


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return what a name is sorted by so that 1.10 comes after 1.9."""
    parts = re.findall(r"[0-9]+|[^0-9.]+", name)
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)
