"""Wildcards: what a subscription to many subjects stands for, as RV spells it and as a pattern of PCRE."""

import re

from wire.errors import DecodeError, Reason
from wire.subjects import ONE, REST, literal_prefix, segments

ANY_SEGMENT = r"[^.]+"


def pattern_of_rv(wildcard: str) -> str:
    r"""Return the pattern of a wildcard: ``(?s)\AA\.[^.]+\.C\z`` of ``A.*.C``, ``(?s)\AA\.`` of ``A.>``."""
    found = segments(wildcard)
    is_open = found[-1] == REST
    if is_open:
        del found[-1]
    parts = [ANY_SEGMENT if each == ONE else re.escape(each) for each in found]
    return r"(?s)\A" + "".join(rf"{each}\." for each in parts) if is_open else r"(?s)\A" + r"\.".join(parts) + r"\z"


def published_prefix(wildcard: str) -> str:
    """Return what stands behind ``_PSUB.START.`` for a wildcard: ``A._`` of ``A.*.C``."""
    return f"{literal_prefix(wildcard)}_"


class Matcher:
    """A pattern of PCRE, ready to be matched."""

    def __init__(self, pattern: "re.Pattern[str]") -> None:
        self._pattern = pattern

    @classmethod
    def of_pcre(cls, pattern: str) -> "Matcher":
        """Return what matches as a pattern of PCRE does; ``DecodeError`` when it is none."""
        try:
            return cls(re.compile(pattern.replace(r"\z", r"\Z")))
        except re.error as error:
            raise DecodeError(Reason.BAD_SYNTAX, error.pos or 0, "pattern", error.msg) from None

    def matches(self, subject: str) -> bool:
        """Tell whether the pattern matches a subject."""
        return self._pattern.search(subject) is not None
