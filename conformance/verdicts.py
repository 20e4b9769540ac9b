"""Outcomes of cases and verdicts on rules: one ordered scale, worst wins."""

from collections.abc import Iterable
from enum import Enum

import msgspec


class Strength(Enum):
    """How strongly a document (or our inference from it) binds."""

    MUST = "must"
    MUST_NOT = "must-not"
    SHOULD = "should"
    MAY = "may"
    STATED = "stated"
    IMPLIED = "implied"


class Outcome(Enum):
    """What one case, or all that is known about one rule, came to. ``ERROR`` is the tester's own fault."""

    PASS = "pass"
    ODD = "odd"
    INCONCLUSIVE = "inconclusive"
    DEVIATION = "deviation"
    VIOLATION = "violation"
    CRASH = "crash"
    ERROR = "error"

    # The order of the members is the scale: what says more against the implementation comes later. An error, which
    # says nothing about it, is the worst all the same, so that it cannot hide behind any verdict.
    def __init__(self, value: str) -> None:
        self.rank = len(type(self).__members__)
        """Position on the scale; a higher rank is worse."""

    @property
    def accuses(self) -> bool:
        """Whether the outcome blames the implementation."""
        return self in (Outcome.DEVIATION, Outcome.VIOLATION, Outcome.CRASH)


class Verdict(Enum):
    """What an outcome means for the gate."""

    PASS = "PASS"
    WARN = "WARN"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"
    UNTESTED = "UNTESTED"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of some outcomes; no outcome at all is inconclusive."""
    # Nothing was judged is not the same as all is well.
    return max(outcomes, key=lambda outcome: outcome.rank, default=Outcome.INCONCLUSIVE)


def when_broken(strength: Strength) -> Outcome:
    """Return the outcome of a rule of this strength that is broken.

    What a document states or demands is violated; what it recommends, or what is only inferred from it, is
    deviated from. A broken MAY is what lies outside the permission, hence a violation.
    """
    return Outcome.DEVIATION if strength in (Strength.SHOULD, Strength.IMPLIED) else Outcome.VIOLATION


def verdict(outcome: Outcome, *, strict: bool = False) -> Verdict:
    """Return what an outcome means for the gate; ``strict`` turns a deviation into a failure."""
    match outcome:
        case Outcome.PASS | Outcome.ODD:
            return Verdict.PASS
        case Outcome.INCONCLUSIVE:
            return Verdict.INCONCLUSIVE
        case Outcome.DEVIATION:
            return Verdict.FAIL if strict else Verdict.WARN
        case Outcome.VIOLATION | Outcome.CRASH:
            return Verdict.FAIL
        case Outcome.ERROR:
            return Verdict.ERROR


class EvidenceMessage(msgspec.Struct, frozen=True, gc=False):
    """One message that shows what a judgement says, told for a person.

    ``entry`` is its place in the trace, ``time`` the seconds since the trace began, ``way`` is ``sent``, ``received``
    or ``told`` (a control line, or that nothing came), ``text`` the message in one line. ``pieces`` are its bytes in
    hex, or as text where ``is_text``; those that are marked are the ones that are wrong.
    """

    entry: int
    time: float
    link: str
    way: str
    text: str
    pieces: tuple[tuple[str, bool], ...] = ()
    is_text: bool = False


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """What one case (or one monitor during one case) says about one rule.

    ``case`` is the case's name, ``by`` is ``case`` or ``monitor``. ``what`` is one line: what came instead of what
    was expected, or the cause of an inconclusive outcome. ``reading`` is the reading that the implementation was
    seen to follow (``R23=A``), ``evidence`` the number of observations that support the outcome. ``entry`` is the place
    in the trace that shows it, ``nth`` which message there (from 0), ``field`` the field of it that is wrong, if one
    is; ``messages`` are those that matter, told for a person. ``blocked_by`` is the rule for want of which this one
    cannot be judged.
    """

    rule: str
    outcome: Outcome
    case: str
    by: str = "case"
    what: str = ""
    reading: str = ""
    evidence: int = 0
    entry: int | None = None
    trace: str = ""
    nth: int = 0
    field: str = ""
    messages: tuple[EvidenceMessage, ...] = ()
    blocked_by: str = ""
