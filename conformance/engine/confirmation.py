"""Confirmation: whether a play must be repeated before anybody is accused, and what plays that differ come to.

A real implementation is a process among others: a message that is late once is no violation. So an accusation needs two
plays, on two instances, that say the same; where they do not, a third is played and the differing rules are flaky.
"""

from collections.abc import Iterator

import msgspec

from conformance.contract.signatures import signature
from conformance.engine.play import PlayResult
from conformance.verdicts import Disagreement, Judgement, Outcome


class ConfirmedPlay(msgspec.Struct, frozen=True):
    """A result that was confirmed, and after how many plays; its judgements say where these differed."""

    result: PlayResult
    attempts: int = 1

    @property
    def is_flaky(self) -> bool:
        """Whether the plays differed on any rule."""
        return any(judgement.disagreement for judgement in self.result.judgements)


def needs_confirmation(result: PlayResult) -> bool:
    """Tell whether another play, on a fresh instance, might change what a play says of the implementation."""
    outcomes = [judgement.outcome for judgement in result.judgements]
    if any(outcome.accuses for outcome in outcomes):
        return True
    # An error is the tester's own, and a case that is settled found its stimulus impossible: both would come again. So
    # would silence where two plays have shown that nothing else is to be had; and nobody is accused by this one.
    return Outcome.INCONCLUSIVE in outcomes and not (result.settled or result.is_in_vain)


Sighting = tuple[str, str, Outcome, str]
"""What a monitor has seen: its name, the rule, what that comes to, and in which words."""


def watched(result: PlayResult) -> set[Sighting | None]:
    """Return what monitors accuse a node of in a play; ``None`` stands for whatever else needs confirmation."""
    return {
        (each.by, each.rule, each.outcome, signature(each.what)) if each.outcome.accuses and each.by != "case" else None
        for each in result.judgements
        if each.outcome.accuses or each.outcome is Outcome.INCONCLUSIVE
    }


def differing_rules(plays: list[PlayResult]) -> dict[str, str]:
    """Return the rules on which plays differ, and how: judged otherwise, or accused in one and not judged elsewhere.

    Where the first two accuse, whatever of, they agree: a third is made for the sake of other rules, and takes nothing
    back.
    """
    judged = [one.by_rule() for one in plays]
    seen = {rule: [each.get(rule) for each in judged] for rule in sorted(set().union(*judged))}
    return {rule: _counts(outcomes) for rule, outcomes in seen.items() if _differ(outcomes)}


def _differ(outcomes: list[Outcome | None]) -> bool:
    if all(outcome is not None and outcome.accuses for outcome in outcomes[:2]):
        return False
    # Odd is kept, in an unusual way: who chooses between two ways that are allowed is no less sure to keep the rule.
    said = {Outcome.PASS if outcome is Outcome.ODD else outcome for outcome in outcomes if outcome is not None}
    # Nobody is accused who was not caught twice. A rule that was kept may go unjudged where a play ends earlier.
    return len(said) > 1 or (None in outcomes and any(outcome.accuses for outcome in said))


def merge(plays: list[PlayResult]) -> ConfirmedPlay:
    """Return plays as one: what the first says, but a rule on which they differ is inconclusive, with the counts.

    Where the first two accuse of different things, of a violation and of a crash, both have shown the milder one.
    """
    differing = differing_rules(plays)
    judgements = tuple(_merged(plays, differing))
    return ConfirmedPlay(msgspec.structs.replace(plays[0], judgements=judgements), len(plays))


def _merged(plays: list[PlayResult], differing: dict[str, str]) -> Iterator[Judgement]:
    first, second = (one.by_rule() for one in plays[:2])
    for judgement in plays[0].judgements:
        rule, outcome = judgement.rule, judgement.outcome
        if rule in differing:
            continue
        other = second.get(rule)
        if outcome.accuses and outcome is first[rule] and other is not None and other.accuses and other is not outcome:
            yield _milder(judgement, next(j for j in plays[1].judgements if (j.rule, j.outcome) == (rule, other)))
        else:
            yield judgement
    for rule, counts in differing.items():
        # The worst of them says what came, which a play that passed cannot.
        heaviest = max((j for one in plays for j in one.judgements if j.rule == rule), key=lambda j: j.outcome.rank)
        accusing = [one for one in plays if any(j.rule == rule and j.outcome.accuses for j in one.judgements)]
        what = f"{'seen once' if len(accusing) == 1 else 'flaky'}: {counts}; {heaviest.what}"
        # What is kept is the trace of the first play: a place in another one's would point to any message of this.
        place = heaviest.entry if heaviest in plays[0].judgements else None
        disagreement = Disagreement(counts, heaviest.outcome, heaviest.what)
        yield msgspec.structs.replace(
            heaviest, outcome=Outcome.INCONCLUSIVE, what=what, entry=place, disagreement=disagreement
        )


def _milder(first: Judgement, second: Judgement) -> Judgement:
    """Return the accusation that two plays have shown at least, in the words of the one and with the other's below."""
    if first.outcome.rank < second.outcome.rank:
        return msgspec.structs.replace(
            first, what=f"{first.what}\nthe second play: {second.outcome.value}: {second.what}"
        )
    # The trace that is kept is the first play's, so its place there stays.
    what = f"{second.what}\nthe first play: {first.outcome.value}: {first.what}"
    return msgspec.structs.replace(first, outcome=second.outcome, what=what)


def _counts(seen: list[Outcome | None]) -> str:
    named = [outcome.value if outcome else "not judged" for outcome in seen]
    return ", ".join(f"{name} in {named.count(name)} of {len(named)}" for name in sorted(set(named)))
