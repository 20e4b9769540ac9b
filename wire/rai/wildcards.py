"""Wildcards: as RV and NATS spell them, as Redis does, and as patterns of PCRE, which is what both become.

::

    RV      A.>      A.*.C          *: one segment; > at the end: one or more
    Redis   A.*      A.?.C  a[bc]*  *: anything; ?: one character; [bc] one of these
    PCRE    (?s)\\AA\\.                 what stands in the messages _PSUB.START and _PSUB.STOP

A pattern of RV's ``A.>`` also matches the text ``A.``, which is no legal subject.
"""

import re
from collections.abc import Iterator

from wire.rai.matcher import Matcher
from wire.rai.pcre import ANY, Boundary, Characters, InRow, Pattern, Repeated, UnsupportedPattern, read
from wire.subjects import ONE, REST, SEPARATOR, literal_prefix, segments

__all__ = [
    "Matcher",
    "UnsupportedPattern",
    "glob_of_pattern",
    "pattern_of_glob",
    "pattern_of_rv",
    "published_prefix",
    "rv_of_pattern",
    "subject_of_pattern",
]

BEGINNING = r"(?s)\A"
"""How a wildcard's pattern begins: newlines are characters as any others, and a subject matches from its start."""

END = r"\z"

SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")

SEGMENT = "[^.]+"

UNDERSCORE = "_"
"""The last segment under which a wildcard is published, as nothing is published under a wildcard."""


def escaped(text: str) -> str:
    """Return a pattern that matches just a text."""
    return SPECIAL.sub(r"\\\g<0>", text)


def published_prefix(wildcard: str) -> str:
    """Return what stands behind ``_PSUB.START.`` for a wildcard of RV: ``A.B._`` for ``A.B.*.C``."""
    return literal_prefix(wildcard) + UNDERSCORE


def pattern_of_rv(wildcard: str) -> str:
    """Return the pattern of a wildcard, or of a subject, as RV and NATS spell it."""
    parts = segments(wildcard)
    rest = parts[-1] == REST
    pattern = "".join(f"{SEGMENT if part == ONE else escaped(part)}{escaped(SEPARATOR)}" for part in parts[:-1])
    if not rest:
        pattern += (SEGMENT if parts[-1] == ONE else escaped(parts[-1])) + END
    return BEGINNING + pattern


_GLOB = re.compile(
    r"(?P<all>\*+)|(?P<one>\?)|\[(?P<but>\^?)(?P<set>(?:\\.|[^\]\\])*)\]?|\\(?P<escaped>.)|(?P<plain>.)", re.DOTALL
)
_RANGE = re.compile(r"\\(?P<escaped>.)|(?P<first>.)-(?P<last>.)|(?P<plain>.)", re.DOTALL)


def pattern_of_glob(glob: str) -> str:
    """Return the pattern of a wildcard as Redis spells it."""
    pieces = [BEGINNING]
    end = END
    for found in _GLOB.finditer(glob):
        if found["all"]:
            if found.end() == len(glob):
                end = ""
            else:
                pieces.append(".*?")
        elif found["one"]:
            pieces.append(".")
        elif found["set"] is not None:
            pieces.append(_class(bool(found["but"]), found["set"]))
        else:
            pieces.append(escaped(found["escaped"] or found["plain"]))
    return "".join(pieces) + end


def _class(negated: bool, members: str) -> str:
    """Return the class of PCRE for what stands in brackets in Redis, where a range may have its ends in any order."""
    if not members:
        return "." if negated else r"[^\x{0}-\x{10FFFF}]"
    pieces = []
    for found in _RANGE.finditer(members):
        if found["first"]:
            pieces.append("-".join(map(_member, sorted((found["first"], found["last"])))))
        else:
            pieces.append(_member(found["escaped"] or found["plain"]))
    return f"[{'^' * negated}{''.join(pieces)}]"


def _member(character: str) -> str:
    return f"\\{character}" if character in r"\]^-[" else character


def rv_of_pattern(pattern: str) -> str | None:
    """Return the wildcard of RV that a pattern stands for; ``None`` if there is none, or it is not matched here."""
    if (tree := _tree(pattern)) is None:
        return None
    pieces = []
    for part in _parts(tree):
        if part == _SEGMENT:
            pieces.append(ONE)
        elif isinstance(part, Characters):
            pieces.append(_literal(part) or "")
    wildcard = "".join(pieces)
    for each in (wildcard, wildcard + REST):
        # Back again, as not all that is left out here is nothing.
        if list(_parts(read(pattern_of_rv(each)))) == list(_parts(tree)):
            return each
    return None


def glob_of_pattern(pattern: str) -> str | None:
    """Return the wildcard of Redis that a pattern stands for; ``None`` if there is none, or it is not matched here."""
    if (tree := _tree(pattern)) is None:
        return None
    pieces = []
    for part in _parts(tree):
        if part == _ANYTHING:
            pieces.append("*")
        elif part == ANY:
            pieces.append("?")
        elif isinstance(part, Characters):
            literal = _literal(part)
            pieces.append(_bracketed(part) if literal is None else re.sub(r"[\\*?\[\]]", r"\\\g<0>", literal))
    wildcard = "".join(pieces)
    for each in (wildcard, f"{wildcard}*"):
        if list(_parts(read(pattern_of_glob(each)))) == list(_parts(tree)):
            return each
    return None


def subject_of_pattern(pattern: str) -> str:
    """Return what ``_PSUB`` messages name beside a pattern.

    Reading: the wildcard of RV that is the same, or where there is none one that has all that the pattern has.
    """
    return rv_of_pattern(pattern) or _prefix(pattern) + REST


def _prefix(pattern: str) -> str:
    """Return the whole segments that all begin with that a pattern has, with their dots."""
    tree = _tree(pattern)
    parts = list(_parts(tree)) if tree is not None else []
    if not parts or parts[0] != Boundary("start"):
        return ""
    characters = ""
    for part in parts[1:]:
        literal = _literal(part)
        if literal is None:
            break
        characters += literal
    return characters[: characters.rfind(SEPARATOR) + 1]


def _tree(pattern: str) -> Pattern | None:
    try:
        return read(pattern)
    except UnsupportedPattern:
        return None


def _parts(tree: Pattern) -> Iterator[Pattern]:
    """Give the parts of a pattern in a row."""
    if isinstance(tree, InRow):
        for part in tree.parts:
            yield from _parts(part)
    else:
        yield tree


_SEGMENT = read(SEGMENT)
_ANYTHING = Repeated(ANY, 0, None)


def _literal(part: Pattern) -> str | None:
    """Return the one character that a part has."""
    if isinstance(part, Characters) and not part.negated and len(part.ranges) == 1:
        first, last = part.ranges[0]
        return chr(first) if first == last else None
    return None


def _bracketed(part: Characters) -> str:
    ranges = (
        "-".join(re.sub(r"[\\\]^-]", r"\\\g<0>", chr(code)) for code in dict.fromkeys((first, last)))
        for first, last in part.ranges
    )
    return f"[{'^' * part.negated}{''.join(ranges)}]"
