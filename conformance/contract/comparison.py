"""A run compared with what was expected of it: what is accepted, and each expectation that did not come true."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import Enum

import msgspec

from conformance.contract.expectations import Expectation, Expectations
from conformance.contract.signatures import signature
from conformance.verdicts import Disagreement, Outcome


class Breach(Enum):
    """In what way an expectation did not come true."""

    UNEXPECTED_PASS = "unexpected pass"
    CHANGED_OUTCOME = "changed outcome"
    CHANGED_SIGNATURE = "changed signature"
    UNMATCHED = "unmatched"
    OVER_WIDE = "over-wide"
    EXPIRED = "expired"


class JudgedItem(msgspec.Struct, frozen=True):
    """A case that was judged, or a finding on a rule: its outcome and what came. A rule may have several findings.

    ``thorough`` says that all there is to play for it was played, so that a pass means something; ``disagreement``
    is how its plays differ, if they do.
    """

    name: str
    outcome: Outcome
    what: str = ""
    thorough: bool = True
    disagreement: Disagreement | None = None

    @property
    def passes(self) -> bool:
        """Whether there is nothing to expect."""
        return self.outcome in (Outcome.PASS, Outcome.ODD)


class Complaint(msgspec.Struct, frozen=True):
    """An entry that fails the gate: which, how, for which rule or case, and what to do; ``came`` instead."""

    entry: Expectation
    breach: Breach
    unit: str
    message: str
    came: JudgedItem | None = None


class Comparison(msgspec.Struct, frozen=True):
    """What the comparison came to: the entry that accepts each finding and each case, and the complaints."""

    rules: dict[JudgedItem, Expectation]
    cases: dict[str, Expectation]
    complaints: tuple[Complaint, ...]


class KnownNames(msgspec.Struct, frozen=True):
    """What there is to judge: all names of rules and cases, and whether everything was played."""

    rules: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    whole: bool = True


def compare(
    expectations: Expectations,
    entries: Sequence[Expectation],
    rules: Sequence[JudgedItem],
    cases: Sequence[JudgedItem],
    known: KnownNames,
    today: date,
) -> Comparison:
    """Compare the entries that apply with what was judged.

    An expired entry accepts nothing any more. An entry which matches nothing fails the gate, unless only a
    part was played and its pattern does name something.
    """
    complaints: list[Complaint] = []
    alive: list[Expectation] = []
    where = expectations.path or "expectations"

    def complain(entry: Expectation, breach: Breach, unit: str, text: str, came: JudgedItem | None = None) -> None:
        number = expectations.entries.index(entry) + 1
        message = f"{where}, entry {number} ({entry.title}): {breach.value}: {text}"
        complaints.append(Complaint(entry, breach, unit, message, came))

    for entry in entries:
        if entry.until is not None and entry.until < today:
            text = f"it ended on {entry.until}; fix the implementation, or agree on a later date"
            complain(entry, Breach.EXPIRED, "", text)
        else:
            alive.append(entry)
    by_rule = [entry for entry in alive if entry.rule]
    by_case = [entry for entry in alive if entry.case]
    accepted_rules = {unit: found for unit in rules if (found := accepting(by_rule, unit)) is not None}
    accepted_cases = {unit: found for unit in cases if (found := accepting(by_case, unit)) is not None}
    for entry in alive:
        units, accepted, names = (
            (rules, accepted_rules, known.rules) if entry.rule else (cases, accepted_cases, known.cases)
        )
        for breach, unit, text, came in _breaches(entry, units, accepted, names, known.whole):
            complain(entry, breach, unit, text, came)
    by_name = {unit.name: entry for unit, entry in accepted_cases.items()}
    return Comparison(accepted_rules, by_name, tuple(complaints))


def accepting(entries: Iterable[Expectation], unit: JudgedItem) -> Expectation | None:
    """Return the first entry that expects what a rule or case came to."""
    fitting = (entry for entry in entries if entry.names(unit.name) and _accepts(entry, unit))
    return next(fitting, None)


def _accepts(entry: Expectation, unit: JudgedItem) -> bool:
    """Tell whether an entry expects what a rule or case came to, in all of its plays or in some."""
    if entry.accepts(unit.outcome, unit.what):
        return True
    # What is known to be wrong need not show in each play.
    return unit.disagreement is not None and entry.accepts(unit.disagreement.outcome, unit.disagreement.what)


def _breaches(
    entry: Expectation,
    units: Sequence[JudgedItem],
    accepted: Mapping[JudgedItem, Expectation],
    names: frozenset[str],
    whole: bool,
) -> list[tuple[Breach, str, str, JudgedItem | None]]:
    kind = "rule" if entry.rule else "case"
    meant = [unit for unit in units if entry.names(unit.name)]
    if not meant:
        # A name that does not exist is a typing error whatever was played.
        if not any(entry.names(name) for name in names):
            return [(Breach.UNMATCHED, "", f"there is no such {kind}; correct or remove the entry", None)]
        if whole and not entry.histories:
            text = f"no such {kind} was judged; remove the entry, or limit it with 'roles' or 'versions'"
            return [(Breach.UNMATCHED, "", text, None)]
        return []
    # A pass proves that the defect is gone only if every case that could show it was played (-k leaves some out).
    # Nor is it one where histories alone show it: their time may be over, and what comes in them depends on chance.
    passing = [unit for unit in meant if unit.passes and unit.thorough and not entry.histories]
    others = [unit for unit in meant if not unit.passes]
    found: list[tuple[Breach, str, str, JudgedItem | None]] = []
    # One complaint for a glob, not one for each that passed: it is one entry that must be written anew.
    if entry.is_glob and passing and others:
        text = f"{_listed(passing)} passed; name only what does not: {_listed(others)}"
        found.append((Breach.OVER_WIDE, "", text, None))
    else:
        for unit in passing:
            text = f"{unit.name} passed, {entry.outcome.value} was expected; remove the entry"
            found.append((Breach.UNEXPECTED_PASS, unit.name, text, unit))
    # Of a rule that is not kept in several ways the entry means one: that came true, and the others are for others.
    true = {unit.name for unit in others if _accepts(entry, unit)}
    for unit in others:
        # A part of what could show it came to something milder, which says nothing of the rest.
        if unit.name in true or (not unit.thorough and unit.outcome.rank < entry.outcome.rank):
            continue
        if unit not in accepted:
            found.append(_changed(entry, unit))
        elif unit.thorough and not (entry.histories or unit.disagreement or entry.is_glob):
            text = f"{unit.name} is not kept in another way only, which is expected; remove the entry"
            found.append((Breach.UNEXPECTED_PASS, unit.name, text, unit))
    return found


def _changed(entry: Expectation, unit: JudgedItem) -> tuple[Breach, str, str, JudgedItem]:
    if unit.outcome is not entry.outcome:
        text = (
            f"{unit.name} came to {unit.outcome.value}, {entry.outcome.value} was expected"
            f" ({signature(unit.what)}); look at it, then correct 'outcome'"
        )
        return Breach.CHANGED_OUTCOME, unit.name, text, unit
    text = (
        f"{unit.name}: {signature(unit.what)!r} came, {signature(entry.signature)!r} was expected;"
        " look at it, then correct 'signature'"
    )
    return Breach.CHANGED_SIGNATURE, unit.name, text, unit


def _listed(units: Sequence[JudgedItem]) -> str:
    return ", ".join(dict.fromkeys(unit.name for unit in units))
