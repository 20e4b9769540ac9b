"""Tells a fuzzer which code of a Python program runs, where it asks: ``python_coverage.py PROGRAM…``, or ``start()``.

The fuzzer hands the program a file of 65,536 counters in the environment variable ``GOLDWIRE_COVERAGE``, which is
mapped into memory here. Each line, or each branch on Python 3.12 and later, has a counter, by a checksum of where it
stands; what runs counts up. Without the variable nothing happens, and nothing is slower.

Only the standard library is needed, and any Python since 3.8: a copy of this file serves programs in whose environment
goldwire is not installed.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import runpy
import sys
import sysconfig
import threading
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType

VARIABLE = "GOLDWIRE_COVERAGE"
SIZE = 1 << 16

# A counter that is full stays so: one that began anew would look as if the code had not run.
_MORE = bytes(min(count + 1, 255) for count in range(256))

# Which of the tools of sys.monitoring this one is: the number that is set aside for coverage.
_TOOL = 1

_NAMED = 3
"""Parts of a path by which a file is known: the same wherever the program is installed."""


def start(*only: str) -> bool:
    """Begin to count, and return whether somebody has asked for that.

    What counts is the code of the program: all but the standard library and installed packages, or what stands under
    the folders or in the files of ``only``. Call it before the code in question runs, and from the main thread.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return False
    # Without pathlib, which a program that is started often need not load for this.
    with open(path, "r+b") as file:
        counters = mmap.mmap(file.fileno(), SIZE)
    counts = _chosen(tuple(os.path.abspath(each) for each in only))
    # What only Python 3.12 has: its events cost nothing where nobody counts them.
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is not None:
        _monitor(monitoring, counters, counts)
    else:
        _trace(counters, counts)
    return True


def _chosen(only: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what tells by its file's name whether code counts."""
    if only:
        return lambda name: name.startswith(only)
    paths = sysconfig.get_paths()
    # What has no file begins with "<": frozen modules, code from texts.
    others = ("<", __file__, *(paths[each] for each in ("stdlib", "platstdlib", "purelib", "platlib")))
    return lambda name: not name.startswith(others)


def _place(code: CodeType, where: int, to: int = 0) -> int:
    """Return which counter a place of the code has."""
    file = "/".join(code.co_filename.split(os.sep)[-_NAMED:])
    return zlib.crc32(f"{file} {code.co_firstlineno} {code.co_name} {where} {to}".encode()) % SIZE


def _monitor(monitoring: Any, counters: mmap.mmap, counts: Callable[[str], bool]) -> None:
    more, disable = _MORE, monitoring.DISABLE
    places: dict[tuple[CodeType, int, int], int] = {}

    def branch(code: CodeType, where: int, to: int) -> Any:
        place = places.get((code, where, to))
        if place is None:
            if not counts(code.co_filename):
                return disable
            place = places[code, where, to] = _place(code, where, to)
        counters[place] = more[counters[place]]
        return None

    def begins(code: CodeType, where: int) -> Any:
        return branch(code, where, -1)

    monitoring.use_tool_id(_TOOL, "goldwire")
    events = monitoring.events
    monitoring.register_callback(_TOOL, events.BRANCH, branch)
    monitoring.register_callback(_TOOL, events.PY_START, begins)
    monitoring.set_events(_TOOL, events.BRANCH | events.PY_START)


def _trace(counters: mmap.mmap, counts: Callable[[str], bool]) -> None:
    more = _MORE
    tracers: dict[CodeType, Any] = {}

    def tracer(code: CodeType) -> Any:
        """Return what is called for each line of some code; none where it does not count."""
        if not counts(code.co_filename):
            return None
        places: dict[int, int] = {}

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                number = frame.f_lineno
                place = places.get(number)
                if place is None:
                    place = places[number] = _place(code, number)
                counters[place] = more[counters[place]]
            return line

        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        try:
            return tracers[code]
        except KeyError:
            found = tracers[code] = tracer(code)
            return found

    threading.settrace(call)
    sys.settrace(call)


def _installed(module: str) -> list[str]:
    """Return where the package of a module lies: it may be installed, and counts all the same."""
    found = importlib.util.find_spec(module.partition(".")[0]) if module else None
    return list((found.submodule_search_locations or [found.origin or ""]) if found else ())


USAGE = "usage: python_coverage.py [--only FOLDER|FILE]… PROGRAM.py|-m MODULE [ARGUMENT…]"


def main(arguments: Sequence[str]) -> None:
    """Run a program as Python does, and count what of it runs."""
    words, only = list(arguments), []
    while len(words) > 1 and words[0] == "--only":
        only.append(words[1])
        del words[:2]
    is_module = words[:1] == ["-m"]
    words = words[is_module:]
    if not words or words[0].startswith("-"):
        sys.exit(USAGE)
    sys.argv = words
    start(*(only or _installed(words[0] if is_module else "")))
    if is_module:
        # As `python -m` does: the folder in which it is called, and not that of this file.
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
