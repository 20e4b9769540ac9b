"""What monitors found in conversations, and readings that were seen, as judgements: of live runs and of recordings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from conformance.monitors import Finding, Monitor
from conformance.rules import Catalogue, Profile
from conformance.verdicts import Judgement, Outcome


class Court(Protocol):
    """What judging takes of a protocol: its rules, its monitors, and what it means when a rule is broken."""

    @property
    def catalogue(self) -> Catalogue:
        """The protocol's rules and readings."""
        ...

    @property
    def monitors(self) -> Sequence[Monitor]:
        """The protocol's monitors."""
        ...

    def broken(self, rule: str) -> Outcome:
        """Return the outcome of a rule that is broken."""
        ...


def watched(conversations: Iterable[Any], court: Court, profile: Profile, case: str) -> Iterator[Judgement]:
    """Let every monitor look at every conversation in which the other side kept to the document.

    Yields a judgement for each rule of a monitor that found anything, in the name of ``case``.
    """
    for conversation in conversations:
        if not conversation.is_clean:
            continue
        for monitor in court.monitors:
            findings = list(monitor.watch(conversation))
            for rule in monitor.rules if findings else ():
                yield summed(rule, findings, court, profile, case)


def summed(rule: str, findings: Sequence[Finding], court: Court, profile: Profile, case: str) -> Judgement:
    """Sum up a monitor's findings on one rule: the worst of them counts, all of them are evidence."""
    outcome, what, reading, entry = Outcome.PASS, "", "", None
    for finding in findings:
        if finding.ok and not finding.reading:
            continue
        each, said, seen = Outcome.PASS, "", ""
        if not finding.ok:
            each, said = court.broken(rule), finding.what
        elif finding.reading:
            each, said, seen = followed(rule, finding.reading, finding.option, court, profile)
        if each.rank > outcome.rank:
            outcome, what, entry = each, said, finding.entry
        reading = reading or seen
    return Judgement(rule, outcome, case, "monitor", what, reading, len(findings), entry)


def followed(rule: str, name: str, option: str, court: Court, profile: Profile) -> tuple[Outcome, str, str]:
    """Judge a reading that was seen: the profile's own, another that it accepts, or one that it does not.

    Returns the outcome, what came if that is not accepted, and the reading with its option (``R23=A``).
    """
    reading = court.catalogue.readings[name]
    accepted = reading.accepted(profile)
    if option not in accepted:
        return court.broken(rule), f"follows {name}={option}: {reading.options[option]}", f"{name}={option}"
    return (Outcome.PASS if option == accepted[0] else Outcome.ODD), "", f"{name}={option}"
