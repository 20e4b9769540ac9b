"""Objects of JSON as our own files and the pipe have them: no name twice.

Python's reader takes the last of two members of one name, others take the first: such a text means something else to
everybody who reads it.
"""

from typing import Any


def object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members, as a hook of ``json``; ``ValueError`` when a name is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object has a name twice: {', '.join(name for name, _ in pairs)}")
    return found
