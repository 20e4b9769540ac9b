"""Monitors of zenoh-interests, "INTEREST Wire Format" and "Options Byte": the INTERESTs that a node itself sends."""

import re
from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.trace import Direction
from harness.zenoh.conversation import Conversation
from wire.zenoh.messages import Declare, DeclareFinal, Interest, InterestFinal, Mode, Options


@monitor("ZI-026")
def extensions_where_z_says_so(conversation: Conversation) -> Iterator[Finding]:
    """An INTEREST with Z set has at least one whole extension."""
    for event in received(conversation):
        if isinstance(event.message, Interest | InterestFinal):
            yield kept(event.entry)
    for refusal in conversation.refusals:
        if refusal.direction is Direction.RECEIVED and re.search(r"INTEREST.*\.extensions", refusal.error.path):
            yield broken(refusal.entry, "an INTEREST with Z set ends before or within its extensions")


@monitor("ZI-030")
def ids_of_interests_that_run(conversation: Conversation) -> Iterator[Finding]:
    """A node gives no id to an interest that another of its interests on the session still has."""
    running: dict[int, Mode] = {}
    used: set[int] = set()
    for event in conversation.events:
        match event.direction, event.message:
            case Direction.RECEIVED, Interest() as interest:
                if interest.id in running:
                    yield broken(event.entry, "an INTEREST has the id of one that still runs")
                else:
                    yield follows(event.entry, "R33", "A") if interest.id in used else kept(event.entry)
                running[interest.id] = interest.mode
                used.add(interest.id)
            case Direction.RECEIVED, InterestFinal(id=id):
                running.pop(id, None)
            case Direction.SENT, Declare(body=DeclareFinal(), interest_id=int() as id):
                if running.get(id) is Mode.CURRENT:
                    del running[id]
            case _:
                pass


@monitor("ZI-049")
def n_and_m_only_with_r(conversation: Conversation) -> Iterator[Finding]:
    """A node sends no INTEREST with N or M set and R clear."""
    for event in received(conversation):
        if isinstance(event.message, Interest):
            options = event.message.options
            if options & (Options.N | Options.M) and not options & Options.R:
                yield broken(event.entry, "an INTEREST has N or M set and R clear")
            else:
                yield kept(event.entry)
