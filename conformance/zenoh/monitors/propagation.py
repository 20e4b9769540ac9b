"""Monitors of zenoh-declarations, "D_FINAL (0x1A)" and "Declaration Propagation": who is told what."""

from collections.abc import Iterator

import msgspec

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event
from wire.zenoh.frames import WhatAmI
from wire.zenoh.keys import intersects
from wire.zenoh.messages import (
    DeclareEntity,
    DeclareFinal,
    Interest,
    InterestFinal,
    Kind,
    Mode,
    UndeclareEntity,
)

SNAPSHOT = (Mode.CURRENT, Mode.CURRENT_FUTURE)


class Asked(msgspec.Struct):
    """An interest that was sent: its ``place`` in the conversation, and that of the Final that ended it."""

    message: Interest
    key: str | None
    place: int
    finals: int = 0
    ended: int | None = None
    is_over: bool = False

    def covers(self, kind: Kind, key: str | None) -> bool:
        """Tell whether an entity falls under the interest, as far as that is known and agreed on."""
        kinds = self.message.kinds or frozenset(Kind)
        if self.message.key is None or self.key is None or key is None:
            return kind in kinds
        return kind in kinds and intersects(self.key, key)


class Asking:
    """The interests that were sent so far, in order."""

    def __init__(self) -> None:
        self.all: list[Asked] = []

    def of(self, number: int | None) -> list[Asked]:
        """Return the interests of an id, the latest first: an id may have been used again."""
        return [asked for asked in reversed(self.all) if asked.message.id == number]

    def finish(self, number: int | None) -> None:
        """Note a D_FINAL: it belongs to the oldest interest that waits; what was sent before that is handled."""
        waiting = [asked for asked in reversed(self.of(number)) if asked.message.mode in SNAPSHOT and not asked.finals]
        for asked in waiting[:1] or self.of(number)[:1]:
            asked.finals += 1
            for earlier in self.all:
                earlier.is_over |= earlier.ended is not None and earlier.ended < asked.place


def answers(conversation: Conversation) -> Iterator[tuple[Event, Asking]]:
    """Return what was received, each event with the interests as they stood just before."""
    asking = Asking()
    for place, event in enumerate(conversation.events):
        match event.direction, event.message:
            case Direction.SENT, Interest() as interest:
                asking.all.append(Asked(interest, event.key, place))
            case Direction.SENT, InterestFinal(id=number):
                for asked in asking.of(number):
                    asked.ended = place if asked.ended is None else asked.ended
            case Direction.RECEIVED, _:
                yield event, asking
                if isinstance(event.body, DeclareFinal):
                    asking.finish(event.interest_id)
            case _:
                pass


@monitor("ZD-086")
def nothing_of_a_snapshot_after_its_final(conversation: Conversation) -> Iterator[Finding]:
    """No declaration comes under the id of a Current interest after its D_FINAL."""
    for event, asking in answers(conversation):
        interests = asking.of(event.interest_id)
        if not interests or not isinstance(event.body, DeclareFinal | DeclareEntity):
            continue
        if isinstance(event.body, DeclareFinal):
            yield kept(event.entry)
        elif all(each.message.mode is Mode.CURRENT and each.finals for each in interests):
            yield broken(event.entry, "a declaration of a snapshot came after its D_FINAL")


@monitor("ZD-087")
def finals_belong_to_interests_that_wait(conversation: Conversation) -> Iterator[Finding]:
    """Each D_FINAL has the id of a Current or CurrentFuture interest that has had none yet."""
    for event, asking in answers(conversation):
        if not isinstance(event.body, DeclareFinal):
            continue
        interests = asking.of(event.interest_id)
        if event.interest_id is None:
            yield broken(event.entry, "D_FINAL came without an interest_id")
        elif not interests:
            yield broken(event.entry, "D_FINAL came with an id that no interest has")
        elif any(each.message.mode in SNAPSHOT and not each.finals for each in interests):
            yield kept(event.entry)
        elif all(each.message.mode in SNAPSHOT for each in interests):
            yield broken(event.entry, "D_FINAL came twice for one interest")


@monitor("ZD-090")
def updates_have_no_interest_id(conversation: Conversation) -> Iterator[Finding]:
    """After the D_FINAL of a CurrentFuture interest, nothing is declared or undeclared under its id."""
    for event, asking in answers(conversation):
        body = event.body
        if not isinstance(body, DeclareEntity | UndeclareEntity):
            continue
        if event.interest_id is None:
            done = [each for each in asking.all if each.message.mode is Mode.CURRENT_FUTURE and each.finals]
            if any(each.covers(body.kind, event.key or event.known) for each in done):
                yield kept(event.entry)
        elif all(each.finals for each in asking.of(event.interest_id)) and any(
            each.message.mode is Mode.CURRENT_FUTURE for each in asking.of(event.interest_id)
        ):
            yield broken(event.entry, "an update came with the id of an interest after its D_FINAL")


@monitor("ZD-093")
def routers_tell_nobody_who_did_not_ask(conversation: Conversation) -> Iterator[Finding]:
    """A router sends a declaration without an interest_id only where an interest covers its kind and key.

    An interest counts until the router is known to have handled its Final: by the D_FINAL of a later one.
    """
    if conversation.whatami.get(Direction.RECEIVED) != WhatAmI.ROUTER:
        return
    for event, asking in answers(conversation):
        body = event.body
        if not isinstance(body, DeclareEntity) or event.interest_id is not None:
            continue
        alive = [each for each in asking.all if not each.is_over]
        alive = [each for each in alive if each.message.mode is not Mode.CURRENT or not each.finals]
        if any(each.covers(body.kind, event.key) for each in alive):
            yield kept(event.entry)
        elif alive:
            yield broken(event.entry, "a declaration came that none of the session's interests covers")
        else:
            yield follows(event.entry, "R37", "B")


@monitor("ZD-095")
def live_entities_are_not_announced_again(conversation: Conversation) -> Iterator[Finding]:
    """No D_* repeats, outside a snapshot or twice within one, what the session knows and what still lives."""
    live: dict[tuple[Kind, int], tuple[object, ...]] = {}
    listed: set[tuple[Kind, int, str | None, int]] = set()
    for event, asking in answers(conversation):
        body = event.body
        if isinstance(body, UndeclareEntity):
            live.pop((body.kind, body.id), None)
            listed = {each for each in listed if each[:2] != (body.kind, body.id)}
        if not isinstance(body, DeclareEntity):
            continue
        told = (event.key, body.extensions)
        again = live.get((body.kind, body.id)) == told
        live[body.kind, body.id] = told
        interests = asking.of(event.interest_id)
        if interests:
            entry = (body.kind, body.id, event.key, interests[0].place)
            again = entry in listed
            listed.add(entry)
        if again:
            yield broken(event.entry, "an entity was announced again that the session knows")
        else:
            yield kept(event.entry)
