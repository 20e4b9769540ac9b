"""Monitors of zenoh-declarations, "D_FINAL (0x1A)" and "Declaration Propagation": who is told what, and when."""

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


class Asked(msgspec.Struct):
    """An interest that was sent: ``place`` in the conversation, ``ended`` where its Final stands, if it was sent."""

    message: Interest
    key: str | None
    place: int
    finals: int = 0
    ended: int | None = None

    def covers(self, kind: Kind, key: str | None) -> bool:
        """Tell whether an entity falls under the interest, as far as its key is known."""
        restricted = self.message.key is not None and self.key is not None and key is not None
        return kind in self.message.kinds and (not restricted or intersects(self.key or "", key or ""))


def answers(conversation: Conversation) -> Iterator[tuple[Event, dict[int, Asked]]]:
    """Return what was received, each event with the latest interest of each id as it stood just before."""
    asked: dict[int, Asked] = {}
    for place, event in enumerate(conversation.events):
        match event.direction, event.message:
            case Direction.SENT, Interest() as interest:
                asked[interest.id] = Asked(interest, event.key, place)
            case Direction.SENT, InterestFinal(id=number) if number in asked and asked[number].ended is None:
                asked[number].ended = place
            case Direction.RECEIVED, _:
                yield event, asked
                number = event.interest_id
                if isinstance(event.body, DeclareFinal) and number in asked:
                    asked[number].finals += 1
            case _:
                pass


@monitor("ZD-086")
def nothing_of_a_snapshot_after_its_final(conversation: Conversation) -> Iterator[Finding]:
    """No declaration comes under the id of a Current interest after its D_FINAL."""
    for event, asked in answers(conversation):
        interest = asked.get(event.interest_id) if event.interest_id is not None else None
        if interest is None or not isinstance(event.body, DeclareFinal | DeclareEntity):
            continue
        if isinstance(event.body, DeclareFinal):
            yield kept(event.entry)
        elif interest.message.mode is Mode.CURRENT and interest.finals:
            yield broken(event.entry, "a declaration of a snapshot came after its D_FINAL")


@monitor("ZD-087")
def finals_belong_to_interests_that_wait(conversation: Conversation) -> Iterator[Finding]:
    """Each D_FINAL has the id of a Current or CurrentFuture interest that has had none yet."""
    for event, asked in answers(conversation):
        if not isinstance(event.body, DeclareFinal):
            continue
        if event.interest_id is None:
            yield broken(event.entry, "D_FINAL came without an interest_id")
            continue
        interest = asked.get(event.interest_id)
        if interest is None:
            yield broken(event.entry, "D_FINAL came with an id that no interest has")
        elif interest.message.mode is Mode.FUTURE:
            continue  # what a Future interest may bring is for other rules to judge
        elif interest.finals:
            yield broken(event.entry, "D_FINAL came twice for one interest")
        else:
            yield kept(event.entry)


@monitor("ZD-090")
def updates_have_no_interest_id(conversation: Conversation) -> Iterator[Finding]:
    """After the D_FINAL of a CurrentFuture interest, no declaration and no undeclaration comes under its id."""
    for event, asked in answers(conversation):
        body = event.body
        if not isinstance(body, DeclareEntity | UndeclareEntity):
            continue
        done = [each for each in asked.values() if each.message.mode is Mode.CURRENT_FUTURE and each.finals]
        if event.interest_id is not None:
            if any(each.message.id == event.interest_id for each in done):
                yield broken(event.entry, "an update came with the id of an interest after its D_FINAL")
        elif any(each.covers(body.kind, event.key or event.known) for each in done):
            yield kept(event.entry)


@monitor("ZD-093")
def routers_tell_nobody_who_did_not_ask(conversation: Conversation) -> Iterator[Finding]:
    """A router sends a declaration without an interest_id only where an interest covers its kind and key.

    An interest counts until the router has shown that it has handled its Final: by the D_FINAL of a later one.
    """
    if conversation.whatami.get(Direction.RECEIVED) != WhatAmI.ROUTER:
        return
    retired: set[tuple[int, int]] = set()
    for event, asked in answers(conversation):
        if isinstance(event.body, DeclareFinal):
            shown = asked.get(event.interest_id) if event.interest_id is not None else None
            for each in asked.values() if shown is not None else ():
                if each.ended is not None and shown is not None and each.ended < shown.place:
                    retired.add((each.message.id, each.place))
        if not isinstance(event.body, DeclareEntity) or event.interest_id is not None:
            continue
        body = event.body
        alive = [each for each in asked.values() if (each.message.id, each.place) not in retired]
        alive = [each for each in alive if each.message.mode is not Mode.CURRENT or not each.finals]
        if any(each.covers(body.kind, event.key) for each in alive):
            yield kept(event.entry)
        elif alive:
            yield broken(event.entry, "a declaration came that none of the session's interests covers")
        else:
            yield follows(event.entry, "R37", "B")


@monitor("ZD-095")
def live_entities_are_not_announced_again(conversation: Conversation) -> Iterator[Finding]:
    """No D_* repeats, outside a snapshot or twice within one, what the session was told and what still lives."""
    live: dict[tuple[Kind, int], tuple[object, ...]] = {}
    listed: set[tuple[int, int, Kind, int]] = set()
    for event, asked in answers(conversation):
        body = event.body
        if isinstance(body, UndeclareEntity):
            live.pop((body.kind, body.id), None)
            listed = {each for each in listed if each[2:] != (body.kind, body.id)}
        if not isinstance(body, DeclareEntity):
            continue
        known = live.get((body.kind, body.id))
        live[body.kind, body.id] = told = (event.key, body.extensions)
        if event.interest_id is not None:
            interest = asked.get(event.interest_id)
            place = (event.interest_id, interest.place if interest else -1, body.kind, body.id)
            again = place in listed
            listed.add(place)
        else:
            again = known == told
        if again:
            yield broken(
                event.entry, "an entity was announced again that the session knows and that still lives"
            )
        else:
            yield kept(event.entry)
