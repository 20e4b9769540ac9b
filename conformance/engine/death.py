"""What a node died of: the stimulus since which it was not heard of, and the rules that this is about.

A crash is told by its stimulus, as a case sends several: two that end a node in different ways have two signatures, and
the rules of which a case had seen before that they are kept are not said to be broken by it.
"""

from collections.abc import Sequence

from conformance.cases import Block
from harness.protocol import WireProtocol
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.message_lines import message_lines

DIED = "the node has died, or answers nobody any more"


def fatal_stimulus(trace: Trace, until: int, protocol: WireProtocol) -> Entry | None:
    """Return the first thing that was sent since the node was last heard of, in the first ``until`` entries.

    The first, and not the last: what was sent behind it, a dead node may or may not have taken, as chance has it.
    """
    entries = trace.entries[:until]
    heard = max((each.index for each in entries if _is_heard(each)), default=-1)
    heard = max(heard, trace.heard - 1)
    sent = [each for each in entries if _is_sent(each)]
    # Barriers and signs of life are there in every play, and who dials is given what it asks for; that it has taken
    # this, nothing says but that it goes on. They count where there is nothing else.
    dialled = {each.link for each in entries if each.what is EntryKind.OPENED and each.direction is Direction.RECEIVED}
    telling = [each for each in sent if not _is_routine(each, protocol, to_who_dialled=each.link in dialled)]
    for found in (telling, sent):
        if since := [each for each in found if each.index > heard]:
            return since[0]
    behind = telling or sent
    return behind[-1] if behind else None


def told(stimulus: Entry | None, protocol: WireProtocol) -> str:
    """Return in one line what happened: the same whatever the fields of the stimulus hold."""
    if stimulus is None:
        return f"{DIED}: before anything was sent"
    return f"{DIED}: not heard of since {_name(stimulus, protocol)} was sent"


def blamed(rules: tuple[str, ...], blocks: Sequence[Block], stimulus: Entry | None) -> tuple[str, ...]:
    """Return those rules of a case that a stimulus is about.

    They are those of the block in which it was sent, or else those of which no block had said before that they hold.
    """
    if stimulus is None:
        return rules
    at = stimulus.index
    within = [each for each in blocks if each.began <= at and (each.held is None or at < each.held)]
    if within:
        return within[-1].ids
    held = {rule for each in blocks if each.held is not None and each.held <= at for rule in each.ids}
    return tuple(rule for rule in rules if rule not in held) or rules


def _is_heard(entry: Entry) -> bool:
    return entry.what is EntryKind.FRAME and entry.direction is Direction.RECEIVED


def _is_sent(entry: Entry) -> bool:
    return entry.what in (EntryKind.FRAME, EntryKind.RAW, EntryKind.NOTE) and entry.direction is Direction.SENT


def _is_routine(entry: Entry, protocol: WireProtocol, *, to_who_dialled: bool) -> bool:
    if entry.what is not EntryKind.FRAME:
        return False
    topic = protocol.topic(entry.data)
    return topic.is_routine or (to_who_dialled and topic.is_granting)


def _name(entry: Entry, protocol: WireProtocol) -> str:
    if entry.what is EntryKind.NOTE:
        return "a control line"
    if entry.what is EntryKind.RAW:
        return "bytes that are no whole frame"
    names = dict.fromkeys(each.name for each in message_lines(protocol.layout, entry.data))
    return " + ".join(filter(None, names)) or "an empty frame"
