"""Findings of monitors, and readings that were seen, as judgements on rules: of live plays and of recordings alike."""

from collections.abc import Iterable, Iterator
from typing import Any

from conformance.catalogue.rules import Profile
from conformance.monitors import RuleFindings
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome


def judge_conversations(conversations: Iterable[Any], suite: Suite, profile: Profile, case: str) -> Iterator[Judgement]:
    """Yield, in the name of ``case``, a judgement for each rule on which monitors found anything."""
    for conversation in conversations:
        # Where the tester's side has left the document, the other may answer as it likes: nobody is blamed for that.
        if not conversation.is_clean:
            continue
        # What was never worse than kept by messages of a form needs no summing up: that is most of what there is.
        yield from [
            sum_up(found, suite, profile, case)
            if found.findings
            else Judgement(found.rule, Outcome.PASS, case, "monitor", "", "", found.kept)
            for found in suite.monitors.watch(conversation)
        ]


def sum_up(found: RuleFindings, suite: Suite, profile: Profile, case: str) -> Judgement:
    """Return what the findings of monitors say of a rule: the worst of them counts, all of them are evidence."""
    rule, outcome, what, reading, entry = found.rule, Outcome.PASS, "", "", None
    for finding in found.findings:
        # Most findings are that a rule is kept, and a session has thousands: no more is done for them.
        if finding.ok and not finding.reading:
            continue
        each, said, seen = Outcome.PASS, "", ""
        if not finding.ok:
            each, said = suite.broken(rule), finding.what
        elif finding.reading:
            each, said, seen = judge_reading(rule, finding.reading, finding.option, suite, profile)
        # Not at equal rank: the first of the worst is cited, as what follows it may be its consequence.
        if each.rank > outcome.rank:
            outcome, what, entry = each, said, finding.entry
        reading = reading or seen
    return Judgement(rule, outcome, case, "monitor", what, reading, len(found.findings) + found.kept, entry)


def judge_reading(rule: str, name: str, option: str, suite: Suite, profile: Profile) -> tuple[Outcome, str, str]:
    """Judge a reading that was seen: the profile's own, another that it accepts, or one that it does not.

    Returns the outcome, what came if that is not accepted, and the reading with its option (``R23=A``).
    """
    reading = suite.catalogue.readings[name]
    accepted = reading.accepted(profile)
    if option not in accepted:
        return suite.broken(rule), f"follows {name}={option}: {reading.options[option]}", f"{name}={option}"
    return (Outcome.PASS if option == accepted[0] else Outcome.ODD), "", f"{name}={option}"
