"""Findings of monitors, and readings that were seen, as judgements on rules: of live plays and of recordings alike."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from conformance.catalogue.rules import Profile
from conformance.monitors import Finding
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from wire.escaping import escaped


class SessionVerdicts(msgspec.Struct, frozen=True):
    """What the monitors say of one conversation.

    ``kept`` are the rules that were kept and of which nothing else is to be said, with how often they were: that is
    most of what there ever is, so no judgement is made of it before somebody wants one. ``cited`` are the judgements on
    all other rules.
    """

    kept: dict[str, int]
    cited: list[Judgement]

    def judgements(self, case: str) -> Iterator[Judgement]:
        """Yield all of it as judgements, in the name of ``case``."""
        for rule, evidence in self.kept.items():
            yield Judgement(rule, Outcome.PASS, case, "monitor", "", "", evidence)
        yield from self.cited


def verdicts_on(conversation: Any, suite: Suite, profile: Profile, case: str) -> SessionVerdicts:
    """Return what the monitors say of a conversation, in the name of ``case``.

    Nothing where the tester's side has left the document: the other may answer that as it likes.
    """
    if not conversation.is_clean:
        return SessionVerdicts({}, [])
    seen = suite.monitors.watch(conversation)
    # What was kept besides is evidence of the same judgement, and has no row of its own.
    cited = [sum_up(rule, found, seen.kept.pop(rule, 0), suite, profile, case) for rule, found in seen.findings.items()]
    return SessionVerdicts(seen.kept, cited)


def judge_conversations(conversations: Iterable[Any], suite: Suite, profile: Profile, case: str) -> Iterator[Judgement]:
    """Yield, in the name of ``case``, a judgement for each rule on which monitors found anything."""
    for conversation in conversations:
        yield from verdicts_on(conversation, suite, profile, case).judgements(case)


def sum_up(rule: str, findings: Sequence[Finding], kept: int, suite: Suite, profile: Profile, case: str) -> Judgement:
    """Return what the findings of monitors say of a rule: the worst of them counts, all of them are evidence.

    ``kept`` is how often the rule was seen kept besides: evidence too.
    """
    outcome, what, reading, cited = Outcome.PASS, "", "", None
    for finding in findings:
        if finding.ok:
            each, said, seen = judge_reading(rule, finding.reading, finding.option, suite, profile)
        else:
            each, said, seen = suite.broken(rule), finding.what, ""
        # Not at equal rank: the first of the worst is cited, as what follows it may be its consequence.
        if each.rank > outcome.rank:
            outcome, what, cited = each, said, finding
        reading = reading or seen
    what = escaped(what)
    if cited is None:
        return Judgement(rule, outcome, case, "monitor", what, reading, len(findings) + kept)
    return Judgement(
        rule,
        outcome,
        case,
        "monitor",
        what,
        reading,
        len(findings) + kept,
        cited.entry,
        nth=cited.nth,
        field=cited.field,
    )


def judge_reading(rule: str, name: str, option: str, suite: Suite, profile: Profile) -> tuple[Outcome, str, str]:
    """Judge a reading that was seen: the profile's own, another that it accepts, or one that it does not.

    Returns the outcome, what came if that is not accepted, and the reading with its option (``R23=A``).
    """
    reading = suite.catalogue.readings[name]
    accepted = reading.accepted(profile)
    if option not in accepted:
        return suite.broken(rule), f"follows {name}={option}: {reading.options[option]}", f"{name}={option}"
    return (Outcome.PASS if option == accepted[0] else Outcome.ODD), "", f"{name}={option}"
