"""Versions: a program says its own when it is asked; what is known of some versions is held against those alone."""

import re
import subprocess
import sys

import msgspec

from harness.iuts.description import Description, Launched

_VERSION = re.compile(r"\d+(?:\.\d+)+")
# Seconds to print a line: an interpreter may have to load first.
_TIMEOUT = 20.0


def with_version(description: Description) -> Description:
    """Return a description with the version that its program prints, where nothing else says which it is."""
    if description.version:
        return description
    return msgspec.structs.replace(description, version=printed_version(description))


def printed_version(description: Description) -> str:
    """Return the first version that the description's ``version_command`` prints; empty where it has or prints none.

    A program that is not there prints none: what is wrong with it is said where it is started.
    """
    source = description.source
    if not isinstance(source, Launched) or not source.program.version_command:
        return ""
    values = {"python": sys.executable, "here": str(source.folder)}
    words = [part.format_map(values) for part in source.program.version_command]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT * description.time_scale,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search((done.stdout + done.stderr).decode(errors="replace"))
    return found[0] if found else ""
