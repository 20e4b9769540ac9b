"""Judging recordings: what the monitors say of a recorded session, as they would have said it of a live one."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter

import msgspec

from conformance.catalogue.rules import Profile
from conformance.datagram_order import is_fine_in_another_order
from conformance.findings import SessionVerdicts, verdicts_on
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.captures.recorded_session import RecordedSession
from harness.protocol import Judgeable
from harness.trace import Trace

LOST = "something is missing before this, or may be, which may be the reason"
MIXED = "datagrams do not show what was said before what; in another order, nothing is wrong"


def judge(recorded: RecordedSession, suite: Suite, profile: Profile) -> list[Judgement]:
    """Return what every monitor says of a session, one judgement for each of its rules, in the order of the rules.

    Nothing is said when the other side has left the document. What is seen to be broken only together with what came
    behind a loss is inconclusive: what is missing may be the reason.
    """
    return ordered(verdicts(recorded, suite, profile).judgements(recorded.name))


def verdicts(recorded: RecordedSession, suite: Suite, profile: Profile) -> SessionVerdicts:
    """Return the same as ``judge``, without a judgement made of each rule that was only kept."""
    conversations = _conversations(recorded.trace, suite)
    said = _said(conversations, suite, profile, recorded.name)
    sound = _sound(recorded, conversations)
    before, trace = said, recorded.trace
    if sound < len(trace):
        # Judged once more without what may be due to the loss: what was broken before it is proven.
        trace = recorded.beginning(sound)
        before = _said(_conversations(trace, suite), suite, profile, recorded.name)
    proven = {each.rule: each for each in before.cited if each.outcome.accuses}
    reason = LOST
    first = partial(_first_accusation, suite, profile)
    if proven and trace.transport == "udp" and is_fine_in_another_order(recorded.trace, sound, first):
        proven, reason = {}, MIXED
    if before is said and reason is LOST:  # nothing is missing, as in most captures
        return said
    rules = said.kept.keys() | {each.rule for each in said.cited}
    cited = [_unless_lost(each, proven, reason) for each in said.cited]
    cited += [_unless_lost(each, proven, reason) for each in before.cited if each.rule not in rules]
    return SessionVerdicts({rule: count for rule, count in before.kept.items() if rule not in rules} | said.kept, cited)


def _first_accusation(suite: Suite, profile: Profile, trace: Trace) -> int | None:
    """Return at which entry a node is first accused, -1 if at none in particular; None when it is not."""
    said = _said(_conversations(trace, suite), suite, profile, "")
    return min((-1 if each.entry is None else each.entry for each in said.cited if each.outcome.accuses), default=None)


def _said(conversations: Sequence[Judgeable], suite: Suite, profile: Profile, name: str) -> SessionVerdicts:
    """Return what is said of a session: its trace has one link, or none where nothing was said."""
    if not conversations:
        return SessionVerdicts({}, [])
    (conversation,) = conversations
    return verdicts_on(conversation, suite, profile, name)


def ordered(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements of one session sorted: in the same order whether they come from monitors or from a lake."""
    by_rule = sorted(judgements, key=attrgetter("rule"))
    if all(one.rule != two.rule for one, two in pairwise(by_rule)):  # as in nearly every session
        return by_rule
    return sorted(by_rule, key=_sort_key)


def _sort_key(each: Judgement) -> tuple[str, int, str, str, str, int, int]:
    entry = -1 if each.entry is None else each.entry
    return each.rule, -each.outcome.rank, each.by, each.what, each.reading, each.evidence, entry


def _conversations(trace: Trace, suite: Suite) -> list[Judgeable]:
    return list(suite.harness.conversations(trace).values())


def _sound(recorded: RecordedSession, conversations: list[Judgeable]) -> int:
    """Return how many entries lie before the first loss.

    Datagrams do not show whether a session began before they were captured; a conversation that knows of a handshake
    does.
    """
    if recorded.trace.transport == "udp" and not all(each.is_open for each in conversations):
        return 0
    return recorded.sound


def _unless_lost(judgement: Judgement, proven: dict[str, Judgement], reason: str) -> Judgement:
    if not judgement.outcome.accuses:
        return judgement
    if judgement.rule in proven:
        return msgspec.structs.replace(proven[judgement.rule], evidence=judgement.evidence)
    return msgspec.structs.replace(judgement, outcome=Outcome.INCONCLUSIVE, what=f"{reason}: {judgement.what}")
