"""Resources: what a process and all that it started take of the machine, as Linux tells it."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Resources(msgspec.Struct, frozen=True):
    """Bytes of memory that are in use, open descriptors, threads."""

    memory: int = 0
    descriptors: int = 0
    threads: int = 0


def resources(group: int, members: Sequence[str] | None = None) -> Resources | None:
    """Return what the processes of a group take; ``None`` where nothing is known of them.

    ``members`` are those of them that count: to find all of them takes long.
    """
    memory = descriptors = threads = 0
    seen = False
    for pid in members_of(group) if members is None else members:
        with suppress(OSError, ValueError, IndexError):
            memory += int((_PROC / pid / "statm").read_text().split()[1]) * _PAGE
            descriptors += len(os.listdir(_PROC / pid / "fd"))
            threads += len(os.listdir(_PROC / pid / "task"))
            seen = True
    return Resources(memory, descriptors, threads) if seen else None


def members_of(group: int) -> list[str]:
    """Return the numbers of the processes in a group."""
    found = []
    with suppress(OSError):
        for pid in filter(str.isdigit, os.listdir(_PROC)):
            # Asked of the kernel, as to read the files of hundreds takes long.
            with suppress(OSError):
                if os.getpgid(int(pid)) == group:
                    found.append(pid)
    return found
