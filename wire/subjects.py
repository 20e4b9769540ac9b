"""Subjects, and the wildcards that RV and NATS have in common: ``*`` is one segment, ``>`` at the end one or more."""

SEPARATOR = "."
ONE = "*"
REST = ">"


def segments(subject: str) -> list[str]:
    """Return the segments of a subject."""
    return subject.split(SEPARATOR)


def is_wildcard(subject: str) -> bool:
    """Tell whether a subject stands for others: whether it has a segment that is ``*`` or ``>``."""
    return (ONE in subject or REST in subject) and any(each in (ONE, REST) for each in segments(subject))


def is_legal(subject: str) -> bool:
    """Tell whether messages can be published under a subject: no segment is empty or a wildcard."""
    return all(each and each not in (ONE, REST) for each in segments(subject))


def matches(wildcard: str, subject: str) -> bool:
    """Tell whether a subject is one that a wildcard, or a subject, stands for."""
    if wildcard == subject:
        return True
    wanted, found = segments(wildcard), segments(subject)
    if wanted[-1] == REST:
        del wanted[-1]
        if len(found) <= len(wanted):
            return False
    elif len(found) != len(wanted):
        return False
    return all(one in (ONE, other) for one, other in zip(wanted, found, strict=False))


def overlap(one: str, other: str) -> bool:
    """Tell whether there is a subject that two wildcards, or subjects, both stand for."""
    left, right = segments(one), segments(other)
    for each, against in zip(left, right, strict=False):
        if REST in (each, against):
            return True
        if each != against and ONE not in (each, against):
            return False
    return len(left) == len(right)


def literal_prefix(wildcard: str) -> str:
    """Return the segments before the first wildcard, with the dot behind them: ``A.B.`` of ``A.B.*.C``."""
    found = segments(wildcard)
    before = next((place for place, each in enumerate(found) if each in (ONE, REST)), len(found))
    return "".join(f"{each}{SEPARATOR}" for each in found[:before])
