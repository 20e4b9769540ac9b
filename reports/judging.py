"""Judging: what the monitors say of a recorded session, as they would have said it of a live one."""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from conformance.rules import Profile
from conformance.verdicts import Judgement, Outcome
from conformance.weighing import Court, watched
from harness.trace import Trace
from reports.recordings import Recorded


class Suite(Court, Protocol):
    """What judging takes of a protocol (``conformance.engine.Suite``)."""

    @property
    def harness(self) -> Any:
        """The protocol's folder in the harness: how its traces become conversations."""
        ...


def judge(recorded: Recorded, suite: Suite, profile: Profile) -> list[Judgement]:
    """Return what every monitor says of a session, one judgement for each of its rules, in the order of the rules.

    Nothing is said when the other side has left the document. What is seen to be broken only together with what came
    behind a loss is inconclusive: what is missing may be the reason.
    """
    conversations = _conversations(recorded.trace, suite)
    said = list(watched(conversations, suite, profile, recorded.name))
    sound = _sound(recorded, conversations)
    if sound == len(recorded.trace):
        return ordered(said)
    beginning = _conversations(recorded.beginning(sound), suite)
    before = list(watched(beginning, suite, profile, recorded.name))
    proven = {each.rule: each for each in before if each.outcome.accuses}
    rules = {each.rule for each in said}
    weighed = [_weighed(each, proven) for each in said]
    return ordered([*weighed, *(each for each in before if each.rule not in rules)])


def ordered(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements of one session in the one order that does not depend on how they were kept."""
    return sorted(judgements, key=_place)


def _place(each: Judgement) -> tuple[str, int, str, str, str, int, int]:
    entry = -1 if each.entry is None else each.entry
    return each.rule, -each.outcome.rank, each.by, each.what, each.reading, each.evidence, entry


def _conversations(trace: Trace, suite: Suite) -> list[Any]:
    return list(suite.harness.conversations(trace).values())


def _sound(recorded: Recorded, conversations: list[Any]) -> int:
    """Return how many entries lie before the first loss.

    Datagrams do not show whether a session began before they were captured; a conversation that knows of a handshake
    does.
    """
    if recorded.trace.transport == "udp" and not all(getattr(each, "is_open", True) for each in conversations):
        return 0
    return recorded.sound


def _weighed(judgement: Judgement, proven: dict[str, Judgement]) -> Judgement:
    if not judgement.outcome.accuses:
        return judgement
    if judgement.rule in proven:
        return msgspec.structs.replace(proven[judgement.rule], evidence=judgement.evidence)
    what = f"something is missing before this, which may be the reason: {judgement.what}"
    return msgspec.structs.replace(judgement, outcome=Outcome.INCONCLUSIVE, what=what)
