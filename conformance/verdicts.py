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


class Strictness(Enum):
    """What makes a run fail besides failures: warnings never, where an expectation file does not have them, always.

    An expectation file says all that is known to be wrong: what else is not kept is not as expected, however mild.
    """

    LENIENT = "lenient"
    AS_EXPECTED = "as-expected"
    STRICT = "strict"


def when_broken(strength: Strength, *, follows: bool = False) -> Outcome:
    """Return the outcome of a rule of this strength that is broken.

    What a document states or demands is violated, and so is what ``follows`` from its statements by necessity; what it
    recommends, or what is implied and only our taste, is deviated from. A broken MAY is what lies outside the
    permission, hence a violation.
    """
    is_mild = strength is Strength.SHOULD or (strength is Strength.IMPLIED and not follows)
    return Outcome.DEVIATION if is_mild else Outcome.VIOLATION


def is_red(outcome: Outcome, strictness: Strictness, *, contract: bool) -> bool:
    """Tell whether an outcome that nobody expects makes a run fail; ``contract``: an expectation file stands.

    Where one does, it says all that is known to be wrong: warnings are red that it does not have, and rules that could
    not be judged. ``LENIENT`` lets them pass.
    """
    if verdict(outcome, strictness) in (Verdict.FAIL, Verdict.ERROR):
        return True
    is_kept = outcome in (Outcome.PASS, Outcome.ODD)
    return contract and strictness is not Strictness.LENIENT and not is_kept


def verdict(outcome: Outcome, strictness: Strictness = Strictness.AS_EXPECTED) -> Verdict:
    """Return what an outcome means for the gate; ``STRICT`` turns a deviation into a failure."""
    match outcome:
        case Outcome.PASS | Outcome.ODD:
            return Verdict.PASS
        case Outcome.INCONCLUSIVE:
            return Verdict.INCONCLUSIVE
        case Outcome.DEVIATION:
            return Verdict.FAIL if strictness is Strictness.STRICT else Verdict.WARN
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


class Disagreement(msgspec.Struct, frozen=True, gc=False):
    """How the plays of a case differ on a rule.

    ``counts`` says what how many of them came to; ``outcome`` and ``what`` are those of the worst.
    """

    counts: str
    outcome: Outcome
    what: str


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """What one case (or one monitor during one case) says about one rule.

    ``case`` is the case's name, ``by`` is ``case`` or ``monitor``. ``what`` is one line: what came instead of what
    was expected, or the cause of an inconclusive outcome. ``reading`` is the reading that the implementation was
    seen to follow (``R23=A``), ``evidence`` the number of observations that support the outcome. ``entry`` is the place
    in the trace that shows it, ``nth`` which message there (from 0), ``field`` the field of it that is wrong, if one
    is; ``messages`` are those that matter, told for a person. ``blocked_by`` is the rule for want of which this one
    cannot be judged. ``disagreement`` says how several plays differed, which is no verdict on anybody. ``shown_by`` is
    another case that shows the same better: a history of fewer moves. ``is_cut_short`` where the case came to nothing
    on this rule, as another one broke first: what other cases saw of it stands.
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
    disagreement: Disagreement | None = None
    shown_by: str = ""
    is_cut_short: bool = False
