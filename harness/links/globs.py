"""Redis' wildcards, which are globs, from those that RV and NATS have; a glob's ``*`` matches dots as well."""

import re
from functools import lru_cache

from wire.subjects import ONE, REST, SEPARATOR, segments

# A backslash takes the meaning from whatever stands behind it.
_SPECIAL = re.compile(rb"([*?\[\\])")
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


def glob_of(wildcard: str) -> bytes:
    """Return the glob that matches whatever a wildcard does, and more where segments have dots."""
    found = segments(wildcard)
    last = len(found) - 1
    return SEPARATOR.encode().join(
        b"*" if each == ONE or (each == REST and place == last) else _SPECIAL.sub(rb"\\\1", each.encode())
        for place, each in enumerate(found)
    )


def wildcard_of(glob: bytes) -> bytes:
    """Return the wildcard that a glob stands for, as near as wildcards come to it: a ``*`` at the end is ``>``.

    What is no wildcard's glob is returned as it is.
    """
    segments_found = glob.split(SEPARATOR.encode())
    plain = [_ESCAPED.sub(rb"\1", each) for each in segments_found]
    for place, each in enumerate(segments_found):
        if each == b"*":
            plain[place] = ONE.encode()
        elif _SPECIAL.search(_ESCAPED.sub(b"", each)):
            return glob
    if segments_found[-1] == b"*":
        plain[-1] = REST.encode()
    return SEPARATOR.encode().join(plain)


# Few: those that a client listens to.
@lru_cache(maxsize=1024)
def matcher(glob: bytes) -> re.Pattern[bytes]:
    """Return what fully matches the channels that Redis takes a glob of ``glob_of`` to match."""
    # A star that is escaped is behind a backslash, and backslashes come in such pairs only.
    parts = re.findall(rb"\\.|.", glob, re.DOTALL)
    return re.compile(b"".join(b".*" if each == b"*" else re.escape(each[-1:]) for each in parts), re.DOTALL)
