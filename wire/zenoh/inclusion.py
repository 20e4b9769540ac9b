"""Inclusion of key expressions: more than a node need know to keep the documents, and less than what intersects."""

from wire.zenoh.keys import chunk_intersects


def includes(one: str, two: str) -> bool:
    """Tell whether every key that matches the second expression surely matches the first.

    Two chunks with ``$*`` in them count only when they are equal: whoever asks wants to be sure, not to be complete.
    """
    return one == two or _chunks_include(one.split("/"), two.split("/"))


def _chunks_include(one: list[str], two: list[str]) -> bool:
    if not one:
        return not two
    if one[0] == "**":
        return _chunks_include(one[1:], two) or bool(two and two[0][0] != "@" and _chunks_include(one, two[1:]))
    if not two or two[0] == "**":
        return False
    is_plain = "*" not in two[0]
    fits = one[0] == two[0] or (one[0] == "*" and two[0][0] != "@") or (is_plain and chunk_intersects(one[0], two[0]))
    return fits and _chunks_include(one[1:], two[1:])
